"""Emission of Python statements from the intermediate form, and the map of their lines.

The line map of an emitted text: for each line the user's line behind it, its sweep, and the notes above it.

`inspection` and the notes on exceptions read it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from itertools import takewhile
from typing import Any, NamedTuple

import gast

from ...errors import Origin
from .. import ir
from ..analysis.alias import reachable, roots_of
from ..analysis.remarks import place_of
from ..domain.facts import Listed, Mapped, Num
from ..frontend.builders import negated, store
from ..ir.function import Function
from ..ir.patterns import fold_block
from ..ir.traversal import replaced

__all__ = ["AGAIN", "FORWARD", "REVERSE", "EmittedLine", "line_map", "mark_sweep"]

ROW = 3  # values that are computed on a line
LISTS = 5  # lists of saved values that are made on one line


def is_new_list(stmt: Any) -> bool:
    """True if a statement makes a list of saved values."""
    return isinstance(stmt, ir.Let) and stmt.saves and isinstance(stmt.expr, gast.List)


def is_apart(s: Function, first: Any, stmt: Any) -> bool:
    """True if what a statement puts into an item may as well be computed before the one before it does the same."""
    if not isinstance(first, ir.Store) or not isinstance(stmt, ir.Store) or not ir.same_line(first, stmt):
        return False
    if first.aug is not None or stmt.aug is not None:
        return False
    if len({s.is_cotangent(x.base) for x in (first, stmt)}) > 1:  # of the program, and of its reverse
        return False
    if any(isinstance(node, gast.Call) for x in (first, stmt) for node in ir.nodes_in(x.index)):
        return False
    if not isinstance(s.facts[first.base], Num):
        return isinstance(stmt.value, (gast.Name, gast.Constant))
    read = [n for expr in (stmt.value, stmt.index) for n in ir.variables_in(expr)]
    memory = roots_of(s.facts[first.base])
    return bool(memory) and not any(memory & reachable(s, s.facts[n]) for n in read)


def is_immutable(facts: Any) -> bool:
    """True for numbers: ``x += y`` makes a new one of them, as ``x = x + y`` does."""
    return isinstance(facts, Num) and (facts.python or facts.kind == "npscalar")


class Emitter:
    """Writes blocks under the chosen names; notes which statement came from which line of the user's."""

    def __init__(self, s: Function, names: dict[str, str]) -> None:
        self.s = s
        self.names = {variable: ir.name(text) for variable, text in names.items()}
        for variable, node in self.names.items():
            node.role = s.roles.get(variable)  # for idioms, which see what is printed
        self.notes = s.notes or {}  # what is said of statements
        self.last: Any = None
        self.last_sums: set[Any] = set()  # additions that may make new arrays
        self.places: dict[str, Any] = {}  # what the next statement stores into
        self.copied: set[str] = set()  # variables that statements of the compiler's own read
        self.moves: set[tuple[str, str]] = set()  # names that are given the values of others
        self.uses: dict[str, int] = {}  # how often variables are read, where `inline_next` asks

    def text(self, variable: str) -> str:
        return self.names[variable].id

    def note_uses(self, program: ir.Block, uses: dict[str, int]) -> None:
        """Note how often variables are read; of two under one name, the first also where the second is."""
        self.uses = uses
        for stmt in reversed([*ir.walk(program)]):
            source = stmt.expr if isinstance(stmt, ir.Let) and len(stmt.targets) == 1 else None
            if isinstance(source, gast.Name) and source.id in self.names and stmt.target in self.names:
                if self.text(source.id) == self.text(stmt.target):
                    self.uses[source.id] += self.uses.get(stmt.target, 0) - 1

    def expr(self, expr: Any) -> Any:
        return replaced(expr, self.names)

    def block(self, block: ir.Block, end: list[tuple[str, str]] | None = None) -> list[Any]:
        """The statements of a block, then the copies ``target = source`` at its end."""
        result: list[Any] = []
        lists = [stmt for stmt in block if is_new_list(stmt)]
        if len(lists) > 1:
            result += self.new_lists(lists)
            block = [stmt for stmt in block if not is_new_list(stmt)]
        before: deque[tuple[Any, Any]] = deque(maxlen=ROW - 1)
        for stmt in block:
            nodes = self.statement(stmt)
            if nodes:
                apart = takewhile(lambda pair: is_apart(self.s, *pair[:2]), [(x, stmt, node) for x, node in before])
                nodes[0].beside = [node for _, _, node in apart]
            before.appendleft((stmt, nodes[-1] if nodes else None))
            if stmt in self.last_sums:
                nodes[0].is_last_sum = True
            if self.uses and nodes:
                self.note(stmt, nodes[0])
            if nodes and getattr(stmt, "origin", None) is not None:
                for node in nodes:
                    node.origin = stmt.origin
                    node.repeats = getattr(stmt, "repeats", None) is not None
            if nodes and stmt in self.notes:
                nodes[-1 if isinstance(stmt, ir.Loop) else 0].comment = "\n".join(self.notes[stmt])
            result += nodes
        return result + self.copies(end or [])

    def note(self, stmt: Any, node: Any) -> None:
        """Note of an assignment whether one statement reads it, and of each statement whether it has effects."""
        node.effect = isinstance(stmt, ir.Effect) or getattr(stmt, "effect", False)
        if isinstance(stmt, ir.Let) and isinstance(node, gast.Assign) and len(stmt.targets) == 1:
            held = stmt.saves or stmt.in_place or stmt.target in self.s.unbound
            node.reads = 0 if held else self.uses.get(stmt.target, 0)
            node.read_once = node.reads == 1
            node.temporary = stmt.target not in self.s.named
        if isinstance(stmt, ir.If) and len(stmt.merges) == 1 and isinstance(node, gast.If):
            target = stmt.merges[0].target
            if self.uses.get(target) == 1 and target not in self.s.named | self.s.unbound:
                node.chosen = self.text(target)

    def new_lists(self, lists: list[ir.Let]) -> list[Any]:
        """The lists of saved values, several on a line."""
        result = []
        for k in range(0, len(lists), LISTS):
            names = [store(self.text(stmt.target)) for stmt in lists[k : k + LISTS]]
            empty = [gast.List([], gast.Load()) for _ in names]
            if len(names) == 1:
                result.append(gast.Assign(names, empty[0], None))
            else:
                result.append(gast.Assign([gast.Tuple(names, gast.Store())], ir.tuple_(empty), None))
        return result

    def copies(self, pairs: list[tuple[str, str]]) -> list[Any]:
        moves = [(t, v) for t, v in dict.fromkeys((self.text(t), self.text(v)) for t, v in pairs) if t != v]
        self.copied.update(v for t, v in pairs if self.text(t) != self.text(v))
        self.moves.update(moves)
        if not moves:
            return []
        targets = {t for t, _ in moves}
        if len(moves) > 1 and any(v in targets for _, v in moves):
            left = gast.Tuple([store(t) for t, _ in moves], gast.Store())
            return [gast.Assign([left], ir.tuple_([ir.name(v) for _, v in moves]), None)]
        named = {self.text(v): self.names[v] for _, v in pairs}
        return [gast.Assign([store(t)], named[v], None) for t, v in moves]

    def statement(self, stmt: Any) -> list[Any]:
        return getattr(self, type(stmt).__name__.lower())(stmt)

    def let(self, stmt: ir.Let) -> list[Any]:
        targets = [store(self.text(t)) for t in stmt.targets]
        value = self.expr(ir.whole(stmt.expr))
        if stmt.placed:
            self.places[stmt.target] = value
            return []
        if len(targets) > 1:
            return [gast.Assign([gast.Tuple(targets, gast.Store())], value, None)]
        if isinstance(value, gast.Name) and value.id == targets[0].id:
            return []
        left = stmt.expr.left if isinstance(stmt.expr, gast.BinOp) else None
        augmented = isinstance(left, gast.Name) and (stmt.in_place or left.id == stmt.counted)
        if augmented and isinstance(value, gast.BinOp) and value.left.id == targets[0].id:
            return [gast.AugAssign(targets[0], value.op, value.right)]
        node = gast.Assign(targets, value, None)
        node.of_number = isinstance(left, gast.Name) and is_immutable(self.s.facts.get(left.id))
        return [node]

    def store(self, stmt: ir.Store) -> list[Any]:
        base = self.places.pop(stmt.base, None) or self.expr(ir.name(stmt.base))
        index, value = self.expr(stmt.index), self.expr(stmt.value)
        whole = isinstance(index, gast.Constant) and index.value is Ellipsis
        if stmt.aug is not None and whole:
            return [gast.AugAssign(store(base.id), stmt.aug(), value)]
        target = gast.Subscript(base, index, gast.Store())
        adds = stmt.aug is None and isinstance(value, gast.BinOp) and is_target(value.left, base, index, whole)
        if adds and (whole or adds_in_place(self.s, stmt)):
            return [gast.AugAssign(store(base.id) if whole else target, value.op, value.right)]
        if stmt.aug is not None:
            return [gast.AugAssign(target, stmt.aug(), value)]
        return [gast.Assign([target], value, None)]

    def effect(self, stmt: ir.Effect) -> list[Any]:
        expr = self.expr(stmt.expr)
        if stmt.kind == "save":
            self.copied.update(saved_names(stmt.expr))
        if stmt.kind == ir.MAY_RAISE:
            self.notes.setdefault(stmt, [ir.MAY_RAISE])
        node = expr if isinstance(expr, gast.stmt) else gast.Expr(expr)
        if ir.is_reading(stmt):
            node.reading, node.repeated = stmt.expr.id, stmt.kind == ir.REPEATED
        return [node]

    def raise_(self, stmt: ir.Raise) -> list[Any]:
        return [self.expr(stmt.node)]

    def return_(self, stmt: ir.Return) -> list[Any]:
        return [gast.Return(self.expr(ir.whole(stmt.value)))]

    def if_(self, stmt: ir.If) -> list[Any]:
        then = self.block(stmt.then, [(m.target, m.then) for m in stmt.merges if m.then])
        orelse = self.block(stmt.orelse, [(m.target, m.orelse) for m in stmt.merges if m.orelse])
        test = self.asked(stmt.test)
        if not then and not orelse:
            return []
        if not then:
            return [gast.If(negated(test), orelse, [])]
        return [gast.If(test, then, alternatives(orelse))]

    def asked(self, test: Any) -> Any:
        """A test without the `bool` of a condition, which is asked only here: a branch takes the truth value anyway."""
        expr = self.expr(test)
        is_call = isinstance(expr, gast.Call) and isinstance(expr.func, gast.Name) and len(expr.args) == 1
        return expr.args[0] if is_call and self.s.globals.get(expr.func.id) is bool else expr

    def loop(self, stmt: ir.Loop) -> list[Any]:
        result = self.copies([(c.phi, c.init) for c in stmt.carries if c.init])
        end = [(c.phi, c.next) for c in stmt.carries if c.next]
        body = self.block(stmt.body, [] if stmt.stop is not None else end)
        for node in body[: stmt.forward]:
            node.forward = True
        if stmt.trips is not None:
            result.append(gast.Assign([store(self.text(stmt.trips))], ir.constant(0), None))
            count = gast.AugAssign(store(self.text(stmt.trips)), gast.Add(), ir.constant(1))
            count.is_trip = True
            body.append(count)
        if stmt.stop is not None:
            body += self.copies(end)
            always = isinstance(stmt.stop, gast.Constant) and stmt.stop.value is True
            body.append(gast.Break() if always else gast.If(self.expr(stmt.stop), [gast.Break()], []))
        body = body or [gast.Pass()]
        result.append(self.loop_head(stmt, body))
        return result + self.copies([(c.out, c.phi) for c in stmt.carries])

    def loop_head(self, stmt: ir.Loop, body: list[Any]) -> Any:
        if stmt.kind == "while":
            folded = fold_block(stmt.head, stmt.test)
            if folded is not None:
                return gast.While(self.expr(folded), body, [])
            head = self.block(stmt.head)
            leave = gast.If(negated(self.expr(stmt.test)), [gast.Break()], [])
            leave.is_test = True
            return gast.While(ir.constant(True), [*head, leave, *body], [])
        assert stmt.index is not None
        bounds = [self.expr(b) for b in stmt.bounds]
        target = store(self.text(stmt.index))
        if stmt.kind == "iter":
            target = target if stmt.items is None else stored(self.expr(stmt.items))
            return gast.For(target, bounds[0], body, [], None)
        if len(bounds) == 1 and isinstance(bounds[0], gast.Call) and getattr(bounds[0].func, "id", "") == "range":
            return gast.For(target, ir.call("reversed", bounds[0]), body, [], None)
        return gast.For(target, ir.call("range", *bounds), body, [], None)

    def with_(self, stmt: ir.With) -> list[Any]:
        items = [gast.withitem(self.expr(e), None if n is None else store(self.text(n))) for e, n in stmt.items]
        return [gast.With(items, self.block(stmt.body) or [gast.Pass()], None)]

    def try_(self, stmt: ir.Try) -> list[Any]:
        if not stmt.handlers:
            return [gast.Try(self.block(stmt.body) or [gast.Pass()], [], [], self.block(stmt.final) or [gast.Pass()])]
        paths = [stmt.body, *(b for _, _, b in stmt.handlers)]
        blocks = []
        for k, path in enumerate(paths):
            copies = [(target, source) for target, names in stmt.merges if (source := names[k])]
            block = self.block(path, copies)
            if stmt.took in self.names and not (block and isinstance(block[-1], gast.Raise)):
                block.append(gast.Assign([store(self.text(stmt.took))], ir.constant(k), None))
            blocks.append(block or [gast.Pass()])
        handlers = []
        for (kind, bound, _), body in zip(stmt.handlers, blocks[1:]):
            name = None if bound is None else self.text(bound)
            handlers.append(gast.ExceptHandler(None if kind is None else self.expr(kind), name, body))
        return [gast.Try(blocks[0], handlers, [], self.block(stmt.final))]


for _kind, _method in (("raise", "raise_"), ("return", "return_"), ("if", "if_"), ("with", "with_"), ("try", "try_")):
    setattr(Emitter, _kind, getattr(Emitter, _method))


def stored(expr: Any) -> Any:
    """Names, and tuples of them, as what is assigned to."""
    if isinstance(expr, gast.Tuple):
        return gast.Tuple([stored(e) for e in expr.elts], gast.Store())
    return store(expr.id)


def saved_names(expr: Any) -> list[str]:
    """The variables that a statement saves as they are."""
    values = [v for arg in getattr(expr, "args", []) for v in (arg.elts if isinstance(arg, gast.Tuple) else [arg])]
    return [v.id for v in values if isinstance(v, gast.Name)]


def is_target(expr: Any, base: Any, index: Any, whole: bool) -> bool:
    """True if an expression is what an assignment assigns to."""
    if not isinstance(base, gast.Name):
        return False
    if whole:
        return isinstance(expr, gast.Name) and expr.id == base.id
    if not isinstance(expr, gast.Subscript) or not isinstance(expr.value, gast.Name) or expr.value.id != base.id:
        return False
    return bool(gast.dump(expr.slice) == gast.dump(index))


def adds_in_place(s: Function, stmt: ir.Store) -> bool:
    """True if ``base[index] = base[index] + value`` does what ``base[index] += value`` does.

    An array that is an item of a list would itself be changed, and what is added to integers would have to be integers.
    """
    facts = s.facts.get(stmt.base)
    if facts is None:  # an array that a native program makes
        return True
    if isinstance(facts, (Listed, Mapped)):
        facts = s.elements_of(facts)
        return isinstance(facts, Num) and facts.kind != "array" and facts.dims == () and not facts.roots
    if not isinstance(facts, Num) or facts.dtype is None:
        return False
    return (
        facts.dtype.kind in "fc"
        or isinstance(stmt.value.right, gast.Constant)
        and not isinstance(stmt.value.op, gast.Div)
    )


def defaults(s: Any, emitter: Emitter, arguments: list[str]) -> list[Any]:
    """The first statements of the emitted function, which bind variables that some paths leave unbound."""
    unbound = {n: emitter.text(n) for n in s.unbound if n in emitter.names}
    none = {text for n, text in unbound.items() if n in s.defaulted | emitter.copied}
    return [gast.Assign([store(text)], ir.constant(None), None) for text in sorted(none - set(arguments))]


def alternatives(orelse: list[Any]) -> list[Any]:
    """Statements after ``else``, the first of which may only raise: what is left is one more case, or the last one.

    ``if not b: raise error`` and what follows it are ``elif b:`` with that, and ``else: raise error``.
    """
    first, rest = (orelse[0], orelse[1:]) if orelse else (None, [])
    if not rest or not isinstance(first, gast.If) or first.orelse or not isinstance(first.body[-1], gast.Raise):
        return orelse
    if isinstance(first.test, gast.UnaryOp) and isinstance(first.test.op, gast.Not):
        return [gast.If(first.test.operand, rest, first.body)]
    return [gast.If(first.test, first.body, alternatives(rest))]


def comment_of(origin: Origin) -> str:
    """The comment with the origin of a statement: ``model.py:14  h = np.tanh(x)``.

    Of adjoints of one name, which differ by a number, it is not said which: that depends on what was compiled before.
    """
    return f"{place_of(origin)}  {origin.text.strip()}"


def annotate(body: list[Any], last: Any = None) -> Any:
    """Say once above each group of statements which line of the user's they reverse.

    `last` is the line said above the body of a loop or a branch.  Returns the line said last.
    """
    loops = {line_of(node) for node in body if isinstance(node, (gast.For, gast.While))}
    for node in body:
        forward = getattr(node, "forward", False) or getattr(node, "repeats", False)
        origin = None if forward else getattr(node, "origin", None)
        if line_of(node) in loops and is_beginning(node):
            origin = None  # of what the loop hands on, which is said inside it
        compound = isinstance(node, (gast.For, gast.While, gast.If, gast.With))
        if origin is not None and not compound and (origin.file, origin.line) != last:
            node.comment = "\n".join([comment_of(origin), *getattr(node, "comment", "").splitlines()])
            last = (origin.file, origin.line)
        if isinstance(node, gast.If):
            ends = {annotate(node.body, last), annotate(node.orelse, last)}
            last = last if ends == {last} else None
        elif compound:
            last = last if annotate(node.body, last) == last else None
    return last


def line_of(node: Any) -> tuple[str, int] | None:
    """The line of the user's that a statement stands for, if there is one, but for what is computed again."""
    origin = None if getattr(node, "repeats", False) else getattr(node, "origin", None)
    return None if origin is None else (origin.file, origin.line)


def is_beginning(node: Any) -> bool:
    """True if a statement gives a name the value of another, or a number."""
    return isinstance(node, gast.Assign) and isinstance(node.value, (gast.Name, gast.Constant))


FORWARD, REVERSE, AGAIN = "forward", "reverse", "again"  # AGAIN: of the forward sweep, repeated in the reverse one


class EmittedLine(NamedTuple):
    """A line of an emitted text at which a statement begins.

    Attributes
    ----------
    origin : Origin or None
        The user's line that it computes or reverses.
    sweep : str
        `FORWARD`, `REVERSE` or `AGAIN`.
    notes : tuple of str
        What is saved, computed again or put back there, where explanations were asked for.
    """

    origin: Origin | None
    sweep: str
    notes: tuple[str, ...] = ()


def mark_sweep(nodes: Iterable[Any], sweep: str) -> None:
    """Mark statements as those of a sweep, but for those of the reverse one that run the forward one again."""
    for node in nodes:
        again = sweep == REVERSE and (getattr(node, "forward", False) or getattr(node, "repeats", False))
        node.sweep = AGAIN if again else sweep
        for block in ("body", "orelse", "finalbody", "handlers"):
            if isinstance(inside := getattr(node, block, None), list):
                mark_sweep(inside, sweep)


def line_map(statements: Mapping[int, Any]) -> dict[int, EmittedLine]:
    """The lines of a printed text, given the statement that begins at each of them.

    A statement that a pass has made since they were marked stands in the sweep of the one before it.
    """
    found, sweep = {}, FORWARD
    for line, node in sorted(statements.items(), key=lambda item: item[0]):
        if not isinstance(node, gast.FunctionDef):
            sweep = getattr(node, "sweep", sweep)
            found[line] = EmittedLine(getattr(node, "origin", None), sweep, notes_of(node))
    return found


def notes_of(node: Any) -> tuple[str, ...]:
    """The comments above a statement, without that which names the user's line."""
    comment, origin = getattr(node, "comment", None), getattr(node, "origin", None)
    if not comment:
        return ()
    place = None if origin is None else comment_of(origin)
    return tuple(line for line in comment.splitlines() if line != place)
