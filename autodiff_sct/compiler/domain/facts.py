"""Facts: what is known of a run-time value before the program runs.

Kinds of facts: `Num` (scalars and arrays), `Listed` (Python lists), `Mapped` (dicts), `Pair` (a tuple kept in a
variable) and `Opaque`, of which nothing is known.  Facts form a lattice: `join` is what holds whichever of two values
is there.  ``None`` inside a `Num` means *unknown*, which is always legal.

The transfer of facts through a NumPy function is NumPy's own: the function is run on dummies whose every axis has
length 1 (`evaluate`), which gives the kind, the dtype, the rank and whether the result shares memory with an argument.
Axes are symbols (`Dim`): two axes with one symbol have the same length, so that nothing needs to be unbroadcast.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from ...core import thresholds
from ...runtime.products import cross

PYTHON_KINDS: dict[type, str] = {bool: "bool", int: "int", float: "float", complex: "complex"}

NOWHERE: frozenset[int] = frozenset()  # the roots of what has no memory of its own


@dataclass(frozen=True)
class Dim:
    """The length of an axis: a symbol and an offset; `several` where it is known to be 2 or more."""

    symbol: Any
    offset: int = 0
    several: bool = False

    # As they would be made, but quicker: lengths are compared all the time.

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Dim) or self.symbol != other.symbol:
            return False
        return self.offset == other.offset and self.several == other.several

    def __hash__(self) -> int:
        return hash(self.symbol)

    def plus(self, offset: int) -> Dim | None:
        """The length that differs by `offset`; lengths are clipped at 0, so a cut can be undone of a long one only."""
        if offset == 0:
            return self
        if offset > 0 and self.offset < 0 and not self.is_positive:
            return None
        whole = self.offset + offset == 0 and self.is_positive
        return Dim(self.symbol, self.offset + offset, whole)

    @property
    def is_positive(self) -> bool:
        """True if it is a part of a long axis that leaves out a few at its ends."""
        return isinstance(self.symbol, tuple) and self.symbol[-1] == "long" and self.offset > -thresholds.LONG_AXIS


@lru_cache(4096)
def size_classes(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The class of each axis length on which a call is specialised: 0, 1, others, or `LONG` and more."""
    return tuple([length if length < 2 else 2 + (length >= thresholds.LONG_AXIS) for length in shape])


Axis = Dim | int | None
MANY = Dim("many", 0, True)  # of items in lists, and of either of two: no one length, but none is 1


def is_same(a: np.dtype | None, b: np.dtype | None) -> bool:
    """True if two dtypes are one, or neither is known: NumPy takes None for float64."""
    return a is b or (a is not None and b is not None and a == b)


@dataclass(frozen=True)
class Num:
    """A number or an array of numbers.

    `kind` is a Python type's name, ``"npscalar"``, ``"array"``, ``"row"`` or ``None``; `dims` has one entry an axis;
    `roots` are the places where the memory may have been made; `size` is the axis that an integer measures; `tensor`
    tells a MindSpore tensor; `row` is the class of an object of which the integer is the row in its table; `whole` says
    that it may hold integers where `dtype` is one of floats, as ``total = 0`` does before a loop that adds floats;
    `unless_none` is the kind of what is either one number, of this dtype, or None.
    """

    kind: str | None = None
    dtype: np.dtype | None = None
    dims: tuple[Axis, ...] | None = None
    roots: frozenset[int] = NOWHERE
    size: Axis = None
    tensor: bool = False
    row: type | None = None
    whole: bool = False
    unless_none: str | None = None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Num):
            return NotImplemented
        return is_same(self.dtype, other.dtype) and (
            (self.kind, self.dims, self.roots, self.size) == (other.kind, other.dims, other.roots, other.size)
            and (self.tensor, self.row, self.whole) == (other.tensor, other.row, other.whole)
            and self.unless_none == other.unless_none
        )

    def __hash__(self) -> int:  # of what mostly tells numbers apart
        return hash((self.kind, self.dtype, self.dims))

    @property
    def ndim(self) -> int | None:
        return None if self.dims is None else len(self.dims)

    @property
    def differentiable(self) -> bool:
        return self.dtype is None or self.dtype.kind in "fc"

    @property
    def python(self) -> bool:
        return self.kind in ("bool", "int", "float", "complex")

    @property
    def number(self) -> str | None:
        """The kind of one number, which may also be None."""
        return self.kind if self.python or self.kind == "npscalar" else self.unless_none


@dataclass(frozen=True)
class Listed:
    """A Python list; facts of its elements are kept by root, for they grow as it is filled.

    `is_tuple` says that it is a tuple as long as only the run tells; None where it may be either.
    """

    roots: frozenset[int]
    is_tuple: bool | None = False


@dataclass(frozen=True)
class Mapped:
    """A dict with keys known only at run time."""

    roots: frozenset[int]


@dataclass(frozen=True)
class Pair:
    """A tuple held in one variable: an element of a list, or the result of a function with several."""

    roots = NOWHERE
    items: tuple[Any, ...]
    cls: type | None = None


@dataclass(frozen=True)
class Opaque:
    """Anything else: strings, files, generators; `cls` where its class is known."""

    roots = NOWHERE
    cls: type | None = None


Facts = Num | Listed | Mapped | Pair | Opaque


class Different:
    """The class of an object that may be of several, or a number: of which ones, where they are known."""

    classes: tuple[type, ...] = ()


@lru_cache(maxsize=1024)
def one_of(classes: tuple[type, ...]) -> type:
    """The stand-in of several classes of objects: the same for the same ones."""
    return type("_or_".join(cls.__name__ for cls in classes), (Different,), {"classes": classes})


def join_rows(a: type | None, b: type | None) -> type | None:
    """The class of an object that is of one of two."""
    if a is b:
        return a
    known = [cls.classes if issubclass(cls, Different) else (cls,) for cls in (a or Different, b or Different)]
    classes = {cls for found in known for cls in found}
    if not all(known) or any(issubclass(cls, dict) for cls in classes):
        return Different
    return one_of(tuple(sorted(classes, key=lambda cls: (cls.__module__, cls.__qualname__))))


FLOAT = Num("float", np.dtype(float), ())
INT = Num("int", np.dtype(int), ())
BOOL = Num("bool", np.dtype(bool), ())
COMPLEX = Num("complex", np.dtype(complex), ())
UNKNOWN = Num()
SIMPLE_FACTS = {bool: BOOL, int: INT, float: FLOAT, complex: COMPLEX}


def unless_none(facts: Facts) -> Facts:
    """The facts of a number that may be None, where it is not."""
    if isinstance(facts, Num) and facts.unless_none is not None:
        return Num(facts.unless_none, facts.dtype, (), tensor=facts.tensor)
    return facts


def join(a: Facts, b: Facts) -> Facts:
    """The facts of a value that is one of two."""
    if a == b:
        return a
    if isinstance(a, Num) and isinstance(b, Num):
        dims, kind = join_dims(a.dims, b.dims), a.kind if a.kind == b.kind else None
        return Num(
            kind,
            join_dtypes(a, b),
            dims,
            a.roots | b.roots,
            a.size if a.size == b.size else None,
            a.tensor or b.tensor,
            join_rows(a.row, b.row),
            a.whole or b.whole or is_beside_integers(a, b) or is_beside_integers(b, a),
            a.number if kind is None and (a.number, a.dtype) == (b.number, b.dtype) else None,
        )
    if isinstance(a, Listed) and isinstance(b, Listed):
        return Listed(a.roots | b.roots, a.is_tuple if a.is_tuple == b.is_tuple else None)
    if isinstance(a, Mapped) and isinstance(b, Mapped):
        return Mapped(a.roots | b.roots)
    if isinstance(a, Pair) and isinstance(b, Pair) and len(a.items) == len(b.items) and a.cls is b.cls:
        return Pair(tuple(join(x, y) for x, y in zip(a.items, b.items)), a.cls)
    for number, other in ((a, b), (b, a)):
        if isinstance(number, Num) and other == Opaque(type(None)):
            own = number.number
            return Num(None, number.dtype, None, number.roots, None, number.tensor, number.row, unless_none=own)
    return Opaque()


def are_mixed(items: Iterable[Facts]) -> bool:
    """True if some are containers and others are not, so that nothing is known of what is any of them."""
    kinds = {type(facts) for facts in items}
    return len(kinds) > 1 and not kinds.isdisjoint({Listed, Mapped, Pair})


def is_beside_integers(a: Num, b: Num) -> bool:
    """True if one of two numbers is a float and the other a Python integer."""
    return a.kind == "int" and b.dtype is not None and b.dtype.kind == "f"


def join_dims(a: tuple[Axis, ...] | None, b: tuple[Axis, ...] | None) -> tuple[Axis, ...] | None:
    if a is None or b is None or len(a) != len(b):
        return None
    return tuple(x if x == y else blurred(x) and blurred(y) for x, y in zip(a, b))


def blurred(axis: Axis) -> Axis:
    """The facts of a length where others may take its place."""
    return MANY if several(axis) else None


def join_dtypes(a: Num, b: Num) -> np.dtype | None:
    if a.dtype is None or b.dtype is None:
        return None
    if a.dtype == b.dtype:
        return a.dtype
    # A Python number beside a real array is the start of an accumulation (`total = 0`): the array decides.
    if a.python and not b.python and b.dtype.kind in "fc" and a.dtype.kind != "c":
        return b.dtype
    if b.python and not a.python and a.dtype.kind in "fc" and b.dtype.kind != "c":
        return a.dtype
    if a.python and b.python:
        return np.result_type(a.dtype, b.dtype)
    return None


def of_length(n: int, symbol: str, k: int) -> Dim:
    """The length of axis `k` of an argument."""
    return Dim((symbol, k, "long" if n >= thresholds.LONG_AXIS else ""), 0, n > 1)


def of_value(value: Any, root: int | None = None, symbol: str = "", tensor: bool = False) -> Facts:
    """The facts that a call is specialised on: not the lengths of axes, only which of them are 1 and which are long."""
    if type(value) in PYTHON_KINDS:
        return {"bool": BOOL, "int": INT, "float": FLOAT, "complex": COMPLEX}[PYTHON_KINDS[type(value)]]
    if isinstance(value, np.ndarray) and value.dtype.kind in "biufc":
        # With a colon, it is the name of no variable.
        dims = tuple([1 if n == 1 else of_length(n, f"{symbol}:", k) for k, n in enumerate(value.shape)])
        return Num("array", value.dtype, dims, frozenset() if root is None else frozenset([root]), None, tensor)
    if isinstance(value, np.generic) and value.dtype.kind in "biufc":
        return Num("npscalar", value.dtype, ())
    return Opaque(type(value))


def same(a: Axis, b: Axis) -> bool:
    """True if two axes are known to have one length."""
    return a is not None and a == b


def several(a: Axis) -> bool:
    """True if an axis is known not to have length 1: a part of a long one that leaves out a few at its ends has not."""
    if not isinstance(a, Dim):
        return isinstance(a, int) and a != 1
    return a.several or (a.is_positive and a.offset > 1 - thresholds.LONG_AXIS)


def broadcast_axis(a: Axis, b: Axis) -> Axis:
    if same(a, b) or (isinstance(b, int) and b == 1) or several(a):
        return a
    if (isinstance(a, int) and a == 1) or several(b):
        return b
    return None


def broadcast(*shapes: tuple[Axis, ...] | None) -> tuple[Axis, ...] | None:
    """The axes of the result of an elementwise function."""
    result: tuple[Axis, ...] = ()
    for dims in shapes:
        if dims is None:
            return None
        if not dims or not result:
            result = result or dims
            continue
        longer, shorter = (result, dims) if len(result) >= len(dims) else (dims, result)
        cut = len(longer) - len(shorter)
        result = longer[:cut] + tuple(broadcast_axis(a, b) for a, b in zip(longer[cut:], shorter))
    return result


OF_THREE = {np.cross, np.linalg.cross, cross}  # products of vectors with three components


DTYPES = tuple(np.dtype(name) for name in "bool int8 int64 float16 float32 float64 complex64 complex128".split())
