"""Derivatives inside differentiated programs: the inner derivative is emitted first, and its text is inlined.

``grad``, ``value_and_grad``, ``vjp``, ``jvp`` and the Jacobians are all calls of one kind: a program of its own is made
of the function and the kinds of its arguments, printed, and inlined like any function of the user's.  What the function
captures from the outer program becomes further arguments of it (see `capture`).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ... import api
from ...api import gradfunction
from ...api.arguments import checked_flag, chosen_positions, refuse_position
from ...api.gradfunction import GradFunction, assemble
from ...core import thresholds
from ...errors import Refused
from ...ops.composite import GradientByAll, GradOperation
from ...runtime.apart import apart
from ...runtime.memory import in_c_order
from ...tensor import Parameter
from .. import ir
from ..ad.nested_gradients import CALLED, Called, call_apart, primal_value
from ..ad.recursion.function_pairs import Variant
from ..analysis.alias import roots_of
from ..domain.facts import Num
from ..domain.identifiers import identifier
from ..domain.pytree import is_tensor
from ..domain.request import Request, Way
from ..domain.values import Closure, Const, Leaf, ListV, Obj, PartialV, TupleV, Value, Wrapped
from ..driver.forward_pipeline import tangent
from ..driver.pipeline import adjoint
from ..interp.calls.recursive_functions import Recursion
from ..interp.containers.items import own_list
from ..interp.kernel.handlers import HOOKS
from ..interp.kernel.operations import call_python, call_value
from ..interp.kernel.specialiser import Specialiser
from ..interp.world.boundary import place_of_definition
from ..interp.world.captures import import_external
from .captures import Capture, tree_of


@dataclass(eq=False)
class GradientV(Wrapped):
    """A gradient function made inside the program: of what, and its settings for a number of arguments."""

    settings: Callable[[int], GradFunction]

    def call(self, s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
        return differentiate(s, self, args, kwargs)


@dataclass
class Inner:
    """A derivative program inside another: what was emitted, and what it takes after the arguments."""

    emitted: Any
    beside: list[Value]

    def run(self, s: Specialiser, args: list[Value], seeds: list[Value]) -> Value:
        return call_python(s, self.emitted.function, [*args, *self.beside, *seeds], {})


# -- making one


def gradient_of(s: Specialiser, args: list[Value], kwargs: dict[str, Value], kind: str) -> Value:
    """``grad(fn, ...)`` inside a program; without a function it is a decorator."""
    names = ["fn", "grad_position", "weights", "has_aux", "return_ids", "sens_param"]
    given = {**dict(zip(names, args)), **kwargs}
    if "fn" not in given:
        return PartialV(Const(getattr(api, kind)), (), given)
    fn, weights = given.pop("fn"), weights_of(s, given.pop("weights", Const(None)))
    chosen = {name: setting(s, value, name) for name, value in given.items()}
    position, argnums = chosen.pop("grad_position", 0), chosen.pop("argnums", None)
    positions, always_tuple = chosen_positions(position, argnums)
    settings: GradFunction = GradFunction(
        len, positions, **chosen, weights=weights, kind=kind, always_tuple=always_tuple
    )
    return GradientV(fn, lambda count: settings)


def setting(s: Specialiser, value: Value, name: str) -> Any:
    """A setting, which has to be known at compile time."""
    if not s.is_static(value):
        raise s.refuse(
            "nested-derivative", f"{name} depends on values that are known only at run time", "write it as a literal"
        )
    return s.static(value)


def weights_of(s: Specialiser, value: Value) -> Any:
    """The Parameters that a value of the program is: one, or a tuple of them."""
    if value == Const(None) or (isinstance(value, Const) and is_tensor(value.value)):
        return value.value
    if isinstance(value, Leaf):
        found = next((e.key for e in s.externals.values() if e.name == value.name), None)
        if isinstance(found, Parameter):
            return found
    if isinstance(value, (TupleV, ListV, Obj)) and getattr(value, "cls", None) in (None, tuple, list):
        items = value.items if not isinstance(value, Obj) else [s.env[(value.id, k)] for k in s.fields(value)]
        return tuple(weights_of(s, item) for item in items)
    raise s.refuse(
        "nested-derivative",
        "weights of a gradient made inside a differentiated function cannot be followed",
        "name them one by one in a tuple, or make the gradient function outside",
    )


def call_gradient(s: Specialiser, gradient: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """Call a derivative function that exists outside the program."""
    from .custom_vjp import BatchedFunction, BatchedV
    from .products import by_all, jacobian_outside

    if isinstance(gradient, GradOperation):
        return by_all(s, gradient, args, kwargs)
    if isinstance(gradient, GradientByAll):
        return GradientV(Const(gradient.fn), gradient.gradient_of).call(s, args, kwargs)
    if isinstance(gradient, GradFunction):
        return GradientV(Const(gradient.fn), lambda count: gradient).call(s, args, kwargs)
    if isinstance(gradient, BatchedFunction):
        return BatchedV(Const(gradient.fn), gradient).call(s, args, kwargs)
    return jacobian_outside(s, gradient, args, kwargs)


HOOKS["gradient"] = call_gradient


def found_gradient(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``get_grad(gradients, identifier)``."""
    given = dict(zip(("gradients", "identifier"), args)) | kwargs
    identifier = given["identifier"]
    wanted = identifier.value if isinstance(identifier, Const) else weights_of(s, identifier)
    gradfunction.checked_identifier(wanted)
    found = [gradient for name, gradient in labelled(given["gradients"]) if gradfunction.names(name, wanted)]
    return found[0] if found else gradfunction.refuse_identifier(wanted)


def labelled(value: Value) -> list[tuple[Any, Value]]:
    """The pairs of an id and a gradient, wherever they are nested."""
    if not isinstance(value, TupleV):
        return []
    first = value.items[0] if len(value.items) == 2 else None
    if isinstance(first, Const) and isinstance(first.value, (int, str)):
        return [(first.value, value.items[1])]
    return [pair for item in value.items for pair in labelled(item)]


# -- calling one


def differentiate(s: Specialiser, gradient: GradientV, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """The gradient's value for these arguments."""
    from .products import seeds_in

    args = [own(s, a) for a in args]
    settings = gradient.settings(len(args) + len(kwargs))
    given = args[:-1] if settings.sens_param else args
    positions = in_call(gradient.fn, given, kwargs, settings.positions or ())
    weights, form = settings.form_of_weights()
    with_value = settings.kind == "value_and_grad" or settings.has_aux
    inner = emit_inner(
        s, adjoint, gradient.fn, given, kwargs, positions,
        weights=weights, has_aux=settings.has_aux, seeded=settings.sens_param, value=with_value,
    )  # fmt: skip
    if Way.CALL in s.attempt.ways and not (weights or settings.has_aux or settings.sens_param):
        parts = called(s, gradient.fn, given, kwargs, positions, with_value, inner)
    else:
        seeds = seeds_in(s, args[-1], inner.emitted.seeds) if settings.sens_param else []
        result = inner.run(s, [*given, *kwargs.values()], seeds)
        parts = list(result.items) if inner.emitted.count > 1 and isinstance(result, TupleV) else [result]
    value = parts.pop(0) if with_value else Const(None)
    count = len(positions)
    chosen = [[*given, *kwargs.values()][p] for p in positions]
    by_positions = tuple(in_kind_of(s, g, is_tensor_value(s, x)) for g, x in zip(parts[:count], chosen))
    by_weights = tuple(in_kind_of(s, g, True) for g in parts[count:])
    gradients = [TupleV(by_positions), TupleV(by_weights)]
    return call_python(s, assemble, [value, *gradients, *(Const(flag) for flag in form)], {})


def called(
    s: Specialiser,
    fn: Value,
    args: list[Value],
    kwargs: dict[str, Value],
    positions: tuple[int, ...],
    with_value: bool,
    inner: Inner,
) -> list[Value]:
    """The results of a gradient that stays a call, and is differentiated by way of the tangent."""
    pushed = emit_inner(s, tangent, fn, args, kwargs, positions, value=True)
    if any(value is apart for value in pushed.emitted.namespace.values()):
        raise s.refuse(
            "nested-derivative",
            f"{CALLED} is of a function that handles exceptions",
            "differentiate what is in the `try`",
        )
    value = primal_value(s, fn, args, kwargs)
    every = [*args, *kwargs.values()]

    def emit(fn: Value, values: list[Value], wanted: tuple[int, ...]) -> Inner:
        return emit_inner(s, adjoint, fn, values, {}, wanted)

    call = Called(pushed.emitted.function, positions, with_value, emit)
    return call_apart(
        s,
        inner.emitted.function,
        call,
        value if with_value else None,
        [*every, *inner.beside],
        [*every, *pushed.beside],
    )


def is_tensor_value(s: Specialiser, value: Value) -> bool:
    facts = s.facts_of(value)
    return isinstance(facts, Num) and facts.tensor


def in_kind_of(s: Specialiser, gradient: Value, tensor: bool) -> Value:
    """The gradient of a tensor is a tensor, that of an array an array, whatever it was computed from."""
    facts = s.facts_of(gradient)
    if not isinstance(gradient, Leaf) or not isinstance(facts, Num) or facts.tensor == tensor:
        return gradient
    found = call_value(s, Const(np.asarray, ir.attribute(s.bind("np", np), "asarray")), [gradient], {})
    s.facts[found.name] = replace(facts, tensor=tensor, roots=getattr(s.facts[found.name], "roots", frozenset()))
    return found


def emit_inner(
    s: Specialiser,
    emit: Callable[[Any], Any],
    fn: Value,
    args: list[Value],
    kwargs: dict[str, Value],
    positions: tuple[int, ...],
    **settings: Any,
) -> Inner:
    """Emit a derivative of a function for arguments of the outer program."""
    if s.order >= thresholds.DERIVATIVES_NESTED:
        raise s.refuse(
            "nested-derivative",
            "derivatives are nested without end while compiling",
            "differentiate outside the function",
        )
    parameters = parameters_of(s, fn, args, kwargs)
    names = list(parameters)
    capture = Capture(s)
    request = Request(
        fn=None,
        parameters=parameters,
        wrt=tuple(names[p] for p in positions),
        name=name_of(fn),
        strong=s.strong,
        careful=s.careful,
        perturbed=s.perturbed,
        capture=lambda inner, table: capture.into(inner, table, fn),
        attempt=s.attempt,
        order=s.order + 1,
        **settings,
    )
    emitted = known_program(s, emit(request))
    s.attempt.met.add(Way.CALL)
    s.attempt.derivatives += [(emitted.function, s.where()), (emitted.function, place_of_definition(named(fn)))]
    s.guards += emitted.guards
    s.singular |= emitted.singular
    s.spectral |= emitted.spectral
    s.world.add(emitted.world, emitted.function)
    capture.refuse_changes(emitted.written)
    refuse_overlap(s, emitted.written, dict(zip(names, [*args, *kwargs.values()])), capture.values)
    if emitted.ordered:
        check_order(s, [v for n, v in zip(names, [*args, *kwargs.values()]) if n in emitted.written])
    outside = [import_external(s, e.read, e.symbol, ("nested", id(e.key), e.symbol)) for e in emitted.externals]
    assert emitted.function is not None
    return Inner(emitted, [*capture.values, *outside])


def known_program(s: Specialiser, emitted: Any) -> Any:
    """The program that was emitted here before, in another writing of a loop's body or an earlier run, if it is this.

    So the places in its text stay the same, by which a `Restart` tells what it has learnt.
    """
    known = s.derivatives.setdefault(s.site("derivative"), [])
    for other in known:
        if other.text == emitted.text and same_names(other.namespace, emitted.namespace):
            return replace(emitted, function=other.function)
    known.append(emitted)
    return emitted


def same_names(a: dict[str, Any], b: dict[str, Any]) -> bool:
    """True if two modules hold the same objects, or such as an emission makes anew."""
    return a.keys() == b.keys() and all(a[n] is b[n] or is_alike(a[n], b[n]) for n in a)


def is_alike(a: Any, b: Any) -> bool:
    """True if two objects do the same in programs of one text: recursive functions, and refusals of one message."""
    refusals = isinstance(a, Refused) and isinstance(b, Refused)
    return isinstance(a, (Recursion, Variant)) or (refusals and str(a) == str(b))


def parameters_of(s: Specialiser, fn: Value, args: list[Value], kwargs: dict[str, Value]) -> dict[str, Any]:
    """The arguments by the names of the parameters."""
    kind = inspect.Parameter
    names = parameter_names(fn, len(args)) or [f"x{k}" for k in range(len(args))]
    found = {n: (kind.POSITIONAL_OR_KEYWORD, tree_of(s, a)) for n, a in zip(names, args)}
    return found | {n: (kind.KEYWORD_ONLY, tree_of(s, a)) for n, a in kwargs.items()}


def in_call(fn: Value, args: list[Value], kwargs: dict[str, Value], positions: tuple[int, ...]) -> tuple[int, ...]:
    """The places in the call of arguments that positions count in the order of the signature."""
    names = all_names(fn)
    order = [*range(len(args)), *(len(args) + list(kwargs).index(n) for n in names[len(args) :] if n in kwargs)]
    order += [k for k in range(len(args) + len(kwargs)) if k not in order]
    given = [k < len(args) or n in kwargs for k, n in enumerate(names)]
    if any(p >= len(order) or not all(given[: p + 1]) for p in positions):
        refuse_position(named(fn), positions, (None,) * len(args), dict.fromkeys(kwargs))
    return tuple(order[p] for p in positions)


def refuse_overlap(s: Specialiser, written: frozenset[str], args: dict[str, Value], captured: list[Value]) -> None:
    """An argument that the function writes is copied for it: no other name of it may be used there."""
    every = [*((n, v) for n, v in args.items()), *(("", v) for v in captured)]
    known = [(name, roots_of(s.facts[leaf])) for name, value in every for leaf in s.leaves(value)]
    for k, (name, roots) in enumerate(known):
        if name in written and any(roots & other for j, (_, other) in enumerate(known) if j != k):
            raise s.alias_error(
                "nested-derivative",
                f"{name!r} is written by a function that is differentiated here, and it knows that array "
                "by another name, too",
            )


def check_order(s: Specialiser, values: list[Value]) -> None:
    """Emit the checks that arrays which a function copies and writes lie in C order."""
    for name in [leaf for value in values for leaf in s.leaves(value)]:
        facts = s.facts[name]
        if isinstance(facts, Num) and (facts.python or facts.kind == "npscalar"):
            continue
        if not isinstance(facts, Num) or facts.kind is None:
            raise s.alias_error(
                "nested-derivative",
                "arrays in a list are written by a function that is differentiated here",
                "pass copies",
            )
        s.block.append(ir.Effect(ir.call(s.bind(in_c_order.__name__, in_c_order), ir.name(name)), s.where()))


def own(s: Specialiser, value: Value) -> Value:
    return own_list(s, value) if isinstance(value, ListV) else value


def name_of(fn: Value) -> str:
    name = fn.name if isinstance(fn, Closure) else getattr(named(fn), "__name__", "inner")
    return identifier(name) if name != "<lambda>" else "inner"


def named(fn: Value) -> Any:
    """The function that is meant, as far as it exists outside the program."""
    return getattr(fn, "value", fn)


def parameter_names(fn: Value, count: int) -> list[str]:
    """The names of the first parameters, where the function shows them."""
    if isinstance(fn, Closure):
        names = [a.id for a in fn.node.args.args]
    else:
        by_name = inspect.Parameter.KEYWORD_ONLY
        names = [p.name for p in shown_parameters(fn) if p.kind is not by_name]
    return names[:count] if len(names) >= count else []


def all_names(fn: Value) -> list[str]:
    """The names of the parameters that take one argument each, where the function shows them."""
    if isinstance(fn, Closure):
        return [a.id for a in [*fn.node.args.args, *fn.node.args.kwonlyargs]]
    return [p.name for p in shown_parameters(fn)]


def shown_parameters(fn: Value) -> list[inspect.Parameter]:
    """The parameters that take one argument each, of a function from outside that shows them."""
    try:
        found = inspect.signature(fn.value).parameters.values() if isinstance(fn, Const) else ()
    except (TypeError, ValueError):
        return []
    return [p for p in found if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]


def flag_of(s: Specialiser, value: Value | None, name: str) -> bool:
    """A flag that is a literal."""
    return False if value is None else checked_flag(setting(s, value, name), name)
