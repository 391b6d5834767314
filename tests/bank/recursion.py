"""Recursive functions."""

import numpy as np

from tests.bank.registry import program


@program(args=lambda rng: (0.9, 5), tags={"second"})
def power(x, n):
    if n == 0:
        return 1.0
    return x * power(x, n - 1)


@program(args=lambda rng: (0.7, 60))
def deep_recursion(x, n):
    if n <= 0:
        return x
    inner = deep_recursion(x + 0.001 * x**2, n - 1)
    return inner + 0.02 * np.sin(3 * inner)


@program(args=lambda rng: ((0.3, (0.5, 0.2), ((0.7, 1.1), 0.9)),))
def sum_of_tree(tree):
    if isinstance(tree, tuple):
        return sum(sum_of_tree(branch) for branch in tree) * 1.1
    return tree**2


def is_even_step(x, n):
    return x if n == 0 else is_odd_step(x * x, n - 1)


def is_odd_step(x, n):
    return -x if n == 0 else is_even_step(x + 0.5, n - 1)


@program(args=lambda rng: (0.3,))
def mutual_recursion(x):
    return is_even_step(x, 5) + is_odd_step(x, 2)


@program(args=lambda rng: (rng.normal(size=7),))
def pairwise_sum(x):
    if len(x) == 1:
        return x[0] ** 2
    half = len(x) // 2
    left = pairwise_sum(x[:half])
    right = pairwise_sum(x[half:])
    return left + right + 0.1 * left * right


@program(args=lambda rng: (rng.normal(size=8),), float32=False)
def fft_recursion(x):
    def fft(a):
        n = len(a)
        if n == 1:
            return a + 0j
        even, odd = fft(a[::2]), fft(a[1::2])
        twiddle = np.exp(-2j * np.pi * np.arange(n // 2) / n) * odd
        return np.concatenate([even + twiddle, even - twiddle])

    spectrum = fft(x)
    return np.sum(np.abs(spectrum[:3]) ** 2) + np.real(spectrum[1] * spectrum[2])


@program(args=lambda rng: (rng.normal(size=5),), tags={"inplace"})
def recursion_that_writes(x):
    def accumulate(a, i):
        if i < len(a):
            a[i] = a[i] * a[i - 1] + 1.0
            accumulate(a, i + 1)

    y = x * 1.0
    accumulate(y, 1)
    return np.sum(y**2)


@program(args=lambda rng: (1.4, 1e-3))
def adaptive_quadrature(b, tolerance):
    def area(lo, hi):
        middle = 0.5 * (lo + hi)
        coarse = (hi - lo) * np.exp(-(middle**2))
        fine = 0.5 * (hi - lo) * (np.exp(-((0.5 * (lo + middle)) ** 2)) + np.exp(-((0.5 * (middle + hi)) ** 2)))
        if abs(coarse - fine) < tolerance:
            return fine
        return area(lo, middle) + area(middle, hi)

    return area(0.0, b)


@program(args=lambda rng: (rng.normal(size=4),))
def recursion_collects(x):
    leaves = []

    def visit(i, value):
        if i >= 4:
            leaves.append(value)
            return
        visit(i + 2, value * x[i])
        visit(i + 3, np.sin(value) + x[i])

    visit(0, 1.0)
    return sum(leaf**2 for leaf in leaves)


@program(args=lambda rng: (0.4, 6))
def fibonacci_like(x, n):
    if n < 2:
        return x + n
    return fibonacci_like(x, n - 1) * 0.5 + np.sin(fibonacci_like(x, n - 2))


@program(args=lambda rng: (0.4, 4), tags={"second"})
def continued_fraction(x, depth):
    return x if depth == 0 else x / (1.0 + continued_fraction(x * 1.1, depth - 1))


@program(args=lambda rng: (rng.normal(size=5),))
def haar_wavelets(x):
    a = x * 1.0

    def halve(a):
        if len(a) < 2:
            return
        m = len(a) // 2
        means, steps = (a[:m] + a[m : 2 * m]) * 0.5, (a[:m] - a[m : 2 * m]) * 0.5
        a[:m] = means
        a[m : 2 * m] = steps
        halve(a[:m])

    halve(a)
    return np.sum(a**2 * np.arange(1, len(a) + 1))


@program(args=lambda rng: (rng.normal(size=(6, 4)) * 0.3, rng.normal(size=(6, 3)) * 0.3, rng.normal(size=(5, 4))), wrt=(0, 1, 2))
def recurrent_cell(W, U, xs):
    def step(h, c, k):
        if k >= len(xs):
            return h, c
        z = W @ xs[k] + U @ h
        i, f = np.tanh(z[:3]), np.tanh(z[3:])
        c = f * c + i
        return step(f * np.tanh(c), c, k + 1)

    h, c = step(np.zeros(3), np.zeros(3), 0)
    return np.sum(h * c)


@program(args=lambda rng: (rng.normal(size=3), 0.6), wrt=(0, 1))
def corrected_solutions(b, t):
    def refine(M, b, k):
        r = np.linalg.solve(M, b)
        if k == 0:
            return r
        return refine(M + 0.1 * np.outer(r, r), b - r, k - 1) + t * r

    return np.sum(refine(np.eye(3) * 3 + np.outer(b, b), b, 4))
