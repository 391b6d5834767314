"""Filters of ``scipy.ndimage``, which are linear in the image.

A filter reads the image beyond its edges as its mode says; its transpose adds what it makes out there to the elements
that were read.  The transposed kernel runs over the cotangent with zeros around it, which has the same size as the
padded image, and `unpad` adds up what lies outside.
"""

from typing import Any

import numpy as np
from scipy import ndimage, signal

from ...errors import NoRule
from ...runtime import unpad
from ..elementwise import nonzero
from ..shape import upto
from ..table import forward, linear, reverse, static

# NumPy's names for what lies beyond the edges
MODES: dict[str, Any] = {
    "reflect": "symmetric",
    "mirror": "reflect",
    "nearest": "edge",
    "wrap": "wrap",
    "constant": "constant",
    "grid-mirror": "symmetric",
    "grid-constant": "constant",
    "grid-wrap": "wrap",
}

# Kernels that are given


@reverse(ndimage.correlate)
def correlate(y, d, input, weights, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None):
    check_settings(output, axes)
    widths = around(np.shape(weights), origin)
    d_input = folded(signal.convolve(d, weights, method="direct"), widths, padding(mode))
    return d_input, signal.correlate(extended(input, widths, mode, cval), d, "valid", "direct")


@reverse(ndimage.convolve)
def convolve(y, d, input, weights, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None):
    check_settings(output, axes)
    widths = around(np.shape(weights), origin, True)
    d_input = folded(signal.correlate(d, weights, method="direct"), widths, padding(mode))
    return d_input, np.flip(signal.correlate(extended(input, widths, mode, cval), d, "valid", "direct"))


@forward(ndimage.correlate)
def push_correlate(y, d, input, weights, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None):
    check_settings(output, axes)
    by_input = ndimage.correlate(d, weights, mode=mode, origin=origin)
    return by_input, ndimage.correlate(input, d, mode=mode, cval=cval, origin=origin)


@forward(ndimage.convolve)
def push_convolve(y, d, input, weights, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None):
    check_settings(output, axes)
    by_input = ndimage.convolve(d, weights, mode=mode, origin=origin)
    return by_input, ndimage.convolve(input, d, mode=mode, cval=cval, origin=origin)


@reverse(ndimage.correlate1d)
def correlate1d(y, d, input, weights, axis=-1, output=None, mode="reflect", cval=0.0, origin=0):
    kernel = np.reshape(weights, line(np.size(weights), d.ndim, axis))
    d_input, d_kernel = correlate(y, d, input, kernel, output, mode, cval, line(origin, d.ndim, axis, 0))
    return d_input, np.reshape(d_kernel, (-1,))


@reverse(ndimage.convolve1d)
def convolve1d(y, d, input, weights, axis=-1, output=None, mode="reflect", cval=0.0, origin=0):
    kernel = np.reshape(weights, line(np.size(weights), d.ndim, axis))
    d_input, d_kernel = convolve(y, d, input, kernel, output, mode, cval, line(origin, d.ndim, axis, 0))
    return d_input, np.reshape(d_kernel, (-1,))


@forward(ndimage.correlate1d)
def push_correlate1d(y, d, input, weights, axis=-1, output=None, mode="reflect", cval=0.0, origin=0):
    check_settings(output)
    by_input = ndimage.correlate1d(d, weights, axis, mode=mode, origin=origin)
    return by_input, ndimage.correlate1d(input, d, axis, mode=mode, cval=cval, origin=origin)


@forward(ndimage.convolve1d)
def push_convolve1d(y, d, input, weights, axis=-1, output=None, mode="reflect", cval=0.0, origin=0):
    check_settings(output)
    by_input = ndimage.convolve1d(d, weights, axis, mode=mode, origin=origin)
    return by_input, ndimage.convolve1d(input, d, axis, mode=mode, cval=cval, origin=origin)


@static
def line(value, ndim, axis, other=1):
    """A setting for each axis: `value` for one of them."""
    return tuple(value if k == axis % ndim else other for k in range(ndim))


@static
def around(sizes, origin, turned=False):
    """The reach of a kernel before and behind each element; `turned` if it is a convolution's."""
    before = [n - 1 - n // 2 - o if turned else n // 2 + o for n, o in zip(sizes, each(origin, len(sizes)))]
    return tuple((b, n - 1 - b) for b, n in zip(before, sizes))


@static
def padding(mode):
    """The mode of ``np.pad`` for a mode of ``scipy.ndimage``, or one for each axis.

    SciPy does not look at the mode where a window of one element reads nothing beyond the edges.
    """
    return MODES.get(mode, "constant") if isinstance(mode, str) else tuple(padding(m) for m in mode)


def extended(a, widths, mode, cval=0.0):
    """An image with what a filter reads beyond its edges."""
    if padding(mode) == "constant":
        return np.pad(a, widths, "constant", constant_values=cval)
    return np.pad(a, widths, padding(mode))


def folded(d, widths, mode):
    """The cotangent of an image from that of the one that ``np.pad`` has extended, in one mode or one for each axis."""
    if isinstance(mode, str):
        return folded_at_once(d, widths, mode)
    for axis in reached(widths):
        d = folded_at_once(d, line(widths[axis], d.ndim, axis, (0, 0)), mode[axis])
    return d


def folded_at_once(d, widths, mode):
    return d[inner(widths)] if mode == "constant" else unpad(d, widths, mode)


@static
def reached(widths):
    """The axes along which an image has been extended."""
    return tuple(k for k, both in enumerate(widths) if any(both))


@static
def inner(widths):
    return tuple(slice(before, -after or None) for before, after in widths)


def check_settings(output, axes=None):
    """Refuse what has no derivative here."""
    if output is not None or axes is not None:
        raise NoRule("these filters of scipy.ndimage are differentiable without output and axes")


@static
def spread(value, axes, ndim, other):
    """A setting for each axis: `other` for those that are not filtered."""
    if axes is None:
        return each(value, ndim)
    chosen = [k % ndim for k in each(axes, 1)]
    by_axis = dict(zip(chosen, each(value, len(chosen))))
    return tuple(by_axis.get(k, other) for k in range(ndim))


# Kernels that SciPy makes: symmetric ones, derivatives, and means


@linear(ndimage.gaussian_filter)
def gaussian_filter(
    y, d, input, sigma, order=0, output=None, mode="reflect", cval=0.0, truncate=4.0, *, radius=None, axes=None
):
    check_settings(output)
    if axes is not None:
        sigma, order = spread(sigma, axes, d.ndim, 0.0), spread(order, axes, d.ndim, 0)
        mode, radius = spread(mode, axes, d.ndim, "constant"), spread(radius, axes, d.ndim, None)
    if is_own_transpose(order, mode):
        return ndimage.gaussian_filter(d, sigma, mode=mode, truncate=truncate, radius=radius)
    widths = reaches(sigma, truncate, radius, d.ndim)
    whole = ndimage.gaussian_filter(np.pad(d, widths), sigma, order, mode="constant", truncate=truncate, radius=radius)
    return sign_of(order, sigma, d.ndim) * folded(whole, widths, padding(mode))


@forward(ndimage.gaussian_filter)
def push_gaussian_filter(
    y, d, input, sigma, order=0, output=None, mode="reflect", cval=0.0, truncate=4.0, *, radius=None, axes=None
):
    check_settings(output)
    if axes is None:
        return ndimage.gaussian_filter(d, sigma, order, mode=mode, truncate=truncate, radius=radius)
    return ndimage.gaussian_filter(d, sigma, order, mode=mode, truncate=truncate, radius=radius, axes=axes)


@linear(ndimage.gaussian_filter1d)
def gaussian_filter1d(
    y, d, input, sigma, axis=-1, order=0, output=None, mode="reflect", cval=0.0, truncate=4.0, *, radius=None
):
    check_settings(output)
    if is_own_transpose(order, mode):
        return ndimage.gaussian_filter1d(d, sigma, axis, mode=mode, truncate=truncate, radius=radius)
    widths = line(reaches(sigma, truncate, radius, 1)[0], d.ndim, axis, (0, 0))
    whole = ndimage.gaussian_filter1d(
        np.pad(d, widths), sigma, axis, order, mode="constant", truncate=truncate, radius=radius
    )
    return (-1.0) ** order * folded(whole, widths, padding(mode))


@forward(ndimage.gaussian_filter1d)
def push_gaussian_filter1d(
    y, d, input, sigma, axis=-1, order=0, output=None, mode="reflect", cval=0.0, truncate=4.0, *, radius=None
):
    check_settings(output)
    return ndimage.gaussian_filter1d(d, sigma, axis, order, mode=mode, truncate=truncate, radius=radius)


@linear(ndimage.uniform_filter)
def uniform_filter(y, d, input, size=3, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None):
    check_settings(output)
    if d.ndim == 0:
        return d
    sizes = spread(size, axes, d.ndim, 1)
    origins = moved_windows(sizes, spread(origin, axes, d.ndim, 0))
    widths = around(sizes, origins)
    whole = ndimage.uniform_filter(np.pad(d, widths), sizes, mode="constant", origin=turned(sizes, origins))
    return folded(whole, widths, padding(mode if axes is None else spread(mode, axes, d.ndim, "constant")))


@forward(ndimage.uniform_filter)
def push_uniform_filter(y, d, input, size=3, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None):
    check_settings(output)
    if axes is None:
        return ndimage.uniform_filter(d, size, mode=mode, origin=origin)
    return ndimage.uniform_filter(d, size, mode=mode, origin=origin, axes=axes)


@static
def moved_windows(sizes, origins):
    """The origins of windows: SciPy leaves one element where it is."""
    return tuple(o if n > 1 else 0 for n, o in zip(sizes, origins))


@linear(ndimage.uniform_filter1d)
def uniform_filter1d(y, d, input, size, axis=-1, output=None, mode="reflect", cval=0.0, origin=0):
    check_settings(output)
    widths = line(around((size,), origin)[0], d.ndim, axis, (0, 0))
    back = turned((size,), origin)[0]
    whole = ndimage.uniform_filter1d(np.pad(d, widths), size, axis, mode="constant", origin=back)
    return folded(whole, widths, padding(mode))


@forward(ndimage.uniform_filter1d)
def push_uniform_filter1d(y, d, input, size, axis=-1, output=None, mode="reflect", cval=0.0, origin=0):
    check_settings(output)
    return ndimage.uniform_filter1d(d, size, axis, mode=mode, origin=origin)


@linear(ndimage.sobel)
def sobel(y, d, input, axis=-1, output=None, mode="reflect", cval=0.0):
    check_settings(output)
    return -folded(ndimage.sobel(np.pad(d, ring(d.ndim)), axis, mode="constant"), ring(d.ndim), padding(mode))


@forward(ndimage.sobel)
def push_sobel(y, d, input, axis=-1, output=None, mode="reflect", cval=0.0):
    check_settings(output)
    return ndimage.sobel(d, axis, mode=mode)


@linear(ndimage.prewitt)
def prewitt(y, d, input, axis=-1, output=None, mode="reflect", cval=0.0):
    check_settings(output)
    return -folded(ndimage.prewitt(np.pad(d, ring(d.ndim)), axis, mode="constant"), ring(d.ndim), padding(mode))


@forward(ndimage.prewitt)
def push_prewitt(y, d, input, axis=-1, output=None, mode="reflect", cval=0.0):
    check_settings(output)
    return ndimage.prewitt(d, axis, mode=mode)


@linear(ndimage.laplace)
def laplace(y, d, input, output=None, mode="reflect", cval=0.0, *, axes=None):
    check_settings(output, axes)
    return folded(ndimage.laplace(np.pad(d, ring(d.ndim)), mode="constant"), ring(d.ndim), padding(mode))


@forward(ndimage.laplace)
def push_laplace(y, d, input, output=None, mode="reflect", cval=0.0, *, axes=None):
    check_settings(output, axes)
    return ndimage.laplace(d, mode=mode)


@linear(ndimage.gaussian_laplace)
def gaussian_laplace(y, d, input, sigma, output=None, mode="reflect", cval=0.0, *, axes=None):
    check_settings(output, axes)
    check_axes(d)
    widths = reaches(sigma, 4.0, None, d.ndim)
    return folded(ndimage.gaussian_laplace(np.pad(d, widths), sigma, mode="constant"), widths, padding(mode))


@forward(ndimage.gaussian_laplace)
def push_gaussian_laplace(y, d, input, sigma, output=None, mode="reflect", cval=0.0, *, axes=None):
    check_settings(output, axes)
    check_axes(d)
    return ndimage.gaussian_laplace(d, sigma, mode=mode)


@reverse(ndimage.gaussian_gradient_magnitude)
def gaussian_gradient_magnitude(y, d, input, sigma, output=None, mode="reflect", cval=0.0, *, axes=None):
    check_settings(output, axes)
    check_axes(d)
    parts = [slope_along(input, sigma, mode, cval, k) for k in upto(d.ndim)]
    shares = d / nonzero(y)
    orders = [line(1, d.ndim, k, 0) for k in upto(d.ndim)]
    return sum(
        [gaussian_filter(y, shares * part, input, sigma, order, mode=mode) for part, order in zip(parts, orders)]
    )


@forward(ndimage.gaussian_gradient_magnitude)
def push_gaussian_gradient_magnitude(y, d, input, sigma, output=None, mode="reflect", cval=0.0, *, axes=None):
    check_settings(output, axes)
    check_axes(d)
    both = [slope_along(input, sigma, mode, cval, k) * slope_along(d, sigma, mode, 0.0, k) for k in upto(d.ndim)]
    return sum(both) / nonzero(y)


def check_axes(image):
    """Refuse a number, of which SciPy makes something else than of an image."""
    if image.ndim == 0:
        raise NoRule("filters of scipy.ndimage are differentiable for images with axes")


def slope_along(input, sigma, mode, cval, axis):
    """The derivative of a smoothed image along an axis."""
    return ndimage.gaussian_filter(input, sigma, line(1, input.ndim, axis, 0), mode=mode, cval=cval)


@static
def is_own_transpose(order, mode):
    """True for a symmetric kernel where the image goes on as its mirror image, periodically, or with zeros."""
    modes = (mode,) if isinstance(mode, str) else tuple(mode)
    return not np.any(order) and all(padding(m) in ("symmetric", "wrap", "constant") for m in modes)


@static
def sign_of(order, sigma, ndim):
    """-1 for kernels that are antisymmetric in an odd number of axes."""
    return (-1.0) ** sum(n for n, s in zip(each(order, ndim), each(sigma, ndim)) if is_smoothed(s))


@static
def is_smoothed(sigma):
    """True for a width with which SciPy runs a filter along an axis."""
    return sigma > 1e-15


@static
def each(value, ndim):
    """A setting for each axis."""
    return tuple(np.asarray(value).tolist()) if np.ndim(value) > 0 else (value,) * ndim


@static
def ring(ndim):
    """One element around an image."""
    return ((1, 1),) * ndim


@static
def reaches(sigma, truncate, radius, ndim):
    """The reach of Gaussian kernels along each axis."""
    both = zip(each(sigma, ndim), each(radius, ndim))
    found = [(int(truncate * float(s) + 0.5) if r is None else r) if is_smoothed(s) else 0 for s, r in both]
    return tuple((n, n) for n in found)


@static
def turned(sizes, origin):
    """The origins of means over windows that reach as far before as others reach behind."""
    return tuple(-o - (n % 2 == 0) for n, o in zip(sizes, each(origin, len(sizes))))
