"""Filters that choose one element of each window of an image: its derivative is that of the element.

Where several are equal the first of them has the derivative.
"""

import itertools

import numpy as np
from scipy import ndimage, signal

from ...errors import NoRule
from ..table import forward, nondifferentiable, reverse
from .images import MODES


def chosen(input, y, sizes, mode, origin=0):
    """The place in `input` of the element that `y` has from each window; -1 where it lies outside."""
    input = np.asarray(input)
    if input.ndim == 0:
        return np.where(input == y, 0, -1)
    sizes = np.broadcast_to(sizes, input.ndim)
    before = sizes // 2 + np.broadcast_to(origin, input.ndim)
    widths = [(b, n - 1 - b) for b, n in zip(before.tolist(), sizes.tolist())]
    numbers = np.arange(input.size).reshape(input.shape)
    outside = {"constant_values": -1} if MODES[mode] == "constant" else {}
    values, numbers = np.pad(input, widths, MODES[mode]), np.pad(numbers, widths, MODES[mode], **outside)
    places = np.full(input.shape, -1)
    for corner in itertools.product(*(range(n) for n in sizes.tolist())):
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
    if footprint is not None or output is not None or axes is not None or cval != 0:
        raise NoRule("filters that choose elements are differentiable by size, mode and origin")
    return chosen(input, y, size, mode, origin)


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
def medfilt(y, d, volume, kernel_size=3):
    return given_back(d, chosen(volume, y, kernel_size, "constant"))


@forward(signal.medfilt)
def push_medfilt(y, d, volume, kernel_size=3):
    return taken(d, chosen(volume, y, kernel_size, "constant"))
