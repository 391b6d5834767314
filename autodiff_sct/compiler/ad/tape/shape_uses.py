"""Uses of shapes: another value of that shape that is available stands in, or the shape is saved.

::

    t = error ** 2                                        d_error = d_out / error.size * 2 * error
    d_error = d_out / t.size * 2 * error        ->

An elementwise function of one array and numbers has the array's shape and dtype; so ``t``, or a list of all its values,
need not be kept for its shape.  Nor need an array of which another is known to have the lengths and the dtype, nor one
with a single axis that is as long as an axis of another::

    rows = np.sum(t, axis=1)
    d_rows = d_out / rows.size            ->              d_rows = d_out / len(t)

What a loop makes in each step has the shape of an array that is there before and after it, too, where the lengths are
known to be the same; then no shapes are saved.

Of what is read back for its shape only, the shape is saved.

::

    saved_z.append(z)                             saved_shape.append(z.shape)
    ...                                    ->     ...
    d_z = np.zeros(saved_z.pop().shape)           d_z = np.zeros(saved_shape.pop())

The array is free again as soon as its step is over.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import gast

from ... import ir
from ...analysis.liveness import count_uses
from ...domain.facts import Num
from ...interp.kernel.specialiser import Specialiser
from ...ir.patterns import is_pop_call
from ...ir.traversal import substitute_own

ATTRIBUTES = {"size", "shape", "ndim", "dtype"}
LASTING = "lasting"
# Which argument shows a shape.
LIKE = {
    "zeros_like": 0, "full_like": 0, "empty_like": 0, "unbroadcast": 1, "spread": 1, "gather_adjoint": 1,
    "diagonal_adjoint": 1,
}  # fmt: skip


def forward_shapes(s: Specialiser, forward: ir.Block, reverse: ir.Block, whole: bool) -> None:
    """Rewrite the shapes that the reverse sweep reads, in place.

    What is one function with the forward sweep, `whole`, has the arguments at hand.
    """
    made = {name for stmt in ir.walk(reverse) for name in ir.ir_targets(stmt)}
    local = {name for stmt in forward if type(stmt) not in ir.SIMPLE for name in ir.defined_in(stmt)}
    arguments = {n for stmt in ir.walk(forward) for n in ir.reads(stmt)} - ir.defined(forward)
    arguments |= {x.target for x in forward if isinstance(x, ir.Let) and getattr(x.expr, "id", "") in arguments}
    after = lasting(forward, reverse, local, arguments)
    rewrite(s, reverse, Known(made, local, arguments if whole else set(), after))


@dataclass
class Known:
    """The variables of both sweeps, by where they are bound."""

    made: set[str]  # in the reverse sweep
    local: set[str]  # in a loop or a branch of the forward sweep
    given: set[str]  # in both sweeps, whether anything is read of them or not
    after: list[str]  # from the forward sweep on, and read in the reverse sweep


def lasting(forward: ir.Block, reverse: ir.Block, local: set[str], arguments: set[str]) -> list[str]:
    """The variables that are bound from the forward sweep on and read in the reverse sweep."""
    known = set(arguments)
    for stmt in forward:
        if isinstance(stmt, ir.Let):
            known |= set(stmt.targets)
        elif isinstance(stmt, ir.Loop):
            known |= {c.out for c in stmt.carries if c.init is not None}
    read = [n for stmt in ir.walk(reverse) for expr in ir.expressions(stmt) for n in ir.variables_in(expr)]
    return [n for n in dict.fromkeys(read) if n in known and n not in local]


def rewrite(s: Specialiser, block: ir.Block, known: Known) -> None:
    """Rewrite a block of the reverse sweep and the blocks inside it.

    In the place of a variable that is local to a loop or a branch of the forward sweep, one that lasts may stand.
    """
    for stmt in block:
        for inner in ir.bodies(stmt):
            with s.within(s.lengths_in(inner)):
                rewrite(s, inner, known)
    shown = {stmt: nodes for stmt in block if (nodes := shapes(stmt))}
    if not shown:
        return
    contents = {stmt: contents_of(stmt, shown.get(stmt, ())) for stmt in block}
    read = dict.fromkeys(n for names in contents.values() for n in names if n not in known.made)
    at_hand: dict[Any, str] = {}  # what is alike -> one of the forward sweep whose content the block reads
    for name in read:
        for key in keys(s, name):
            at_hand.setdefault(key, name)
    local = {n.id for nodes in shown.values() for n in nodes} & known.local
    if any(at_hand.keys().isdisjoint(keys(s, name)) for name in local):
        for name in known.after:
            for key in keys(s, name)[1:]:
                at_hand.setdefault((LASTING, key), name)
    for stmt, nodes in shown.items():
        asking = {n.id for n in nodes} - known.given - {*contents[stmt]}
        wanted = {name: found(at_hand, asked(s, name, known.local), name) for name in asking}
        if any(old != new for old, new in wanted.items()):
            substitute_own(stmt, {old: ir.name(new) for old, new in wanted.items()})
    as_lengths(s, block, read)


def asked(s: Specialiser, name: str, local: set[str]) -> list[Any]:
    """The common properties of variables that may stand in for another, the best first."""
    own = keys(s, name)
    return [*own, *((LASTING, key) for key in own[1:])] if name in local else own


def as_lengths(s: Specialiser, block: ir.Block, read: dict[str, None]) -> None:
    """Take the size of a variable that is read for nothing else from an axis of one that is."""
    asking = [x for x in block if isinstance(x, ir.Let) and any(map(is_size, ir.nodes_in(x.expr)))]
    axes: dict[Any, Any] = {}
    for name in read if asking else ():
        for k, axis in enumerate(known_axes(s, name)):
            own = ir.name(name)
            length = ir.subscript(ir.attribute(own, "shape"), ir.constant(k)) if k else ir.call(ir.name("len"), own)
            axes.setdefault(s.lengths.canonical(axis), length)
    for stmt in asking:
        stmt.expr = with_lengths(s, stmt.expr, axes, read)


def is_size(expr: Any) -> bool:
    return isinstance(expr, gast.Attribute) and expr.attr == "size" and isinstance(expr.value, gast.Name)


def with_lengths(s: Specialiser, expr: Any, axes: dict[Any, Any], read: dict[str, None]) -> Any:
    """An expression with the sizes that are the length of an axis in `axes`."""
    if isinstance(expr, gast.BinOp):
        left, right = (with_lengths(s, side, axes, read) for side in (expr.left, expr.right))
        return expr if left is expr.left and right is expr.right else gast.BinOp(left, expr.op, right)
    if isinstance(expr, gast.Call) and getattr(expr.func, "id", "") == "max" and not expr.keywords:
        parts = [with_lengths(s, part, axes, read) for part in expr.args]
        return expr if all(a is b for a, b in zip(parts, expr.args)) else gast.Call(expr.func, parts, [])
    if not is_size(expr):
        return expr
    dims = known_axes(s, expr.value.id)
    return axes.get(s.lengths.canonical(dims[0]), expr) if len(dims) == 1 and expr.value.id not in read else expr


def known_axes(s: Specialiser, name: str) -> tuple[Any, ...]:
    """The axes of an array, where all are known."""
    facts = s.facts[name] if ir.is_variable(name) else None
    if not isinstance(facts, Num) or facts.kind != "array" or facts.tensor:
        return ()
    return () if facts.dims is None or None in facts.dims else facts.dims


def found(at_hand: dict[Any, str], keys: list[Any], name: str) -> str:
    """The stand-in of a variable: the variable itself where there is no other."""
    return next((at_hand[key] for key in keys if key in at_hand), name)


def keys(s: Specialiser, name: str) -> list[Any]:
    """The common properties of variables of one shape and dtype."""
    facts = s.facts[name]
    alike: list[Any] = [s.alike.get(name, name)]
    if not isinstance(facts, Num) or facts.kind != "array" or not facts.dims or None in facts.dims or facts.tensor:
        return alike
    lengths = (s.lengths.canonical(axis) for axis in facts.dims)
    return [*alike, (facts.dtype, *lengths)] if facts.dtype is not None else alike


def shapes(stmt: Any) -> list[Any]:
    """The variables of which a statement reads the shape or the dtype, as they stand in it."""
    return [node for expr in ir.expressions(stmt) for node in shapes_in(expr)]


def contents_of(stmt: Any, shown: Sequence[Any]) -> Sequence[str]:
    """The variables whose content a statement reads, which shows the shape of some."""
    if not shown:
        return [name for expr in ir.expressions(stmt) for name in ir.variables_in(expr)]
    names = [n for expr in ir.expressions(stmt) for n in ir.nodes_in(expr) if isinstance(n, gast.Name)]
    return [n.id for n in names if ir.is_variable(n.id) and not any(n is other for other in shown)]


def shapes_in(expr: Any) -> list[Any]:
    """The variables of which an expression reads no more than the shape or the dtype."""
    found = []
    for node in ir.nodes_in(expr):
        kind = type(node)
        if kind is gast.Attribute and node.attr in ATTRIBUTES:
            found.append(node.value)
        elif kind is gast.Call and (k := LIKE.get(called(node))) is not None and len(node.args) > k:
            found.append(node.args[k])
    return [node for node in found if isinstance(node, gast.Name) and ir.is_variable(node.id)]


def called(node: gast.Call) -> str:
    return str(getattr(node.func, "attr", getattr(node.func, "id", "")))


def save_shapes(s: Specialiser, front: ir.Block, back: ir.Block) -> None:
    """Rewrite what fills such lists and what empties them, in place."""
    found = popped(back)
    if not found:
        return
    uses = count_uses([*front, *back])
    lists = {n: pops for n, pops in found.items() if uses[n] == 2 and n in s.saved and len(pops) == 1}
    for stmt in [x for block in ir.blocks(front) for x in block if isinstance(x, ir.Effect) and x.kind == "save"]:
        name = list_of(stmt.expr)
        if name in lists:
            [(reader, part, shape)] = lists[name]
            stmt.expr = ir.call(stmt.expr.func, ir.attribute(stmt.expr.args[0], "shape"))
            setattr(reader, part, replaced(getattr(reader, part), shape, shape.value))
            s.hints[name] = "saved_shape"


def popped(back: ir.Block) -> dict[str, list[tuple[Any, str, Any]]]:
    """The reads of the shape of a popped value: the statement, its part, and the expression."""
    found: dict[str, list[tuple[Any, str, Any]]] = {}
    for stmt in ir.adjoint_walk(back):
        for part in [part for part in ("expr", "value", "index") if isinstance(stmt, (ir.Let, ir.Store, ir.Effect))]:
            for node in ir.nodes_in(getattr(stmt, part, None)):
                if isinstance(node, gast.Attribute) and node.attr == "shape" and is_pop_call(node.value):
                    found.setdefault(str(list_of(node.value)), []).append((stmt, part, node))
    return found


def list_of(call: Any) -> str | None:
    """The list whose method an expression calls."""
    owner = getattr(getattr(call, "func", None), "value", None)
    return owner.id if isinstance(owner, gast.Name) else None


def replaced(expr: Any, old: Any, new: Any) -> Any:
    """An expression with one of its nodes replaced."""
    if expr is old:
        return new
    if isinstance(expr, list):
        return [replaced(item, old, new) for item in expr]
    if not isinstance(expr, gast.AST) or not any(node is old for node in ir.nodes_in(expr)):
        return expr
    return type(expr)(**{part: replaced(getattr(expr, part, None), old, new) for part in expr._fields})
