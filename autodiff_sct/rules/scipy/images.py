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
    check_settings(output, cval, axes)
    widths = around(np.shape(weights), origin)
    d_input = folded(signal.convolve(d, weights, method="direct"), widths, padding(mode))
    return d_input, signal.correlate(np.pad(input, widths, padding(mode)), d, "valid", "direct")


@reverse(ndimage.convolve)
def convolve(y, d, input, weights, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None):
    check_settings(output, cval, axes)
    widths = around(np.shape(weights), origin, True)
    d_input = folded(signal.correlate(d, weights, method="direct"), widths, padding(mode))
    return d_input, np.flip(signal.correlate(np.pad(input, widths, padding(mode)), d, "valid", "direct"))


@forward(ndimage.correlate)
def push_correlate(y, d, input, weights, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None):
    check_settings(output, cval, axes)
    by_input = ndimage.correlate(d, weights, mode=mode, origin=origin)
    return by_input, ndimage.correlate(input, d, mode=mode, origin=origin)


@forward(ndimage.convolve)
def push_convolve(y, d, input, weights, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None):
    check_settings(output, cval, axes)
    by_input = ndimage.convolve(d, weights, mode=mode, origin=origin)
    return by_input, ndimage.convolve(input, d, mode=mode, origin=origin)


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
    check_settings(output, cval)
    by_input = ndimage.correlate1d(d, weights, axis, mode=mode, origin=origin)
    return by_input, ndimage.correlate1d(input, d, axis, mode=mode, origin=origin)


@forward(ndimage.convolve1d)
def push_convolve1d(y, d, input, weights, axis=-1, output=None, mode="reflect", cval=0.0, origin=0):
    check_settings(output, cval)
    by_input = ndimage.convolve1d(d, weights, axis, mode=mode, origin=origin)
    return by_input, ndimage.convolve1d(input, d, axis, mode=mode, origin=origin)


@static
def line(value, ndim, axis, other=1):
    """A setting for each axis: `value` for one of them."""
    return tuple(value if k == axis % ndim else other for k in range(ndim))


@static
def around(sizes, origin, turned=False):
    """How far a kernel reaches before and behind each element; `turned` if it is a convolution's."""
    origins = origin if isinstance(origin, tuple) else (origin,) * len(sizes)
    before = [n - 1 - n // 2 - o if turned else n // 2 + o for n, o in zip(sizes, origins)]
    return tuple((b, n - 1 - b) for b, n in zip(before, sizes))


@static
def padding(mode):
    """What ``np.pad`` calls a mode of ``scipy.ndimage``."""
    if mode not in MODES:
        raise NoRule("filters of scipy.ndimage are differentiable with one mode for all axes")
    return MODES[mode]


def folded(d, widths, mode):
    """The cotangent of an image from that of the one that ``np.pad`` has extended."""
    return d[inner(widths)] if mode == "constant" else unpad(d, widths, mode)


@static
def inner(widths):
    return tuple(slice(before, -after or None) for before, after in widths)


def check_settings(output, cval, axes=None):
    """Refuse what has no derivative here."""
    if output is not None or axes is not None or cval != 0:
        raise NoRule("filters of scipy.ndimage are differentiable without output and axes, and for cval=0")


# Kernels that SciPy makes: symmetric ones, derivatives, and means


@linear(ndimage.gaussian_filter)
def gaussian_filter(
    y, d, input, sigma, order=0, output=None, mode="reflect", cval=0.0, truncate=4.0, *, radius=None, axes=None
):
    check_settings(output, cval, axes)
    if is_own_transpose(order, mode):
        return ndimage.gaussian_filter(d, sigma, mode=mode, truncate=truncate, radius=radius)
    widths = reaches(sigma, truncate, radius, d.ndim)
    whole = ndimage.gaussian_filter(np.pad(d, widths), sigma, order, mode="constant", truncate=truncate, radius=radius)
    return sign_of(order, d.ndim) * folded(whole, widths, padding(mode))


@linear(ndimage.gaussian_filter1d)
def gaussian_filter1d(
    y, d, input, sigma, axis=-1, order=0, output=None, mode="reflect", cval=0.0, truncate=4.0, *, radius=None
):
    check_settings(output, cval)
    if is_own_transpose(order, mode):
        return ndimage.gaussian_filter1d(d, sigma, axis, mode=mode, truncate=truncate, radius=radius)
    widths = line(reaches(sigma, truncate, radius, 1)[0], d.ndim, axis, (0, 0))
    whole = ndimage.gaussian_filter1d(
        np.pad(d, widths), sigma, axis, order, mode="constant", truncate=truncate, radius=radius
    )
    return sign_of(order, 1) * folded(whole, widths, padding(mode))


@linear(ndimage.uniform_filter)
def uniform_filter(y, d, input, size=3, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None):
    check_settings(output, cval, axes)
    if d.ndim == 0:
        return d
    sizes = each(size, d.ndim)
    widths = around(sizes, origin)
    whole = ndimage.uniform_filter(np.pad(d, widths), sizes, mode="constant", origin=turned(sizes, origin))
    return folded(whole, widths, padding(mode))


@linear(ndimage.uniform_filter1d)
def uniform_filter1d(y, d, input, size, axis=-1, output=None, mode="reflect", cval=0.0, origin=0):
    check_settings(output, cval)
    widths = line(around((size,), origin)[0], d.ndim, axis, (0, 0))
    back = turned((size,), origin)[0]
    whole = ndimage.uniform_filter1d(np.pad(d, widths), size, axis, mode="constant", origin=back)
    return folded(whole, widths, padding(mode))


@linear(ndimage.sobel)
def sobel(y, d, input, axis=-1, output=None, mode="reflect", cval=0.0):
    check_settings(output, cval)
    return -folded(ndimage.sobel(np.pad(d, ring(d.ndim)), axis, mode="constant"), ring(d.ndim), padding(mode))


@linear(ndimage.prewitt)
def prewitt(y, d, input, axis=-1, output=None, mode="reflect", cval=0.0):
    check_settings(output, cval)
    return -folded(ndimage.prewitt(np.pad(d, ring(d.ndim)), axis, mode="constant"), ring(d.ndim), padding(mode))


@linear(ndimage.laplace)
def laplace(y, d, input, output=None, mode="reflect", cval=0.0, *, axes=None):
    check_settings(output, cval, axes)
    return folded(ndimage.laplace(np.pad(d, ring(d.ndim)), mode="constant"), ring(d.ndim), padding(mode))


@linear(ndimage.gaussian_laplace)
def gaussian_laplace(y, d, input, sigma, output=None, mode="reflect", cval=0.0, *, axes=None):
    check_settings(output, cval, axes)
    check_axes(d)
    widths = reaches(sigma, 4.0, None, d.ndim)
    return folded(ndimage.gaussian_laplace(np.pad(d, widths), sigma, mode="constant"), widths, padding(mode))


@reverse(ndimage.gaussian_gradient_magnitude)
def gaussian_gradient_magnitude(y, d, input, sigma, output=None, mode="reflect", cval=0.0, *, axes=None):
    check_settings(output, cval, axes)
    check_axes(d)
    parts = [slope_along(input, sigma, mode, k) for k in upto(d.ndim)]
    shares = d / nonzero(y)
    orders = [line(1, d.ndim, k, 0) for k in upto(d.ndim)]
    return sum(
        [gaussian_filter(y, shares * part, input, sigma, order, mode=mode) for part, order in zip(parts, orders)]
    )


@forward(ndimage.gaussian_gradient_magnitude)
def push_gaussian_gradient_magnitude(y, d, input, sigma, output=None, mode="reflect", cval=0.0, *, axes=None):
    check_settings(output, cval, axes)
    check_axes(d)
    both = [slope_along(input, sigma, mode, k) * slope_along(d, sigma, mode, k) for k in upto(d.ndim)]
    return sum(both) / nonzero(y)


def check_axes(image):
    """Refuse a number, of which SciPy makes something else than of an image."""
    if image.ndim == 0:
        raise NoRule("filters of scipy.ndimage are differentiable for images with axes")


def slope_along(input, sigma, mode, axis):
    """The derivative of a smoothed image along an axis."""
    return ndimage.gaussian_filter(input, sigma, line(1, input.ndim, axis, 0), mode=mode)


@static
def is_own_transpose(order, mode):
    """True for a symmetric kernel where the image goes on as its mirror image, periodically, or with zeros."""
    return order == 0 and padding(mode) in ("symmetric", "wrap", "constant")


@static
def sign_of(order, ndim):
    """-1 for kernels that are antisymmetric in an odd number of axes."""
    return (-1.0) ** sum(each(order, ndim))


@static
def each(value, ndim):
    """A setting for each axis."""
    return tuple(value) if isinstance(value, (list, tuple)) else (value,) * ndim


@static
def ring(ndim):
    """One element around an image."""
    return ((1, 1),) * ndim


@static
def reaches(sigma, truncate, radius, ndim):
    """How far Gaussian kernels reach along each axis."""
    sigmas, radii = each(sigma, ndim), each(radius, ndim)
    found = [int(truncate * float(s) + 0.5) if r is None else r for s, r in zip(sigmas, radii)]
    return tuple((n, n) for n in found)


@static
def turned(sizes, origin):
    """The origins of means over windows that reach as far before as others reach behind."""
    return tuple(-o - (n % 2 == 0) for n, o in zip(sizes, each(origin, len(sizes))))
