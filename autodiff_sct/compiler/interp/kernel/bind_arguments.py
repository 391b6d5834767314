"""Python's binding of arguments to parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...domain.values import Const, Obj, Rest, TupleV, Value
from ...ir.builder import Specialiser
from .check_arguments import signature
from .raising import always


def places(fn: Callable[..., Any]) -> tuple[str, ...]:
    """The parameters that arguments by position are bound to; none where Python does not know them."""
    known = signature(fn)
    parameters = known.parameters.values() if known is not None else ()
    return tuple(p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD))


def in_place(
    fn: Callable[..., Any], args: list[Value], kwargs: dict[str, Value]
) -> tuple[list[Value], dict[str, Value]]:
    """The arguments of a call, with those by name that stand right behind the others among the others."""
    args, kwargs = list(args), dict(kwargs)
    for name in places(fn)[len(args) :]:
        if name not in kwargs:
            break
        args.append(kwargs.pop(name))
    return args, kwargs


def bind_signature(
    s: Specialiser,
    spec: Any,
    args: list[Value],
    kwargs: dict[str, Value],
    defaults: list[Value],
    kw_defaults: dict[str, Value],
    name: str,
) -> dict[str, Value]:
    """The arguments by parameter."""
    positional = [a.id for a in [*spec.posonlyargs, *spec.args]]
    others = None
    if args and isinstance(args[-1], Rest):
        args, others = args[:-1], args[-1].items
    if len(args) == len(positional) and not (kwargs or spec.vararg or spec.kwonlyargs or spec.kwarg):
        return dict(zip(positional, args))
    bound: dict[str, Value] = dict(zip(positional, args))
    rest, named = list(args[len(positional) :]), dict(kwargs)
    for parameter in [a.id for a in [*spec.args, *spec.kwonlyargs]]:
        if parameter in named:
            if parameter in bound:
                raise always(s, TypeError, f"{name}() got multiple values for argument {parameter!r}")
            bound[parameter] = named.pop(parameter)
    for parameter, default in zip(positional[len(positional) - len(defaults) :], defaults):
        bound.setdefault(parameter, default)
    for parameter, default in kw_defaults.items():
        bound.setdefault(parameter, default)
    if spec.vararg is not None:
        assert others is None or not rest
        bound[spec.vararg.id] = TupleV(tuple(rest)) if others is None else others
    elif rest:
        raise always(s, TypeError, too_many(name, len(positional), len(defaults), len(args)))
    if spec.kwarg is not None:
        obj = Obj(("kwargs", s.site(name)), dict)
        for key in s.fields(obj):
            del s.env[(obj.id, key)]
        for key, value in named.items():
            s.env[(obj.id, key)] = value
        s.env[("made", obj.id)] = Const(True)
        bound[spec.kwarg.id] = obj
    elif named:
        raise always(s, TypeError, f"{name}() got an unexpected keyword argument {next(iter(named))!r}")
    for parameter in [*positional, *(a.id for a in spec.kwonlyargs)]:
        if parameter not in bound:
            raise always(s, TypeError, f"{name}() missing 1 required positional argument: {parameter!r}")
    return bound


def too_many(name: str, most: int, optional: int, given: int) -> str:
    """The message of Python for a call with too many arguments by position."""
    taken = f"from {most - optional} to {most}" if optional else str(most)
    plural = "argument" if taken == "1" else "arguments"
    return f"{name}() takes {taken} positional {plural} but {given} {'was' if given == 1 else 'were'} given"
