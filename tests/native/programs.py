"""Programs that are wholly in the native dialect."""

from __future__ import annotations

import math

import numpy as np


def heat(u, r, steps):
    u = u.copy()
    for _ in range(steps):
        u[1:-1] += r * (u[2:] - 2 * u[1:-1] + u[:-2])
    return np.sum(u * u)


def triangular_solve(L, b):
    n = len(b)
    x = np.zeros(n)
    for i in range(n):
        s = b[i]
        for j in range(i):
            s -= L[i, j] * x[j]
        x[i] = s / L[i, i]
    return np.sum(x**2)


def pendulum(angle, k, h, steps):
    t = 0.0
    for _ in range(steps):
        a = -k * angle + math.sin(t)
        b = -k * (angle + h * a) + math.sin(t + h)
        angle = angle + h / 2 * (a + b)
        t = t + h
    return angle * angle


def newton(a):
    x = a
    while abs(x * x - a) > 1e-12:
        x = 0.5 * (x + a / x)
    return x


def recurrence(a, b):
    s = 0.0
    total = 0.0
    for i in range(len(a)):
        s = np.tanh(a[i] * s + b[i])
        total += s * s
    return total


def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def mixture(x, mu, logs, w):
    z = (x[:, None, :] - mu[None, :, :]) / np.exp(logs)[None, :, :]
    ll = -0.5 * np.sum(z * z, axis=2) - np.sum(logs, axis=1) + w
    m = np.max(ll, axis=1)
    return np.sum(m + np.log(np.sum(np.exp(ll - m[:, None]), axis=1)))


def bodies(pos, mass):
    e = 0.0
    for i in range(len(mass)):
        for j in range(i):
            dx = pos[i, 0] - pos[j, 0]
            dy = pos[i, 1] - pos[j, 1]
            e -= mass[i] * mass[j] / math.sqrt(dx * dx + dy * dy + 0.01)
    return e


def limiter(u, dt, steps):
    u = u.copy()
    for _ in range(steps):
        du = u[1:] - u[:-1]
        slope = np.where(du[1:] * du[:-1] > 0, np.minimum(np.abs(du[1:]), np.abs(du[:-1])) * np.sign(du[1:]), 0.0)
        flux = 0.5 * (u[1:-1] + 0.5 * slope) ** 2
        u[2:-1] = u[2:-1] - dt * (flux[1:] - flux[:-1])
    return np.sum(u**2)


def branches(u, dt):
    u = u.copy()
    f = np.zeros(len(u))
    for i in range(1, len(u) - 1):
        a = u[i] - u[i - 1]
        b = u[i + 1] - u[i]
        if a * b > 0:
            s = min(abs(a), abs(b))
            if a < 0:
                s = -s
        else:
            s = 0.0
        f[i] = 0.5 * (u[i] + 0.5 * s) ** 2
    for i in range(2, len(u) - 1):
        u[i] = u[i] - dt * (f[i] - f[i - 1])
    return np.sum(u**2)


def periodic(u):
    total = 0.0
    for i in range(len(u)):
        total += u[i] * u[i - 1]
    return total


def network(x, y, W, b, V):
    return np.mean((np.tanh(x @ W + b) @ V - y) ** 2)


def shifted_in_place(x):
    y = x * 1.0
    y[1:] += y[:-1] * x[1:]
    y[:-1] = y[1:] ** 2
    return np.sum(y * y)


def scaled_pair(pair, k):
    return np.sum(pair[0] * k) + pair[1] ** 2


def softmax_of_rows(x, targets):
    shifted = x - x.max(axis=1, keepdims=True)
    log_p = shifted - np.log(np.sum(np.exp(shifted), axis=1, keepdims=True))
    return -np.mean(np.sum(targets * log_p, axis=1))


def rng():
    return np.random.default_rng(7)


def cholesky_by_items(m):
    n = m.shape[0]
    a = m @ m.T + n * np.eye(n)
    low = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            s = 0.0
            for k in range(j):
                s += low[i, k] * low[j, k]
            low[i, j] = np.sqrt(a[i, i] - s) if i == j else (a[i, j] - s) / low[j, j]
    return np.sum(np.log(np.diag(low)))


def cheapest_path(a, b):
    n, m = len(a), len(b)
    cost = np.zeros((n + 1, m + 1))
    cost[0, 1:] = 1e9
    cost[1:, 0] = 1e9
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            best = min(cost[i - 1, j], cost[i, j - 1], cost[i - 1, j - 1])
            cost[i, j] = (a[i - 1] - b[j - 1]) ** 2 + best
    return max(cost[n, m], 0.0)


CASES = {
    heat: lambda: (rng().normal(size=20), 0.2, 5),
    triangular_solve: lambda: (rng().normal(size=(6, 6)) + 4 * np.eye(6), rng().normal(size=6)),
    pendulum: lambda: (1.3, 0.7, 0.01, 30),
    newton: lambda: (2.3,),
    recurrence: lambda: (rng().normal(size=9), rng().normal(size=9)),
    rosenbrock: lambda: (rng().normal(size=30),),
    mixture: lambda: tuple(rng().normal(size=s) for s in ((15, 2), (3, 2), (3, 2), (3,))),
    bodies: lambda: (rng().normal(size=(5, 2)), rng().uniform(1, 2, 5)),
    limiter: lambda: (np.sin(np.linspace(0, 6, 30)), 0.01, 4),
    branches: lambda: (np.sin(np.linspace(0, 6, 30)), 0.01),
    periodic: lambda: (rng().normal(size=8),),
    network: lambda: tuple(rng().normal(size=s) for s in ((7, 4), (7, 2), (4, 3), (3,), (3, 2))),
    softmax_of_rows: lambda: (rng().normal(size=(4, 5)), rng().normal(size=(4, 5))),
    shifted_in_place: lambda: (rng().normal(size=9),),
    cholesky_by_items: lambda: (rng().normal(size=(5, 5)),),
    cheapest_path: lambda: (rng().normal(size=7), rng().normal(size=5)),
}
