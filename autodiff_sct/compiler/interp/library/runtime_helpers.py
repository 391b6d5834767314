"""The package's own helpers inside programs: zeros of containers, segments of loops, tensors."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np

from ....checkpoints import segments
from ....runtime import ones_like, unbroadcast, zeros_like
from ....runtime.segments import segment_length
from ....tensor import Tensor, from_numpy, tensor
from ... import ir
from ...domain.facts import COMPLEX, FLOAT, INT, Facts, Listed, Mapped, Num, Opaque, Pair, join
from ...domain.values import Const, Leaf, ListV, Obj, TupleV, Value
from ..containers.items import own_list
from ..containers.sources import Source
from ..kernel.handlers import handles
from ..kernel.operations import call_known, call_value, over
from ..kernel.specialiser import Specialiser


@handles(zeros_like)
def zeros(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``zeros_like(x)``."""
    return filled(s, zeros_like, args[0])


@handles(ones_like)
def ones(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``ones_like(x)``."""
    return filled(s, ones_like, args[0])


@handles(unbroadcast)
def fitted(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``unbroadcast(cotangent, like)``: that of a container, whose length is known at run time, is one."""
    callee, (cotangent, like) = s.bind("unbroadcast", unbroadcast), args
    facts = s.facts_of(like)
    if not isinstance(like, Leaf) or not isinstance(facts, (Listed, Mapped, Pair)):
        return call_known(s, Const(unbroadcast, callee), args, kwargs)
    found = derivative_facts(s, facts, s.site("unbroadcast"))
    op = ir.Op(unbroadcast, {"cotangent": cotangent, "like": like})
    return s.let(ir.call(callee, s.expr(cotangent), s.expr(like)), found, op, may_raise=False)


def filled(s: Specialiser, fn: Any, value: Value) -> Value:
    """A derivative of a value, filled with one number; a container's is a container of its own."""
    callee = s.bind(fn.__name__, fn)
    if isinstance(value, ListV):
        value = own_list(s, value)
    if isinstance(value, TupleV):
        return own_list(s, ListV(tuple(filled(s, fn, item) for item in value.items), s.site(fn.__name__)))
    if isinstance(value, Obj):
        items = [(key, filled(s, fn, s.env[(value.id, key)])) for key in s.fields(value)]
        return container(s, value, items)
    facts = s.facts_of(value)
    if isinstance(value, Leaf) and isinstance(facts, (Listed, Mapped, Pair)):
        found = derivative_facts(s, facts, s.site(fn.__name__))
        return s.let(ir.call(callee, s.expr(value)), found, ir.Op(fn, {"x": value}), may_raise=False)
    return call_known(s, Const(fn, callee), [value], {})


def container(s: Specialiser, value: Obj, items: list[tuple[Any, Value]]) -> Value:
    """A list or a dict of these items."""
    if value.cls is list:
        return own_list(s, ListV(tuple(item for key, item in items if key != "len"), s.site("zeros")))
    result = Obj(("zeros", s.site()), value.cls)
    s.env |= {(result.id, key): item for key, item in items}
    return result


def derivative_facts(s: Specialiser, facts: Facts | None, site: Any) -> Facts:
    """The facts of a derivative of a value: a tuple's is a list."""
    if isinstance(facts, Num):
        return derivative_of_number(s, facts, site)
    if isinstance(facts, (Listed, Mapped)):
        result = type(facts)(frozenset([s.root(site)]))
        element = s.elements_of(facts)
        if element is not None:
            s.put_element(result, derivative_facts(s, element, (site, "element")))
        return result
    if isinstance(facts, Pair):
        listed = Listed(frozenset([s.root(site)]))
        if facts.items:
            s.put_element(listed, reduce(join, [derivative_facts(s, f, (site, k)) for k, f in enumerate(facts.items)]))
        return listed
    return Opaque() if facts == Opaque() else FLOAT  # what has no derivative has the number 0.0 in its place


def derivative_of_number(s: Specialiser, facts: Num, site: Any) -> Num:
    if facts.python:
        return COMPLEX if facts.kind == "complex" else FLOAT
    dtype = facts.dtype if facts.differentiable else np.dtype(np.float64)
    own = facts.kind == "array" or facts.kind is None and facts.dims != ()
    return replace(facts, dtype=dtype, roots=frozenset([s.root(site)]) if own else frozenset(), size=None)


@handles(segments)
def segments_(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    given = dict(zip(("steps", "every", "checkpoint"), args)) | kwargs
    steps = given.get("steps")
    counted = isinstance(steps, Source) and steps.bounds is not None and steps.hint is None
    if not counted and not (isinstance(steps, Const) and isinstance(steps.value, range)):
        raise s.refuse(
            "segments", "segments goes over something else than a range", "write `segments(range(n), every=k)`"
        )
    assert steps is not None
    folder = given.get("checkpoint", Const(None))
    source = in_segments(s, over(s, steps), given.get("every", Const(None)))
    return source if folder == Const(None) else replace(source, folder=folder)


def in_segments(s: Specialiser, source: Source, every: Value) -> Source:
    """A range whose loop keeps its state only at the start of every segment of so many steps."""
    known = isinstance(every, Const) and type(every.value) is int and every.value >= 1
    if not known:
        assert source.length is not None
        length = ir.call(s.bind("segment_length", segment_length), s.expr(source.length()), s.expr(every))
        every = s.let(length, INT, hint="every")
        s.named.add(every.name)
    return replace(source, every=every)


# What MindSpore makes of Python's numbers.
DTYPES: dict[str, Any] = {"b": np.bool_, "i": np.int64, "f": np.float32, "c": np.complex64}


@handles(Tensor, tensor)
def make_tensor(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``Tensor(content, dtype)``: a copy of the content in that dtype."""
    given = dict(zip(("input_data", "dtype"), args)) | kwargs
    content, dtype = given.pop("input_data", None), given.pop("dtype", Const(None))
    if content is None or given or not isinstance(dtype, Const):
        raise s.refuse(
            "numpy-form",
            "a Tensor made from anything but its content and a dtype cannot be followed",
            "write Tensor(content, dtype)",
        )
    chosen = dtype_of(s, content) if dtype.value is None else np.dtype(dtype.value).type
    settings = {} if chosen is None else {"dtype": Const(chosen, scalar_class(s, chosen))}
    return marked(s, call_value(s, Const(np.array, ir.attribute(s.bind("np", np), "array")), [content], settings))


@handles(from_numpy, Tensor.from_numpy)
def share(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``from_numpy(array)``: the array itself."""
    return marked(s, call_value(s, Const(np.asarray, ir.attribute(s.bind("np", np), "asarray")), args, kwargs))


@handles(Tensor.asnumpy, Tensor.numpy)
def as_array(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``tensor.asnumpy()``: the array itself."""
    found = call_value(s, Const(np.asarray, ir.attribute(s.bind("np", np), "asarray")), args, kwargs)
    if isinstance(found, Leaf) and found not in args and isinstance(facts := s.facts[found.name], Num):
        s.facts[found.name] = replace(facts, tensor=False)
    return found


def marked(s: Specialiser, value: Value) -> Value:
    """The result as a tensor."""
    if isinstance(value, Leaf) and isinstance(facts := s.facts[value.name], Num):
        s.facts[value.name] = replace(facts, tensor=True)
    return value


def scalar_class(s: Specialiser, chosen: Any) -> Any:
    """The expression ``np.float32`` and so on."""
    return ir.attribute(s.bind("np", np), "bool_" if chosen is np.bool_ else chosen.__name__)


def dtype_of(s: Specialiser, content: Value) -> Any:
    """The dtype of a tensor of Python numbers; None, NumPy's own choice, where an array is among them."""
    kinds = set(kinds_in(s, content))
    known = [kind for kind in "cfib" if kind in kinds]
    return None if "array" in kinds or not known else DTYPES[known[0]]


def kinds_in(s: Specialiser, content: Value) -> Any:
    """The dtype letters of the Python numbers in the content; ``array`` for whatever has a dtype."""
    if isinstance(content, (TupleV, ListV)):
        for item in content.items:
            yield from kinds_in(s, item)
    elif isinstance(content, Const):
        yield from constant_kinds(content.value)
    else:
        facts = s.num(content)
        yield facts.dtype.kind if facts is not None and facts.python and facts.dtype is not None else "array"


def constant_kinds(value: Any) -> Any:
    """The same for what is known at compile time."""
    if isinstance(value, (tuple, list)):
        for item in value:
            yield from constant_kinds(item)
    elif isinstance(value, (bool, int, float, complex)):
        yield np.dtype(type(value)).kind
    else:
        yield "array"
