"""Linear algebra, products, FFTs and the reductions around them."""

import numpy as np
from numpy.linalg import inv, norm, solve

from tests.bank.registry import program


def spd(rng, n=3):
    a = rng.normal(size=(n, n))
    return a @ a.T + n * np.eye(n)


@program(args=lambda rng: (rng.normal(size=(3, 3)) + 3 * np.eye(3), rng.normal(size=3)), wrt=(0, 1), tags={"second"})
def linear_system(A, b):
    x = solve(A, b)
    return np.sum(x**2)


@program(args=lambda rng: (rng.normal(size=(3, 3)) + 3 * np.eye(3), rng.normal(size=(3, 2))), wrt=(0, 1))
def inverse_and_determinant(A, B):
    sign, logdet = np.linalg.slogdet(A)
    return np.trace(inv(A) @ B @ B.T) + sign * logdet + np.linalg.det(A @ A)


@program(args=lambda rng: (spd(rng), rng.normal(size=3)), wrt=(0, 1))
def gaussian_log_density(S, x):
    S = 0.5 * (S + S.T)
    L = np.linalg.cholesky(S)
    z = solve(L, x)
    return -0.5 * z @ z - np.sum(np.log(np.diag(L))) - 1.5 * np.log(2 * np.pi)


@program(args=lambda rng: (spd(rng), rng.normal(size=3)), wrt=(0, 1))
def spectral_function(S, x):
    S = 0.5 * (S + S.T)
    values, vectors = np.linalg.eigh(S)
    root = vectors @ np.diag(np.sqrt(values)) @ vectors.T
    return x @ root @ x + values[0] * values[2]


@program(args=lambda rng: (rng.normal(size=(4, 3)),))
def singular_values(A):
    s = np.linalg.svd(A, compute_uv=False)
    U, d, Vt = np.linalg.svd(A, full_matrices=False)
    low_rank = (U[:, :2] * d[:2]) @ Vt[:2]
    return np.sum(np.log(s)) + np.sum(low_rank**3)


@program(args=lambda rng: (rng.normal(size=(4, 3)),))
def norms(A):
    return norm(A) + norm(A[0]) * norm(A, axis=1).sum() + norm(A[:, 1], 3) + np.sum(norm(A, axis=0, keepdims=True) * A)


@program(args=lambda rng: (rng.normal(size=(2, 3, 4)), rng.normal(size=(4, 3)), rng.normal(size=3)), wrt=(0, 1, 2))
def einsums(T, A, v):
    a = np.einsum("bij,jk->bik", T, A)
    b = np.einsum("bii->b", a)
    c = np.einsum("bij,i,ji", T, v, A)
    return np.sum(a**2) + np.sum(np.sin(b)) * c


@program(
    args=lambda rng: (rng.normal(size=(5, 2, 3)), rng.normal(size=(3, 4)), rng.normal(size=4)),
    wrt=(0, 1, 2),
    tags={"second"},
)
def batched_products(T, A, v):
    return np.sum(np.tanh(T @ A) @ v)


@program(args=lambda rng: (rng.normal(size=3), rng.normal(size=3), rng.normal(size=(3, 3))), wrt=(0, 1, 2))
def all_the_products(x, y, A):
    total = np.dot(x, y) * np.inner(y, A @ x) + np.vdot(x, y)
    total = total + np.sum(np.outer(x, y) * A) + np.sum(np.kron(x, y) ** 2)
    total = total + np.sum(np.tensordot(A, np.outer(y, x), axes=1)) + np.cross(x, y) @ x
    return total + (A.dot(x) @ A.T).sum()


@program(args=lambda rng: (rng.normal(size=8),), float32=False)
def spectrum(x):
    f = np.fft.fft(x)
    half = np.fft.rfft(x * np.hanning(8))
    smooth = np.fft.irfft(half * np.exp(-0.3 * np.arange(5)), 8)
    return np.sum(np.abs(f) ** 2 * np.arange(8)) + np.sum(smooth**3)


@program(args=lambda rng: (rng.normal(size=(6, 2)), rng.normal(size=6)), wrt=(0, 1))
def least_squares(X, y):
    w = solve(X.T @ X, X.T @ y)
    residual = y - X @ w
    return residual @ residual + norm(w)


@program(args=lambda rng: (rng.normal(size=(3, 4)),))
def reductions(A):
    centred = A - A.mean(axis=1, keepdims=True)
    a = np.sum(centred**2, axis=0) / A.std(axis=0, ddof=1)
    b = np.prod(A, axis=-1) + A.var() * np.max(A, axis=1) - np.amin(A, 1)
    c = np.cumsum(A, axis=0)[-1] * np.cumprod(A[0])
    masked = np.sum(A, axis=1, where=A > 0) + np.mean(np.abs(A), axis=1)
    return np.sum(a * c) + np.sum(b * masked) + np.median(A) + np.ptp(A)


@program(args=lambda rng: (rng.normal(size=(3, 4)), rng.normal(size=(2, 4))), wrt=(0, 1))
def shapes_and_joins(A, B):
    C = np.vstack([A, B, A[:1] * B[:1]])
    D = np.hstack((C[:2], np.tile(B[:, :1], 2)))
    E = np.concatenate([np.ravel(D), np.repeat(B[0], 2), np.roll(A[1], 1)])
    F = np.pad(A, ((1, 0), (0, 2)), mode="constant") @ np.flip(np.eye(6), 0)
    G = np.stack([A[0], B[1]], axis=1).T * np.diff(A[:, :], axis=0)
    return np.sum(E**2) + np.sum(np.triu(F) ** 3) + np.sum(G * G) + np.trace(np.rot90(A[:, :3]))


@program(args=lambda rng: (rng.normal(size=(4, 5)),))
def selections(A):
    top = np.sort(A, axis=1)[:, -2:]
    best = np.take_along_axis(A, np.argmax(A, axis=1)[:, None], axis=1)
    some = np.take(A, [0, 2, 0], axis=1)
    chosen = np.select([A < -0.5, A < 0.5], [A**2, np.sin(A)], A)
    clipped = np.clip(A, -0.8, 0.8)
    return np.sum(top * best) + np.sum(some**2) + np.sum(chosen * clipped) + np.sum(np.diag(A) ** 2)


@program(args=lambda rng: (rng.normal(size=(3, 3)) * 0.4,))
def matrix_exponential_series(A):
    total, term = np.eye(3), np.eye(3)
    for k in range(1, 8):
        term = term @ A / k
        total = total + term
    return np.trace(total @ total.T) + np.sum(np.linalg.matrix_power(A, 3))


@program(args=lambda rng: (rng.normal(size=9), rng.normal(size=3)), wrt=(0, 1))
def convolution_functions(x, k):
    y = np.convolve(x, k, mode="valid")
    z = np.interp(np.linspace(0.1, 7.9, 5), np.arange(9.0), x)
    return np.sum(y**2) * np.sum(z)


@program(args=lambda rng: (rng.normal(size=4), rng.uniform(0.5, 1.5, size=4)), wrt=(0, 1))
def elementwise_zoo(x, p):
    y = np.exp(-x) + np.log(p) + np.sqrt(p) + np.square(x) + np.tanh(x) + np.arctan(x) + np.sinh(x)
    z = np.logaddexp(x, p) + np.arctan2(x, p) + np.hypot(x, p) + np.power(p, x) + np.reciprocal(p) + np.cbrt(p)
    w = (
        np.log1p(p)
        + np.expm1(x)
        + np.arcsin(np.sin(x) * 0.5)
        + np.abs(x)
        + np.sign(x) * p
        + np.exp2(x)
        + np.negative(x)
    )
    return np.sum(y * z + w) + np.sum(np.sinc(p) + np.fmax(x, p - 9) + np.log2(p) * np.cosh(x) + np.floor(p) * x)


@program(args=lambda rng: (rng.normal(size=(3, 4)),))
def array_methods(A):
    B = A.T.reshape(2, 6).sum(axis=0).reshape((3, 2))
    c = A.max() * A.min() + A.prod(axis=0).sum() + A.flatten().dot(A.ravel()) + A.trace()
    d = B.mean(0) @ B.T.std(axis=1) + A.clip(-1.0, 1.0).var() + A.cumsum()[-2] + A.squeeze().transpose(1, 0)[2, 1]
    return (
        c * d + A.repeat(2, axis=0).swapaxes(0, 1).sum() + A.take([1, 5]).sum() + A.round(0).sum() + A.diagonal().sum()
    )


@program(
    lambda rng: (rng.normal(size=(2, 3)), rng.normal(size=(3, 4)), rng.normal(size=4)), wrt=(0, 1, 2), tags={"second"}
)
def chain_of_products(a, b, c):
    return np.sum(np.linalg.multi_dot([a, b, c]) ** 2)


@program(args=lambda rng: (rng.normal(size=(5, 3)), rng.normal(size=5)))
def least_squares_to_machine_precision(a, b):
    first = np.linalg.lstsq(a, b, rcond=-1)[0]
    for k in range(2):
        if b[k] > 9.0:
            first = first + np.linalg.lstsq(a, b * b, rcond=-1)[0]
    return np.sum(first**2)
