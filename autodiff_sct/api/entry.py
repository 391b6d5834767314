"""The compiler's door: read at the first gradient, so that importing the package stays quick."""

from __future__ import annotations

import gc
import operator
import sys
import weakref
from collections.abc import Callable
from types import FunctionType, MethodType
from typing import Any

from ..compiler.domain import pass_registry
from ..core import process_state
from ..core.process_state import IMPORTING, Lock

__all__ = ["compiled", "dispatch", "is_unchanged", "made", "shared"]

KEPT = 64  # functions whose products are remembered between calls
METHODS = 4  # instances of which the products of one method are
PRODUCTS: dict[Any, Any] = {}
CAPTURED: dict[Any, Any] = {}  # those of functions that capture something, until the next full garbage collection
LOCK = Lock()
DISPATCH: list[Any] = []  # the module `compiler.driver.pullbacks`, once it has been imported


def dispatch() -> Any:
    """The module with `Adjoint`, `Pullback` and `Pushforward`."""
    if not DISPATCH:
        with IMPORTING:
            from ..compiler.driver import pullbacks as module

        DISPATCH.append(module)
    return DISPATCH[0]


def compiled(kind: str, fn: Any, *settings: Any, memory: int | None = None) -> Any:
    """The `Adjoint`, `Pullback` or `Pushforward` of `fn`: that of an earlier call where nothing is kept alive by it."""
    return shared(lambda fn: made(kind, fn, *settings, memory=memory), fn, (kind, *settings, memory))


def shared(make: Callable[[Any], Any], fn: Any, settings: tuple[Any, ...]) -> Any:
    """The product of `make` for `fn`, or that of an earlier call with equal settings; it has `fn` as its `fn`.

    A function is known by its code, its module and what it captures: a lambda is another object each time.  What is
    compiled depends on the passes that are off and on the rules that users have registered, too.
    """
    own = getattr(fn, "__autodiff_products__", None)
    table, group, captured = (own, (fn,), ()) if own is not None else place_of(fn)
    if table is None:
        return make(fn)
    group = (*group, *settings, pass_registry.off(), len(process_state.REGISTERED))
    key = (group, captured)
    with LOCK:
        found = table.pop(key, None)
        if found is None or not is_unchanged(found.fn, fn):
            found = make(twin(fn) if table is CAPTURED else fn)
            if table is CAPTURED:
                drop_others(group)
        if table is CAPTURED and type(fn) is FunctionType:
            found.original = weakref.ref(fn)
        table[key] = found  # the last used comes last
        for old in [*table][:-KEPT] if len(table) > KEPT else ():
            table.pop(old, None)
    return found


def made(kind: str, fn: Any, *settings: Any, memory: int | None = None) -> Any:
    """The `Adjoint`, `Pullback` or `Pushforward` of `fn`, made anew."""
    result = getattr(dispatch(), kind)(fn, *settings)
    result.memory = memory
    return result


def place_of(fn: Any) -> tuple[dict[Any, Any] | None, tuple[Any, ...], tuple[Any, ...]]:
    """The table of a function's products, what it shares with others of its text, and its captured values.

    What captures nothing and belongs to a module, or what a module has by its name, stays alive anyway.  A closure or a
    method keeps its cells, defaults or its instance alive, so its products are dropped when garbage is collected.
    """
    inner = fn.__func__ if type(fn) is MethodType else fn
    if type(inner) is not FunctionType or inner in process_state.REGISTERED:
        return None, (), ()
    group = (id(inner.__code__), id(inner.__globals__))
    cells, defaults, named = inner.__closure__, inner.__defaults__, inner.__kwdefaults__
    module = getattr(sys.modules.get(inner.__globals__.get("__name__", "")), "__dict__", {})
    if inner.__dict__:  # a decorated function: another one of the same text may have other attributes
        return (PRODUCTS, (*group, id(fn)), ()) if module.get(inner.__name__) is fn else (None, (), ())
    if inner is fn and not (cells or defaults or named):
        return PRODUCTS if module is fn.__globals__ else None, group, ()
    if module.get(inner.__name__) is fn:
        return PRODUCTS, group, ()
    instance = () if inner is fn else (id(inner), id(fn.__self__))
    return CAPTURED, group, (*instance, id(named), *map(id, cells or ()), *map(id, defaults or ()))


def is_unchanged(known: Any, fn: Any) -> bool:
    """True if a function that products were made of has the code, cells, defaults and object of the one asked for.

    A module may have several closures of one text by one name, one after the other: ``loss = make_loss(fold)``.
    """
    if type(known) is not type(fn):
        return False
    if type(fn) is MethodType:
        return known.__self__ is fn.__self__ and is_unchanged(known.__func__, fn.__func__)
    if known is fn or type(fn) is not FunctionType:
        return getattr(known, "__code__", None) is getattr(fn, "__code__", None)
    if known.__code__ is not fn.__code__ or known.__kwdefaults__ is not fn.__kwdefaults__:
        return False
    return are_same(known.__closure__, fn.__closure__) and are_same(known.__defaults__, fn.__defaults__)


def are_same(mine: tuple[Any, ...] | None, theirs: tuple[Any, ...] | None) -> bool:
    """True if two tuples hold the same objects."""
    return mine is theirs or (len(mine or ()) == len(theirs or ()) and all(map(operator.is_, mine or (), theirs or ())))


def twin(fn: Any) -> Any:
    """A function of the same code, cells and defaults, which does not keep the original alive; a method itself."""
    if type(fn) is not FunctionType:
        return fn
    copied = FunctionType(fn.__code__, fn.__globals__, fn.__name__, fn.__defaults__, fn.__closure__)
    copied.__kwdefaults__, copied.__qualname__, copied.__module__ = fn.__kwdefaults__, fn.__qualname__, fn.__module__
    copied.__doc__ = fn.__doc__
    return copied


def drop_others(group: tuple[Any, ...]) -> None:
    """Make room for another closure or instance of one text: closures that are gone go, and the oldest instances."""
    keys = [key for key in [*CAPTURED] if key[0] == group]  # a collection may clear the table at any time
    same = [(key, found) for key in keys if (found := CAPTURED.get(key)) is not None]
    gone = [key for key, found in same if type(found.fn) is FunctionType and found.original() is None]
    instances = [key for key, found in same if type(found.fn) is MethodType]
    for key in (*gone, *instances[: 1 - METHODS]):
        CAPTURED.pop(key, None)


def forget(phase: str, info: dict[str, int]) -> None:
    """Drop what keeps cells and instances alive, as a full garbage collection begins."""
    if phase == "start" and info["generation"] == 2:
        CAPTURED.clear()


gc.callbacks.append(forget)
