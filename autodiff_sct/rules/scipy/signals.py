"""Filters of ``scipy.signal``, which are linear in the signal: the transpose of a causal one runs backwards in time."""

import numpy as np
from scipy import signal

from ...errors import NoRule
from ...runtime import unpad
from ...runtime.scipy import signal as texts
from ..shape import upto
from ..table import broadcasting, forward, linear, nondifferentiable, reverse, static
from . import images

broadcasting(signal.fftconvolve, signal.oaconvolve)

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
    return np.array([np.sum(d[..., k:] * x[..., : max(x.shape[-1] - k, 0)]) for k in range(np.size(like))])


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
        raise NoRule("filters of scipy.signal are differentiable without zi")


# Filters that run forwards and backwards over a signal that is extended at both ends


@reverse(signal.filtfilt)
def filtfilt(y, d, b, a, x, axis=-1, padtype="odd", padlen=None, method="pad", irlen=None):
    edge = checked_margin(b, a, padtype, padlen, method)
    extended = extension(np.moveaxis(x, axis, -1), edge, padtype)
    once = np.flip(from_rest(b, a, extended), -1)
    b_late, a_late, d_once = from_rest_adjoints(np.flip(widened(np.moveaxis(d, axis, -1), edge), -1), b, a, once)
    b_early, a_early, d_extended = from_rest_adjoints(np.flip(d_once, -1), b, a, extended)
    return b_late + b_early, a_late + a_early, np.moveaxis(narrowed(d_extended, edge, padtype), -1, axis)


@forward(signal.filtfilt)
def push_filtfilt(y, d, b, a, x, axis=-1, padtype="odd", padlen=None, method="pad", irlen=None):
    edge = checked_margin(b, a, padtype, padlen, method)
    extended, inner = extension(np.moveaxis(x, axis, -1), edge, padtype), slice(edge, x.shape[axis] + edge)
    return (
        np.moveaxis(along_numerator(d, b, a, extended)[..., inner], -1, axis),
        np.moveaxis(along_denominator(d, b, a, extended)[..., inner], -1, axis),
        signal.filtfilt(b, a, d, axis, padtype, padlen, method, irlen),
    )


def along_numerator(d, b, a, x):
    """The tangent of what a filter makes of a signal forwards and backwards."""
    once = np.flip(from_rest(b, a, x), -1)
    return np.flip(from_rest(d, a, once) + from_rest(b, a, np.flip(from_rest(d, a, x), -1)), -1)


def along_denominator(d, b, a, x):
    once = np.flip(from_rest(b, a, x), -1)
    by_a = along_denominator_once(d, b, a, x)
    return np.flip(along_denominator_once(d, b, a, once) + from_rest(b, a, np.flip(by_a, -1)), -1)


def along_denominator_once(d, b, a, x):
    moved, gain = x - x[..., :1], np.sum(b) / np.sum(a)
    return -signal.lfilter(d, a, signal.lfilter(b, a, moved)) - np.sum(d) / np.sum(a) * gain * x[..., :1]


def from_rest(b, a, x):
    """A filter that begins in the state to which the first value of the signal leads if it lasts for ever."""
    return signal.lfilter(b, a, x - x[..., :1]) + np.sum(b) / np.sum(a) * x[..., :1]


def from_rest_adjoints(d, b, a, x):
    """The cotangents of the coefficients and of the signal."""
    moved, gain, whole = x - x[..., :1], np.sum(b) / np.sum(a), np.sum(d, -1, keepdims=True)
    d_b, d_a, d_x = lfilter(signal.lfilter(b, a, moved), d, b, a, moved)
    lasting = np.sum(whole * x[..., :1]) / np.sum(a)
    first = d_x[..., :1] - np.sum(d_x, -1, keepdims=True) + gain * whole
    return d_b + lasting, d_a - gain * lasting, np.concatenate([first, d_x[..., 1:]], -1)


def checked_margin(b, a, padtype, padlen, method):
    if method != "pad":
        raise NoRule("scipy.signal.filtfilt is differentiable with method='pad'")
    return margin(padtype, padlen, 3 * max(np.size(a), np.size(b)))


def extension(x, edge, padtype):
    """A signal that is extended at both ends of its last axis, as SciPy does it."""
    if edge == 0:
        return x
    widths = [*[(0, 0) for _ in range(x.ndim - 1)], (edge, edge)]
    if padtype == "constant":
        return np.pad(x, widths, "edge")
    if padtype == "even":
        return np.pad(x, widths, "reflect")
    before, behind = x[..., edge:0:-1], x[..., -2 : -edge - 2 : -1]
    return np.concatenate([2 * x[..., :1] - before, x, 2 * x[..., -1:] - behind], -1)


@reverse(signal.sosfiltfilt)
def sosfiltfilt(y, d, sos, x, axis=-1, padtype="odd", padlen=None):
    edge = margin(padtype, padlen, taps_of(sos))
    d = widened(np.moveaxis(d, axis, -1), edge)
    state = settling_of_sections(sos, d)
    for _ in range(2):
        d = np.flip(d, -1)
        d = settled(d, np.flip(signal.sosfilt(sos, np.flip(d, -1)), -1), state)
    return None, np.moveaxis(narrowed(d, edge, padtype), -1, axis)


@forward(signal.sosfiltfilt)
def push_sosfiltfilt(y, d, sos, x, axis=-1, padtype="odd", padlen=None):
    return None, signal.sosfiltfilt(sos, d, axis, padtype, padlen)


def taps_of(sos):
    """The length by which SciPy extends a signal for a filter in sections."""
    return 3 * (2 * len(sos) + 1 - min(np.sum(sos[:, 2] == 0), np.sum(sos[:, 5] == 0)))


def margin(padtype, padlen, default):
    """The length by which a signal is extended at each end."""
    if padtype is None:
        return 0
    return default if padlen is None else padlen


def widened(d, edge):
    """The cotangent of an extended signal, of which the ends are not returned."""
    return np.pad(d, [*[(0, 0) for _ in range(d.ndim - 1)], (edge, edge)])


def settling_of_sections(sos, like):
    """The response of a filter in sections to no signal if it begins in the state that a constant 1 leads to."""
    return signal.sosfilt(sos, np.zeros(like.shape[-1], like.dtype), zi=signal.sosfilt_zi(sos))[0].astype(like.dtype)


def kernel_of(window_length, polyorder, deriv, delta, like):
    """The weights of a Savitzky-Golay filter."""
    return signal.savgol_coeffs(window_length, polyorder, deriv, delta).astype(like.dtype)


nondifferentiable(settling_of_sections, kernel_of, texts.taper, texts.low_pass, texts.chebyshev_sections)


def settled(d, passed, state):
    """The cotangent of a signal whose first value also sets the state of the filter."""
    first = np.sum(d * state, -1, keepdims=True)
    return np.concatenate([passed[..., :1] + first, passed[..., 1:]], -1)


def narrowed(d, edge, padtype):
    """The cotangent of a signal from that of the extended one."""
    if edge == 0:
        return d
    widths = [*[(0, 0) for _ in range(d.ndim - 1)], (edge, edge)]
    if padtype == "constant":
        return unpad(d, widths, "edge")
    if padtype == "even":
        return unpad(d, widths, "reflect")
    before, inner, behind = d[..., :edge], d[..., edge:-edge], d[..., -edge:]
    turned = unpad(np.concatenate([-before, inner, -behind], -1), widths, "reflect")
    first = turned[..., :1] + 2 * np.sum(before, -1, keepdims=True)
    last = turned[..., -1:] + 2 * np.sum(behind, -1, keepdims=True)
    return np.concatenate([first, turned[..., 1:-1], last], -1)


# Polynomials through windows


@linear(signal.savgol_filter)
def savgol_filter(y, d, x, window_length, polyorder, deriv=0, delta=1.0, axis=-1, mode="interp", cval=0.0):
    kernel = kernel_of(window_length, polyorder, deriv, delta, d)
    d = np.moveaxis(d, axis, -1)
    if mode != "interp":
        return np.moveaxis(images.convolve1d(y, d, d, kernel, mode=mode, cval=cval)[0], -1, axis)
    # At the ends the values are those of the polynomials through the first and the last window.
    half, n = window_length // 2, d.shape[-1]
    ends = signal.savgol_filter(np.eye(window_length), window_length, polyorder, deriv, delta, 0).astype(d.dtype)
    inner = np.concatenate([np.zeros_like(d[..., :half]), d[..., half : n - half], np.zeros_like(d[..., :half])], -1)
    d_x = images.convolve1d(y, inner, inner, kernel, mode="constant")[0]
    rest = np.zeros_like(d[..., window_length:])
    at_first = np.concatenate([d[..., :half] @ ends[:half], rest], -1)
    at_last = np.concatenate([rest, d[..., n - half :] @ ends[window_length - half :]], -1)
    return np.moveaxis(d_x + at_first + at_last, -1, axis)


@forward(signal.savgol_filter)
def push_savgol_filter(y, d, x, window_length, polyorder, deriv=0, delta=1.0, axis=-1, mode="interp", cval=0.0):
    return signal.savgol_filter(d, window_length, polyorder, deriv, delta, axis, mode)


@reverse(signal.upfirdn)
def upfirdn(y, d, h, x, up=1, down=1, axis=-1, mode="constant", cval=0):
    if mode != "constant" or cval != 0:
        raise NoRule("scipy.signal.upfirdn is differentiable with mode='constant' and cval=0")
    # The result at i is the sum of ``h[i * down - m * up] * x[m]``.
    lead = -(np.size(h) - 1) % up
    kernel = np.concatenate([np.zeros(lead), np.flip(h)]).astype(d.dtype)
    whole = np.moveaxis(signal.upfirdn(kernel, d, down, up, axis), axis, -1)
    first, n = (np.size(h) - 1 + lead) // up, x.shape[axis]
    d_x = whole[..., first : first + n]
    missing = np.zeros((*d_x.shape[:-1], n - d_x.shape[-1]), d.dtype)
    spread, samples = in_rows(d, down, axis), in_rows(x, up, axis)
    spread = np.pad(spread, [(0, 0), (0, samples.shape[1] + np.size(h) - 1 - spread.shape[1])])
    d_h = signal.correlate(spread, samples, "valid")[0]
    return d_h, np.moveaxis(np.concatenate([d_x, missing], -1), -1, axis)


@forward(signal.upfirdn)
def push_upfirdn(y, d, h, x, up=1, down=1, axis=-1, mode="constant", cval=0):
    return signal.upfirdn(d, x, up, down, axis), signal.upfirdn(h, d, up, down, axis)


def in_rows(x, up, axis):
    """A matrix of the lanes of a signal, with zeros between the samples."""
    x = np.moveaxis(signal.upfirdn(np.ones(1, x.dtype), x, up, axis=axis), axis, -1)
    return np.reshape(x, (-1, x.shape[-1]))


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


@reverse(signal.fftconvolve, signal.oaconvolve)
def fftconvolve(y, d, in1, in2, mode="full", axes=None):
    check_real(in1, in2)
    if axes is None:
        whole = in_full(d, np.shape(in1), np.shape(in2), mode)
        return signal.correlate(whole, in2, "valid"), signal.correlate(whole, in1, "valid")
    whole = np.pad(d, around_along(np.shape(in1), np.shape(in2), mode, axes))
    return (
        signal.fftconvolve(whole, np.flip(in2, as_axis(axes)), "valid", axes),
        signal.fftconvolve(whole, np.flip(in1, as_axis(axes)), "valid", axes),
    )


@forward(signal.fftconvolve, signal.oaconvolve)
def push_fftconvolve(y, d, in1, in2, mode="full", axes=None):
    check_real(in1, in2)
    if axes is None:
        return signal.fftconvolve(d, in2, mode), signal.fftconvolve(in1, d, mode)
    return signal.fftconvolve(d, in2, mode, axes), signal.fftconvolve(in1, d, mode, axes)


@reverse(signal.correlate)
def correlate(y, d, in1, in2, mode="full", method="auto"):
    check_real(in1, in2)
    whole = in_full(d, np.shape(in1), np.shape(in2), mode)
    return signal.convolve(whole, in2, "valid"), np.flip(signal.correlate(whole, in1, "valid"))


@forward(signal.correlate)
def push_correlate(y, d, in1, in2, mode="full", method="auto"):
    check_real(in1, in2)
    return signal.correlate(d, in2, mode, method), signal.correlate(in1, d, mode, method)


@reverse(signal.convolve2d)
def convolve2d(y, d, in1, in2, mode="full", boundary="fill", fillvalue=0):
    check_plane(in1, in2, mode)
    whole = in_full(d, np.shape(in1), np.shape(in2), mode)
    d_in1, passed = in_plane(whole, in1, np.flip(in2), boundary, fillvalue)
    return d_in1, np.flip(passed)


@reverse(signal.correlate2d)
def correlate2d(y, d, in1, in2, mode="full", boundary="fill", fillvalue=0):
    check_plane(in1, in2, mode)
    # Where the kernel has an even size, the middle of the result is that of a convolution with the image turned.
    whole = np.flip(in_full(np.flip(d), np.shape(in1), np.shape(in2), mode))
    return in_plane(whole, in1, in2, boundary, fillvalue)


@forward(signal.convolve2d)
def push_convolve2d(y, d, in1, in2, mode="full", boundary="fill", fillvalue=0):
    check_plane(in1, in2, mode)
    return signal.convolve2d(d, in2, mode, boundary), signal.convolve2d(in1, d, mode, boundary, fillvalue)


@forward(signal.correlate2d)
def push_correlate2d(y, d, in1, in2, mode="full", boundary="fill", fillvalue=0):
    check_plane(in1, in2, mode)
    return signal.correlate2d(d, in2, mode, boundary), signal.correlate2d(in1, d, mode, boundary, fillvalue)


def in_plane(whole, in1, kernel, boundary, fillvalue):
    """The cotangents of an image that goes on as `boundary` says, and of the kernel that runs over it."""
    widths = tuple([(n - 1, n - 1) for n in np.shape(kernel)])
    d_kernel = signal.correlate(images.extended(in1, widths, beyond(boundary), fillvalue), whole, "valid", "direct")
    d_in1 = signal.convolve(whole, kernel, "full", "direct")
    return images.folded(d_in1, widths, images.padding(beyond(boundary))), d_kernel


@static
def beyond(boundary):
    """The name in ``scipy.ndimage`` of a boundary of ``scipy.signal``."""
    return {"fill": "constant", "symm": "reflect", "wrap": "wrap"}[boundary]


def check_plane(in1, in2, mode):
    """Refuse what has no derivative here."""
    check_real(in1, in2)
    if mode == "valid" and (in1.shape[0] < in2.shape[0] or in1.shape[1] < in2.shape[1]):
        raise NoRule("convolve2d is differentiable for a kernel within the image")


def in_full(d, first, second, mode):
    """The cotangent of the whole convolution, of which a mode keeps a part."""
    return d if mode == "full" else np.pad(d, around(first, second, mode))


@static
def around(first, second, mode):
    """The number of elements of the whole convolution that are left out at both ends of each axis."""
    if mode == "valid":
        return tuple((min(m, n) - 1, min(m, n) - 1) for m, n in zip(first, second))
    return tuple(((n - 1) // 2, n - 1 - (n - 1) // 2) for n in second)


@static
def around_along(first, second, mode, axes):
    """The same for a convolution along some axes."""
    whole = ((0, 0),) * len(first) if mode == "full" else around(first, second, mode)
    chosen = [k % len(first) for k in images.each(axes, 1)]
    return tuple(both if k in chosen else (0, 0) for k, both in enumerate(whole))


@static
def as_axis(axes):
    """Axes as ``np.flip`` takes them."""
    return images.each(axes, 1)


def check_real(in1, in2):
    """Refuse what has no derivative here."""
    if np.iscomplexobj(in1) or np.iscomplexobj(in2):
        raise NoRule("convolutions of scipy.signal are differentiable for real signals")


# Projections and the analytic signal


@linear(signal.detrend)
def detrend(y, d, data, axis=-1, type="linear", bp=0, overwrite_data=False):
    return signal.detrend(d, axis, type, bp)


@linear(signal.hilbert)
def hilbert(y, d, x, N=None, axis=-1):
    n = d.shape[axis]
    places = np.arange(n)
    weights = np.where(places == 0, 1.0, np.where(2 * places == n, 1.0, np.where(2 * places < n, 2.0, 0.0)))
    weights = np.reshape(weights, tuple([n if k == axis % d.ndim else 1 for k in upto(d.ndim)])).astype(d.real.dtype)
    d_x = np.moveaxis(np.fft.fft(weights * np.fft.ifft(d, axis=axis), axis=axis), axis, -1)
    if N is not None and N > x.shape[axis]:
        d_x = d_x[..., : x.shape[axis]]
    if N is not None and N < x.shape[axis]:
        d_x = np.concatenate([d_x, np.zeros((*d_x.shape[:-1], x.shape[axis] - N), d_x.dtype)], -1)
    return np.moveaxis(d_x, -1, axis)
