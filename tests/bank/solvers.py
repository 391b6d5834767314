"""Iterative solvers and simulations, as they are written by hand."""

import numpy as np

from tests.bank.registry import program


@program(args=lambda rng: (rng.uniform(1, 2, size=2),), tags={"second"})
def newton_system(p):
    x = np.ones(2)
    for _ in range(12):
        residual = np.array([x[0] ** 2 + x[1] - p[0] * 2, x[0] * x[1] - 0.3 * p[1]])
        jacobian = np.array([[2 * x[0], 1.0], [x[1], x[0]]])
        step = np.linalg.solve(jacobian, residual)
        x = x - step
        if np.linalg.norm(step) < 1e-14:
            break
    return x @ x


@program(args=lambda rng: (rng.normal(size=(4, 4)), rng.normal(size=4)), wrt=(0, 1), tags={"inplace"})
def conjugate_gradients(M, b):
    A = M @ M.T + 4 * np.eye(4)
    x = np.zeros_like(b)
    r = b.copy()
    p = r.copy()
    old = r @ r
    for _ in range(3):
        Ap = A @ p
        alpha = old / (p @ Ap)
        x += alpha * p
        r -= alpha * Ap
        new = r @ r
        p = r + (new / old) * p
        old = new
    return np.sum(x**2)


@program(args=lambda rng: (rng.normal(size=(3, 3)), rng.normal(size=3)), wrt=(0, 1))
def jacobi_iteration(M, b):
    A = 0.2 * M + 3 * np.eye(3)
    D = np.diag(A)
    x = b / D
    iterations = 0
    while np.max(np.abs(A @ x - b)) > 1e-12 and iterations < 60:
        x = (b - (A @ x - D * x)) / D
        iterations += 1
    return np.sum(x**3)


@program(args=lambda rng: (rng.normal(size=(4, 4)), rng.normal(size=4)), wrt=(0, 1))
def power_iteration(M, v):
    A = M @ M.T
    for _ in range(10):
        v = A @ v
        v /= np.linalg.norm(v)
    return v @ A @ v


@program(args=lambda rng: (rng.normal(size=(4, 3)),), tags={"inplace"})
def gram_schmidt(A):
    Q = A.copy()
    for j in range(3):
        for k in range(j):
            Q[:, j] -= (Q[:, k] @ A[:, j]) * Q[:, k]
        Q[:, j] /= np.sqrt(Q[:, j] @ Q[:, j])
    return np.sum(Q**3)


@program(args=lambda rng: (0.6,))
def fixed_point(a):
    x, previous = 1.0, 0.0
    while abs(x - previous) > 1e-12:
        previous, x = x, np.cos(a * x)
    return x


@program(args=lambda rng: (0.6, 0.2), wrt=(0, 1))
def adaptive_step_ode(y, k):
    t, h, rejected = 0.0, 0.3, 0
    while t < 1.0:
        slope = -k * y**2 + np.cos(t)
        euler = y + h * slope
        heun = y + 0.5 * h * (slope - k * euler**2 + np.cos(t + h))
        if abs(heun - euler) > 2e-2:
            h *= 0.5
            rejected += 1
            continue
        t += h
        y = heun
        h = min(h * 1.5, 0.4)
    return y * (1 + rejected)


@program(args=lambda rng: (rng.uniform(0.5, 1, size=3), rng.uniform(0.2, 0.5, size=4)), wrt=(0, 1), tags={"inplace"})
def lotka_volterra_history(state, rates):
    history = np.zeros((6, 3))
    history[0] = state
    for n in range(5):
        x, y, z = history[n]
        history[n + 1, 0] = x + 0.1 * x * (rates[0] - rates[1] * y)
        history[n + 1, 1] = y + 0.1 * y * (rates[2] * x - rates[3] * z)
        history[n + 1, 2] = z + 0.1 * z * (y - 0.5)
    return np.sum(history[-1] ** 2) + history[2, 1] * history[4, 0]


@program(args=lambda rng: (rng.normal(size=(6, 6)) * 0.1, 0.5, 2), wrt=(0, 1), tags={"inplace"})
def poisson_red_black(f, omega, sweeps):
    u = np.zeros_like(f)
    for _ in range(sweeps):
        for colour in (0, 1):
            for i in range(1, 5):
                start = 1 + (i + colour) % 2
                row = u[i - 1, start:-1:2] + u[i + 1, start:-1:2] + u[i, start - 1 : -2 : 2] + u[i, start + 1 :: 2]
                u[i, start:-1:2] += omega * (0.25 * (row + f[i, start:-1:2]) - u[i, start:-1:2])
    return np.sum((u + f) ** 2)


@program(args=lambda rng: (rng.normal(size=8), 0.2), wrt=(0, 1), tags={"inplace", "view"})
def multigrid_restriction(u, w):
    fine = u.copy()
    even, odd = fine[::2], fine[1::2]
    for _ in range(2):
        even += w * odd
        odd[:-1] -= w * (even[:-1] + even[1:])
        odd *= even
    return np.sum(fine**2)


@program(args=lambda rng: (0.9, 0.3, 1.4), wrt=(0, 1, 2))
def projectile_with_drag(v0, drag, angle):
    x, y = 0.0, 0.0
    vx, vy = v0 * np.cos(angle), v0 * np.sin(angle) * 5
    dt = 0.05
    while True:
        speed = np.sqrt(vx**2 + vy**2)
        vx -= dt * drag * speed * vx
        vy -= dt * (9.81 + drag * speed * vy)
        x_new, y_new = x + dt * vx, y + dt * vy
        if y_new < 0:
            fraction = y / (y - y_new)
            return x + fraction * (x_new - x)
        x, y = x_new, y_new


@program(args=lambda rng: (rng.uniform(0.3, 0.7, size=6), 0.02), wrt=(0, 1))
def option_on_a_tree(p, rate):
    steps = 4
    values = [max(1.2**k * 0.9 ** (steps - k) - 1.0, 0.0) for k in range(steps + 1)]
    for n in range(steps, 0, -1):
        values = [np.exp(-rate) * (p[n] * values[k + 1] + (1 - p[n]) * values[k]) for k in range(n)]
    return values[0]


@program(
    args=lambda rng: (rng.uniform(1, 2, size=3), rng.uniform(1, 2, size=3), rng.uniform(0.5, 2, size=(3, 3))),
    wrt=(0, 1, 2),
)
def sinkhorn(a, b, cost):
    a, b = a / a.sum(), b / b.sum()
    K = np.exp(-cost)
    u = np.ones(3)
    for _ in range(6):
        v = b / (K.T @ u)
        u = a / (K @ v)
    plan = u[:, None] * K * v
    return np.sum(plan * cost)


@program(args=lambda rng: (rng.uniform(0.5, 1, size=5), rng.uniform(0.5, 1, size=5)), wrt=(0, 1), tags={"inplace"})
def prefix_scan_by_doubling(a, b):
    x, y = a.copy(), b.copy()
    offset = 1
    while offset < len(x):
        y[offset:] = y[offset:] + x[offset:] * y[:-offset]
        x[offset:] = x[offset:] * x[:-offset]
        offset *= 2
    return np.sum(x * y)


@program(args=lambda rng: (rng.normal(size=(4, 3)), 0.4), wrt=(0, 1), tags={"inplace"})
def householder_qr(A, t):
    R = A * (1 + t**2)
    for k in range(3):
        v = R[k:, k].copy()
        v[0] += np.sign(v[0]) * np.linalg.norm(v)
        v /= np.linalg.norm(v)
        R[k:, k:] -= 2 * np.outer(v, v @ R[k:, k:])
    return np.sum(np.log(np.abs(np.diag(R[:3])))) + R[0, 1] * R[1, 2]


@program(args=lambda rng: (rng.normal(size=(3, 2)), 0.2), wrt=(0, 1))
def bezier_de_casteljau(points, t):
    work = [p for p in points]
    while len(work) > 1:
        work = [(1 - t) * a + t * b for a, b in zip(work[:-1], work[1:])]
    return work[0] @ work[0]


@program(args=lambda rng: (rng.uniform(0.2, 0.8, size=(2, 5)), 3), tags={"inplace"})
def ping_pong_buffers(fields, steps):
    buffers = [fields.copy(), np.empty_like(fields)]
    for n in range(steps):
        source, target = buffers[n % 2], buffers[(n + 1) % 2]
        target[:, 1:-1] = source[:, 1:-1] * (1 - 0.1 * source[::-1, 1:-1]) + 0.1 * source[:, 2:] * source[:, :-2]
        target[:, 0] = target[:, 1]
        target[:, -1] = source[:, -1] ** 2
    return np.sum(buffers[steps % 2] ** 2) + np.sum(buffers[(steps + 1) % 2])


def secant_in_a_bracket(residual, start, args=(), steps=12):
    p0, p1 = start, start * 1.01 + 1e-4
    q0, q1 = residual(p0, *args), residual(p1, *args)
    low, high = None, None
    for p, q in ((p0, q0), (p1, q1)):
        if q < 0.0:
            low = p
        else:
            high = p
    for _ in range(steps):
        p = p1 - q1 * (p1 - p0) / (q1 - q0)
        if low is not None and high is not None and not low < p < high:
            p = 0.5 * (low + high)
        if abs(p - p1) <= 1e-9:
            return p
        p0, q0, p1 = p1, q1, p
        q1 = residual(p1, *args)
        if q1 == q0:
            raise NotConverged("the last two points are the same", point=p1, residual=q1)
        if q1 < 0.0:
            low = p1
        else:
            high = p1
    raise NotConverged("too many steps", point=p1, residual=q1)


class NotConverged(Exception):
    def __init__(self, message, point=None, residual=None):
        super().__init__(message)
        self.point = point
        self.residual = residual


def split_of_phases(fraction, shares, ratios):
    total = 0.0
    for k in range(len(shares)):
        total += shares[k] * (1.0 - ratios[k]) / (1.0 + fraction * (ratios[k] - 1.0))
    return total


@program(lambda rng: ([0.5, 0.3, 0.2], [1.685, 0.742, 0.532]))
def phases_by_secants(shares, ratios):
    fraction = secant_in_a_bracket(split_of_phases, 0.5, (shares, ratios))
    return fraction * shares[0] + fraction**2


@program(args=lambda rng: (rng.random(8), 0.5 + 0.4 * rng.random(8), np.array([-1, 0, 0, 1, 2, 2, 4, 4])), wrt=(0, 1))
def flow_down_a_tree(rain, k, parent):
    q = rain.copy()
    for i in range(len(rain) - 1, 0, -1):
        q[parent[i]] += k[i] * q[i] / (1 + 0.1 * q[i])
    return q[0]


@program(
    args=lambda rng: (
        rng.normal(size=7),
        rng.normal(size=5),
        np.array([0, 2, 2, 5, 7]),
        np.array([0, 3, 1, 1, 4, 2, 0]),
    ),
    wrt=(0, 1),
)
def sparse_rows_by_items(data, x, starts, columns):
    y = np.zeros(len(starts) - 1)
    for i in range(len(starts) - 1):
        for k in range(starts[i], starts[i + 1]):
            y[i] += data[k] * x[columns[k]]
    return np.sum(np.tanh(y))


def runge_kutta_with_chosen_steps(f, t, y, end, h, tolerance):
    nodes, weights = [[], [1 / 3], [0.0, 2 / 3]], [1 / 4, 0, 3 / 4]
    times, states = [t], [y]
    while t < end:
        if t + h > end:
            h = end - t
        k = []
        for i in range(3):
            k.append(f(y + h * sum((a * b for a, b in zip(nodes[i], k)), np.zeros_like(y))))
        new = y + h * sum(w * b for w, b in zip(weights, k))
        error = np.max(np.abs(new - (y + h * k[0])))
        if error <= tolerance or h < 1e-3:
            t += h
            y = new
            times.append(t)
            states.append(y)
        h = h * min(2.0, max(0.2, 0.9 * (tolerance / (error + 1e-15)) ** 0.5))
    return np.array(times), np.array(states)


@program(lambda rng: (1.5, np.array([1.0, 0.5])))
def predators_by_chosen_steps(rate, y):
    def slope(y):
        return np.array([rate * y[0] - y[0] * y[1], y[0] * y[1] - y[1]])

    times, states = runge_kutta_with_chosen_steps(slope, 0.0, y, 1.0, 0.2, 0.003)
    return states[-1, 0] + np.sum(np.diff(times) * states[1:, 1])
