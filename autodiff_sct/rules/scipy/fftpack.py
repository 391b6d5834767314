"""The transforms of ``scipy.fftpack`` by those of ``scipy.fft``; their inverse cosine and sine transforms are unscaled.

``rfft`` holds the spectrum of a real array as an array of real numbers: the mean, then the real and the imaginary
part of each frequency, and the real part of the highest where their number is even.
"""

import numpy as np
from scipy import fftpack

from .. import fft as numpys
from ..table import linear
from . import fft as transforms

# Fourier transforms


@linear(fftpack.fft)
def fft(y, d, x, n=None, axis=-1, overwrite_x=False):
    return numpys.fft(y, d, x, n, axis, None)


@linear(fftpack.ifft)
def ifft(y, d, x, n=None, axis=-1, overwrite_x=False):
    return numpys.ifft(y, d, x, n, axis, None)


@linear(fftpack.fft2)
def fft2(y, d, x, shape=None, axes=(-2, -1), overwrite_x=False):
    return numpys.fft2(y, d, x, shape, axes, None)


@linear(fftpack.ifft2)
def ifft2(y, d, x, shape=None, axes=(-2, -1), overwrite_x=False):
    return numpys.ifft2(y, d, x, shape, axes, None)


@linear(fftpack.fftn)
def fftn(y, d, x, shape=None, axes=None, overwrite_x=False):
    return numpys.fftn(y, d, x, shape, axes, None)


@linear(fftpack.ifftn)
def ifftn(y, d, x, shape=None, axes=None, overwrite_x=False):
    return numpys.ifftn(y, d, x, shape, axes, None)


@linear(fftpack.rfft)
def rfft(y, d, x, n=None, axis=-1, overwrite_x=False):
    whole = fftpack.irfft(d / occurrences(d, axis), axis=axis) * d.shape[axis]
    return whole if n is None else numpys.fitted(whole, np.shape(x), (axis,))


@linear(fftpack.irfft)
def irfft(y, d, x, n=None, axis=-1, overwrite_x=False):
    whole = fftpack.rfft(d, axis=axis) * occurrences(d, axis) / d.shape[axis]
    return whole if n is None else numpys.fitted(whole, np.shape(x), (axis,))


def occurrences(d, axis):
    """The multiplicity of a real spectrum's numbers: one for mean and highest frequency, two for others."""
    n = d.shape[axis]
    places = np.arange(n)
    counts = np.where((places == 0) | ((places == n - 1) & (n % 2 == 0)), 1, 2).astype(d.dtype)
    return np.reshape(counts, tuple([n if k == axis % d.ndim else 1 for k in range(d.ndim)]))


# Cosine and sine transforms: the inverse of type 2 is that of type 3, without a factor; the other types are their own


@linear(fftpack.dct)
def dct(y, d, x, type=2, n=None, axis=-1, norm=None, overwrite_x=False):
    return transforms.dct(y, d, x, type, n, axis, norm)


@linear(fftpack.idct)
def idct(y, d, x, type=2, n=None, axis=-1, norm=None, overwrite_x=False):
    return transforms.dct(y, d, x, transforms.inverse_of(type), n, axis, norm)


@linear(fftpack.dst)
def dst(y, d, x, type=2, n=None, axis=-1, norm=None, overwrite_x=False):
    return transforms.dst(y, d, x, type, n, axis, norm)


@linear(fftpack.idst)
def idst(y, d, x, type=2, n=None, axis=-1, norm=None, overwrite_x=False):
    return transforms.dst(y, d, x, transforms.inverse_of(type), n, axis, norm)


@linear(fftpack.dctn)
def dctn(y, d, x, type=2, shape=None, axes=None, norm=None, overwrite_x=False):
    return transforms.dctn(y, d, x, type, shape, axes, norm)


@linear(fftpack.idctn)
def idctn(y, d, x, type=2, shape=None, axes=None, norm=None, overwrite_x=False):
    return transforms.dctn(y, d, x, transforms.inverse_of(type), shape, axes, norm)


@linear(fftpack.dstn)
def dstn(y, d, x, type=2, shape=None, axes=None, norm=None, overwrite_x=False):
    return transforms.dstn(y, d, x, type, shape, axes, norm)


@linear(fftpack.idstn)
def idstn(y, d, x, type=2, shape=None, axes=None, norm=None, overwrite_x=False):
    return transforms.dstn(y, d, x, transforms.inverse_of(type), shape, axes, norm)
