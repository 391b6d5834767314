"""Gradients inside differentiated programs: the inner adjoint is emitted first, and its text is inlined like any other.

What the inner function captures from the outer one becomes further arguments of the inner adjoint, so that the outer
derivative passes through them.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any

from ..facts import Facts, Listed, Mapped, Num, Pair
from ..structure import Branch, Listing, Static
from ..structure import Leaf as LeafTree
from .calls import call_python
from .externals import import_external
from .state import Specialiser
from .values import Bound, Closure, Const, Frame, Leaf, ListV, Obj, PartialV, TupleV, Value


@dataclass(eq=False)
class GradientV:
    """A gradient function made inside the program: of what, and with which settings."""

    fn: Value
    kind: str
    positions: tuple[int, ...]
    has_aux: bool
    one: bool


def call_gradient(s: Specialiser, gradient: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """Call a `GradFunction` that exists outside the program."""
    if gradient.weights is not None or gradient.sens_param or gradient.return_ids or gradient.positions is None:
        raise s.refuse(
            "a gradient by weights, with ids or with a seed, inside a differentiated function",
            "call grad by positions here",
        )
    one = len(gradient.positions) == 1 and not gradient.always_tuple
    return differentiate(
        s, GradientV(Const(gradient.fn), gradient.kind, gradient.positions, gradient.has_aux, one), args, kwargs
    )


def differentiate(s: Specialiser, gradient: GradientV, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """The gradient's value for these arguments."""
    from ..pipeline import adjoint
    from ..request import Request

    if kwargs:
        raise s.refuse("keyword arguments of a gradient inside a differentiated function", "pass them by position")
    args = [own(s, a) for a in args]
    parameters = {
        f"x{k}" if not names else names[k]: tree_of(s, a)
        for names in [parameter_names(gradient.fn, len(args))]
        for k, a in enumerate(args)
    }
    capture = Capture(s)
    request = Request(
        fn=None,
        parameters={n: (inspect.Parameter.POSITIONAL_OR_KEYWORD, tree) for n, tree in parameters.items()},
        wrt=tuple(list(parameters)[p] for p in gradient.positions),
        has_aux=gradient.has_aux,
        value=gradient.kind == "value_and_grad" or gradient.has_aux,
        name=name_of(gradient.fn),
        capture=lambda inner, table: capture.into(inner, table, gradient.fn),
    )
    emitted = adjoint(request)
    s.guards += emitted.guards
    outside = [import_external(s, e.read, e.symbol, ("nested", id(e.key), e.symbol)) for e in emitted.externals]
    assert emitted.function is not None
    result = call_python(s, emitted.function, [*args, *capture.values, *outside], {})
    return assembled(gradient, result, emitted.count)


def assembled(gradient: GradientV, result: Value, count: int) -> Value:
    parts = list(result.items) if count > 1 and isinstance(result, TupleV) else [result]
    value = parts.pop(0) if gradient.kind == "value_and_grad" or gradient.has_aux else None
    grads: Value = parts[0] if gradient.one else TupleV(tuple(parts))
    if gradient.kind == "value_and_grad":
        return TupleV((value, grads))
    if gradient.has_aux:
        assert isinstance(value, TupleV)
        return TupleV((grads, TupleV(value.items[1:])))
    return grads


def own(s: Specialiser, value: Value) -> Value:
    from .containers import own_list

    return own_list(s, value) if isinstance(value, ListV) else value


def name_of(fn: Value) -> str:
    name = fn.name if isinstance(fn, Closure) else getattr(getattr(fn, "value", None), "__name__", "inner")
    return name if name.isidentifier() else "inner"


def parameter_names(fn: Value, count: int) -> list[str]:
    """The names of the parameters, where the function shows them."""
    if isinstance(fn, Closure):
        names = [a.id for a in fn.node.args.args]
    else:
        try:
            names = list(inspect.signature(fn.value).parameters) if isinstance(fn, Const) else []
        except (TypeError, ValueError):
            names = []
    return names[:count] if len(names) >= count else []


def tree_of(s: Specialiser, value: Value) -> Any:
    """What an argument is made of."""
    if isinstance(value, Const):
        return (
            LeafTree(s.facts_of(value))
            if isinstance(s.facts_of(value), Num) and type(value.value) is not bool
            else Static(value.value)
        )
    if isinstance(value, TupleV):
        return Branch(value.cls or tuple, tuple(range(len(value.items))), tuple(tree_of(s, v) for v in value.items))
    if isinstance(value, Obj) and value.id in s.objects:
        return Static(s.objects[value.id][0])
    if isinstance(value, Obj):
        keys = tuple(s.fields(value))
        return Branch(value.cls, keys, tuple(tree_of(s, s.env[(value.id, k)]) for k in keys))
    if isinstance(value, Leaf):
        return tree_of_facts(s, s.facts[value.name])
    raise s.refuse(
        "a function is passed to a gradient inside a differentiated function", "let the inner function capture it"
    )


def tree_of_facts(s: Specialiser, facts: Facts) -> Any:
    if isinstance(facts, (Listed, Mapped)):
        element = s.elements_of(facts)
        return Listing(
            None if element is None else tree_of_facts(s, element), list if isinstance(facts, Listed) else dict
        )
    if isinstance(facts, Pair):
        return Branch(
            facts.cls or tuple, tuple(range(len(facts.items))), tuple(tree_of_facts(s, f) for f in facts.items)
        )
    return LeafTree(facts)


class Capture:
    """Carries a function from one specialiser into another, its captured variables as arguments."""

    def __init__(self, outer: Specialiser) -> None:
        self.outer = outer
        self.values: list[Value] = []
        self.frames: dict[int, Frame] = {}
        self.leaves: dict[str, Value] = {}

    def into(self, inner: Specialiser, table: Any, fn: Value) -> Value:
        self.values, self.frames, self.leaves = [], {}, {}
        self.inner, self.table = inner, table
        return self.value(fn)

    def value(self, value: Value) -> Value:
        if isinstance(value, Leaf):
            return self.leaf(value)
        if isinstance(value, TupleV):
            return TupleV(tuple(self.value(v) for v in value.items), value.cls)
        if isinstance(value, Closure):
            frame = self.frame(value.frame)
            defaults = tuple(self.value(v) for v in value.defaults)
            kw = tuple(None if v is None else self.value(v) for v in value.kw_defaults)
            return Closure(value.node, frame, defaults, kw, value.name)
        if isinstance(value, Bound):
            return Bound(value.function, self.value(value.self))
        if isinstance(value, PartialV):
            return PartialV(
                self.value(value.function),
                tuple(self.value(a) for a in value.args),
                {k: self.value(v) for k, v in value.keywords.items()},
            )
        if isinstance(value, GradientV):
            return GradientV(self.value(value.fn), value.kind, value.positions, value.has_aux, value.one)
        if isinstance(value, Obj):
            return self.object(value)
        return value

    def leaf(self, value: Leaf) -> Value:
        from ..arguments import receive

        if value.name not in self.leaves:
            name = f"{self.outer.hints[value.name].lstrip('_')}_outer"
            taken = set(self.table.names.values())
            number = 1
            while (candidate := name if number == 1 else f"{name}{number}") in taken:
                number += 1
            tree = tree_of_facts(self.outer, self.outer.facts[value.name])
            self.leaves[value.name] = receive(self.inner, self.table, candidate, tree)
            self.values.append(value)
        return self.leaves[value.name]

    def object(self, value: Obj) -> Value:
        if value.id in self.outer.objects:
            self.inner.objects[value.id] = self.outer.objects[value.id]
        for key in self.outer.fields(value):
            if (value.id, key) not in self.inner.env:
                self.inner.env[(value.id, key)] = self.value(self.outer.env[(value.id, key)])
        return value

    def frame(self, frame: Frame) -> Frame:
        """A frame of the outer program, with what its functions can see of it."""
        if id(frame) in self.frames:
            return self.frames[id(frame)]
        copy = Frame(-len(self.frames) - 1, frame.parsed, frame.globals, frame.free, frame.locals, frame.nonlocals)
        copy.tree = frame.tree
        self.frames[id(frame)] = copy
        copy.cls, copy.self = frame.cls, None if frame.self is None else self.value(frame.self)
        if frame.parent is not None:
            copy.parent = self.frame(frame.parent)
        for key, value in list(self.outer.env.items()):
            if isinstance(key, tuple) and len(key) == 2 and key[0] == frame.id and not isinstance(value, (ListV,)):
                self.inner.env[(copy.id, key[1])] = self.value(value)
        return copy


def gradient_of(s: Specialiser, args: list[Value], kwargs: dict[str, Value], kind: str) -> Value:
    """``grad(fn, ...)`` inside a program."""
    names = ["fn", "grad_position", "weights", "has_aux", "return_ids", "sens_param"]
    settings = {**dict(zip(names, args)), **kwargs}
    fn = settings.pop("fn")
    if any(
        settings.get(n, Const(None)) not in (Const(None), Const(False)) for n in ("weights", "return_ids", "sens_param")
    ):
        raise s.refuse(
            "weights, return_ids and sens_param of a gradient made inside a differentiated function", "make it outside"
        )
    position = s.static(settings.get("grad_position", Const(0)))
    positions = position if isinstance(position, tuple) else (position,)
    return GradientV(
        fn,
        kind,
        positions,
        s.static(settings.get("has_aux", Const(False))),
        not isinstance(position, tuple) or len(position) == 1,
    )
