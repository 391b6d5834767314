"""The pipeline: what a call is turned into, stage by stage.

Each stage is a plain function in the module of its name; `STAGES` is their order.
"""

from __future__ import annotations

import inspect
from typing import Any

import gast

from ...core.deep_stack import deeply
from ...core.process_state import IMPORTING, part
from ...errors import AliasError, NotDifferentiable, Refused, UnsupportedSyntax
from .. import ir
from ..ad.activity import activity, refuse_writes
from ..ad.checkpoint.on_disk import write_segments
from ..ad.checkpoint.plan import choose_segments, plan_segments
from ..ad.results import (
    check_output,
    gradient,
    insert_saves,
    output_leaves,
    own_result,
    refuse_unknown,
    renamed,
    unknown_leaves,
)
from ..ad.reverse.primal_shadows import beside
from ..ad.reverse.seeds import refuse_unseen, sow, weight_gradients
from ..ad.reverse.transform import Reverse
from ..ad.strong_zeros import SINGULAR
from ..ad.tape.availability import computed_anyway
from ..ad.tape.insert import record
from ..ad.tape.required_restores import settle
from ..analysis.alias import Regions, needs_order, regions_of_program
from ..analysis.definite_assignment import drop_sure, unbound
from ..analysis.liveness import sweep_dead
from ..domain import pass_registry
from ..domain.facts import Num, Opaque
from ..domain.pytree import Static
from ..domain.request import Arguments, Emitted, Request, Way, observe
from ..domain.values import Const, Frame, Leaf, Obj, TupleV, Value, is_packaged  # fmt: skip
from ..interp.arrays.indexing import MASKS, masks_are_written
from ..interp.calls.recursion import has_effects
from ..interp.kernel.escape import refuse_lost_references
from ..interp.kernel.operations import call_value
from ..interp.kernel.program_values import INTEGER_LISTS, Restart
from ..interp.kernel.specialiser import Specialiser
from ..interp.kernel.user_errors import Ended
from ..interp.objects import tables
from ..interp.world.boundary import place_of_definition, protect, receive
from .assemble import emit
from .pass_manager import Program
from .pass_order import ACTIVE, CONTRIBUTIONS, OPERATIONS, PRIMAL, RECORDED

STAGES: list[tuple[str, str]] = [
    ("parse", "the text of the function, found and checked against the function object"),
    ("desugar", "early exits as branches and flags, match as if"),
    ("specialise", "names resolved, callees inlined, one operation a statement, with facts"),
    ("activity", "the variables that carry a derivative"),
    ("reverse", "the statements followed backwards"),
    ("record", "what the reverse sweep reads, kept or computed again"),
    ("optimise", "dead code dropped, temporaries put back into expressions"),
    ("unparse", "the text of the adjoint"),
]


def specialise(request: Request) -> tuple[Specialiser, Arguments, Value]:
    """Run the program on facts, however deep its calls are nested."""
    with IMPORTING:
        part("libraries").load_libraries()
    try:
        return deeply(specialised, request)
    except RecursionError:
        raise UnsupportedSyntax(
            f"{request.called} is nested too deeply to be compiled, or calls itself without end",
            "write the recursion as a loop, or a long expression as several statements",
            None if request.fn is None else place_of_definition(request.fn),
            code="too-large",
        ) from None


def specialised(request: Request) -> tuple[Specialiser, Arguments, Value]:
    dynamic: set[Any] = set()
    derivatives: dict[Any, list[Any]] = {}
    references: dict[Any, Any] = {}
    while True:
        s = Specialiser(dynamic, derivatives)
        s.strong, s.perturbed, s.careful = request.strong, request.perturbed, request.careful
        s.attempt, s.order, s.sizes = request.attempt, request.order, request.sizes.another()
        s.shared = {} if may_share(request) else None
        s.read_again = request.capture is not None
        s.frame = Frame(0, None, {})
        s.parameters |= {*request.parameters, *(f"t_{parameter}" for parameter in request.wrt)}
        table = Arguments()
        args: list[Value] = []
        kwargs: dict[str, Value] = {}
        for parameter, (kind, tree) in request.parameters.items():
            value = receive(s, table, parameter, tree)
            pass_on(s, kind, parameter, value, args, kwargs)
        callee: Value = Const(request.fn)
        if request.capture is not None:
            callee = request.capture(s, table)
        tables.begin(s, references)
        s.initial = dict(s.env)
        known = references
        try:
            result = result_of(s, callee, args, kwargs)
        except Restart as restart:
            if restart.site in dynamic:
                raise s.refuse(
                    "different-kinds",
                    "a container changes its shape in a way that cannot be followed",
                    "give each of its items one kind on every path",
                ) from None
            tables.learn(dynamic, restart.site)
        except Refused:
            references = tables.references_in(s)
            if references == known and s.integer_lists:  # lists in variables are more general
                dynamic.add(INTEGER_LISTS)
            elif references == known:
                note_packages(s)
                raise
        else:
            references = tables.references_in(s)
            if masks_are_written(s):
                dynamic.add(MASKS)
            elif references == known:
                note_packages(s)
                s.attempt.specialised = request.capture is None
                return s, table, result


def note_packages(s: Specialiser) -> None:
    """Note that texts of installed packages are followed, of which not everything has to be."""
    if any(map(is_packaged, s.world.texts)):
        s.attempt.met.add(Way.LATE)


def may_share(request: Request) -> bool:
    """True if large functions may stay calls."""
    plain = request.backend == "numpy" and request.memory is None and request.capture is None
    return plain and Way.INLINE not in request.attempt.ways


def result_of(s: Specialiser, callee: Value, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """The result of the program."""
    try:
        result = call_value(s, callee, args, kwargs)
    except Ended:  # it always raises: so does its adjoint
        if not s.block or isinstance(s.block[-1], (ir.Let, ir.Store)):
            raise s.refuse(
                "exceptions",
                "this function always raises an exception, in a place that cannot be told",
                "let it return a number on at least one path",
            ) from None
        return Const(0.0)
    tables.refuse_references(s, result)
    s.guarded = False
    return result


def pass_on(
    s: Specialiser, kind: Any, parameter: str, value: Value, args: list[Value], kwargs: dict[str, Value]
) -> None:
    if kind is inspect.Parameter.VAR_POSITIONAL:
        args += value.items
    elif kind is inspect.Parameter.VAR_KEYWORD:
        kwargs |= {k: s.env[(value.id, k)] for k in s.fields(value)}
    elif kind is inspect.Parameter.KEYWORD_ONLY:
        kwargs[parameter] = value
    else:
        args.append(value)


def adjoint(request: Request) -> Emitted:
    """Emit the adjoint function of a request: both sweeps in one."""
    lost: list[AliasError] = []
    while True:
        try:
            return both_sweeps(request, lost)
        except AliasError as error:
            if error.regions <= regions_of(lost):
                raise
            lost.append(error)


def regions_of(lost: list[AliasError]) -> frozenset[int]:
    return frozenset().union(*(error.regions for error in lost))


def writes_outside(s: Specialiser, where: Regions) -> bool:
    """True if a program writes memory that is there before the call and is no argument."""
    return any(where.is_written(external.name) for external in s.externals.values())


def note_effects(s: Specialiser, block: ir.Block, where: Regions) -> None:
    """Note whether a program has effects: its calls cannot be repeated, so it has strong zeros from the beginning."""
    s.effects = has_effects(block) or writes_outside(s, where)
    if s.effects and not s.strong:
        s.strong = SINGULAR


def both_sweeps(request: Request, lost: list[AliasError]) -> Emitted:
    """Emit the adjoint function; `lost` tells the memory whose shadows the forward sweep has to make."""
    s, table, result = specialise(request)
    observe(request, "specialise", s, s.block)
    chosen = check_output(s, result, request)
    forward = without_dead(s, s.block, result, table, request)
    refuse_lost_references(s, forward)
    s.notes = {} if request.explain else None
    where = regions_of_program(s, forward)
    note_effects(s, forward, where)
    p = Program(s, where, request, table, result, forward)
    p.run(PRIMAL)
    where = p.where
    s.unbound = unbound(forward)
    drop_sure(forward, s.unbound)
    protect(s, table, where, request.valued)
    table.ordered = bool(table.written) and needs_order(forward, where)
    outputs = list(dict.fromkeys(output_leaves(s, chosen)))
    inputs, weights = wanted_inputs(s, table, request)
    active = activity(s, forward, where, inputs, {*outputs, *unknown_leaves(s, chosen)})
    refuse_captured(s, where, active)
    refuse_writes(s, forward, where, active)
    s.active = {n for n in active.varied if n in active.useful}
    p.run(ACTIVE)
    observe(request, "activity", s, forward)
    result_expr = None
    if request.split:
        handed = own_result(s, where, table, forward, result)
        table.handed = [*s.leaves(handed)]
        forward.append(ir.Return(s.expr(handed)))
    elif request.value:
        result_expr = s.expr(own_result(s, where, table, forward, result))
    r = Reverse(s, active, where)
    r.outputs = set(outputs)
    if not beside(r, forward, regions_of(lost)):
        raise lost[-1]
    r.joint = not request.split
    r.index(forward)
    r.primal_roots = frozenset(root for n in r.first for root in getattr(s.facts[n], "roots", ())) | frozenset(
        root for e in s.externals.values() for root in getattr(e.facts, "roots", ())
    )
    s.frame = Frame(0, None, {}, rule=True)
    reverse: ir.Block = []
    seeds: dict[str, str] = {}
    with s.writing(reverse, s.lengths):
        seeds = sow(r, request, chosen, forward, {*table.names.values(), *s.globals})
        for stmt in reversed(forward):
            r.statement(stmt)
        refuse_unknown(s, chosen, request, active.varied)
        s.origin = None
        grads = [gradient(r, table.values[p], request.parameters[p][1], parameter_name(table, p)) for p in request.wrt]
        grads += weight_gradients(r, weights)
    parts = ([result_expr] if result_expr is not None else []) + renamed(r, reverse, grads)
    final = ir.Return(parts[0] if len(parts) == 1 else ir.tuple_(parts))
    final.single = len(parts) == 1
    observe(request, "reverse", s, [*forward, *reverse, final])
    p.reverse, p.final, p.seeds, p.derivative = reverse, final, seeds, r
    return finish(p, r)


def without_dead(s: Specialiser, block: ir.Block, result: Value, table: Arguments, request: Request) -> ir.Block:
    """The program without variables that only pass through loops and branches."""
    kept = [n for p in request.wrt for n in input_leaves(s, table, table.values[p])]
    final = ir.Return(ir.tuple_([ir.name(n) for n in [*s.leaves(result), *kept]]))
    return sweep_dead(s, [*block, final], set(ir.walk(block)), set(), rules=True)[:-1]


def parameter_name(table: Arguments, parameter: str) -> Any:
    return ir.name(next(v for v, p in table.names.items() if p == parameter))


def wanted_inputs(s: Specialiser, table: Arguments, request: Request) -> tuple[set[str], list[Any]]:
    """The variables with respect to which is differentiated, and the weights' variables in order."""
    inputs: set[str] = set()
    for p in request.wrt:
        names = list(input_leaves(s, table, table.values[p]))
        check_input(s, request, p, table.values[p])
        inputs.update(names)
    weights: list[Any] = []
    for w in request.weights:
        found = next((e for e in s.externals.values() if e.key is w), None)
        frozen = not getattr(w, "requires_grad", True)
        weights.append((w, None if found is None or frozen else found.name))
        if found is not None and not frozen:
            inputs.add(found.name)
    return inputs, weights


def input_leaves(s: Specialiser, table: Arguments, value: Value) -> Any:
    """The variables that hold a part of an argument; others of a stand-in are computed of them."""
    if isinstance(value, Obj):
        chosen = getattr(value.cls, "with_derivative", None)
        for key in [k[1] for k in s.initial if isinstance(k, tuple) and k[0] == value.id]:
            if chosen is not None and key not in chosen:
                continue
            yield from input_leaves(s, table, s.initial[(value.id, key)])
    elif isinstance(value, TupleV):
        for item in value.items:
            yield from input_leaves(s, table, item)
    elif isinstance(value, Leaf) and value.name in table.entries:
        yield value.name


def check_input(s: Specialiser, request: Request, parameter: str, value: Value) -> None:
    tree = request.parameters[parameter][1]
    facts = s.facts_of(value)
    place = place_of_definition(request.fn)
    if isinstance(tree, Static):
        raise NotDifferentiable(
            f"the argument {parameter!r} of {request.called} is {type(tree.value).__name__}, which has no derivative",
            "leave it out of grad_position",
            place,
            code="input-without-derivative",
        )
    if isinstance(value, Obj) and hasattr(value.cls, "with_derivative"):
        facts = s.facts_of(s.env[(value.id, value.cls.with_derivative[-1])])
    if isinstance(facts, Num) and not facts.differentiable:
        raise NotDifferentiable(
            f"the argument {parameter!r} of {request.called} holds integers, which have no derivative",
            f"pass floats: `float({parameter})` or `{parameter}.astype(float)`",
            place,
            code="integer-input",
        )
    if isinstance(value, Leaf) and isinstance(facts, Opaque):
        cls = facts.cls or object
        instead = f"`dict({parameter})`" if issubclass(cls, dict) else "a dict or a dataclass of numbers and arrays"
        raise NotDifferentiable(
            f"the argument {parameter!r} of {request.called} is not made of numbers: it is of the class {cls.__name__}",
            f"pass {instead}, or leave it out of grad_position",
            place,
            code="input-without-derivative",
        )


def refuse_captured(s: Specialiser, where: Regions, active: Any) -> None:
    for external in s.externals.values():
        region = where.of(external.name)
        if region is None or region not in where.written or region not in active.varied_regions:
            continue
        if region in active.useful_regions:
            raise AliasError(
                f"{external.symbol!r} lives outside the function, "
                "and a value that carries a derivative is written into it",
                "pass it as an argument, or write into a copy",
                code="outside-write",
            )


def published(s: Specialiser, block: ir.Block) -> set[str]:
    """The variables that a program leaves in objects outside."""
    effects = [stmt for stmt in ir.walk(block) if isinstance(stmt, ir.Effect) and stmt.kind == "publish"]
    return {n for stmt in effects for value in stmt.operands for n in s.leaves(value)}


def finish(p: Program, r: Reverse) -> Emitted:
    """The loaded function of both sweeps."""
    s, request, final = p.s, p.request, p.final
    insert_saves(r, p.forward)
    p.strict = set(ir.walk(p.forward))
    p.shadows = {leaf.name for leaf in r.shadows.table.values()} | {a for a in s.facts if s.is_cotangent(a)}
    clean = set(sweep_dead(s, [*p.both, final], p.strict, p.shadows))
    p.forward, p.reverse = ([stmt for stmt in sweep if stmt in clean] for sweep in (p.forward, p.reverse))
    p.run(OPERATIONS)
    structure = ir.Return(ir.tuple_(like_calls(final.value)))
    r.positions[structure] = -1  # gradients in the structure of an argument need that as it came
    p.reverse.append(structure)
    if request.memory is not None:
        choose_segments(r, p.forward, p.reverse, request.memory)
    plan_segments(r, p.reverse)
    settle(r, p.reverse, {e.name for e in s.externals.values()} | published(s, p.forward))
    refuse_unseen(r, p.reverse)
    p.reverse.remove(structure)
    p.run(CONTRIBUTIONS)
    native = request.backend != "numpy" and request.memory is None
    computed = (
        computed_anyway(s, p.forward, p.reverse, final) if native and pass_registry.on("plan_tape") else frozenset()
    )
    p.forward, p.reverse = record(s, r.generations, p.forward, p.reverse, computed)
    write_segments(r, p.forward, p.reverse)
    observe(request, "record", s, [*p.both, final])
    p.run(RECORDED)
    p.early = set(p.forward)
    p.split(sweep_dead(s, [*p.both, final], p.strict, p.shadows))
    return emit(p, f"d_{request.name}")


def like_calls(expr: Any) -> list[Any]:
    """The places where a result takes the structure of an argument."""
    calls = [n for n in gast.walk(expr) if isinstance(n, gast.Call)]
    return [n for n in calls if getattr(n.func, "id", getattr(n.func, "attr", "")) == "like"]
