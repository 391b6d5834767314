"""Values of the program while it is written: facts, expressions, refusals, and objects rebuilt at run time."""

from __future__ import annotations

import enum
import re
from collections.abc import Sequence
from typing import Any

import gast
import numpy as np

from ....errors import AliasError, Origin, Refused, UnsupportedSyntax
from ....runtime import objects
from ... import ir
from ...domain.facts import Num
from ...domain.pytree import is_record
from ...domain.values import (
    Bound,
    Closure,
    Const,
    Frame,
    Leaf,
    ListV,
    Obj,
    PartialV,
    Poison,
    Rest,
    SliceV,
    Super,
    Suspended,
    TupleV,
    Value,
    parts,
)
from ...ir.function import Function


def expr_of_object(s: ProgramValues, obj: Obj, built: bool = False) -> Any:
    """An expression for an object: what it is outside the call, or a container that is built of its items.

    An object that is `built` of its fields is another one than the program's: good to be printed only.
    """
    if obj.id in s.objects:
        return s.bind(s.symbols.get(obj.id[1], "captured"), s.objects[obj.id][0])
    if not built and hasattr(obj.cls, "stands_for"):
        raise s.refuse(
            "no-rule",
            f"{obj.cls.stands_for} that the program makes is given to a function for which it has no derivative",
            "wrap that in a function with a rule of its own: autodiff_sct.rule",
        )
    if not built and obj.cls not in (dict, list, np.flatiter):
        raise s.refuse(
            "object-identity",
            f"a {obj.cls.__name__} that the program makes is used where Python would see which object it is",
            "use its fields",
        )
    values = {key: s.env[(obj.id, key)] for key in s.fields(obj)}
    fields = {
        key: expr_of_object(s, value, built) if isinstance(value, Obj) else s.expr(value)
        for key, value in values.items()
    }
    if obj.cls is dict:
        return gast.Dict([s.expr(Const(k)) for k in fields], list(fields.values()))
    if obj.cls is list:
        return gast.List([v for k, v in fields.items() if k != "len"], gast.Load())
    if obj.cls is np.flatiter:
        return ir.attribute(fields["base"], "flat")
    build, cls = s.bind("build", objects.build), s.bind(obj.cls.__name__, obj.cls)
    return ir.call(build, cls, **{str(k): v for k, v in fields.items()})


LITERALS = (int, float, complex, str, bytes, bool, type(None), type(Ellipsis), enum.Enum)
UNFOLLOWED = "an object that only the run tells from others is used in a way that cannot be followed"


INTEGER_LISTS = "lists of integers that need variables"  # the site of all of them


class Restart(Exception):
    """A container made at `site` turned out to need a variable of its own: specialise again, knowing that."""

    def __init__(self, site: Any) -> None:
        super().__init__(site)
        self.site = site


class ProgramValues(Function):
    """The program values of abstract values; `Specialiser` fills the tables."""

    env: dict[Any, Value]
    objects: dict[Any, Any]  # id of an Obj that exists outside -> (object, read)
    symbols: dict[int, str]  # number of an object outside -> what the program calls it
    inside: dict[Any, Frame]  # classes of the program and their methods -> where they are defined
    texts: dict[int, Any]  # the user's functions that are compiled into the program, as `Parsed`
    dynamic: set[Any]
    guarded: bool  # whether objects in tables must not be written as the numbers that they are
    frame: Frame | None
    node: Any
    origin: Origin | None  # overrides the node's, in rules

    # -- refusing

    def where(self) -> Origin | None:
        if self.origin is not None or self.frame is None or self.node is None:
            return self.origin
        return self.frame.origin(self.node)

    def refuse(self, code: str, reason: str, remedy: str = "", cls: type[Refused] = UnsupportedSyntax) -> Refused:
        return cls(reason, remedy, self.where(), code)

    def alias_error(self, code: str, reason: str, remedy: str = "") -> Refused:
        return self.refuse(code, reason, remedy, AliasError)

    def poisoned(self, value: Poison, remedy: str = "") -> Refused:
        """The error for a read of a name that stands for different things."""
        for site in [*(("table", cls) for cls in value.classes), *value.containers]:
            if site not in self.dynamic:
                raise Restart(site)
        return self.refuse("different-kinds", value.reason, remedy)

    def in_words(self, name: str) -> str:
        """The words for a variable, or for a hint: a name that the user wrote, or else "this value"."""
        hint = self.hints.get(name, name)
        if hint != "t" and any(hint in words_of(text) for text in self.texts.values()):
            return repr(hint)
        return "this value"

    def as_list(self, *values: Value) -> None:
        """Specialise again where what NumPy returns as a list, and was a tuple so far, has to be one."""
        for value in values:
            if isinstance(value, TupleV) and value.listed is not None:
                raise Restart(value.listed)

    def kept_generator(self) -> Refused:
        """The refusal of a generator whose values are not gone through where it is called."""
        return self.refuse("kept-generator", "a generator is used as a value, or gone through in steps")

    # -- looking at values

    def static(self, value: Value) -> Any:
        """The Python object that a value is; raises LookupError where it is known only at run time."""
        if isinstance(value, Const):
            return value.value
        if isinstance(value, TupleV) and value.cls is None:
            return tuple(self.static(v) for v in value.items)
        if isinstance(value, ListV):
            return [self.static(v) for v in value.items]
        if isinstance(value, SliceV):
            return slice(self.static(value.start), self.static(value.stop), self.static(value.step))
        raise LookupError

    def is_static(self, value: Value) -> bool:
        try:
            self.static(value)
        except LookupError:
            return False
        return True

    def leaves(self, value: Value, around: tuple[Any, ...] = ()) -> Sequence[str]:
        """The variables inside a value; an object may hold one that it is in, an object `around` it."""
        if isinstance(value, Leaf):
            return (value.name,)
        inside = parts(value)
        if isinstance(value, Obj):
            if value.id in around:
                return ()
            around = (*around, value.id)
            inside = [self.env[(value.id, key)] for key in self.fields(value) if (value.id, key) in self.env]
        return [name for item in inside for name in self.leaves(item, around)]

    def fields(self, obj: Obj) -> list[Any]:
        if obj.id in self.objects and obj.cls in (list, dict):
            known = range(len(self.objects[obj.id][0])) if obj.cls is list else self.objects[obj.id][0]
            return [*known, *(k[1] for k in self.env if type(k) is tuple and k[0] == obj.id and k[1] not in known)]
        return [key[1] for key in self.env if isinstance(key, tuple) and len(key) == 2 and key[0] == obj.id]

    # -- printing values

    def expr(self, value: Value) -> Any:
        """The expression that a value is written as."""
        if isinstance(value, Leaf):
            if self.guarded and isinstance(facts := self.facts[value.name], Num) and facts.row is not None:
                raise self.refuse("list-of-objects", UNFOLLOWED, "use its fields, or keep the objects in a tuple")
            return ir.name(value.name)
        if isinstance(value, Const):
            return self.constant(value)
        if isinstance(value, TupleV):
            if value.expr is not None:
                return value.expr
            items = [self.expr(v) for v in value.items]
            if value.cls is None:
                return ir.tuple_(items)
            return ir.call(self.bind(value.cls.__name__, value.cls), *items)
        if isinstance(value, ListV):
            return gast.List([self.expr(v) for v in value.items], gast.Load())
        if isinstance(value, SliceV):
            parts = [None if v == Const(None) else self.expr(v) for v in (value.start, value.stop, value.step)]
            return gast.Slice(*parts)
        if isinstance(value, Obj):
            return expr_of_object(self, value)
        if isinstance(value, Bound):
            method = (
                value.function if isinstance(value.function, str) else getattr(value.function, "__name__", "method")
            )
            return ir.attribute(self.expr(value.self), method)
        if isinstance(value, Rest):
            return gast.Starred(self.expr(value.items), gast.Load())
        if isinstance(value, Poison):
            raise self.poisoned(value)
        if isinstance(value, (Closure, PartialV, Super)):
            raise self.refuse(
                "function-value",
                "a function made inside the program is used as a value that the compiler cannot follow",
            )
        if isinstance(value, Suspended):
            raise self.kept_generator()
        raise self.refuse(
            "unknown-value",
            f"{getattr(value, 'said', type(value).__name__)} cannot be used as a value here",
            "use a number, an array or a container of them, such as `list(...)` makes",
        )

    def stored(self, value: Value) -> Any:
        """The expression that a value is stored as, also where it is a reference to an object in a table."""
        outer, self.guarded = self.guarded, False
        try:
            return self.expr(value)
        finally:
            self.guarded = outer

    def constant(self, const: Const) -> Any:
        if const.expr is not None:
            return const.expr
        value = const.value
        if isinstance(value, enum.Enum):
            return ir.attribute(self.bind(type(value).__name__, type(value)), value.name)
        if is_record(value):
            return self.bind(type(value).__name__.rpartition(".")[2], value)
        if isinstance(value, (np.float64, np.complex128)):  # classes of their own, of which Python's are the bases
            return ir.call(ir.attribute(self.bind("np", np), type(value).__name__), ir.constant(value.item()))
        if isinstance(value, (slice, tuple)) or isinstance(value, LITERALS):
            return ir.constant(value)
        if isinstance(value, range):
            bounds = (value.start, value.stop, value.step) if value.step != 1 else (value.start, value.stop)
            return ir.call("range", *map(ir.constant, bounds if bounds[0] or len(bounds) > 2 else bounds[1:]))
        if isinstance(value, np.dtype) and value.isbuiltin == 1:
            return ir.call(ir.attribute(self.bind("np", np), "dtype"), ir.constant(value.name))
        if isinstance(value, type) and value in self.inside:
            raise self.refuse(
                "local-class", "a class that is defined inside the function is needed at run time", "define it outside"
            )
        return self.bind(getattr(value, "__name__", "constant"), value)


def words_of(text: Any) -> set[str]:
    """The words in the text of a function."""
    lines = text.lines[text.first_line - 1 : text.tree.end_lineno]
    return set(re.findall(r"\w+", "\n".join(lines)))
