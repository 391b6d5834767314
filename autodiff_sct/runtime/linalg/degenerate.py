"""Derivatives at degenerate spectra: where eigenvalues or singular values are equal, or a singular value is zero.

The vectors of equal values are any basis of a space, so that their own derivatives are infinite.  A function of the
spectrum that is the same for each basis has a derivative all the same: a limit of quotients of two zeros, of which the
cotangents at that point tell nothing.  There the rules raise `Degenerate` (reverse mode) or give NaN (forward mode),
and the call is repeated with `perturbed` spectra, whose values lie a little apart:
``compiler/driver/attempts.py``.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ...errors import Degenerate

__all__ = [
    "are_close",
    "infinite_at_equal",
    "infinite_at_zero",
    "nan_at_equal",
    "nan_at_zero",
    "perturbation",
    "settings",
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
