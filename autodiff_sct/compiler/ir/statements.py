"""The statements of a program, and its expressions: Python trees whose leaves are variables, literals and globals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import gast

from ...errors import Origin
from ..domain.identifiers import is_identifier

Expr = Any  # a gast expression
LOAD = gast.Load()


OPERATORS: dict[type, Any] = {}  # one node of each kind: they hold nothing


def name(id: str) -> Expr:
    node = gast.Name.__new__(gast.Name)  # as its class makes one, but quicker
    node.id, node.ctx, node.annotation, node.type_comment = id, LOAD, None, None
    return node


def literal(value: Any) -> Expr:
    """A node for what a literal without a sign stands for."""
    node = gast.Constant.__new__(gast.Constant)
    node.value, node.kind = value, None
    return node


def constant(value: Any) -> Expr:
    if value is None or type(value) is str or (type(value) is int and value >= 0):
        return literal(value)
    if isinstance(value, tuple):
        return gast.Tuple([constant(v) for v in value], gast.Load())
    if isinstance(value, slice):
        return gast.Slice(*(None if v is None else constant(v) for v in (value.start, value.stop, value.step)))
    if isinstance(value, (int, float)) and not isinstance(value, bool) and (value < 0 or str(value) == "-0.0"):
        return gast.UnaryOp(gast.USub(), literal(-value))
    return literal(value)


def dotted(path: str) -> Expr:
    first, *rest = path.split(".")
    node: Expr = name(first)
    for attribute in rest:
        node = gast.Attribute(node, attribute, LOAD)
    return node


def call(fn: str | Expr, /, *args: Expr, **keywords: Expr) -> Expr:
    """A call; keywords that are no identifiers are the keys of a dict: ``f(**{"a b": x})``."""
    callee = dotted(fn) if isinstance(fn, str) else fn
    given = [gast.keyword(k, whole(v)) for k, v in keywords.items() if is_identifier(k)]
    if len(given) < len(keywords):
        others = {k: whole(v) for k, v in keywords.items() if not is_identifier(k)}
        given.append(gast.keyword(None, gast.Dict([constant(k) for k in others], [*others.values()])))
    return gast.Call(callee, [whole(a) for a in args], given)


def whole(expr: Expr) -> Expr:
    """An expression outside a subscript: there ``1:2`` is written ``slice(1, 2)``."""
    if isinstance(expr, gast.Slice):
        parts = [constant(None) if part is None else part for part in (expr.lower, expr.upper, expr.step)]
        return gast.Call(name("slice"), parts, [])
    if isinstance(expr, (gast.Tuple, gast.List)) and any(
        isinstance(e, (gast.Slice, gast.Tuple, gast.List)) for e in expr.elts
    ):
        return type(expr)([whole(e) for e in expr.elts], expr.ctx)
    return expr


def path_of(expr: Any) -> str | None:
    """The text of a dotted name, which is what `dotted` makes an expression of."""
    attributes = []
    while type(expr) is gast.Attribute:
        attributes.append(expr.attr)
        expr = expr.value
    return ".".join([expr.id, *reversed(attributes)]) if type(expr) is gast.Name else None


def subscript(base: Expr, index: Expr) -> Expr:
    return gast.Subscript(base, index, LOAD)


def attribute(base: Expr, attr: str) -> Expr:
    return gast.Attribute(base, attr, LOAD)


def binop(left: Expr, op: type, right: Expr) -> Expr:
    return operation(left, operator(op), right)


def operation(left: Expr, op: Expr, right: Expr) -> Expr:
    """The expression of an operator's node with two operands, as `binop` makes it."""
    node = gast.BinOp.__new__(gast.BinOp)
    node.left, node.op, node.right = left, op, right
    return node


def operator(kind: type) -> Expr:
    """The node of an operator."""
    node = OPERATORS.get(kind)
    if node is None:
        node = OPERATORS[kind] = kind()
    return node


def tuple_(items: list[Expr]) -> Expr:
    return gast.Tuple(items, LOAD)


def whole_index(parts: list[Expr]) -> Expr:
    """An index of one part or of several."""
    return parts[0] if len(parts) == 1 else tuple_(parts)


def parts_of(kind: Any) -> tuple[str, ...]:
    """The fields of a kind of node that may hold expressions or statements, the last one first."""
    without = ("id", "ctx", "op", "ops", "attr", "arg", "kind", "type_comment")
    return () if kind is gast.Constant else tuple(f for f in reversed(kind._fields) if f not in without)


PARTS = {k: parts_of(k) for k in vars(gast).values() if isinstance(k, type) and issubclass(k, gast.AST)}


def names_in(expr: Any) -> list[str]:
    """The names in an expression, in order of evaluation as far as the tree shows it."""
    return [node.id for node in nodes(expr) if type(node) is gast.Name]


def variables_in(expr: Any) -> tuple[str, ...]:
    """The variables in an expression of a statement: kept with it, since such an expression never changes in place."""
    found: tuple[str, ...] | None = getattr(expr, "variables_in_it", None)
    if found is None:
        found = tuple([node.id for node in nodes_in(expr) if type(node) is gast.Name and "." in node.id])
        if isinstance(expr, gast.AST):
            expr.variables_in_it = found
    return found


def nodes_in(expr: Any) -> tuple[Any, ...]:
    """The nodes of an expression of a statement, kept with it as `variables_in` are."""
    inside = getattr(expr, "nodes_in_it", None)
    if inside is not None:
        return (expr, *inside)
    known = tuple(nodes(expr))
    if isinstance(expr, gast.AST):
        expr.nodes_in_it = known[1:]  # itself left out, which would be a cycle
    return known


def nodes(tree: Any) -> list[Any]:
    """The nodes of a tree in the order of the text, but not contexts and operators."""
    found = []
    stack = [tree]
    while stack:
        node = stack.pop()
        kind = type(node)
        if kind is gast.Constant:
            found.append(node)
        elif kind is gast.BinOp:
            found.append(node)
            stack += (node.right, node.left)
        elif kind is list:
            stack += reversed(node)
        elif (parts := PARTS.get(kind)) is not None:
            found.append(node)
            for part in parts:
                if child := getattr(node, part, None):
                    stack.append(child)
    return found


def children(node: Any) -> list[Any]:
    """The nodes directly inside a node, but not contexts and operators."""
    found = []
    for part in reversed(PARTS[type(node)]):
        inside = getattr(node, part, None)
        if type(inside) is list:
            found += [each for each in inside if isinstance(each, gast.AST)]
        elif isinstance(inside, gast.AST):
            found.append(inside)
    return found


def is_variable(id: str) -> bool:
    return "." in id


def substitute(expr: Any, mapping: dict[str, Expr]) -> Any:
    """`expr` with variables replaced; what does not change is shared, not copied."""
    kind = type(expr)
    if kind is gast.Name:
        return mapping.get(expr.id, expr)
    if kind is list:
        new = [substitute(item, mapping) for item in expr]
        return expr if all(a is b for a, b in zip(new, expr)) else new
    if kind is gast.BinOp:
        left, right = substitute(expr.left, mapping), substitute(expr.right, mapping)
        return expr if left is expr.left and right is expr.right else operation(left, expr.op, right)
    changed = {}
    for part in PARTS.get(kind, ()):
        old = getattr(expr, part, None)
        if old is not None and (new := substitute(old, mapping)) is not old:
            changed[part] = new
    if not changed:
        return expr
    return kind(*[changed[key] if key in changed else getattr(expr, key, None) for key in expr._fields])


@dataclass(eq=False)
class Op:
    """The operation of a `Let`, for differentiation: a row of the table and its bound arguments."""

    fn: Callable[..., Any]
    arguments: dict[str, Any]  # parameter name -> abstract value
    cls: type | None = None  # of a result that is a namedtuple
    shares: tuple[str, ...] = ()  # operands whose memory the result may share
    boxed: bool = False  # the result is the only item of the tuple that the function returns
    beside: tuple[str, ...] = ()  # variables that its rule reads and its expression does not


@dataclass(eq=False)
class Let:
    """``targets = expr``; without effects unless `effect` says so."""

    targets: tuple[str, ...]
    expr: Expr
    op: Op | None = None
    origin: Origin | None = None
    effect: bool = False
    may_raise: bool = False
    loud: bool = False  # it is where NumPy's warnings may be exceptions
    counted: str | None = None  # the number of which the user wrote ``x op= e``
    augments: bool = False  # the user wrote ``x op= e`` of an array that nothing else refers to
    in_place: bool = False  # ``x = x + e`` may change the memory of the old x: nobody reads that any more
    saves: bool = field(default=False, init=False, repr=False)  # it makes a list of saved values
    placed: bool = field(default=False, init=False, repr=False)  # it is written where the next statement stores into it
    repeats: Any = field(default=None, init=False, repr=False)  # of the reverse sweep: what it computes again
    state_reads: Any = field(default=(), init=False, repr=False)  # variables whose memory a call reads through a state

    @property
    def target(self) -> str:
        return self.targets[0]


@dataclass(eq=False)
class Store:
    """``base[index] = value``, or ``base[index] op= value``."""

    base: str
    index: Expr
    value: Expr
    aug: type | None = None
    origin: Origin | None = None
    op: Op | None = None  # with `aug`: the operator's row, bound to the old content and the operand
    old: str | None = None  # the name under which the overwritten content is known
    result: Any = None


REPEATED = "repeated"  # the kind of the reading of a variable that what follows reads as well
MAY_RAISE = "may raise"  # the kind of an effect that nothing else is expected of


@dataclass(eq=False)
class Effect:
    """An expression that is executed for what it does: ``print(...)``, ``items.append(x)``."""

    expr: Expr
    origin: Origin | None = None
    kind: str = ""  # "append", "pop", ... where the reverse sweep has to undo it
    operands: tuple[Any, ...] = ()
    state_reads: Any = field(default=(), init=False, repr=False)  # variables whose memory a call reads through a state


@dataclass(eq=False)
class Raise:
    """A statement that ends the path, ``raise``, or may end it, ``assert``, printed as the user wrote it."""

    node: Any
    origin: Origin | None = None


@dataclass
class Merge:
    target: str
    then: str | None
    orelse: str | None


@dataclass
class Carry:
    phi: str
    init: str | None
    next: str | None
    out: str


@dataclass(eq=False)
class If:
    test: Expr
    then: list[Any]
    orelse: list[Any]
    merges: list[Merge]
    origin: Origin | None = None
    # Of the reverse sweep: the branch that it reverses, or the `Try` and the number of the path.
    primal: Any = field(default=None, init=False, repr=False)
    path: tuple[Any, int] | None = field(default=None, init=False, repr=False)


@dataclass(eq=False)
class Loop:
    """``for index in range(...)``, ``for item in iterable`` or ``while test``; `stop` ends it at the end of a body.

    `trips` names the number of bodies run, where somebody asks for it.
    """

    kind: str  # "range", "iter" or "while"
    body: list[Any]
    carries: list[Carry]
    index: str | None = None
    bounds: tuple[Expr, ...] = ()  # of range; the iterable of iter
    head: list[Any] = field(default_factory=list)  # statements that compute `test`
    test: Expr | None = None
    stop: Expr | None = None
    trips: str | None = None
    origin: Origin | None = None
    every: Expr | None = None  # the steps of one segment, where the loop keeps its state at the start of each only
    folder: Expr | None = None  # where it keeps these states, if not in memory
    items: Expr | None = None  # of iter, set at the end: what an item is unpacked into, `index` among it
    # Set by `naming`: where the statement begins and ends, in the order of the program.
    place: float = field(default=0, init=False, repr=False)
    end: float = field(default=0, init=False, repr=False)
    # Of the reverse sweep: the loop that it reverses.
    primal: Any = field(default=None, init=False, repr=False)
    # Of the reverse sweep, where its loop is run in segments: what running one again needs; whether this is that run.
    rerun: Any = field(default=None, init=False, repr=False)
    state_reads: Any = field(default=(), init=False, repr=False)
    again: bool = field(default=False, init=False, repr=False)
    # Of a loop over strips: how many statements of its body are of the forward sweep.
    forward: int = field(default=0, init=False, repr=False)


@dataclass(eq=False)
class Rerun:
    """The outside values that are needed to run a segment of a loop again."""

    names: dict[str, str]  # what it reads, each under its name in the reverse sweep
    state: tuple[str, ...]  # those of them whose memory the loop changes
    stale: frozenset[int]  # the regions of that memory
    memory: tuple[str, ...] = ()  # what is kept on the disk: the arrays that the loop changes, read or not


@dataclass(eq=False)
class With:
    items: list[tuple[Expr, str | None]]
    body: list[Any]
    origin: Origin | None = None
    primal: Any = field(default=None, init=False, repr=False)  # of the reverse sweep: what it reverses


@dataclass(eq=False)
class Try:
    """``try`` whose handlers are like the second branch of an `If`; `took` names which path was taken."""

    body: list[Any]
    handlers: list[tuple[Expr | None, str | None, list[Any]]]
    final: list[Any]
    merges: list[tuple[str, list[str | None]]]
    took: str
    origin: Origin | None = None
    ended: frozenset[int] = frozenset()  # the paths that always raise
    place: float = field(default=0, init=False, repr=False)
    end: float = field(default=0, init=False, repr=False)


@dataclass(eq=False)
class Return:
    value: Expr
    origin: Origin | None = None
    single: bool = field(default=False, init=False, repr=False)  # of one result only, which may be a tuple itself


Block = list[Any]
SIMPLE = frozenset((Let, Store, Effect, Raise, Return))  # statements without blocks inside
