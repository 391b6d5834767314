"""Forward substitution, element by element: two loops over items of arrays."""

import numpy as np

KIND = "loop"
WRT = (0, 1)


def inputs(quick):
    n = 6 if quick else 80
    rng = np.random.default_rng(0)
    return np.tril(rng.normal(size=(n, n))) / n + np.eye(n), rng.normal(size=n)


def primal(a, b):
    n = len(b)
    x = np.zeros(n)
    for i in range(n):
        rest = b[i]
        for j in range(i):
            rest = rest - a[i, j] * x[j]
        x[i] = rest / a[i, i]
    return np.sum(x * x)


def hand(a, b):
    n = len(b)
    rows, right, x = a.tolist(), b.tolist(), []
    for i in range(n):
        row, rest = rows[i], right[i]
        for j in range(i):
            rest -= row[j] * x[j]
        x.append(rest / row[i])
    d_x = [2 * value for value in x]
    d_a, d_b = np.zeros_like(a), np.empty_like(b)
    for i in range(n - 1, -1, -1):
        row = rows[i]
        d_rest = d_x[i] / row[i]
        d_row = []
        for j in range(i):
            d_row.append(-d_rest * x[j])
            d_x[j] -= d_rest * row[j]
        d_row.append(-d_rest * x[i])
        d_a[i, : i + 1] = d_row
        d_b[i] = d_rest
    return d_a, d_b


def hand_numba(a, b):
    n = len(b)
    x = np.empty(n)
    for i in range(n):
        rest = b[i]
        for j in range(i):
            rest -= a[i, j] * x[j]
        x[i] = rest / a[i, i]
    d_a, d_b = np.zeros_like(a), np.empty_like(b)
    d_x = 2 * x
    for i in range(n - 1, -1, -1):
        d_rest = d_x[i] / a[i, i]
        d_b[i] = d_rest
        for j in range(i):
            d_a[i, j] = -d_rest * x[j]
            d_x[j] -= d_rest * a[i, j]
        d_a[i, i] = -d_rest * x[i]
    return d_a, d_b


def hips_primal(a, b):
    x = []
    for i in range(len(b)):
        rest = b[i]
        for j in range(i):
            rest = rest - a[i, j] * x[j]
        x.append(rest / a[i, i])
    x = np.stack(x)
    return np.sum(x * x)


tape_primal = hips_primal


def torch_primal(a, b):
    x = []
    for i in range(len(b)):
        rest = b[i]
        for j in range(i):
            rest = rest - a[i, j] * x[j]
        x.append(rest / a[i, i])
    x = np.stack(x)
    return np.sum(x * x)


def jax_primal(a, b):
    """The inner loop is a product with the entries found so far; those not yet found are zero."""
    from jax import lax

    def row(i, x):
        return x.at[i].set((b[i] - a[i] @ x) / a[i, i])

    x = lax.fori_loop(0, len(b), row, np.zeros_like(b))
    return np.sum(x * x)
