"""Spectra whose equal values are moved apart by the amount in force: see ``runtime/linalg/degenerate.py``.

The vectors of equal values are turned to a basis in no special position, so that a result which depends on the basis
is another one.  Each result is the spectrum of a matrix near the argument, but for rounding.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import numpy as np

from .degenerate import settings

__all__ = ["eig", "eig_near", "eigh", "eigh_near", "eigvals", "eigvalsh", "svd", "svd_near", "svdvals"]


def eigh(a: Any, UPLO: Any = "L") -> Any:
    """``np.linalg.eigh``, perturbed."""
    found = np.linalg.eigh(a, UPLO)
    return type(found)(*eigh_near(*found))


def eigh_near(values: np.ndarray, vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Ascending eigenvalues and their vectors, perturbed."""
    if settings.amount == 0:
        return values, vectors
    values, vectors = np.array(values), np.array(vectors)
    for k in np.ndindex(values.shape[:-1]):
        for group, moved in moved_groups(values[k]):
            values[k][group] = moved
            vectors[k][:, group] = vectors[k][:, group] @ turn(len(group))
    order = np.argsort(values, -1)
    return np.take_along_axis(values, order, -1), np.take_along_axis(vectors, order[..., None, :], -1)


def eigvalsh(a: Any, UPLO: str = "L") -> Any:
    """``np.linalg.eigvalsh``, perturbed as `eigh` is."""
    return eigh(a, UPLO).eigenvalues


def eig(a: Any) -> Any:
    """``np.linalg.eig``, perturbed."""
    found = np.linalg.eig(a)
    return type(found)(*eig_near(*found))


def eig_near(values: np.ndarray, vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues and their vectors of length 1, perturbed."""
    if settings.amount == 0:
        return values, vectors
    values, vectors = np.array(values), np.array(vectors)
    for k in np.ndindex(values.shape[:-1]):
        for group, moved in moved_groups(values[k]):
            values[k][group] = moved
            turned = vectors[k][:, group] @ turn(len(group))
            vectors[k][:, group] = turned / np.linalg.norm(turned, axis=0)
    return values, vectors


def eigvals(a: Any) -> Any:
    """``np.linalg.eigvals``, perturbed as `eig` is."""
    return eig(a).eigenvalues


def svd(a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False) -> Any:
    """``np.linalg.svd``, perturbed, singular values of zero among them."""
    found = np.linalg.svd(a, full_matrices, True, hermitian)
    near = type(found)(*svd_near(*found))
    return near if compute_uv else near.S


def svd_near(u: np.ndarray, s: np.ndarray, vh: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Descending singular values and their vectors, perturbed."""
    if settings.amount == 0:
        return u, s, vh
    u, s, vh = np.array(u), np.array(s), np.array(vh)
    for k in np.ndindex(s.shape[:-1]):
        perturb_svd(u[k], s[k], vh[k])
    return u, s, vh


def perturb_svd(u: np.ndarray, s: np.ndarray, vh: np.ndarray) -> None:
    """Perturb one decomposition; a value that becomes negative turns its left vector around."""
    count = len(s)
    for group, moved in moved_groups(s, zero=True):
        if s[group[0]] > np.finfo(s.dtype).eps ** 0.5 * np.max(s):
            u[:, group], vh[group] = u[:, group] @ turn(len(group)), turn(len(group)).T @ vh[group]
        else:
            others = np.setdiff1d(np.arange(count), group)
            u[:, group] = vectors_beside(u[:, others], len(group))
            vh[group] = vectors_beside(vh[others].T, len(group)).T
        s[group] = np.abs(moved)
        u[:, group] *= np.sign(moved)
    order = np.argsort(-s)
    s[:] = s[order]
    u[:, :count], vh[:count] = u[:, order], vh[order]


def svdvals(x: Any, /) -> Any:
    """``np.linalg.svdvals``, perturbed as `svd` is."""
    return svd(x, compute_uv=False)


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """``np.linalg.norm``, perturbed where the argument is zero."""
    return np.linalg.norm(x + away_from_zero(x, axis), ord, axis, keepdims)


def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    """``np.linalg.vector_norm``, perturbed as `norm` is."""
    return np.linalg.vector_norm(x + away_from_zero(x, axis), axis=axis, keepdims=keepdims, ord=ord)


def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    """``np.linalg.matrix_norm``, perturbed as `norm` is."""
    return np.linalg.matrix_norm(x + away_from_zero(x, (-2, -1)), keepdims=keepdims, ord=ord)


def std(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    *,
    ddof: Any = 0,
    keepdims: bool = False,
    where: Any = True,
) -> Any:
    """``np.std``, perturbed where all numbers are equal."""
    near = a + away_from_mean(a, axis, where)
    return np.std(near, axis, dtype, ddof=ddof, keepdims=keepdims, where=where)


def hypot(*coordinates: Any) -> Any:
    """``np.hypot`` or ``math.hypot``, perturbed where it is zero."""
    return beside_zero(functools.reduce(np.hypot, coordinates))


def sqrt(x: Any) -> Any:
    """``np.sqrt``, perturbed where it is zero."""
    return beside_zero(np.sqrt(x))


def absolute(x: Any) -> Any:
    """``np.absolute``, perturbed where that of a complex number is zero."""
    return beside_zero(np.abs(x)) if np.iscomplexobj(x) else np.abs(x)


def beside_zero(y: Any) -> Any:
    """Small numbers in the place of zeros."""
    return y + np.where(y == 0, abs(settings.amount) * np.finfo(y.dtype).eps ** 0.5, 0.0).astype(y.dtype)


def away_from_zero(x: np.ndarray, axis: Any = None) -> np.ndarray:
    """Steps in no special direction where all of `x` along `axis` is zero, and zeros elsewhere."""
    if settings.amount == 0 or x.size == 0:
        return np.zeros_like(x)
    step = settings.amount * np.finfo(x.dtype).eps ** 0.5
    way = np.random.default_rng((settings.basis, *x.shape)).normal(size=x.shape)
    return np.where(np.all(x == 0, axis, keepdims=True), step * way, 0.0).astype(x.dtype)


def away_from_mean(a: np.ndarray, axis: Any = None, where: Any = True) -> np.ndarray:
    """Steps in no special direction where all of `a` along `axis` is its mean, and zeros elsewhere."""
    if settings.amount == 0 or a.size == 0:
        return np.zeros_like(a)
    return away_from_zero(np.where(where, a - np.mean(a, axis, keepdims=True, where=where), 0.0), axis)


def turn(size: int) -> np.ndarray:
    """An orthogonal matrix in no special position, the same in every call."""
    return np.linalg.qr(np.random.default_rng((settings.basis, size)).normal(size=(size, size)))[0]


def vectors_beside(vectors: np.ndarray, count: int) -> np.ndarray:
    """Orthonormal vectors, orthogonal to others."""
    rng = np.random.default_rng((settings.basis, *vectors.shape))
    found = rng.normal(size=(vectors.shape[0], count)).astype(vectors.dtype)
    for _ in range(2):  # what rounding leaves after the first time
        found = np.linalg.qr(found - vectors @ (np.conj(vectors.T) @ found))[0]
    return found


def moved_groups(values: np.ndarray, zero: bool = False) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The places of each group of values that are nearly equal, and what they are moved to; with `zero`, zeros, too.

    A group of `m` values gets multiples of ``1 / m`` of a step that is small beside the values, and beside their
    distance to the next ones.  Rounding spoils the derivative by ``eps / step`` and the perturbation, after
    extrapolation, by ``step ** 4``: so the step is the fifth root of eps.
    """
    if values.size == 0:
        return
    eps, largest = np.finfo(values.dtype).eps, np.max(np.abs(values))
    tolerance = eps**0.5 * largest
    distances = np.abs(values[:, None] - values[None, :])
    groups = np.argmax(distances <= tolerance, 1)
    for first in np.unique(groups):
        group = np.flatnonzero(groups == first)
        near_zero = np.abs(values[first]) <= tolerance
        if len(group) == 1 and not (zero and near_zero):
            continue
        own = (largest if largest > 0 else 1.0) if near_zero else np.abs(values[first])
        free = np.min(distances[group][:, groups != first], initial=np.inf)
        step = min(eps**0.2 * own, 0.01 * free)
        yield group, values[group] + settings.amount * step * np.arange(1, len(group) + 1) / len(group)
