"""Rules for products that sum: matrix, inner, outer and tensor products.

All are bilinear (or multilinear), so a tangent takes the place of its operand, and an adjoint is the product of the
cotangent with the other operand along the axes that it shares with the result.  No operand is conjugated, but where the
function itself conjugates (``vdot``, ``vecdot``, ``vecmat``).
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from ..errors import NoRule
from ..runtime import gather_adjoint, products
from .shape import upto
from .table import broadcasting, forward, reverse, static

broadcasting(np.matmul, np.linalg.matmul, operator.matmul, np.cross, np.linalg.cross, products.cross, np.einsum)

# Matrix products


@reverse(np.matmul, np.linalg.matmul)
def matmul(y, d, x1, x2):
    return product_adjoints(d, x1, x2)


@forward(np.matmul, np.linalg.matmul)
def push_matmul(y, d, x1, x2):
    return d @ x2, x1 @ d


@reverse(operator.matmul)
def matmul_operator(y, d, a, b):
    return product_adjoints(d, a, b)


@forward(operator.matmul)
def push_matmul_operator(y, d, a, b):
    return d @ b, a @ d


@reverse(np.dot, np.ndarray.dot)
def dot(y, d, a, b):
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return np.sum(d * b) if np.ndim(a) == 0 else d * b, np.sum(d * a) if np.ndim(b) == 0 else d * a
    if a.ndim <= 2 and b.ndim <= 2:
        return product_adjoints(d, a, b)
    return tensor_adjoints(d, a, b, -1, max(b.ndim - 2, 0))


@forward(np.dot, np.ndarray.dot)
def push_dot(y, d, a, b):
    return np.dot(d, b), np.dot(a, d)


def product_adjoints(d, a, b):
    """The adjoints of ``a @ b``; those of a stack of products may be stacks still, which the engine sums."""
    if a.ndim == 1 and b.ndim == 1:
        return d * b, d * a
    if a.ndim == 1:
        return (b @ d, np.outer(a, d)) if b.ndim == 2 else ((b @ d[..., None])[..., 0], a[:, None] * d[..., None, :])
    if b.ndim == 1:
        return (np.outer(d, b), a.T @ d) if a.ndim == 2 else (d[..., None] * b, np.tensordot(d, a, a.ndim - 1))
    if b.ndim == 2:
        return d @ b.T, a.T @ d if a.ndim == 2 else np.tensordot(a, d, (leading(a.ndim), leading(a.ndim)))
    return d @ transposed(b), transposed(a) @ d


def transposed(a):
    """The matrix, or each of a stack of matrices, transposed."""
    return a.T if a.ndim == 2 else np.swapaxes(a, -1, -2)


@static
def leading(ndim: int) -> tuple[int, ...]:
    """All axes but the last."""
    return tuple(range(ndim - 1))


# Inner and outer products


@reverse(np.inner)
def inner(y, d, a, b):
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return np.sum(d * b) if np.ndim(a) == 0 else d * b, np.sum(d * a) if np.ndim(b) == 0 else d * a
    if a.ndim == 1 and b.ndim == 1:
        return d * b, d * a
    return tensor_adjoints(d, a, b, -1, -1)


@forward(np.inner)
def push_inner(y, d, a, b):
    return np.inner(d, b), np.inner(a, d)


@reverse(np.vdot)
def vdot(y, d, a, b):
    if np.iscomplexobj(a):
        return np.reshape(np.conj(d * np.ravel(b)), np.shape(a)), d * np.conj(a)
    return np.reshape(d * np.ravel(b), np.shape(a)), np.reshape(d * np.ravel(a), np.shape(b))


@forward(np.vdot)
def push_vdot(y, d, a, b):
    return np.vdot(d, b), np.vdot(a, d)


@reverse(np.outer)
def outer(y, d, a, b):
    return outer_adjoints(d, a, b)


@forward(np.outer)
def push_outer(y, d, a, b):
    return np.outer(d, b), np.outer(a, d)


@reverse(np.linalg.outer)
def linalg_outer(y, d, x1, x2):
    return outer_adjoints(d, x1, x2)


@forward(np.linalg.outer)
def push_linalg_outer(y, d, x1, x2):
    return np.outer(d, x2), np.outer(x1, d)


def outer_adjoints(d, a, b):
    if np.ndim(a) == 1 and np.ndim(b) == 1:
        return d @ b, a @ d
    return np.reshape(d @ np.ravel(b), np.shape(a)), np.reshape(np.ravel(a) @ d, np.shape(b))


# Products along the last axis of each operand, for stacks of them

if hasattr(np, "vecdot"):
    broadcasting(np.vecdot, np.linalg.vecdot)

    @reverse(np.vecdot)
    def vecdot(y, d, x1, x2, *, axis=-1):
        check_vecdot(np.ndim(x1), np.ndim(x2), axis)
        return vecdot_adjoints(d if np.ndim(y) == 0 else np.expand_dims(d, axis), x1, x2)

    @forward(np.vecdot)
    def push_vecdot(y, d, x1, x2, *, axis=-1):
        check_vecdot(np.ndim(x1), np.ndim(x2), axis)
        return np.vecdot(d, x2, axis=axis), np.vecdot(x1, d, axis=axis)  # type: ignore[call-overload]

    @reverse(np.linalg.vecdot)
    def linalg_vecdot(y, d, x1, x2, *, axis=-1):
        check_vecdot(x1.ndim, x2.ndim, axis)
        return vecdot_adjoints(np.expand_dims(d, axis), x1, x2)

    @forward(np.linalg.vecdot)
    def push_linalg_vecdot(y, d, x1, x2, *, axis=-1):
        check_vecdot(x1.ndim, x2.ndim, axis)
        return np.sum(conjugated(d, x1) * x2, axis), np.sum(conjugated(x1, x1) * d, axis)


if hasattr(np, "matvec"):
    broadcasting(np.matvec, np.vecmat)

    @reverse(np.matvec)
    def matvec(y, d, x1, x2):
        return d[..., None] * x2[..., None, :], (transposed(x1) @ d[..., None])[..., 0]

    @forward(np.matvec)
    def push_matvec(y, d, x1, x2):
        return np.matvec(d, x2), np.matvec(x1, d)

    @reverse(np.vecmat)
    def vecmat(y, d, x1, x2):
        return conjugated((x2 @ d[..., None])[..., 0], x1), conjugated(x1, x1)[..., None] * d[..., None, :]

    @forward(np.vecmat)
    def push_vecmat(y, d, x1, x2):
        return np.vecmat(d, x2), np.vecmat(x1, d)


def check_vecdot(ndim1, ndim2, axis):
    """Refuse an axis that is another one of each operand."""
    if axis >= 0 and ndim1 != ndim2:
        raise NoRule("np.vecdot of operands with different numbers of axes: count its axis from the last, axis=-1")


def vecdot_adjoints(d, a, b):
    return conjugated(d * b, a), d * conjugated(a, a)


def conjugated(value, operand):
    """`value` conjugated if the conjugated operand is complex."""
    return np.conj(value) if np.iscomplexobj(operand) else value


# Tensor products


@reverse(np.tensordot)
def tensordot(y, d, a, b, axes=2):
    axes_a, axes_b = paired_axes(axes)
    return tensor_adjoints(d, a, b, axes_a, axes_b)


@static
def paired_axes(axes: Any) -> tuple[Any, Any]:
    """``tensordot``'s axes for each operand: a number means the last ones of `a` and the first ones of `b`."""
    return (tuple(range(-axes, 0)), tuple(range(axes))) if isinstance(axes, int) else (axes[0], axes[1])


@forward(np.tensordot)
def push_tensordot(y, d, a, b, axes=2):
    return np.tensordot(d, b, axes), np.tensordot(a, d, axes)


@reverse(np.linalg.tensordot)
def linalg_tensordot(y, d, x1, x2, *, axes=2):
    return tensordot(y, d, x1, x2, axes)


@forward(np.linalg.tensordot)
def push_linalg_tensordot(y, d, x1, x2, *, axes=2):
    return np.tensordot(d, x2, axes), np.tensordot(x1, d, axes)


def tensor_adjoints(d, a, b, axes_a, axes_b):
    """The adjoints of the product of `a` and `b` summed over `axes_a` of one and `axes_b` of the other.

    The product has the free axes of `a`, then those of `b`.  Its product with one operand, summed over the axes free in
    that, has the axes of the other in the wrong order.
    """
    free_a, free_b = free_axes(axes_a, np.ndim(a)), free_axes(axes_b, np.ndim(b))
    d_a = np.tensordot(d, b, (upto(d.ndim)[len(free_a) :], free_b))
    d_b = np.tensordot(d, a, (upto(len(free_a)), free_a))
    order_a = axes_back(axes_a, axes_b, np.ndim(a), np.ndim(b))
    order_b = axes_back(axes_b, axes_a, np.ndim(b), np.ndim(a))
    return reordered(d_a, order_a), reordered(d_b, order_b)


def reordered(a, order):
    """`a` with its axes in `order`."""
    return a if order == upto(a.ndim) else np.transpose(a, order)


@static
def summed_axes(axes: Any, ndim: int) -> tuple[int, ...]:
    """An axis or a sequence of axes as a tuple of them, counted from the front."""
    return tuple(axis % ndim for axis in ((axes,) if np.ndim(axes) == 0 else axes))


@static
def free_axes(axes: Any, ndim: int) -> tuple[int, ...]:
    """The axes that are not summed over."""
    return tuple(axis for axis in range(ndim) if axis not in summed_axes(axes, ndim))


@static
def axes_back(axes: Any, other: Any, ndim: int, other_ndim: int) -> tuple[int, ...]:
    """The places of an operand's axes in its adjoint: the free ones, then the summed ones by the other operand."""
    summed, partners = summed_axes(axes, ndim), summed_axes(other, other_ndim)
    in_adjoint = free_axes(axes, ndim) + tuple(axis for _, axis in sorted(zip(partners, summed, strict=True)))
    return tuple(in_adjoint.index(axis) for axis in range(ndim))


@reverse(np.kron)
def kron(y, d, a, b):
    subscripts_a, subscripts_b = kron_subscripts(y.ndim)
    wide_a, wide_b = with_ndim(a, y.ndim), with_ndim(b, y.ndim)
    blocks = np.reshape(d, interleaved(wide_a.shape, wide_b.shape))
    d_a, d_b = np.einsum(subscripts_a, blocks, wide_b), np.einsum(subscripts_b, blocks, wide_a)
    return np.reshape(d_a, np.shape(a)), np.reshape(d_b, np.shape(b))


@forward(np.kron)
def push_kron(y, d, a, b):
    return np.kron(d, b), np.kron(a, d)


def with_ndim(a, ndim):
    """`a` with axes of length 1 in front, up to `ndim` axes."""
    return a if np.ndim(a) == ndim else np.reshape(a, (1,) * (ndim - np.ndim(a)) + np.shape(a))


def interleaved(first, second):
    """The sizes of `first` and `second` taken in turn."""
    return tuple([n for pair in zip(first, second) for n in pair])


@static
def kron_subscripts(ndim: int) -> tuple[str, str]:
    """The subscripts of the adjoints of a Kronecker product: its axes are pairs of an axis of `a` and one of `b`."""
    a, b = "abcdefghijkl"[:ndim], "nopqrstuvwxyz"[:ndim]
    both = "".join(x + z for x, z in zip(a, b, strict=True))
    return f"{both},{b}->{a}", f"{both},{a}->{b}"


@reverse(np.cross, products.cross)
def cross(y, d, a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    if axis is not None:
        return cross_adjoints(y, d, a, b, axis, axis, axis)
    return cross_adjoints(y, d, a, b, axisa, axisb, axisc)


@forward(np.cross, products.cross)
def push_cross(y, d, a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    return np.cross(d, b, axisa, axisb, axisc, axis), np.cross(a, d, axisa, axisb, axisc, axis)


@reverse(np.linalg.cross)
def linalg_cross(y, d, x1, x2, *, axis=-1):
    return cross_adjoints(y, d, x1, x2, axis, axis, axis)


@forward(np.linalg.cross)
def push_linalg_cross(y, d, x1, x2, *, axis=-1):
    return np.cross(d, x2, axis=axis), np.cross(x1, d, axis=axis)


def cross_adjoints(y, d, a, b, axis_a, axis_b, axis_y):
    """``b x d`` and ``d x a``; axes count from the back, as the engine fits shapes from the back."""
    if y.ndim < max(np.ndim(a), np.ndim(b)):
        raise NoRule("np.cross of vectors of 2 components: write a[0] * b[1] - a[1] * b[0]")
    if axis_a == axis_b == axis_y == -1:
        return products.cross(b, d), products.cross(d, a)
    back_a, back_b = axis_from_back(axis_a, np.ndim(a)), axis_from_back(axis_b, np.ndim(b))
    return products.cross(b, d, axis_b, axis_y, back_a), products.cross(d, a, axis_y, axis_a, back_b)


@static
def axis_from_back(axis: int, ndim: int) -> int:
    """`axis` as a negative number."""
    return axis % ndim - ndim


# Products of many operands


@reverse(np.einsum)
def einsum(y, d, *operands, optimize=False):
    check_subscripts(operands[0])
    if "..." in operands[0]:
        subscripts = spelled_out(operands[0], tuple([np.ndim(x) for x in operands[1:]]))
    else:
        subscripts = spelled_out(operands[0], ())
    return (None, *[einsum_adjoint(d, subscripts, k, operands[1:], optimize) for k in upto(len(operands) - 1)])


@forward(np.einsum)
def push_einsum(y, d, *operands, optimize=False):
    check_subscripts(operands[0])
    return (
        None,
        *[np.einsum(*operands[: k + 1], d, *operands[k + 2 :], optimize=optimize) for k in upto(len(operands) - 1)],
    )


def check_subscripts(first):
    if not isinstance(first, str):
        raise NoRule("np.einsum with lists of axes: write the subscripts as a string")


def einsum_adjoint(d, subscripts, k, operands, optimize):
    """The adjoint of the operand at `k`: the product of `d` and the other operands."""
    others = (*operands[:k], *operands[k + 1 :])
    adjoint = adjoint_subscripts(subscripts, k)
    # A path planned for the primal does not fit its adjoints, so one is planned for each.
    found = np.einsum(adjoint, d, *others) if optimize is False else np.einsum(adjoint, d, *others, optimize=True)
    labels = operand_labels(subscripts, k)
    if distinct(labels) != labels:
        return on_diagonals(spread_axes(found, subscripts, k), operands[k], labels)
    return spread_axes(found, subscripts, k)


def spread_axes(found, subscripts, k):
    """`found` with an axis of length 1 for each label of operand `k` that is summed there and occurs nowhere else."""
    missing = missing_axes(subscripts, k)
    return np.expand_dims(found, missing) if len(missing) > 0 else found


def on_diagonals(found, operand, labels):
    """An array like `operand`, with `found` where the indices of axes with the same label are equal."""
    places = np.ix_(*[np.arange(operand.shape[labels.index(label)]) for label in distinct(labels)])
    return gather_adjoint(found, operand, tuple([places[distinct(labels).index(label)] for label in labels]))


@static
def distinct(labels: str) -> str:
    """`labels` without repetitions, in the order of their first occurrence."""
    return "".join(dict.fromkeys(labels))


@static
def spelled_out(subscripts: str, ndims: tuple[int, ...]) -> str:
    """`subscripts` with the output written down and letters in the place of each ellipsis."""
    terms = subscripts.replace(" ", "")
    inputs, arrow, output = terms.partition("->")
    free = [c for c in "zyxwvutsrqponmlkjihgfedcbaZYXWVUTSRQPONMLKJIHGFEDCBA" if c not in terms]
    labels, widest = [], ""
    for k, term in enumerate(inputs.split(",")):
        extra = "".join(free[: ndims[k] - len(term.replace("...", ""))])[::-1] if "..." in term else ""
        labels.append(term.replace("...", extra))
        widest = max(widest, extra if "..." in term else "", key=len)
    if not arrow:
        single = "".join(sorted(c for c in set(inputs) - {",", "."} if inputs.count(c) == 1))
        output = "..." + single
    return ",".join(labels) + "->" + output.replace("...", widest)


@static
def operand_labels(subscripts: str, k: int) -> str:
    """The labels of operand `k`."""
    return subscripts.partition("->")[0].split(",")[k]


@static
def adjoint_subscripts(subscripts: str, k: int) -> str:
    """The subscripts that give the adjoint of operand `k` from the cotangent and the other operands."""
    inputs, _, output = subscripts.partition("->")
    terms = inputs.split(",")
    others = [output, *terms[:k], *terms[k + 1 :]]
    kept = "".join(label for label in distinct(terms[k]) if any(label in term for term in others))
    return ",".join(others) + "->" + kept


@static
def missing_axes(subscripts: str, k: int) -> tuple[int, ...]:
    """The axes of operand `k`, repeated labels counted once, that the adjoint's subscripts leave out."""
    kept = adjoint_subscripts(subscripts, k).partition("->")[2]
    return tuple(axis for axis, label in enumerate(distinct(operand_labels(subscripts, k))) if label not in kept)


@reverse(np.linalg.multi_dot)
def multi_dot(y, d, arrays):
    if len(arrays) == 2:
        return list(product_adjoints(d, arrays[0], arrays[1]))
    row, column = arrays[0].ndim == 1, arrays[-1].ndim == 1
    matrices = [arrays[0][None, :] if row else arrays[0], *arrays[1:-1], arrays[-1][:, None] if column else arrays[-1]]
    whole = np.reshape(d, (matrices[0].shape[0], matrices[-1].shape[1])) if row or column else d
    parts = [chain_adjoint(whole, matrices, k) for k in range(len(matrices))]
    return [np.reshape(part, np.shape(a)) if part.ndim != np.ndim(a) else part for part, a in zip(parts, arrays)]


@forward(np.linalg.multi_dot)
def push_multi_dot(y, d, arrays):
    return sum([np.linalg.multi_dot([*arrays[:k], d[k], *arrays[k + 1 :]]) for k in range(len(arrays))])


def chain_adjoint(d, matrices, k):
    """The transposed product before the `k`-th matrix, the cotangent, and the transposed product behind it."""
    before = [matrices[j].T for j in range(k - 1, -1, -1)]
    behind = [matrices[j].T for j in range(len(matrices) - 1, k, -1)]
    return np.linalg.multi_dot([*before, d, *behind])


@reverse(np.linalg.matrix_power)
def matrix_power(y, d, a, n):
    if n < 0:
        inverse = np.linalg.inv(a)
        back = transposed(inverse)
        return -(back @ power_adjoint(d, inverse, -n) @ back)
    return power_adjoint(d, a, n)


@forward(np.linalg.matrix_power)
def push_matrix_power(y, d, a, n):
    if n < 0:
        inverse = np.linalg.inv(a)
        return power_tangent(-(inverse @ d @ inverse), inverse, -n)
    return power_tangent(d, a, n)


def power_adjoint(d, a, n):
    return power_tangent(d, transposed(a), n)


def power_tangent(d, a, n):
    """The derivative of the `n`-th power of `a` along `d`: `d` in the place of each factor in turn."""
    power = np.linalg.matrix_power
    return sum([power(a, k) @ d @ power(a, n - 1 - k) for k in range(n)]) if n > 0 else np.zeros_like(a)
