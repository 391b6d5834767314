"""From both sweeps to a loaded function: temporaries nested, variables named, text printed and compiled."""

from __future__ import annotations

from typing import Any

import gast

from ..native import natively
from . import ir
from .arguments import Arguments
from .bounds import fold_bounds, inline_lengths
from .emit import Emitter, annotate, defaults
from .facts import Num, Opaque
from .load import load
from .naming import name_variables
from .optimise import REVERSE_DEPTH, Nesting
from .pairs import always_assigned, own_copies, settle_calls, unset
from .parts import collect_parts
from .peephole import improve, without_synonyms
from .regions import Regions
from .request import Emitted, Request, observe
from .sinking import sink
from .specialise.state import Specialiser
from .specialise.values import External, Value
from .spelling import spell
from .unparse import printed


def emit(
    s: Specialiser,
    where: Regions,
    request: Request,
    table: Arguments,
    program: ir.Block,
    early: set[int],
    final: ir.Return,
    seeds: dict[str, str],
    result: Value,
    name: str,
) -> Emitted:
    """Name, print and load a program whose last statement returns."""
    front = [stmt for stmt in program if id(stmt) in early]
    back = [stmt for stmt in program if id(stmt) not in early]
    improve(s, back)
    sink(s, back)
    without_synonyms(s, back)
    program = [*front, *back]
    collect_parts(s, program)
    program = inline_lengths(s, program)
    front = [stmt for stmt in program if id(stmt) in early]
    back = [stmt for stmt in program if id(stmt) not in early]
    nesting = Nesting(s, where, program, 0)
    front = nesting.block(front)
    nesting.limit = REVERSE_DEPTH
    back = nesting.block(back)
    spell(s, back)
    program = [*front, *back]
    fold_bounds(program)
    if request.split:
        back[:0] = own_copies(
            s, back, set(), {*table.names, *(e.name for e in s.externals.values()), *always_assigned(front)}
        )
        program = [*front, *back]
        kept = kept_state(s, table, front, [n for n in outside_names(back) if n not in seeds], result)
    settle_calls(s, program)
    observe(request, "optimise", s, program)
    externals = used_externals(s, program, request)
    arguments = dict(table.names)
    used = set(arguments.values()) | set(seeds.values())
    used |= set(s.globals)
    for external in externals:
        arguments[external.name] = unique(s.hints[external.name], used)
    arguments |= seeds
    names = name_variables(s, program, arguments)
    emitter = Emitter(names, set())
    body = emitter.block(front)
    tail = emitter.block(back)
    annotate(tail)
    start, check = defaults(s, emitter, list(arguments.values()), result)
    body = [*start, *body, *check]
    if request.split:
        body[:0] = unset(front, list(arguments), outside_names(back), names)
        return emit_pair(s, request, table, names, arguments, seeds, body, tail, kept, result, externals)
    function_name = unique(name, set(s.globals) | set(arguments.values()))
    tree = gast.Module(
        [function(function_name, arguments, seeds, [*body, *tail], default_seed(request, seeds)), *s.functions], []
    )
    text = printed(tree)
    origins = {line: node.origin for line, node in text.statements.items() if getattr(node, "origin", None) is not None}
    hint = f"adjoint of {getattr(request.fn, '__module__', '')}.{request.name}"
    loaded = load(text.text, function_name, dict(s.globals), hint)
    loaded.__autodiff_origins__ = origins  # type: ignore[attr-defined]
    emitted_text, namespace = text.text, dict(s.globals)
    if request.backend != "numpy":
        loaded, native_text = natively(
            request.backend,
            loaded,
            lambda: native_of(s, where, front, back, arguments, seeds, externals, function_name),
            f"the {hint}",
        )
        if native_text is not None:
            emitted_text, namespace = native_text, {}
    from .dispatch import seed_spec, wrap_spec

    tensors = any(isinstance(f, Num) and f.tensor for f in s.facts.values())
    count = (
        len(final.value.elts)
        if isinstance(final.value, gast.Tuple) and final.value is not getattr(final, "single", None)
        else 1
    )
    return Emitted(
        emitted_text, loaded, externals, s.guards, result, namespace, table.written,
        wrap_spec(s, result) if tensors else None, tensors, count, seed_spec(s, differentiated(request, result)),
        s.effects,
    )  # fmt: skip


def native_of(*program: Any) -> Any:
    """The native form of a program."""
    from ..native.program import native_program

    return native_program(*program)


def differentiated(request: Request, result: Value) -> Value:
    """The part of a result that is differentiated."""
    return result.items[0] if request.has_aux else result


def roots_overlap(s: Specialiser, a: str, b: str) -> bool:
    from .regions import roots_of

    return bool(roots_of(s.facts[a]) & roots_of(s.facts[b]))


def changed_names(back: ir.Block, s: Specialiser) -> set[str]:
    """The variables through which a backward sweep changes memory."""
    found: set[str] = set()
    for stmt in ir.walk(back):
        if isinstance(stmt, ir.Store):
            found.add(stmt.base)
        for call in [node for expr in ir.expressions(stmt) for node in ir.nodes(expr) if isinstance(node, gast.Call)]:
            if isinstance(call.func, gast.Attribute) and call.func.attr in ("pop", "append"):
                found.update(ir.names_in(call.func.value))
            elif isinstance(call.func, gast.Name):
                for k in getattr(s.globals.get(call.func.id), "changed", ()):
                    found.update(ir.names_in(call.args[k]))
    return found


def replace_everywhere(block: ir.Block, old: str, new: str) -> None:
    from .optimise import substitute_own

    mapping = {old: ir.name(new)}
    for stmt in ir.walk(block):
        substitute_own(stmt, mapping)
        for c in getattr(stmt, "carries", []):
            c.init, c.next = (new if c.init == old else c.init), (new if c.next == old else c.next)
        for m in getattr(stmt, "merges", []):
            if isinstance(m, ir.Merge):
                m.then, m.orelse = (new if m.then == old else m.then), (new if m.orelse == old else m.orelse)


def emit_pair(
    s: Specialiser,
    request: Request,
    table: Arguments,
    names: dict[str, str],
    arguments: dict[str, str],
    seeds: dict[str, str],
    body: list[Any],
    tail: list[Any],
    kept: dict[str, Any],
    result: Value,
    externals: list[External],
) -> Emitted:
    """A forward function that returns the value and what its backward function reads."""
    state = {names[n]: ir.substitute(expr, {n: ir.name(names[n])}) for n, expr in kept.items()}
    parameters = [gast.Name(n, gast.Param(), None, None) for n in [*state, *seeds.values()]]
    value = body.pop().value
    forward_arguments = {k: v for k, v in arguments.items() if k not in seeds}
    forward_name, backward_name = (unique(f"{request.name}_{part}", set(s.globals)) for part in ("forward", "backward"))
    final = gast.Return(ir.tuple_([value, ir.tuple_([*state.values()])]))
    tree = function(forward_name, forward_arguments, {}, [*body, final], False)
    text = printed(gast.Module([tree, *s.functions], [])).text
    spec = gast.arguments(parameters, [], None, [], [], None, [])
    back_text = printed(gast.Module([gast.FunctionDef(backward_name, spec, tail, [], None, None, [])], [])).text
    hint = f"{getattr(request.fn, '__module__', '')}.{request.name}"
    namespace = dict(s.globals)
    loaded = load(text, forward_name, namespace, f"forward of {hint}")
    loaded.__autodiff_backward__ = load(back_text, backward_name, namespace, f"backward of {hint}")  # type: ignore[attr-defined]
    from .dispatch import seed_spec, wrap_spec

    tensors = any(isinstance(f, Num) and f.tensor for f in s.facts.values())
    return Emitted(
        text + "\n\n" + back_text, loaded, externals, s.guards, result, dict(s.globals), table.written,
        wrap_spec(s, result) if tensors else None, tensors, len(request.wrt) + len(request.weights),
        seed_spec(s, differentiated(request, result)), s.effects,
    )  # fmt: skip


def kept_state(s: Specialiser, table: Arguments, front: ir.Block, state: list[str], result: Value) -> dict[str, Any]:
    """What the backward function reads of the forward one's: copies of what the caller may write between the two."""
    from ..runtime import objects
    from .sharing import reachable

    names = [*table.entries, *(e.name for e in s.externals.values()), *s.leaves(result)]
    shared = {root for n in names for root in reachable(s, s.facts[n])}
    sure = {*names, *always_assigned(front)}

    def kept(variable: str) -> Any:
        facts = s.facts[variable]
        if not isinstance(facts, Opaque) and not reachable(s, facts) & shared:
            return ir.name(variable)
        if isinstance(facts, Num) and facts.kind == "array" and variable in sure:
            return ir.call(ir.attribute(ir.name(variable), "copy"))
        return ir.call(s.bind("detached", objects.detached), ir.name(variable))

    return {n: kept(n) for n in state}


def outside_names(block: ir.Block) -> list[str]:
    """The variables that a block reads and does not define."""
    from .record import reads_inside
    from .shadows import defined

    made = defined(block) | {stmt.index for stmt in ir.walk(block) if isinstance(stmt, ir.Loop)}
    return [n for n in dict.fromkeys(n for stmt in block for n in reads_inside(stmt)) if n not in made]


def used_externals(s: Specialiser, program: ir.Block, request: Request) -> list[External]:
    """What the emitted function reads from outside; the kind of everything else that was looked at is guarded."""
    from .specialise.externals import KindGuard

    read = {n for stmt in ir.walk(program) for n in ir.reads(stmt)}
    read |= {n for stmt in ir.walk(program) for c in getattr(stmt, "carries", []) for n in (c.init, c.next) if n}
    read |= {
        n
        for stmt in ir.walk(program)
        for m in getattr(stmt, "merges", [])
        if isinstance(m, ir.Merge)
        for n in (m.then, m.orelse)
        if n
    }
    result = []
    for external in s.externals.values():
        if external.name in read or any(external.key is w for w in request.weights):
            result.append(external)
        else:
            s.guards.append(KindGuard(external.read))
    return result


def default_seed(request: Request, seeds: dict[str, str]) -> bool:
    return not request.seeded and not any(name.startswith("t_") for name in seeds.values())


def unique(name: str, taken: set[str]) -> str:
    candidate, number = name, 1
    while candidate in taken:
        number += 1
        candidate = f"{name}_{number}"
    taken.add(candidate)
    return candidate


def function(name: str, arguments: dict[str, str], seeds: dict[str, str], body: list[Any], default: bool) -> Any:
    parameters = [gast.Name(text, gast.Param(), None, None) for text in arguments.values()]
    defaults = [ir.constant(1.0)] * len(seeds) if default else []
    spec = gast.arguments(parameters, [], None, [], [], None, defaults)
    return gast.FunctionDef(name, spec, body, [], None, None, [])


def imports_of(namespace: dict[str, Any], module: str) -> list[str]:
    """The import lines that make an emitted text run where its primal, of `module`, does."""
    import types

    lines = []
    for name, value in sorted(namespace.items()):
        home, own = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
        if isinstance(value, types.ModuleType):
            lines.append(f"import {value.__name__}" + (f" as {name}" if value.__name__ != name else ""))
        elif home and own and home not in ("builtins", "__main__", module) and own.isidentifier() and callable(value):
            lines.append(f"from {home} import {own}" + (f" as {name}" if own != name else ""))
    return lines
