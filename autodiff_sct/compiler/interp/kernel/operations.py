"""Operations that the rooms of the interpreter share: declared here, each defined in the room that it belongs to.

An interpreter is one recursion: to read an item may call a method, and a call may read items.  A room imports the
declaration; the room with the definition hands it over by `defines`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from ... import ir
from ...domain.values import Closure, Const, Leaf, Obj, Suspended, Value
from .specialiser import Specialiser

if TYPE_CHECKING:
    from ..containers.sources import Source

Definition = TypeVar("Definition", bound=Callable[..., Any])
DEFINITIONS: dict[str, Callable[..., Any]] = {}


def defines(declaration: Callable[..., Any]) -> Callable[[Definition], Definition]:
    """Register the definition of a declared operation."""

    def register(definition: Definition) -> Definition:
        DEFINITIONS[declaration.__name__] = definition
        return definition

    return register


# -- expressions and statements


def execute(s: Specialiser, body: list[Any]) -> None:
    """Specialise statements in order."""
    DEFINITIONS["execute"](s, body)


def store(s: Specialiser, target: Any, value: Value) -> None:
    """``target = value``."""
    DEFINITIONS["store"](s, target, value)


def operate(s: Specialiser, op: type, a: Value, b: Value) -> Value:
    """``a op b``."""
    return DEFINITIONS["operate"](s, op, a, b)


def augment(s: Specialiser, old: Value, op: type, value: Value, outer: bool = False) -> Value:
    """``old op= value``: the new value of the name, which may be one from outside the activation."""
    return DEFINITIONS["augment"](s, old, op, value, outer)


def compare_two(s: Specialiser, op: Any, a: Value, b: Value) -> Value:
    """``a op b`` of a comparison."""
    return DEFINITIONS["compare_two"](s, op, a, b)


def truth(s: Specialiser, value: Value) -> Value:
    """A value where a truth value is asked for: a constant where it is known."""
    return DEFINITIONS["truth"](s, value)


# -- calls


def call_value(s: Specialiser, callee: Value, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``callee(*args, **kwargs)``."""
    return DEFINITIONS["call_value"](s, callee, args, kwargs)


def call_constant(s: Specialiser, callee: Const, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """A call of a function that is known."""
    return DEFINITIONS["call_constant"](s, callee, args, kwargs)


def call_known(s: Specialiser, callee: Const, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """A call of a function that has a row in the table."""
    return DEFINITIONS["call_known"](s, callee, args, kwargs)


def call_python(
    s: Specialiser,
    fn: Any,
    args: list[Value],
    kwargs: dict[str, Value],
    resume: Callable[[Value], Value | None] | None = None,
    early: bool = False,
) -> Value:
    """The text of a function in the place of its call; `resume` takes the values that a generator yields.

    Where that may be `early`, it tells after each value whether the generator is left.
    """
    return DEFINITIONS["call_python"](s, fn, args, kwargs, resume, early)


def call_closure(
    s: Specialiser,
    closure: Closure,
    args: list[Value],
    kwargs: dict[str, Value],
    resume: Callable[[Value], Value | None] | None = None,
    early: bool = False,
) -> Value:
    """Call a function that the program makes, as `call_python` does."""
    return DEFINITIONS["call_closure"](s, closure, args, kwargs, resume, early)


def opaque_call(s: Specialiser, callee: Any, fn: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """A call of something without a rule: it just runs, and is refused where a derivative would pass through it.

    `fn` is the function, or the variable that holds it.
    """
    return DEFINITIONS["opaque_call"](s, callee, fn, args, kwargs)


def run_generator(
    s: Specialiser, generator: Suspended, work: Callable[[Value], Value | None], early: bool = False
) -> Value:
    """Write the text of a generator, with `work` where it yields; the work belongs to the function around it.

    Where the generator may be left `early`, the work returns whether it is, after this value.
    """
    return DEFINITIONS["run_generator"](s, generator, work, early)


def around_generator(s: Specialiser, fn: Any, args: list[Value], kwargs: dict[str, Value]) -> Suspended | None:
    """The generator that a call of ``zip`` or the like with a generator gives; None where it gets none."""
    return DEFINITIONS["around_generator"](s, fn, args, kwargs)


def kept_under_name(s: Specialiser, generator: Suspended) -> Suspended:
    """A generator that has a name: it begins where it is gone through, and is at its end after that."""
    return DEFINITIONS["kept_under_name"](s, generator)


def listed(s: Specialiser, value: Value) -> Value:
    """The list of what a generator yields, for a caller that goes through all of it at once; else what it goes over."""
    return DEFINITIONS["listed"](s, value)


# -- control flow


def branch(s: Specialiser, test: Value, then: Callable[[], None], orelse: Callable[[], None]) -> None:
    """``if test: then else: orelse``, whose bodies write into the environment.

    Where one side always raises, the other is no side of a branch: it is what follows.
    """
    DEFINITIONS["branch"](s, test, then, orelse)


def loop(s: Specialiser, make: Callable[[], ir.Loop], body: Callable[[ir.Loop], None]) -> None:
    """Specialise a loop: `make` gives its statement anew, `body` writes head and body into it."""
    DEFINITIONS["loop"](s, make, body)


def read_stop(s: Specialiser, node: ir.Loop, stop: Any) -> None:
    """Read the test at the end of a loop's body that leaves the loop, if there is one."""
    DEFINITIONS["read_stop"](s, node, stop)


def over(s: Specialiser, value: Value) -> Source:
    """The iterable of a loop over a value."""
    return DEFINITIONS["over"](s, value)


def stepped(s: Specialiser, value: Obj) -> Source | None:
    """The source of the items that a `__next__` of the user's gives; None where there is no such method."""
    return DEFINITIONS["stepped"](s, value)


# -- containers and objects


def attribute_of(s: Specialiser, base: Value, attr: str) -> Value:
    """``base.attr``."""
    return DEFINITIONS["attribute_of"](s, base, attr)


def read_field(s: Specialiser, row: Leaf, attr: str) -> Value:
    """``row.attr`` of an object that is a row of a table."""
    return DEFINITIONS["read_field"](s, row, attr)


def write_field(s: Specialiser, row: Leaf, attr: str, value: Value) -> None:
    """``row.attr = value`` of an object that is a row of a table."""
    DEFINITIONS["write_field"](s, row, attr, value)


def get_item(s: Specialiser, base: Value, index: Value) -> Value:
    """``base[index]``."""
    return DEFINITIONS["get_item"](s, base, index)


def set_item(s: Specialiser, base: Value, index: Value, value: Value) -> None:
    """``base[index] = value``."""
    DEFINITIONS["set_item"](s, base, index, value)


def items_of(s: Specialiser, value: Value, count: int | None) -> list[Value]:
    """The items of something that is unpacked, into `count` names where that is known."""
    return DEFINITIONS["items_of"](s, value, count)


def own_value(s: Specialiser, value: Value) -> Value:
    """List displays inside a value get variables of their own, so that every way to them leads to one list."""
    return DEFINITIONS["own_value"](s, value)


def replace_slice(s: Specialiser, base: Leaf, index: Value, value: Value) -> None:
    """``base[start:stop] = values`` of a list."""
    DEFINITIONS["replace_slice"](s, base, index, value)


def append(s: Specialiser, base: Value, value: Value) -> None:
    """``base.append(value)``"""
    DEFINITIONS["append"](s, base, value)


def as_list(s: Specialiser, value: Value) -> Value:
    """``list(value)``: the items of anything in a new list."""
    return DEFINITIONS["as_list"](s, value)


def call_method_of(s: Specialiser, base: Value, name: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """A method of an array, a container or an object of the standard library."""
    return DEFINITIONS["call_method_of"](s, base, name, args, kwargs)
