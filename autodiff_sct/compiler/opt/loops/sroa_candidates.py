"""Arrays of two to four numbers that a loop makes anew are as many numbers: NumPy takes 400 ns for a sum, Python 30.

::

    for _ in range(steps):                                 y_0, y_1 = y0[0], y0[1]
        k = np.array([y[1], -y[0]])                        for _ in range(steps):
        y = y + h * k                               ->         y_0, y_1 = y_0 + h * y_1, y_1 + h * -y_0
        total = total + y[0]                                   total = total + y_0

The derivative is taken of the program with numbers, so both sweeps gain.  The bits are the same: sums, differences,
products, quotients, squares and negatives of float64, item by item.

What becomes numbers: an array that is made of a display of numbers, or of zeros and the like that are filled in the
same block by literal indices, or of such arrays by those operations, what a branch or a loop makes of them, and copies.
Nobody else writes into it.  An array of unknown length that such an operation meets is taken apart, with a test of its
length.  That test is the only thing that may raise where the program does not: a call for which it does is run again on
arrays (see `unbox_arrays`), so this is for programs that may be run again.  Where the whole array is wanted, it is
made of the numbers; a loop that wants it often keeps its arrays.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import gast
import numpy as np

from ....core import thresholds
from ... import ir
from ...analysis.alias import Regions
from ...analysis.definite_assignment import unbound
from ...analysis.subscript_uses import FLOAT64
from ...domain.facts import Num, several
from ...domain.values import Const, Leaf, ListV, TupleV, Value
from ...ir.function import Function

BINARY = {np.add: gast.Add, np.subtract: gast.Sub, np.multiply: gast.Mult, np.true_divide: gast.Div}
COPIES = (np.ndarray.copy, np.copy)
FILLED = {np.zeros: 0.0, np.ones: 1.0, np.empty: None}
LIKE = {np.zeros_like: 0.0, np.ones_like: 1.0, np.empty_like: None}
NUMBERS = ("float", "int", "npscalar", None)


@dataclass(eq=False)
class Recipe:
    """The way in which an array is made.

    "display": of these numbers; "filled": `count` times a value, of which the last statement is a store; "like": as
    long as another; "binary" and "negative": by an operator; "same": a copy; "meeting": one of several.
    """

    kind: str
    values: tuple[Value, ...] = ()
    operator: Any = None
    count: int = 0

    def arrays(self, s: Function) -> list[str]:
        """The arrays that it is made of."""
        return [] if self.kind == "display" else [v.name for v in self.values if is_array(s, v)]


@dataclass(eq=False)
class Use:
    """A statement that reads an array: "operand", "item", "length", "passed", "whole" or anything else, "other"."""

    how: str
    stmt: Any
    depth: int
    target: str = ""  # what is made of it
    place: int = 0


def is_array(s: Function, value: Value) -> bool:
    facts = s.facts.get(value.name) if isinstance(value, Leaf) else None
    return isinstance(facts, Num) and facts.dims != ()


def is_vector(s: Function, name: str) -> bool:
    """True if a variable is an array of float64 with one axis."""
    facts = s.facts.get(name)
    return isinstance(facts, Num) and facts.kind == "array" and facts.ndim == 1 and is_double(facts)


def is_double(facts: Num) -> bool:
    """True if what facts describe is of float64, to which NumPy says that None is equal."""
    return facts.dtype is not None and facts.dtype == FLOAT64 and not facts.tensor


def is_number(s: Function, value: Value) -> bool:
    """True if a value is one number, which an operation with an array of float64 takes as a float64."""
    if isinstance(value, Const):
        return type(value.value) in (int, float)
    facts = s.facts.get(value.name) if isinstance(value, Leaf) else None
    if not isinstance(facts, Num) or facts.dims != () or facts.kind not in NUMBERS:
        return False
    if facts.row is not None or facts.unless_none is not None:
        return False
    return is_double(facts) or facts.kind == "int"


def recipe_of(s: Function, stmt: ir.Let) -> Recipe | None:
    """The recipe by which a statement makes an array."""
    if len(stmt.targets) > 1 or stmt.effect or not is_vector(s, stmt.target):
        return None
    if stmt.op is None:
        return Recipe("same", (Leaf(stmt.expr.id),)) if isinstance(stmt.expr, gast.Name) else None
    fn, values = stmt.op.fn, tuple(stmt.op.arguments.values())
    if fn is np.array and len(values) == 1 and isinstance(values[0], (ListV, TupleV)):
        items = values[0].items
        return Recipe("display", items, None, len(items)) if all(is_number(s, v) for v in items) else None
    if not isinstance(fn, np.ufunc):
        return of_function(s, fn, values)
    if not all(is_number(s, v) or is_vector(s, getattr(v, "name", "")) for v in values):
        return None
    if fn in BINARY and len(values) == 2:
        return Recipe("binary", values, BINARY[fn])
    if fn is np.negative and len(values) == 1:
        return Recipe("negative", values)
    if (fn is np.square and len(values) == 1) or (fn is np.power and values[1:] == (Const(2),)):
        return Recipe("binary", (values[0], values[0]), gast.Mult)
    return None


def of_function(s: Function, fn: Any, values: tuple[Value, ...]) -> Recipe | None:
    """The recipe of an array from a function that takes one argument."""
    if len(values) != 1:
        return None
    value = values[0]
    if fn in COPIES and isinstance(value, Leaf):
        return Recipe("same", values)
    if fn in LIKE and isinstance(value, Leaf) and is_vector(s, value.name):
        return Recipe("like", values, LIKE[fn])
    if fn in FILLED:
        shape = value.items[0] if isinstance(value, TupleV) and len(value.items) == 1 else value
        if isinstance(shape, Const) and type(shape.value) is int:
            return Recipe("filled", (), FILLED[fn], shape.value)
    return None


class Arrays:
    """The arrays of a program: how each comes about, where it is read, and which of them are short."""

    def __init__(self, s: Function, where: Regions, program: ir.Block, results: set[str]) -> None:
        self.s, self.where, self.program = s, where, program
        self.recipes: dict[str, Recipe] = {}
        self.tied: dict[str, str] = {}  # what a loop carries, in its body and after it: both are numbers, or none is
        self.depths: dict[str, int] = {}
        self.home: dict[str, int] = {}  # variable -> the block that it is made in
        self.uses: dict[str, list[Use]] = {}
        self.stores: dict[str, list[tuple[ir.Store, int, int]]] = {}  # with their blocks and places
        self.chains: dict[str, tuple[tuple[int, Any], ...]] = {}  # array -> the statements around its recipe
        self.tests: set[Any] = set()  # statements that only ask for a length
        self.banned: set[str] = set()
        self.place = 0
        self.visit(program, 0, ())
        for name in results:
            self.use(name, "whole", None, 0)
        self.sharing: dict[int, list[str]] = {}
        for name in self.home:
            for root in getattr(s.facts.get(name), "roots", ()):
                self.sharing.setdefault(root, []).append(name)

    # -- reading the program

    def visit(self, block: ir.Block, depth: int, around: tuple[tuple[int, Any], ...]) -> None:
        for stmt in block:
            self.place += 1
            chain = (*around, (id(block), stmt))
            inner = depth + isinstance(stmt, ir.Loop)
            for name in ir.ir_targets(stmt):
                self.home[name], self.depths[name] = id(block), depth
            if isinstance(stmt, ir.Loop):
                for c in stmt.carries:
                    self.home[c.phi], self.depths[c.phi] = id(stmt.body), inner
                    self.tied |= {c.phi: c.out, c.out: c.phi}
                    self.meets(c.phi, (c.init, c.next), stmt, depth, chain)
                    self.meets(c.out, (c.phi, c.init), stmt, depth, chain)
            self.own(stmt, depth, chain)
            for body in ir.bodies(stmt):
                self.visit(body, inner, chain)
                if isinstance(stmt, ir.Loop) and body is stmt.head:
                    self.banned.update(n for x in body for n in ir.ir_targets(x))  # the body has numbers of its own
            if isinstance(stmt, ir.If):
                for m in stmt.merges:
                    self.meets(m.target, (m.then, m.orelse), stmt, depth, chain)

    def meets(self, target: str, names: tuple[Any, Any], stmt: Any, depth: int, chain: Any) -> None:
        """A variable is one of two others."""
        for name in names:
            if name is not None:
                self.use(name, "passed", stmt, depth, target)
        if None not in names and is_vector(self.s, target):
            self.recipes[target], self.chains[target] = Recipe("meeting", tuple(map(Leaf, names))), chain

    def use(self, name: str, how: str, stmt: Any, depth: int, target: str = "") -> None:
        self.uses.setdefault(name, []).append(Use(how, stmt, depth, target, self.place))

    def own(self, stmt: Any, depth: int, chain: tuple[tuple[int, Any], ...]) -> None:
        """The arrays that a statement itself reads and makes."""
        if isinstance(stmt, ir.Let):
            recipe = recipe_of(self.s, stmt)
            if recipe is not None:
                self.recipes[stmt.target], self.chains[stmt.target] = recipe, chain
            how = "operand" if recipe is not None else self.reading(stmt)
            for name in set(ir.reads(stmt)):
                self.use(name, how, stmt, depth, stmt.target)
        elif isinstance(stmt, ir.Store):
            self.stores.setdefault(stmt.base, []).append((stmt, chain[-1][0], self.place))
            for name in set(ir.variables_in(stmt.index)) | {stmt.base}:
                self.use(name, "other" if name != stmt.base else "store", stmt, depth)
            direct = isinstance(stmt.value, gast.Name)
            for name in ir.variables_in(stmt.value):
                self.use(name, "whole" if direct else "other", stmt, depth)
        elif isinstance(stmt, ir.If) and (asked := length_test(stmt)) is not None:
            self.tests.add(stmt)
            self.use(asked[0], "test", stmt, depth)
        else:
            appends = isinstance(stmt, ir.Effect) and stmt.kind == "append"
            for name in set(ir.reads(stmt)):
                self.use(name, "whole" if appends else "other", stmt, depth)

    def reading(self, stmt: ir.Let) -> str:
        """The reads by a statement of arrays that may be short, of which it makes none."""
        if stmt.op is None:
            return "length" if length_of(stmt.expr) is not None else "other"
        if stmt.op.fn is operator.getitem and literal_index(stmt.op.arguments.get("index")) is not None:
            return "item"
        return "other" if stmt.effect else "whole"

    @cached_property
    def unbound(self) -> set[str]:
        """The variables that some paths leave unbound: nothing can be taken out of them."""
        return unbound(self.program)

    # -- which are short

    def short(self) -> dict[str, int]:
        """The short arrays that are worth it, with their lengths."""
        while True:
            lengths = self.settled()
            poor = self.poor(lengths) if lengths else set()
            if not poor:
                return lengths
            self.banned |= poor

    def settled(self) -> dict[str, int]:
        """The arrays that may become numbers."""
        while True:
            lengths = self.spread()
            bad = {name for name in lengths if not self.holds(name, lengths)}
            if not bad:
                return lengths
            self.banned |= bad

    def spread(self) -> dict[str, int]:
        """The lengths that follow from those of displays."""
        lengths: dict[str, int] = {}
        known = -1
        while known != len(lengths):
            known = len(lengths)
            for name, recipe in self.recipes.items():
                if name in lengths or name in self.banned:
                    continue
                if recipe.count:
                    lengths[name] = recipe.count
                else:
                    found = [lengths[a] for a in recipe.arrays(self.s) if a in lengths]
                    lengths.update({name: found[0]} if found else {})
        return lengths

    def holds(self, name: str, lengths: dict[str, int]) -> bool:
        """True if an array may be numbers, given that the others are."""
        recipe, n = self.recipes[name], lengths[name]
        if not 2 <= n <= thresholds.ITEMS_OF_SHORT_ARRAYS or not all(
            self.fits(a, n, lengths, recipe.kind) for a in recipe.arrays(self.s)
        ):
            return False
        if self.tied.get(name, name) not in lengths:
            return False
        if self.where.is_written(name) and not self.is_filled(name, recipe, n):
            return False
        if recipe.kind in ("filled", "like") and recipe.operator is None and name not in self.stores:
            return False
        return all(self.may(use, name, n, lengths) for use in self.uses.get(name, ()))

    def fits(self, array: str, n: int, lengths: dict[str, int], kind: str) -> bool:
        """True if an array that another is made of is as long, or can be taken apart."""
        if array in lengths:
            return lengths[array] == n and (kind in ("binary", "negative", "same", "like") or array not in self.stores)
        if kind in ("same", "like") or not is_vector(self.s, array) or self.where.is_written(array):
            return False
        if array in self.unbound:
            return False
        axis = self.s.facts[array].dims[0]  # type: ignore[union-attr, index]
        return axis == n or (several(axis) and not isinstance(axis, int))

    def is_filled(self, name: str, recipe: Recipe, n: int) -> bool:
        """True if an array is written where it is made only, item by item, and what is empty before it is read."""
        stores = self.stores.get(name, [])
        alone = all(self.sharing[root] == [name] for root in self.s.facts[name].roots)  # type: ignore[union-attr]
        if recipe.kind not in ("filled", "like") or not alone:
            return False
        for stmt, block, _ in stores:
            if block != self.home[name] or not self.stores_number(stmt) or not -n <= index_of(stmt) < n:
                return False
        if any(use.how == "whole" for use in self.uses.get(name, ())):
            return False
        if recipe.operator is not None:
            return True
        first = sorted(stores, key=lambda found: found[2])[:n]
        reads = [use.place for use in self.uses.get(name, ()) if use.how != "store"]
        places = {index_of(stmt) % n for stmt, _, _ in first if stmt.aug is None}
        return len(places) == n and all(first[-1][2] < place for place in reads)

    def stores_number(self, stmt: ir.Store) -> bool:
        if stmt.op is None or literal_index(stmt.op.arguments.get("index")) is None:
            return False
        known = stmt.aug is None or stmt.aug in BINARY.values()
        return known and stmt.old is None and stmt.result is None and is_number(self.s, stmt.op.arguments.get("value"))

    def may(self, use: Use, name: str, n: int, lengths: dict[str, int]) -> bool:
        """True if numbers can stand for an array where it is read."""
        if use.how in ("operand", "passed"):
            return use.target in lengths or not self.where.is_written(name)
        if use.how == "item":
            return -n <= index_of(use.stmt) < n
        if use.how == "test":
            return length_test(use.stmt) == (name, n)
        return use.how in ("whole", "length") or (use.how == "store" and self.where.is_written(name))

    def wanted_whole(self, name: str, lengths: dict[str, int]) -> list[Use]:
        """The uses for which an array has to be made of its numbers."""
        return [
            use
            for use in self.uses.get(name, ())
            if use.how == "whole" or (use.how in ("operand", "passed") and use.target not in lengths)
        ]

    def is_only_whole(self, name: str, lengths: dict[str, int]) -> bool:
        """True if an operation makes an array that nobody reads but as an array."""
        uses, recipe = self.uses.get(name, []), self.recipes[name]
        return recipe.kind != "meeting" and len(uses) == len(self.wanted_whole(name, lengths))

    def poor(self, lengths: dict[str, int]) -> set[str]:
        """The arrays of which a loop gains nothing as numbers, with all that they meet."""
        groups: dict[str, set[str]] = {name: {name} for name in lengths}
        for name in lengths:
            for other in self.recipes[name].arrays(self.s):
                if other in groups and groups[other] is not groups[name]:
                    groups[name] |= groups[other]
                    for each in groups[other]:
                        groups[each] = groups[name]
        poor = {name for name in lengths if not self.depths[name] and self.is_only_whole(name, lengths)}
        if poor:
            return poor
        for name in lengths:
            group = groups[name]
            if name not in poor and not self.gains(group, lengths):
                poor |= group
        return poor

    def gains(self, group: set[str], lengths: dict[str, int]) -> bool:
        made = [n for n in group if self.depths[n] and self.recipes[n].kind not in ("meeting", "same")]
        whole = sum(use.depth > 0 for name in group for use in self.wanted_whole(name, lengths))
        taken = {a for n in made for a in self.recipes[n].arrays(self.s) if a not in lengths and self.depths.get(a)}
        heads = [n for n in group if self.wanted_whole(n, lengths) and self.is_in_while(n)]
        return (
            not heads
            and len(made) > 2 * whole + len(taken)
            and sum(lengths[n] for n in made) <= thresholds.OPERATIONS_ON_ITEMS
        )

    def is_in_while(self, name: str) -> bool:
        """True if a variable is what a ``while`` carries, which has no one place where it begins."""
        stmt = self.chains[name][-1][1]
        return isinstance(stmt, ir.Loop) and stmt.kind == "while" and self.home[name] == id(stmt.body)


def literal_index(value: Value | None) -> int | None:
    return value.value if isinstance(value, Const) and type(value.value) is int else None


def index_of(stmt: Any) -> int:
    """The literal index at which a statement reads or stores an item."""
    k = literal_index(stmt.op.arguments["index"])
    assert k is not None
    return k


def length_of(expr: Any) -> str | None:
    """The array whose length an expression is."""
    if isinstance(expr, gast.Call) and getattr(expr.func, "id", "") == "len" and len(expr.args) == 1:
        return getattr(expr.args[0], "id", None)
    return None


def length_test(stmt: ir.If) -> tuple[str, int] | None:
    """The array that a statement only asks whether it has a certain length, as unpacking does, and that length."""
    test = stmt.test
    raises = len(stmt.then) == 1 and ir.ends_in_raise(stmt.then) and not stmt.orelse and not stmt.merges
    if not raises or not isinstance(test, gast.Compare) or not isinstance(test.ops[0], gast.NotEq):
        return None
    name, n = length_of(test.left), getattr(test.comparators[0], "value", None)
    return (name, n) if name is not None and type(n) is int else None
