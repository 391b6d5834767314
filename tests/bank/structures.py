"""Walking over the arguments and results of programs: numbers are leaves, containers and objects are nodes."""

from __future__ import annotations

import copy
import enum
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

Path = tuple[str, ...]
Leaf = Any


def is_leaf(value: Any) -> bool:
    """Tell whether a value is a real or complex number or an array of them (integers and flags are not)."""
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "fc"
    return isinstance(value, (float, complex, np.floating, np.complexfloating))


def is_object(value: Any) -> bool:
    """Tell whether a value is an instance of a user's class, whose attributes are walked over."""
    if isinstance(value, (type, enum.Enum)) or not hasattr(value, "__dict__"):
        return False
    return type(value).__module__.startswith("tests.")


def children(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the parts of a node, each with the step that leads to it."""
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        yield from ((f".{name}", getattr(value, name)) for name in value._fields)
    elif isinstance(value, (tuple, list)):
        yield from ((f"[{i}]", part) for i, part in enumerate(value))
    elif isinstance(value, dict):
        yield from ((f"[{key!r}]", part) for key, part in value.items())
    elif is_object(value):
        yield from ((f".{name}", part) for name, part in vars(value).items())


def leaves(value: Any, path: Path = ()) -> dict[Path, Leaf]:
    """Return every leaf by its path."""
    if is_leaf(value):
        return {path: value}
    found: dict[Path, Leaf] = {}
    for step, part in children(value):
        found.update(leaves(part, (*path, step)))
    return found


def map_leaves(change: Callable[[Path, Leaf], Leaf], value: Any, path: Path = ()) -> Any:
    """Return the same structure with every leaf replaced by ``change(path, leaf)``."""
    if is_leaf(value):
        return change(path, value)
    parts = {step: map_leaves(change, part, (*path, step)) for step, part in children(value)}
    return rebuild(value, list(parts.values())) if parts else value


def rebuild(value: Any, parts: list[Any]) -> Any:
    """Return a node of the same kind with other parts."""
    if isinstance(value, tuple):
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    if isinstance(value, list):
        return parts
    if isinstance(value, dict):
        return dict(zip(value, parts, strict=True))
    made = copy.copy(value)
    made.__dict__.update(zip(vars(value), parts, strict=True))
    return made


def same(a: Any, b: Any) -> bool:
    """Tell whether two structures are equal bit for bit: kinds, dtypes, shapes, numbers (NaN equals NaN)."""
    if type(a) is not type(b):
        return False
    if isinstance(a, np.random.Generator):
        return bool(a.bit_generator.state == b.bit_generator.state)
    if isinstance(a, (np.ndarray, np.generic)):
        return a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind in "fc")
    parts, others = list(children(a)), list(children(b))
    if parts or others:
        pairs = zip(parts, others, strict=False)
        return len(parts) == len(others) and all(s == t and same(p, q) for (s, p), (t, q) in pairs)
    return bool(a == b) or a != a or is_object(a)


def total(value: Any) -> float:
    """Return the sum of the real parts of all leaves: what a seed of ones differentiates."""
    return float(sum(np.sum(np.real(np.asarray(leaf, dtype=complex))) for leaf in leaves(value).values()))


def arrays(value: Any) -> list[np.ndarray]:
    """Return the arrays among the leaves."""
    return [leaf for leaf in leaves(value).values() if isinstance(leaf, np.ndarray) and leaf.size]


def show(path: Path) -> str:
    """Write a path as it is typed."""
    return "".join(path)
