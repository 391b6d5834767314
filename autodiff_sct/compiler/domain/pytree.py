"""Containers of arrays: what an argument is made of, and how a gradient is put back into the same shape.

`describe` turns a value into a tree: `Leaf` (a number or an array), `Listing` (a list whose elements are alike, or a
dict that is one), `Branch` (a tuple, dict, dataclass or object, child by child) or `Static` (anything that is not
differentiated and known by value).

`leaves` gives the numbers and arrays in an argument one by one; `replaced` puts others into the same structure.
"""

from __future__ import annotations

import dataclasses
import enum
import sys
import threading
from collections import Counter, OrderedDict
from collections.abc import Iterable, Iterator
from itertools import repeat
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from ...core import thresholds
from ...errors import NotDifferentiable
from ...runtime.broadcast import are_floats
from ...runtime.objects import is_sparse
from ...tensor import Tensor
from .facts import Facts, Num, Opaque, blurred, join, of_value, size_classes
from .values import extends_builtin, is_compiled, is_foreign, python_of

__all__ = ["children", "has_derivative", "holds_chunked", "is_chunked", "leaves", "replaced", "with_children"]


def has_derivative(x: Any) -> bool:
    """True if `x` is a number or an array that has a derivative."""
    if isinstance(x, (float, complex)):
        return True
    return isinstance(x, (Tensor, np.ndarray, np.generic)) and np.asarray(x).dtype.kind in "fc"


def children(x: Any) -> dict[Any, Any] | None:
    """The children of a container by index, key or attribute; None for no container."""
    if isinstance(x, (tuple, list)):
        return dict(enumerate(x))
    if isinstance(x, dict):
        return x
    plain = x is None or callable(x) or isinstance(x, (Tensor, np.ndarray, np.generic, str, bytes, int, float, complex))
    if plain or type(x).__module__ in ("builtins", "numpy.random"):
        return None
    from .pytree import field_names, refuse_other_arrays

    refuse_other_arrays(x)
    return {name: getattr(x, name) for name in field_names(x)}


def with_children(x: Any, found: dict[Any, Any]) -> Any:
    """A container like `x` that holds something else."""
    if isinstance(x, (tuple, list)):
        items = list(found.values())
        return type(x)(*items) if hasattr(x, "_fields") else type(x)(items)
    if isinstance(x, dict):
        return found
    from ...runtime.objects import rebuild

    return rebuild(x, **found)


def is_chunked(x: Any) -> bool:
    """True for a dask array; dask is not imported for it."""
    return type(x).__module__.startswith("dask.array") and hasattr(x, "__dask_graph__")


def holds_chunked(x: Any) -> bool:
    """True for a dask array, and for nested tuples, lists and dicts that hold one; they may hold themselves."""
    waiting, met = [x] if "dask.array" in sys.modules else [], set()
    while waiting:
        part = waiting.pop()
        if is_chunked(part):
            return True
        if isinstance(part, (tuple, list, dict)) and id(part) not in met:
            met.add(id(part))
            waiting += part.values() if isinstance(part, dict) else part
    return False


def leaves(x: Any, like: Any) -> Iterator[Any]:
    """The leaves of `x` where `like` has its numbers and arrays."""
    if has_derivative(like):
        yield x
        return
    inside = children(like)
    if inside is not None:
        here = children(x) or {}
        for key, part in inside.items():
            yield from leaves(here[key], part)


def replaced(x: Any, found: Iterator[Any]) -> Any:
    """`x` with other numbers and arrays, in order."""
    if has_derivative(x):
        return next(found)
    inside = children(x)
    return x if inside is None else with_children(x, {key: replaced(part, found) for key, part in inside.items()})


@dataclasses.dataclass(frozen=True)
class Leaf:
    """`beside_arrays` tells what may be an array, though its facts are those of a number, too."""

    facts: Facts
    beside_arrays: bool = False

    @property
    def has_memory(self) -> bool:
        return self.beside_arrays or (isinstance(self.facts, Num) and self.facts.kind == "array")


@dataclasses.dataclass(frozen=True)
class Listing:
    """A list at run time: `element` describes each of its elements (None where it is empty)."""

    element: Any
    cls: type = list


@dataclasses.dataclass(frozen=True)
class Branch:
    cls: type
    keys: tuple[Any, ...]
    children: tuple[Any, ...]


@dataclasses.dataclass(frozen=True)
class Static:
    value: Any

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Static):
            return False
        same_type = type(self.value) is type(other.value)
        return self.value is other.value or (
            same_type and isinstance(self.value, (str, bytes, bool, tuple)) and self.value == other.value
        )

    def __hash__(self) -> int:
        return hash(type(self.value))


LIBRARY = {"builtins", "numpy", "functools", "operator", "math", "random", "itertools"}
FUNCTIONS = (FunctionType, BuiltinFunctionType, MethodType, ModuleType, type, np.ufunc)
STATIC = (*FUNCTIONS, enum.Enum, np.dtype)  # objects that are settings: each has a program of its own


SINGLE = (None, Ellipsis, np._NoValue)  # objects that are known by what they are


def describe(value: Any, symbol: str, fields: bool = False, around: tuple[int, ...] = ()) -> Any:
    """The tree of `value`; `symbol` names its axes, `fields` tells whether to look into objects.

    An object from which a path of attributes leads back to itself is known as that object: `around` are those it is in.
    Parts are told apart by their place: keys may be written alike, as those of ``{"a_b": u, "a": {"b": v}}``.
    """
    if any(value is known for known in SINGLE) or isinstance(value, (bool, str, bytes, *STATIC)):
        return Static(value)
    refuse_subclass(value)
    if type(value) in (int, float, complex) or isinstance(value, (np.ndarray, np.generic)):
        facts = of_value(value, None, symbol)
        return Leaf(facts) if isinstance(facts, Num) else Leaf(Opaque(type(value)))
    if is_tensor(value):
        return Leaf(of_value(value.asnumpy(), None, symbol, tensor=True))
    refuse_other_arrays(value)
    if is_record(value):
        return Static(value)
    if isinstance(value, tuple):
        return Branch(
            type(value),
            tuple(range(len(value))),
            tuple(parts(value, symbol, fields, around)),
        )
    if type(value) is list:
        return describe_list(value, symbol, fields, around)
    # Members of an Enum are keys of a table outside; in an argument, whose gradient has its keys, they are not.
    kinds = (str, int, bool, tuple) if fields else (str, int, bool, tuple, enum.Enum)
    if type(value) is dict and all(isinstance(k, kinds) for k in value):
        return Branch(dict, tuple(value), tuple(parts(value.values(), symbol, fields, around)))
    of_thread = type(value) is threading.local and not fields  # of what stands outside, attributes can be followed
    if (is_of_library(value) or is_compiled(type(value))) and not of_thread:
        return Leaf(Opaque(type(value))) if not callable(value) else Static(value)
    if fields and is_sparse(value):
        return describe_object(value, symbol, around)
    if is_foreign(value) or (fields and extends_builtin(type(value))):
        return Leaf(Opaque(type(value))) if python_of(value) is None else Static(value)
    if hasattr(value, "__dict__") or dataclasses.is_dataclass(value) or hasattr(type(value), "__slots__"):
        if is_cell(value) or not fields:
            return Branch(type(value), (), ()) if not fields else Static(value)
        return describe_object(value, symbol, around)
    return Leaf(Opaque(type(value)))


class Circular(Exception):
    """A path of attributes leads from an object back to itself."""


def describe_object(value: Any, symbol: str, around: tuple[int, ...]) -> Any:
    """The tree of an object, attribute by attribute."""
    if id(value) in around:
        raise Circular
    names = field_names(value)
    try:
        children = parts([getattr(value, n) for n in names], symbol, True, (*around, id(value)))
    except Circular:
        if around:
            raise
        return Static(value)
    return Branch(type(value), names, tuple(children))


def parts(values: Iterable[Any], symbol: str, fields: bool, around: tuple[int, ...]) -> list[Any]:
    """The trees of what a container holds."""
    return [describe(value, f"{symbol}[{k}]", fields, around) for k, value in enumerate(values)]


def is_mutable(tree: Any) -> bool:
    """True if a value may hold something else after a call than before it."""
    if isinstance(tree, Branch):
        return not issubclass(tree.cls, tuple) or any(map(is_mutable, tree.children))
    return (isinstance(tree, Leaf) and tree.has_memory) or isinstance(tree, Listing)


def is_of_library(value: Any) -> bool:
    """True if a value is of a class that Python or NumPy defines, whose attributes are its own affair."""
    return type(value).__module__.split(".")[0] in LIBRARY or type(value) in (OrderedDict, Counter)


def is_record(value: Any) -> bool:
    """True if a value is a record of Python's own, as ``sys.version_info``, whose class makes no others."""
    return hasattr(type(value), "n_sequence_fields")


def is_cell(value: Any) -> bool:
    return hasattr(type(value), "construct")


def describe_list(value: list[Any], symbol: str, fields: bool, around: tuple[int, ...]) -> Any:
    children = parts(value, symbol, fields, around)
    if all(is_plain(child) for child in children):
        element = None
        for child in children:
            element = child if element is None else join_trees(element, child)
            if element is None:
                break
        if not children or element is not None:
            return Listing(blur(element))
    return Branch(list, tuple(range(len(value))), tuple(children))


def is_plain(tree: Any) -> bool:
    """True if a tree can be the element of a list at run time."""
    if isinstance(tree, Branch):
        return issubclass(tree.cls, tuple) and all(is_plain(child) for child in tree.children)
    return isinstance(tree, (Leaf, Listing))


def join_trees(a: Any, b: Any) -> Any:
    """The facts of two elements of a list; None where they have none in common."""
    if isinstance(a, Leaf) and isinstance(b, Leaf):
        return Leaf(join(a.facts, b.facts), a.has_memory or b.has_memory)
    if isinstance(a, Listing) and isinstance(b, Listing):
        if a.element is None or b.element is None:
            return Listing(a.element or b.element)
        element = join_trees(a.element, b.element)
        return None if element is None else Listing(element)
    if isinstance(a, Branch) and isinstance(b, Branch) and a.cls is b.cls and a.keys == b.keys:
        children = [join_trees(x, y) for x, y in zip(a.children, b.children)]
        return None if any(c is None for c in children) else Branch(a.cls, a.keys, tuple(children))
    return None


def blur(tree: Any) -> Any:
    """The tree without lengths of axes: elements of one list need not agree in them."""
    if isinstance(tree, Leaf) and isinstance(tree.facts, Num) and tree.facts.dims is not None:
        facts = dataclasses.replace(tree.facts, dims=tuple(map(blurred, tree.facts.dims)))
        return dataclasses.replace(tree, facts=facts)
    if isinstance(tree, Listing):
        return Listing(blur(tree.element))
    if isinstance(tree, Branch):
        return Branch(tree.cls, tree.keys, tuple(blur(c) for c in tree.children))
    return tree


def field_names(value: Any) -> tuple[str, ...]:
    """The names of an object's attributes, in the order in which they were made; of a sparse matrix, its elements."""
    if is_sparse(value):
        return elements_of(value)
    names = list(getattr(value, "__dict__", {}))
    for cls in reversed(type(value).__mro__):
        slots = cls.__dict__.get("__slots__", ())
        names += [n for n in ([slots] if isinstance(slots, str) else slots) if n not in names and hasattr(value, n)]
    return tuple(name for name in names if name not in ("__dict__", "__weakref__"))  # slots of Python's own


def elements_of(matrix: Any) -> tuple[str, ...]:
    """The attribute in which a sparse matrix has its elements."""
    if matrix.format in ("lil", "dok"):
        raise NotDifferentiable(
            f"an argument is a {type(matrix).__name__}, which has its elements in lists or a dict", "pass S.tocsr()"
        )
    return ("data",)


def is_tensor(value: Any) -> bool:
    return hasattr(type(value), "__autodiff_tensor__")


def refuse_other_arrays(value: Any) -> None:
    """Refuse tensors of the tape, whose record would be lost, and dask arrays, which have no numbers yet."""
    if is_chunked(value):
        raise NotDifferentiable(
            "a dask array is neither an argument of what `grad` or `value_and_grad` returns nor computed",
            "pass it to these as an argument, which makes a graph, or compute it first: `x.compute()`",
            code="input-without-derivative",
        )
    if hasattr(type(value), "__autodiff_taped__"):
        raise NotDifferentiable(
            "a tensor of the tape came to a compiled gradient, which would not be recorded",
            "pass `t.detach().numpy()`, or differentiate all of it by `tape.grad(..., create_graph=True)`",
            code="input-without-derivative",
        )


class Itself:
    """The mark in a key of an object known by more than its kind: its attributes are read from that object."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __hash__(self) -> int:
        return id(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Itself) and self.value is other.value


def is_run_time(items: list[Any], kinds: int) -> bool:
    """True if `describe_list` surely makes a list of items of some kinds a `Listing`."""
    if kinds > 1:
        return all(is_number(v) for v in items)
    return all(is_numeric(v) for v in items[:1])


def is_number(value: Any) -> bool:
    """True if a value is a number or an array."""
    return type(value) in (np.ndarray, float, int, complex) or isinstance(value, np.generic) or is_tensor(value)


def is_numeric(value: Any) -> bool:
    """True if a value is a number or an array, or a tuple or a list of such at run time."""
    if type(value) is list:
        return isinstance(key(value), tuple) and key(value)[0] == "list"
    return all(is_numeric(v) for v in value) if isinstance(value, tuple) else is_number(value)


def refuse_subclass(value: Any) -> None:
    """Refuse a number or an array of a class whose operators may mean something else, as those of ``np.matrix`` do."""
    array = isinstance(value, np.ndarray) and type(value) not in (np.ndarray, np.memmap)
    number = isinstance(value, (int, float, complex)) and type(value) not in (int, float, complex)
    if array or (number and not isinstance(value, np.generic)):
        plain = "np.asarray(...)" if array else "float(...)"
        raise NotDifferentiable(
            f"a value of the class {type(value).__name__} may compute in its own way",
            f"pass {plain} of it",
            code="input-without-derivative",
        )


def short(found: Any) -> Any:
    """A key that does not tell which axes are long, as that of an item of a list that may be of any length."""
    if not isinstance(found, tuple):
        return found
    if found and isinstance(found[0], np.dtype):
        return (found[0], *[min(n, 2) for n in found[1:]])
    return tuple([short(part) for part in found])


def told_apart(k: Any) -> Any:
    """The key of a dict with its class: 1, True and 1.0 are equal, and so are a string and one of a subclass."""
    return (type(k), tuple(map(told_apart, k)) if isinstance(k, tuple) else k)


def key(value: Any, around: tuple[int, ...] = ()) -> Any:
    """The key on which a call is specialised, as fast as it can be had: equal keys, equal trees."""
    kind = type(value)
    if kind is np.ndarray:
        return (value.dtype, *size_classes(value.shape))
    if kind is float or kind is int or kind is complex:
        return kind
    if value is None or kind is bool or isinstance(value, (str, bytes)):
        return (kind, value)
    if kind is tuple and are_floats(value):
        return (kind, *repeat(float, len(value)))
    if kind is list:
        if are_floats(value):
            return ("list", float)
        keys = [key(v, around) for v in value]
        several = dict.fromkeys(map(short, dict.fromkeys(keys)))
        # A list at run time may be of any length; of any other one, each item is known to the compiler.
        return ("list", *several) if is_run_time(value, len(several)) else ("items", *keys)
    if is_tensor(value):
        return ("tensor", key(value.asnumpy()))
    if isinstance(value, np.generic):
        return (kind, value.dtype)  # the dtype alone equals the class float
    if isinstance(value, tuple):
        return (kind, value) if is_record(value) else (kind, *[key(v, around) for v in value])
    if kind is dict:
        return ("dict", *[(k if type(k) is str else told_apart(k), key(v, around)) for k, v in value.items()])
    if isinstance(value, STATIC):
        return (kind, value)
    refuse_other_arrays(value)
    if is_cell(value) or is_of_library(value) and callable(value):
        return Itself(value)
    if is_of_library(value):
        return kind
    if is_sparse(value):
        return key_of_object(value, around)
    if is_foreign(value) or extends_builtin(type(value)):
        return kind if python_of(value) is None else Itself(value)
    if hasattr(value, "__dict__") or hasattr(kind, "__slots__"):
        return key_of_object(value, around)
    return kind


def key_of_object(value: Any, around: tuple[int, ...]) -> Any:
    """The key of an object, attribute by attribute."""
    if id(value) in around:
        raise Circular
    try:
        return (type(value), *[(n, key(getattr(value, n), (*around, id(value)))) for n in field_names(value)])
    except Circular:
        if around:
            raise
        return Itself(value)


def is_setting(value: Any) -> bool:
    """True if a value is an integer of Python's that may be a setting, or a tuple of such."""
    if type(value) is tuple:
        return len(value) > 0 and all(map(is_setting, value))
    return type(value) is int and -thresholds.SETTING <= value <= thresholds.INTEGER
