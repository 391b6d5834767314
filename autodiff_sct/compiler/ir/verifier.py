"""The invariants of a program in the intermediate form: what holds after every pass.

- `tree`: no statement and no block stands in two places; nothing follows the last return; literals are Python's.
- `defined_once`: each variable is defined by one statement.
- `defined_before_read`: on every path to a statement that reads a variable, it has been defined, or may be unbound
  there as the program has it in `unbound`.  A variable of a branch is read inside that branch, in the branch that
  reverses it, or through a merge; one of a loop inside that loop, or through a carry.  Where a program has been
  lowered, loop counters are read after their loops, too, and the sides of branches may have changed places.
- `known`: each variable has facts, and a hint.
- `facts_agree`: the rank and the dtype of a result are those that NumPy gives it for the facts of its operands.
- `operands_agree`: the operands of an operation are read by the expression that computes it (`Op.beside` are not).
- `saves_match`: each list of saved values is filled at as many places as it is read back from, and in one block they
  are read back in reverse order.

`verify` raises `Malformed` at the first that fails.  The pass manager calls it between passes under `verifying()`, as
``show --verify-each`` and the tests do.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

import gast
import numpy as np

from ..domain.dummies import evaluate
from ..domain.facts import Facts, Num
from ..domain.values import TupleV, Value
from .function import Function
from .patterns import is_call
from .printer import printed
from .statements import Block, If, Let, Loop, Raise, Return, Store, Try, With, nodes_in, path_of, variables_in
from .traversal import blocks, expressions, ir_targets, reads, walk

FUNCTIONS: dict[type, Callable[..., Any]] = {
    gast.Add: operator.add, gast.Sub: operator.sub, gast.Mult: operator.mul, gast.Div: operator.truediv,
    gast.USub: operator.neg,
}  # fmt: skip


class Malformed(Exception):
    """A program that breaks an invariant, with the pass after which it does."""


@dataclass
class Program:
    """A program: its forward sweep, and its reverse sweep as far as that is written."""

    s: Function
    forward: Block
    reverse: Block = field(default_factory=list)
    outside: frozenset[str] = frozenset()  # variables that are defined where it begins
    is_primal: bool = False  # not differentiated yet: operations are the truth, nothing has rewritten expressions
    is_recorded: bool = True  # the reverse sweep reads what is saved; before, it reads any variable of the other
    is_lowered: bool = False  # loop counters outlive their loops, and the sides of branches have changed places
    seen: dict[Any, list[frozenset[str]]] = field(default_factory=dict)  # what the paths of a statement define

    @property
    def block(self) -> Block:
        return [*self.forward, *self.reverse]

    def fail(self, invariant: str, said: str, stmt: Any = None) -> None:
        where = "" if stmt is None else "\n" + printed([stmt])
        raise Malformed(f"{invariant}: {said}{where}")


_each: ContextVar[bool] = ContextVar("_each", default=False)


def verifies() -> bool:
    """True if programs are to be verified after every pass."""
    return _each.get()


@contextmanager
def verifying() -> Iterator[None]:
    """Verify programs after every pass of what is compiled meanwhile."""
    token = _each.set(True)
    try:
        yield
    finally:
        _each.reset(token)


def verify(program: Program, after: str) -> None:
    """Check every invariant; `after` names the pass in the message.

    Raises
    ------
    Malformed
        The first invariant that does not hold, with the statement.
    """
    try:
        for invariant in INVARIANTS:
            invariant(program)
    except Malformed as error:
        raise Malformed(f"after {after}: {error}") from None


def tree(program: Program) -> None:
    """Check that statements and blocks form a tree."""
    for sweep in (program.forward, program.reverse):
        if any(isinstance(stmt, Return) for stmt in walk(sweep[:-1])):
            program.fail("tree", "statements follow a return")
    met: set[int] = set()
    for block in blocks(program.block):
        for stmt in block:
            if id(stmt) in met:
                program.fail("tree", "a statement stands in two places", stmt)
            met.add(id(stmt))
            if any(isinstance(node.value, np.generic) for node in literals(stmt)):
                program.fail("tree", "a literal is a number of NumPy's", stmt)


def literals(stmt: Any) -> Iterator[Any]:
    """The literals in the expressions of a statement."""
    return (node for expr in expressions(stmt) for node in nodes_in(expr) if isinstance(node, gast.Constant))


def defined_once(program: Program) -> None:
    """Check that each variable has one definition."""
    counts = Counter(n for stmt in walk(program.block) for n in set(ir_targets(stmt)))
    for stmt in walk(program.block):
        again = [n for n in ir_targets(stmt) if counts[n] > 1 or n in program.outside]
        if again:
            program.fail("defined_once", f"{again[0]} is defined more than once", stmt)


def known(program: Program) -> None:
    """Check that the tables know each variable."""
    s = program.s
    for stmt in walk(program.block):
        for n in ir_targets(stmt):
            if n not in s.facts or n not in s.hints:
                program.fail("known", f"{n} has no {'hint' if n in s.facts else 'facts'}", stmt)


# -- definition before use


def defined_before_read(program: Program) -> None:
    """Check that each variable is defined on every path to what reads it."""
    defined = flow_of(program, program.forward, program.outside | program.s.unbound)
    if not program.is_recorded:
        loops = [stmt.primal for stmt in walk(program.reverse) if isinstance(stmt, Loop) and stmt.primal is not None]
        defined = defined.union(definitions([*program.forward, *loops]))
    flow_of(program, program.reverse, defined)


def definitions(block: Block) -> Iterator[str]:
    """The variables that a block defines, and the contents that its stores overwrite."""
    for stmt in walk(block):
        yield from ir_targets(stmt)
        if isinstance(stmt, Store) and stmt.old is not None:
            yield stmt.old


def flow_of(program: Program, block: Block, defined: frozenset[str]) -> frozenset[str]:
    """The variables defined after a block where `defined` is before it."""
    for stmt in block:
        check_reads(program, reads(stmt) if not isinstance(stmt, Loop) else reads_before(stmt), defined, stmt)
        defined = FLOWS.get(type(stmt), of_simple)(program, stmt, defined)
    return defined


def check_reads(program: Program, names: Sequence[str | None], defined: frozenset[str], stmt: Any) -> None:
    for n in names:
        if n is not None and n not in defined:
            program.fail("defined_before_read", f"{n} is read where it may not be defined", stmt)


def reads_before(loop: Loop) -> Sequence[str]:
    """The reads of a loop before its first iteration."""
    found = [n for bound in loop.bounds for n in variables_in(bound)]
    return found + [*(loop.rerun.names.values() if loop.rerun is not None else ())]


def of_simple(program: Program, stmt: Any, defined: frozenset[str]) -> frozenset[str]:
    return defined.union(ir_targets(stmt))


def of_branch(program: Program, stmt: If, defined: frozenset[str]) -> frozenset[str]:
    then, orelse = reversed_paths(program, stmt)
    sides = flow_of(program, stmt.then, defined | then), flow_of(program, stmt.orelse, defined | orelse)
    program.seen[stmt] = [side - defined for side in sides]
    for merge in stmt.merges:
        check_reads(program, [merge.then], sides[0], stmt)
        check_reads(program, [merge.orelse], sides[1], stmt)
    going_on = [side for side, block in zip(sides, (stmt.then, stmt.orelse)) if not always_raises(block)]
    return common(defined, going_on).union(m.target for m in stmt.merges)


def reversed_paths(program: Program, stmt: If) -> Sequence[frozenset[str]]:
    """The variables defined on the paths that the sides of a branch reverse: those of a branch, or one of a ``try``."""
    nothing: frozenset[str] = frozenset()
    if stmt.path is not None:
        paths = program.seen.get(stmt.path[0], [])
        others = [path for k, path in enumerate(paths) if k != stmt.path[1]]
        return nothing.union(*paths[stmt.path[1] : stmt.path[1] + 1]), nothing.union(*others)
    found = program.seen.get(stmt.primal, [nothing, nothing])
    return [nothing.union(*found)] * 2 if program.is_lowered else found


def always_raises(block: Block) -> bool:
    """True if a path ends in a block."""
    last = block[-1] if block else None
    return isinstance(last, Raise) or (isinstance(last, If) and all(map(always_raises, (last.then, last.orelse))))


def common(defined: frozenset[str], paths: list[frozenset[str]]) -> frozenset[str]:
    """The variables defined after several paths that meet: on all of them."""
    return frozenset.intersection(*paths) if paths else defined


def of_loop(program: Program, stmt: Loop, defined: frozenset[str]) -> frozenset[str]:
    check_reads(program, [c.init for c in stmt.carries], defined, stmt)
    unpacked = [] if stmt.items is None else variables_in(stmt.items)
    index = [stmt.index] if stmt.index is not None else []
    inside = defined.union((c.phi for c in stmt.carries), unpacked, index)
    inside = flow_of(program, stmt.head, inside)
    check_reads(program, [] if stmt.test is None else variables_in(stmt.test), inside, stmt)
    end = flow_of(program, stmt.body, inside)
    check_reads(program, [c.next for c in stmt.carries], end, stmt)
    check_reads(program, [] if stmt.stop is None else variables_in(stmt.stop), end, stmt)
    lasting = [stmt.trips] if stmt.trips is not None else []
    lasting += [*index, *unpacked] if program.is_lowered else []
    return defined.union((c.out for c in stmt.carries), lasting)


def of_with(program: Program, stmt: With, defined: frozenset[str]) -> frozenset[str]:
    return flow_of(program, stmt.body, defined.union(n for _, n in stmt.items if n is not None))


def of_try(program: Program, stmt: Try, defined: frozenset[str]) -> frozenset[str]:
    paths = [flow_of(program, stmt.body, defined)]
    for _, bound, block in stmt.handlers:
        paths.append(flow_of(program, block, defined | ({bound} if bound else set())))
    program.seen[stmt] = [path - defined for path in paths]
    for _, names in stmt.merges:
        for path, source in zip(paths, names):
            check_reads(program, [source], path, stmt)
    blocks_of = [stmt.body, *(block for _, _, block in stmt.handlers)]
    going_on = [p for k, p in enumerate(paths) if k not in stmt.ended and not always_raises(blocks_of[k])]
    after = common(defined, going_on).union((t for t, _ in stmt.merges), [stmt.took] if stmt.took else [])
    return flow_of(program, stmt.final, after)


FLOWS: dict[type, Any] = {If: of_branch, Loop: of_loop, With: of_with, Try: of_try}


# -- facts


def facts_agree(program: Program) -> None:
    """Check ranks and dtypes of results of arithmetic."""
    s = program.s
    for stmt in walk(program.block):
        if not isinstance(stmt, Let) or len(stmt.targets) != 1:
            continue
        said, found = s.facts.get(stmt.target), facts_of(s, stmt.expr)
        if not isinstance(said, Num) or not isinstance(found, Num):
            continue
        if said.ndim is not None and found.ndim is not None and said.ndim != found.ndim:
            program.fail("facts_agree", f"{stmt.target} has rank {said.ndim}, its expression {found.ndim}", stmt)
        if said.dtype is not None and found.dtype is not None and said.dtype != found.dtype and not said.whole:
            program.fail("facts_agree", f"{stmt.target} is {said.dtype}, its expression {found.dtype}", stmt)


def facts_of(s: Function, expr: Any) -> Facts | None:
    """The facts of an expression of variables and arithmetic; None where it is anything else."""
    if isinstance(expr, gast.Name):
        return s.facts.get(expr.id)
    if isinstance(expr, gast.Constant) and type(expr.value) in (int, float):
        return Num(type(expr.value).__name__, np.dtype(type(expr.value)), ())
    operands: list[Any]
    if isinstance(expr, gast.BinOp):
        fn, operands = FUNCTIONS.get(type(expr.op)), [expr.left, expr.right]
    elif isinstance(expr, gast.UnaryOp):
        fn, operands = FUNCTIONS.get(type(expr.op)), [expr.operand]
    elif isinstance(expr, gast.Call) and not expr.keywords:
        fn, operands = ufunc_of(s, expr.func), expr.args
    else:
        return None
    found = [facts_of(s, e) for e in operands]
    if fn is None or not all(isinstance(f, Num) and f.kind and f.dims is not None and not f.whole for f in found):
        return None
    if any(f.dtype is None for f in found if isinstance(f, Num)):
        return None
    return evaluate(fn, found, {})[0]


def ufunc_of(s: Function, callee: Any) -> Any:
    """The element-wise function of NumPy that an expression names."""
    path = path_of(callee)
    if path is None or s.globals.get(path.partition(".")[0]) is not np:
        return None
    fn = getattr(np, path.partition(".")[2], None)
    return fn if isinstance(fn, np.ufunc) and fn.nout == 1 and fn.signature is None else None


# -- operations and saves


def operands_agree(program: Program) -> None:
    """Check that operations and expressions have the same operands."""
    if not program.is_primal:
        return
    for stmt in walk(program.block):
        if isinstance(stmt, Let) and stmt.op is not None:
            leaves = {n for value in stmt.op.arguments.values() for n in operands(program.s, value)}
            missing = leaves - {*reads(stmt), *stmt.op.beside}
            if missing:
                program.fail("operands_agree", f"{min(missing)} is an operand that the expression does not read", stmt)


def operands(s: Function, value: Value) -> Sequence[str]:
    """The variables that an expression reads for a value: of ``x.shape`` the array."""
    if isinstance(value, TupleV):
        return variables_in(value.expr) if value.expr is not None else [n for v in value.items for n in operands(s, v)]
    return s.leaves(value)


def saves_match(program: Program) -> None:
    """Check that what is saved is read back."""
    if not program.is_recorded or program.is_primal:
        return
    filled, emptied = method_calls(program.block, "append"), method_calls(program.block, "pop")
    for name, count in filled.items():
        if name in program.s.saved and emptied[name] and emptied[name] != count:
            program.fail("saves_match", f"{name} is filled at {count} places and emptied at {emptied[name]}")


def method_calls(block: Block, method: str) -> Counter[str]:
    """The number of calls of a method of each variable."""
    nodes = (node for stmt in walk(block) for expr in expressions(stmt) for node in nodes_in(expr))
    called = (node.func.value for node in nodes if isinstance(node, gast.Call) and is_call(node, method))
    return Counter(owner.id for owner in called if isinstance(owner, gast.Name))


INVARIANTS = (tree, defined_once, known, defined_before_read, facts_agree, operands_agree, saves_match)
