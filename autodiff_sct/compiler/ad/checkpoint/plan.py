"""Plans of loops over segments: the statements to run again, the state to begin from, and a budget of memory.

A loop ``for i in segments(range(n), every=k)`` saves nothing of its steps.  Its reverse sweep runs each segment again,
from the state that was kept at the segment's start, and then reverses it (`segments` writes that).  Here it is decided

- what is run again: the statements on which the reverse sweep of a step or the next step's state depends
  (`steps_again`).  What a step does besides computing has happened: it is not repeated, and a value that came of it (a
  random draw) is kept;
- what a segment reads from outside the loop, which `settle` and `record` then treat as read by the reverse sweep;
- which memory the loop changes from one step to another, so that its content is part of the state (`stale_regions`).

What cannot be run again rightly is refused here.

::

    for i in range(n):           every = steps_within(200000000, n, (x,), (x, x))
        x = np.sin(x) * x        for start in range(0, n, every):
                                     ...

The memory of a gradient is that of its loops: what is saved of each step.  Every loop over a range that is in no other
loop becomes one over segments.  How much one step saves and a state holds is told to the run by arrays of the same
shape, so that it chooses as long a segment as fits, or else the length that needs least.  Loops that cannot be run in
segments save every step as ever, with a warning that says why.
"""

from __future__ import annotations

import warnings
from typing import Any

import gast
import numpy as np

from ....errors import AliasError, NoRule, Refused, UnsupportedSyntax
from ....runtime.segments import MemoryWarning, steps_within
from ... import ir
from ...analysis.alias import FITTING, UNCERTAIN, changed_through, reachable, roots_of
from ...analysis.liveness import sweep_dead
from ...analysis.ownership import is_alike
from ...domain.facts import INT, Listed, Mapped, Num, Pair
from ...interp.calls.recursive_functions import Recursion
from ...interp.numpy.methods import is_random, opaque_method
from ...ir.patterns import outside_names
from ..recursion.function_pairs import cloned
from ..reverse.primal_shadows import BESIDE
from ..reverse.transform import Reverse
from ..tape.insert import saved_into
from ..value_flow import READERS, only_reads


def plan_segments(r: Reverse, reverse: ir.Block) -> None:
    """Note at each reverse loop over segments what running them again reads, the inner loops first."""
    nodes = [x for x in reversed(ir.walk(reverse)) if isinstance(x, ir.Loop) and x.primal is not None]
    nodes = [x for x in nodes if x.primal.every is not None]
    made = ir.defined(reverse) if nodes else set()
    for node in nodes:
        plan(r, node, made)


def plan(r: Reverse, node: ir.Loop, made: set[str]) -> None:
    """Note at a reverse loop what running its segments again reads; `made` are the variables of the reverse sweep."""
    loop = node.primal
    refuse_effects(r, loop)
    stale = stale_regions(r, loop)
    refuse_unknown(r, loop, stale)
    if loop.folder is not None:
        refuse_not_on_disk(r, loop, stale)
    [again] = cloned([loop])
    reads = [n for n in ir.reads_inside(node) if ir.is_variable(n)]
    steps_again(r, again, reads)
    names = [n for n in outer_names(r, loop, [again, node]) if n not in made]
    read = {*outside_names([again]), *loop_bounds(loop)}
    state = without_views(r, [n for n in names if r.regions.of(n) in stale])
    needed = dict.fromkeys([*(n for n in names if n in read), *loop_bounds(loop), *state])
    node.rerun = ir.Rerun({n: n for n in needed}, state, frozenset(stale))
    if loop.folder is not None:
        written = [n for n in outer_names(r, loop, [loop]) if r.regions.of(n) in stale]
        node.rerun.memory = tuple(dict.fromkeys([*state, *without_views(r, [*state, *written])]))
    node.state_reads = tuple(n for n in needed if r.regions.of(n) not in stale)


def loop_bounds(loop: ir.Loop) -> list[str]:
    return [n for e in (*loop.bounds, loop.every) for n in ir.names_in(e) if ir.is_variable(n)]


def outer_names(r: Reverse, loop: ir.Loop, block: ir.Block) -> list[str]:
    """The variables that statements read and that the program has before a loop."""
    found = dict.fromkeys(n for stmt in block for n in ir.reads_inside(stmt) if ir.is_variable(n))
    inside = ir.defined([loop]) | inits(loop)
    return [n for n in found if n not in inside and r.first.get(n, -1) < r.order[loop]]


def inits(loop: ir.Loop) -> set[str]:
    """The variables that a loop reads only as the first values of what it carries."""
    first = {c.init for c in loop.carries if c.init is not None}
    inside = {n for stmt in loop.body for n in ir.reads_inside(stmt)} | {c.next for c in loop.carries if c.next}
    return first - inside


def steps_again(r: Reverse, again: ir.Loop, reads: list[str]) -> list[ir.Let]:
    """Leave of a copy of a loop what the variables in `reads` depend on, and return the values of effects among it."""
    again.body = repeatable(again.body)
    drop_appends(r, again.body, {r.regions.of(n) for n in reads})
    drawn = [stmt for stmt in ir.walk(again.body) if is_draw(stmt)]
    for stmt in drawn:
        stmt.effect = False
    for c in again.carries:
        c.init = None
    stores = {stmt.base for stmt in ir.walk(again.body) if isinstance(stmt, ir.Store)}
    again.body.append(ir.Effect(ir.tuple_([ir.name(n) for n in reads])))  # each step's reverse reads them
    sweep_dead(r.s, [again], set(), stores)
    again.body.pop()
    for stmt in [x for x in ir.walk(again.body) if x in drawn and x not in again.body]:
        raise NoRule(
            "a value that comes of a side effect, inside a branch or an inner loop of a loop over segments",
            "compute it at the top of the loop's body, or before the loop",
            stmt.origin,
            code="segments",
        )
    kept = [stmt for stmt in again.body if stmt in drawn]
    for stmt in kept:
        stmt.expr, stmt.op = ir.name(again.index or ""), None
    return kept


def repeatable(block: ir.Block) -> ir.Block:
    """The statements of a block that change nothing but memory of the program's own."""
    kept = [stmt for stmt in block if not isinstance(stmt, ir.Raise) and not is_outward(stmt)]
    for stmt in kept:
        for inner in ir.bodies(stmt):
            inner[:] = repeatable(inner)
    return kept


def is_outward(stmt: Any) -> bool:
    """True if a statement only does something that the program itself does not see."""
    return isinstance(stmt, ir.Effect) and stmt.kind in ("", "publish")


def drop_appends(r: Reverse, block: ir.Block, needed: set[int | None]) -> None:
    """Drop what fills lists that nobody reads here."""
    appends = [x for x in ir.walk(block) if isinstance(x, ir.Effect) and x.kind == "append"]
    reads = [n for x in ir.walk(block) for n in (ir.reads(x) if x not in appends else ir.reads(x)[1:])]
    needed = needed | {r.regions.of(n) for n in reads if ir.is_variable(n)}
    dropped = [x for x in appends if r.regions.of(x.operands[0].name) not in needed]

    def drop(inner: ir.Block) -> None:
        inner[:] = [x for x in inner if x not in dropped]
        for stmt in inner:
            for body in ir.bodies(stmt):
                drop(body)

    drop(block)


def is_draw(stmt: Any) -> bool:
    """True if a statement's value comes of an effect, such as a random draw: it must not be computed again."""
    if not isinstance(stmt, ir.Let) or not stmt.effect:
        return False
    fn = stmt.op.fn if stmt.op is not None else None
    return fn not in (list.pop, np.errstate) and not isinstance(fn, Recursion)


# -- memory


def stale_regions(r: Reverse, loop: ir.Loop) -> set[int]:
    """The memory that a loop changes after the step that made it, or that it did not make."""
    found: set[int] = set()
    for stmt in ir.walk(loop.body):
        if not all(is_fresh(r, loop, name) for name in changed_through(stmt)):
            found |= r.regions.written_in(stmt)
    return found


def is_fresh(r: Reverse, loop: ir.Loop, name: str) -> bool:
    """True if a variable's memory is made in the same step of a loop."""
    maker = r.makers.get(name)
    if not isinstance(maker, ir.Let) or loop not in r.around.get(maker, ()):
        return False
    held = reachable(r.s, r.s.facts[name])
    shared = [n for n in ir.reads(maker) if reachable(r.s, r.s.facts[n]) & held]
    if maker.op is not None and all(isinstance(r.s.facts[n], Num) for n in shared):
        shared = [n for n in shared if n in maker.op.shares]  # the others are arrays that it reads
    return all(is_fresh(r, loop, n) for n in shared)


def without_views(r: Reverse, names: list[str]) -> tuple[str, ...]:
    """The variables that are not views of others among them; what the run may make a copy stays."""

    def is_view(name: str) -> bool:
        maker = r.makers.get(name)
        if not isinstance(maker, ir.Let) or maker.op is None or maker.op.fn in UNCERTAIN | FITTING:
            return False
        facts = r.s.facts[name]
        known = not isinstance(facts, Num) or facts.dims is not None
        return known and any(n in names for n in maker.op.shares)

    return tuple(n for n in names if not is_view(n))


# -- what is refused


def refuse_unknown(r: Reverse, loop: ir.Loop, stale: set[int]) -> None:
    """Refuse memory that the loop changes and that cannot be kept and put back."""
    s, where = r.s, r.regions
    for external in s.externals.values():
        if where.of(external.name) in stale:
            raise refused(AliasError, loop, f"{external.symbol!r} lives outside the function and is written")
    carried = {c.phi for c in loop.carries}
    for name in dict.fromkeys([*outer_names(r, loop, loop.body), *carried]):
        facts = s.facts[name]
        held = {where.find(root) for root in reachable(s, facts)}
        if isinstance(facts, (Listed, Mapped, Pair)) and (held - {where.of(name)}) & stale:
            raise refused(AliasError, loop, f"what {s.in_words(name)} holds is written in place")
        if where.of(name) not in stale:
            continue
        kept = isinstance(facts, Num) and facts.kind == "array" or isinstance(facts, Listed) and name not in carried
        if not kept or name in s.unbound:
            raise refused(AliasError, loop, f"{s.in_words(name)} is written, and cannot be kept and put back")


def refuse_effects(r: Reverse, loop: ir.Loop) -> None:
    """Refuse what must not be run twice and is no value that could be kept."""
    beside = frozenset(r.s.roots[site] for site in BESIDE if site in r.s.roots)
    for stmt in ir.walk(loop.body):
        op = getattr(stmt, "op", None)
        if isinstance(stmt, ir.Try):
            raise refused(UnsupportedSyntax, stmt, "`try` in a loop over segments cannot be followed")
        if isinstance(stmt, ir.With) and not is_errstate(r, stmt):
            raise refused(
                UnsupportedSyntax, stmt, "a `with` other than np.errstate in a loop over segments cannot be followed"
            )
        if op is not None and isinstance(op.fn, Recursion) and op.fn.effects:
            raise refused(NoRule, stmt, f"{op.fn.name} has side effects, in a loop over segments")
        if any(roots_of(r.s.facts[t]) & beside for t in ir.ir_targets(stmt)):
            raise refused(AliasError, loop, "names come to stand for one array in a way that depends on the run")
        if is_draw(stmt) and may_write(r, stmt):
            raise refused(NoRule, stmt, "a function without a rule may write into an array, in a loop over segments")


def refuse_not_on_disk(r: Reverse, loop: ir.Loop, stale: set[int]) -> None:
    """Refuse what a loop cannot find again on the disk: memory with several names, random numbers, lists."""
    s, carried = r.s, [c.phi for c in loop.carries]
    if r.around[loop]:
        raise refused(
            UnsupportedSyntax, loop, "a loop with `checkpoint=` is inside another loop", "leave out `checkpoint=` there"
        )
    again = cloned([loop])
    again[0].body = repeatable(again[0].body)
    used = {n for x in ir.inside(again[0]) for n in ir.reads(x)} | {c.next for c in loop.carries}
    for stmt in ir.walk(loop.body):
        if is_draw(stmt) and used & {*stmt.targets}:
            raise refused(
                NoRule,
                stmt,
                "a value that comes of a side effect, in a loop with `checkpoint=`",
                "compute it before the loop, for all steps",
            )
    for name in dict.fromkeys([*carried, *outer_names(r, loop, [loop])]):
        facts = s.facts[name]
        if name in carried and not isinstance(facts, Num) or r.regions.of(name) in stale and isinstance(facts, Listed):
            raise refused(
                UnsupportedSyntax,
                loop,
                f"{s.in_words(name)} is neither a number nor an array, and changes in a loop with `checkpoint=`",
                "write into an array that is made before the loop",
            )
        if name in carried and r.regions.of(name) in stale:
            raise refused(
                AliasError,
                loop,
                f"{s.in_words(name)} is rebound and written in place, in a loop with `checkpoint=`",
                "make a new array in each step, `v = np.empty_like(u)`",
            )


def is_errstate(r: Reverse, stmt: ir.With) -> bool:
    makers = [r.makers.get(n) for expr, _ in stmt.items for n in ir.names_in(expr)]
    return all(isinstance(m, ir.Let) and m.op is not None and m.op.fn is np.errstate for m in makers)


def may_write(r: Reverse, stmt: ir.Let) -> bool:
    """True if a function of which nothing is known is given memory."""
    if stmt.op is None or stmt.op.fn in READERS:
        return False
    if is_generator(r, stmt) if stmt.op.fn is opaque_method else only_reads(stmt.op):
        return False
    names = [n for value in stmt.op.arguments.values() for n in r.s.leaves(value)]
    return any(roots_of(r.s.facts[n]) for n in names)


def is_generator(r: Reverse, stmt: ir.Let) -> bool:
    """True if a call draws from one of NumPy's generators."""
    method = stmt.expr.func
    return is_random(r.s.facts.get(getattr(method.value, "id", "")))


def refused(cls: type[Refused], stmt: Any, reason: str, remedy: str = "") -> Refused:
    return cls(reason, remedy, getattr(stmt, "origin", None), "segments")


def choose_segments(r: Reverse, forward: ir.Block, reverse: ir.Block, budget: int) -> None:
    """Let the outermost loops run in segments as long as a budget of bytes allows."""
    s = r.s
    nodes = [x for x in ir.walk(reverse) if isinstance(x, ir.Loop) and x.primal is not None and is_outer(r, x.primal)]
    tried = [x for stmt in ir.walk(forward) if isinstance(stmt, ir.Try) for x in ir.inside(stmt)]
    nodes = [node for node in nodes if can_run(r, node, reverse, node.primal in tried)]
    for node in nodes:
        loop = node.primal
        every = s.fresh("every", INT)
        s.named.add(every)
        loop.every = ir.name(every)
        share = ir.constant(budget // len(nodes))
        made = ir.Let((every,), ir.call(s.bind("steps_within", steps_within), share, trips(loop)), None, loop.origin)
        r.budgets[loop] = made
        insert_before(forward, loop, made)


def is_outer(r: Reverse, loop: ir.Loop) -> bool:
    return loop.kind == "range" and loop.every is None and loop.stop is None and not r.around[loop]


def can_run(r: Reverse, node: ir.Loop, reverse: ir.Block, tried: bool) -> bool:
    """True if a loop can be run in segments, unless it is `tried`; a warning says why not."""
    loop = node.primal
    loop.every = ir.constant(1)
    try:
        if tried:
            raise UnsupportedSyntax("a loop in a `try` may end early", "take it out", loop.origin, code="segments")
        plan(r, node, ir.defined(reverse))
    except Refused as refused:
        shown = f"{loop.origin.show()}\n" if loop.origin is not None else ""
        warnings.warn(MemoryWarning(f"{shown}this loop saves every step: {refused.reason}"), stacklevel=2)
        return False
    finally:
        loop.every = node.rerun = None
    return True


def trips(loop: ir.Loop) -> Any:
    return loop.bounds[0] if len(loop.bounds) == 1 else ir.call("len", ir.call("range", *loop.bounds))


def insert_before(block: ir.Block, stmt: Any, new: Any) -> None:
    for inner in [block, *(body for x in ir.walk(block) for body in ir.bodies(x))]:
        if stmt in inner:
            inner.insert(inner.index(stmt), new)
            return


# -- how much is kept and saved


def estimate(r: Reverse, made: ir.Let, loop: ir.Loop, again: ir.Loop, phis: list[str], state: tuple[str, ...]) -> None:
    """Tell the run what a state holds and what a step saves: by values of the same size, before the loop."""
    firsts = {c.phi: c.init for c in loop.carries}
    kept = [n for n in (*(firsts[p] for p in phis), *state) if n is not None and n not in r.s.unbound]
    kept = [n for n in kept if isinstance(r.s.facts[n], Num)]
    inside = ir.defined([loop, again])
    outer = [n for stmt in loop.body for n in ir.reads(stmt) if n not in inside and n not in r.s.unbound]
    saved = saves_of(r, again.body, [*kept, *dict.fromkeys(outer)], inside)
    made.expr = ir.call(made.expr.func, *made.expr.args, ir.tuple_([ir.name(n) for n in kept]), ir.tuple_(saved))


def saves_of(r: Reverse, block: ir.Block, known: list[str], inside: set[str]) -> list[Any]:
    """The size of each saved value: a number, a variable defined before the loop, or None."""
    result = []
    for stmt in block:
        if saved_into(stmt) is not None:
            result.append(as_large(r, stmt.expr.args[0].id, known))
        several = isinstance(stmt, ir.Loop) and stmt.kind == "range" and not inside & set(ir.reads(stmt))
        for body in ir.bodies(stmt):
            found = saves_of(r, body, known, inside)
            result += [gast.Tuple([trips(stmt), x], gast.Load()) for x in found] if several else found
    return result


def as_large(r: Reverse, name: str, known: list[str]) -> Any:
    facts = r.s.facts[name]
    if isinstance(facts, Num) and facts.dims == ():
        return ir.constant(0)
    return next((ir.name(n) for n in known if n == name or is_alike(r.s, n, name)), ir.constant(None))
