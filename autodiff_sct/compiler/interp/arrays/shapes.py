"""Shapes of results by the axes that functions move, where NumPy's run on dummies tells only the rank."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ....runtime.linalg.determinants import cofactors
from ....runtime.products import cross
from ....runtime.scan import diff_adjoint, products_of_others, stencil_adjoint
from ....runtime.scatter import diagonal_adjoint, gather_adjoint
from ....runtime.selection import select, share_out
from ....runtime.sorting import interval_of, put_in_order, stable_order
from ...domain.facts import Axis, Dim, Listed, Num, broadcast, several
from ...domain.values import Const, Leaf, ListV, TupleV, Value
from ..kernel.slice_lengths import display_length, lengthened, note_length

if TYPE_CHECKING:
    from ..kernel.specialiser import Specialiser

Dims = tuple[Axis, ...] | None
DIMS: dict[Any, Callable[[Any, list[Value], dict[str, Value]], Dims]] = {}


def dims_of(*fns: Any) -> Callable[[Any], Any]:
    def register(rule: Any) -> Any:
        for fn in fns:
            DIMS[fn] = rule
        return rule

    return register


def operand(s: Specialiser, args: list[Value], k: int = 0) -> Dims:
    facts = s.facts_of(args[k]) if k < len(args) else None
    return facts.dims if isinstance(facts, Num) else None


def option(s: Specialiser, args: list[Value], kwargs: dict[str, Value], k: int, name: str, default: Any) -> Any:
    """A setting's value; raises LookupError where it is known only at run time."""
    value = args[k] if k < len(args) else kwargs.get(name)
    return default if value is None else s.static(value)


@dims_of(
    np.copy, np.cumsum, np.cumprod, np.flip, np.sort, np.roll, np.ascontiguousarray, np.argsort, np.tril, np.triu,
    np.real, np.imag, np.nan_to_num, np.interp, np.digitize, products_of_others, put_in_order, stable_order,
    stencil_adjoint, interval_of,
)  # fmt: skip
def as_first(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Dims:
    return operand(s, args)


@dims_of(np.linalg.inv, np.linalg.cholesky, cofactors)
def square(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Dims:
    dims = operand(s, args)
    if dims is not None and len(dims) >= 2:
        s.equate(dims[-2], dims[-1])
    return dims


@dims_of(np.searchsorted, gather_adjoint, diagonal_adjoint, share_out)
def as_second(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Dims:
    return operand(s, args, 1)


@dims_of(np.polyval)
def of_polynomial(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Dims:
    coefficients = s.num(args[0]) if args else None
    return operand(s, args, 1) if coefficients is not None and coefficients.ndim == 1 else None


@dims_of(np.linalg.eigh, np.linalg.eig)
def of_eigenvectors(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Any:
    dims = square(s, args, kwargs)
    return dims and (dims[:-1], dims)


@dims_of(np.linalg.eigvalsh, np.linalg.eigvals)
def without_last(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Dims:
    dims = operand(s, args)
    return dims[:-1] if dims else None


@dims_of(np.diff)
def differences(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Dims:
    return differing(s, args, kwargs, -1)


@dims_of(diff_adjoint)
def differences_put_back(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Dims:
    return differing(s, args, kwargs, 1)


def differing(s: Specialiser, args: list[Value], kwargs: dict[str, Value], more: int) -> Dims:
    """The lengths of an array with as many items `more` along an axis as there are differences of differences."""
    dims = operand(s, args)
    if dims is None or {"prepend", "append"} & set(kwargs) or len(args) > 3:
        return None
    try:
        n, axis = option(s, args, kwargs, 1, "n", 1), option(s, args, kwargs, 2, "axis", -1)
    except LookupError:
        return None
    result = list(dims)
    result[axis] = lengthened(s, result[axis], more * n)
    return tuple(result)


@dims_of(np.pad)
def padded(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Dims:
    """Each axis is longer by the widths, which are one integer, a pair, or a pair for each axis."""
    dims = operand(s, args)
    try:
        widths = np.asarray(option(s, args, kwargs, 1, "pad_width", None))
    except LookupError:
        return None
    if dims is None or widths.dtype.kind not in "iu" or widths.ndim > 2:
        return None
    both = np.broadcast_to(widths, (len(dims), 2)).sum(axis=1)
    return tuple(lengthened(s, axis, int(more)) for axis, more in zip(dims, both))


@dims_of(np.einsum)
def contracted(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Dims:
    """The lengths by the labels of the subscripts; an axis that may be 1 is broadcast against others of its label."""
    subscripts = args[0].value if isinstance(args[0], Const) else None
    if not isinstance(subscripts, str) or "->" not in subscripts or "." in subscripts:
        return None
    inputs, _, output = subscripts.replace(" ", "").partition("->")
    axes: dict[str, Axis] = {}
    for k, labels in enumerate(inputs.split(",")):
        dims = operand(s, args, k + 1)
        if dims is None or len(dims) != len(labels):
            return None
        for label, axis in zip(labels, dims):
            known = axes.get(label)
            axes[label] = axis if several(axis) or known is None and label not in axes else known
            if several(axis) and several(known):
                s.equate(axis, known)
    return tuple(axes[label] if several(axes[label]) else None for label in output)


@dims_of(np.meshgrid)
def of_grids(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Any:
    """All grids are of one shape: as long as the vectors, of which the first two change places."""
    axes = [dims[0] if (dims := operand(s, args, k)) is not None and len(dims) == 1 else None for k in range(len(args))]
    try:
        sparse, indexing = (option(s, [], kwargs, 0, n, d) for n, d in (("sparse", False), ("indexing", "xy")))
    except LookupError:
        return None
    if sparse or None in axes:
        return None
    if indexing == "xy":
        axes[:2] = reversed(axes[:2])
    return (tuple(axes),) * len(args)


@dims_of(np.gradient)
def of_slopes(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Any:
    """The slopes along each axis have the shape of the function; there are several unless an axis is given."""
    dims = operand(s, args)
    try:
        axis = option(s, [], kwargs, 0, "axis", None)
    except LookupError:
        return None
    if dims is None:
        return None
    count = len(dims) if axis is None else np.size(axis)
    return dims if count == 1 else (dims,) * count


@dims_of(np.zeros_like, np.ones_like, np.empty_like, np.full_like)
def like_first(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Dims:
    return operand(s, args) if "shape" not in kwargs and len(args) <= 3 else None


@dims_of(np.fft.fft, np.fft.ifft)
def transformed(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Dims:
    return operand(s, args) if len(args) == 1 and "n" not in kwargs else None


@dims_of(np.array, np.asarray)
def displayed(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Dims:
    """An array of the items of a list display has one axis for it."""
    if isinstance(args[0], ListV) and len(args) == 1 and not kwargs:
        shapes = {operand(s, args[0].items, k) for k in range(len(args[0].items))}  # type: ignore[arg-type]
        only = shapes.pop() if len(shapes) == 1 else None
        return None if only is None else (len(args[0].items), *only)
    return operand(s, args) if not isinstance(args[0], ListV) and len(args) == 1 and "axis" not in kwargs else None


@dims_of(np.stack)
def stacked(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Dims:
    """One axis more, as long as there are parts, which all have one shape."""
    try:
        axis = option(s, args, kwargs, 1, "axis", 0)
    except LookupError:
        return None
    if not isinstance(args[0], (ListV, TupleV)):
        return None if axis else operand(s, args)
    parts = list(args[0].items)
    shapes = [operand(s, parts, k) for k in range(len(parts))]
    first = shapes[0] if shapes else None
    if first is None or any(dims is None or len(dims) != len(first) for dims in shapes) or type(axis) is not int:
        return None
    for dims in shapes[1:]:
        for a, b in zip(first, dims or ()):
            s.equate(a, b)
    place = axis % (len(first) + 1)
    return (*first[:place], len(parts), *first[place:])


@dims_of(np.moveaxis)
def moved(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Dims:
    dims = operand(s, args)
    try:
        source, destination = option(s, args, kwargs, 1, "source", 0), option(s, args, kwargs, 2, "destination", 0)
    except LookupError:
        return None
    if not dims or type(source) is not int or type(destination) is not int:
        return None
    rest = list(dims)
    axis = rest.pop(source)
    rest.insert(destination % len(dims), axis)
    return tuple(rest)


@dims_of(np.concatenate)
def joined(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Dims:
    """Along the axis, the lengths of the parts together."""
    try:
        axis = option(s, args, kwargs, 1, "axis", 0)
    except LookupError:
        return None
    if not isinstance(args[0], ListV) or axis is None:
        return None
    shapes = [operand(s, list(args[0].items), k) for k in range(len(args[0].items))]
    if not all(shapes) or any(length is None for dims in shapes for length in dims or ()):
        return None
    lengths = tuple(dims[axis] for dims in shapes if dims)
    result = list(shapes[0] or ())
    known = [n for n in lengths if isinstance(n, int)]
    if len(known) == len(lengths):
        result[axis] = sum(known)
    else:  # an empty part makes nothing longer
        result[axis] = Dim(("joined", lengths), several=True) if any(n != 0 and several(n) for n in lengths) else None
    return tuple(result)


@dims_of(np.ndarray.astype, np.ndarray.copy)
def as_self(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Dims:
    return operand(s, args)


@dims_of(
    np.sum, np.mean, np.prod, np.max, np.min, np.amax, np.amin, np.var, np.std, np.any, np.all, np.argmax, np.argmin,
)  # fmt: skip
def reduced(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Dims:
    try:
        axis = option(s, args, kwargs, 1, "axis", None)
        keep = option(s, args, kwargs, 9, "keepdims", False)
    except LookupError:
        return None
    return without_axes(operand(s, args), axis, keep)


@dims_of(np.linalg.norm)
def norms(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Dims:
    try:
        axis = option(s, args, kwargs, 2, "axis", None)
        keep = option(s, args, kwargs, 3, "keepdims", False)
    except LookupError:
        return None
    return without_axes(operand(s, args), axis, keep)


def without_axes(dims: Dims, axis: int | tuple[int, ...] | None, keep: bool) -> Dims:
    """The axes that are left where some are reduced, by default all of them."""
    if dims is None:
        return None
    axes = range(len(dims)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    gone = {a % len(dims) for a in axes} if dims else set()
    return tuple(1 if k in gone else d for k, d in enumerate(dims) if keep or k not in gone)


@dims_of(np.transpose)
def transposed(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Dims:
    dims = operand(s, args)
    try:
        axes = option(s, args, kwargs, 1, "axes", None)
    except LookupError:
        return None
    if dims is None:
        return None
    if axes is None:
        return dims[::-1]
    return tuple(dims[a] for a in (axes if isinstance(axes, (tuple, list)) else (axes,)))


@dims_of(np.swapaxes)
def swapped(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Dims:
    dims = operand(s, args)
    try:
        a, b = s.static(args[1]), s.static(args[2])
    except (LookupError, IndexError):
        return None
    if dims is None:
        return None
    result = list(dims)
    result[a], result[b] = result[b], result[a]
    return tuple(result)


@dims_of(np.squeeze)
def squeezed(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Dims:
    dims = operand(s, args)
    try:
        axis = option(s, args, kwargs, 1, "axis", None)
    except LookupError:
        return None
    if dims is None or axis is None:
        return None
    gone = {a % len(dims) for a in (axis if isinstance(axis, tuple) else (axis,))}
    return tuple(d for k, d in enumerate(dims) if k not in gone)


@dims_of(np.expand_dims)
def expanded(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Dims:
    dims = operand(s, args)
    try:
        axis = option(s, args, kwargs, 1, "axis", None)
    except LookupError:
        return None
    if dims is None:
        return None
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    rank = len(dims) + len(axes)
    rest = iter(dims)
    places = {a % rank for a in axes}
    return tuple(1 if k in places else next(rest) for k in range(rank))


@dims_of(np.dot)
def multiplied(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Dims:
    a, b = operand(s, args, 0), operand(s, args, 1)
    if not a or not b or len(a) > 2 or len(b) > 2:
        return None
    s.equate(a[-1], b[0])
    return (*a[:-1], *(b[1:] if len(b) == 2 else ()))


@dims_of(np.matmul, np.linalg.matmul, operator.matmul)
def multiplied_stacks(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Dims:
    a, b = operand(s, args, 0), operand(s, args, 1)
    if "axes" in kwargs or "axis" in kwargs:
        return None
    if not a or not b or min(len(a), len(b)) < 2:
        return multiplied(s, args, kwargs)
    s.equate(a[-1], b[-2])
    stacks = broadcast(a[:-2], b[:-2])
    return None if stacks is None else (*stacks, a[-2], b[-1])


@dims_of(np.cross, np.linalg.cross, cross)
def crossed(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Dims:
    """The last axis is one of three components, whatever shares them out."""
    a, b = operand(s, args, 0), operand(s, args, 1)
    if not a or not b or len(args) != 2 or kwargs:
        return None
    stacks = broadcast(a[:-1], b[:-1])
    return None if stacks is None else (*stacks, 3)


@dims_of(np.outer)
def outer(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Dims:
    a, b = operand(s, args, 0), operand(s, args, 1)
    return (a[0], b[0]) if a is not None and b is not None and len(a) == len(b) == 1 else None


@dims_of(
    *(f.outer for f in vars(np).values() if isinstance(f, np.ufunc) and (f.nin, f.nout, f.signature) == (2, 1, None))
)
def side_by_side(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Dims:
    a, b = operand(s, args, 0), operand(s, args, 1)
    return None if a is None or b is None else (*a, *b)


@dims_of(np.linalg.solve)
def solved(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Dims:
    a, b = operand(s, args), operand(s, args, 1)
    if a is None or len(a) != 2:
        return None  # of stacks, both broadcast
    s.equate(a[0], a[1])
    if b:
        s.equate(a[0], b[0])
    return b


@dims_of(np.diag, np.diagonal, np.ndarray.diagonal)
def diagonal(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Dims:
    dims = operand(s, args)
    if dims is None or len(args) != 1 or kwargs:
        return None
    if len(dims) == 2:
        return dims[:1] if s.same_lengths(dims[:1], dims[1:]) else None
    return (dims[0], dims[0]) if len(dims) == 1 else None


def measured(s: Specialiser, value: Value) -> Axis:
    """The axis that an integer makes."""
    if isinstance(value, Const) and isinstance(value.value, (int, np.integer)):
        return int(value.value) if value.value >= 0 else None
    if isinstance(value, Leaf):
        axis = s.new_size(value)
        note_length(s, value, axis)
        return axis
    return None


def from_shape(s: Specialiser, value: Value) -> Dims:
    """The axes of an array that is made of a shape; None where only the run tells how many there are."""
    if isinstance(value, Const) and isinstance(value.value, (tuple, list)):
        return tuple(measured(s, Const(v)) for v in value.value)
    if isinstance(value, (TupleV, ListV)):
        return tuple(measured(s, v) for v in value.items)
    facts = s.facts_of(value)
    if isinstance(facts, Listed):
        length = display_length(s, facts)
        return None if length is None else (None,) * length
    return (measured(s, value),) if isinstance(facts, Num) and facts.dims == () else None


SHAPES = {np.zeros: 0, np.ones: 0, np.empty: 0, np.full: 0, np.reshape: 1, np.broadcast_to: 1, np.tile: 1, np.resize: 1}


def has_any_rank(s: Specialiser, fn: Any, args: list[Value], kwargs: dict[str, Value]) -> bool:
    """True if an argument decides how many axes there are: integers for a shape, or the axes that a product sums."""
    if fn in (np.tensordot, np.linalg.tensordot):
        axes = kwargs.get("axes", args[2] if len(args) > 2 else Const(2))
        return isinstance(s.facts_of(axes), Num) and not s.is_static(axes)
    place = SHAPES.get(fn, 1 if getattr(fn, "numpy_name", None) in ("reshape", "resize") else None)
    if place is None:
        return False
    given = [*args[place : place + 1], *(kwargs[name] for name in ("shape", "reps", "new_shape") if name in kwargs)]
    return any(isinstance(facts := s.facts_of(v), Num) and facts.dims != () and not isinstance(v, Const) for v in given)


@dims_of(np.zeros, np.ones, np.empty, np.full)
def created(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Dims:
    return from_shape(s, args[0] if args else kwargs["shape"])


@dims_of(np.identity)
def square_of(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Dims:
    size = measured(s, args[0] if args else kwargs["n"])
    return (size, size)


@dims_of(np.eye)
def identity(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Dims:
    given = dict(zip(("N", "M"), args)) | kwargs
    size, columns = (measured(s, given.get(name, Const(None))) for name in ("N", "M"))
    return (size, size if given.get("M", Const(None)) == Const(None) else columns)


@dims_of(np.arange)
def counted(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Dims:
    return (measured(s, args[0]),) if len(args) == 1 and kwargs.keys() <= {"dtype"} else None


@dims_of(np.linspace)
def spaced(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Dims:
    return (measured(s, args[2]),) if len(args) > 2 else None


@dims_of(np.reshape, np.broadcast_to)
def reshaped(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Dims:
    if len(args) < 2:
        return None
    dims = from_shape(s, args[1])
    return dims


@dims_of(np.where, select)
def chosen(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Dims:
    return (
        broadcast(*(operand(s, args, k) if operand(s, args, k) is not None else () for k in range(len(args))))
        if len(args) == 3
        else None
    )
