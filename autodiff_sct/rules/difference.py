"""Differences of neighbours, with scalar or sampled spacing; padding, inserting and deleting.

Where each element went is found by doing the same to the elements' positions.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from ..errors import NoRule
from ..runtime import gather_adjoint, unpad
from ..runtime.scan import diff_adjoint, stencil_adjoint
from .shape import along, section
from .table import broadcasting, forward, linear, reverse, static

broadcasting(np.diff, np.insert, np.pad)


@reverse(np.diff)
def diff(y, d, a, n=1, axis=-1, prepend=np._NoValue, append=np._NoValue):
    d = diff_adjoint(d, n, axis)
    if prepend is np._NoValue and append is np._NoValue:
        return d
    start = width(prepend, axis)
    stop = start + a.shape[axis]
    return section(d, start, stop, axis), None, None, section(d, 0, start, axis), section(d, stop, None, axis)


@linear(diff_adjoint)
def differences(y, d, cotangent, n=1, axis=-1):
    return np.diff(d, n, axis)


@forward(np.diff)
def push_diff(y, d, a, n=1, axis=-1, prepend=np._NoValue, append=np._NoValue):
    before = prepend if prepend is np._NoValue else np.zeros_like(prepend)
    after = append if append is np._NoValue else np.zeros_like(append)
    return (
        np.diff(d, n, axis, before, after),
        None,
        None,
        np.diff(np.zeros_like(a), n, axis, d, after),
        np.diff(np.zeros_like(a), n, axis, before, d),
    )


def width(added, axis):
    """The number of elements that `np.diff` puts before or after the array: a number counts as one."""
    if added is np._NoValue:
        return 0
    return 1 if np.ndim(added) == 0 else np.shape(added)[axis]


@linear(np.ediff1d)
def ediff1d(y, d, ary):
    return np.reshape(diff_adjoint(d), np.shape(ary))


@static
def around(ndim: int, axis: int, before: int, after: int) -> tuple[tuple[int, int], ...]:
    """The widths for ``np.pad`` that pad one axis only."""
    return tuple((before, after) if k == axis % ndim else (0, 0) for k in range(ndim))


@reverse(np.unwrap)
@forward(np.unwrap)
def unwrap(y, d, p, discont=None, axis=-1, *, period=2 * np.pi):
    return d


@reverse(np.gradient)
def gradient(y, d, f, *varargs, axis=None, edge_order=1):
    check_spacing(varargs)
    axes = gradient_axes(f.ndim, axis)
    ys, ds = (y, d) if len(axes) > 1 else ((y,), (d,))
    d_f = added([pull_samples(ds[k], spacing(varargs, k), axes[k], edge_order) for k in range(len(axes))])
    if len(varargs) == 0:
        return d_f
    if len(varargs) == 1:
        h = varargs[0]
        return d_f, added([pull_spacing(ds[k], ys[k], f, h, axes[k], edge_order) for k in range(len(axes))])
    return (d_f, *[pull_spacing(ds[k], ys[k], f, varargs[k], axes[k], edge_order) for k in range(len(axes))])


def check_spacing(varargs):
    for k in range(len(varargs)):
        if np.iscomplexobj(varargs[k]):
            raise NoRule("np.gradient is differentiable with real numbers for a spacing")


def pull_samples(d, h, axis, edge_order):
    return None if d is None else stencil_adjoint(d, h, axis, edge_order)


def pull_spacing(d, y, f, h, axis, edge_order):
    return None if d is None else spacing_adjoint(d, y, f, h, axis, edge_order)


@forward(np.gradient)
def push_gradient(y, d, f, *varargs, axis=None, edge_order=1):
    check_spacing(varargs)
    return (
        np.gradient(d, *varargs, axis=axis, edge_order=edge_order),
        *[push_spacing(d, y, f, varargs, k, gradient_axes(f.ndim, axis), edge_order) for k in range(len(varargs))],
    )


def push_spacing(d, y, f, varargs, k, axes, edge_order):
    """The contribution of the tangent `d` of the `k`-th spacing to the gradients along all axes."""
    if len(axes) == 1:
        return spacing_tangent(d, y, f, varargs[k], axes[0], edge_order)
    return tuple(
        spacing_tangent(d, y[j], f, varargs[k], axes[j], edge_order)
        if len(varargs) == 1 or j == k
        else np.zeros_like(f)
        for j in range(len(axes))
    )


@static
def gradient_axes(ndim: int, axis: int | tuple[int, ...] | None) -> tuple[int, ...]:
    """The axes along which ``np.gradient`` differentiates."""
    if axis is None:
        return tuple(range(ndim))
    return axis if isinstance(axis, tuple) else (axis,)


def spacing(varargs, k):
    """The spacing along the `k`-th axis; one given for all axes, or none, is a number."""
    if len(varargs) == 0:
        return 1.0
    return varargs[0] if len(varargs) == 1 else varargs[k]


def added(parts):
    """The sum of the parts that are not None."""
    total = None
    for part in parts:
        if part is not None:
            total = part if total is None else total + part
    return total


def on_axis(x, ndim, axis):
    """Sample points along `axis` of an array with `ndim` axes."""
    return np.expand_dims(x, all_but(ndim, axis)) if ndim > 1 else x


@static
def all_but(ndim: int, axis: int) -> tuple[int, ...]:
    return tuple(k for k in range(ndim) if k != axis % ndim)


def curvature(f, x, axis, edge_order):
    """The second derivative of the parabola through three neighbours, whose slope ``np.gradient`` returns.

    `x` is aligned with `f`.  At the ends it is the neighbour's, or 0 where a line is drawn instead of a parabola.
    """
    slopes = np.diff(f, 1, axis) / np.diff(x, 1, axis)
    inside = 2 * np.diff(slopes, 1, axis) / (section(x, 2, None, axis) - section(x, 0, -2, axis))
    return np.pad(inside, around(f.ndim, axis, 1, 1), "edge" if edge_order == 2 else "constant")


def curvature_adjoint(d, x, axis, edge_order):
    """The transpose of `curvature` in `f`."""
    inside = section(d, 1, -1, axis)
    if edge_order == 2:
        first = np.concatenate([section(d, 0, 1, axis), np.zeros_like(section(d, 2, -1, axis))], axis)
        last = np.concatenate([np.zeros_like(section(d, 1, -2, axis)), section(d, -1, None, axis)], axis)
        inside = inside + first + last
    weights = 2 * inside / (section(x, 2, None, axis) - section(x, 0, -2, axis))
    return diff_adjoint(diff_adjoint(weights, 1, axis) / np.diff(x, 1, axis), 1, axis)


def spacing_adjoint(d, y, f, h, axis, edge_order):
    if np.ndim(h) == 0:
        return -np.sum(d * y) / h
    # With L_j the parabola that is 1 at x_j and 0 at the neighbours, and p the one through the samples around x_k:
    # moving x_j alone changes p'(x_k) by -p'(x_j) L_j'(x_k), and moving x_k also by p''(x_k).
    x = on_axis(h, f.ndim, axis)
    bend = d * curvature(f, x, axis, edge_order)
    drag = stencil_adjoint(d * y - bend * x, h, axis, edge_order) + x * stencil_adjoint(bend, h, axis, edge_order)
    return np.sum(bend - drag, all_but(f.ndim, axis))


def spacing_tangent(d, y, f, h, axis, edge_order):
    if np.ndim(h) == 0:
        return -d * y / h
    t = np.zeros_like(f) + on_axis(d, f.ndim, axis)
    bend = curvature(f, on_axis(h, f.ndim, axis), axis, edge_order) * pull_of_points(t, h, axis, edge_order)
    return bend - y * np.gradient(t, h, axis=axis, edge_order=edge_order)


def pull_of_points(t, h, axis, edge_order):
    """The part of a change `t` of the sample points that bends the gradient: the factor of the curvature."""
    x = on_axis(h, t.ndim, axis)
    slope = np.gradient(t, h, axis=axis, edge_order=edge_order)
    return t + x * slope - np.gradient(x * t, h, axis=axis, edge_order=edge_order)


@reverse(stencil_adjoint)
def stencil(y, d, cotangent, h, axis, edge_order=1):
    forth = np.gradient(d, h, axis=axis, edge_order=edge_order)
    return forth, spacing_adjoint(cotangent, forth, d, h, axis, edge_order)


@forward(stencil_adjoint)
def push_stencil(y, d, cotangent, h, axis, edge_order=1):
    return stencil_adjoint(d, h, axis, edge_order), push_stencil_spacing(d, y, cotangent, h, axis, edge_order)


def push_stencil_spacing(d, y, cotangent, h, axis, edge_order):
    if np.ndim(h) == 0:
        return -d * y / h
    # The transpose of `spacing_tangent` in its samples.
    t = np.zeros_like(cotangent) + on_axis(d, cotangent.ndim, axis)
    bend = cotangent * pull_of_points(t, h, axis, edge_order)
    slope = np.gradient(t, h, axis=axis, edge_order=edge_order)
    bent = curvature_adjoint(bend, on_axis(h, t.ndim, axis), axis, edge_order)
    return bent - stencil_adjoint(cotangent * slope, h, axis, edge_order)


@reverse(np.pad)
def pad(y, d, array, pad_width, mode="constant", *, constant_values=0):
    if mode in ("constant", "empty"):
        inner = d[core(pad_width, d.ndim)]
        return inner, None, None, outside(d, inner, pad_width, constant_values)
    if mode not in ("edge", "reflect", "symmetric", "wrap"):
        raise NoRule("np.pad is differentiable in the modes constant, edge, reflect, symmetric and wrap")
    return unpad(d, pad_width, mode)


@linear(unpad)
def unpad_rule(y, d, cotangent, pad_width, mode):
    return np.pad(d, pad_width, mode)


@forward(np.pad)
def push_pad(y, d, array, pad_width, mode="constant", *, constant_values=0):
    return np.pad(d, pad_width, mode), None, None, np.pad(np.zeros_like(array), pad_width, constant_values=d)


def outside(d, inner, pad_width, constant_values):
    """The cotangent of the number that the padding is filled with, or of those of each axis and side."""
    if np.ndim(constant_values) == 0:
        return np.sum(d) - np.sum(inner)
    sums = [np.sum(d[padding(pad_width, d.ndim, k)]) for k in range(2 * d.ndim)]
    return np.reshape(np.stack(sums), (d.ndim, 2))


@static
def pad_widths(pad_width: Any, ndim: int) -> tuple[tuple[int, int], ...]:
    """``pad_width`` as a pair for each axis."""
    pairs = np.broadcast_to(pad_width, (ndim, 2)).tolist()
    return tuple((before, after) for before, after in pairs)


@static
def core(pad_width: Any, ndim: int) -> tuple[slice, ...]:
    """The index of the part of a padded array that is not padding."""
    return tuple(slice(before, -after or None) for before, after in pad_widths(pad_width, ndim))


@static
def padding(pad_width: Any, ndim: int, number: int) -> tuple[slice, ...]:
    """The index of the padding before or after an axis: corners are of the last of their axes."""
    axis, after = divmod(number, 2)
    before_it, after_it = pad_widths(pad_width, ndim)[axis]
    side = slice(-after_it if after_it else sys.maxsize, None) if after else slice(before_it)
    return (*[slice(None)] * axis, side, *core(pad_width, ndim)[axis + 1 :])


@linear(np.delete)
def delete(y, d, arr, obj, axis=None):
    if axis is None:
        return np.reshape(put_back(d, np.ravel(arr), obj, 0), np.shape(arr))
    return put_back(d, arr, obj, axis)


def put_back(d, a, obj, axis):
    """`d` at the places along `axis` that ``np.delete(a, obj)`` keeps, zero at the others."""
    kept = np.delete(np.arange(a.shape[axis]), obj)
    return gather_adjoint(d, a, along(kept, axis, a.ndim))


@reverse(np.insert)
def insert(y, d, arr, obj, values, axis=None):
    if axis is None:
        kept, placed = insertion_places(obj, np.size(arr), y.size)
        return np.reshape(d[kept], np.shape(arr)), None, d[placed]
    kept, placed = insertion_places(obj, arr.shape[axis], y.shape[axis])
    new = np.take(d, placed, axis)
    # For one integer place, NumPy takes the rows of `values` to be what goes in one after the other.
    return (
        np.take(d, kept, axis),
        None,
        np.moveaxis(new, axis, 0) if np.ndim(obj) == 0 and not isinstance(obj, slice) else new,
    )


def insertion_places(obj, old, new):
    """The places of the `old` elements and of the inserted ones among the `new`."""
    order = np.argsort(np.insert(np.arange(old), obj, np.arange(old - new, 0)))
    return order[new - old :], order[: new - old]


@forward(np.insert)
def push_insert(y, d, arr, obj, values, axis=None):
    return np.insert(d, obj, np.zeros_like(values), axis), None, np.insert(np.zeros_like(arr), obj, d, axis)
