"""The Fourier transforms of ``scipy.fft`` by those of NumPy, and the cosine and sine transforms of the types 2 and 3.

With ``norm="ortho"`` a cosine or sine transform is orthogonal, and its inverse its transpose.  Without, it is that with
rows (type 2) or columns (type 3) of other lengths.
"""

import math

import numpy as np
from scipy import fft as fourier

from ...errors import NoRule
from .. import fft as numpys
from ..table import linear

# Fourier transforms


@linear(fourier.fft)
def fft(y, d, x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, *, plan=None):
    return numpys.fft(y, d, x, n, axis, norm)


@linear(fourier.ifft)
def ifft(y, d, x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, *, plan=None):
    return numpys.ifft(y, d, x, n, axis, norm)


@linear(fourier.rfft)
def rfft(y, d, x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, *, plan=None):
    return numpys.rfft(y, d, x, n, axis, norm)


@linear(fourier.irfft)
def irfft(y, d, x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, *, plan=None):
    return numpys.irfft(y, d, x, n, axis, norm)


@linear(fourier.hfft)
def hfft(y, d, x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, *, plan=None):
    return numpys.hfft(y, d, x, n, axis, norm)


@linear(fourier.ihfft)
def ihfft(y, d, x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, *, plan=None):
    return numpys.ihfft(y, d, x, n, axis, norm)


@linear(fourier.fft2)
def fft2(y, d, x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, workers=None, *, plan=None):
    return numpys.fft2(y, d, x, s, axes, norm)


@linear(fourier.ifft2)
def ifft2(y, d, x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, workers=None, *, plan=None):
    return numpys.ifft2(y, d, x, s, axes, norm)


@linear(fourier.rfft2)
def rfft2(y, d, x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, workers=None, *, plan=None):
    return numpys.rfft2(y, d, x, s, axes, norm)


@linear(fourier.irfft2)
def irfft2(y, d, x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, workers=None, *, plan=None):
    return numpys.irfft2(y, d, x, s, axes, norm)


@linear(fourier.fftn)
def fftn(y, d, x, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, plan=None):
    return numpys.fftn(y, d, x, s, axes, norm)


@linear(fourier.ifftn)
def ifftn(y, d, x, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, plan=None):
    return numpys.ifftn(y, d, x, s, axes, norm)


@linear(fourier.rfftn)
def rfftn(y, d, x, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, plan=None):
    return numpys.rfftn(y, d, x, s, axes, norm)


@linear(fourier.irfftn)
def irfftn(y, d, x, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, plan=None):
    return numpys.irfftn(y, d, x, s, axes, norm)


# Cosine and sine transforms: `place` is the row whose length differs, the first of a cosine and the last of a sine


@linear(fourier.dct)
def dct(y, d, x, type=2, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, orthogonalize=None):
    check_type(type, n, norm, orthogonalize)
    if type in (1, 4):
        return by_ends(fourier.dct, d, type, axis, norm)
    if norm == "ortho":
        return fourier.idct(d, type, axis=axis, norm="ortho")
    sizes = lengths(d, axis, 0)
    if type == 2:
        return fourier.idct(d * sizes, 2, axis=axis, norm="ortho")
    return fourier.dct(d, 2, axis=axis, norm="ortho") * (2 * d.shape[axis] / sizes)


@linear(fourier.idct)
def idct(y, d, x, type=2, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, orthogonalize=None):
    check_type(type, n, norm, orthogonalize)
    if type in (1, 4):
        return by_ends(fourier.idct, d, type, axis, norm)
    if norm == "ortho":
        return fourier.dct(d, type, axis=axis, norm="ortho")
    sizes = lengths(d, axis, 0)
    if type == 2:
        return fourier.dct(d, 2, axis=axis, norm="ortho") / sizes
    return fourier.idct(d * sizes / (2 * d.shape[axis]), 2, axis=axis, norm="ortho")


@linear(fourier.dst)
def dst(y, d, x, type=2, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, orthogonalize=None):
    check_type(type, n, norm, orthogonalize)
    if type in (1, 4):
        return symmetric(fourier.dst, d, type, axis, norm)
    if norm == "ortho":
        return fourier.idst(d, type, axis=axis, norm="ortho")
    sizes = lengths(d, axis, -1)
    if type == 2:
        return fourier.idst(d * sizes, 2, axis=axis, norm="ortho")
    return fourier.dst(d, 2, axis=axis, norm="ortho") * (2 * d.shape[axis] / sizes)


@linear(fourier.idst)
def idst(y, d, x, type=2, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, orthogonalize=None):
    check_type(type, n, norm, orthogonalize)
    if type in (1, 4):
        return symmetric(fourier.idst, d, type, axis, norm)
    if norm == "ortho":
        return fourier.dst(d, type, axis=axis, norm="ortho")
    sizes = lengths(d, axis, -1)
    if type == 2:
        return fourier.dst(d, 2, axis=axis, norm="ortho") / sizes
    return fourier.idst(d * sizes / (2 * d.shape[axis]), 2, axis=axis, norm="ortho")


@linear(fourier.dctn)
def dctn(y, d, x, type=2, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, orthogonalize=None):
    check_ortho(type, s, norm, orthogonalize)
    return fourier.idctn(d, type, axes=axes, norm="ortho")


@linear(fourier.idctn)
def idctn(y, d, x, type=2, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, orthogonalize=None):
    check_ortho(type, s, norm, orthogonalize)
    return fourier.dctn(d, type, axes=axes, norm="ortho")


@linear(fourier.dstn)
def dstn(y, d, x, type=2, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, orthogonalize=None):
    check_ortho(type, s, norm, orthogonalize)
    return fourier.idstn(d, type, axes=axes, norm="ortho")


@linear(fourier.idstn)
def idstn(y, d, x, type=2, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, orthogonalize=None):
    check_ortho(type, s, norm, orthogonalize)
    return fourier.dstn(d, type, axes=axes, norm="ortho")


def symmetric(transform, d, type, axis, norm):
    """A transform whose matrix is symmetric."""
    return transform(d, type, axis=axis, norm=norm)


def by_ends(transform, d, type, axis, norm):
    """A cosine transform of type 4, or of type 1, which counts the first and the last value half."""
    if type == 4 or norm == "ortho":
        return transform(d, type, axis=axis, norm=norm)
    n = d.shape[axis]
    ends = np.where((np.arange(n) == 0) | (np.arange(n) == n - 1), 1.0, 2.0).astype(d.dtype)
    ends = np.reshape(ends, tuple([n if k == axis % d.ndim else 1 for k in range(d.ndim)]))
    return transform(d / ends, type, axis=axis, norm=norm) * ends


def lengths(d, axis, place):
    """The lengths of the rows of a transform of type 2 without a norm."""
    n = d.shape[axis]
    rows = np.arange(n) == (n - 1 if place else 0)
    sizes = np.where(rows, 2 * math.sqrt(n), math.sqrt(2 * n)).astype(d.dtype)
    return np.reshape(sizes, tuple([n if k == axis % d.ndim else 1 for k in range(d.ndim)]))


def check_type(type, n, norm, orthogonalize):
    """Refuse what has no derivative here."""
    if n is not None or orthogonalize is not None or norm == "forward" and type in (2, 3):
        raise NoRule("cosine and sine transforms are differentiable without n, orthogonalize and norm='forward'")


def check_ortho(type, s, norm, orthogonalize):
    """Refuse what has no derivative here."""
    if s is not None or norm != "ortho" or orthogonalize is not None:
        raise NoRule("cosine and sine transforms of several axes are differentiable with norm='ortho'")
