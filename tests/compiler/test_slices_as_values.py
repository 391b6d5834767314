"""Slices that lists, dicts and branches hold, and lists of them made into indices."""

import numpy as np
import pytest

import autodiff_sct as ad
from tests.compiler.checked import check_gradient, check_tangent

A = np.arange(1.0, 13.0).reshape(3, 4) / 7


def along(a, axis=1):
    low, high = [slice(None)] * a.ndim, [slice(None)] * a.ndim
    low[axis], high[axis] = slice(None, -1), slice(1, None)
    return ((a[tuple(high)] - a[tuple(low)]) ** 2).sum()


def reversed_along(a, axis=0):
    index = [slice(None) for _ in range(a.ndim)]
    index[axis] = slice(None, None, -1)
    return (a[tuple(index)] * a).sum()


def one_by_one(a, axis=1):
    index, total = [slice(None)] * a.ndim, 0.0
    for k in range(a.shape[axis]):
        index[axis] = k
        total = total + (a[tuple(index)] ** (k + 1)).sum()
    return total


def blocks_in_a_list(a):
    blocks = []
    for k in range(0, a.shape[1], 2):
        blocks.append(slice(k, k + 2))
    total = 0.0
    for k, block in enumerate(blocks):
        total += (a[:, block] ** (k + 2)).sum()
    return total


def blocks_that_are_written(a):
    y = a * 1.0
    for block in [slice(k, k + 2) for k in range(0, a.shape[1], 2)]:
        y[:, block] *= a[:, block]
    return (y * a).sum()


def views_by_slices(a):
    y = a * 1.0
    blocks = [slice(k, k + 2) for k in range(0, a.shape[1], 2)]
    for block in blocks:
        view = y[:, block]
        view *= view[0, 0]
    return (y * a).sum()


def overlapping(a):
    y, parts = a * 1.0, [slice(0, 2)]
    while len(parts) < 3:
        parts.append(slice(parts[-1].start + 1, parts[-1].stop + 1))
    for part in parts:
        y[:, part] += y[0, part] ** 2
    return (y * a).sum()


def pairs_of_slices(a):
    parts, total = [], 0.0
    for k in range(a.shape[0]):
        parts.append((slice(None, None, -1), slice(k, None)))
    for rows, columns in parts:
        total += (a[rows, columns] * a[:, columns]).sum()
    return total


def chosen_by_a_branch(a):
    part = slice(0, 1) if a[0, 0] > 5 else slice(1, None)
    y = a * 1.0
    y[part] *= 2
    view = y[part]
    view[0] = view[1] * a[0]
    return (y * a).sum()


def in_a_dict(a):
    rows, y = {}, a * 1.0
    for k in range(3):
        rows[k] = slice(k, k + 1)
    for k in rows:
        y[rows[k]] *= k + 1
    return (y * a).sum()


def cut_shape(a, axis=-1):
    axis = axis % a.ndim
    shape = a.shape[:axis] + (1,) + a.shape[axis + 1 :]
    return (a / np.sqrt((a * a).sum(axis=axis)).reshape(shape)).sum() * a[0, 0]


@pytest.mark.parametrize(
    "fn",
    [
        along,
        reversed_along,
        one_by_one,
        blocks_in_a_list,
        blocks_that_are_written,
        views_by_slices,
        overlapping,
        pairs_of_slices,
        chosen_by_a_branch,
        in_a_dict,
        cut_shape,
    ],
)
def test_slices_as_values(fn):
    check_gradient(fn, (A,))
    check_tangent(fn, (A,))


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_other_axes_by_one_function(axis):
    gradient = ad.grad(along)
    gradient(A)
    expected = np.zeros_like(A)
    steps = 2 * np.diff(A, axis=axis)
    rows, columns = (slice(1, None), slice(None)) if axis == 0 else (slice(None), slice(1, None))
    expected[rows, columns] += steps
    rows, columns = (slice(-1), slice(None)) if axis == 0 else (slice(None), slice(-1))
    expected[rows, columns] -= steps
    np.testing.assert_allclose(gradient(A, axis), expected, rtol=1e-13)


def test_emitted_blocks_are_slices():
    text = ad.adjoint_source(blocks_that_are_written, A)
    assert "add_at" not in text and "d_a[:, block] +=" in text
