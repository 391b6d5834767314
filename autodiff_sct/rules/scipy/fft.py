"""The Fourier transforms of ``scipy.fft`` by those of NumPy, and the cosine and sine transforms.

With ``orthogonalize``, which ``norm="ortho"`` implies, a cosine or sine transform is orthogonal but for a factor, and
that of the inverse type is its transpose.  Without, one of its rows (type 2) or columns (type 3) has another length.
"""

import numpy as np
from scipy import fft as fourier

from .. import fft as numpys
from ..fft import axes_of, fitted, opposite
from ..table import linear, static

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


@linear(fourier.hfftn)
def hfftn(y, d, x, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, plan=None):
    return np.conj(numpys.irfftn(y, d, x, s, axes, opposite(norm)))


@linear(fourier.ihfftn)
def ihfftn(y, d, x, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, plan=None):
    return numpys.rfftn(y, np.conj(d), x, s, axes, opposite(norm))


@linear(fourier.hfft2)
def hfft2(y, d, x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, workers=None, *, plan=None):
    return hfftn(y, d, x, s, axes, norm)


@linear(fourier.ihfft2)
def ihfft2(y, d, x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, workers=None, *, plan=None):
    return ihfftn(y, d, x, s, axes, norm)


# Cosine transforms


@linear(fourier.dct)
def dct(y, d, x, type=2, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, orthogonalize=None):
    whole = cosines_transposed(d, type, (axis,), norm, orthogonalize)
    return whole if n is None else fitted(whole, np.shape(x), (axis,))


@linear(fourier.idct)
def idct(y, d, x, type=2, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, orthogonalize=None):
    return dct(y, d, x, inverse_of(type), n, axis, opposite(norm), orthogonalize=orthogonalize)


@linear(fourier.dctn)
def dctn(y, d, x, type=2, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, orthogonalize=None):
    axes = axes_of(axes, s, d.ndim)
    whole = cosines_transposed(d, type, axes, norm, orthogonalize)
    return whole if s is None else fitted(whole, np.shape(x), axes)


@linear(fourier.idctn)
def idctn(y, d, x, type=2, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, orthogonalize=None):
    return dctn(y, d, x, inverse_of(type), s, axes, opposite(norm), orthogonalize=orthogonalize)


def cosines_transposed(d, type, axes, norm, orthogonalize):
    """The transpose of a cosine transform; that of type 1 counts both ends half."""
    if type == 1 and not is_orthogonal(norm, orthogonalize):
        found = along(fourier.dct, fourier.dctn, scaled(d, axes, (0, -1), 2.0), 1, axes, norm, orthogonalize)
        return scaled(found, axes, (0, -1), 0.5)
    return transposed(fourier.dct, fourier.dctn, 0, d, type, axes, norm, orthogonalize)


# Sine transforms


@linear(fourier.dst)
def dst(y, d, x, type=2, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, orthogonalize=None):
    whole = sines_transposed(d, type, (axis,), norm, orthogonalize)
    return whole if n is None else fitted(whole, np.shape(x), (axis,))


@linear(fourier.idst)
def idst(y, d, x, type=2, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, orthogonalize=None):
    return dst(y, d, x, inverse_of(type), n, axis, opposite(norm), orthogonalize=orthogonalize)


@linear(fourier.dstn)
def dstn(y, d, x, type=2, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, orthogonalize=None):
    axes = axes_of(axes, s, d.ndim)
    whole = sines_transposed(d, type, axes, norm, orthogonalize)
    return whole if s is None else fitted(whole, np.shape(x), axes)


@linear(fourier.idstn)
def idstn(y, d, x, type=2, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, orthogonalize=None):
    return dstn(y, d, x, inverse_of(type), s, axes, opposite(norm), orthogonalize=orthogonalize)


def sines_transposed(d, type, axes, norm, orthogonalize):
    """The transpose of a sine transform."""
    return transposed(fourier.dst, fourier.dstn, -1, d, type, axes, norm, orthogonalize)


# The transforms of both families: `one` along one axis, `several` along more


def transposed(one, several, place, d, type, axes, norm, orthogonalize):
    """The transpose of a transform of which the types 2 and 3 count the frequency at one place apart."""
    if type in (1, 4) or is_orthogonal(norm, orthogonalize):
        return along(one, several, d, inverse_of(type), axes, norm, orthogonalize)
    if type == 2:
        return along(one, several, scaled(d, axes, (place,), 2.0), 3, axes, norm, orthogonalize)
    return scaled(along(one, several, d, 2, axes, norm, orthogonalize), axes, (place,), 0.5)


def along(one, several, d, type, axes, norm, orthogonalize):
    """A transform along the axes."""
    if axes[1:]:
        return several(d, type, axes=axes, norm=norm, orthogonalize=orthogonalize)
    return one(d, type, axis=axes[0], norm=norm, orthogonalize=orthogonalize)


@static
def inverse_of(type):
    """The type of the transform that undoes one, but for a factor."""
    return 5 - type if type in (2, 3) else type


@static
def is_orthogonal(norm, orthogonalize):
    """True for a transform whose matrix is orthogonal, but for a factor."""
    return norm == "ortho" if orthogonalize is None else bool(orthogonalize)


def scaled(d, axes, places, factor):
    """An array with the elements at some places along each of the axes times a factor."""
    result = d.copy()
    for axis in axes:
        for place in places:
            result[index_at(place, axis % d.ndim)] *= factor
    return result


@static
def index_at(place, axis):
    """The subscript of what is at a place along an axis."""
    return (*(slice(None),) * axis, place) if axis else place
