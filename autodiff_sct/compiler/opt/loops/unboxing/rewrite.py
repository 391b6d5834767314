"""Rewriting a program whose arrays become lists: where the lists are made, how they are read, and the way back."""

from __future__ import annotations

from typing import Any

import gast
import numpy as np

from .... import ir
from ....ad.tape.subscript_dependence import step_of
from ....analysis.subscript_uses import (
    LIKE,
    Use,
    is_float_array,
    item_of,
    module_function,
    passed_on,
    place_index,
    settled,
    uses,
)
from ....domain.facts import FLOAT, INT, Dim, Listed, Num
from ....ir.function import Function
from ....ir.traversal import read_instead, substitute_own
from ...memory.axis_order import C_ORDER, Orders
from .candidates import Site
from .representation import Flow

Key = tuple[Any, str, str]  # the loop in whose body a row is taken (None: before the statement), array and index


class Lists:
    """One round: each array of `spans` becomes a list in its stretch of a block."""

    def __init__(self, site: Site, spans: dict[str, range], flow: Flow) -> None:
        self.site, self.s, self.program, self.spans, self.flow = site, site.s, site.block, spans, flow
        self.makers = {stmt.target: k for k, stmt in enumerate(site.block) if isinstance(stmt, ir.Let)}
        self.moving = site.defined.keys() - settled(site.block)
        inside = {id(stmt) for stmt in ir.walk(site.block)}
        self.elsewhere = [stmt for stmt in ir.walk(site.program) if id(stmt) not in inside]
        self.outside = {n for stmt in self.elsewhere for n in (*passed_on(stmt), *ir.reads(stmt))}
        self.places = self.mentions()  # array -> the statements that mention it, by their places
        self.names: dict[str, str] = {}  # array -> its list
        self.instead: dict[str, Any] = {}  # array that is made as a list at once -> what made it
        self.again: dict[str, str] = {}  # such an array -> the array made of its list
        self.rows: dict[Key, ir.Let] = {}
        self.numbers: dict[str, str] = {}  # variable -> the same number as NumPy's
        self.left: dict[int, ir.Block] = {}  # what comes before a statement of the program: arrays that are so again,
        self.new: dict[int, ir.Block] = {}  # and then lists, which may be of views of these
        self.single: dict[str, Any] = {}  # array of which a loop makes one row in each step -> that at first
        self.ordered: set[str] = set()  # arrays that have to lie in memory as they did

    def rewritten(self) -> ir.Block:
        """The block with lists."""
        order = sorted(self.spans, key=lambda name: self.makers.get(name, -1))
        self.single = {name: found for name in order if (found := self.row_by_row(name)) is not None}
        order = [name for name in order if name not in self.single]
        self.ordered = {name for name in order if self.has_order(name)}
        self.instead = instead = {n: new for n in reversed(order) if (new := self.made_as_list(n)) is not None}
        written = [name for name in order if self.is_written(name)]
        for name in order:
            self.make(name, instead.get(name))
        for place, stmt in enumerate(self.program):
            self.rewrite(place, stmt)
        for name in order:
            self.leave(name, instead.get(name), name in written)
        for name in instead:
            self.program[self.makers[name]].targets = (self.names[name],)
        every = [each for k, stmt in enumerate(self.program) for each in (*self.before(k), stmt)]
        return [*every, *self.before(len(self.program))]

    # -- making lists

    def mentions(self) -> dict[str, list[int]]:
        """The places of the block's statements that mention an array that is to be a list, for each."""
        places: dict[str, list[int]] = {name: [] for name in self.spans}
        for k, stmt in enumerate(self.program):
            reached = [n for inner in ir.inside(stmt) for n in passed_on(inner)]
            for name in places.keys() & {*ir.reads_inside(stmt), *reached}:
                places[name].append(k)
        return places

    def uses_of(self, name: str) -> list[tuple[int, Use]]:
        return [(k, use) for k in self.places[name] for use in uses(self.s, self.program[k], {name})]

    def row_by_row(self, name: str) -> Any | None:
        """A row of an array of one number, if only one loop touches that, another row in each step."""
        span = self.spans[name]
        loop = self.program[span.start]
        if self.rank(name) != 2 or name not in self.makers or len(span) > 1 or not isinstance(loop, ir.Loop):
            return None
        rows = filled(self.s, self.program[self.makers[name]].expr)
        inside = [use for k, use in self.uses_of(name) if k in span and use.how == "item"]
        own = all(isinstance(use.index[0], gast.Name) and use.index[0].id == loop.index for use in inside)
        if not isinstance(rows, gast.ListComp) or not own or not is_natural(loop) or not self.is_written(name):
            return None
        before = [k for k, use in self.uses_of(name) if use.how in ("item", "whole") and k < span.start]
        return None if before or not self.site.is_private(name, span.stop) else rows.elt

    def is_written(self, name: str) -> bool:
        return any(use.writes and k in self.spans[name] for k, use in self.uses_of(name))

    def made_as_list(self, name: str) -> Any | None:
        """The statement that made an array, if it may make a list instead: no array is needed, or only later."""
        maker = self.program[self.makers[name]] if name in self.makers else None
        if maker is None or maker.effect or len(maker.targets) > 1 or isinstance(maker.expr, gast.Name):
            return None
        span = self.spans[name]
        arrays = [k for k, use in self.uses_of(name) if use.how != "length" and k not in span]
        arrays += [k for k, use in self.uses_of(name) if use.how == "shape" and k in span]
        arrays += [len(self.program)] if self.leaves(name) else []
        if not self.site.is_undisturbed(name, range(self.makers[name] + 1, span.stop)):
            return None
        unchanged = not self.is_written(name)
        if not unchanged and not self.site.is_private(name, span.stop):
            return None
        if arrays and (unchanged or min(arrays) < span.stop or shape_of(self, name, maker.expr) is None):
            return None
        floats = is_float_array(self.s.facts[name])
        old, maker.expr = maker.expr, (filled(self.s, maker.expr) if floats else None) or listed(maker.expr)
        return old

    def has_order(self, name: str) -> bool:
        """True if the last digits of the value may depend on how an array lies in memory, which may not be C order."""
        if self.rank(name) == 1 or name not in self.s.exact:
            return False
        orders = Orders(self.s, {n: self.program[k] for n, k in self.makers.items()}, {})
        expr = self.program[self.makers[name]].expr if name in self.makers else ir.name(name)
        function = module_function(self.s, expr, np) if isinstance(expr, gast.Call) and expr.args else None
        return orders.of(expr.args[0] if function in LIKE else ir.name(name)) != C_ORDER

    def rank(self, name: str) -> int:
        facts = self.s.facts[name]
        assert isinstance(facts, Num) and facts.dims is not None
        return len(facts.dims)

    def make(self, name: str, instead: Any | None) -> None:
        """The list of an array: it is there instead of the array, or made from it."""
        s, end, two = self.s, "", self.rank(name) == 2
        facts = Listed(new_root(s, "items", name))
        s.put_element(facts, self.row_facts(name) if two else self.item_facts(name))
        if instead is None:
            end = "_rows" if two else "_items"
        new = self.names[name] = s.fresh_like(name, facts, end)
        if instead is None:
            self.new.setdefault(self.spans[name].start, []).append(ir.Let((new,), listed(ir.name(name))))
        if instead is None or name in s.named:
            s.named.add(new)

    def row_facts(self, name: str) -> Listed:
        facts = Listed(new_root(self.s, "row", name))
        self.s.put_element(facts, self.item_facts(name))
        return facts

    def item_facts(self, name: str) -> Num:
        return FLOAT if is_float_array(self.s.facts[name]) else INT

    def before(self, place: int) -> ir.Block:
        return [*self.left.get(place, ()), *self.new.get(place, ())]

    # -- reading and writing items

    def rewrite(self, place: int, stmt: Any) -> None:
        """Rewrite a statement at the top of the program."""
        self.place = place
        self.here = {name for name, span in self.spans.items() if place in span}
        self.floats = {id(expr): test for where, expr, test in self.flow.restored if where is stmt}
        deep = {name for name in self.here if self.rank(name) == 2}
        for name in [name for name in self.single if name in self.here]:
            self.row(stmt, name, ir.name(stmt.index), self.single[name])
        for use in uses(self.s, stmt, deep):
            self.plan_row(use)
        for let in self.rows.values():
            if isinstance(let.expr, gast.Subscript) and self.places_in(let.expr.slice):
                let.expr = ir.subscript(let.expr.value, self.expr(let.expr.slice, ()))
        self.block([stmt], ())
        self.new.setdefault(place, []).extend(let for (home, _, _), let in self.rows.items() if home is None)
        self.rows = {}

    def plan_row(self, use: Use) -> None:
        """Take a row once an iteration, where it is written or read inside another loop."""
        if use.how != "item":
            return
        home = self.home_of(use.index[0], use.around)
        inner = use.around[use.around.index(home) + 1 :] if home in use.around else use.around
        if any(self.rank(name) == 2 for name in self.places_in(use.index[0])):
            return
        pure = isinstance(use.index[0], (gast.Name, gast.Constant)) or not any(isinstance(x, ir.If) for x in inner)
        if home is not NOWHERE and pure and (use.writes or any(isinstance(x, ir.Loop) for x in inner)):
            self.row(home, use.name, use.index[0])

    def places_in(self, index: Any) -> list[str]:
        """The arrays whose items tell an index and that are lists here."""
        return [n for n in ir.names_in(index) if n in self.here]

    def home_of(self, index: Any, around: tuple[Any, ...]) -> Any:
        """The loop in whose body an index is one number; None: before the statement."""
        names = {n for n in ir.names_in(index) if ir.is_variable(n)}
        loops = [x for x in around if isinstance(x, ir.Loop) and x.index in names]
        if names & self.moving - {x.index for x in loops}:
            return NOWHERE
        return loops[-1] if loops else None

    def row(self, home: Any, name: str, index: Any, made: Any | None = None) -> None:
        key = (home, name, gast.dump(index))
        if key not in self.rows:
            new = self.s.fresh_like(name, self.row_facts(name), "_row")
            self.s.named.add(new)
            self.rows[key] = ir.Let((new,), made or ir.subscript(ir.name(self.names[name]), index))

    def block(self, block: ir.Block, around: tuple[Any, ...]) -> None:
        block[:] = [each for stmt in block for each in self.statement(stmt, around)]

    def statement(self, stmt: Any, around: tuple[Any, ...]) -> ir.Block:
        """A statement, and before it the row that it writes into if that is taken there."""
        inside = (*around, stmt)
        before: ir.Block = []
        if isinstance(stmt, ir.Store):
            self.store(stmt, around, before)
        elif isinstance(stmt, ir.Loop):
            again = inside if stmt.kind == "while" else around
            stmt.bounds = tuple(self.expr(bound, around) for bound in stmt.bounds)
            stmt.test, stmt.stop = self.expr(stmt.test, again), self.expr(stmt.stop, inside)
        elif isinstance(stmt, ir.If):
            stmt.test = self.expr(stmt.test, around)
        elif isinstance(stmt, (ir.Let, ir.Effect)):
            stmt.expr = self.expr(stmt.expr, around)
        elif isinstance(stmt, ir.Return):
            stmt.value = self.expr(stmt.value, around)
        elif isinstance(stmt, ir.Raise):
            stmt.node = self.expr(stmt.node, around)
        for block in ir.bodies(stmt):
            self.block(block, inside)
        if isinstance(stmt, ir.Loop):
            own = [(name, let) for (home, name, _), let in self.rows.items() if home is stmt]
            stmt.body[:0] = [let for _, let in own]
            stmt.body += [
                ir.Store(name, ir.name(stmt.index or ""), ir.name(let.target))
                for name, let in own
                if name in self.single
            ]
        return [*before, stmt]

    def store(self, stmt: ir.Store, around: tuple[Any, ...], before: ir.Block) -> None:
        index = place_index(self.s, stmt.base, stmt.index) if stmt.base in self.here else None
        if index is not None and stmt.aug is None:
            stmt.value = self.as_float(stmt.value)
        stmt.value, stmt.index = self.expr(stmt.value, around), self.expr(stmt.index, around)
        if index is None:
            return
        name = stmt.base
        stmt.base, stmt.index = self.names.get(name, name), self.expr(index[-1], around)
        if len(index) == 2:
            stmt.base = self.row_of(name, index[0], around) or self.taken_row(name, index[0], around, before)

    def taken_row(self, name: str, index: Any, around: tuple[Any, ...], before: ir.Block) -> str:
        row = self.s.fresh_like(name, self.row_facts(name), "_row")
        self.s.named.add(row)
        before.append(ir.Let((row,), ir.subscript(ir.name(self.names[name]), self.expr(index, around))))
        return row

    def as_float(self, value: Any) -> Any:
        """The number as a float array would hold it."""
        if isinstance(value, gast.Constant):
            return ir.constant(float(value.value))
        kind, _ = self.flow.expr(value)
        return value if kind == "float" else ir.call("float", value)

    def row_of(self, name: str, index: Any, around: tuple[Any, ...]) -> str | None:
        let = self.rows.get((self.home_of(index, around), name, gast.dump(index)))
        return None if let is None else let.target

    def expr(self, expr: Any, around: tuple[Any, ...]) -> Any:
        """An expression with items of lists, and with what has to be NumPy's number made one."""
        if isinstance(expr, list):
            return [self.expr(item, around) for item in expr]
        if not isinstance(expr, gast.AST):
            return expr
        new = self.part(expr, around)
        return self.as_numpys(new, self.floats[id(expr)]) if id(expr) in self.floats else new

    def as_numpys(self, expr: Any, test: Any | None) -> Any:
        """A float as a ``np.float64``: a variable once for all who see it."""
        number = ir.call(ir.attribute(self.s.bind("numpy", np), "float64"), expr)
        if test is not None:
            return gast.IfExp(test, number, expr)
        name = getattr(expr, "id", "")
        if [getattr(seen, "id", None) for _, seen, _ in self.flow.restored].count(name) < 2:
            return number
        if name not in self.numbers:
            self.numbers[name] = self.s.fresh_like(name)
            self.s.named |= {self.numbers[name]} if name in self.s.named else set()
            self.new.setdefault(self.place, []).append(ir.Let((self.numbers[name],), number))
        return ir.name(self.numbers[name])

    def part(self, expr: Any, around: tuple[Any, ...]) -> Any:
        index = item_of(self.s, expr, self.here)
        if index is not None:
            return self.item(expr.value.id, index, around)
        parts = {p: getattr(expr, p, None) for p in ir.PARTS.get(type(expr), ())}
        new = {p: self.expr(old, around) for p, old in parts.items() if old is not None}
        if all(new[p] is parts[p] or same_items(new[p], parts[p]) for p in new):
            return expr
        return type(expr)(**{key: new.get(key, getattr(expr, key, None)) for key in expr._fields})

    def item(self, name: str, index: tuple[Any, ...], around: tuple[Any, ...]) -> Any:
        items = ir.name(self.names.get(name, name))
        if len(index) == 2:
            row = self.row_of(name, index[0], around)
            items = ir.subscript(items, self.expr(index[0], around)) if row is None else ir.name(row)
        return ir.subscript(items, self.expr(index[-1], around))

    # -- the way back

    def leave(self, name: str, instead: Any | None, written: bool) -> None:
        """The stand-in of an array after its stretch: where only its length is read, the list may do."""
        s, stop = self.s, self.spans[name].stop
        if written and instead is None and not self.site.is_private(name, stop):
            self.left.setdefault(stop, []).append(self.write_back(name))
            return
        known = ("length",) if instead is not None else ("length", "shape")
        later = [k for k, use in self.uses_of(name) if use.how not in known and k >= stop] if written else []
        later += [len(self.program)] if written and self.leaves(name) else []
        end = min(later, default=len(self.program))
        if later and name in self.ordered and instead is None:
            self.left.setdefault(end, []).append(self.write_back(name))
        elif later:
            array = s.fresh_like(name)  # with the places of the views that are taken of it
            expr = self.array_of(name, instead)
            if name in s.named:
                s.named.add(array)
            for stmt in [*self.elsewhere, *ir.walk(self.program[end:])]:
                read_instead(stmt, {name: array})
            if name in self.ordered:
                self.put_in_order(array, instead, expr, end)
            else:
                self.put(array, expr, end)
            if instead is not None:
                self.again[name] = array
        if instead is not None:
            for stmt in self.program[:end]:
                rename(stmt, {name: self.names[name]})

    def leaves(self, name: str) -> bool:
        """True if an array is read outside the block: a loop carries it on, or the reverse of a branch reads it."""
        return name in self.outside

    def write_back(self, name: str) -> ir.Store:
        """Write the items of a list into the array, whose memory others see."""
        whole = gast.Slice(None, None, None)
        if self.rank(name) == 1:
            return ir.Store(name, whole, ir.name(self.names[name]))
        return ir.Store(name, whole, self.array_of(name, None))

    def array_of(self, name: str, instead: Any | None) -> Any:
        expr = ir.call(ir.attribute(self.s.bind("numpy", np), "array"), ir.name(self.names[name]))
        if self.rank(name) == 1:
            return expr
        shape = ir.attribute(ir.name(name), "shape") if instead is None else shape_of(self, name, instead)
        shape = ir.substitute(shape, {old: ir.name(new) for old, new in self.again.items()})
        return ir.call(ir.attribute(expr, "reshape"), shape)  # there may be no rows

    def put_in_order(self, array: str, instead: Any, expr: Any, place: int) -> None:
        """Write what a list holds into an array that lies in memory like the one after which it was made."""
        like = ir.substitute(instead.args[0], {old: ir.name(new) for old, new in self.again.items()})
        made = ir.call(ir.attribute(self.s.bind("numpy", np), "empty_like"), like)
        filled = ir.Store(array, gast.Slice(None, None, None), expr)
        self.left.setdefault(place, []).extend([ir.Let((array,), made), filled])

    def put(self, array: str, expr: Any, place: int) -> None:
        """Write an array where it is needed first: in place, if that is the only one."""
        stmt = self.program[place] if self.site.owner is None else None
        readers = [other for other in self.program if array in ir.reads_inside(other)]
        if isinstance(stmt, (ir.Return, ir.Let)) and readers == [stmt] and ir.reads_inside(stmt).count(array) == 1:
            substitute_own(stmt, {array: expr})
        else:
            self.left.setdefault(place, []).append(ir.Let((array,), expr))


NOWHERE = object()  # no loop


def is_natural(loop: ir.Loop) -> bool:
    """True if a loop goes over numbers, none of them twice and none below zero."""
    step = step_of(loop)
    last = loop.bounds[1] if step < 0 else loop.bounds[0] if len(loop.bounds) > 1 else ir.constant(0)
    if step == -1 and isinstance(last, gast.UnaryOp) and isinstance(last.op, gast.USub):
        return isinstance(last.operand, gast.Constant) and last.operand.value == 1
    return bool(step) and isinstance(last, gast.Constant) and last.value >= 0


def new_root(s: Function, what: str, name: str) -> frozenset[int]:
    return frozenset([s.root((what, name))])


def same_items(a: Any, b: Any) -> bool:
    return isinstance(a, list) and isinstance(b, list) and all(x is y for x, y in zip(a, b))


def rename(stmt: Any, mapping: dict[str, str]) -> None:
    """Read other variables in a statement and in the blocks inside it."""
    for inner in ir.inside(stmt):
        read_instead(inner, mapping)


def listed(expr: Any) -> Any:
    """The items of an array as a list; of a copy: those of what is copied."""
    if isinstance(expr, gast.Call) and isinstance(expr.func, gast.Attribute) and expr.func.attr == "copy":
        if all(isinstance(arg, gast.Constant) for arg in expr.args) and not expr.keywords:
            expr = expr.func.value
    return ir.call(ir.attribute(expr, "tolist"))


def filled(s: Function, expr: Any) -> Any | None:
    """A list of one number for an array of it, where its lengths are surely none below zero."""
    function = module_function(s, expr, np) if isinstance(expr, gast.Call) else None
    if function is None or expr.keywords or len(expr.args) != (2 if function == "full_like" else 1):
        return None
    first = expr.args[0]
    if function in LIKE:
        number = expr.args[1] if function == "full_like" else ir.constant(LIKE[function])
        return filled_like(s, first, number) if is_float(s, number) else None
    if isinstance(first, gast.Attribute) and first.attr == "shape" and function in ("zeros", "ones"):
        return filled_like(s, first.value, ir.constant(float(function == "ones")))
    lengths = first.elts if isinstance(first, gast.Tuple) else [first]
    known = function in ("zeros", "ones") and all(is_length(s, n) for n in lengths)
    return repeated(ir.constant(float(function == "ones")), lengths) if known else None


def filled_like(s: Function, like: Any, number: Any) -> Any | None:
    facts = s.facts.get(like.id) if isinstance(like, gast.Name) else None
    if not isinstance(facts, Num) or facts.kind != "array" or facts.ndim not in (1, 2):
        return None
    columns = [ir.subscript(ir.attribute(like, "shape"), ir.constant(1))]
    return repeated(number, [ir.call("len", like), *columns[: facts.ndim - 1]])


def repeated(number: Any, lengths: list[Any]) -> Any | None:
    row = ir.binop(gast.List([number], gast.Load()), gast.Mult, lengths[-1])
    if len(lengths) == 1:
        return row
    target = gast.Name("_", gast.Store(), None, None)
    return gast.ListComp(row, [gast.comprehension(target, ir.call("range", lengths[0]), [], 0)])


def is_float(s: Function, expr: Any) -> bool:
    """True if an expression is surely a Python float."""
    if isinstance(expr, gast.Constant):
        return type(expr.value) is float
    return isinstance(expr, gast.Name) and s.facts.get(expr.id) == FLOAT


def is_length(s: Function, expr: Any) -> bool:
    """True if an expression is the length of an axis."""
    if isinstance(expr, gast.Constant):
        return type(expr.value) is int
    if isinstance(expr, gast.Call):
        return getattr(expr.func, "id", "") == "len"
    facts = s.facts.get(expr.id) if isinstance(expr, gast.Name) else None
    return isinstance(facts, Num) and isinstance(facts.size, Dim) and facts.size.offset >= 0


def shape_of(lists: Lists, name: str, expr: Any) -> Any | None:
    """The shape of an array, told by what makes it; of an array with one axis nobody needs it."""
    if lists.rank(name) == 1:
        return ir.constant(None)
    function = module_function(lists.s, expr, np) if isinstance(expr, gast.Call) and expr.args else None
    if function in LIKE and isinstance(expr.args[0], gast.Name):
        base = expr.args[0].id
        known = shape_of(lists, base, lists.instead[base]) if base in lists.instead else None
        return ir.attribute(expr.args[0], "shape") if known is None else known
    if function not in ("zeros", "ones") or any(isinstance(node, gast.Call) for node in ir.nodes(expr.args[0])):
        return None
    return expr.args[0]
