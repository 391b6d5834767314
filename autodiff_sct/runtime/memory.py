"""Memory of emitted programs: views of shadows, checked at run time, rows of one array, and copies of arguments."""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np

from ..core import thresholds
from ..errors import AliasError
from .broadcast import unbroadcast, zeros_like
from .scatter import plus

__all__ = [
    "add_carried",
    "add_items",
    "apart",
    "copied_rows",
    "copies",
    "give_back",
    "in_c_order",
    "in_order",
    "layout_copy",
    "rows",
    "same_view",
    "tangent_view",
    "with_imag",
    "writable",
]


def same_view(shadow: Any, shadow_base: Any, primal: Any, primal_base: Any) -> Any:
    """The shadow of `primal`, a view or a copy of `primal_base`: the same view of its shadow, or zeros for a copy.

    Raises
    ------
    AliasError
        If the primal is a view and `shadow` is not.
    """
    if not np.may_share_memory(primal, primal_base):
        return np.zeros_like(primal)
    if not np.may_share_memory(shadow, shadow_base):
        raise AliasError(
            "a view of an array that is written has no view of its adjoint beside it",
            "make the array contiguous first (`np.ascontiguousarray`)",
        )
    return shadow


def tangent_view(tangent: Any, tangent_base: Any, primal: Any, primal_base: Any) -> Any:
    """The tangent of `primal`, a view or a copy of `primal_base`: a view or a copy likewise.

    Raises
    ------
    AliasError
        If the primal is a view and `tangent` is not.
    """
    if np.may_share_memory(primal, primal_base):
        return same_view(tangent, tangent_base, primal, primal_base)
    return tangent.copy() if np.may_share_memory(tangent, tangent_base) else tangent


def in_c_order(array: Any) -> None:
    """Check that an array, which a function is about to copy in C order and write, lies in it.

    Raises
    ------
    AliasError
        If it does not, so that views of the copy may share memory where views of the array do not.
    """
    if not array.flags.c_contiguous:
        raise AliasError(
            "an array that is written does not lie in C order, and whether a view of it is a copy depends on that",
            "pass it in C order (`np.ascontiguousarray`)",
            code="memory-order",
        )


def in_order(target: np.ndarray, source: Any) -> None:
    """Check that ``target[:] = source`` reads no number of a line after it has written it.

    Raises
    ------
    AliasError
        If it does, so that it is not the assignment of a copy.
    """
    if np.ndim(source) != 1 or target.ndim != 1 or not np.may_share_memory(target, source):
        return
    step, other = target.strides[0], source.strides[0]
    if step == other or step * other <= 0 or len(source) != len(target):
        return
    if step < 0:
        target, source, other = target[::-1], source[::-1], -other
    written, read = addresses(target), addresses(source)
    backwards = read[0] < written[0] < read[0] + len(source) * other  # as NumPy decides
    common, first, then = np.intersect1d(written, read, return_indices=True)
    if np.any(first > then if backwards else first < then):
        refuse_overlap()


def addresses(line: np.ndarray) -> np.ndarray:
    """The addresses of a vector's elements in memory."""
    return line.__array_interface__["data"][0] + line.strides[0] * np.arange(len(line))


def apart(target: np.ndarray, source: Any) -> None:
    """Check that a vector that is stored through a mask or through ``flat`` is not of the array that is written.

    Raises
    ------
    AliasError
        If it is, and is longer than one number.
    """
    if np.ndim(source) == 1 and len(source) > 1 and np.shares_memory(target, source):
        refuse_overlap()


def refuse_overlap() -> None:
    raise AliasError(
        "a part of an array is assigned to another part that overlaps it, so that numbers are read after they were "
        "written",
        "copy the right side: `a[::2] = a[:3].copy()`",
    )


def add_items(shadow: Any, cotangents: Any) -> None:
    """Add a list of cotangents to the shadow of a list, item by item; of two dicts, either may have more keys."""
    if isinstance(cotangents, dict):
        for k, cotangent in cotangents.items():
            shadow[k] = plus(shadow.get(k, 0.0), cotangent)
    else:
        if len(cotangents) != len(shadow):
            refuse_resized()
        for k in range(len(cotangents)):
            total = plus(shadow[k], cotangents[k])
            if total is not shadow[k]:  # a tuple has views only, which the sum is in already
                shadow[k] = total


def add_carried(shadow: Any, cotangents: Any) -> None:
    """Add the cotangent of a list, as it was before its length changed, to its shadow, as long as the list became.

    Raises
    ------
    AliasError
        If something depends on an item that was not there yet: the list was read under a name that is not followed.
    """
    if isinstance(cotangents, dict):
        for key, cotangent in cotangents.items():
            shadow[key] = carried(shadow.get(key, 0.0), cotangent)
        return
    if any(map(is_used, shadow[len(cotangents) :])):
        refuse_resized()
    del shadow[len(cotangents) :]
    shadow += [zeros_like(cotangent) for cotangent in cotangents[len(shadow) :]]
    for k, cotangent in enumerate(cotangents):
        shadow[k] = carried(shadow[k], cotangent)


def carried(shadow: Any, cotangent: Any) -> Any:
    if isinstance(shadow, (list, dict)) and isinstance(cotangent, (list, dict)):
        add_carried(shadow, cotangent)
        return shadow
    return plus(shadow, cotangent)


def is_used(cotangent: Any) -> bool:
    """True if something depends on what has this cotangent."""
    if isinstance(cotangent, dict):
        return any(map(is_used, cotangent.values()))
    if isinstance(cotangent, (list, tuple)):
        return any(map(is_used, cotangent))
    return cotangent is not None and bool(np.any(cotangent))


def refuse_resized() -> None:
    raise AliasError(
        "a list that is in another one has changed its length since",
        "put a copy into the list",
        code="changed-while-iterated",
    )


def writable(view: Any) -> Any:
    """A diagonal that NumPy returns for reading only, as one that may be added to: its elements are apart in memory."""
    view.flags.writeable = True
    return view


def give_back(shadow_base: Any, shadow: Any, order: Any = "C") -> None:
    """Add the cotangent of a reshaped or broadcast copy to that of its array; a view's is there already."""
    if not np.may_share_memory(shadow_base, shadow):
        fits = np.size(shadow) == shadow_base.size
        shadow_base += np.reshape(shadow, shadow_base.shape, order) if fits else unbroadcast(shadow, shadow_base)


def copies(*parts: Any) -> Any:
    """Copies of arrays and of lists of arrays, which share memory among each other as these do.

    A backward function that may be run many times changes them in the place of what it was handed.
    """
    made: dict[int, Any] = {}
    fresh = tuple(again(part, made) for part in parts)
    return fresh[0] if len(fresh) == 1 else fresh


def again(part: Any, made: dict[int, Any]) -> Any:
    """The copy of a part; `made` holds those that there are already."""
    if isinstance(part, np.ndarray) and (base := owner(part)) is not part:
        return same_part(part, base, again(base, made))
    if not isinstance(part, (np.ndarray, list, dict, tuple)):
        return part
    if id(part) not in made:
        if isinstance(part, np.ndarray):
            made[id(part)] = part.copy(order="K")
        elif isinstance(part, dict):
            made[id(part)] = {key: again(item, made) for key, item in part.items()}
        else:
            items = [again(item, made) for item in part]
            made[id(part)] = type(part)(*items) if hasattr(part, "_fields") else type(part)(items)
    return made[id(part)]


def owner(view: np.ndarray) -> np.ndarray:
    """The array whose memory a view has; between the two may stand other objects, such as those of NumPy's windows."""
    array, base = view, view.base
    while base is not None:
        array = base if isinstance(base, np.ndarray) else array
        base = getattr(base, "base", None)
    return array


def same_part(view: np.ndarray, base: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The view of `other` that `view` is of `base`, which has the same layout; what is empty shares nothing."""
    if not view.size:
        return np.empty_like(view)
    offset = view.ctypes.data - base.ctypes.data
    return np.ndarray(view.shape, view.dtype, other.ravel(order="K"), offset, view.strides)


def rows(count: int, *shape: int, dtype: Any = np.float64) -> Any:
    """Return `count` places for arrays of one shape: rows of one array if they are small, else items of a list."""
    if math.prod(shape) <= thresholds.NUMBERS_OF_A_ROW:
        return copied_rows(count, *shape, dtype=dtype)
    return [None] * count


def copied_rows(count: int, *shape: int, dtype: Any = np.float64) -> np.ndarray:
    """Return `count` rows of one array of any size: to store into one is to copy, as to store into a list is not."""
    return np.empty((max(count, 0), *shape), dtype)


def layout_copy(x: Any) -> Any:
    """Copy an array that the program writes, so that it lies in memory as the original does.

    NumPy and BLAS add up in another order what does not lie side by side, or runs backwards: the value of the program
    depends on it in its last digits.  What lies apart is apart by one number in the copy.
    """
    if not isinstance(x, np.ndarray) or x.flags.forc or not x.size:
        return copy.copy(x)
    axes = sorted(range(x.ndim), key=lambda k: -abs(x.strides[k]))
    lengths = [x.shape[k] for k in axes]
    steps = [abs(x.strides[k]) for k in axes]
    inner = [n * step for n, step in zip(lengths[1:], steps[1:])] + [x.itemsize]
    gaps = [step != size for step, size in zip(steps, inner)]
    room = np.empty([lengths[0], *(n + gap for n, gap in zip(lengths[1:], gaps)), 1 + gaps[-1]], x.dtype)
    part: Any = room[(*map(slice, lengths), 0)]  # type: ignore[arg-type]
    part = part[tuple([slice(None, None, -1 if x.strides[k] < 0 else 1) for k in axes])]
    part = part.transpose(np.argsort(axes))
    part[...] = x
    return part


def with_imag(z: Any, part: Any) -> Any:
    """A copy of a complex array with another imaginary part."""
    result = np.array(z)
    result.imag = part
    return result
