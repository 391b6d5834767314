"""Loops over segments."""

import numpy as np

from autodiff_sct import segments
from tests.bank.registry import program


@program(args=lambda rng: (rng.normal(size=5), 11), tags={"second"})
def over_segments(x, n):
    for i in segments(range(n), every=4):
        x = np.tanh(x * x - 0.1 * i) + 0.3 * x
    return np.sum(x * x)


@program(args=lambda rng: (rng.random(6), 0.2, 10, 3), wrt=(0, 1), tags={"inplace"})
def stencil_over_segments(u, c, n, k):
    u = u.copy()
    energy = 0.0
    for t in segments(range(n), every=k):
        u[1:-1] += c * np.sin(u[:-2] - 2 * u[1:-1] + u[2:])
        if t % 2:
            energy += np.sum(u * u)
    return energy


@program(args=lambda rng: (rng.normal(size=4), 5, 6), tags={"inplace"})
def segments_inside_segments(x, m, n):
    x = x.copy()
    for t in segments(range(m), every=2):
        w = np.cos(x) + t
        for i in segments(range(1, n), every=2):
            x[1:] += 0.1 * w[:-1] * np.sin(x[1:]) / i
        x[0] *= np.sin(w[0] * x[1])
    return np.sum(x * x)


@program(args=lambda rng: (rng.uniform(0.5, 1.5, size=(4, 3)), 6), tags={"inplace"})
def segments_beside_a_copy_that_might_be_a_view(x, n):
    y = x.T * 1.0
    flat = y.ravel()
    total = 1.0
    for i in segments(range(n), every=2):
        total = np.sin(total + flat[i] * y[0, 0] * y[1, 1])
        flat[i + 1] = flat[i] * flat[i + 1] * total
        y[0, 0] = y[0, 0] * flat[i]
    return total * np.sum(y) * np.sum(flat)
