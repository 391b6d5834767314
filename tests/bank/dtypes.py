"""Mixed dtypes, complex numbers, zero-dimensional and empty arrays, broadcasting."""

import numpy as np

from tests.bank.registry import program


@program(args=lambda rng: (rng.normal(size=3).astype(np.float32), rng.normal(size=3)), wrt=(0, 1), tags={"coarse"})
def mixed_precision(x, y):
    z = x * y + x.astype(np.float64)
    w = z.astype(np.float32) * 2
    return np.sum(w * y)


@program(
    args=lambda rng: (rng.normal(size=4).astype(np.float32), rng.normal(size=4)), wrt=(0, 1), tags={"inplace", "coarse"}
)
def stored_into_float32(x, y):
    z = x * 2
    z[1:3] = y[:2] * y[2:]
    z += 0.5 * x
    return np.sum(z.astype(float) ** 2) * 0.1


@program(args=lambda rng: (rng.normal(size=4), np.array([3, 1, 2, 5])))
def integers_mixed_in(x, n):
    mean = np.sum(n * x) / n.sum()
    counts = np.arange(4) * x
    y = x**n
    return mean * np.sum(counts) + np.sum(y) + np.sum(x * (n > 1)) + np.sum(x // 1 * n)


@program(args=lambda rng: (np.array(0.7), rng.normal(size=3)), wrt=(0, 1), tags={"second"})
def zero_dimensional(t, x):
    s = t * t
    return np.sum(np.sin(x) * s) + s[()] * t


@program(args=lambda rng: (np.float64(0.7), rng.normal(size=3)), wrt=(0, 1))
def numpy_scalar(t, x):
    y = t * x
    u = y[0] * t
    return u * y.mean() + np.float64(2.0) * t


@program(
    args=lambda rng: (rng.normal(size=(3, 1)), rng.normal(size=4), rng.normal(size=(1, 1)), 0.7),
    wrt=(0, 1, 2, 3),
    tags={"second"},
)
def broadcasting(a, b, c, t):
    y = a * b + c
    z = y / (t + a**2 + 1.0) - b * c
    return z * y


@program(args=lambda rng: (rng.normal(size=(2, 3)), rng.normal(size=(4, 1, 3)), rng.normal(size=1)), wrt=(0, 1, 2))
def broadcasting_ranks(A, B, c):
    D = np.maximum(A, B) + c
    E = np.where(D > -1.5, D * A, c)
    return np.sum(E**2, axis=(0, 2))


@program(args=lambda rng: (rng.normal(size=3), rng.normal(size=3)), wrt=(0, 1), float32=False)
def complex_inside(x, y):
    z = x + 1j * y
    w = np.exp(z * 0.3) * np.conj(z) + z**2
    return np.sum(np.abs(w)) + np.sum(w.real * w.imag) + np.sum(np.angle(z + 5.0))


@program(args=lambda rng: (rng.normal(size=3) + 1j * rng.normal(size=3), rng.normal(size=3)), wrt=(0, 1), float32=False)
def complex_argument(z, x):
    w = z * z * x + np.sin(z)
    return np.sum(np.real(w) * x) + np.sum(np.abs(z))


@program(args=lambda rng: (rng.normal(size=3) + 1j * rng.normal(size=3),), float32=False)
def holomorphic(z):
    return np.sum(z**3 * np.exp(0.2 * z))


@program(args=lambda rng: (rng.normal(size=4),), float32=False, tags={"inplace"})
def complex_written(x):
    z = np.zeros(4, dtype=complex)
    z[:2] = x[:2] * (1 + 1j)
    z[2] = 1j * x[2]
    z[3:] += x[3] ** 2
    z *= z
    return np.sum((z * z.conj()).real * x)


@program(args=lambda rng: (rng.normal(size=(0, 3)), rng.normal(size=3)), wrt=(0, 1))
def empty_batch(A, x):
    y = np.tanh(A @ x)
    return np.sum(y) + np.sum(A * x) + np.prod(x) + np.sum(A, axis=0) @ x


@program(args=lambda rng: (rng.normal(size=3),))
def python_scalars_stay_weak(x):
    half = 0.5
    total = x * half + 3
    total = total * np.pi - 2**0.5
    for k in range(3):
        total = total / (k + 1.5)
    return total


@program(args=lambda rng: (rng.normal(size=4),))
def boolean_arithmetic(x):
    mask = x > 0
    gated = mask * x + (1 - mask) * x**2
    flags = np.zeros(4)
    flags[mask] = 1.0
    return np.sum(gated * flags) + mask.sum() * x[0] + np.mean(gated[~mask]) if mask.any() and not mask.all() else x[1]


@program(args=lambda rng: (rng.normal(size=4),))
def casts_and_likes(x):
    a = np.zeros_like(x) + x
    b = np.full_like(x, 2.0) * x
    c = np.ones(x.shape, dtype=x.dtype) * a
    d = np.asarray(b, dtype=np.float64)
    e = np.empty_like(x)
    e[...] = c * d
    return e.astype(x.dtype)


@program(args=lambda rng: (rng.uniform(0.5, 1, size=3).astype(np.float16),), float32=False)
def half_precision_value(x):
    y = x.astype(np.float64)
    return np.sum(y * y)


@program(args=lambda rng: ([0.5, 1.5, -0.4],))
def array_from_list(values):
    x = np.array(values)
    y = np.asarray([values[0], 2.0, values[1] ** 2])
    z = np.array([[values[2], x[0]], [1, y[2]]])
    return np.sum(x * y) * np.linalg.det(z)
