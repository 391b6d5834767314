"""``import`` inside a function: carried out when it is compiled, and raised in its place where it fails."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import sys
from typing import Any

import gast

from ....core.parts import part
from ...domain.dependencies import ModuleRead
from ...domain.values import Const, Value
from ...ir.builder import Specialiser
from ..kernel.handlers import statement
from ..kernel.operations import attribute_of
from .class_guards import is_library, lacking, observe
from .names import assign_name


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
