"""``vjp``, ``jvp`` and the Jacobians inside differentiated programs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...api.arguments import checked_jacobian_positions, chosen_positions, require_aux
from ...api.gradfunction import GradFunction, part
from ...api.jacobians import JacobianFunction
from ...errors import ArgumentValueError
from ...ops.composite import GradientByAll, GradOperation
from ...runtime import broadcast, jacobians
from ...tensor import Parameter
from .. import ir
from ..domain.facts import Listed, Mapped, Num, Opaque
from ..domain.values import Const, ListV, Obj, PartialV, TupleV, Value, Wrapped
from ..driver.forward_pipeline import tangent
from ..driver.pipeline import adjoint
from ..interp.control.joins import with_tangents
from ..interp.kernel.handlers import HANDLERS
from ..interp.kernel.operations import call_python, call_value, get_item
from ..interp.kernel.specialiser import Specialiser
from ..interp.objects.fields import field
from .grad import (
    GradientV,
    Inner,
    emit_inner,
    flag_of,
    gradient_of,
    in_call,
    in_kind_of,
    is_tensor_value,
    own,
    setting,
    weights_of,
)

# -- vjp


@dataclass(eq=False)
class Pull:
    """The function that a pullback made inside the program calls, and its results."""

    inner: Inner
    tensors: tuple[bool, ...]  # whether each input is one
    weights: Any


def vjp(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``vjp(fn, *inputs, weights=None, has_aux=False)``."""
    fn, *inputs = args
    weights = weights_of(s, kwargs.get("weights", Const(None)))
    has_aux = flag_of(s, kwargs.get("has_aux"), "has_aux")
    value, pull = pulled_back(s, fn, [own(s, a) for a in inputs], {}, tuple(range(len(inputs))), weights, has_aux)
    first, aux = split_output(value, has_aux)
    return TupleV((first, pull, aux)) if has_aux else TupleV((first, pull))


def pulled_back(
    s: Specialiser,
    fn: Value,
    args: list[Value],
    kwargs: dict[str, Value],
    positions: tuple[int, ...],
    weights: Any,
    has_aux: bool,
) -> tuple[Value, Value]:
    """The value of a function, and its pullback."""
    listed = GradFunction(len, None, () if weights is None else weights).form_of_weights()[0]
    inner = emit_inner(
        s, adjoint, fn, args, kwargs, positions, weights=listed, has_aux=has_aux, seeded=True, split=True, value=True
    )
    every = [*args, *kwargs.values()]
    value, state = inner.run(s, every, []).items
    info = Pull(inner, tuple(is_tensor_value(s, every[p]) for p in positions), weights)
    return value, PartialV(Const(pull_back), (Const(info), state, split_output(value, has_aux)[0]), {})


def pull_back(info: Pull, state: Any, output: Any, *vectors: Any) -> Any:
    """The function of which a pullback made inside the program is a partial: its call is followed here."""
    raise NotImplementedError


def pull(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """A call of a pullback."""
    info, state, output, *vectors = args
    info = info.value
    emitted = info.inner.emitted
    seeds = seed_values(s, vectors, output, emitted.seeds)
    found = call_python(s, emitted.function.__autodiff_backward__, [*state.items, *seeds], {})
    parts = list(found.items) if emitted.count > 1 else [found]
    by_inputs = TupleV(tuple(in_kind_of(s, g, tensor) for g, tensor in zip(parts, info.tensors)))
    if info.weights is None:
        return by_inputs
    by_weights = TupleV(tuple(in_kind_of(s, g, True) for g in parts[len(info.tensors) :]))
    one = isinstance(info.weights, Parameter)
    return TupleV((by_inputs, call_python(s, part, [by_weights, Const(one), Const(None)], {})))


def split_output(value: Value, has_aux: bool) -> tuple[Value, Value]:
    """The differentiated output and the auxiliary one, bare where there is one."""
    if not has_aux:
        return value, Const(None)
    require_aux(value.items if isinstance(value, TupleV) else None)
    return value.items[0], value.items[1] if len(value.items) == 2 else TupleV(value.items[1:])


def seed_values(s: Specialiser, vectors: list[Value], output: Value, spec: Any) -> list[Value]:
    """One vector for each output, given one by one or as one tuple."""
    if isinstance(output, (TupleV, ListV)):
        given = vectors[0].items if len(vectors) == 1 and isinstance(vectors[0], (TupleV, ListV)) else vectors
        return seeds_in(s, TupleV(tuple(given)), spec)
    if len(vectors) != 1:
        raise ArgumentValueError(f"the function has one output: one vector is wanted, not {len(vectors)}")
    return seeds_in(s, vectors[0], spec)


def seeds_in(s: Specialiser, vector: Value, spec: Any) -> list[Value]:
    """The seeds of the leaves of an output, in order; `spec` tells which take one."""
    if spec is True:
        return [vector]
    if isinstance(spec, tuple):
        items = vector.items if isinstance(vector, (TupleV, ListV)) else ()
        return [seed for item, inner in matched(list(items), list(spec)) for seed in seeds_in(s, item, inner)]
    if isinstance(spec, dict):
        return [seed for key, inner in spec.items() for seed in seeds_in(s, s.env[(vector.id, key)], inner)]
    return []


def matched(vectors: list[Any], wanted: list[Any]) -> list[tuple[Any, Any]]:
    if len(wanted) != len(vectors):
        raise ArgumentValueError(f"{len(wanted)} vectors are wanted, not {len(vectors)}")
    return list(zip(vectors, wanted))


# -- jvp


def jvp(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``jvp(fn, inputs, v, has_aux=False)``."""
    given = dict(zip(("fn", "inputs", "v", "has_aux"), args)) | kwargs
    has_aux = flag_of(s, given.get("has_aux"), "has_aux")
    inputs, directions = (arguments_of(s, given[name]) for name in ("inputs", "v"))
    if len(inputs) != len(directions):
        raise ArgumentValueError(f"jvp got {len(inputs)} inputs and {len(directions)} vectors")
    check_directions(s, inputs, directions)
    push = pusher(s, given["fn"], inputs, {}, tuple(range(len(inputs))), has_aux)
    value, tangent = call_value(s, push, directions, {}).items
    first, aux = split_output(value, has_aux)
    return TupleV((first, tangent, aux)) if has_aux else TupleV((first, tangent))


def arguments_of(s: Specialiser, value: Value) -> list[Value]:
    """The arguments that are given to ``jvp`` in a tuple or a list, or one alone."""
    if isinstance(value, TupleV) and value.cls is None or isinstance(value, ListV):
        return [own(s, item) for item in value.items]
    if isinstance(value, Obj) and value.cls is list:
        return [s.env[(value.id, k)] for k in s.fields(value) if k != "len"]
    if isinstance(s.facts_of(value), Listed):
        raise s.refuse(
            "nested-derivative", "the arguments of jvp come in a list of unknown length", "give them in a tuple"
        )
    return [value]


def check_directions(s: Specialiser, inputs: Any, directions: Any) -> None:
    """See to it that directions fit objects that have more than numbers, as the places of a sparse matrix."""
    for value, direction in zip(inputs, directions):
        if isinstance(value, Obj) and isinstance(direction, Obj) and hasattr(value.cls, "check_direction"):
            call_python(s, value.cls.check_direction, [value, direction], {})
        elif isinstance(value, (TupleV, ListV)) and isinstance(direction, (TupleV, ListV)):
            check_directions(s, value.items, direction.items)
        elif isinstance(value, Obj) and isinstance(direction, Obj):
            keys = [k for k in s.fields(value) if (direction.id, k) in s.env and (value.id, k) in s.env]
            check_directions(s, *([s.env[(obj.id, k)] for k in keys] for obj in (value, direction)))


@dataclass(eq=False)
class Push:
    """The function that a pushforward made inside the program calls."""

    inner: Inner
    positions: tuple[int, ...]


def pusher(
    s: Specialiser, fn: Value, args: list[Value], kwargs: dict[str, Value], positions: tuple[int, ...], has_aux: bool
) -> Value:
    """The function from directions to the value of a function and its tangent."""
    inner = emit_inner(s, tangent, fn, args, kwargs, positions, has_aux=has_aux, value=True)
    every = TupleV((*args, *kwargs.values()))
    return PartialV(Const(push_forward), (Const(Push(inner, positions)), every, TupleV(tuple(inner.beside))), {})


def push_forward(info: Push, args: Any, beside: Any, *directions: Any) -> Any:
    """The function of which a pushforward made inside the program is a partial: its call is followed here."""
    raise NotImplementedError


def push(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """A call of a pushforward."""
    info, every, beside, *directions = args
    tangents = [direction(s, d, every.items[p]) for d, p in zip(directions, info.value.positions)]
    emitted = info.value.inner.emitted
    given = [*every.items, *beside.items, *tangents]
    return with_tangents(s, emitted, lambda: call_python(s, emitted.function, given, {}))


def direction(s: Specialiser, vector: Value, value: Value) -> Value:
    """A direction in the structure, shape and dtype of its input."""
    if isinstance(value, TupleV):
        items = vector.items if isinstance(vector, (TupleV, ListV)) else ()
        return TupleV(tuple(direction(s, v, x) for v, x in matched(list(items), list(value.items))), value.cls)
    if isinstance(value, Obj):
        return direction_of_fields(s, vector, value)
    facts = s.facts_of(value)
    if isinstance(facts, Num) and not facts.differentiable or isinstance(facts, Opaque):
        return vector
    if isinstance(facts, Mapped):
        return direction_of_keys(s, vector, value)
    plain = [in_kind_of(s, each, False) for each in (own(s, vector), value)]
    return in_kind_of(s, call_python(s, broadcast.seed, plain, {}), is_tensor_value(s, value))


def direction_of_fields(s: Specialiser, vector: Value, value: Obj) -> Value:
    """A direction for a dict or an object, field by field."""
    if not isinstance(vector, Obj) or s.fields(vector) != s.fields(value):
        raise ArgumentValueError(f"a direction of jvp is no {value.cls.__name__} with the fields of its input")
    pairs = {key: (field(s, vector, key), field(s, value, key)) for key in s.fields(value)}
    return direction_of(s, Obj(("direction", s.site(), value.id), value.cls), pairs)


def direction_of_keys(s: Specialiser, vector: Value, value: Value) -> Value:
    """A direction for a dict that lives at run time; one that does so itself is taken as it is."""
    if not isinstance(vector, Obj):
        return vector
    pairs = {key: (field(s, vector, key), get_item(s, value, Const(key))) for key in s.fields(vector)}
    return direction_of(s, Obj(("direction", s.site(), vector.id), dict), pairs)


def direction_of(s: Specialiser, result: Obj, pairs: dict[Any, tuple[Any, Any]]) -> Obj:
    """An object whose fields are directions, each given for a part of the input."""
    fields = {key: direction(s, given, known) for key, (given, known) in pairs.items()}
    s.env |= {(result.id, key): found for key, found in fields.items()}
    return result


def hvp(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``hvp(fn, inputs, v)`` inside a program: the tangent of the gradient."""
    given = dict(zip(("fn", "inputs", "v"), args)) | kwargs
    inputs = given["inputs"]
    several = isinstance(inputs, (TupleV, ListV))
    settings: GradFunction = GradFunction(len, tuple(range(len(inputs.items) if several else 1)), always_tuple=several)
    gradient = GradientV(given["fn"], lambda count: settings)
    return jvp(s, [gradient, inputs, given["v"]], {}).items[1]


# -- Jacobians


@dataclass(eq=False)
class JacobianV(Wrapped):
    """A Jacobian function made inside the program."""

    settings: JacobianFunction

    def call(self, s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
        return jacobian(s, self.fn, self.settings, [own(s, a) for a in args], kwargs)


def jacobian_of(s: Specialiser, args: list[Value], kwargs: dict[str, Value], kind: str) -> Value:
    """``jacrev(fn, ...)`` inside a program."""
    given = dict(zip(("fn", "grad_position", "has_aux"), args)) | kwargs
    fn = given.pop("fn")
    chosen: dict[str, Any] = {"grad_position": 0, "has_aux": False, "argnums": None}
    chosen |= {name: setting(s, v, name) for name, v in given.items()}
    positions, always_tuple = chosen_positions(chosen["grad_position"], chosen["argnums"])
    settings: JacobianFunction = JacobianFunction(len, positions, chosen["has_aux"], kind, always_tuple=always_tuple)
    return JacobianV(fn, settings)


def hessian_of(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``hessian(fn, ...)`` inside a program: the Jacobian of the gradient."""
    fn, *settings = args
    gradient = gradient_of(s, [fn, *settings], kwargs, "grad")
    return jacobian_of(s, [gradient, *settings], kwargs, "jacfwd")


def jacobian_outside(s: Specialiser, found: JacobianFunction, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """A call of a Jacobian function that exists outside the program."""
    return JacobianV(Const(found.fn), found).call(s, args, kwargs)


def jacobian(
    s: Specialiser, fn: Value, settings: JacobianFunction, args: list[Value], kwargs: dict[str, Value]
) -> Value:
    """The Jacobian by the positions, row by row or column by column."""
    positions = in_call(fn, args, kwargs, checked_jacobian_positions(settings.grad_position, len(args) + len(kwargs)))
    inputs = [require_number(s, [*args, *kwargs.values()][p], "an input") for p in positions]
    one = len(positions) == 1 and not settings.always_tuple
    make = by_rows if settings.kind == "jacrev" else by_columns
    output, aux, blocks = make(s, fn, args, kwargs, positions, settings.has_aux, inputs)
    parts = [block[0] if one else TupleV(tuple(block)) for block in blocks]
    result = TupleV(tuple(parts)) if isinstance(output, (TupleV, ListV)) else parts[0]
    return TupleV((result, aux)) if settings.has_aux else result


Blocks = tuple[Value, Value, list[list[Value]]]  # the output, the auxiliary one, for each output a part by each input


def by_rows(
    s: Specialiser,
    fn: Value,
    args: list[Value],
    kwargs: dict[str, Value],
    positions: tuple[int, ...],
    has_aux: bool,
    inputs: list[Value],
) -> Blocks:
    value, pull = pulled_back(s, fn, args, kwargs, positions, None, has_aux)
    output, aux = split_output(value, has_aux)
    outputs = outputs_of(s, output)
    blocks = []
    for k, y in enumerate(outputs):
        before, after = zeros_for(s, outputs[:k]), zeros_for(s, outputs[k + 1 :])
        if is_scalar(s, y):
            found = call_value(s, pull, [*before.items, Const(1.0), *after.items], {})
        else:
            found = call_python(s, jacobians.rows, [pull, y, before, after, TupleV(tuple(inputs))], {})
        blocks.append(list(found.items))
    return output, aux, blocks


def by_columns(
    s: Specialiser,
    fn: Value,
    args: list[Value],
    kwargs: dict[str, Value],
    positions: tuple[int, ...],
    has_aux: bool,
    inputs: list[Value],
) -> Blocks:
    push = pusher(s, fn, args, kwargs, positions, has_aux)
    value = call_value(s, push, list(zeros_for(s, inputs).items), {}).items[0]
    output, aux = split_output(value, has_aux)
    outputs = TupleV(tuple(outputs_of(s, output)))
    tangents = PartialV(Const(tangents_only), (push,), {})
    columns = []
    for k, x in enumerate(inputs):
        before, after = zeros_for(s, inputs[:k]), zeros_for(s, inputs[k + 1 :])
        if is_scalar(s, x):
            found = call_value(s, tangents, [*before.items, Const(1.0), *after.items], {})
        else:
            found = call_python(s, jacobians.columns, [tangents, x, before, after, outputs], {})
        columns.append(list(found.items))
    return output, aux, [list(row) for row in zip(*columns)]


def tangents_only(push: Any, *directions: Any) -> Any:
    """The tangents of the outputs in a tuple: its call is followed by the compiler."""
    raise NotImplementedError


def tangents_of(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """A call of `tangents_only`."""
    tangent = call_value(s, args[0], args[1:], {}).items[1]
    return TupleV(tuple(tangent.items)) if isinstance(tangent, (TupleV, ListV)) else TupleV((tangent,))


def zeros_for(s: Specialiser, values: list[Value]) -> TupleV:
    """A zero vector for each value."""
    zeros = Const(np.zeros_like, ir.attribute(s.bind("np", np), "zeros_like"))
    return TupleV(tuple(Const(0.0) if is_scalar(s, v) else call_value(s, zeros, [v], {}) for v in values))


def is_scalar(s: Specialiser, value: Value) -> bool:
    facts = s.facts_of(value)
    return isinstance(facts, Num) and facts.dims == () and facts.kind != "array"


def outputs_of(s: Specialiser, output: Value) -> list[Value]:
    """The outputs one by one."""
    outputs = output.items if isinstance(output, (TupleV, ListV)) else (output,)
    return [require_number(s, y, "an output") for y in outputs]


def require_number(s: Specialiser, value: Value, what: str) -> Value:
    """A number or an array of known rank, as Jacobians inside programs want them."""
    facts = s.facts_of(value)
    if not isinstance(facts, Num) or facts.dims is None or facts.kind is None or not facts.differentiable:
        raise s.refuse(
            "nested-derivative",
            f"{what} of a Jacobian inside a differentiated function is no float and no array whose rank is known",
            "pass arrays, or take the Jacobian outside",
        )
    return value


def by_all(s: Specialiser, operation: GradOperation, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``GradOperation(...)(fn, weights)``: the gradient function of a function of the program."""
    given = dict(zip(("fn", "weights"), args)) | kwargs
    weights = weights_of(s, given.get("weights", Const(None)))
    made = operation(len, weights)
    if isinstance(made, GradientByAll):
        return GradientV(given["fn"], made.gradient_of)
    return GradientV(given["fn"], lambda count: made)


def operation_of(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``GradOperation(...)`` inside a program."""
    flags = dict(zip(("get_all", "get_by_list", "sens_param"), args)) | kwargs
    return Const(GradOperation(**{name: setting(s, v, name) for name, v in flags.items()}))


HANDLERS[pull_back] = pull
HANDLERS[push_forward] = push
HANDLERS[tangents_only] = tangents_of
