"""Images of ``scipy.ndimage`` at other places: `map_coordinates` and the transformations that are made of it.

The value at a place is a sum of coefficients, which a filter makes of the image, times B-splines of the distance.  Both
`sampled` and its transpose `scattered` take the derivative of some order of the splines along each axis, so that they
have derivatives of every order with respect to places, too.
"""

import itertools
import math

import numpy as np
from scipy import ndimage, special

from ...errors import NoRule
from ..shape import upto
from ..table import forward, linear, reverse, static
from . import fitted
from .images import each, folded

# B-splines


def basis(x, order, nu):
    """The derivative of order `nu` of the centred B-spline, by the recurrences of de Boor."""
    if nu > 0:
        return basis(x + 0.5, order - 1, nu - 1) - basis(x - 0.5, order - 1, nu - 1) if order > 0 else 0 * x
    if order == 0:
        return ((-0.5 <= x) & (x < 0.5)).astype(float)
    half = (order + 1) / 2
    return ((half + x) * basis(x + 0.5, order - 1, 0) + (half - x) * basis(x - 0.5, order - 1, 0)) / order


def inside(x, n, mode):
    """Places moved inside of `n` elements as a mode says, and how they move with the places that were given."""
    if mode == "wrap":
        period = max(n - 1, 1)
        behind = np.where(x > n - 1, np.mod(x, period), x)
        return np.where(x < 0, period - np.mod(-x, period), behind), np.ones_like(x)
    if mode in ("mirror", "reflect", "grid-mirror"):
        first = 0.0 if mode == "mirror" else -0.5
        period = max(2 * n - 2, 1) if mode == "mirror" else 2 * n
        moved = np.mod(x - first, period)
        return np.where(moved > period / 2, period - moved, moved) + first, np.where(moved > period / 2, -1.0, 1.0)
    return x, np.ones_like(x)


def read(place, n, mode):
    """The coefficients that stand for those beyond the ends of `n`."""
    if mode == "grid-wrap":
        return np.mod(place, n)
    if mode in ("nearest", "grid-constant"):
        return np.clip(place, 0, n - 1)
    return inside(place + 0.0, n, mode if mode in ("reflect", "grid-mirror") else "mirror")[0].astype(int)


def taps(x, n, order, nu, mode):
    """The coefficients that a value depends on along one axis, as pairs of places and weights."""
    moved, slope = inside(x, n, mode)
    start = np.floor(moved + (0.5 if order % 2 == 0 else 0.0)).astype(int) - order // 2
    factor = slope**nu * ((x >= 0) & (x <= n - 1)) if mode == "constant" else slope**nu
    pairs = []
    for k in range(order + 1):
        place, weight = start + k, factor * basis(moved - start - k, order, nu)
        if mode == "grid-constant":
            weight = weight * ((place >= 0) & (place < n))
        pairs.append((read(place, n, mode), weight))
    return pairs


def products(coordinates, shape, nu, order, mode):
    """The places of coefficients and their weights for all axes."""
    if not len(coordinates) == len(shape) == len(nu):
        raise ValueError("places need one number for each axis of the image")
    orders = each(order, len(shape))
    by_axis = [taps(x, n, of_axis, k, mode) for x, n, of_axis, k in zip(coordinates, shape, orders, nu)]
    for chosen in itertools.product(*by_axis):
        yield tuple(place for place, _ in chosen), math.prod([weight for _, weight in chosen])


def sampled(coefficients, coordinates, nu, order, mode):
    """Sums of coefficients times B-splines at `coordinates`."""
    terms = products(coordinates, coefficients.shape, nu, order, mode)
    return sum(coefficients[places] * weights for places, weights in terms)


def scattered(d, coordinates, nu, order, mode, shape):
    """The transpose of that, which is linear in `d`."""
    result = np.zeros(shape)
    for places, weights in products(coordinates, shape, nu, order, mode):
        np.add.at(result, places, d * weights)
    return result


sampled.stands_for = "scipy.ndimage.map_coordinates"  # type: ignore[attr-defined]
scattered.stands_for = "scipy.ndimage.map_coordinates"  # type: ignore[attr-defined]


@reverse(sampled)
def of_sampled(y, d, coefficients, coordinates, nu, order, mode):
    return (
        scattered(d, coordinates, nu, order, mode, coefficients.shape),
        np.stack([d * sampled(coefficients, coordinates, raised(nu, k), order, mode) for k in upto(len(nu))]),
    )


@forward(sampled)
def push_sampled(y, d, coefficients, coordinates, nu, order, mode):
    moved = [d[k] * sampled(coefficients, coordinates, raised(nu, k), order, mode) for k in upto(len(nu))]
    return sampled(d, coordinates, nu, order, mode), sum(moved)


@reverse(scattered)
def of_scattered(y, d, cotangent, coordinates, nu, order, mode, shape):
    return (
        sampled(d, coordinates, nu, order, mode),
        np.stack([cotangent * sampled(d, coordinates, raised(nu, k), order, mode) for k in upto(len(nu))]),
    )


@forward(scattered)
def push_scattered(y, d, cotangent, coordinates, nu, order, mode, shape):
    moved = [scattered(cotangent * d[k], coordinates, raised(nu, k), order, mode, shape) for k in upto(len(nu))]
    return scattered(d, coordinates, nu, order, mode, shape), sum(moved)


@static
def raised(nu, axis):
    """Orders of derivatives, one more along an axis."""
    return tuple(n + (k == axis) for k, n in enumerate(nu))


# The filter that makes coefficients of an image


@linear(ndimage.spline_filter1d)
def spline_filter1d(y, d, input, order=3, axis=-1, output=np.float64, mode="mirror"):
    matrix = ndimage.spline_filter1d(np.eye(d.shape[axis]), order, 0, mode=mode)
    return np.moveaxis(np.tensordot(matrix, d, (0, axis % d.ndim)), 0, axis)


@linear(ndimage.spline_filter)
def spline_filter(y, d, input, order=3, output=np.float64, mode="mirror"):
    for axis in upto(d.ndim):
        d = spline_filter1d(y, d, input, order, axis, mode=mode)
    return d


def coefficients_of(input, order, mode, prefilter, cval):
    """The coefficients of an image, from which `cval` is taken where coefficients beyond the edges are to be 0."""
    if mode == "grid-constant":
        input = input - cval
    if not prefilter:
        return input
    if is_extended(order, mode):
        input = np.pad(input, margins(order, mode, input.ndim), beyond(mode))
    for axis in smooth_axes(order, input.ndim):
        input = ndimage.spline_filter1d(input, degree(order, axis), axis, mode=mode)
    return input


def shape_extended(input, order, mode, prefilter):
    """The shape of these coefficients."""
    if not prefilter or not is_extended(order, mode):
        return np.shape(input)
    widths = margins(order, mode, input.ndim)
    return tuple([n + before + after for n, (before, after) in zip(np.shape(input), widths)])


def image_of(d, order, mode, prefilter):
    """The cotangent of an image from that of its coefficients."""
    if not prefilter:
        return d
    for axis in smooth_axes(order, d.ndim):
        d = spline_filter1d(d, d, d, degree(order, axis), axis, mode=mode)
    return folded(d, margins(order, mode, d.ndim), beyond(mode)) if is_extended(order, mode) else d


def among(coordinates, order, mode, prefilter):
    """Places in an image as places among its coefficients."""
    if not prefilter or not is_extended(order, mode):
        return coordinates
    return coordinates + first_of(margins(order, mode, len(coordinates)), np.ndim(coordinates))


@static
def degree(order, axis):
    """The order of the splines along an axis."""
    return order[axis] if isinstance(order, tuple) else order


@static
def smooth_axes(order, ndim):
    """The axes along which coefficients differ from the image."""
    return tuple(k for k in range(ndim) if degree(order, k) > 1)


@static
def is_extended(order, mode):
    """True where SciPy adds elements at the ends of an image before it filters it."""
    return mode in ("nearest", "grid-constant") and max(order if isinstance(order, tuple) else (order,)) > 1


@static
def margins(order, mode, ndim):
    """The number of added elements along each axis."""
    return tuple((12, 12) if degree(order, k) > 1 else (0, 0) for k in range(ndim))


@static
def beyond(mode):
    """The mode of ``np.pad`` by which they are added."""
    return "edge" if mode == "nearest" else "constant"


@static
def first_of(widths, ndim):
    """The widths before an image, along the first of `ndim` axes."""
    return np.reshape([before for before, _ in widths], (-1, *[1] * (ndim - 1)))


# Images at places


def moved_image(d, input, coordinates, order, mode, prefilter, cval):
    """The cotangents of an image and of the places where its values are taken."""
    coefficients = coefficients_of(input, order, mode, prefilter, cval)
    places = among(coordinates, order, mode, prefilter)
    still = (0,) * input.ndim
    d_coefficients = scattered(d, places, still, order, mode, shape_extended(input, order, mode, prefilter))
    slopes = [d * sampled(coefficients, places, raised(still, k), order, mode) for k in upto(input.ndim)]
    return fitted(image_of(d_coefficients, order, mode, prefilter), d), fitted(np.stack(slopes), d)


def moved_along(y, t, input, coordinates, order, mode, prefilter, cval):
    """The tangent of the values by that of the places."""
    coefficients = coefficients_of(input, order, mode, prefilter, cval)
    places = among(coordinates, order, mode, prefilter)
    still = (0,) * input.ndim
    parts = [t[k] * sampled(coefficients, places, raised(still, k), order, mode) for k in upto(input.ndim)]
    return fitted(sum(parts), y)


@reverse(ndimage.map_coordinates)
def map_coordinates(y, d, input, coordinates, output=None, order=3, mode="constant", cval=0.0, prefilter=True):
    check_image(output, input)
    return moved_image(d, input, coordinates, order, mode, prefilter, cval)


@forward(ndimage.map_coordinates)
def push_map_coordinates(y, d, input, coordinates, output=None, order=3, mode="constant", cval=0.0, prefilter=True):
    check_image(output, input)
    return (
        ndimage.map_coordinates(d, coordinates, order=order, mode=mode, prefilter=prefilter),
        moved_along(y, d, input, coordinates, order, mode, prefilter, cval),
    )


@reverse(ndimage.shift)
def shift(y, d, input, shift, output=None, order=3, mode="constant", cval=0.0, prefilter=True):
    check_image(output, input)
    d_input, d_places = moved_image(d, input, shifted(np.shape(y), shift), order, mode, prefilter, cval)
    by_axis = -np.sum(np.reshape(d_places, (d.ndim, -1)), 1)
    return d_input, by_axis if np.ndim(shift) > 0 else np.sum(by_axis)


@forward(ndimage.shift)
def push_shift(y, d, input, shift, output=None, order=3, mode="constant", cval=0.0, prefilter=True):
    check_image(output, input)
    t = [-each_axis(d, k, input.ndim) for k in upto(input.ndim)]
    return (
        ndimage.shift(like(d, input), shift, order=order, mode=mode, prefilter=prefilter),
        moved_along(y, t, input, shifted(np.shape(y), shift), order, mode, prefilter, cval),
    )


def shifted(shape, shift):
    """The places where a shifted image has its values."""
    offsets = np.reshape(shift, (-1, *[1 for _ in shape]))
    return np.indices(shape) - offsets


def like(d, input):
    """The tangent of an image; those of numbers come here, too."""
    return d if np.ndim(d) == input.ndim else input


def each_axis(d, k, ndim):
    """The tangent of what is one number for each axis, or one for all; that of an image comes here, too."""
    return d[k] if np.shape(d) == (ndim,) else d


@linear(ndimage.zoom)
def zoom(y, d, input, zoom, output=None, order=3, mode="constant", cval=0.0, prefilter=True, *, grid_mode=False):
    check_image(output, input)
    by_axis = [zoomed(n, m, grid_mode) for n, m in zip(np.shape(input), np.shape(y))]
    places = np.stack(np.meshgrid(*by_axis, indexing="ij"))
    return moved_image(d, input, places, order, mode, prefilter, cval)[0]


@forward(ndimage.zoom)
def push_zoom(y, d, input, zoom, output=None, order=3, mode="constant", cval=0.0, prefilter=True, *, grid_mode=False):
    check_image(output, input)
    return ndimage.zoom(d, zoom, order=order, mode=mode, prefilter=prefilter, grid_mode=grid_mode)


@static
def zoomed(n, m, grid_mode):
    """The places of `m` values among `n`."""
    if grid_mode:
        return (np.arange(m) + 0.5) * (n / m) - 0.5
    return np.arange(m) * ((n - 1) / (m - 1) if m > 1 else 1.0)


@reverse(ndimage.affine_transform)
def affine_transform(
    y, d, input, matrix, offset=0.0, output_shape=None, output=None, order=3, mode="constant", cval=0.0, prefilter=True
):
    check_image(output, input)
    grid = np.indices(np.shape(y))
    places = transformed(grid, matrix, offset)
    d_input, d_places = moved_image(d, input, places, order, mode, prefilter, cval)
    axes = tuple(range(1, d.ndim + 1))
    d_offset = np.sum(d_places, axes)
    d_matrix = np.sum(d_places * grid, axes) if matrix.ndim == 1 else np.tensordot(d_places, grid, (axes, axes))
    return d_input, fitted(d_matrix, d), d_offset if np.ndim(offset) > 0 else np.sum(d_offset)


@forward(ndimage.affine_transform)
def push_affine_transform(
    y, d, input, matrix, offset=0.0, output_shape=None, output=None, order=3, mode="constant", cval=0.0, prefilter=True
):
    check_image(output, input)
    grid = np.indices(np.shape(y))
    places = transformed(grid, matrix, offset)
    by_input = ndimage.affine_transform(
        like(d, input), matrix, offset, output_shape, order=order, mode=mode, prefilter=prefilter
    )
    by_matrix = moved_along(y, by_grid(d, grid), input, places, order, mode, prefilter, cval)
    t = [each_axis(d, k, input.ndim) for k in upto(input.ndim)]
    return by_input, by_matrix, moved_along(y, t, input, places, order, mode, prefilter, cval)


def by_grid(d, grid):
    """The tangent of places by that of a matrix; others come here, too."""
    return placed(d, grid) if np.shape(d) in ((grid.ndim - 1, grid.ndim - 1), (grid.ndim - 1,)) else grid


def transformed(grid, matrix, offset):
    """``matrix @ grid + offset``, for a square matrix or its diagonal."""
    if np.shape(matrix) not in ((grid.ndim - 1, grid.ndim - 1), (grid.ndim - 1,)):
        raise NoRule(
            "scipy.ndimage.affine_transform is differentiable for a square matrix of the axes, or its diagonal"
        )
    return placed(matrix, grid) + per_axis(offset, grid)


def placed(matrix, grid):
    return per_axis(matrix, grid) * grid if np.ndim(matrix) == 1 else np.tensordot(matrix, grid, 1)


def per_axis(numbers, grid):
    return np.reshape(numbers, (-1, *[1 for _ in grid.shape[1:]]))


@reverse(ndimage.rotate)
def rotate(
    y, d, input, angle, axes=(1, 0), reshape=True, output=None, order=3, mode="constant", cval=0.0, prefilter=True
):
    check_image(output, input)
    places, slopes = rotated(angle, np.shape(input), np.shape(y), axes)
    orders = order_in(axes, input.ndim, order)
    d_input, d_places = moved_image(d, input, places, orders, mode, prefilter, cval)
    return d_input, np.sum(d_places * slopes.astype(d.dtype))


@forward(ndimage.rotate)
def push_rotate(
    y, d, input, angle, axes=(1, 0), reshape=True, output=None, order=3, mode="constant", cval=0.0, prefilter=True
):
    check_image(output, input)
    places, slopes = rotated(angle, np.shape(input), np.shape(y), axes)
    return (
        ndimage.rotate(like(d, input), angle, axes, reshape, order=order, mode=mode, prefilter=prefilter),
        moved_along(y, d * slopes, input, places, order_in(axes, input.ndim, order), mode, prefilter, cval),
    )


def rotated(angle, before, after, axes):
    """The places where a rotated image has its values, and how they turn."""
    first, second = plane_of(axes, len(before))
    axes_of = upto(len(before))
    grid = np.indices(after)
    c, s = special.cosdg(angle), special.sindg(angle)
    old, new = middle_of(before, first, second), middle_of(after, first, second)
    at_first = old[0] - (c * new[0] + s * new[1]) + c * grid[first] + s * grid[second]
    at_second = old[1] - (c * new[1] - s * new[0]) - s * grid[first] + c * grid[second]
    places = [at_first if k == first else at_second if k == second else grid[k] for k in axes_of]
    slopes = [at_second - old[1] if k == first else old[0] - at_first if k == second else 0 * grid[k] for k in axes_of]
    return np.stack(places), np.stack(slopes) * (np.pi / 180)


@static
def middle_of(shape, first, second):
    """The middle of a plane."""
    return (shape[first] - 1) / 2, (shape[second] - 1) / 2


@static
def plane_of(axes, ndim):
    """The two axes of a plane, in order."""
    first, second = sorted(k % ndim for k in axes)
    if first == second:
        raise NoRule("scipy.ndimage.rotate is differentiable for two different axes")
    return first, second


@static
def order_in(axes, ndim, order):
    """The order of the splines along each axis: planes are filtered, and read, each by itself."""
    return tuple(order if k in plane_of(axes, ndim) else 0 for k in range(ndim))


def check_image(output, input):
    """Refuse what has no derivative here."""
    if output is not None or np.iscomplexobj(input):
        raise NoRule("images of scipy.ndimage are moved differentiably if real, without output")
