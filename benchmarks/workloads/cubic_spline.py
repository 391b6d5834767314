"""Bending energy of a cubic spline: a tridiagonal system solved element by element, forwards and backwards."""

import numpy as np

KIND = "loop"
WRT = (0, 1)


def inputs(quick):
    n = 8 if quick else 400
    return np.sin(np.linspace(0.0, 9.0, n)), 4.0 + 0.1 * np.cos(np.arange(n - 2))


def primal(y, diagonal):
    n = len(diagonal)
    right = 6.0 * (y[2:] - 2.0 * y[1:-1] + y[:-2])
    upper, bend = np.zeros(n), np.zeros(n)
    upper[0] = 1.0 / diagonal[0]
    bend[0] = right[0] / diagonal[0]
    for i in range(1, n):
        pivot = diagonal[i] - upper[i - 1]
        upper[i] = 1.0 / pivot
        bend[i] = (right[i] - bend[i - 1]) / pivot
    for i in range(n - 2, -1, -1):
        bend[i] = bend[i] - upper[i] * bend[i + 1]
    return np.sum(bend * bend)


def hand(y, diagonal):
    n = len(diagonal)
    right = (6.0 * (y[2:] - 2.0 * y[1:-1] + y[:-2])).tolist()
    below = diagonal.tolist()
    last_upper = 1.0 / below[0]
    last = right[0] / below[0]
    upper, reduced = [last_upper], [last]
    for i in range(1, n):
        pivot = below[i] - last_upper
        last_upper = 1.0 / pivot
        last = (right[i] - last) / pivot
        upper.append(last_upper)
        reduced.append(last)
    bend = reduced.copy()
    for i in range(n - 2, -1, -1):
        bend[i] = last = bend[i] - upper[i] * last
    d_bend = [2 * value for value in bend]
    d_upper = [0.0] * n
    for i in range(n - 1):
        d = d_bend[i]
        d_upper[i] = -d * bend[i + 1]
        d_bend[i + 1] -= d * upper[i]
    d_right, d_below = [0.0] * n, [0.0] * n
    for i in range(n - 1, 0, -1):
        u = upper[i]
        d = d_bend[i] * u
        d_right[i] = d
        d_bend[i - 1] -= d
        d_below[i] = d_pivot = -d * reduced[i] - d_upper[i] * u * u
        d_upper[i - 1] -= d_pivot
    d_right[0] = d_bend[0] * upper[0]
    d_below[0] = -d_right[0] * reduced[0] - d_upper[0] * upper[0] * upper[0]
    d_right = 6.0 * np.array(d_right)
    d_y = np.zeros_like(y)
    d_y[2:] = d_right
    d_y[:-2] += d_right
    d_right *= 2
    d_y[1:-1] -= d_right
    return d_y, np.array(d_below)


def hand_numba(y, diagonal):
    n = len(diagonal)
    upper, reduced, bend = np.empty(n), np.empty(n), np.empty(n)
    for i in range(n):
        pivot = diagonal[i] - (upper[i - 1] if i else 0.0)
        upper[i] = 1.0 / pivot
        right = 6.0 * (y[i + 2] - 2.0 * y[i + 1] + y[i])
        reduced[i] = (right - (reduced[i - 1] if i else 0.0)) / pivot
    bend[n - 1] = reduced[n - 1]
    for i in range(n - 2, -1, -1):
        bend[i] = reduced[i] - upper[i] * bend[i + 1]
    d_bend, d_upper, d_diagonal, d_y = np.empty(n), np.zeros(n), np.empty(n), np.zeros(n + 2)
    d_bend[0] = 2 * bend[0]
    for i in range(n - 1):
        d_upper[i] = -d_bend[i] * bend[i + 1]
        d_bend[i + 1] = 2 * bend[i + 1] - d_bend[i] * upper[i]
    for i in range(n - 1, -1, -1):
        u = upper[i]
        d = d_bend[i] * u
        d_diagonal[i] = -d * reduced[i] - d_upper[i] * u * u
        if i:
            d_bend[i - 1] -= d
            d_upper[i - 1] -= d_diagonal[i]
        d_y[i + 2] += 6.0 * d
        d_y[i + 1] -= 12.0 * d
        d_y[i] += 6.0 * d
    return d_y, d_diagonal


def hips_primal(y, diagonal):
    n = len(diagonal)
    right = 6.0 * (y[2:] - 2.0 * y[1:-1] + y[:-2])
    upper, bend = [1.0 / diagonal[0]], [right[0] / diagonal[0]]
    for i in range(1, n):
        pivot = diagonal[i] - upper[i - 1]
        upper.append(1.0 / pivot)
        bend.append((right[i] - bend[i - 1]) / pivot)
    for i in range(n - 2, -1, -1):
        bend[i] = bend[i] - upper[i] * bend[i + 1]
    return sum(value * value for value in bend)


tape_primal = torch_primal = hips_primal


def jax_primal(y, diagonal):
    from jax import lax

    def down(carry, row):
        upper, reduced = carry
        middle, right = row
        pivot = middle - upper
        carry = 1.0 / pivot, (right - reduced) / pivot
        return carry, carry

    def up(bend, row):
        upper, reduced = row
        bend = reduced - upper * bend
        return bend, bend

    right = 6.0 * (y[2:] - 2.0 * y[1:-1] + y[:-2])
    _, rows = lax.scan(down, (0.0, 0.0), (diagonal, right))
    _, bend = lax.scan(up, 0.0, rows, reverse=True)
    return np.sum(bend * bend)
