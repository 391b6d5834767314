"""The programs that every automatic differentiation paper runs."""

import math

import numpy as np

from tests.bank.registry import program


@program(args=lambda rng: (1.3, 0.7), wrt=(0, 1), tags={"second"})
def volume(r, h):
    area = np.pi * r**2
    return area * h


@program(args=lambda rng: tuple(rng.normal(size=s) for s in ((4, 3), 3, (7, 4), (7, 3))), wrt=(0, 1))
def mean_squared_error(w, b, x, y):
    error = x @ w + b - y
    return np.mean(error**2)


@program(args=lambda rng: (rng.normal(size=5),), tags={"second"})
def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


@program(args=lambda rng: (rng.normal(size=4), 0.1, 5), tags={"second"})
def rk4_pendulum(y, h, steps):
    def f(s):
        return np.array([s[1], -np.sin(s[0]), s[3], -np.sin(s[2]) + 0.1 * s[0]])

    for _ in range(steps):
        k1 = f(y)
        k2 = f(y + 0.5 * h * k1)
        k3 = f(y + 0.5 * h * k2)
        k4 = f(y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return np.sum(y**2)


@program(
    args=lambda rng: (rng.normal(size=(3, 2)) * 2, rng.normal(size=(3, 2)), rng.uniform(0.5, 1, size=3)),
    wrt=(0, 1, 2),
    tags={"inplace"},
)
def n_body(position, velocity, mass):
    position, velocity = position.copy(), velocity.copy()
    n = len(mass)
    for _ in range(3):
        force = np.zeros_like(position)
        for i in range(n):
            for j in range(n):
                if i == j:
                    continue
                gap = position[j] - position[i]
                force[i] += mass[j] * gap / (np.dot(gap, gap) + 0.1) ** 1.5
        velocity += 0.05 * force
        position += 0.05 * velocity
    return 0.5 * np.sum(mass[:, None] * velocity**2)


@program(args=lambda rng: (rng.normal(size=(4, 2)), rng.normal(size=(4, 2))), wrt=(0, 1), tags={"inplace"})
def velocity_verlet(x, v):
    x, v = x.copy(), v.copy()

    def acceleration(x):
        d = x[:, None] - x[None, :]
        r2 = (d**2).sum(-1) + 0.5
        return (d / r2[..., None] ** 2).sum(axis=1)

    a = acceleration(x)
    for _ in range(3):
        v += 0.05 * a
        x += 0.1 * v
        a = acceleration(x)
        v += 0.05 * a
    return np.sum(x**2) + np.sum(v**2)


@program(args=lambda rng: (1.1, 1.0, 0.2, 0.05, 0.7), wrt=(0, 1, 2, 3, 4), tags={"second"})
def black_scholes(spot, strike, sigma, rate, maturity):
    def normal_cdf(z):
        return 0.5 * (1.0 + math.erf(z / math.sqrt(2.0)))

    root = sigma * math.sqrt(maturity)
    d1 = (math.log(spot / strike) + (rate + 0.5 * sigma**2) * maturity) / root
    d2 = d1 - root
    return spot * normal_cdf(d1) - strike * math.exp(-rate * maturity) * normal_cdf(d2)


@program(
    args=lambda rng: (np.tril(rng.normal(size=(4, 4))) + 3 * np.eye(4), rng.normal(size=4)),
    wrt=(0, 1),
    tags={"inplace"},
)
def triangular_solve(L, b):
    n = len(b)
    x = np.zeros(n)
    for i in range(n):
        s = b[i]
        for j in range(i):
            s -= L[i, j] * x[j]
        x[i] = s / L[i, i]
    return x


@program(
    args=lambda rng: (rng.normal(size=5), rng.uniform(3, 4, size=6), rng.normal(size=5), rng.normal(size=6)),
    wrt=(0, 1, 2, 3),
    tags={"inplace", "in_argument"},
)
def thomas_algorithm(a, b, c, d):
    n = len(d)
    for i in range(1, n):
        w = a[i - 1] / b[i - 1]
        b[i] = b[i] - w * c[i - 1]
        d[i] = d[i] - w * d[i - 1]
    x = np.zeros_like(d)
    x[-1] = d[-1] / b[-1]
    for i in range(n - 2, -1, -1):
        x[i] = (d[i] - c[i] * x[i + 1]) / b[i]
    return x


@program(args=lambda rng: (rng.normal(size=(4, 4)),), tags={"inplace"})
def cholesky_by_hand(M):
    A = M @ M.T + 4 * np.eye(4)
    n = A.shape[0]
    L = np.zeros((n, n))
    for j in range(n):
        L[j, j] = np.sqrt(A[j, j] - np.sum(L[j, :j] ** 2))
        for i in range(j + 1, n):
            L[i, j] = (A[i, j] - L[i, :j] @ L[j, :j]) / L[j, j]
    return np.sum(np.log(np.diag(L))) + np.sum(L**2)


@program(args=lambda rng: (rng.normal(size=(4, 4)), rng.normal(size=4)), wrt=(0, 1), tags={"inplace", "in_argument"})
def gaussian_elimination(A, b):
    n = len(b)
    for k in range(n):
        pivot = k + int(np.argmax(np.abs(A[k:, k])))
        if pivot != k:
            A[[k, pivot]] = A[[pivot, k]]
            b[k], b[pivot] = b[pivot], b[k]
        for i in range(k + 1, n):
            factor = A[i, k] / A[k, k]
            A[i, k:] -= factor * A[k, k:]
            b[i] -= factor * b[k]
    for i in reversed(range(n)):
        b[i] = (b[i] - A[i, i + 1 :] @ b[i + 1 :]) / A[i, i]
    return b


@program(args=lambda rng: (rng.permutation(6) * 0.3 + 0.1,), tags={"inplace"})
def bubble_sort(x):
    a = x * 1.0
    n = len(a)
    for i in range(n):
        swapped = False
        for j in range(n - 1 - i):
            if a[j] > a[j + 1]:
                a[j], a[j + 1] = a[j + 1], a[j]
                swapped = True
        if not swapped:
            break
    return np.sum(a**2 * np.arange(6.0)) * a[2]


@program(args=lambda rng: (rng.permutation(5) * 0.3 + 0.1,))
def quicksort_lists(x):
    def quicksort(values):
        if len(values) <= 1:
            return values
        pivot, rest = values[0], values[1:]
        return quicksort([v for v in rest if v < pivot]) + [pivot] + quicksort([v for v in rest if v >= pivot])

    ordered = quicksort(list(x))
    return sum(v * v * k for k, v in enumerate(ordered)) * ordered[0]


@program(
    args=lambda rng: (rng.normal(size=(5, 5)) + np.arange(5)[:, None], np.arange(15.0).reshape(3, 5) ** 2 * 0.1),
    wrt=(0, 1),
    tags={"inplace"},
)
def k_means_step(points, centres):
    distance = ((points[:, None] - centres[None]) ** 2).sum(axis=2)
    nearest = np.argmin(distance, axis=1)
    updated = centres.copy()
    for k in range(len(centres)):
        members = points[nearest == k]
        if len(members):
            updated[k] = members.mean(axis=0)
    return np.sum((points - updated[nearest]) ** 2) + np.sum(np.sin(updated))


@program(args=lambda rng: (rng.normal(size=(5, 6)), rng.normal(size=(2, 3))), wrt=(0, 1), tags={"inplace"})
def convolution_loops(image, kernel):
    h, w = kernel.shape
    rows, cols = image.shape[0] - h + 1, image.shape[1] - w + 1
    out = np.zeros((rows, cols))
    for i in range(rows):
        for j in range(cols):
            out[i, j] = np.sum(image[i : i + h, j : j + w] * kernel)
    return np.sum(np.tanh(out) ** 2)


@program(args=lambda rng: (rng.normal(size=(5, 5)) * 0.5, 2), tags={"inplace"})
def smooth_game_of_life(grid, steps):
    for _ in range(steps):
        neighbours = np.zeros_like(grid)
        for di in (-1, 0, 1):
            for dj in (-1, 0, 1):
                if di or dj:
                    neighbours += np.roll(np.roll(grid, di, axis=0), dj, axis=1)
        grid = 1 / (1 + np.exp(-(grid + 0.5 * neighbours - 0.1 * neighbours**2)))
    return np.mean(grid)


@program(args=lambda rng: (rng.normal(size=9), 0.3, 4), wrt=(0, 1), tags={"inplace"})
def leapfrog_wave(u, c, steps):
    previous = u.copy()
    current = u.copy()
    following = np.zeros_like(u)
    for _ in range(steps):
        following[1:-1] = 2 * current[1:-1] - previous[1:-1] + c**2 * (current[2:] - 2 * current[1:-1] + current[:-2])
        following[0] = following[-1] = 0.0
        previous, current, following = current, following, previous
    return np.sum(current**4)


@program(args=lambda rng: (rng.uniform(0.5, 1.5, size=8), 3), tags={"inplace"})
def upwind_burgers(u, steps):
    for n in range(steps):
        un = u.copy()
        for i in range(1, len(u)):
            if un[i] > 0:
                u[i] = un[i] - 0.1 * un[i] * (un[i] - un[i - 1])
            else:
                u[i] = un[i]
        u[0] = u[-1]
    return np.sum(u**2)


@program(args=lambda rng: (0.3, 0.8), wrt=(0, 1), tags={"second"})
def logistic_map(x, r):
    for _ in range(8):
        x = 3 * r * x * (1 - x)
    return x


@program(args=lambda rng: (rng.uniform(0.1, 1, size=4), np.array([[0, 1], [1, 2], [2, 3], [0, 3], [0, 2]])))
def spring_network(x, edges):
    energy = 0.0
    for i, j in edges:
        stretch = x[i] - x[j]
        energy += 0.5 * stretch**2 * (1 + 0.3 * stretch**2)
    return energy


@program(args=lambda rng: (rng.uniform(0.2, 1, size=(4, 3)), np.array([0, 2, 1, 1, 0])))
def viterbi_forward(emission, observations):
    transition = np.array([[0.7, 0.2, 0.1], [0.1, 0.6, 0.3], [0.3, 0.3, 0.4]])
    alpha = emission[0] / np.sum(emission[0])
    scale = 0.0
    for o in observations:
        alpha = (alpha @ transition) * emission[1 + o % 3]
        norm = alpha.sum()
        scale += np.log(norm)
        alpha = alpha / norm
    return scale


@program(args=lambda rng: (rng.normal(size=6), rng.normal(size=7)), wrt=(0, 1), tags={"inplace"})
def soft_dynamic_time_warping(a, b):
    n, m = len(a), len(b)
    D = np.full((n + 1, m + 1), 50.0)
    D[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            previous = np.array([D[i - 1, j], D[i, j - 1], D[i - 1, j - 1]])
            soft = -np.log(np.sum(np.exp(-previous)))
            D[i, j] = (a[i - 1] - b[j - 1]) ** 2 + soft
    return D[n, m]
