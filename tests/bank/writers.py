"""Functions that write into arrays: `out=`, `ufunc.at`, `fill`, `sort`, `copyto`, `put`, `place` and the like."""

import numpy as np

from tests.bank.registry import program

WRITES = {"inplace"}


@program(args=lambda rng: (rng.normal(size=4), rng.normal(size=4)), wrt=(0, 1), tags=WRITES)
def out_keyword(x, y):
    buffer = np.empty(4)
    np.multiply(x, y, out=buffer)
    s = np.sum(buffer**2)
    np.sin(buffer, out=buffer)
    np.add(buffer, x, buffer)
    return s * np.sum(buffer * y)


# NumPy itself refuses to write the product of float32 arrays into `y`.
@program(args=lambda rng: (rng.normal(size=(3, 4)), rng.normal(size=4)), wrt=(0, 1), tags=WRITES, float32=False)
def out_of_products(A, x):
    y = np.zeros(3)
    np.dot(A, x, out=y)
    z = np.empty((3, 3))
    np.matmul(A, A.T, out=z)
    total = np.empty(3)
    np.sum(z, axis=0, out=total)
    return np.sum(y * total)


@program(args=lambda rng: (rng.normal(size=6),), tags=WRITES)
def out_is_a_view(x):
    y = np.zeros(9)
    np.exp(x[:3] * 0.5, out=y[3:6])
    np.multiply(y[3:6], x[3:], out=y[::3])
    np.cumsum(y[:4] * x[:4], out=y[5:])
    return np.sum(y**2)


@program(args=lambda rng: (rng.normal(size=4), rng.normal(size=5)), wrt=(0, 1), tags=WRITES)
def scatter_add(x, v):
    y = x * x
    np.add.at(y, [0, 1, 1, 3, 1], v)
    np.subtract.at(y, np.array([2, 2]), v[:2] * v[3])
    return np.sum(y**2)


@program(args=lambda rng: (rng.normal(size=(3, 3)), rng.normal(size=4)), wrt=(0, 1), tags=WRITES)
def scatter_add_tuple(A, v):
    B = A.copy()
    np.add.at(B, (np.array([0, 1, 0, 2]), np.array([1, 1, 1, 0])), v * v)
    return np.sum(np.sin(B) * A)


@program(args=lambda rng: (rng.normal(size=4), 0.7), wrt=(0, 1), tags=WRITES)
def fill(x, t):
    y = x * x
    s = np.sum(y)
    y.fill(t**2)
    y[1:3] *= x[1:3]
    y[2:].fill(0.5)
    return s * np.sum(y * x)


@program(args=lambda rng: (rng.permutation(6) * 0.37 + 0.1,), tags=WRITES)
def sort_in_place(x):
    y = x * 2.0
    y.sort()
    weights = np.arange(1.0, 7.0)
    return np.sum(weights * y * x)


@program(args=lambda rng: (rng.permutation(12).reshape(3, 4) * 0.21,), tags=WRITES)
def sort_columns_of_view(A):
    B = np.sin(A * 0.6) * 2
    B[:, 1:].sort(axis=0)
    C = np.sort(A, axis=1)[:, ::-1]
    return np.sum(B[0] * A[1]) + np.sum(C[:, 0] * C[:, 2])


@program(args=lambda rng: (rng.normal(size=5), rng.normal(size=5)), wrt=(0, 1), tags=WRITES)
def copyto(x, y):
    z = x * y
    np.copyto(z, y**2, where=x > 0)
    w = np.empty_like(z)
    np.copyto(w, z)
    np.copyto(z[:2], x[0])
    return np.sum(w * z)


@program(args=lambda rng: (rng.normal(size=6), rng.normal(size=3)), wrt=(0, 1), tags=WRITES)
def put(x, v):
    y = x * x
    np.put(y, [0, 2, 5], v * y[1])
    y.put([1, 3], v[:2])
    return np.sum(y * x)


@program(args=lambda rng: (rng.normal(size=6), rng.normal(size=2)), wrt=(0, 1), tags=WRITES)
def place(x, v):
    y = x * 3.0
    np.place(y, np.array([True, False, True, True, False, True]), v**2)
    return np.sum(y**2)


@program(args=lambda rng: (rng.normal(size=6), rng.normal(size=6)), wrt=(0, 1), tags=WRITES)
def putmask(x, v):
    y = x * v
    np.putmask(y, x > 0.2, v**2)
    return np.sum(y**2)


@program(args=lambda rng: (rng.normal(size=(4, 4)), rng.normal(size=4), 0.8), wrt=(0, 1, 2), tags=WRITES)
def fill_diagonal(A, d, t):
    B = A @ A
    np.fill_diagonal(B, d)
    C = A.copy()
    np.fill_diagonal(C, t * t)
    return np.sum(B * C * A)


@program(args=lambda rng: (rng.normal(size=(3, 4)), rng.normal(size=3)), wrt=(0, 1), tags=WRITES)
def put_along_axis(A, v):
    B = A * A
    order = np.argmin(A, axis=1)[:, None]
    np.put_along_axis(B, order, v[:, None], axis=1)
    return np.sum(B * A)


@program(args=lambda rng: (rng.normal(size=(4, 3)),), tags={"inplace", "in_argument"})
def helper_writes(A):
    def center(M, axis):
        M -= M.mean(axis=axis, keepdims=True)

    def scale_rows(M, factors):
        for i in range(M.shape[0]):
            M[i] *= factors[i]

    center(A, 0)
    scale_rows(A, A[:, 0] ** 2 + 1.0)
    center(A[1:3], 1)
    return np.sum(A**2)


@program(args=lambda rng: (rng.normal(size=5),), tags=WRITES)
def clip_into(x):
    y = x * 2.0
    np.clip(y, -0.9, 0.9, out=y)
    np.maximum(y, x * 0.3, out=y)
    return np.sum(y * x)


@program(args=lambda rng: (rng.normal(size=(2, 3)), 0.4), wrt=(0, 1), tags=WRITES)
def nan_to_zero(A, t):
    B = A / t
    B[0, 1] = np.nan
    B[np.isnan(B)] = t
    return np.sum(B**2)


@program(args=lambda rng: (rng.normal(size=5), rng.normal(size=5)), wrt=(0, 1), tags=WRITES)
def operator_module(x, y):
    import operator

    z = operator.mul(x, y)
    operator.iadd(z, x)
    operator.setitem(z, 0, y[1] ** 2)
    return operator.getitem(z, 0) * np.sum(z)


@program(args=lambda rng: (rng.normal(size=4),), tags={"inplace"})
def out_by_position(x):
    z = np.arange(4.0)
    y = np.sin(z * x)
    np.dot(np.eye(4) + 1.0, z.copy(), z)
    y = np.sin(0.1 * z * y)
    z.clip(7.0, 8.0, z)
    y = y * z
    np.cumsum(x * z, 0, None, z)
    np.mean(np.outer(z, y), 0, None, y)
    return np.sum(y * z)


@program(args=lambda rng: (rng.normal(size=4),), tags={"inplace"})
def out_of_a_reduction_by_position(x):
    z = np.arange(4.0)
    y = np.sin(z * x)
    np.add.reduce(np.outer(z, z), 0, None, z)
    y = np.sin(0.1 * z * y)
    np.maximum.accumulate(np.cos(z), out=z)
    return np.sum(y * z)
