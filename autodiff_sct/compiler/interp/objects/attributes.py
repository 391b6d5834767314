"""Attributes: of modules, objects, classes, arrays."""

from __future__ import annotations

import functools
import sys
import threading
import types
from collections.abc import Callable, Sequence
from typing import Any

import gast
import numpy as np

from ....core.process_state import part
from ....runtime.memory import with_imag
from ... import ir
from ...domain.dependencies import AttributeRead
from ...domain.facts import INT, Facts, Listed, Mapped, Num, Opaque, Pair
from ...domain.values import Bound, Closure, Const, Leaf, ListV, MaybeV, Obj, PartialV, SliceV, Super, TupleV, Value
from ..arrays import emit_op
from ..arrays.flat import flat_of
from ..arrays.flat_items import assign_flat
from ..kernel import operations
from ..kernel.bind_arguments import Shown
from ..kernel.operations import call_python, call_value, defines, items_of, own_value, read_field, write_field
from ..kernel.specialiser import Specialiser
from ..kernel.user_errors import always, lacks, possible_classes
from ..models import functions as models
from ..world.captures import (
    assign_global,
    assign_outside,
    assign_to_class,
    assigned,
    assigned_to_class,
    import_external,
    object_number,
    of_outside,
)
from ..world.class_guards import (
    DESCRIPTORS,
    descriptor_method,
    found_in,
    is_library,
    lacking,
    lookup,
    own_method,
    refuse_descriptor,
    watch,
)
from ..world.names import called_after, is_ours
from . import optional, union_tables
from .fields import field, refuse_frozen
from .local_classes import class_value
from .record_tables import record_of
from .tables import class_of_row

READ_IN_THE_RUN: dict[str, Facts] = {"nbytes": INT, "itemsize": INT, "strides": Opaque(), "base": Opaque()}
READ_IN_THE_RUN["flags"] = Opaque(type(np.empty(0).flags))
SCALAR_ATTRIBUTES: dict[str, Value] = {"ndim": Const(0), "size": Const(1), "shape": TupleV(())}
REPLACED = ("__name__", "__qualname__", "__module__", "__doc__")  # of a function's own attributes
SLICE_ATTRIBUTES = ("start", "stop", "step")
OF_THE_RUN = {  # of exceptions and of their tracebacks: where the emitted program was, which the user's text was not
    "__context__": "raise it `from` the other exception, and read its `__cause__`",
    "tb_frame": "let the exception leave the function",
    "tb_lineno": "let the exception leave the function",
}


def asked_for(s: Specialiser, base: Value, attr: str) -> Value:
    """``base.attr`` in a text: in the user's, Python's numbers have no attributes of arrays."""
    facts = s.facts_of(base) if isinstance(base, (Leaf, Const)) else None
    if attr in SCALAR_ATTRIBUTES and isinstance(facts, Num) and facts.python and not is_ours(s):
        raise always(s, AttributeError, f"{facts.kind!r} object has no attribute {attr!r}")
    return attribute_of(s, base, attr)


@defines(operations.attribute_of)
def attribute_of(s: Specialiser, base: Value, attr: str) -> Value:
    if isinstance(base, Const):
        return of_constant(s, base, attr)
    if isinstance(base, Obj):
        return of_object(s, base, attr)
    if isinstance(base, MaybeV):
        base = optional.present(s, base, f"'NoneType' object has no attribute {attr!r}", AttributeError)
    if isinstance(base, TupleV):
        return of_tuple(s, base, attr)
    if isinstance(base, Super):
        return of_super(s, base, attr)
    if isinstance(base, PartialV) and attr in ("func", "args", "keywords"):
        return {"func": base.function, "args": TupleV(base.args)}.get(attr, Const(None))
    if isinstance(base, Leaf):
        return of_leaf(s, base, attr)
    if isinstance(base, SliceV) and attr in SLICE_ATTRIBUTES:
        bound: Value = getattr(base, attr)
        return bound
    if isinstance(base, (ListV, Closure, Bound)):
        return Bound(attr, base)
    raise s.refuse(
        "attribute",
        f"the attribute {attr!r} of this value cannot be followed",
        "pass what it holds as an argument, or give the value one kind on every path",
    )


def of_constant(s: Specialiser, base: Const, attr: str) -> Value:
    if type(base.value) in (int, float, complex) and attr in SCALAR_ATTRIBUTES:
        return SCALAR_ATTRIBUTES[attr]
    if isinstance(base.value, slice) and attr in SLICE_ATTRIBUTES:
        return Const(getattr(base.value, attr))
    if isinstance(base.value, property) and attr in ("fget", "fset"):
        return Const(getattr(base.value, attr))  # ``Base.size.fset(self, size)``
    if isinstance(base.value, type) and (value := assigned_to_class(s, base.value, attr)) is not None:
        return value
    if isinstance(base.value, type):
        found_in(s, base.value, attr)
        if attr == "_make" and issubclass(base.value, tuple):
            return PartialV(Const(models.made_of), (base,), {})
    imported = len(sys.modules)
    try:
        value = getattr(base.value, attr)
    except AttributeError as error:
        raise lacking(s, lambda: hasattr(base.value, attr), AttributeError, str(error)) from error
    if len(sys.modules) != imported:  # packages import their modules when they are first asked for
        part("libraries").load_libraries()
    if isinstance(base.value, types.ModuleType):
        return of_module(s, base, attr, value)
    if isinstance(base.value, types.FunctionType) and (attr in vars(base.value) or attr in REPLACED):
        fn = base.value
        return import_external(s, AttributeRead(fn, attr), attr, ("attribute", object_number(s, fn), attr))
    if isinstance(base.value, type) and isinstance(value, (types.FunctionType, property)):
        return Const(value)
    if isinstance(base.value, type) and base.value in s.inside and isinstance(value, types.MethodType):
        return Const(value)
    if callable(value) and not isinstance(value, type) and not isinstance(value, types.FunctionType):
        return (
            Bound(value, base)
            if isinstance(value, types.BuiltinMethodType)
            else Const(value, ir.attribute(s.expr(base), attr))
        )
    if isinstance(base.value, type) and not isinstance(value, (types.FunctionType, types.MethodType)):
        return import_external(
            s, lambda: getattr(base.value, attr), attr, ("attribute", object_number(s, base.value), attr)
        )
    if isinstance(base.value, tuple):  # a record of Python's own, whose items are literals
        return Const(value)
    return Const(value, ir.attribute(s.expr(base), attr))


def of_module(s: Specialiser, base: Const, attr: str, value: Any) -> Value:
    """NumPy's and the standard library's names are constants; those of the user's modules are read anew."""
    if is_library(base.value):
        if callable(value) or isinstance(value, types.ModuleType):
            s.world.note(AttributeRead(base.value, attr), value)
        return Const(value, ir.attribute(s.expr(base), attr))
    if (known := assigned(s, base.value, attr)) is not None:
        return known
    return import_external(s, AttributeRead(base.value, attr), attr, ("module", object_number(s, base.value), attr))


def of_object(s: Specialiser, base: Obj, attr: str) -> Value:
    if base.cls in (dict, list):
        return Bound(attr, base)
    if (getter := descriptor_method(s, base, attr, "__get__")) is not None:
        return call_python(s, getter, [Const(lookup(base.cls, attr)), base, Const(base.cls)], {})
    if base.id in s.objects or not isinstance(found_in(s, base.cls, attr), functools.cached_property):
        refuse_descriptor(s, base.cls, attr)
    value = field(s, base, attr)
    if value is not None:
        return value
    if attr == "__dict__" and base.id not in s.objects and hasattr(base.cls, "__dictoffset__"):
        return Obj(base.id, dict)  # a dict with the same fields: what is written into one is read from the other
    own = base.id in s.objects and attr in getattr(s.objects[base.id][0], "__dict__", {})
    if not own and (value := assigned_to_class(s, base.cls, attr)) is not None:
        return value
    found = found_in(s, base.cls, attr)
    watch(s, base, attr, found)
    if isinstance(found, property):
        assert found.fget is not None
        return call_value(s, Const(found.fget), [base], {})
    if isinstance(found, functools.cached_property):
        return computed_once(s, base, attr, found)
    if isinstance(found, types.FunctionType):
        if own:
            return of_outside(s, base, attr)
        return Bound(found, base)
    if isinstance(found, staticmethod):
        return Const(found.__func__)
    if isinstance(found, classmethod):
        return Bound(found.__func__, Const(base.cls))
    if base.id in s.objects:
        return of_outside(s, base, attr)
    if attr == "__class__":
        return Const(base.cls)
    if (value := class_value(s, base.cls, attr)) is not None:
        return value
    if (getter := own_method(s, base.cls, "__getattr__")) is not None:
        return call_python(s, getter, [base, Const(attr)], {})
    if hasattr(base.cls, "stands_for"):
        raise s.refuse(
            "attribute",
            f"{attr!r} of {base.cls.stands_for} that the program makes has no derivative here",
            "compute it before, and pass it as an argument",
        )
    message = f"{base.cls.__name__!r} object has no attribute {attr!r}"
    raise lacking(s, lambda: hasattr(base.cls, attr) and found is None, AttributeError, message)


def computed_once(s: Specialiser, base: Obj, attr: str, found: functools.cached_property[Any]) -> Value:
    """A `functools.cached_property` that is read for the first time: it becomes an attribute."""
    if s.births.get(base.id) is not s.block:
        raise s.refuse(
            "attribute",
            f"only the run tells whether {attr!r}, a cached_property, was read before",
            "read it once where the object is made",
        )
    value = own_value(s, call_value(s, Const(found.func), [base], {}))
    refuse_frozen(s, base)
    s.env[(base.id, attr)] = value
    return value


def of_tuple(s: Specialiser, base: TupleV, attr: str) -> Value:
    fields: Any = getattr(base.cls, "_fields", None) or getattr(base.cls, "__match_args__", ())
    found = found_in(s, base.cls, attr) if base.cls is not None else None
    if attr in fields and not isinstance(found, DESCRIPTORS):
        return base.items[list(fields).index(attr)]
    if attr in ("_replace", "_asdict"):
        return Bound(attr, base)
    if isinstance(found, property):
        assert found.fget is not None
        return call_value(s, Const(found.fget), [base], {})
    if isinstance(found, types.FunctionType):
        return Bound(found, base)
    if found is None and (what := getattr(base.cls, "stands_for", None)):
        raise s.refuse(
            "attribute", f"{attr!r} of {what} has no derivative", f"differentiate with respect to {', '.join(fields)}"
        )
    return Bound(attr, base)


def of_super(s: Specialiser, base: Super, attr: str) -> Value:
    cls = class_of_row(s, base.self) or (base.self.cls if isinstance(base.self, Obj) else base.self.value)
    found = found_in(s, cls, attr, base.cls)
    if isinstance(found, property):
        assert found.fget is not None
        return call_value(s, Const(found.fget), [base.self], {})
    if isinstance(found, (types.FunctionType, types.WrapperDescriptorType)):
        return Bound(found, base.self)
    if isinstance(found, staticmethod):
        return Const(found.__func__)
    if isinstance(found, classmethod):
        return Bound(found.__func__, Const(cls))
    if found is None:
        raise s.refuse(
            "attribute", f"no class above {base.cls.__name__} has {attr!r}", "name an attribute of a base class"
        )
    numbers = object_number(s, cls), object_number(s, base.cls)
    return import_external(s, lambda: lookup(cls, attr, base.cls), attr, ("above", *numbers, attr))


def of_leaf(s: Specialiser, base: Leaf, attr: str) -> Value:
    facts = s.facts[base.name]
    if isinstance(facts, Pair):
        return of_tuple(s, TupleV(tuple(items_of(s, base, None)), facts.cls), attr)
    if isinstance(facts, Listed) and attr == "maxlen":
        return limit_of(s, facts)
    if isinstance(facts, Listed) and facts.is_tuple and not hasattr(tuple, attr):
        raise always(s, AttributeError, f"'tuple' object has no attribute {attr!r}")
    if isinstance(facts, (Listed, Mapped)):
        return Bound(attr, base)
    if isinstance(facts, Num) and facts.row is not None:
        if record_of(s, base) is not None:
            return Bound(attr, base)
        if (classes := union_tables.classes_of(s, base)) is not None:
            return union_tables.read(s, base, classes, attr)
        return read_field(s, base, attr)
    if isinstance(facts, Num):
        return of_number(s, base, facts, attr)
    if attr in OF_THE_RUN:
        raise s.refuse(
            "exceptions", f"`{attr}` tells where an exception was raised in the emitted program", OF_THE_RUN[attr]
        )
    return method_or_value(s, base, attr, [facts.cls] if facts.cls not in (None, Shown) else [])


def of_number(s: Specialiser, base: Leaf, facts: Num, attr: str) -> Value:
    if facts.python and attr in SCALAR_ATTRIBUTES:
        return SCALAR_ATTRIBUTES[attr]
    if (message := lacks(facts, attr)) is not None:
        raise always(s, AttributeError, message)
    if attr == "T":
        return transposed(s, base, facts)
    if attr == "mT":
        return emit_op.apply(s, np.matrix_transpose, ir.attribute(ir.name(base.name), attr), [base], {})
    if attr in ("real", "imag"):
        expr = ir.attribute(ir.name(base.name), attr)
        return emit_op.apply(s, getattr(np, attr), expr, [base], {}, reader(attr))
    if attr == "shape":
        return shape_of(s, base, facts)
    if attr == "ndim":
        return Const(facts.ndim) if facts.ndim is not None else measure(s, base, attr)
    if attr == "size":
        return Const(1) if facts.dims == () else measure(s, base, attr)
    if attr == "dtype":
        return (
            Const(facts.dtype, ir.attribute(ir.name(base.name), attr))
            if facts.dtype is not None
            else s.let(ir.attribute(ir.name(base.name), attr), Opaque(np.dtype), may_raise=False)
        )
    if attr == "strides" and facts.dims is not None:
        expr = ir.attribute(ir.name(base.name), attr)
        steps = [s.let(ir.subscript(expr, ir.constant(k)), INT, may_raise=False) for k in range(len(facts.dims))]
        return TupleV(tuple(steps), None, expr)
    if attr in READ_IN_THE_RUN:
        return s.let(ir.attribute(ir.name(base.name), attr), READ_IN_THE_RUN[attr], may_raise=False)
    if attr == "flat":
        return flat_of(s, base)

    return method_or_value(s, base, attr, [] if facts.tensor else possible_classes(facts))


def method_or_value(s: Specialiser, base: Value, attr: str, classes: Sequence[type]) -> Value:
    """A method, if that is what the classes that something may be of have of this name; else a value of the run."""
    found = [getattr(cls, attr) for cls in classes if hasattr(cls, attr)]
    if not classes or (found and all(map(callable, found))):
        return Bound(attr, base)  # of an unknown class: `read_now` tells what is not called
    return s.let(ir.attribute(s.expr(base), attr), Opaque(), hint=attr)


def read_now(s: Specialiser, value: Value) -> Value:
    """An attribute that is not called where it is read: a value of the run, if what it is of is of an unknown class."""
    deferred = isinstance(value, Bound) and isinstance(value.function, str) and isinstance(value.self, (Leaf, Bound))
    if deferred and s.facts_of(value.self) == Opaque():
        return s.let(s.expr(value), Opaque(), hint=value.function)
    return value


@functools.lru_cache(maxsize=16)
def reader(attr: str) -> Callable[[Any], Any]:
    """The reader of an attribute that may be a view, as a function for running on dummies."""

    def read(x: Any) -> Any:
        return getattr(x, attr)

    read.numpy_name = attr  # type: ignore[attr-defined]
    return read


def as_large(s: Specialiser, base: Leaf) -> Leaf:
    """The larger stand-in, in a rule: a user's variable that surely has the shape of `base`, or `base` itself."""
    facts = s.facts[base.name]
    if (
        s.frame is None
        or not s.frame.rule
        or base.name in s.named
        or not isinstance(facts, Num)
        or not facts.dims
        or None in facts.dims
    ):
        return base
    made = s.definitions.get(base.name)
    for name in ir.names_in(made) if isinstance(made, (gast.BinOp, gast.UnaryOp, gast.Call)) else ():
        other = s.facts.get(name)
        if isinstance(other, Num) and other.kind == "array" and other.dims == facts.dims and name in s.named:
            return Leaf(name)
    return base


def measure(s: Specialiser, base: Leaf, attr: str) -> Leaf:
    base = as_large(s, base)
    return s.let(ir.attribute(ir.name(base.name), attr), INT, ir.Op(np.shape, {"a": base}), hint=attr, may_raise=False)


def transposed(s: Specialiser, base: Leaf, facts: Num) -> Value:
    expr = ir.attribute(ir.name(base.name), "T")
    if facts.dims is not None and len(facts.dims) < 2:
        return base
    made = s.definitions.get(base.name)
    if (
        s.frame is not None
        and s.frame.rule
        and isinstance(made, gast.Attribute)
        and made.attr == "T"
        and isinstance(made.value, gast.Name)
    ):
        return Leaf(made.value.id)
    result = Num(
        facts.kind, facts.dtype, None if facts.dims is None else facts.dims[::-1], facts.roots, None, facts.tensor
    )
    return s.let(expr, result, ir.Op(np.transpose, {"a": base}, None, (base.name,)), hint="transposed", may_raise=False)


def shape_of(s: Specialiser, base: Leaf, facts: Num) -> Value:
    expr = ir.attribute(ir.name(base.name), "shape")
    if facts.dims is None:
        return s.let(expr, Opaque(tuple), ir.Op(np.shape, {"a": base}), hint="shape", may_raise=False)
    items: list[Value] = []
    for k, dim in enumerate(facts.dims):
        if isinstance(dim, int):
            items.append(Const(dim))
        else:
            length = Num("int", np.dtype(int), (), frozenset(), dim)
            items.append(
                s.let(
                    ir.subscript(expr, ir.constant(k)), length, ir.Op(np.shape, {"a": base}), hint="n", may_raise=False
                )
            )
    return TupleV(tuple(items), None, expr)


# -- writing


def assign_plainly(s: Specialiser, base: Obj, attr: str, value: Value) -> None:
    """Assign as ``object.__setattr__`` does."""
    if (setter := descriptor_method(s, base, attr, "__set__")) is not None:
        call_python(s, setter, [Const(lookup(base.cls, attr)), base, value], {})
        return
    refuse_descriptor(s, base.cls, attr)
    found = found_in(s, base.cls, attr)
    if isinstance(found, property):
        if found.fset is None:
            raise s.refuse("attribute", f"the property {attr!r} has no setter", "assign the field that it returns")
        call_python(s, found.fset, [base, value], {})
        return
    if found is None and not base.cls.__dictoffset__ and base.cls is not threading.local:  # all of them are slots
        raise always(s, AttributeError, f"{base.cls.__name__!r} object has no attribute {attr!r}")
    refuse_frozen(s, base)
    if base.id in s.objects:
        assign_outside(s, base, attr, value)
    else:
        s.env[(base.id, attr)] = called_after(s, attr, value)


def assign_attribute(s: Specialiser, base: Value, attr: str, value: Value) -> None:
    if isinstance(base, Obj):
        setter = own_method(s, base.cls, "__setattr__")
        if setter is None:
            assign_plainly(s, base, attr, value)
        else:
            call_python(s, setter, [base, Const(attr), value], {})
        return
    if isinstance(base, Const) and isinstance(base.value, type):
        assign_to_class(s, base.value, attr, value)
        return
    if isinstance(base, Const) and isinstance(base.value, types.ModuleType) and not is_library(base.value):
        assign_global(s, vars(base.value), attr, value)
        return
    if isinstance(base, Leaf) and (classes := union_tables.classes_of(s, base)) is not None:
        union_tables.write(s, base, classes, attr, value)
        return
    if class_of_row(s, base) is not None:
        write_field(s, base, attr, value)
        return
    if isinstance(base, Leaf) and isinstance(facts := s.facts[base.name], Num):
        is_complex = facts.dtype is not None and facts.dtype.kind == "c"
        if attr in ("real", "flat") or (attr == "imag" and is_complex):
            assign_part(s, base, facts, attr, value)
            return
        if (message := lacks(facts, attr)) is not None:
            raise always(s, AttributeError, message)
        instead = "assign `a.real + 1j * part`" if attr == "imag" else "use reshape or a new array"
        raise s.refuse("unsupported-syntax", f"the attribute {attr!r} of an array is assigned", instead)
    raise s.refuse(
        "outside-write",
        f"the attribute {attr!r} of something outside the function is assigned",
        "return the value instead",
    )


def assign_part(s: Specialiser, base: Leaf, facts: Num, attr: str, value: Value) -> None:
    """``a.real = value``, ``a.imag = value`` and ``a.flat = value`` assign to elements."""
    if attr == "flat":
        assign_flat(s, base, value)
        return
    if attr == "imag":
        emit_op.store_item(s, base, Const(Ellipsis), with_imaginary(s, base, value))
        return
    real = base if facts.dtype is not None and facts.dtype.kind == "f" else attribute_of(s, base, attr)
    assert isinstance(real, Leaf)
    emit_op.store_item(s, real, Const(Ellipsis), value)


def with_imaginary(s: Specialiser, z: Value, part: Value) -> Value:
    """Complex numbers with other imaginary parts: a view of those parts has no view of a cotangent."""
    expr = ir.call(s.bind(with_imag.__name__, with_imag), s.expr(z), s.expr(part))
    return emit_op.apply(s, with_imag, expr, [z, part], {})


def limit_of(s: Specialiser, facts: Listed) -> Value:
    """``items.maxlen``"""
    limits = [s.limits.get(root) for root in facts.roots]
    if not limits or limits[0] is None or any(limit != limits[0] for limit in limits):
        raise s.refuse("unknown-length", "only the run tells how long this deque may become")
    return limits[0]
