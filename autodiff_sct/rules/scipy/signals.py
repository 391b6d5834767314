"""Filters of ``scipy.signal`` and ``scipy.ndimage``, which are linear in the signal.

The transpose of a causal filter runs backwards in time.  A symmetric kernel gives a symmetric matrix where the signal
goes on as its mirror image, periodically, or with zeros.
"""

import numpy as np
from scipy import ndimage, signal

from ..shape import upto
from ..table import forward, linear, reverse, static

# Recursive filters: ``a * y == b * x``


@reverse(signal.lfilter)
def lfilter(y, d, b, a, x, axis=-1, zi=None):
    check_state(zi)
    d_x = np.flip(signal.lfilter(b, a, np.flip(d, axis), axis), axis)
    passed = np.flip(signal.lfilter(np.ones_like(a[:1]), a, np.flip(d, axis), axis), axis)
    return lagged(passed, x, b, axis), -lagged(passed, y, a, axis), d_x


@forward(signal.lfilter)
def push_lfilter(y, d, b, a, x, axis=-1, zi=None):
    check_state(zi)
    return signal.lfilter(d, a, x, axis), -signal.lfilter(d, a, y, axis), signal.lfilter(b, a, d, axis)


def lagged(d, x, like, axis):
    """The sums of ``d[n] * x[n - k]`` for each k that a coefficient stands for."""
    d, x = np.moveaxis(d, axis, -1), np.moveaxis(x, axis, -1)
    return np.array([np.sum(d[..., k:] * x[..., : x.shape[-1] - k]) for k in range(like.size)])


@reverse(signal.sosfilt)
def sosfilt(y, d, sos, x, axis=-1, zi=None):
    check_state(zi)
    return None, np.flip(signal.sosfilt(sos, np.flip(d, axis), axis), axis)


@forward(signal.sosfilt)
def push_sosfilt(y, d, sos, x, axis=-1, zi=None):
    check_state(zi)
    return None, signal.sosfilt(sos, d, axis)


def check_state(zi):
    """Refuse what has two results."""
    if zi is not None:
        raise NotImplementedError("filters of scipy.signal are differentiable without zi")


# Convolutions


@reverse(signal.convolve)
def convolve(y, d, in1, in2, mode="full", method="auto"):
    check_real(in1, in2)
    whole = in_full(d, np.shape(in1), np.shape(in2), mode)
    return signal.correlate(whole, in2, "valid"), signal.correlate(whole, in1, "valid")


@forward(signal.convolve)
def push_convolve(y, d, in1, in2, mode="full", method="auto"):
    check_real(in1, in2)
    return signal.convolve(d, in2, mode, method), signal.convolve(in1, d, mode, method)


@reverse(signal.fftconvolve)
def fftconvolve(y, d, in1, in2, mode="full", axes=None):
    check_axes(in1, in2, axes)
    whole = in_full(d, np.shape(in1), np.shape(in2), mode)
    return signal.correlate(whole, in2, "valid"), signal.correlate(whole, in1, "valid")


@forward(signal.fftconvolve)
def push_fftconvolve(y, d, in1, in2, mode="full", axes=None):
    check_axes(in1, in2, axes)
    return signal.fftconvolve(d, in2, mode), signal.fftconvolve(in1, d, mode)


@reverse(signal.correlate)
def correlate(y, d, in1, in2, mode="full", method="auto"):
    check_real(in1, in2)
    whole = in_full(d, np.shape(in1), np.shape(in2), mode)
    return signal.convolve(whole, in2, "valid"), np.flip(signal.correlate(whole, in1, "valid"))


@forward(signal.correlate)
def push_correlate(y, d, in1, in2, mode="full", method="auto"):
    check_real(in1, in2)
    return signal.correlate(d, in2, mode, method), signal.correlate(in1, d, mode, method)


def in_full(d, first, second, mode):
    """The cotangent of the whole convolution, of which a mode keeps a part."""
    return d if mode == "full" else np.pad(d, around(first, second, mode))


@static
def around(first, second, mode):
    """How much of the whole convolution is left out at both ends of each axis."""
    if mode == "valid":
        return tuple((min(m, n) - 1, min(m, n) - 1) for m, n in zip(first, second))
    return tuple(((n - 1) // 2, n - 1 - (n - 1) // 2) for n in second)


def check_real(in1, in2):
    """Refuse what has no derivative here."""
    if np.iscomplexobj(in1) or np.iscomplexobj(in2):
        raise NotImplementedError("convolutions of scipy.signal are differentiable for real signals")


def check_axes(in1, in2, axes):
    """Refuse what has no derivative here."""
    check_real(in1, in2)
    if axes is not None:
        raise NotImplementedError("scipy.signal.fftconvolve is differentiable without axes")


# Projections and the analytic signal


@linear(signal.detrend)
def detrend(y, d, data, axis=-1, type="linear", bp=0, overwrite_data=False):
    return signal.detrend(d, axis, type, bp)


@linear(signal.hilbert)
def hilbert(y, d, x, N=None, axis=-1):
    if N is not None:
        raise NotImplementedError("scipy.signal.hilbert is differentiable without N")
    n = d.shape[axis]
    places = np.arange(n)
    weights = np.where(places == 0, 1.0, np.where(2 * places == n, 1.0, np.where(2 * places < n, 2.0, 0.0)))
    weights = np.reshape(weights, tuple([n if k == axis % d.ndim else 1 for k in upto(d.ndim)])).astype(d.real.dtype)
    return np.fft.fft(weights * np.fft.ifft(d, axis=axis), axis=axis)


# Symmetric kernels on images


@linear(ndimage.gaussian_filter)
def gaussian_filter(
    y, d, input, sigma, order=0, output=None, mode="reflect", cval=0.0, truncate=4.0, *, radius=None, axes=None
):
    check_kernel(order, output, mode, cval, 0)
    return ndimage.gaussian_filter(d, sigma, mode=mode, truncate=truncate, radius=radius, axes=axes)


@linear(ndimage.gaussian_filter1d)
def gaussian_filter1d(
    y, d, input, sigma, axis=-1, order=0, output=None, mode="reflect", cval=0.0, truncate=4.0, *, radius=None
):
    check_kernel(order, output, mode, cval, 0)
    return ndimage.gaussian_filter1d(d, sigma, axis, mode=mode, truncate=truncate, radius=radius)


@linear(ndimage.uniform_filter)
def uniform_filter(y, d, input, size=3, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None):
    check_kernel(0, output, mode, cval, origin)
    if not isinstance(size, int) or size % 2 == 0:
        raise NotImplementedError("scipy.ndimage.uniform_filter is differentiable for one odd size")
    return ndimage.uniform_filter(d, size, mode=mode, axes=axes)


@linear(ndimage.laplace)
def laplace(y, d, input, output=None, mode="reflect", cval=0.0, *, axes=None):
    check_kernel(0, output, mode, cval, 0)
    return ndimage.laplace(d, mode=mode, axes=axes)


def check_kernel(order, output, mode, cval, origin):
    """Refuse what has no symmetric matrix, or none that is known here."""
    if order != 0 or output is not None or mode not in ("reflect", "wrap", "constant") or cval != 0 or origin != 0:
        raise NotImplementedError(
            "filters of scipy.ndimage are differentiable for the modes 'reflect', 'wrap' and 'constant' with zeros"
        )
