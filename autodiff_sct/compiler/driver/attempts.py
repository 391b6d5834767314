"""Attempts: a program that is refused is compiled once more, in all the ways at once that may lift the refusal.

The first attempt writes the shortest and most general program.  A second one is made where the first met something
that it could have done otherwise (see `domain.attempt`), and a third where integers among the arguments may be
settings: as a program for the very integers that it is given, it is of no use to calls with others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ...errors import Refused, UnsupportedSyntax
from ..domain.pytree import Branch, Static, is_setting
from ..domain.request import Attempt, Emitted, Request, Way

__all__ = ["fixed", "granted_by", "settings_of"]


def granted_by(
    emit: Callable[[Request], Emitted], request: Request, values: tuple[Any, ...] = ()
) -> tuple[Emitted, Request]:
    """The program that `emit` makes of a request, and the request as it was granted."""
    from ..interp.library.validation import explained
    from ..interp.world.boundary import users_line

    first: Refused | None = None
    following: Request | None = request
    while following is not None:
        request = following
        try:
            return settled(emit, request), request
        except Refused as error:
            following = after(request, error, values)
            error.origin = users_line(error.origin, request.fn, request.attempt.derivatives)
            first, last = error if first is None or Way.CALL in request.attempt.ways else first, error
    assert first is not None
    raise explained(first, last, request.attempt.unfollowed.values()) from None


def settled(emit: Callable[[Request], Emitted], request: Request) -> Emitted:
    """The result of `emit` for a request; refused if a container needs a variable where a derivative uses it."""
    from ..ir.program_values import Restart

    try:
        return emit(request)
    except Restart:
        raise UnsupportedSyntax(
            "a container changes its shape in a way that cannot be followed",
            "give each of its items one kind on every path",
            code="different-kinds",
        ) from None


def after(request: Request, refused: Refused, values: tuple[Any, ...]) -> Request | None:
    """The attempt that follows one that was refused."""
    tried, ways = request.attempt, ways_around(request.attempt, refused)
    if not tried.ways and tried.derivatives and Way.CALL in tried.met and Way.CALL not in ways:
        return replace(request, attempt=Attempt(frozenset([Way.CALL])))
    if tried.ways <= {Way.CALL} and tried.met & ways:
        return replace(request, attempt=Attempt(ways))
    if tried.ways and Way.CALL in ways - tried.ways:  # the attempts before did not come to the derivative
        return replace(request, attempt=Attempt(tried.ways | {Way.CALL}))
    parameters = fixed(request.parameters, values)
    if Way.INTEGERS in tried.ways or parameters == request.parameters:
        return None
    return replace(request, parameters=parameters, attempt=Attempt((tried.ways or ways) | {Way.INTEGERS}))


def ways_around(tried: Attempt, refused: Refused) -> frozenset[Way]:
    """The ways that may lift a refusal."""
    from ..interp.world.boundary import is_ours

    ways = {Way.TEXTS, Way.ASK, Way.LATE, Way.DEFAULTS, Way.INLINE if tried.specialised else Way.SHORT}
    in_derivative = tried.derivatives and (refused.origin is None or is_ours(refused.origin))
    return frozenset(ways | {Way.CALL} if in_derivative else ways)


# Integers that are settings: an order, a degree, an axis. How many results there are may depend on one.


def settings_of(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """The settings that tell calls apart which a program for given integers serves."""
    return tuple([value if is_setting(value) else None for value in values])


def fixed(parameters: dict[str, Any], values: tuple[Any, ...]) -> dict[str, Any]:
    """The trees of the arguments where integers that are settings are known."""
    found = {name: value for name, value in zip(parameters, values) if is_setting(value)}
    return {name: (kind, known(found[name]) if name in found else tree) for name, (kind, tree) in parameters.items()}


def known(value: Any) -> Any:
    """The tree of a setting."""
    if isinstance(value, tuple):
        return Branch(tuple, tuple(range(len(value))), tuple(map(known, value)))
    return Static(value)
