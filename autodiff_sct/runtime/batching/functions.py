"""NumPy's functions over all examples: the same function with its axes counted behind that of the examples.

A function that is not here runs example by example.  An argument that all examples share stays as it is where the
function broadcasts, and is repeated where it does not.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from .lanes import FUNCTIONS, METHODS, Lanes, Unbatchable, aligned, count_in, lifted, matmul, ndim, per_example

SIGNATURES: dict[Any, inspect.Signature] = {}


def arguments_of(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments by the names of the parameters."""
    if fn not in SIGNATURES:
        SIGNATURES[fn] = inspect.signature(fn)
    return dict(SIGNATURES[fn].bind(*args, **kwargs).arguments)


def over(*fns: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register what functions are over lanes: a function of theirs, and of their arguments by name."""

    def register(rule: Callable[..., Any]) -> Callable[..., Any]:
        for fn in fns:
            FUNCTIONS[fn] = partial(applied, rule, fn)
        return rule

    return register


def applied(rule: Callable[..., Any], fn: Any, /, *args: Any, **kwargs: Any) -> Any:
    """Apply a rule to a call; one whose first argument all examples share, or with other settings, runs one by one."""
    given = arguments_of(fn, args, kwargs)
    first, *rest = given.values()
    if given.get("out") is not None:
        raise Unbatchable(f"{fn.__name__} writes into an array")
    shared = not isinstance(first, Lanes) and rule not in ANY_ARGUMENT
    if shared or (rule not in ANY_ARGUMENT and count_in(rest) is not None):
        return per_example(fn, args, kwargs)
    return rule(fn, given)


def checked_axis(axis: int, axes: int) -> int:
    """Return an axis of one example, counted from the front, as one of the arrays of all."""
    axis = operator.index(axis)
    if not -axes <= axis < axes:
        raise ValueError(f"axis {axis} is out of bounds for array of dimension {axes}")
    return axis % axes + 1


def all_axes(axis: Any, axes: int) -> Any:
    """Return the axes of a reduction."""
    if axis is None:
        return tuple(range(1, axes + 1))
    if isinstance(axis, tuple):
        return tuple([checked_axis(a, axes) for a in axis])
    return checked_axis(axis, axes)


def flat(a: Lanes) -> np.ndarray:
    """Return the elements of each example in a row."""
    return a.data.reshape(len(a.data), a.size)


# Reductions


@over(np.sum, np.prod, np.mean, np.max, np.min, np.amax, np.amin, np.any, np.all, np.var, np.std, np.count_nonzero)
@over(np.nansum, np.nanmean, np.nanmax, np.nanmin, np.ptp, np.nanprod, np.nanvar, np.nanstd)
def reduction(fn: Any, given: dict[str, Any]) -> Any:
    a, *_ = given.values()
    name = next(iter(given))
    settings = {k: v for k, v in given.items() if k not in (name, "axis")}
    return Lanes(np.asarray(fn(a.data, axis=all_axes(given.get("axis"), a.ndim), **settings)))


@over(np.argmax, np.argmin, np.median, np.nanmedian, np.cumsum, np.cumprod, np.nancumsum)
def along(fn: Any, given: dict[str, Any]) -> Any:
    """Functions along one axis, or of the flat array where none is given."""
    name = next(iter(given))
    a, axis = given.pop(name), given.pop("axis", None)
    if isinstance(axis, tuple) or (axis is None and given.get("keepdims")):
        return per_example(fn, (a,), {"axis": axis, **given})
    if axis is None:
        return Lanes(fn(flat(a), axis=1, **given))
    return Lanes(fn(a.data, axis=checked_axis(axis, a.ndim), **given))


@over(np.sort, np.argsort, np.flip, np.roll, np.diff)
def keeping(fn: Any, given: dict[str, Any]) -> Any:
    """Functions that move elements along an axis, or of the flat array where it is None."""
    name = next(iter(given))
    a, axis = given.pop(name), given.pop("axis", -1 if fn in (np.sort, np.argsort, np.diff) else None)
    if fn is np.diff and given.keys() - {"n"}:
        return per_example(fn, (a,), {"axis": axis, **given})
    if axis is None and fn is np.flip:
        axis = tuple(range(a.ndim))
    if axis is None:
        found = fn(flat(a), axis=1, **given)
        return Lanes(found.reshape(a.data.shape) if fn is np.roll else found)
    return Lanes(fn(a.data, axis=all_axes(axis, a.ndim), **given))


@over(np.linalg.norm)
def norm(fn: Any, given: dict[str, Any]) -> Any:
    x, order, axis = given["x"], given.get("ord"), given.get("axis")
    if axis is None and order is None and not given.get("keepdims"):
        return Lanes(np.linalg.norm(flat(x), axis=1))
    if axis is None:
        axis = tuple(range(x.ndim))
    axis = axis[0] if isinstance(axis, tuple) and len(axis) == 1 else axis
    return Lanes(np.linalg.norm(x.data, order, all_axes(axis, x.ndim), given.get("keepdims", False)))


# Elements


@over(np.where)
def where(fn: Any, given: dict[str, Any]) -> Any:
    values = list(given.values())
    if len(values) != 3:
        raise Unbatchable("the places where a condition holds differ in number")
    return Lanes(np.where(*aligned(values)))


@over(np.clip)
def clip(fn: Any, given: dict[str, Any]) -> Any:
    names = [
        n for n in ("a", "a_min", "a_max", "min", "max") if n in given and isinstance(given[n], (Lanes, np.ndarray))
    ]
    return Lanes(fn(**given | dict(zip(names, aligned([given[n] for n in names])))))


@over(np.real, np.imag, np.nan_to_num, np.angle, np.real_if_close, np.isclose, np.sinc, np.i0, np.around, np.round)
@over(np.isposinf, np.isneginf, np.copy, np.iscomplex, np.isreal, np.fix)
def elementwise(fn: Any, given: dict[str, Any]) -> Any:
    arrays = [n for n, v in given.items() if isinstance(v, (Lanes, np.ndarray))]
    return Lanes(np.asarray(fn(**given | dict(zip(arrays, aligned([given[n] for n in arrays]))))))


@over(np.zeros_like, np.ones_like, np.empty_like, np.full_like)
def alike(fn: Any, given: dict[str, Any]) -> Any:
    from .run import BatchedNumPy

    count = count_in(given)
    assert count is not None
    for setting in ("order", "subok", "device"):
        given.pop(setting, None)
    a = given.pop(next(iter(given)))
    return getattr(BatchedNumPy(count), fn.__name__)(a, **given)


@over(np.interp)
def interp(fn: Any, given: dict[str, Any]) -> Any:
    if set(given) != {"x", "xp", "fp"} or count_in(given["xp"], given["fp"]) is not None:
        return per_example(fn, tuple(given.values()), {})
    return Lanes(np.interp(given["x"].data, given["xp"], given["fp"]))


# What is asked about arrays


@over(np.shape)
def shape(fn: Any, given: dict[str, Any]) -> Any:
    return given["a"].shape


@over(np.ndim)
def axes_of(fn: Any, given: dict[str, Any]) -> Any:
    return given["a"].ndim


@over(np.size)
def size(fn: Any, given: dict[str, Any]) -> Any:
    a, axis = given["a"], given.get("axis")
    return a.size if axis is None else a.shape[axis]


@over(np.iscomplexobj, np.isrealobj)
def of_dtype(fn: Any, given: dict[str, Any]) -> Any:
    return fn(given["x"].data)


def result_type(*values: Any) -> Any:
    return np.result_type(*[v.dtype if isinstance(v, Lanes) else v for v in values])


FUNCTIONS[np.result_type] = result_type


# Axes


@over(np.reshape)
def reshape(fn: Any, given: dict[str, Any]) -> Any:
    a, lengths = given["a"], given.get("shape", given.get("newshape"))
    lengths = lengths if isinstance(lengths, (tuple, list)) else (lengths,)
    lengths = [operator.index(n) for n in lengths]
    if -1 in lengths:  # the number of elements in one example tells it, also where a batch has one example
        rest = int(np.prod([n for n in lengths if n != -1]))
        lengths[lengths.index(-1)] = a.size // rest if rest else 0
    if given.get("order", "C") == "C":
        return Lanes(a.data.reshape(len(a.data), *lengths))
    return per_example(fn, (a, tuple(lengths)), {"order": given["order"]})


@over(np.ravel)
def ravel(fn: Any, given: dict[str, Any]) -> Any:
    a = given["a"]
    if given.get("order", "C") != "C":
        return per_example(fn, tuple(given.values()), {})
    found = flat(a)
    return Lanes(found if a.data[0].flags.c_contiguous else found.copy())


@over(np.transpose)
def transpose(fn: Any, given: dict[str, Any]) -> Any:
    a, axes = given["a"], given.get("axes")
    order = range(a.ndim, 0, -1) if axes is None else [checked_axis(axis, a.ndim) for axis in axes]
    return Lanes(a.data.transpose(0, *order))


@over(np.swapaxes)
def swapaxes(fn: Any, given: dict[str, Any]) -> Any:
    a = given["a"]
    return Lanes(a.data.swapaxes(checked_axis(given["axis1"], a.ndim), checked_axis(given["axis2"], a.ndim)))


@over(np.moveaxis)
def moveaxis(fn: Any, given: dict[str, Any]) -> Any:
    a = given["a"]
    return Lanes(np.moveaxis(a.data, all_axes(given["source"], a.ndim), all_axes(given["destination"], a.ndim)))


@over(np.expand_dims)
def expand_dims(fn: Any, given: dict[str, Any]) -> Any:
    a, axis = given["a"], given["axis"]
    added = axis if isinstance(axis, (tuple, list)) else (axis,)
    return Lanes(np.expand_dims(a.data, all_axes(tuple(added), a.ndim + len(added))))


@over(np.squeeze)
def squeeze(fn: Any, given: dict[str, Any]) -> Any:
    a, axis = given["a"], given.get("axis")
    chosen = tuple([k + 1 for k, n in enumerate(a.shape) if n == 1]) if axis is None else all_axes(axis, a.ndim)
    return Lanes(np.squeeze(a.data, chosen))


@over(np.broadcast_to)
def broadcast_to(fn: Any, given: dict[str, Any]) -> Any:
    lengths = given["shape"] if isinstance(given["shape"], tuple) else (given["shape"],)
    (raised_,) = aligned([given["array"]], len(lengths))
    return Lanes(np.broadcast_to(raised_, (len(raised_), *lengths)))


@over(np.tril, np.triu)
def triangle(fn: Any, given: dict[str, Any]) -> Any:
    m = given["m"]
    return Lanes(fn(m.data, given.get("k", 0))) if m.ndim > 1 else per_example(fn, (m, given.get("k", 0)), {})


@over(np.trace, np.diagonal)
def diagonal(fn: Any, given: dict[str, Any]) -> Any:
    a = given.pop("a")
    axes = [checked_axis(given.pop(name, k), a.ndim) for k, name in enumerate(("axis1", "axis2"))]
    return Lanes(fn(a.data, axis1=axes[0], axis2=axes[1], **given))


@over(np.diag)
def diag(fn: Any, given: dict[str, Any]) -> Any:
    v, k = given["v"], given.get("k", 0)
    if v.ndim == 2:
        return Lanes(np.diagonal(v.data, k, 1, 2))
    places: Any = (slice(None), *np.nonzero(np.diag(np.ones(len(v)), k)))
    made = np.zeros((len(v.data), len(v) + abs(k), len(v) + abs(k)), v.dtype)
    made[places] = v.data
    return Lanes(made)


@over(np.pad)
def pad(fn: Any, given: dict[str, Any]) -> Any:
    a, width = given.pop("array"), given.pop("pad_width")
    widths = np.broadcast_to(width, (a.ndim, 2))
    return Lanes(np.pad(a.data, [(0, 0), *widths.tolist()], **given))


@over(np.repeat, np.take)
def repeated(fn: Any, given: dict[str, Any]) -> Any:
    a, axis = given.pop("a"), given.pop("axis", None)
    if axis is None:
        return Lanes(fn(flat(a), axis=1, **given))
    return Lanes(fn(a.data, axis=checked_axis(axis, a.ndim), **given))


# Joining


def joining(fn: Any, given: dict[str, Any]) -> Any:
    """Functions of a list of arrays along an axis."""
    count = count_in(given)
    assert count is not None
    name = next(iter(given))
    parts = [lifted(part, count) for part in given.pop(name)]
    axis = given.pop("axis", 0)
    if axis is None:
        return Lanes(np.concatenate([flat(part) for part in parts], axis=1, **given))
    axes = parts[0].ndim + (fn is np.stack)
    return Lanes(fn([part.data for part in parts], axis=checked_axis(axis, axes), **given))


def rows_joined(fn: Any, given: dict[str, Any]) -> Any:
    """``hstack``, ``vstack`` and ``column_stack``."""
    count = count_in(given)
    assert count is not None
    parts = [lifted(part, count) for part in given["tup"]]
    if fn is np.hstack:
        parts = [Lanes(p.data[:, None]) if not p.ndim else p for p in parts]
        return Lanes(np.concatenate([p.data for p in parts], axis=1 if parts[0].ndim == 1 else 2))
    if fn is np.vstack:
        parts = [Lanes(p.data.reshape(count, 1, p.size)) if p.ndim < 2 else p for p in parts]
        return Lanes(np.concatenate([p.data for p in parts], axis=1))
    parts = [Lanes(p.data.reshape(count, p.size, 1)) if p.ndim < 2 else p for p in parts]
    return Lanes(np.concatenate([p.data for p in parts], axis=2))


# Products


def dot(fn: Any, given: dict[str, Any]) -> Any:
    a, b = given.values()
    if not ndim(a) or not ndim(b):
        return np.multiply(a, b)
    if ndim(b) == 1 and (fn is not np.inner or ndim(a) == 1) or fn is np.dot and ndim(b) == 2:
        return matmul(a, b)
    return per_example(fn, (a, b), {})


def outer(fn: Any, given: dict[str, Any]) -> Any:
    a, b = given["a"], given["b"]
    columns = Lanes(flat(a)[:, :, None]) if isinstance(a, Lanes) else np.ravel(a)[:, None]
    return columns * (Lanes(flat(b)) if isinstance(b, Lanes) else np.ravel(b))


def einsum(*operands: Any, **settings: Any) -> Any:
    """``einsum`` with a letter more, that of the examples."""
    text, *arrays = operands
    if not isinstance(text, str) or settings.get("out") is not None:
        return per_example(np.einsum, operands, settings)
    text = text.replace(" ", "")
    terms, _, result = text.partition("->")
    if "->" not in text:
        if "..." in text:
            return per_example(np.einsum, operands, settings)
        letters = terms.replace(",", "")
        result = "".join(sorted(c for c in set(letters) if letters.count(c) == 1))
    lane = next(c for c in "ZYXWVUTSRQPONMLKJIHGFEDCBAzyx" if c not in text)
    named = [lane + t if isinstance(a, Lanes) else t for t, a in zip(terms.split(","), arrays)]
    data = [a.data if isinstance(a, Lanes) else a for a in arrays]
    return Lanes(np.einsum(f"{','.join(named)}->{lane}{result}", *data, **settings))


FUNCTIONS[np.einsum] = einsum


def tensordot(fn: Any, given: dict[str, Any]) -> Any:
    a, b, axes = given["a"], given["b"], given.get("axes", 2)
    left, right = ndim(a), ndim(b)
    if isinstance(axes, int):
        axes = (range(left - axes, left), range(axes))
    pairs = [[x] if isinstance(x, int) else list(x) for x in axes]
    pairs = [[x % n for x in side] for side, n in zip(pairs, (left, right))]
    letters = "abcdefghijklmnopqrstuvw"
    first, second = list(letters[:left]), list(letters[left : left + right])
    for k, m in zip(*pairs):
        second[m] = first[k]
    kept = [c for k, c in enumerate(first) if k not in pairs[0]] + [
        c for k, c in enumerate(second) if k not in pairs[1]
    ]
    return einsum(f"{''.join(first)},{''.join(second)}->{''.join(kept)}", a, b)


# Linear algebra


@over(np.linalg.inv, np.linalg.det, np.linalg.slogdet, np.linalg.cholesky, np.linalg.eigh, np.linalg.eigvalsh)
@over(np.linalg.svd, np.linalg.qr, np.linalg.pinv, np.linalg.eig, np.linalg.eigvals, np.linalg.matrix_power)
def of_matrices(fn: Any, given: dict[str, Any]) -> Any:
    a = given.pop(next(iter(given)))
    found = fn(a.data, **given)
    if not isinstance(found, tuple):
        return Lanes(np.asarray(found))
    return type(found)(*map(Lanes, found)) if hasattr(found, "_fields") else tuple(map(Lanes, found))


def solve(fn: Any, given: dict[str, Any]) -> Any:
    a, b = given["a"], given["b"]
    if ndim(b) != 1:
        return Lanes(np.linalg.solve(*aligned((a, b))))
    if not isinstance(a, Lanes):
        return Lanes(np.linalg.solve(a, b.data.T).T)
    columns = b.data[..., None] if isinstance(b, Lanes) else b[:, None]
    return Lanes(np.linalg.solve(a.data, columns)[..., 0])


ANY_ARGUMENT = {where, clip, elementwise, alike, joining, rows_joined, dot, outer, tensordot, solve}

over(np.concatenate, np.stack)(joining)
over(np.hstack, np.vstack, np.column_stack)(rows_joined)
over(np.outer)(outer)
over(np.tensordot)(tensordot)
over(np.linalg.solve)(solve)
FUNCTIONS[np.dot] = lambda a, b, out=None: dot(np.dot, {"a": a, "b": b})
FUNCTIONS[np.inner] = lambda a, b: dot(np.inner, {"a": a, "b": b})


# Methods of arrays


def method_of(fn: Any, a: Lanes, *args: Any, **kwargs: Any) -> Any:
    return fn(a, *args, **kwargs)


for _name in (
    "sum prod mean max min any all var std argmax argmin cumsum cumprod ravel swapaxes squeeze trace "
    "diagonal repeat take clip round dot ptp argsort"
).split():
    METHODS[_name] = partial(method_of, getattr(np, _name))
METHODS["flatten"] = lambda a, order="C": np.ravel(a, order).copy()
METHODS["copy"] = lambda a, order="C": Lanes(a.data.copy())
METHODS["conj"] = METHODS["conjugate"] = lambda a: np.conjugate(a)
METHODS["item"] = lambda a: Lanes(a.data.reshape(len(a.data)).copy()) if a.size == 1 else operator.index(None)  # type: ignore[arg-type]
METHODS["astype"] = lambda a, dtype, copy=True, **_: Lanes(a.data.astype(dtype, copy=copy))
METHODS["reshape"] = lambda a, *lengths, order="C": np.reshape(a, lengths[0] if len(lengths) == 1 else lengths, order)
METHODS["transpose"] = lambda a, *axes: np.transpose(
    a, axes[0] if len(axes) == 1 and isinstance(axes[0], tuple) else axes or None
)


def fill(a: Lanes, value: Any) -> None:
    a[...] = value


METHODS["fill"] = fill
