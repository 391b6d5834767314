"""Numbers taken for something that has items: the exception that Python raises, raised by the emitted program, too."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....tensor import Parameter, Tensor
from ...domain.facts import PYTHON_KINDS, Num
from ...domain.values import Value
from ...ir.builder import Specialiser
from .raising import Ended, always


def class_name(cls: type) -> str:
    """A class as exceptions name it."""
    return cls.__name__ if cls.__module__ == "builtins" else f"{cls.__module__}.{cls.__name__}"


def scalar_class(facts: Any) -> str | None:
    """The name of the class of a number; None for an array, and where the class is not known."""
    if not isinstance(facts, Num) or facts.tensor or facts.row is not None or facts.kind == "array":
        return None
    classes = possible_classes(facts)
    return class_name(classes[0]) if len(classes) == 1 else None


def refuse_iteration(s: Specialiser, value: Value, said: str = "{!r} object is not iterable") -> None:
    """Raise what iteration over a value raises, where it surely does: `said` of its class, if that is a number's."""
    facts = s.num(value)
    if (name := scalar_class(facts)) is not None:
        raise always(s, TypeError, said.format(name))
    if facts is not None and facts.kind == "array" and facts.dims == ():
        raise always(s, TypeError, "iteration over a 0-d array")


def refuse_unpacking(s: Specialiser, value: Value) -> None:
    refuse_iteration(s, value, "cannot unpack non-iterable {} object")


def refuse_item(s: Specialiser, value: Value, said: str) -> None:
    """Raise what ``value[index]`` raises of a Python number, and its assignment of any number."""
    if (name := scalar_class(s.num(value))) is not None:
        raise always(s, TypeError, f"{name!r} object {said}")


def too_many_indices(s: Specialiser, facts: Num, count: int) -> Ended:
    """The end of a block where more axes are indexed than there are."""
    if facts.python:
        return always(s, TypeError, f"{facts.kind!r} object is not subscriptable")
    if facts.kind == "npscalar":
        return always(s, IndexError, "invalid index to scalar variable.")
    message = f"too many indices for array: array is {facts.ndim}-dimensional, but {count} were indexed"
    return always(s, IndexError, message)


SCALARS = [np.dtype(code).type for code in np.typecodes["AllInteger"] + np.typecodes["AllFloat"] + "?"]


def possible_classes(facts: Num) -> list[type]:
    """The classes of which a number or an array is one, where the facts do not tell which; none where nothing is known.

    What an operation makes of something unknown need not be a number: a sum may be that of two texts.
    """
    if facts.kind is None and facts.dtype is None:
        return []
    array: list[type] = [np.ndarray] if facts.kind in (None, "array") else []
    if facts.dims:
        return array
    known = facts.dtype is not None and not facts.whole
    scalars = [facts.dtype.type] if known and facts.dtype is not None else SCALARS
    pythons = [cls for cls, name in PYTHON_KINDS.items() if facts.kind in (None, name)]
    return [*array, *(scalars if facts.kind in (None, "npscalar") else []), *pythons]


def lacks(facts: Num, attr: str) -> str | None:
    """The message of a number, an array or a tensor without an attribute; None where it has it, or may have it."""
    if facts.tensor:
        has_it = any(hasattr(cls, attr) for cls in (Tensor, Parameter, np.ndarray))
        return None if has_it else f"'Tensor' object has no attribute {attr!r}"
    classes = possible_classes(facts)
    if not classes or any(hasattr(cls, attr) for cls in classes):
        return None
    if len(classes) > 1:
        return f"a number has no attribute {attr!r}"
    return f"{class_name(classes[0])!r} object has no attribute {attr!r}"
