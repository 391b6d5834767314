"""A whole program made native: its text, what its results are, and its calls of the C library.

Functions of the C library where a loop cannot compute several elements at a time.

`functions` has polynomials for `exp` and `log`, made for vector code.  Where each iteration waits for the one before,
or may give the call up, no vector code comes of a loop, and the C library is two to four times as fast.

    for i in range(n):                       for i in range(n):
        s = exp(s - x[i])             ->         s = math.exp(s - x[i])
"""

from __future__ import annotations

import re
from typing import Any

import gast

from .. import ir
from ..analysis.alias import Regions, roots_of
from ..analysis.liveness import count_uses
from ..codegen.emit import Emitter, comment_of
from ..codegen.out_of_ssa import Naming
from ..domain.facts import INT, Num
from ..ir.dims import Lengths
from ..ir.function import Function
from ..text.unparse import printed
from .bailout import Native
from .kinds import SCALARS, WIDTH, Bundle, Grid, Number, Raw, Value
from .lowering import control as _control  # noqa: F401  (lowers branches and loops)
from .lowering.expressions import facts_number, lower
from .lowering.lists import changed_lists
from .lowering.statements import block, written_in
from .lowering.tape import lists_together, made_once, unsaved
from .lowering.tape_index import called
from .passes.index_functions import make
from .passes.loop_fusion import forwards, fused
from .passes.scalar_promotion import accumulated, hoisted
from .passes.sroa import in_registers
from .state import State

FASTMATH = '{"afn", "arcp", "contract", "nsz", "reassoc"}'
OPTIONS = f'cache=True, error_model="numpy", fastmath={FASTMATH}, nogil=True'


def native_program(
    s: Function, where: Regions, front: ir.Block, back: ir.Block, parameters: dict[str, str], seeds: dict[str, str],
    externals: list[Any], name: str,
) -> Native:  # fmt: skip
    """Write a program in the native dialect; raises `Outside` at the first statement that is not in it."""
    program = [*front, *back]
    if not back:
        front, back = front[:-1], front[-1:]
    state = State(s, where, count_uses(program))
    state.together = lists_together(program)
    state.written = written_memory(s, program)
    state.lists = changed_lists(s, program)
    state.written_later = written_out_of_lists(program)
    state.equal = equal_in_loops(s, program)
    enter(state, parameters, seeds, externals)
    with state.writing() as first:
        state.scopes[0].block = first
        block(state, front, back)
    with state.writing() as second:
        state.scopes[0].block, state.reversing = second, True
        block(state, back[:-1])
        results = leave(state, back[-1])
    unsaved(state, first, second)
    made_once(state, first, second)
    first, second = without_empty(first), without_empty(second)
    hoisted(state, first, second, small=False)
    first, second = fused(state, first), fused(state, second)
    in_registers(state, first, second)
    hoisted(state, first, second, small=True)
    forwards(state, first, second)
    accumulated(state, first, {})
    accumulated(state, second, {})
    one_by_one(state, [*first, *second])
    text = written(state, first, second, parameters, name)
    return Native(name, text, results, any(isinstance(stmt, ir.Loop) for stmt in program))


def equal_in_loops(s: Function, program: ir.Block) -> Lengths:
    """The lengths that are equal if each loop runs: a call in which they differ is given up."""
    found = Lengths(s.lengths)

    def visit(block: ir.Block) -> None:
        for stmt in block:
            if isinstance(stmt, ir.Loop):
                for a, b in s.lengths_in(stmt.body).pairs:
                    found.equate(a, b)
                visit(stmt.body)

    visit(program)
    return found


def written_memory(s: Function, block: ir.Block) -> set[int]:
    """The memory that the statements of a block write."""
    return {root for stmt in ir.walk(block) for base in written_in(stmt) for root in roots_of(s.facts[base])}


def written_out_of_lists(program: ir.Block) -> set[str]:
    """The variables taken out of a list, themselves or views of which are written."""
    source: dict[str, str] = {}
    for stmt in ir.walk(program):
        if isinstance(stmt, ir.Let) and may_show(stmt.expr):
            names = [n for n in ir.names_in(stmt.expr) if ir.is_variable(n)]
            source |= {target: names[0] for target in stmt.targets if names}
    found = {base for stmt in ir.walk(program) for base in written_in(stmt)}
    for name in sorted(found):
        while name in source and source[name] not in found:
            name = source[name]
            found.add(name)
    return found


# Functions that make new arrays, whatever they are given.
MAKERS = {"zeros", "ones", "empty", "full", "zeros_like", "ones_like", "empty_like", "full_like", "copy", "len"}


def may_show(expr: Any) -> bool:
    """True if the value of an expression may be memory of something named in it."""
    if isinstance(expr, gast.Call):
        return getattr(expr.func, "attr", "").rpartition(".")[2] not in MAKERS and not is_new_call(expr)
    return isinstance(expr, (gast.Name, gast.Subscript, gast.Attribute, gast.IfExp))


def is_new_call(expr: gast.Call) -> bool:
    """True if a function is called by a bare name: `len`, `float`, and the helpers that make derivatives."""
    return isinstance(expr.func, gast.Name) and not expr.func.id.startswith("unbroadcast")


def without_empty(block: ir.Block) -> ir.Block:
    """A block without what is left over from lists in which nothing is saved."""
    for stmt in block:
        for inner in ir.bodies(stmt):
            inner[:] = without_empty(inner)
    return [s for s in block if not isinstance(s, ir.Effect) or not isinstance(s.expr, gast.Pass)]


def enter(state: State, parameters: dict[str, str], seeds: dict[str, str], externals: list[Any]) -> None:
    """The parameters, and what is read from outside."""
    outside = {external.name for external in externals}
    for variable in parameters:
        facts = state.s.facts[variable]
        if isinstance(facts, Num) and facts.kind == "array" and facts.dims:
            state.enter(variable)
        elif variable in outside or (variable in seeds and isinstance(facts, Num)):
            state.define(variable, None)
            state.values[variable] = facts_number(state, variable, WIDTH)
            state.kinds[variable] = state.values[variable].dtype
        else:
            state.define(variable, None)
            state.values[variable] = Raw(ir.name(variable))


def leave(state: State, final: ir.Return) -> Any:
    """The results, and the kinds that they are to have."""
    value = lower(state, final.value)
    exprs: list[Any] = []
    kinds = result_kinds(state, value, exprs)
    state.emit(ir.Return(exprs[0]))
    return kinds


def result_kinds(state: State, value: Value, exprs: list[Any]) -> Any:
    if isinstance(value, Bundle):
        inner: list[Any] = []
        kinds = tuple(result_kinds(state, item, inner) for item in value.items)
        exprs.append(ir.tuple_(inner))
        return kinds if any(kind is not None for kind in kinds) else None
    if isinstance(value, Number):
        exprs.append(value.expr)
        return {"f": float, "i": int, "b": bool}[value.dtype.kind] if value.python else value.dtype.type
    if not isinstance(value, Grid):
        raise state.outside("a result that is no number or array")
    exprs.append(value.view if value.view is not None else make(state, value, state.s.fresh("t", INT)).view)
    return None


class NativeNaming(Naming):
    """Names of which each stands for one type only: the compiler behind wants that."""

    def __init__(self, state: State, program: ir.Block, arguments: dict[str, str]) -> None:
        self.kinds = state.kinds
        self.fixed = set(arguments.values())
        self.named_kinds: dict[str, Any] = {}
        super().__init__(state.s, program, arguments)
        self.reserved |= state.reserved | {name.split(".")[0] for name in state.imported}

    def unite(self, a: str, b: str | None) -> None:
        if b is not None and self.kinds.get(a) == self.kinds.get(b) is not None:
            super().unite(a, b)

    def choose(self, group: Any) -> str:
        name = super().choose(group)
        self.named_kinds[name] = self.kinds.get(group.members[0])
        return name

    def is_free(self, name: str, group: Any) -> bool:
        kind = self.kinds.get(group.members[0])
        return name not in self.fixed and self.named_kinds.get(name, kind) == kind and super().is_free(name, group)


def written(state: State, first: ir.Block, second: ir.Block, parameters: dict[str, str], name: str) -> str:
    """The text of the module."""
    taken = state.reserved | {n.split(".")[0] for n in state.imported} | {name}
    arguments = {}
    for variable, text in parameters.items():
        while text in taken:
            text += "_"
        taken.add(text)
        arguments[variable] = text
    room = [] if state.room is None else [state.room]
    names = NativeNaming(state, [*first, *second], arguments).assign()
    emitter = Emitter(state.s, names)
    body, tail = emitter.block(first), emitter.block(second)
    comment(tail, None)
    spec = gast.arguments(
        [gast.Name(t, gast.Param(), None, None) for t in [*arguments.values(), *room]], [], None, [], [], None, []
    )
    function = printed(gast.Module([gast.FunctionDef(name, spec, [*body, *tail], [], None, None, [])], [])).text
    own = {*state.imported, *SCALARS}
    used = {n for n in own if re.search(rf"(?<![.\w]){n}\(", function)}
    used |= {"NoRoom"} if room else set()
    imported = sorted(n for n in used if "." not in n and n != "abs")
    lines = ["import math", "", "import numpy as np", "from numba import njit"]
    if imported:
        lines += ["", f"from autodiff_sct.compiler.numba.math_library import {', '.join(imported)}"]
    return "\n".join([*lines, "", "", f"@njit({OPTIONS})", function])


def comment(nodes: list[Any], last: Any) -> Any:
    """Say above each group of statements, or the loop that stands for one, which line of the user's it reverses."""
    for node in nodes:
        origin = getattr(node, "origin", None)
        place = None if origin is None else (origin.file, origin.line)
        inner = [*getattr(node, "body", []), *getattr(node, "orelse", [])]
        several = len({id_of(n) for n in nested(inner)} - {None}) > 1
        if origin is not None and place != last and not (inner and several):
            node.comment = comment_of(origin)
            last = place
        if inner:
            last = comment(node.body, last if not several else None)
            comment(getattr(node, "orelse", []), last)
            last = None if several else last
    return last


def nested(nodes: list[Any]) -> list[Any]:
    found = list(nodes)
    for node in nodes:
        found += nested([*getattr(node, "body", []), *getattr(node, "orelse", [])])
    return found


def id_of(node: Any) -> Any:
    origin = getattr(node, "origin", None)
    return None if origin is None else (origin.file, origin.line)


# What the C library computes sooner than a polynomial, one number at a time.
LIBRARY = {"exp", "log"}


def one_by_one(state: State, program: ir.Block) -> None:
    """Rewrite a native program, in place."""
    if LIBRARY & state.imported:
        visit(program, False)


def visit(block: ir.Block, vector: bool) -> None:
    """Rewrite a block; `vector` tells whether it is in a loop of which vector code may come."""
    for stmt in block:
        inside = may_be_vector(stmt) if isinstance(stmt, ir.Loop) else vector
        for inner in ir.bodies(stmt):
            visit(inner, inside)
        if not vector:
            for expr in ir.expressions(stmt):
                rewrite(expr)


def rewrite(expr: Any) -> None:
    for node in ir.nodes(expr):
        if isinstance(node, gast.Call) and called(node) in LIBRARY:
            node.func = ir.dotted(f"math.{called(node)}")


def may_be_vector(loop: ir.Loop) -> bool:
    """True if the iterations of a loop may be run side by side."""
    if loop.kind != "range" or loop.stop is not None:
        return False
    inner = list(ir.walk(loop.body))
    if any(isinstance(stmt, ir.Loop) or gives_up(stmt) for stmt in inner):
        return False
    return all(is_sum(c, inner) for c in loop.carries) and not reads_back(inner)


def gives_up(stmt: Any) -> bool:
    return isinstance(stmt, ir.Effect) and isinstance(stmt.expr, (gast.Assert, gast.Raise))


def is_sum(carry: ir.Carry, body: ir.Block) -> bool:
    """True if all that is done with a carried number is to add to it."""
    readers = [stmt for stmt in body if carry.phi in ir.reads(stmt)]
    if carry.next == carry.phi or not readers:
        return True
    first = readers[0]
    plain = isinstance(first, ir.Let) and isinstance(first.expr, gast.BinOp)
    return (
        len(readers) == 1
        and plain
        and first.targets == (carry.next,)
        and isinstance(first.expr.op, (gast.Add, gast.Sub))
    )


def reads_back(body: ir.Block) -> bool:
    """True if a loop reads other places of an array than the one that it writes."""
    written: dict[str, set[str]] = {}
    for stmt in body:
        if isinstance(stmt, ir.Store):
            written.setdefault(stmt.base, set()).add(gast.dump(stmt.index))
    if any(len(places) > 1 for places in written.values()):
        return True
    read = [
        n for stmt in body for expr in ir.expressions(stmt) for n in ir.nodes(expr) if isinstance(n, gast.Subscript)
    ]
    found = [(n.value.id, gast.dump(n.slice)) for n in read if isinstance(n.value, gast.Name)]
    return any(name in written and place not in written[name] for name, place in found)
