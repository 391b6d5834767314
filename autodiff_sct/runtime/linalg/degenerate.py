"""Derivatives at degenerate spectra: where eigenvalues or singular values are equal, or a singular value is zero.

The vectors of equal values are any basis of a space, so that their own derivatives are infinite.  A function of the
spectrum that is the same for each basis has a derivative all the same: a limit of quotients of two zeros, of which the
cotangents at that point tell nothing.  There the rules raise `Degenerate` (reverse mode) or give NaN (forward mode),
and the call is repeated with `perturbed` spectra, whose values lie a little apart:
``compiler/driver/attempts.py``.  The vectors of equal values are turned to a basis in no special position there, so
that a result which depends on the basis is another one.  Each result is the spectrum of a matrix near the argument,
but for rounding.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ...errors import Degenerate

__all__ = [
    "are_close",
    "eig",
    "eig_near",
    "eigh",
    "eigh_near",
    "eigvals",
    "eigvalsh",
    "infinite_at_equal",
    "infinite_at_zero",
    "nan_at_equal",
    "nan_at_zero",
    "perturbation",
    "settings",
    "svd",
    "svd_near",
    "svdvals",
]


class Settings(threading.local):
    """The perturbation of spectra in this thread."""

    amount = 0.0  # the perturbation, in units of the one that the values allow
    basis = 0  # which bases the vectors of equal values are turned to, if spectra are perturbed
    lenient = False  # True in a program whose derivatives do not count, and whatever is degenerate is left alone
    strict = False  # True where forward mode raises, too


settings = Settings()


@contextmanager
def perturbation(amount: float = 0.0, basis: int = 0, strict: bool = False) -> Iterator[None]:
    """Perturb spectra by `amount`, or with `strict` raise at degenerate ones in both modes."""
    before = {name: getattr(settings, name) for name in ("amount", "basis", "lenient", "strict")}
    vars(settings).update(amount=amount, basis=basis, lenient=not strict and amount == 0, strict=strict)
    try:
        yield
    finally:
        vars(settings).update(before)


def infinite_at_equal(gaps: Any, inner: Any, values: Any) -> np.ndarray:
    """Zeros, to be added to the `gaps` of `values`, and infinity where these are equal but for rounding.

    `inner` is what the cotangents of the vectors have along the vectors.
    """
    close = are_close(gaps, values)
    if not settings.lenient and np.any(close & ~np.eye(gaps.shape[-1], dtype=bool)):
        along = np.diagonal(inner, 0, -2, -1)
        turned = (inner != 0) | (np.swapaxes(inner, -2, -1) != 0) | (along[..., None, :] != along[..., :, None])
        if np.any(close & ~np.eye(gaps.shape[-1], dtype=bool) & (turned | (gaps == 0))):
            refuse()
    return np.where(close, np.inf, 0.0).astype(values.dtype)


def infinite_at_zero(d: Any, s: Any, d_s: Any) -> np.ndarray:
    """Zeros, to be added to the singular values `s`, and infinity where these are zero but for rounding.

    `d` are the cotangents of vectors in a space that is larger than what they span.
    """
    if d.shape[-2] == d.shape[-1]:
        return np.full(d.shape, np.inf, s.dtype)
    zero = are_close(s[..., None, :], s)
    if not settings.lenient and np.any(zero):
        used = (d != 0) if d_s is None else (d != 0) | (d_s != 0)[..., None, :]
        if np.any(zero & (used | (s == 0)[..., None, :])):
            refuse()
    return np.where(zero, np.inf, 0.0).astype(s.dtype)


def nan_at_equal(gaps: Any, turned: Any, values: Any) -> np.ndarray:
    """Zeros, to be added to the `gaps` of `values`; infinity on the diagonal, and NaN between equal values.

    `turned` is what the tangent does to the vectors; between equal values that it leaves alone, there is infinity, too.
    """
    eye = np.eye(gaps.shape[-1], dtype=bool)
    close = are_close(gaps, values)
    lost = close & ~eye & ((turned != 0) | (np.swapaxes(turned, -2, -1) != 0))
    refuse_if_strict(lost)
    return np.where(lost & (not settings.lenient), np.nan, np.where(close | eye, np.inf, 0.0)).astype(values.dtype)


def nan_at_zero(turned: Any, s: Any) -> np.ndarray:
    """Zeros, to be added to the singular values `s`, and NaN where these are zero; all infinite for a whole basis."""
    if turned.shape[-2] == turned.shape[-1]:
        return np.full(turned.shape, np.inf, s.dtype)
    zero = are_close(s[..., None, :], s)
    lost = zero & (turned != 0)
    refuse_if_strict(lost)
    return np.where(lost & (not settings.lenient), np.nan, np.where(zero, np.inf, 0.0)).astype(s.dtype)


def refuse_if_strict(lost: Any) -> None:
    if settings.strict and np.any(lost):
        refuse()


def are_close(gaps: Any, values: Any) -> Any:
    """True where `gaps` are no more than what rounding may have made of equal values."""
    largest = np.max(np.abs(values), -1, initial=0.0)
    return np.abs(gaps) <= np.finfo(values.dtype).eps ** 0.75 * largest[..., None, None]


def refuse() -> None:
    """Raise the error for a result that has no derivative here, or none that can be computed."""
    raise Degenerate(
        "a result depends on the vectors that belong to equal eigenvalues or singular values, or to a singular value "
        "of zero, which are arbitrary",
        "write it without the vectors, as `a @ a` for `(v * w**2) @ v.T`",
    )


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
    a = np.asarray(a)
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
