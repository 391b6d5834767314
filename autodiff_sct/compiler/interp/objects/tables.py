"""Objects that only the run tells apart: rows of tables.

An object of the user's exists at compile time only, its fields are variables.  Where a list of run-time length holds
objects of a class, where a name stands for another one in each iteration, or for one of two after a branch, the
program is specialised again, and all objects that it makes of that class are rows of a table: a list for each field,
and a reference is the number of the row.

    points.append(Point(a, b))          Point_x.append(a)
                                        Point_y.append(b)
                                        points.append(point)        # the number of the row
    p.x = p.x + 1                       Point_x[p] = Point_x[p] + 1

So two names of one object are two names of one row, and linked lists and trees are lists of numbers.  What is left are
lists, which the other stages know.  A reference is no number to the program: using it as one is refused.
"""

from __future__ import annotations

import types
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import gast
import numpy as np

from ... import ir
from ...analysis.alias import changed_through
from ...domain.facts import BOOL, INT, Different, Facts, Listed, Mapped, Num, Opaque
from ...domain.values import Bound, Const, Leaf, ListV, Obj, Poison, TupleV, Value
from ..kernel import operations
from ..kernel.escape import refuse_references
from ..kernel.operations import append, attribute_of, call_python, call_value, defines, get_item, set_item, truth
from ..kernel.program_values import Restart
from ..kernel.specialiser import Specialiser, storable
from ..world.class_guards import found_in, has_method, own_method, refuse_descriptor
from . import union_tables
from .dict_views import class_of_dict
from .local_classes import class_value, first_value, of_both

NO_TABLE = (dict, list, np.flatiter)


# -- which classes have tables


def has_table(s: Specialiser, cls: type) -> bool:
    return ("table", cls) in s.dynamic


def restart_tabled(s: Specialiser, *values: Value) -> None:
    """Specialise again with tables for the classes of these objects, where they have none yet.

    A dict that has no class, for its keys are no names, lives at run time then, as does a list of numbers and arrays.
    """
    for value in values:
        for cls in classes_in(s, value):
            if not has_table(s, cls):
                raise Restart(("table", cls))
    for value in values:
        for place in containers_of(s, value):
            if place not in s.dynamic:
                raise Restart(place)


def containers_of(s: Specialiser, value: Value | None, around: tuple[Any, ...] = ()) -> list[Any]:
    """The places of dicts and lists that a value is one of, or of what is in it, and that can live at run time."""
    if not isinstance(value, Obj) or value.cls not in (dict, list) or value.id in around:
        return []
    if value.id in s.stands_for:
        found = [containers_of(s, each, (*around, value.id)) for each in s.stands_for[value.id]]
        return [place for places in found for place in places]
    if value.cls is dict:
        return [value.id] if value.id[0] == "dict" else []
    if value.id[0] != "list" or ("static", value.id) in s.dynamic:
        return []
    items = [s.env.get((value.id, k)) for k in s.fields(value)]
    others = [item for item in items if item is not None and not storable(s, item)]
    inner = [containers_of(s, item, (*around, value.id)) for item in others]
    return [] if not all(inner) else [place for places in inner for place in places] or [value.id]


def classes_in(s: Specialiser, value: Value, around: frozenset[Any] = frozenset()) -> Iterator[type]:
    """The classes of the objects in a value that the program has made; `around` are the ids of what it is in."""
    if isinstance(value, (TupleV, ListV)):
        for item in value.items:
            yield from classes_in(s, item, around)
    elif isinstance(value, Poison):
        yield from value.classes
    elif isinstance(value, Obj) and value.id not in s.objects and value.id not in around:
        if value.cls is dict and (cls := class_of_dict(s, value)) is not None:
            yield cls
        if value.cls in NO_TABLE:
            for key in s.fields(value):
                yield from classes_in(s, s.env[(value.id, key)], around | {value.id})
        elif value.id[0] != "outside" and isinstance(value.cls, type):
            yield value.cls


def learn(dynamic: set[Any], site: Any) -> None:
    """Note what a `Restart` says; with a new table, what lists were because they held objects no longer holds."""
    if isinstance(site, tuple) and site[0] == "table":
        dynamic -= {old for old in dynamic if isinstance(old, tuple) and old[0] in ("static", "write out")}
    dynamic.add(site)


# -- tables


def begin(s: Specialiser, known: dict[Any, Facts]) -> None:
    """Empty tables, at the beginning of the program; `known` are fields that were seen to hold references."""
    columns = [site for site in s.dynamic if isinstance(site, tuple) and site[0] == "column"]
    for site in sorted(columns, key=lambda site: (site[1].__qualname__, getattr(site[1], "keys_of_all", ()), site[2])):
        listed = Listed(frozenset([s.root(site)]))
        if site in known:
            s.put_element(listed, known[site])
        op = ir.Op(list, {"items": ListV(())})
        s.env[site] = s.let(gast.List([], gast.Load()), listed, op, f"{site[1].__name__}_{site[2]}", may_raise=False)


def references_in(s: Specialiser) -> dict[Any, Facts]:
    """The fields that hold references, or nothing: what is known of them before the program is specialised again."""
    columns = [site for site in s.roots if isinstance(site, tuple) and site[0] == "column"]
    found = {site: s.elements.get(s.roots[site]) for site in columns}
    return {
        site: facts
        for site, facts in found.items()
        if isinstance(facts, Num) and facts.row is not None or facts == Opaque(type(None))
    }


def columns_of(s: Specialiser, cls: type) -> list[str]:
    return [key[2] for key in s.env if isinstance(key, tuple) and key[0] == "column" and key[1] is cls]


def column(s: Specialiser, cls: type, name: str) -> Leaf:
    found = s.env.get(("column", cls, name))
    if not isinstance(found, Leaf):
        raise s.refuse(
            "which-object", f"only the run tells which {cls.__name__} this is, and not all have a field {name!r}"
        )
    return found


def as_row(s: Specialiser, obj: Obj) -> Value:
    """A new object as a row of its table; a field may hold the object itself."""
    return new_row(s, obj.cls, {name: s.env[(obj.id, name)] for name in s.fields(obj)}, obj)


def new_row(s: Specialiser, cls: type, fields: dict[str, Value], obj: Obj | None = None) -> Value:
    """A row at the end of a table."""
    for name in fields:
        if ("column", cls, name) not in s.env:
            raise Restart(("column", cls, name))
    columns = columns_of(s, cls)
    if not columns and not fields and (known := first_value(s, cls)) is not None:
        raise Restart(("column", cls, known))
    from_class = {name: of_both(s, cls, name) for name in columns if name not in fields}
    fields |= {name: value for name, value in from_class.items() if value is not None}
    if not columns or set(columns) != set(fields):
        raise s.refuse(
            "which-object",
            f"only the run tells which {cls.__name__} this is, and not all have the same fields",
            "assign all fields in __init__",
        )
    first = column(s, cls, columns[0])
    length = ir.call(gast.Name("len", gast.Load(), None, None), ir.name(first.name))
    facts, hint = Num("row", np.dtype(int), (), row=cls), cls.__name__.lower()
    if len(union_tables.family(s, cls)) == 1:
        row = s.let(length, facts, ir.Op(len, {"x": first}), hint=hint, may_raise=False)
    else:
        number = s.let(length, INT, ir.Op(len, {"x": first}), hint="row", may_raise=False)
        row = s.let(union_tables.reference(s, cls, number), facts, hint=hint, may_raise=False)
    for name in columns:
        value = row if fields[name] == obj else fields[name]
        append(s, column(s, cls, name), Const(None) if is_same_for_all(s, cls, name, value) else value)
    return row


def is_same_for_all(s: Specialiser, cls: type, name: str, value: Value) -> bool:
    """True if a field holds no numbers, but a function, say, which is the same for all objects of a class."""
    first = value if isinstance(value, Const) and not storable(s, value) else None
    known = s.same_for_all.setdefault((cls, name), first)
    if known is None or (first is not None and first.value is known.value):
        return known is not None
    raise s.refuse(
        "which-object",
        f"only the run tells which {cls.__name__} this is, and not all have the same {name!r}",
        "choose by a number in a method",
    )


def fields_of_row(s: Specialiser, row: Leaf) -> dict[str, Value]:
    cls = class_of_row(s, row)
    assert cls is not None
    return {name: read_field(s, row, name) for name in columns_of(s, cls)}


# -- references


@contextmanager
def references(s: Specialiser) -> Iterator[None]:
    """References may be written as what they are: to be stored, or to index a table."""
    outer, s.guarded = s.guarded, False
    try:
        yield
    finally:
        s.guarded = outer


def class_of_row(s: Specialiser, value: Value) -> type | None:
    """The class of an object in a table, where a value is a reference to one."""
    facts = s.facts.get(value.name) if isinstance(value, Leaf) else None
    if isinstance(facts, Num) and facts.row is not None and issubclass(facts.row, Different):
        raise s.refuse(
            "which-object",
            "one of several objects of different classes, of which only the run tells which",
            "use one class",
        )
    return facts.row if isinstance(facts, Num) else None


def may_be_none(s: Specialiser, value: Value) -> bool:
    facts = s.num(value)
    return facts is None or facts.kind is None


def is_reference(s: Specialiser, value: Value) -> bool:
    """True if a value is the number of an object in a table."""
    facts = s.facts[value.name] if isinstance(value, Leaf) else None
    return isinstance(facts, Num) and facts.row is not None


@defines(operations.read_field)
def read_field(s: Specialiser, row: Leaf, attr: str) -> Value:
    """``row.attr``"""
    cls = class_of_row(s, row)
    assert cls is not None
    if (same := s.same_for_all.get((cls, attr))) is not None:
        return same
    if ("column", cls, attr) in s.env:
        return read_column(s, column(s, cls, attr), row, union_tables.row_of(s, row, cls))
    found = found_in(s, cls, attr)
    if isinstance(found, property):
        return call_python(s, found.fget, [row], {})
    if isinstance(found, types.FunctionType):
        return Bound(found, row)
    if isinstance(found, staticmethod):
        return Const(found.__func__)
    if isinstance(found, classmethod):
        return Bound(found.__func__, Const(cls))
    if attr == "__class__":
        return Const(cls)
    if attr == "__dict__":
        raise s.refuse(
            "which-object", f"the `__dict__` of a {cls.__name__} cannot be followed", "use its fields by name"
        )
    refuse_descriptor(s, cls, attr)
    if (value := class_value(s, cls, attr)) is not None:
        return value
    if (getter := own_method(s, cls, "__getattr__")) is not None:
        return call_python(s, getter, [row, Const(attr)], {})
    raise s.refuse("which-object", f"a {cls.__name__} has no attribute {attr!r} here")


def read_column(s: Specialiser, values: Leaf, row: Leaf, number: Leaf) -> Value:
    """The entry of a column for an object, the row of that number."""
    with references(s):
        item = get_item(s, values, number)
    if isinstance(item, Leaf) and not may_be_none(s, row):  # there is one for each object
        for stmt in s.block[-1:]:
            if isinstance(stmt, ir.Let) and item.name in stmt.targets:
                stmt.may_raise = False
    return item


@defines(operations.write_field)
def write_field(s: Specialiser, row: Leaf, attr: str, value: Value) -> None:
    """``row.attr = value``"""
    cls = class_of_row(s, row)
    assert cls is not None
    found = found_in(s, cls, attr)
    if isinstance(found, property):
        if found.fset is None:
            raise s.refuse("which-object", f"the property {attr!r} has no setter", "assign the field that it returns")
        call_python(s, found.fset, [row, value], {})
        return
    if ("column", cls, attr) not in s.env and of_both(s, cls, attr) is not None:
        raise Restart(("column", cls, attr))
    if is_same_for_all(s, cls, attr, value):
        return
    with references(s):
        set_item(s, column(s, cls, attr), union_tables.row_of(s, row, cls), value)


def still_holds(s: Specialiser, base: Value, attr: str, block: ir.Block) -> bool:
    """True if a field of an object in a table is what was read of it before the statements of a block."""
    cls = class_of_row(s, base)
    if cls is None or ("column", cls, attr) not in s.env:
        return False
    values = column(s, cls, attr).name
    return not any(values in changed_through(stmt) for stmt in ir.walk(block))


def is_there(s: Specialiser, row: Leaf) -> Value:
    """The test whether there is an object."""
    test = gast.Compare(ir.name(row.name), [gast.IsNot()], [ir.constant(None)])
    found = s.let(test, BOOL, hint="condition", may_raise=False)
    s.tells[found.name] = row, False
    return found


def exists(s: Specialiser, row: Value) -> Value:
    """The truth value of an object that may be None."""
    assert isinstance(row, Leaf)
    classes = union_tables.classes_of(s, row)
    if classes is not None and not any(hasattr(cls, name) for cls in classes for name in ("__bool__", "__len__")):
        return is_there(s, row) if may_be_none(s, row) else Const(True)
    cls = class_of_row(s, row)
    assert cls is not None
    if issubclass(cls, dict):  # it has keys
        return is_there(s, row) if may_be_none(s, row) else Const(True)
    named = next((name for name in ("__bool__", "__len__") if hasattr(cls, name)), None)
    if not may_be_none(s, row):
        return Const(True) if named is None else truth(s, call_value(s, read_field(s, row, named), [], {}))
    if named is not None:
        raise s.refuse(
            "object-identity",
            f"whether this is None or a {cls.__name__} that is false is not known",
            "compare with `is None`",
        )
    return is_there(s, row)


def told_by_identity(s: Specialiser, base: Leaf, value: Value) -> bool:
    """True if a reference in a list equals only itself: no class says what is equal, and no two share a number."""
    facts = s.facts_of(base)
    element = s.elements_of(facts) if isinstance(facts, Listed) else None
    if not isinstance(element, Num) or element.row is None or s.num(value) is None or may_be_none(s, value):
        return False
    classes = [
        *classes_of_row(s, value),
        *(element.row.classes if issubclass(element.row, Different) else (element.row,)),
    ]
    if len(classes) < 2 or not set(classes).issubset(union_tables.family(s, classes[0])):
        return False
    return all(getattr(cls, "__eq__", None) is vars(object)["__eq__"] for cls in classes)


def classes_of_row(s: Specialiser, value: Value) -> tuple[type, ...]:
    """The classes of which an object in a table may be; none of what is no reference."""
    several = union_tables.classes_of(s, value)
    cls = class_of_row(s, value) if several is None else None
    return several or (() if cls is None else (cls,))


def compared(s: Specialiser, op: Any, a: Value, b: Value) -> Value | None:
    """``a is b``, and ``a == b`` where the class leaves that to be the same; None where neither is a reference."""
    known = [classes_of_row(s, v) for v in (a, b)]
    classes = [cls for found in known for cls in found]
    if not classes or not isinstance(op, (gast.Is, gast.IsNot, gast.Eq, gast.NotEq)):
        return None
    if isinstance(op, (gast.Eq, gast.NotEq)) and any(
        vars(object)["__eq__"] is not getattr(cls, "__eq__", None) for cls in classes
    ):
        return None
    equal = isinstance(op, (gast.Is, gast.Eq))
    if not all(known):
        other = b if known[0] else a
        if other != Const(None):
            return Const(not equal) if isinstance(other, Obj) else None
        op = gast.Is() if equal else gast.IsNot()
        found = s.let(gast.Compare(s.stored(a), [op], [s.stored(b)]), BOOL, hint="condition", may_raise=False)
        s.tells[found.name] = a if known[0] else b, equal
        return found
    elif set(known[0]).isdisjoint(known[1]):
        if may_be_none(s, a) and may_be_none(s, b):
            raise s.refuse(
                "object-identity",
                "whether two objects of different classes are both None is not known",
                "compare each with None",
            )
        return Const(not equal)
    else:
        op = gast.Eq() if equal else gast.NotEq()  # of numbers
    return s.let(gast.Compare(s.stored(a), [op], [s.stored(b)]), BOOL, hint="condition", may_raise=False)


def method_of(s: Specialiser, value: Value, name: str) -> Value | None:
    """A method of the user's, of an object in a table or of a named tuple."""
    if isinstance(value, TupleV):
        own = None if value.cls is None else own_method(s, value.cls, name)
        return None if own is None else Bound(own, value)
    if (classes := union_tables.classes_of(s, value)) is not None:
        callable_ = all(isinstance(found_in(s, cls, name), types.FunctionType) for cls in classes)
        return union_tables.read(s, value, classes, name) if callable_ and not may_be_none(s, value) else None
    cls = class_of_row(s, value)
    if cls is None or may_be_none(s, value):
        return None
    if not isinstance(found_in(s, cls, name), types.FunctionType):
        return None
    assert isinstance(value, Leaf)
    return read_field(s, value, name)


def operation(s: Specialiser, value: Value, name: str, *args: Value) -> Value | None:
    """The result of the method for a Python operation, such as ``__len__``, on an object in a table.

    None for what is no such object; refused where its class has no such method.
    """

    if not is_reference(s, value):
        return None
    method = method_of(s, value, name)
    if method is None:
        refuse_references(s, value)
    return call_value(s, method, [*args], {})


def is_overridden(s: Specialiser, name: str, a: Value, b: Value) -> bool:
    """True if the class of one named tuple is a subclass of another's, with a method of its own."""
    one, other = (value.cls if isinstance(value, TupleV) else None for value in (a, b))
    if one is None or other is None or one is other or not issubclass(other, one):
        return False
    return own_method(s, one, name) is not own_method(s, other, name)


def overloaded_rows(s: Specialiser, method: str, a: Value, b: Value) -> Value | None:
    """``a op b`` where one of them is in a table, or a named tuple that has the operator; None where neither is."""
    asked = [(a, f"__{method}__", b), (b, f"__r{method}__", a)]
    if class_of_row(s, a) is None and class_of_row(s, b) is None:
        if not any(isinstance(value, TupleV) and method_of(s, value, name) for value, name, _ in asked):
            return None
        if is_overridden(s, f"__r{method}__", a, b):
            asked.reverse()

    refuse_array(s, a, b)
    for target, name, other in asked:
        found = method_of(s, target, name)
        if found is None and isinstance(target, Obj) and has_method(s, target, name):
            found = attribute_of(s, target, name)
        if found is not None:
            result = call_value(s, found, [other], {})
            if not (isinstance(result, Const) and result.value is NotImplemented):
                return result
    raise s.refuse(
        "unknown-value", "these objects have no operator for this expression", "write the operation on their fields"
    )


def several_things(s: Specialiser, reason: str, *values: Value) -> Poison:
    """A name that stands for different things, among them objects that a table could hold."""
    if places := with_other_keys(s, values):
        return Poison(reason, containers=places)
    return Poison(reason, tuple(cls for value in values for cls in classes_in(s, value)))


def with_other_keys(s: Specialiser, values: tuple[Value, ...]) -> tuple[Any, ...]:
    """The places of dicts, or lists, among things that are such, but not of the same keys: they live at run time."""
    known = [v for v in values if isinstance(v, Obj) and v.cls in (dict, list)]
    others = [v for v in values if isinstance(v, Leaf) and isinstance(s.facts[v.name], (Mapped, Listed))]
    keys = {(v.cls, *s.fields(v)) for v in known}
    if len(known) + len(others) != len(values) or (not others and len(keys) == 1):
        return ()
    places = [containers_of(s, v) for v in known]
    return tuple(place for found in places for place in found) if all(places) else ()


def refuse_array(s: Specialiser, a: Value, b: Value) -> None:
    """Refuse an array before an object that does not say that NumPy is to leave the operation to it."""
    facts, cls = s.num(a), b.cls if isinstance(b, (Obj, TupleV)) else class_of_row(s, b)
    if facts is None or facts.kind not in ("array", "npscalar") or cls is None or facts.row is not None:
        return
    asked = getattr(cls, "__array_ufunc__", 0)
    left = asked is None or hasattr(cls, "stands_for") or (asked == 0 and getattr(cls, "__array_priority__", 0) > 0)
    single = asked == 0 and facts.dims == ()  # an operation of Python's on one number
    if not left and not single:
        raise s.refuse(
            "class-feature",
            f"an array before a {cls.__name__}: NumPy decides what that is",
            f"let {cls.__name__} have `__array_ufunc__ = None`, or write the object first",
        )
