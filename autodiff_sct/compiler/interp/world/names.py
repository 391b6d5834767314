"""Names and imports: the variable that a name means, and what comes in from outside the program."""

from __future__ import annotations

import builtins
import functools
import importlib
import importlib.util
import sys
from types import FunctionType, ModuleType
from typing import Any

import gast

from ....core.process_state import part
from ...domain.dependencies import CellRead, GlobalRead, ModuleRead
from ...domain.values import Const, Frame, Leaf, Poison, TupleV, Value
from ...frontend.supported_syntax import own_nodes
from ..kernel.handlers import statement
from ..kernel.operations import attribute_of, own_value
from ..kernel.specialiser import Specialiser
from ..kernel.user_errors import always
from .captures import assign_global, assign_outside, assigned, holder, import_external, module_of, object_number
from .class_guards import is_library, lacking, observe
from .partial_keys import Presence, read_presence


def home(frame: Frame | None, id: str) -> Frame | None:
    """The activation whose variable a name is, seen from `frame`; None for globals and cells."""
    while frame is not None:
        if id in frame.locals:
            return frame
        if id in globals_of(frame.tree):
            return None
        frame = frame.parent
    return None


@functools.lru_cache(maxsize=4096)
def globals_of(tree: Any) -> frozenset[str]:
    """The names that a function declares to be global."""
    found = [n for n in own_nodes(tree) if isinstance(n, gast.Global)] if isinstance(tree, gast.FunctionDef) else []
    return frozenset(name for node in found for name in node.names)


def load_name(s: Specialiser, id: str) -> Value:
    frame = s.frame
    assert frame is not None
    owner = home(frame, id)
    if owner is not None:
        value = s.env.get((owner.id, id))
        if value is None:
            # Where a later statement of a loop assigns it, the loop is specialised again.
            unbound = "where it is not associated with a value"
            if owner is frame:
                raise always(s, UnboundLocalError, f"cannot access local variable {id!r} {unbound}")
            raise always(s, NameError, f"cannot access free variable {id!r} {unbound} in enclosing scope")
        if isinstance(value, Poison):
            raise s.poisoned(value, f"give {id!r} one meaning on every path")
        read_presence(s, owner, id)
        return value
    return load_outer(s, frame, id)


def load_outer(s: Specialiser, frame: Frame, id: str) -> Value:
    """A name that is no variable of the program: a closure cell, a global or a builtin."""
    top: Frame = frame
    while top.parent is not None:
        top = top.parent
    if id in top.free:
        cell = top.free[id]
        if (known := assigned(s, cell, "cell_contents")) is not None:
            return known
        try:
            cell.cell_contents  # noqa: B018
        except ValueError:
            raise s.refuse(
                "unknown-value",
                f"the closure variable {id!r} is not bound yet",
                "assign the variable before the function is called",
            ) from None
        return import_external(s, CellRead(cell), id, ("cell", object_number(s, cell)))
    table = top.globals
    if (known := assigned(s, module_of(table), id)) is not None:
        return known
    if id in table:
        value = table[id]
        if is_own(table) and isinstance(value, (FunctionType, ModuleType)):
            # The package's own functions and modules stay what they are: no call has to look.
            return Const(value) if isinstance(value, FunctionType) else Const(value, s.bind(id, value))
        return import_external(s, GlobalRead(table, id), id, ("global", object_number(s, table), id))
    if hasattr(builtins, id):
        read = GlobalRead(table, id)
        value = getattr(builtins, id) if is_own(table) else observe(s, read)
        s.world.note(read, value)
        return Const(value, gast.Name(id, gast.Load(), None, None))
    raise lacking(s, lambda: id in table or hasattr(builtins, id), NameError, f"name {id!r} is not defined")


def assign_name(s: Specialiser, id: str, value: Value) -> None:
    frame = s.frame
    assert frame is not None
    if id in frame.nonlocals:
        owner = None if id in globals_of(frame.tree) else home(frame.parent, id)
        if owner is None:
            assign_beyond(s, frame, id, value)
            return
        frame = owner
    s.env[(frame.id, id)] = named(s, id, value)
    s.env.pop((frame.id, Presence(id)), None)


def assign_beyond(s: Specialiser, frame: Frame, id: str, value: Value) -> None:
    """Assign a name that is no variable of the program: a closure variable or a global."""
    top = frame
    while top.parent is not None:
        top = top.parent
    value = named(s, id, value)
    if id in top.free and id not in globals_of(frame.tree):
        assign_outside(s, holder(s, top.free[id]), "cell_contents", value, f"captured_{id}")
    else:
        assign_global(s, top.globals, id, value)


def is_ours(s: Specialiser) -> bool:
    """True if the text at hand is a rule's or the package's own."""
    return s.frame is not None and (s.frame.rule or is_own(s.frame.globals))


def is_own(table: dict[str, Any]) -> bool:
    """True if a module's names are those of the package."""
    return str(table.get("__name__", "")).startswith("autodiff_sct.")


def keeps_as_written(s: Specialiser, result: bool) -> bool:
    """True if a list display needs no variable: in a rule, and as the `result` where no path meets another."""
    frame = s.frame
    if frame is None or frame.rule:
        return frame is not None
    return result and (s.branches, s.loops) == (frame.branches, frame.loops)


def named(s: Specialiser, id: str, value: Value) -> Value:
    """`value` under the user's name; a list display gets a variable of its own."""
    result = s.frame is not None and id == s.frame.result
    if not isinstance(value, (Leaf, Const)) and not keeps_as_written(s, result):
        value = own_value(s, value)
    if result and s.frame is not None and s.frame.rule:
        return value  # the variable of a rule with several exits says nothing of what it holds
    if isinstance(value, Leaf) and value.name not in s.named:
        if s.frame is None or not s.frame.rule:
            s.named.add(value.name)
            s.called.add(id)
        s.call(value.name, id)
    elif isinstance(value, TupleV):
        for k, item in enumerate(value.items):
            if isinstance(item, Leaf) and item.name not in s.named:
                s.call(item.name, f"{id}_{k}")
    return value


def called_after(s: Specialiser, key: Any, value: Value) -> Value:
    """`value`, where that is a temporary called after the field, the item or the parameter that it is stored in."""
    if isinstance(value, Leaf) and isinstance(key, str) and key.isidentifier() and not is_ours(s):
        if value.name not in s.named and s.hints[value.name] == "t":
            s.call(value.name, key)
    return value


def delete_name(s: Specialiser, id: str) -> None:
    assert s.frame is not None
    if (s.frame.id, id) in s.env:
        read_presence(s, s.frame, id)
    for key in ((s.frame.id, id), (s.frame.id, Presence(id))):
        s.deleted.add(key)
        s.env.pop(key, None)


@statement(gast.Import, gast.ImportFrom)
def import_(s: Specialiser, node: Any) -> None:
    assert s.frame is not None
    s.world.closed = True  # what is imported here is read from no name of the function's
    if isinstance(node, gast.Import):
        for alias in node.names:
            top = alias.name.partition(".")[0]
            module = imported(s, alias.name)
            assign_name(s, alias.asname or top, module if alias.asname else imported(s, top))
        return
    package = s.frame.globals.get("__package__") if node.level else None
    module = imported(s, importlib.util.resolve_name("." * node.level + (node.module or ""), package))
    for alias in node.names:
        assign_name(s, alias.asname or alias.name, taken_from(s, module, alias.name))


def imported(s: Specialiser, name: str) -> Const:
    """A module; a library's stays what it is. Where there is none, the program raises what Python does."""
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise lacking(s, lambda: is_found(name), ModuleNotFoundError, str(error), name=error.name) from error
    module = sys.modules[name]
    part("libraries").load_libraries()
    return Const(module if is_library(module) else observe(s, ModuleRead(name)))


def is_found(name: str) -> bool:
    """True if there is a module of this name now."""
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def taken_from(s: Specialiser, module: Const, name: str) -> Value:
    """``from module import name``: an attribute, or a module inside a package."""
    found = module.value
    if not hasattr(found, name) and hasattr(found, "__path__") and is_found(f"{found.__name__}.{name}"):
        importlib.import_module(f"{found.__name__}.{name}")
    if hasattr(found, name):
        part("libraries").load_libraries()  # packages import their modules when they are first asked for
        return attribute_of(s, module, name)
    place = getattr(found, "__file__", None)
    message = f"cannot import name {name!r} from {found.__name__!r} ({place or 'unknown location'})"
    exists = functools.partial(hasattr, found, name)
    raise lacking(s, exists, ImportError, message, name=found.__name__, path=place)
