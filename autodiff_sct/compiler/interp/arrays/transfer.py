"""The facts of what a function returns: NumPy's own, run on dummies, and what dummies do not tell."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ....rules.table import COMPLEX_BY_VALUE
from ...domain.dummies import Sequence, Static, evaluate
from ...domain.facts import FLOAT, INT, NOWHERE, Axis, Facts, Listed, Num, Pair, broadcast, join, several, unless_none
from ...domain.values import Const, Leaf, ListV, TupleV, Value
from ..kernel.escape import refuse_references
from ..kernel.slice_lengths import are_assumed_equal
from ..kernel.specialiser import Specialiser
from .shapes import DIMS, has_any_rank
from .value_dependent import by_value, may_view, number_given, unknown_result

# They raise where an operand is None.
RAISING = frozenset(getattr(operator, n) for n in "add sub mul truediv floordiv mod pow neg pos lt le gt ge".split())


def plain(facts: Facts) -> Facts:
    """Facts as NumPy's own behaviour depends on them, so that what is computed once serves many programs."""
    if isinstance(facts, Num):
        return plain_number(facts.kind, facts.dtype, facts.ndim)
    if isinstance(facts, Pair):
        return Pair(tuple(plain(f) for f in facts.items), facts.cls)
    return facts


class PlainNumber(Num):
    """Facts of which there is one for each kind, dtype and rank: they are looked up by what they are, not by value."""

    __hash__ = object.__hash__
    __eq__ = object.__eq__


@functools.cache
def plain_number(kind: str | None, dtype: np.dtype | None, ndim: int | None) -> PlainNumber:
    return PlainNumber(kind, dtype, None if ndim is None else (None,) * ndim)


EITHER = -2  # in place of how many items a list has: two, one of NumPy's and one of Python's, where it may hold both
NESTED = 4  # lists inside each other whose shape is told


def argument(s: Specialiser, value: Value, count: int = 2) -> Any:
    """An argument as `facts.evaluate` takes it; a list of which only the run knows the length has `count` items."""
    if isinstance(value, Const):
        return Static(value.value, type(value.value))
    if isinstance(value, Leaf) and isinstance(known := s.facts[value.name], Num) and known.row is None:
        return plain(known)
    refuse_references(s, value)
    if isinstance(value, TupleV):
        return tuple(argument(s, v, count) for v in value.items)
    if isinstance(value, ListV):
        return Sequence(tuple(argument(s, v, count) for v in value.items))
    return argument_of(s, s.facts_of(value), count)


def argument_of(s: Specialiser, facts: Facts | None, count: int, depth: int = NESTED) -> Any:
    """Facts as `facts.evaluate` takes them: of a list, `count` of its items stand for all."""
    if facts is None:
        raise ValueError("an empty list")
    if isinstance(facts, Listed) and depth > 0:
        item = s.elements_of(facts)
        if count == EITHER and isinstance(item, Num) and is_either(item):
            return Sequence((plain(item), FLOAT))
        return Sequence((argument_of(s, item, count if count == EITHER else 2, depth - 1),) * abs(count))
    return plain(facts)


def operand(s: Specialiser, value: Value) -> Any:
    """An operand of Python's, which is not None: the operator would raise."""
    facts = s.facts[value.name] if isinstance(value, Leaf) else None
    if isinstance(facts, Num) and facts.unless_none is not None:
        return plain(unless_none(facts))
    return argument(s, value)


def facts_of_call(
    s: Specialiser, fn: Callable[..., Any], args: list[Value], kwargs: dict[str, Value], elementwise: bool = False
) -> Facts:
    """The facts of ``fn(*args, **kwargs)``."""
    return outcome(s, fn, args, kwargs, elementwise)[0]


def outcome(
    s: Specialiser, fn: Callable[..., Any], args: list[Value], kwargs: dict[str, Value], elementwise: bool
) -> tuple[Facts, tuple[str, ...]]:
    """The facts of ``fn(*args, **kwargs)``, and the variables whose memory the result may share.

    That is every one of them where nothing is known.
    """
    facts = by_value(s, fn, args, kwargs)
    operands = [*args, *kwargs.values()] if kwargs else args
    found: Facts | None = None
    try:
        given = [operand(s, a) if fn in RAISING else argument(s, a) for a in args]
        found, shared, _ = evaluate(fn, given, {k: argument(s, v) for k, v in kwargs.items()})
    except ValueError:
        shared = tuple(range(len(operands))) if may_view(fn, args, kwargs) else ()
    number = number_given(fn, args, kwargs)
    if number is not None and not s.is_static(number):
        shared = (0,)  # whichever number the dummies were given
    leaves = dict.fromkeys([leaf for position in shared for leaf in s.leaves(operands[position])])
    names = tuple([n for n in leaves if isinstance(s.facts[n], Num)])
    if facts is None and found is not None:
        known = [s.facts[leaf] for operand in operands for leaf in s.leaves(operand)]
        numbers = [f for f in known if isinstance(f, Num)]
        if len(numbers) < len(known) and any(isinstance(f, Listed) for f in known):
            found = of_any_length(s, fn, found, args, kwargs)
        if not elementwise and any(map(is_either, numbers)):
            found = of_pythons_numbers(s, fn, found, args, kwargs)
        if isinstance(found, Num) and has_any_rank(s, fn, args, kwargs):
            found = replace(found, dims=None)
        tensor = True in [f.tensor for f in (numbers if len(numbers) == len(known) else items_of_lists(s, operands))]
        whole = True in [f.whole for f in numbers]
        facts = settle(s, fn, found, args, kwargs, names, elementwise, whole, tensor)
    elif facts is None:
        facts = FLOAT if is_number(s, fn, args) else unknown_result(s, fn, args, kwargs, elementwise)
    if isinstance(facts, Num) and facts.dtype is not None and facts.dtype.kind == "f" and fn in COMPLEX_BY_VALUE:
        facts = replace(facts, dtype=None)
    return facts, names


def is_number(s: Specialiser, fn: Any, args: list[Value]) -> bool:
    """True if a function of which dummies tell nothing makes a float: those of `math` do, but products of arrays."""
    if getattr(fn, "__module__", None) != "math":
        return False
    return fn.__name__ not in ("prod", "sumprod") or all(
        f is not None and f.dims == () for f in items_of_lists(s, args)
    )


def of_any_length(s: Specialiser, fn: Any, facts: Facts, args: list[Value], kwargs: dict[str, Value]) -> Facts:
    """The facts that hold for lists of any length: a list that is a shape decides how many axes there are."""
    for count in (1, 3, EITHER) if holds_either(s, args) else (1, 3):
        given = [argument(s, a, count) for a in args], {k: argument(s, v, count) for k, v in kwargs.items()}
        try:
            facts = join(facts, evaluate(fn, *given)[0])
        except ValueError:  # the function does not take as many
            continue
    return facts


def is_either(item: Num) -> bool:
    """True if a number may be one of NumPy's, or one of Python's, which makes a wider array."""
    return item.kind is None and item.dims == () and item.dtype in (np.float16, np.float32)


def of_pythons_numbers(s: Specialiser, fn: Any, facts: Facts, args: list[Value], kwargs: dict[str, Value]) -> Facts:
    """The facts that hold for NumPy's numbers and for Python's, beside which an array keeps its dtype."""
    given = [with_pythons_numbers(s, a) for a in args], {k: with_pythons_numbers(s, v) for k, v in kwargs.items()}
    try:
        return join(facts, evaluate(fn, *given)[0])
    except ValueError:
        return facts


def with_pythons_numbers(s: Specialiser, value: Value) -> Any:
    """An argument, with Python's numbers for what may be one."""
    if isinstance(value, ListV):
        return Sequence(tuple(with_pythons_numbers(s, item) for item in value.items))
    if isinstance(value, TupleV) and value.cls is None:
        return tuple(with_pythons_numbers(s, item) for item in value.items)
    facts = s.num(value) if isinstance(value, Leaf) else None
    return FLOAT if facts is not None and is_either(facts) else argument(s, value)


def holds_either(s: Specialiser, args: list[Value]) -> bool:
    """True if there are such numbers in lists."""
    found: list[Facts | None] = [s.facts[name] for value in args for name in s.leaves(value)]
    for _ in range(NESTED):
        found = [s.elements_of(facts) for facts in found if isinstance(facts, Listed)]
        if any(isinstance(item, Num) and is_either(item) for item in found):
            return True
    return False


def settle(
    s: Specialiser,
    fn: Any,
    facts: Facts,
    args: list[Value],
    kwargs: dict[str, Value],
    shared: tuple[str, ...],
    elementwise: bool,
    whole: bool,
    tensor: bool,
) -> Facts:
    """Facts from dummies, completed with axes and roots, those of the variables whose memory is `shared`.

    `whole` if an operand may be whole numbers, `tensor` if one is a tensor.
    """
    roots = NOWHERE.union(*[s.facts[n].roots for n in shared]) if shared else NOWHERE
    if isinstance(facts, Pair):
        made = [roots or frozenset([s.root(s.site(("result", k)))]) for k in range(len(facts.items))]
        shapes: Any = DIMS[fn](s, args, kwargs) if fn in DIMS else None
        shapes = shapes or [getattr(f, "dims", None) for f in facts.items]
        return Pair(
            tuple(
                replace(f, roots=own if f.kind == "array" else frozenset(), tensor=tensor, dims=dims)
                if isinstance(f, Num)
                else f
                for f, own, dims in zip(facts.items, made, shapes)
            ),
            facts.cls,
        )
    if not isinstance(facts, Num):
        return facts
    if facts.dims is None:
        return replace(facts, roots=roots or frozenset([s.root(s.site())]), tensor=tensor)
    dims: tuple[Axis, ...] | None = facts.dims
    numbers: list[Num | None] = [s.num(a) for a in args]
    if elementwise:
        shapes = [None if f is None else f.dims for f in numbers]
        equate_axes(s, shapes)
        found = broadcast(*shapes)
        if found is not None and None in found:
            found = broadcast(*map(s.by_one_name, shapes))
        dims = found if found is not None and len(found) == len(facts.dims) else dims
    elif fn in DIMS:
        found = DIMS[fn](s, args, kwargs)
        dims = found if found is not None and len(found) == len(facts.dims) else dims
    if facts.kind == "array" and not roots:
        roots = frozenset([s.root(s.site())])
    whole = whole and may_be_whole(s, fn, facts, args, kwargs)
    if fn is sum:
        numbers = [*items_of_lists(s, args)]
        if facts.kind == "npscalar" and len(args) == 1 and isinstance(s.facts_of(args[0]), Listed):
            return Num(None, facts.dtype, (), NOWHERE, None, tensor, whole=True)  # 0 of an empty list
    if facts.kind == "npscalar" and any(f is not None and f.kind is None for f in numbers):
        return Num(None, facts.dtype, (), NOWHERE, None, tensor, whole=whole)  # a scalar, of Python's or of NumPy's
    own = roots if facts.kind == "array" else NOWHERE
    return Num(facts.kind, facts.dtype, dims, own, facts.size, tensor and not facts.python, facts.row, whole)


def items_of_lists(s: Specialiser, args: list[Value]) -> list[Num]:
    """Numbers given to a function, those in lists among them."""
    found = [s.facts[name] for value in args for name in s.leaves(value)]
    inside = [s.elements_of(facts) if isinstance(facts, Listed) else facts for facts in found]
    return [facts for facts in inside if isinstance(facts, Num)]


def may_be_whole(s: Specialiser, fn: Any, facts: Num, args: list[Value], kwargs: dict[str, Value]) -> bool:
    """True if a function returns integers where those operands are integers of which only the run tells."""
    if facts.dtype is None or facts.dtype.kind != "f":
        return False
    try:
        found = evaluate(fn, [integral(s, a) for a in args], {k: integral(s, v) for k, v in kwargs.items()})[0]
    except ValueError:
        return True
    return isinstance(found, Num) and found.dtype is not None and found.dtype.kind in "iub"


def integral(s: Specialiser, value: Value) -> Any:
    """The arguments of a function, with integers for those that may be integers."""
    if isinstance(value, ListV):
        return Sequence(tuple(integral(s, item) for item in value.items))
    if isinstance(value, TupleV) and value.cls is None:
        return tuple(integral(s, item) for item in value.items)
    facts = s.facts[value.name] if isinstance(value, Leaf) else None
    if not isinstance(facts, Num) or not facts.whole:
        return argument(s, value)
    return INT if facts.dims == () else Num("array", INT.dtype, facts.dims)


def equate_axes(s: Specialiser, shapes: list[tuple[Axis, ...] | None]) -> None:
    """Axes that meet in an elementwise operation have one length, unless one of them may be 1."""
    known = [d[::-1] for d in shapes if d]
    for other in known[1:]:
        for a, b in zip(known[0], other):
            if a is not b and a != b and 1 not in (a, b):
                if several(a) and several(b) or are_assumed_equal(s, a, b):
                    s.equate(a, b)
