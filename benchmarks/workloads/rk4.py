"""Lorenz's system by the classical Runge-Kutta method: vectors of three in a loop."""

import numpy as np

KIND = "loop"
WRT = (0, 1)


def inputs(quick):
    return np.array([1.0, 1.2, 20.0]), np.array([10.0, 28.0, 8 / 3]), 3 if quick else 200, 0.005


def lorenz(s, p):
    return np.array([p[0] * (s[1] - s[0]), s[0] * (p[1] - s[2]) - s[1], s[0] * s[1] - p[2] * s[2]])


def primal(state, p, steps, dt):
    for _ in range(steps):
        k1 = lorenz(state, p)
        k2 = lorenz(state + 0.5 * dt * k1, p)
        k3 = lorenz(state + 0.5 * dt * k2, p)
        k4 = lorenz(state + dt * k3, p)
        state = state + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return np.sum(state * state)


def d_lorenz(s, p, d, d_p):
    """The derivative with respect to the state; that with respect to the parameters is added to the list `d_p`."""
    (x, y, z), (sigma, rho, beta), (dx, dy, dz) = s.tolist(), p, d.tolist()
    d_p[0] += dx * (y - x)
    d_p[1] += dy * x
    d_p[2] -= dz * z
    return np.array((dy * (rho - z) + dz * y - dx * sigma, dx * sigma - dy + dz * x, -dy * x - dz * beta))


def hand(state, p, steps, dt):
    saved = []
    for _ in range(steps):
        k1 = lorenz(state, p)
        s2 = state + 0.5 * dt * k1
        k2 = lorenz(s2, p)
        s3 = state + 0.5 * dt * k2
        k3 = lorenz(s3, p)
        s4 = state + dt * k3
        saved.append((state, s2, s3, s4))
        state = state + dt / 6 * (k1 + 2 * k2 + 2 * k3 + lorenz(s4, p))
    d_state, d_p, p = 2 * state, [0.0, 0.0, 0.0], p.tolist()
    while saved:
        state, s2, s3, s4 = saved.pop()
        d_k = dt / 6 * d_state
        d_s4 = d_lorenz(s4, p, d_k, d_p)
        d_s3 = d_lorenz(s3, p, 2 * d_k + dt * d_s4, d_p)
        d_s2 = d_lorenz(s2, p, 2 * d_k + 0.5 * dt * d_s3, d_p)
        d_state = d_state + d_s4 + d_s3 + d_s2 + d_lorenz(state, p, d_k + 0.5 * dt * d_s2, d_p)
    return d_state, np.array(d_p)


def hand_numba(state, p, steps, dt):
    sigma, rho, beta = p
    saved = np.empty((steps, 4, 3))
    x, y, z = state
    factors = (0.5 * dt, 0.5 * dt, dt)
    weights = (1.0, 2.0, 2.0, 1.0)
    for t in range(steps):
        u, v, w = x, y, z
        sum_u = sum_v = sum_w = 0.0
        for k in range(4):
            saved[t, k, 0], saved[t, k, 1], saved[t, k, 2] = u, v, w
            ku, kv, kw = sigma * (v - u), u * (rho - w) - v, u * v - beta * w
            sum_u += weights[k] * ku
            sum_v += weights[k] * kv
            sum_w += weights[k] * kw
            if k < 3:
                u, v, w = x + factors[k] * ku, y + factors[k] * kv, z + factors[k] * kw
        x, y, z = x + dt / 6 * sum_u, y + dt / 6 * sum_v, z + dt / 6 * sum_w
    dx, dy, dz = 2 * x, 2 * y, 2 * z
    d_sigma = d_rho = d_beta = 0.0
    for t in range(steps - 1, -1, -1):
        nx, ny, nz = dx, dy, dz
        du = dv = dw = 0.0
        for k in range(3, -1, -1):
            u, v, w = saved[t, k, 0], saved[t, k, 1], saved[t, k, 2]
            factor = factors[k] if k < 3 else 0.0
            a = weights[k] * dt / 6 * dx + factor * du
            b = weights[k] * dt / 6 * dy + factor * dv
            c = weights[k] * dt / 6 * dz + factor * dw
            d_sigma += a * (v - u)
            d_rho += b * u
            d_beta -= c * w
            du, dv, dw = b * (rho - w) + c * v - a * sigma, a * sigma - b + c * u, -b * u - c * beta
            nx += du
            ny += dv
            nz += dw
        dx, dy, dz = nx, ny, nz
    return np.array((dx, dy, dz)), np.array((d_sigma, d_rho, d_beta))


def torch_primal(state, p, steps, dt):
    def field(s):
        x, y, z = s
        return np.stack((p[0] * (y - x), x * (p[1] - z) - y, x * y - p[2] * z))

    for _ in range(steps):
        k1 = field(state)
        k2 = field(state + 0.5 * dt * k1)
        k3 = field(state + 0.5 * dt * k2)
        k4 = field(state + dt * k3)
        state = state + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return np.sum(state * state)


tape_primal = torch_primal


def jax_primal(state, p, steps, dt):
    from jax import lax

    def step(state, _):
        k1 = lorenz(state, p)
        k2 = lorenz(state + 0.5 * dt * k1, p)
        k3 = lorenz(state + 0.5 * dt * k2, p)
        k4 = lorenz(state + dt * k3, p)
        return state + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4), None

    state, _ = lax.scan(step, state, length=steps)
    return np.sum(state * state)
