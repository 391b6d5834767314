"""Steps of stencils that write into copies, and functions that are chosen piece by piece."""

from __future__ import annotations

import numpy as np

from tests.bank.registry import program


def field(rng):
    return rng.normal(size=(6, 5)), 0.1, 3


def line(rng):
    return np.array([0.4, 1.3, -0.7, 0.9, 0.2]), 3


def pieces(rng):
    return np.array([-2.0, -0.5, 0.25, 1.5, 3.0]), 0.7


@program(args=field, wrt=(0, 1), tags=("second",))
def heat_into_a_copy(u, k, n):
    for _ in range(n):
        new = u.copy()
        new[1:-1, 1:-1] = u[1:-1, 1:-1] + k * (u[2:, 1:-1] + u[:-2, 1:-1] - 2 * u[1:-1, 1:-1] * u[1:-1, 2:])
        u = new
    return np.sum(u**2)


@program(args=field, wrt=(0, 1))
def two_parts_of_a_copy(u, k, n):
    for _ in range(n):
        new = u.copy()
        new[1:-1] = u[1:-1] + k * u[:-2] ** 2
        new[0] = u[0] * u[-1]
        u = new
    return np.sum(u**2)


@program(args=field, wrt=(0, 1))
def bounds_of_a_copy(u, k, n):
    for _ in range(n):
        new = u.copy()
        new[1:-1] = u[1:-1] + k * u[:-2] ** 2
        new[0] = new[1]
        new[-1] = 0.5 * new[-2]
        u = new
    return np.sum(u**2)


@program(args=field, wrt=(0, 1))
def copy_and_original_are_read(u, k, n):
    total = 0.0
    for _ in range(n):
        new = u.copy()
        new[1:-1] = u[1:-1] + k * u[:-2] ** 2
        total = total + np.sum(u * new)
        u = new
    return np.sum(u**2) + total


@program(args=field, wrt=(0, 1))
def copied_twice_in_a_step(u, k, n):
    for _ in range(n):
        new = u.copy()
        new[1:-1] = u[1:-1] + k * u[:-2] ** 2
        u = new
        new = u.copy()
        new[:, 1:-1] = u[:, 1:-1] + k * u[:, :-2] ** 2
        u = new
    return np.sum(u**2)


@program(args=field, wrt=(0, 1))
def copies_of_two_fields(u, k, n):
    v = 0.5 * u
    for _ in range(n):
        new, other = u.copy(), v.copy()
        new[1:-1] = u[1:-1] + k * v[:-2] * u[2:]
        other[1:-1] = v[1:-1] - k * u[:-2]
        u, v = other, new
    return np.sum(u**2 * v)


@program(args=field, wrt=(0, 1))
def copy_is_added_to(u, k, n):
    for _ in range(n):
        new = u.copy()
        new[1:-1] += k * u[:-2] ** 2
        u = new
    return np.sum(u**2)


@program(args=field, wrt=(0, 1))
def copies_until_a_bound(u, k, n):
    for _ in range(n):
        new = u.copy()
        new[1:-1] = u[1:-1] + k * u[:-2] ** 2
        u = new
        if np.max(u) > 3.0:
            break
    return np.sum(u**2)


@program(args=field, wrt=(0, 1))
def burgers_from_a_copy(u, k, n):
    u = u.copy()
    for _ in range(n):
        old = u.copy()
        u[1:-1] = old[1:-1] - k * old[1:-1] * (old[1:-1] - old[:-2]) + k * (old[2:] - 2 * old[1:-1])
    return np.sum(u**2)


@program(args=field, wrt=(0, 1))
def boundaries_from_a_copy(u, k, n):
    u = u.copy()
    for _ in range(n):
        old = u.copy()
        u[1:-1] = old[1:-1] + k * old[:-2] ** 2
        u[0] = u[1] * old[2]
        u[-1] = 0.5 * u[-2]
    return np.sum(u**2)


@program(args=field, wrt=(0, 1))
def parts_that_overlap(u, k, n):
    u = u.copy()
    for _ in range(n):
        old = u.copy()
        u[1:4] = old[1:4] + k * old[:3] ** 2
        u[2:6] = old[2:6] + k * old[1:5] ** 2
    return np.sum(u**2)


@program(args=field, wrt=(0, 1))
def copy_read_in_one_branch(u, k, n):
    u = u.copy()
    for t in range(n):
        old = u.copy()
        if t % 2:
            u[1:-1] = old[1:-1] + k * old[:-2] ** 2
        else:
            u[:-1] = old[1:] * k
    return np.sum(u**2)


@program(args=field, wrt=(0, 1))
def copies_are_kept(u, k, n):
    u, states = u.copy(), []
    for _ in range(n):
        old = u.copy()
        states.append(old)
        u[1:-1] = old[1:-1] + k * old[:-2] ** 2
    return np.sum(u**2) + sum(np.sum(state**3) for state in states)


@program(args=field, wrt=(0, 1))
def copy_is_written_too(u, k, n):
    u = u.copy()
    for _ in range(n):
        old = u.copy()
        old[0] = u[1] * k
        u[1:-1] = old[1:-1] + k * old[:-2] ** 2
        old[1:] = 0.0
        u[0] = old[0]
    return np.sum(u**2)


@program(args=lambda rng: (np.cos(np.arange(20.0)).reshape(4, 5), 3))
def diffused_item_by_item(u, steps):
    n, m = u.shape
    for _ in range(steps):
        new = u.copy()
        for i in range(1, n - 1):
            for j in range(m - 2, 0, -1):
                new[i, j] = u[i, j] + 0.1 * (u[i - 1, j] + u[i + 1, j] - 2.0 * u[i, j]) * u[i, j - 1]
        u = new
    return np.sum(u**2)


@program(args=lambda rng: (np.array([0.4, 1.3, -0.7, 0.9, 0.2]),))
def levinson_recursion(r):
    a = np.zeros(len(r), dtype=r.dtype)
    a[0] = 1.0
    for k in range(1, len(r)):
        s = 0.0
        for j in range(k):
            s = s + a[j] * r[k - j]
        new = a.copy()
        for j in range(1, k + 1):
            new[j] = a[j] - s * a[k - j]
        a = new
    return np.sum(a * a)


@program(args=line)
def items_counted_from_both_ends(u, steps):
    for _ in range(steps):
        new = u.copy()
        for i in range(-2, 4):
            new[i] = u[i] + 0.1 * u[i - 1] * u[i]
        u = new
    return np.sum(u**2)


@program(args=line)
def original_of_a_copy_is_kept(u, steps):
    old = u
    for _ in range(steps):
        new = u.copy()
        for i in range(1, 4):
            new[i] = u[i] + 0.1 * u[i - 1] * old[i]
        old, u = u, new
    return np.sum(u**2) + np.sum(old)


@program(args=pieces, wrt=(0, 1))
def huber_in_pieces(x, k):
    a = np.abs(x)
    return np.mean(np.where(a <= k, 0.5 * x**2, k * (a - 0.5 * k)))


@program(args=pieces, wrt=(0, 1))
def in_three_pieces(x, k):
    return np.sum(np.where(x < -1, x**2, np.where(x > 1, k * x, -x / k)) * x)


@program(args=pieces, wrt=(0, 1))
def singular_where_not_chosen(x, k):
    return np.sum(np.where(x > 0, np.log(np.where(x > 0, x, 1.0)), x * k))


@program(args=pieces, wrt=(0, 1))
def pieces_negative_and_divided(x, k):
    return np.sum(-np.where(x > k, x / 3, -x * x) / (k + x**2))


@program(args=pieces, wrt=(0, 1))
def written_between_pieces(x, k):
    x = x * 1.0
    for _ in range(2):
        y = np.where(x > 0, k * x, x * x)
        x[1:] = 0.5 * x[:-1]
        x += y
    return np.sum(x**2)


@program(args=pieces, wrt=(0,))
def larger_of_neighbours(x, k):
    y = x[::-1].copy() * k
    return np.sum(np.maximum(x, y) * np.arange(1.0, 1.0 + len(x)))


@program(args=lambda rng: (rng.normal(size=(5, 4)),))
def normalised_columns(x):
    var = np.var(x, axis=0)
    return np.sum(((x - np.mean(x, axis=0)) / np.sqrt(var + 0.1)) ** 3)


@program(args=lambda rng: (rng.normal(size=(5, 4)),))
def written_between_mean_and_variance(x):
    y = x.copy()
    mean = np.mean(y, axis=0)
    y[0] = 2.0 * x[1]
    var = np.var(y, axis=0)
    return np.sum((y - mean) ** 3 / var)


@program(args=lambda rng: (rng.normal(size=(4, 3)), rng.normal(size=(4, 4))), wrt=(0, 1))
def forces_between_points(p, m):
    for _ in range(3):
        d = p[:, None, :] - p[None, :, :]
        p = p + 0.1 * np.sum(d * m[:, :, None], axis=1)
    return np.sum(p * p)


@program(args=lambda rng: (rng.normal(size=(4, 3)),))
def distances_then_overwritten(p):
    d = p[:, None, :] - p[None, :, :]
    r = np.sqrt(np.sum(d**2, axis=-1) + 0.1)
    total = np.sum(r)
    d[0] = 2.0 * d[1]
    return total * np.sum(d * d)


@program(args=lambda rng: (rng.normal(size=(3, 3)), rng.normal(size=3)), wrt=(0, 1))
def solved_with_the_transposed_factor(a, b):
    factor = np.linalg.cholesky(a @ a.T + np.eye(len(a), dtype=a.dtype))
    x = np.linalg.solve(factor.T, np.linalg.solve(factor, b))
    return 0.5 * b @ x + np.sum(np.log(np.diagonal(factor)))


@program(args=lambda rng: (rng.normal(size=(3, 3)), rng.normal(size=3)), wrt=(0, 1))
def diagonal_into_a_written_vector(a, b):
    b = b * 1.0
    y = (a @ np.exp(a)) @ b
    b[0] = y[1]
    b += np.diag(a @ np.exp(a))
    return np.sum(b * b)


@program(args=line)
def written_after_it_was_stacked(x, n):
    rows = []
    for k in range(1, n):
        rows.append(x * k)
    table = np.stack(rows)
    rows[0][1] = x[0] ** 2
    return np.sum(table**2) * np.sum(rows[0])


@program(args=line)
def taken_out_after_it_was_stacked(x, n):
    rows = []
    for k in range(n):
        rows.append(x**2 * (k + 1))
    total = np.sum(np.stack(rows) ** 2)
    last = rows.pop()
    rows.append(last * x)
    return total + np.sum(np.stack(rows)[-1])


@program(args=lambda rng: (rng.normal(size=4), np.array([3, 5, 1, 0], np.uint8), np.array([5, 3, 2, 1], np.uint8)))
def differences_without_a_sign(x, m, n):
    y = np.cos(x) * np.cos(0.01 * (m - n) * x) - np.tanh(x) * (m - n)
    return np.sum(y) - x @ (m - n) * np.sum(x * (1 - m))


@program(args=lambda rng: (np.array([0.4, 1.3, 0.7, 0.9]), 2))
def bounds_in_a_chain(x, k):
    if 0 <= k < len(x) - 1 and x[k] < x[k + 1] <= 2.0:
        return np.sum(x[k] * x)
    return np.sum(x**2)


@program(args=lambda rng: (np.array([0.4, 1.3, 0.7, 0.9]), 9, 1))
def one_attempt_after_the_other(x, i, k):
    total = x[0]
    for j in (i, k):
        try:
            total = total * x[j]
        except IndexError:
            total = total + x[1] ** 2
        else:
            total = np.sin(total)
        finally:
            total = total * 2.0
    return total


@program(args=lambda rng: (np.array([0.4, 1.3, 0.7, 0.9]), 2, 9))
def one_attempt_in_the_other(x, i, k):
    try:
        try:
            v = x[i]
        except IndexError:
            v = x[0] ** 2
        else:
            v = v * x[1]
        v = v * x[k]
    except IndexError:
        v = np.cos(x[2])
    else:
        v = v + x[3]
    return v


@program(args=lambda rng: (np.array([0.4, 1.3, -0.7, 0.9]), np.array([3, 3, 1]), 3))
def smoothed_at_places(x, places, steps):
    for _ in range(steps):
        y = np.zeros_like(x)
        np.add.at(y, places[::-1], x[places] * 0.5)
        x = np.tanh(y)
    return np.sum(x**2)


@program(args=lambda rng: (rng.normal(size=4), 3))
def gates_of_a_cell(x, n):
    for k in range(n):
        z = np.concatenate([x, 2 * x]) * (k + 1.0)
        x = np.tanh(z[:4]) / (1.0 + np.exp(-z[4:]))
    return np.sum(x * x)


@program(args=lambda rng: (rng.normal(size=4), 3))
def rows_of_an_outer_product(x, n):
    for k in range(n):
        z = np.outer(x, x)
        if k % 2:
            x = np.sin(z[0]) + np.cos(z[1])
        else:
            x = np.tanh(z[1] * z[2])
    return np.sum(x)
