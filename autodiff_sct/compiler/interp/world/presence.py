"""Names that some paths leave unbound: where the program reads one, the variable that it stands for is read.

What stands for no variable (a dict, an object) is bound where a variable of its own is, which is true.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ... import ir
from ...domain.values import Const, Frame, Leaf, Poison, TupleV, Value
from ...frontend.builders import names_in
from ...ir.builder import Specialiser


@dataclass(frozen=True)
class Presence:
    """The name, as a key of the environment, of what is bound where `id` is."""

    id: str

    def __str__(self) -> str:
        return self.id


def note_presence(*envs: dict[Any, Value]) -> None:
    """Note for a name that one of the paths that meet lacks, and that stands for no variable, on which it is bound."""
    every = dict.fromkeys(key for env in envs for key in env)
    for key in every if any(len(env) < len(every) for env in envs) else ():
        if not isinstance(key, tuple) or not isinstance(key[0], int):
            continue
        name, told = (key[0], str(key[1])), (key[0], Presence(str(key[1])))
        having = [env for env in envs if name in env]
        if key == told or (len(having) < len(envs) and not any(stands_for_variable(env[name]) for env in having)):
            for env in having:
                env.setdefault(told, Const(True))


def note_deleted(s: Specialiser, entry: dict[Any, Value], one: dict[Any, Value], other: dict[Any, Value]) -> None:
    """Note that a name which one side of a branch deletes may not be read after it: its variable stays bound."""
    for key in s.deleted:
        if key in entry and (key in one) != (key in other):
            (other if key in one else one)[key] = Poison(
                f"{str(key[1])!r} is deleted on one of the paths that lead here"
            )


def stands_for_variable(value: Value) -> bool:
    """True if a value, or an item of a tuple, is a variable, or becomes one where paths meet."""
    if isinstance(value, TupleV):
        return any(map(stands_for_variable, value.items))
    return isinstance(value, (Const, Leaf, Poison))


def read_presence(s: Specialiser, owner: Frame, id: str) -> None:
    """Read a name of the user's that may be unbound, which raises there, also where nobody needs its value."""
    told = s.env.get((owner.id, Presence(id)), s.env.get((owner.id, id)))
    names = [name for name in variables_in(told) if name in s.partly]
    if names and not getattr(s.node, "bound", False) and not owner.rule and id in names_of(owner.parsed.tree):
        s.block.append(ir.Effect(ir.name(names[0]), s.where()))


def variables_in(value: Value | None) -> Iterable[str]:
    """The variables that a value or the items of a tuple are."""
    if isinstance(value, TupleV):
        return [name for item in value.items for name in variables_in(item)]
    return [value.name] if isinstance(value, Leaf) else []


@functools.lru_cache(maxsize=4096)
def names_of(tree: Any) -> frozenset[str]:
    """The names in a text, without those that the compiler has added to it."""
    return frozenset(names_in(tree))


def join_presence(s: Specialiser, target: str, names: Iterable[str | None]) -> None:
    """Note whether a variable that stands for one of others, or for nothing, may be unbound."""
    if any(name is None or name in s.partly for name in names):
        s.partly.add(target)
