"""Negative log-likelihood of a Gaussian process: a Cholesky factorisation, a solve, a large matrix of distances."""

import numpy as np

KIND = "dense"
WRT = (0, 1, 2)


def inputs(quick):
    n = 8 if quick else 200
    x = np.linspace(0.0, 5.0, n)
    return -0.3, 0.2, -1.0, x, np.sin(3 * x)


def primal(log_length, log_height, log_noise, x, y):
    apart = (x[:, None] - x[None, :]) * np.exp(-log_length)
    kernel = np.exp(2 * log_height) * np.exp(-0.5 * apart**2) + np.exp(2 * log_noise) * np.eye(len(x))
    factor = np.linalg.cholesky(kernel)
    z = np.linalg.solve(factor, y)
    return 0.5 * np.sum(z * z) + np.sum(np.log(np.diag(factor)))


def hand(log_length, log_height, log_noise, x, y):
    apart = (x[:, None] - x[None, :]) * np.exp(-log_length)
    apart *= apart
    smooth = apart * -0.5
    np.exp(smooth, out=smooth)
    smooth *= np.exp(2 * log_height)
    kernel = smooth.copy()
    np.einsum("ii->i", kernel)[:] += np.exp(2 * log_noise)
    inverse = np.linalg.inv(np.linalg.cholesky(kernel))
    z = inverse @ y
    # The adjoint of the Cholesky factor, symmetrised: factor.T @ d_factor is 1 - outer(z, z) on and below the diagonal.
    inner = np.outer(z, -z)
    np.einsum("ii->i", inner)[:] += 1
    d_kernel = inverse.T @ inner @ inverse
    d_kernel *= 0.5
    d_noise = np.trace(d_kernel)
    d_kernel *= smooth
    return np.vdot(d_kernel, apart), 2 * d_kernel.sum(), 2 * d_noise * np.exp(2 * log_noise)


def torch_primal(log_length, log_height, log_noise, x, y):
    apart = (x[:, None] - x[None, :]) * np.exp(-log_length)
    identity = np.eye(len(x), dtype=np.float64)
    kernel = np.exp(2 * log_height) * np.exp(-0.5 * apart**2) + np.exp(2 * log_noise) * identity
    factor = np.linalg.cholesky(kernel)
    z = np.linalg.solve_triangular(factor, y[:, None], upper=False)
    return 0.5 * np.sum(z * z) + np.sum(np.log(np.diag(factor)))


def jax_primal(log_length, log_height, log_noise, x, y):
    from jax.scipy.linalg import solve_triangular

    apart = (x[:, None] - x[None, :]) * np.exp(-log_length)
    kernel = np.exp(2 * log_height) * np.exp(-0.5 * apart**2) + np.exp(2 * log_noise) * np.eye(len(x))
    factor = np.linalg.cholesky(kernel)
    z = solve_triangular(factor, y, lower=True)
    return 0.5 * np.sum(z * z) + np.sum(np.log(np.diag(factor)))
