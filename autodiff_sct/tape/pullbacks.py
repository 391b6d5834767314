"""Rules made ready: for each shape of a call one function that computes the entries that are wanted, and no others.

A rule's text is taken as it stands in the table.  For the tape its names mean what they mean there with two exceptions,
so that a rule runs on tensors as on arrays: the run-time helpers that have rows are recorded when they meet a tensor,
and ``isinstance`` asks about the value that a tensor holds.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..errors import NoRule
from ..rules.table import TABLE, Rule

__all__ = ["Plan", "name_of", "plan_of", "scoped"]


class Plan:
    """What recording and pulling back one shape of call need to know.

    Attributes
    ----------
    pull : callable
        ``pull(y, d, *args)``: the entries, in the order of `positions`.
    positions : tuple of int
        The arguments that are differentiated, by their place in a node's `args`.
    saves : bool
        Whether `pull` reads numbers of `y` or of arguments: then the node can be freed, and they must not change.
    unread : tuple of int
        Arguments of which `pull` reads no more than shape and dtype.
    reads_result : bool
        Whether `pull` reads the numbers of `y`.
    """

    __slots__ = ("fn", "positions", "pull", "reads_result", "saves", "unread")

    def __init__(self, fn: Any, pull: Callable[..., tuple[Any, ...]], positions: tuple[int, ...]) -> None:
        self.fn, self.pull, self.positions = fn, pull, positions
        self.saves, self.unread, self.reads_result = True, (), True


PLANS: dict[Any, Plan] = {}


def plan_of(fn: Any, rule: Rule, count: int, names: tuple[str, ...], positions: tuple[int, ...]) -> Plan:
    """The plan of ``fn`` called with `count` positional and the named arguments, of which those at `positions` are
    differentiated."""
    key = (fn, rule.reverse, count, names, positions)
    found = PLANS.get(key)
    return found if found is not None else PLANS.setdefault(key, made(fn, rule, count, names, positions))


def made(fn: Any, rule: Rule, count: int, names: tuple[str, ...], positions: tuple[int, ...]) -> Plan:
    places = entry_places(fn, rule, count, names)
    wanted = tuple(places[p] for p in positions)
    run = scoped(rule.reverse)

    def pull(y: Any, d: Any, *args: Any) -> tuple[Any, ...]:
        found = run(y, d, *args[:count], **dict(zip(names, args[count:])))
        entries = found if type(found) is tuple else (found,)
        return tuple([entries[k] if k < len(entries) else None for k in wanted])

    return Plan(fn, pull, positions)


def entry_places(fn: Any, rule: Rule, count: int, names: tuple[str, ...]) -> list[int]:
    """For each argument of a call the place of its entry among those that the rule returns."""
    try:
        rule.signature.bind(*range(count), **dict.fromkeys(names))
    except TypeError as error:
        raise NoRule(
            f"{name_of(fn)} has a derivative, but not in this form: {error}", "leave the setting out"
        ) from None
    parameters = rule.signature.parameters
    starred = any(p.kind is p.VAR_POSITIONAL for p in parameters.values())
    order = list(parameters)
    return [*range(count), *(order.index(name) + (count if starred else 0) for name in names)]


def name_of(fn: Any) -> str:
    """`fn` as one would write it."""
    owner = getattr(fn, "__self__", None)
    if isinstance(owner, np.ufunc):
        return f"np.{owner.__name__}.{fn.__name__}"
    module = (getattr(fn, "__module__", None) or "numpy").replace("numpy", "np")
    return f"{module}.{getattr(fn, '__qualname__', getattr(fn, '__name__', fn))}"


# The rules' own modules, with recorders in the place of helpers

SCOPES: dict[str, dict[str, Any]] = {}
PACKAGE = __name__.partition(".")[0]


def scoped(fn: Any) -> Any:
    """A function of one of the package's modules with the names of its module as the tape means them."""
    if not isinstance(fn, types.FunctionType) or not (fn.__module__ or "").startswith(PACKAGE):
        return fn
    twin = types.FunctionType(fn.__code__, scope_of(fn.__globals__), fn.__name__, fn.__defaults__, fn.__closure__)
    twin.__kwdefaults__ = fn.__kwdefaults__
    return twin


def scope_of(names: dict[str, Any]) -> dict[str, Any]:
    """The names of a module, its functions and those that it imports bound to such scopes themselves."""
    module = names["__name__"]
    if module not in SCOPES:
        SCOPES[module] = found = {}
        found |= {k: twin_of(v) for k, v in names.items()} | {"isinstance": holds}
    return SCOPES[module]


def twin_of(value: Any) -> Any:
    """What a name in a rule's module means to the tape."""
    if not isinstance(value, types.FunctionType) or not (value.__module__ or "").startswith(f"{PACKAGE}.r"):
        return value
    if value in TABLE:
        return partial(recorded, value)
    return scoped(value) if value.__module__.startswith(f"{PACKAGE}.rules.") else value


def recorded(fn: Any, *args: Any, **kwargs: Any) -> Any:
    """Call a helper, on the tape if there is a tensor among its arguments."""
    from .engine import call, has_tensor

    return call(fn, args, kwargs) if has_tensor(args) else fn(*args, **kwargs)


def holds(x: Any, cls: Any) -> bool:
    """``isinstance`` of the value that a tensor holds."""
    return isinstance(getattr(x, "value", x), cls)
