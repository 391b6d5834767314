"""Subscript assignment and augmented assignment, by every kind of index."""

import numpy as np

from tests.bank.registry import program

WRITES = {"inplace"}


def normal(*shapes):
    return lambda rng: tuple(rng.normal(size=s) if s is not None else rng.normal() for s in shapes)


@program(args=normal(5, None), wrt=(0, 1), tags=WRITES)
def set_integer(x, v):
    y = x * x
    y[2] = v * y[1]
    y[-1] = np.sin(y[2])
    return np.sum(y**2)


@program(args=normal(6, 3), wrt=(0, 1), tags=WRITES | {"second"})
def set_slices(x, v):
    y = np.sin(x)
    y[1:4] = v * y[:3]
    y[-2:] = y[0]
    y[::3] *= v[0]
    return y * y


@program(args=normal((3, 4), 4, 3), wrt=(0, 1, 2), tags=WRITES)
def set_rows_and_columns(A, r, c):
    B = A.copy()
    B[0] = r
    B[:, 1] = c * B[:, 2]
    B[1:, -2:] *= r[0]
    B[2, 0] += c[1] ** 2
    return np.sum(B**3)


@program(args=normal((2, 3, 4), 4), wrt=(0, 1), tags=WRITES)
def set_ellipsis(T, v):
    U = T * 1.0
    U[..., 0] = U[..., 1] * U[..., 2]
    U[0, ...] += v
    U[..., None, 3] -= 2.0
    return np.mean(U**2)


@program(args=normal(8, 8), wrt=(0, 1), tags=WRITES)
def set_mask(x, y):
    z = x * y
    small = x < 0.1
    z[small] = y[small] ** 2
    z[~small] *= x[~small]
    z[z > 3.0] = 0.0
    return np.sum(np.sin(z))


@program(args=normal((3, 3), None), wrt=(0, 1), tags=WRITES)
def mask_gets_scalar(A, fill):
    B = A * A
    B[A > 0] = fill * 2.0
    B[np.eye(3, dtype=bool)] += fill
    return np.sum(B**2)


@program(args=normal(5, 3), wrt=(0, 1), tags=WRITES)
def set_integer_array(x, v):
    y = x**2
    idx = np.array([4, 0, 2])
    y[idx] = v * y[idx]
    y[[1, 3]] = y[[3, 1]] * v[0]
    return np.sum(y * x)


@program(args=normal(4, 4), wrt=(0, 1), tags=WRITES)
def repeated_store(x, v):
    y = x * 1.0
    y[np.array([0, 2, 0, 2])] = v * v
    return np.sum(y**2)


@program(args=normal(4, 4), wrt=(0, 1), tags=WRITES)
def repeated_augmented(x, v):
    y = x * 2.0
    y[np.array([1, 1, 3, 1])] += v
    y[np.array([0, 0])] *= v[:2]
    return np.sum(y**3)


@program(args=normal(4, 6), wrt=(0, 1), tags=WRITES | {"second"})
def repeated_gather(x, w):
    idx = np.array([0, 0, 3, 1, 0, 3])
    return np.sum(x[idx] ** 2 * w)


@program(args=normal((4, 3), 3), wrt=(0, 1), tags=WRITES)
def tuple_of_arrays(A, v):
    B = np.tanh(A)
    rows, cols = np.array([0, 1, 3]), np.array([2, 0, 0])
    B[rows, cols] = v * B[cols, rows % 3]
    B[np.ix_([0, 2], [1, 2])] *= v[:2]
    B[1, [0, 2]] += v[1:]
    return np.sum(B * A)


@program(args=normal((3, 4), 2), wrt=(0, 1), tags=WRITES)
def slice_and_array(A, v):
    B = A * A
    B[1:, [0, 3]] = v * B[1:, [1, 1]]
    B[[2, 0], :2] += v[:, None]
    return np.sum(np.sin(B))


@program(args=normal(5, None), wrt=(0, 1), tags=WRITES)
def all_operators(x, k):
    y = x * x + 1.0
    y += x
    y -= k
    y *= y
    y /= k**2 + 2.0
    y += 1.0
    y **= 1.5
    return np.sum(y)


@program(args=normal(5), tags=WRITES)
def self_products(x):
    y = x + 0.0
    y[1] *= y[0]
    y[2:] *= y[:-2]
    y[:] = y * y[::-1]
    return y.sum()


@program(args=normal(6), tags=WRITES)
def overlapping_shift(x):
    y = x * 1.0
    y[1:] = y[:-1]
    y[:-2] += y[2:] ** 2
    y[:] = y[::-1]
    return np.sum(y * x)


@program(args=normal(4), tags=WRITES)
def swap_elements(x):
    y = x * 1.0
    y[0], y[3] = y[3], y[0]
    y[1], y[2] = y[2] * y[0], y[1]
    return np.sum(y * x**2)


@program(args=normal(4, None), wrt=(0, 1), tags=WRITES)
def chained_targets(x, v):
    y = x * 1.0
    y[0] = z = y[2] = v**2
    a = b = x[1] * z
    return np.sum(y**2) * a + b


@program(args=normal(5), tags=WRITES)
def overwritten_read_nonlinearly(x):
    y = np.exp(x * 0.3)
    z = y * y
    y[2] = 0.0
    w = np.sin(y)
    y[:] = 1.0
    y[1] = x[0]
    return np.sum(z * w * y)


@program(args=normal(4, (3, 4)), wrt=(0, 1), tags=WRITES)
def broadcast_store(row, A):
    B = np.zeros((3, 4))
    B[:] = row
    B[1:] += A[:1] * A[1:]
    B[:, :2] = row[2]
    return np.sum(B * A)


@program(args=normal(4), tags=WRITES)
def into_empty(x):
    y = np.empty(5)
    y[0] = 1.0
    for i in range(4):
        y[i + 1] = y[i] * x[i] + x[i] ** 2
    return y[-1] * y[2]


@program(args=normal(5, 2), wrt=(0, 1), tags=WRITES | {"in_argument"})
def write_into_argument(x, y):
    s = np.sum(x**2)
    x[0] = y[0]
    x[1:3] *= y
    y += 1.0
    return s * np.sum(np.sin(x)) * np.prod(y)


@program(args=normal((3, 3)), tags=WRITES | {"in_argument"})
def normalise_argument(A):
    A -= A.mean(axis=0)
    A /= np.sqrt(np.sum(A**2, axis=0) + 0.1)
    return A**3


@program(args=normal(6, (3,)), wrt=(0, 1), tags=WRITES)
def index_from_data(x, v):
    order = np.argsort(x)
    y = x.copy()
    y[order[:3]] = v * y[order[3:]]
    k = int(np.argmax(np.abs(x)))
    y[k] *= v[k % 3]
    return np.sum(y**2)


@program(args=lambda rng: (rng.normal(size=(5, 4)), 6), tags=WRITES)
def heat(A, steps):
    A = A.copy()
    for t in range(steps):
        A[1:-1] = 0.25 * (A[:-2] + 2 * A[1:-1] + A[2:])
    return np.sum(A * A)


@program(args=lambda rng: (rng.normal(size=(5, 5)), 3), tags=WRITES)
def nonlinear_stencil(u, steps):
    u = u * 0.5
    for _ in range(steps):
        lap = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1]
        u[1:-1, 1:-1] += 0.1 * lap + 0.05 * u[1:-1, 1:-1] * (1 - u[1:-1, 1:-1] ** 2)
        u[0] = u[1]
        u[-1, :] = u[-2, :] * u[0, :]
    return np.sum(u**2)


@program(args=normal(7), tags=WRITES)
def gauss_seidel(b):
    x = np.zeros_like(b)
    for sweep in range(3):
        for i in range(1, len(b) - 1):
            x[i] = (b[i] + x[i - 1] * x[i + 1] + x[i - 1]) / 2.5
    return np.sum(x**2)


@program(args=normal(4), tags=WRITES)
def chained_subscripts(x):
    y = np.outer(x, x)
    y[1][2] = x[0]
    y[2][1:3] *= x[1:3]
    y[0, 1:][0] = x[3] ** 2
    return np.sum(y**2)


@program(args=normal(5), tags=WRITES)
def constant_into_active(x):
    y = x * x
    y[1] = 3.0
    y[3:] = [1.0, 2.0]
    z = y.copy()
    y[0] = 7.0
    return np.sum(y * z)


@program(args=lambda rng: (rng.normal(size=(4, 3)), np.array([0, 2, 1, 2])), tags=WRITES)
def row_wise_pick(A, labels):
    B = A - np.max(A, axis=1, keepdims=True)
    B[np.arange(4), labels] -= 1.0
    return np.mean(B[np.arange(4), labels] ** 2) + np.sum(B)


@program(args=normal(5, 5), wrt=(0, 1), tags=WRITES)
def boolean_index_tuple(x, w):
    A = np.outer(x, w)
    A[x > 0, 1] = w[x > 0] ** 2
    A[:, w < 0] *= 2.0
    A[1:][A[1:] > 2.5] = 0.5
    return np.sum(A**2)


@program(args=normal(6), tags=WRITES)
def deleted_names(x):
    y = x * 2.0
    z = y
    del y
    z[0] = x[1]
    y = z**2
    del z
    return np.sum(y)


@program(args=lambda rng: (rng.uniform(0.3, 1.7, size=(3, 4)),))
def rounded_down_in_place(x):
    y = x.copy()
    y[1] //= 0.3
    y[0] %= 0.7
    y *= x
    y //= 0.11
    return np.sum(y) + np.sum(x**2)


@program(args=lambda rng: (rng.normal(size=(3, 4)),))
def put_and_partition(x):
    y = x.copy()
    np.put(y, [0, 5], x[0, :2] ** 2)
    y.T.put([1, 2], x[2, 2])
    y.partition(2, axis=1)
    return np.sum(y**2 * np.arange(12.0).reshape(3, 4))


@program(args=lambda rng: (rng.normal(size=4), rng.normal(size=3)), wrt=(0, 1))
def joined_by_index(v, u):
    line = np.r_[0.0, v, u[0], u]
    pairs = np.c_[v, line[:4]]
    return np.sum(line**2 * np.arange(9.0)) + np.sum(pairs[:, 0] * pairs[:, 1])


@program(args=lambda rng: (rng.uniform(0.5, 2.0, size=(3, 4)),))
def into_bare_memory(x):
    y = np.ndarray(x.shape, dtype=x.dtype)
    total = np.ndarray(3)
    y[...] = 1.0 / x
    for i in range(3):
        total[i] = y[i] @ x[i - 1]
    return np.sum(np.sqrt(total)) + np.sum(y * x[0])


@program(args=lambda rng: (rng.normal(size=5),), tags={"inplace", "second"})
def unwrapped(x):
    angle = np.array(5.0 * x, copy=True)
    steps = np.diff(angle)
    wanted = (steps + 1.5) % 3.0 - 1.5
    angle[1:] += np.cumsum(wanted - steps) + steps**2
    return angle


@program(args=normal((2, 3, 3), (2, 3, 3), (2, 3, 3)), wrt=(0, 1, 2))
def products_added_to_parts(total, a, b):
    total = total.copy()
    for i in range(2):
        for j in range(2):
            total[i] += a[j] @ b[i - j]
        total[i, 1:] = total[i, :2] @ a[i] * total[i, 1:]
    return np.sum(total**2)


@program(args=normal((4, 5)), tags={"inplace", "second"})
def edges_damped_by_lists(x):
    p = x * 1.0
    total = 0.0
    for _ in range(3):
        p[[0, -1]] *= 0.9
        p[:, [0, -1]] *= 0.8
        total += np.sum(p**2)
    return total


@program(args=normal((4,)), tags={"inplace", "second"})
def index_lists_of_two_branches(x):
    total = 0.0
    for k in range(4):
        if k % 2:
            ends = [0, -1]
        else:
            ends = [-1, 0]
        x = x * 1.1
        x[ends] = x[ends] ** 2 * np.array([2.0, 3.0])
        total += np.sum(x)
    return total + x[ends[0]]


@program(args=normal((3, 4)), tags={"inplace", "second"})
def outputs_of_nested_calls(x):
    total, buffer = 0.0, np.empty_like(x)
    for k in range(2):
        np.tanh(np.multiply(np.sin(x, out=buffer), k + 1, out=buffer), out=buffer)
        total += np.sum(buffer**2)
    return total
