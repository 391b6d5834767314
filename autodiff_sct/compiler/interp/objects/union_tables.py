"""Objects and functions of which only the run tells which one is meant.

Objects of several classes in one place: in a list, or under a name after a branch.

Each class keeps its table (`tables`), and the classes that meet are a family: a reference then says which of them an
object is, too.  It is the number of the row, times the size of the family, plus the number of the class.

    shapes.append(Circle(r))            Circle_r.append(r)
    shapes.append(Square(a))            Square_a.append(a)
                                        shapes.append(2 * row + (0 for a circle, 1 for a square))
    area = shape.area()                 if shape % 2 == 0:
                                            r = Circle_r[shape // 2]
                                            area = np.pi * r**2
                                        else: ...

So a field is read, a method called and a class asked for by branches.  What else one may do with an object is refused
where only the run tells its class.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import gast

from ....core import thresholds
from ... import ir
from ...domain.facts import BOOL, INT, Different, Num
from ...domain.values import Bound, Choice, Const, Leaf, Value
from ..kernel.bind_arguments import is_function
from ..kernel.operations import branch, compare_two, read_field, write_field
from ..kernel.program_values import Restart
from ..kernel.specialiser import Specialiser
from ..kernel.user_errors import always, raise_if
from ..world.class_guards import found_in, has
from . import optional


def classes_of(s: Specialiser, value: Value) -> tuple[type, ...] | None:
    """The classes of which a reference may be; None of what is no reference, or one to objects of a known class."""
    facts = s.facts.get(value.name) if isinstance(value, Leaf) else None
    row = facts.row if isinstance(facts, Num) else None
    if row is None or row is Different or not issubclass(row, Different):
        return None
    if ("family", row) not in s.dynamic:
        raise Restart(("family", row))
    return row.classes


def family(s: Specialiser, cls: type) -> list[type]:
    """The classes that a class meets anywhere in the program, in an order that is the same in each process."""
    met = [site[1].classes for site in s.dynamic if isinstance(site, tuple) and site[0] == "family"]
    members, more = {cls}, True
    while more:
        reached = members.union(*(classes for classes in met if not members.isdisjoint(classes)))
        members, more = reached, len(reached) > len(members)
    return sorted(members, key=lambda member: (member.__module__, member.__qualname__))


def reference(s: Specialiser, cls: type, row: Leaf) -> Any:
    """The expression of a reference to a row of a class in a family."""
    members = family(s, cls)
    times = ir.binop(ir.name(row.name), gast.Mult, ir.constant(len(members)))
    return ir.binop(times, gast.Add, number(members, cls)) if members.index(cls) else times


def row_of(s: Specialiser, reference: Leaf, cls: type) -> Leaf:
    """The number of the row in the table of a class."""
    members = family(s, cls)
    if len(members) == 1:
        return reference
    known = s.definitions.get(reference.name)
    name = known.id if isinstance(known, gast.Name) else reference.name  # as it was before its class was known
    for stmt in s.block[: -thresholds.NEAR_FAMILY - 1 : -1]:
        if isinstance(stmt, ir.Let) and is_quotient(stmt.expr, name):
            return Leaf(stmt.target)
    expr = ir.binop(ir.name(name), gast.FloorDiv, ir.constant(len(members)))
    return s.let(expr, INT, hint="row", may_raise=False)


def is_quotient(expr: Any, name: str) -> bool:
    """True if a reference is divided: the quotient is the number of its row."""
    return isinstance(expr, gast.BinOp) and isinstance(expr.op, gast.FloorDiv) and getattr(expr.left, "id", "") == name


def number(members: list[type], cls: type) -> Any:
    return ir.constant(members.index(cls))


def is_of(s: Specialiser, reference: Leaf, cls: type) -> Any:
    """The expression that tells whether an object is of a class."""
    members = family(s, cls)
    kind = ir.binop(ir.name(reference.name), gast.Mod, ir.constant(len(members)))
    return gast.Compare(kind, [gast.Eq()], [number(members, cls)])


def asked(s: Specialiser, reference: Leaf, cls: type) -> Leaf:
    return s.let(is_of(s, reference, cls), BOOL, hint=f"is_{cls.__name__.lower()}", may_raise=False)


def as_class(s: Specialiser, reference: Leaf, cls: type) -> Leaf:
    """The reference, where it is known of which class the object is."""
    facts = s.facts[reference.name]
    assert isinstance(facts, Num)
    facts = replace(facts, row=cls)
    return s.let(ir.name(reference.name), facts, hint=cls.__name__.lower(), may_raise=False)


def read(s: Specialiser, reference: Leaf, classes: tuple[type, ...], attr: str) -> Value:
    """``reference.attr``"""
    found = [found_in(s, cls, attr) for cls in classes]
    fields = any(("column", cls, attr) in s.env for cls in classes)
    if not fields and all(isinstance(method, types.FunctionType) for method in found):
        if all(method is found[0] for method in found):
            return Bound(found[0], reference)
        bound = [Bound(method, as_class(s, reference, cls)) for method, cls in zip(found, classes)]
        result: Value = bound[-1]
        for cls, method in zip(classes[-2::-1], bound[-2::-1]):
            result = Choice(asked(s, reference, cls), method, result)
        return result
    place = ("choice", s.site(attr))

    def take(known: Leaf, cls: type) -> None:
        if not (("column", cls, attr) in s.env or has(cls, attr) or has(cls, "__getattr__")):
            raise always(s, AttributeError, f"{cls.__name__!r} object has no attribute {attr!r}")
        s.env[place] = read_field(s, known, attr)

    by_class(s, reference, classes, take)
    return s.env.pop(place)


def write(s: Specialiser, reference: Leaf, classes: tuple[type, ...], attr: str, value: Value) -> None:
    """``reference.attr = value``"""
    by_class(s, reference, classes, lambda known, cls: write_field(s, known, attr, value))


def by_class(s: Specialiser, reference: Leaf, classes: tuple[type, ...], action: Callable[[Leaf, type], None]) -> None:
    """Branches in which it is known of which class an object is."""
    cls, *others = classes

    def here() -> None:
        with s.written_out(len(others)):
            action(as_class(s, reference, cls), cls)

    if others:
        branch(s, asked(s, reference, cls), here, lambda: by_class(s, reference, tuple(others), action))
    else:
        here()


def is_instance(s: Specialiser, reference: Leaf, classes: tuple[type, ...], kinds: tuple[type, ...]) -> Value:
    """``isinstance(reference, kinds)``"""
    return is_one(s, reference, classes, [cls for cls in classes if issubclass(cls, kinds)])


def has_attribute(s: Specialiser, reference: Leaf, classes: tuple[type, ...], attr: str) -> Value:
    """``hasattr(reference, attr)``"""
    own = [cls for cls in classes if ("column", cls, attr) in s.env or has(cls, attr)]
    return is_one(s, reference, classes, own)


def is_one(s: Specialiser, reference: Leaf, classes: tuple[type, ...], chosen: list[type]) -> Value:
    """True in the program if an object is of one of the chosen classes."""
    if len(chosen) in (0, len(classes)):
        return Const(bool(chosen))
    tests = [is_of(s, reference, cls) for cls in chosen]
    expr = tests[0] if len(tests) == 1 else gast.BoolOp(gast.Or(), tests)
    return s.let(expr, BOOL, hint="condition", may_raise=False)


def are_functions(items: list[Value]) -> bool:
    """True if things are functions, all of them."""
    return bool(items) and all(map(is_function, items))


def by_position(s: Specialiser, items: list[Value], index: Value) -> Value:
    """``(f, g, h)[index]``"""
    facts = s.num(index)
    if facts is None or facts.dtype is None or facts.dtype.kind not in "iu" or facts.dims != ():
        raise s.refuse(
            "list-of-objects",
            "a list of functions is indexed by something else than an integer",
            "index it by an integer",
        )
    count = len(items)
    beyond = gast.BoolOp(gast.Or(), [compared(s, index, gast.GtE, count), compared(s, index, gast.Lt, -count)])
    raise_if(s, beyond, IndexError, "list index out of range")
    place = s.let(ir.binop(s.expr(index), gast.Mod, ir.constant(count)), INT, hint="which", may_raise=False)
    return choice(s, [(Const(k), item) for k, item in enumerate(items)], place)


def by_key(s: Specialiser, items: dict[Any, Value], key: Value) -> Value:
    """``{"a": f, "b": g}[key]``"""
    tests = [compared(s, key, gast.NotEq, known) for known in items]
    raise_if(s, tests[0] if len(tests) == 1 else gast.BoolOp(gast.And(), tests), KeyError, "an unknown key")
    return choice(s, [(Const(known), item) for known, item in items.items()], key)


def told_by_choice(s: Specialiser, op: Any, a: Value, b: Value) -> Value | None:
    """``f is g`` and the like, where one is chosen at run time; None where it is another comparison."""
    for value, other in ((a, b), (b, a)):
        if isinstance(value, Choice) and isinstance(op, (gast.Is, gast.IsNot, gast.Eq, gast.NotEq)):
            return of_either(s, value, *(compare_two(s, op, each, other) for each in (value.then, value.orelse)))
    return None


def of_either(s: Specialiser, value: Choice, then: Value, orelse: Value) -> Value:
    """The truth value that one of two functions has, from those of both."""
    if then == orelse:
        return then
    if (then, orelse) == (Const(True), Const(False)):
        return value.test
    if (then, orelse) == (Const(False), Const(True)):
        test = gast.UnaryOp(gast.Not(), s.expr(value.test))
        return optional.opposite(s, value.test, s.let(test, BOOL, may_raise=False))
    return s.let(gast.IfExp(s.expr(value.test), s.expr(then), s.expr(orelse)), BOOL, hint="chosen", may_raise=False)


def exists(s: Specialiser, value: Value) -> Value:
    """True in the program if what may be None is a function."""
    if isinstance(value, Choice):
        return of_either(s, value, exists(s, value.then), exists(s, value.orelse))
    return Const(value != Const(None))


def compared(s: Specialiser, value: Value, op: type, other: Any) -> Any:
    return gast.Compare(s.expr(value), [op()], [s.expr(Const(other))])


def choice(s: Specialiser, items: list[tuple[Const, Value]], value: Value) -> Value:
    *others, (_, found) = items
    for known, item in reversed(others):
        test = s.let(compared(s, value, gast.Eq, known.value), BOOL, hint="chosen", may_raise=False)
        assert isinstance(test, Leaf)
        found = Choice(test, item, found)
    return found
