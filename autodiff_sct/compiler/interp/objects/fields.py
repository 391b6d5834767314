"""Fields of objects and containers that the compiler knows one by one."""

from __future__ import annotations

from typing import Any

from ...domain.request import Way
from ...domain.values import Obj, Poison, Value
from ..kernel.program_values import Restart
from ..kernel.specialiser import Specialiser
from ..objects import dict_views
from ..world.captures import import_external
from .tables import restart_tabled


def stays_short(s: Specialiser) -> bool:
    """True if short lists stay at compile time."""
    return s.attempt.takes(Way.SHORT) or (Way.LATE in s.attempt.ways and s.in_package())


def field(s: Specialiser, base: Obj, key: Any) -> Value | None:
    value = s.env.get((base.id, key))
    if value is None and base.id in s.objects and base.cls in (dict, list) and key in s.fields(base):
        read = s.objects[base.id][1]
        return import_external(
            s, lambda: read()[key], str(key) if str(key).isidentifier() else f"item_{key}", ("item", base.id, key)
        )
    if isinstance(value, Poison):
        raise s.poisoned(value)
    if s.attempts and (base.id, key) in s.unsure:
        raise s.refuse(
            "dict-key",
            f"only the run tells whether {key!r} was assigned to the object, and so what this raises",
            "assign it in __init__",
        )
    return value


def refuse_frozen(s: Specialiser, base: Obj) -> None:
    dict_views.refuse_change(s, base)
    short = stays_short(s) and base.id in s.gone_over_known and base.id[0] == "list"
    if short and base.id not in s.dynamic:
        raise Restart(base.id)  # an iterator or a generator may see the change
    if base.id in s.frozen:
        restart_tabled(s, base)
        raise s.alias_error(
            "which-object",
            f"this {base.cls.__name__} is one of several objects, depending on the path, "
            "and one of its fields is assigned",
            "make a new object with the new value instead",
        )
