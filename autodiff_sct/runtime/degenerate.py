"""What the derivatives of eigenvectors and singular vectors do where values are equal or zero.

The vectors of equal values are any basis of a space.  A result that is the same for each basis has a derivative, which
the cotangents of the vectors tell if the result does not depend on the values, too.  Otherwise the limit of a quotient
of two zeros counts, which is lost, and the result is refused.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..errors import NotDifferentiable

__all__ = ["infinite_at_equal", "infinite_at_zero", "infinite_if_square"]


def infinite_at_equal(gaps: Any, turning: Any, inner: Any, values: Any, d_values: Any) -> np.ndarray:
    """Zeros, to be added to the `gaps` of `values`, and infinity where these are equal but for rounding.

    `turning` is what a turn of the basis changes, `inner` what the cotangents have along the vectors.
    """
    close = are_close(gaps, values)
    pairs = close & ~np.eye(gaps.shape[-1], dtype=bool)
    if np.any(pairs) and np.any(pairs & lost_in_basis(gaps, turning, inner, d_values)):
        refuse()
    return np.where(close, np.inf, 0.0).astype(values.dtype)


def lost_in_basis(gaps: Any, turning: Any, inner: Any, d_values: Any) -> Any:
    """True at the pairs of vectors of which the cotangents do not tell the derivative, if their values are equal."""
    if d_values is not None:
        return (turning != 0) | (d_values != 0)[..., None, :] | (d_values != 0)[..., :, None] | (gaps == 0)
    along = np.diagonal(inner, 0, -2, -1)
    # At an extremum over all turns the first derivative does not tell.
    extremal = (inner == 0) & (np.swapaxes(inner, -2, -1) == 0) & (along[..., None, :] != along[..., :, None])
    return extremal | is_significant(turning, inner)


def infinite_at_zero(across: Any, d: Any, s: Any, d_s: Any) -> np.ndarray:
    """Zeros, to be added to the singular values `s`, and infinity where the quotient is zero but for rounding.

    `across` is the part of the vectors' cotangents `d` that is orthogonal to all of them; it is divided by `s`.
    """
    if across.shape[-2] == across.shape[-1]:
        return np.full(across.shape, np.inf, s.dtype)
    zero = are_close(s[..., None, :], s)
    if np.any(zero):
        lost = zero & is_significant(across, d)
        if d_s is not None:
            lost = lost | ((s == 0) & (d_s != 0))[..., None, :]
        if np.any(lost):
            refuse()
    largest = np.max(np.abs(d), -2, keepdims=True, initial=0.0)
    noise = np.abs(across) <= np.sqrt(np.finfo(s.dtype).eps) * largest
    return np.where(zero & noise, np.inf, 0.0).astype(s.dtype)


def infinite_if_square(vectors: Any) -> float:
    """Infinity for vectors that span the whole space, so that nothing is orthogonal to them, otherwise zero."""
    return math.inf if vectors.shape[-2] == vectors.shape[-1] else 0.0


def are_close(gaps: Any, values: Any) -> Any:
    """True where `gaps` are no more than what rounding may have made of equal values."""
    largest = np.max(np.abs(values), -1, initial=0.0)
    return np.abs(gaps) <= np.finfo(values.dtype).eps ** 0.75 * largest[..., None, None]


def is_significant(part: Any, whole: Any) -> Any:
    """True where `part` is more than rounding makes of the matrices `whole`."""
    largest = np.max(np.abs(whole), (-2, -1), keepdims=True, initial=0.0)
    return np.abs(part) > np.sqrt(np.finfo(largest.dtype).eps) * largest


def refuse() -> None:
    """Raise the error for a result that has no derivative here, or none that is known."""
    raise NotDifferentiable(
        "a result depends on the vectors that belong to equal eigenvalues or singular values, or to a singular value "
        "of zero, which are arbitrary, or on such vectors and their values together",
        "write it without the vectors, as `a @ a` for `(v * w**2) @ v.T`",
    )
