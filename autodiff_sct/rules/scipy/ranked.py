"""Filters that choose one element of each window of an image: its derivative is that of the element.

Where several are equal the first of them has the derivative.
"""

import numpy as np
from scipy import ndimage, signal

from ...errors import NoRule
from ..table import forward, nondifferentiable, reverse, static
from . import images


def chosen(input, y, window, mode, origins, cval=0.0):
    """The place in `input` of the element that `y` has from each window; -1 where it lies outside.

    `window` is True at the elements of a window, and `mode` is one for each axis.
    """
    input = np.asarray(input)
    numbers = np.arange(input.size).reshape(input.shape)
    values, widths = input, images.around(window.shape, origins)
    for axis, name in enumerate(images.padding(mode)):
        along = images.line(widths[axis], input.ndim, axis, (0, 0))
        outside = name == "constant"
        values = np.pad(values, along, name, **({"constant_values": cval} if outside else {}))
        numbers = np.pad(numbers, along, name, **({"constant_values": -1} if outside else {}))
    places = np.full(input.shape, -1)
    for corner in np.argwhere(window).tolist():
        part = tuple(slice(k, k + n) for k, n in zip(corner, input.shape))
        places = np.where((places < 0) & (values[part] == y), numbers[part], places)
    return places


nondifferentiable(chosen)


def given_back(d, places):
    """The sums of a cotangent over the windows that have chosen each element."""
    inside = places.ravel() >= 0
    d = np.asarray(d)
    return np.bincount(places.ravel()[inside], d.ravel()[inside], d.size).reshape(d.shape).astype(d.dtype)


@reverse(given_back)
def of_given_back(y, d, cotangent, places):
    return taken(d, places)


@forward(given_back)
def push_given_back(y, d, cotangent, places):
    return given_back(d, places)


def taken(d, places):
    """The elements that the windows have chosen."""
    return np.where(places < 0, 0, np.ravel(d)[places])


def checked_places(y, input, size, footprint, output, mode, cval, origin, axes):
    """The same for arguments of ``scipy.ndimage``."""
    if output is not None or not are_ascending(axes, footprint, input.ndim):
        raise NoRule("filters that choose elements are differentiable without output, by size for ascending axes")
    window = windows(size, footprint, axes, input.ndim)
    origins = images.moved_windows(window.shape, images.spread(origin, axes, input.ndim, 0))
    return chosen(input, y, window, images.spread(mode, axes, input.ndim, "constant"), origins, cval)


@static
def are_ascending(axes, footprint, ndim):
    """True for axes in their order, in which SciPy's filters agree on what the sizes belong to."""
    if axes is None:
        return True
    given = [k % ndim for k in images.each(axes, 1)]
    return footprint is None and given == sorted(given)


@static
def windows(size, footprint, axes, ndim):
    """True at the elements of a window."""
    if footprint is not None:
        return np.asarray(footprint, bool)
    return np.ones(images.spread(size, axes, ndim, 1), bool)


@reverse(ndimage.maximum_filter, ndimage.minimum_filter, ndimage.median_filter)
def extreme(y, d, input, size=None, footprint=None, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None):
    return given_back(d, checked_places(y, input, size, footprint, output, mode, cval, origin, axes))


@forward(ndimage.maximum_filter, ndimage.minimum_filter, ndimage.median_filter)
def push_extreme(y, d, input, size=None, footprint=None, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None):
    return taken(d, checked_places(y, input, size, footprint, output, mode, cval, origin, axes))


@reverse(ndimage.percentile_filter, ndimage.rank_filter)
def ranked(y, d, input, rank, size=None, footprint=None, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None):
    return given_back(d, checked_places(y, input, size, footprint, output, mode, cval, origin, axes))


@forward(ndimage.percentile_filter, ndimage.rank_filter)
def push_ranked(
    y, d, input, rank, size=None, footprint=None, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None
):
    return taken(d, checked_places(y, input, size, footprint, output, mode, cval, origin, axes))


@reverse(signal.medfilt)
def medfilt(y, d, volume, kernel_size=None):
    return given_back(d, odd_places(y, volume, kernel_size))


@forward(signal.medfilt)
def push_medfilt(y, d, volume, kernel_size=None):
    return taken(d, odd_places(y, volume, kernel_size))


def odd_places(y, volume, kernel_size):
    """The places of medians in windows around elements."""
    size = 3 if kernel_size is None else kernel_size
    return checked_places(y, volume, size, None, None, "constant", 0.0, 0, None)
