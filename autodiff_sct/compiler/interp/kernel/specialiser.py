"""The specialiser's state: the block being written, the environment, what is known of containers and objects.

Here is also which values a list or dict in a variable may hold, and as what (`storable`, `element_facts`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from enum import Enum
from operator import is_
from typing import Any

from ....errors import Origin
from ... import ir
from ...domain.dependencies import World
from ...domain.facts import Facts, Listed, Mapped, Num, Opaque, Pair, blurred
from ...domain.request import Attempt
from ...domain.values import (
    Const,
    Frame,
    Later,
    Leaf,
    ListV,
    Obj,
    SliceV,
    TupleV,
    Value,
    is_packaged,
)
from ...ir.dims import Lengths
from ...ir.function import Role
from .program_values import ProgramValues, Restart


class Specialiser(ProgramValues):
    """One specialisation of a function: what it knows while it writes; the stages after it are given the `Function`."""

    def __init__(self, dynamic: set[Any] | None = None, derivatives: dict[Any, list[Any]] | None = None) -> None:
        self.block: ir.Block = []
        super().__init__(self.block)
        self.begin_containers()
        self.begin_sweeps()
        self.begin_functions()
        self.env: dict[Any, Value] = {}
        self.initial: dict[Any, Value] = {}  # the environment before the program
        self.iteration: tuple[int, ...] = ()  # of the loops around that are written out
        self.rule_calls = 0  # numbers the activations of rules, alike in each writing of a loop's body
        self.frame: Frame | None = None
        self.frames: dict[Any, int] = {}
        self.texts: dict[int, Any] = {}  # the user's functions that are compiled into the program, as `Parsed`
        self.node: Any = None
        self.origin: Origin | None = None  # overrides the node's, in rules
        self.dynamic = dynamic if dynamic is not None else set()
        self.guards: list[Any] = []
        self.world = World()
        self.frozen: set[Any] = set()
        self.stands_for: dict[Any, tuple[Obj, ...]] = {}  # what may be meant by an object that a branch or a loop chose
        self.shadowed: set[Any] = set()  # attributes of classes that objects have of their own on some paths
        self.unsure: set[Any] = set()  # attributes of objects, as their keys, that some path did not assign
        self.births: dict[Any, ir.Block] = {}  # where each object was made
        self.merging: set[Any] = set()  # ids of objects whose fields are being merged
        self.carrying: list[Any] = []  # objects that a loop is found to carry, and what it does: their fields are next
        self.solved: dict[Any, dict[Any, Any]] = {}  # what loops carry, by their places, until the outermost is done
        self.objects: dict[Any, Any] = {}  # id of an Obj that exists outside -> (object, read)
        self.symbols: dict[int, str] = {}  # number of an object outside -> what the program calls it
        self.identities: dict[int, tuple[int, Any]] = {}  # id of an outside object -> its number, and it
        self.tells: dict[str, tuple[Value, bool]] = {}  # a test -> what it says of: whether that is None, or is not
        self.opposites: dict[str, Leaf] = {}  # a test -> that of which it is the opposite
        self.witnesses: set[str] = set()  # items that tell so, and are numbers where they are read
        self.held: frozenset[int] = frozenset()  # roots of arrays that loops go over or that callers see
        self.lazy: frozenset[int] = frozenset()  # roots of arrays that generators under names read
        self.replaced: frozenset[int] = frozenset()  # roots of arrays for which an augmented assignment makes new ones
        self.branches = 0  # sides of branches around the block being written
        # Place of a call -> the derivative programs emitted for it, by earlier runs of the same program, too: places in
        # their texts are told by the nodes of these.
        self.derivatives: dict[Any, list[Any]] = derivatives if derivatives is not None else {}
        self.guarded = True  # whether objects in tables must not be written as the numbers that they are
        self.handles = False  # whether the program handles exceptions
        self.attempts = self.loud = 0  # blocks around: under handlers, and where NumPy's warnings may be exceptions
        self.hearing = 0  # blocks around under handlers that would catch a refusal
        self.level = 1  # of the tangents of this program: above those of the programs that are part of it
        self.loops = 0  # how many loops are being specialised
        self.indices: dict[int, str | None] = {}  # depth of a loop -> its index

    def begin_functions(self) -> None:
        """Make the tables of the functions and classes that the program uses."""
        self.imports: dict[Any, Value] = {}
        self.classes: dict[type, Any] = {}  # classes of the user's, each with the guard of its methods
        self.watched: set[Any] = set()  # methods of single objects that are guarded
        self.inside: dict[Any, Frame] = {}  # classes of the program and their methods -> where they are defined
        self.short_loops: dict[Any, int] = {}  # sites of the loops around that could be written out -> their depth
        self.inlined: set[Any] = set()  # functions that could not be compiled as such, and are inlined
        self.written_at: dict[Any, int] = {}  # a function -> how many variables inlining it has made
        self.strong: frozenset[Any] = frozenset()  # functions whose zero derivatives stay zero
        self.order = 0  # how many derivatives around it this program is inside
        self.singular = False  # whether a function is differentiated whose slope may be infinite
        self.selects = self.multiplies = False  # whether functions that choose, or products, are differentiated
        self.spectral = False  # whether a function is differentiated that has a perturbed one
        self.perturbed = False  # whether perturbed functions stand for those that have one
        self.read_again = False  # True if another program calls the emitted one, so that it is differentiated again
        self.shared: dict[Any, list[Any]] | None = None  # a function -> its forms that stay calls; None where none may

    def begin_sweeps(self) -> None:
        """Make the tables of variables for differentiation, and of names without a value on some paths."""
        self.active: set[str] = set()  # variables that carry a derivative, once that is known
        self.stopped: set[str] = set()  # what stop_gradient returned
        self.all_of: dict[str, str] = {}  # view of all of an array, such as ``x[:]`` -> the array
        self.partly: set[str] = set()  # variables that some path may leave unbound, as known where they are made
        self.deleted: set[Any] = set()  # names that `del` unbinds

    def begin_containers(self) -> None:
        """Make the tables of lists, dicts, sets and iterators; facts of their items are in `elements`."""
        self.walked_known: set[Any] = set()  # lists at compile time that iterators with names go over
        self.gone_over_known: set[Any] = set()  # lists and dicts at compile time that are gone over, maybe later
        # lists of a few integers, at compile time as long as nothing goes over them
        self.integer_lists: set[Any] = set()
        self.by_itself: Any = None  # the expression of the last statement that is one, and there for what it does
        self.wrappers: tuple[Any, ...] = ()  # wrappers of packages around, each with arguments to enter it with
        self.strictly = 0  # calls around that are not followed unless all of their text can be
        self.attempt = Attempt()  # in which ways the program is compiled
        self.displays: dict[int, int] = {}  # root of a list display -> how many items it has
        self.foreign: frozenset[int] = frozenset()  # memory that objects of unknown classes may hold
        self.nesting: dict[int, tuple[int, int]] = {}  # root of a list display -> the loops and branches around it
        self.resized: set[int] = set()  # roots of lists whose length changes
        self.filled: dict[int, set[Any]] = {}  # root of a list -> the short loops that fill it, and None for others
        self.assumed: set[int] = set()  # roots of lists whose length is that of the display
        self.factories: dict[Any, Value] = {}  # of a defaultdict
        self.memos: set[Any] = set()  # what functions with a cache remember, as the environment has it
        self.counters: set[Any] = set()  # places and roots of dicts that count, where what is missing is 0
        self.cursors: dict[Any, Any] = {}  # an iterator -> what it goes over
        self.walks: dict[Any, list[Lengths]] = {}  # an iterator -> the bodies of loops that go over it
        self.walked: frozenset[int] = frozenset()  # roots of lists that have iterators
        self.keys_of: dict[int, frozenset[int]] = {}  # of lists of keys: the roots of the dicts
        self.tables_of_keys: dict[int, str] = {}  # of those that loops go over in their places: the dicts
        self.growing: list[Any] = []  # for each `for` around, the place to say that its list changes its length
        self.gone_over: list[set[int]] = []  # for each of the loops around: roots of the lists that it goes over
        self.views: list[Any] = []  # what `keys`, `values` and `items` of dicts have returned
        self.whole: set[Any] = set()  # places of dict arguments that can stay dicts at run time
        self.by_key: dict[int, Any] = {}  # root of such a dict -> its place, and the facts of what is under each key
        self.gone_through: set[int] = set()  # generator expressions that are gone through where they stand
        self.deques: set[int] = set()  # roots of deques
        self.limits: dict[int, Value] = {}  # root of a deque -> its maxlen
        # field of objects in a table -> the function, or the like, that is in it for all of them; None where none is
        self.same_for_all: dict[tuple[type, str], Const | None] = {}
        self.members: dict[str, Facts] = {}  # a set -> facts of what is in it

    # -- places

    def site(self, extra: Any = None) -> Any:
        frame = self.frame
        return (frame.id if frame else 0, id(self.node), extra, *self.iteration)

    @contextmanager
    def short_loop(self, site: Any) -> Iterator[None]:
        """A loop of so few iterations that it is written out where what it makes asks for that."""
        if site is not None:
            self.short_loops[site] = self.loops + 1
        try:
            yield
        finally:
            self.short_loops.pop(site, None)

    def write_out_loop(self, key: Any = None) -> None:
        """Specialise again with a loop around written out: one from whose index a key is computed, or the outermost."""
        if self.short_loops:
            read = self.computed_from(key)
            inside = [site for site, depth in self.short_loops.items() if self.indices.get(depth) in read]
            raise Restart(("write out", next(iter([*inside, *self.short_loops]))))

    def note_filled(self, root: int) -> None:
        """Note that an item is added to a list, and in which loops."""
        elsewhere = self.nesting.get(root, (self.loops, self.branches)) != (self.loops, self.branches)
        self.filled.setdefault(root, set()).update(self.short_loops or [None] * elsewhere)

    def write_out_list(self, roots: frozenset[int]) -> None:
        """Specialise again with the short loops that fill a list written out, and then with its items known."""
        for root in roots:
            loops = self.filled.get(root, set())
            for loop in loops - {None}:
                raise Restart(("write out", loop))
            site = next(site for site, number in self.roots.items() if number == root)
            if not loops and root in self.displays and ("static", site) not in self.dynamic:
                raise Restart(("static", site))

    def computed_from(self, expr: Any) -> set[str]:
        """The variables from which an expression is computed, as far as their definitions are known."""
        found: set[str] = set()
        left = [*ir.variables_in(expr)]
        while left:
            name = left.pop()
            if name not in found:
                found.add(name)
                left += ir.variables_in(self.definitions.get(name))
        return found

    @contextmanager
    def inside_loop(self) -> Iterator[None]:
        """The body of a loop being written, which may be given up half-way."""
        self.loops += 1
        try:
            yield
        finally:
            self.loops -= 1

    @contextmanager
    def under_handlers(self, loud: bool, hearing: bool = True) -> Iterator[None]:
        """The block of a ``try`` being written.

        It is `loud` where NumPy's warnings may be among what is caught, and `hearing` where a refusal may be.
        """
        self.attempts, self.loud, self.hearing = self.attempts + 1, self.loud + loud, self.hearing + hearing
        try:
            yield
        finally:
            self.attempts, self.loud, self.hearing = self.attempts - 1, self.loud - loud, self.hearing - hearing

    @contextmanager
    def going_over(self) -> Iterator[set[int]]:
        """A loop being written; the roots of the lists that it goes over."""
        lists: set[int] = set()
        self.gone_over.append(lists)
        try:
            yield lists
        finally:
            self.gone_over.pop()

    @contextmanager
    def going_over_growing(self, place: Any) -> Iterator[None]:
        """A `for` being written; what says, at its place, that the list changes its length that it goes over."""
        self.growing.append(place)
        try:
            yield
        finally:
            self.growing.pop()

    @contextmanager
    def written_out(self, k: int) -> Iterator[None]:
        """The k-th copy of a loop's body that is written out: what it makes has a place of its own."""
        outer, self.iteration = self.iteration, (*self.iteration, k)
        try:
            yield
        finally:
            self.iteration = outer

    # -- emitting

    def let(
        self,
        expr: Any,
        facts: Facts,
        op: ir.Op | None = None,
        hint: str = "t",
        effect: bool = False,
        may_raise: bool = True,
        role: Role | None = None,
    ) -> Leaf:
        """Emit ``hint = expr`` and return the variable."""
        target = self.fresh(hint, facts, role)
        self.block.append(ir.Let((target,), expr, op, self.where(), effect, may_raise, self.loud > 0))
        self.definitions[target] = expr
        return Leaf(target)

    def let_several(
        self, expr: Any, facts: list[Facts], op: ir.Op | None, hint: str = "t", effect: bool = False
    ) -> list[Leaf]:
        targets = tuple(self.fresh(hint, f) for f in facts)
        self.block.append(ir.Let(targets, expr, op, self.where(), effect, True))
        return [Leaf(t) for t in targets]

    @contextmanager
    def writing(self, block: ir.Block, lengths: Lengths | None = None) -> Iterator[ir.Block]:
        """Emit into `block`, where some lengths are equal; by default it is a block that may not run."""
        if lengths is not None:
            self.of_blocks[id(block)] = block, lengths
        outer = self.block, self.proven, self.lengths
        self.block, self.proven, self.lengths = block, dict(self.proven), self.lengths_in(block)
        try:
            yield block
        finally:
            self.block, self.proven, self.lengths = outer

    @contextmanager
    def knowing(self, proven: dict[Any, Any]) -> Iterator[None]:
        """Decide with the equal lengths of another place."""
        outer, self.proven = self.proven, proven
        try:
            yield
        finally:
            self.proven = outer

    @contextmanager
    def holding(self, roots: frozenset[int]) -> Iterator[None]:
        """Write code while somebody else sees the memory of some roots."""
        outer, self.held = self.held, self.held | roots
        try:
            yield
        finally:
            self.held = outer

    def in_package(self) -> bool:
        """True if the statement that is specialised is one of an installed package."""
        known = self.frame.globals if self.frame is not None else {}
        return is_packaged(known.get("__file__")) or "STANDS_FOR" in known

    # -- lists and dicts that live at run time

    def put_element(self, facts: Listed | Mapped, element: Facts) -> None:
        for root in facts.roots:
            if root not in self.elements:
                if any(root in rec.empty for rec in self.recursions.values() if not rec.working):
                    raise Restart(("filled", next(site for site, number in self.roots.items() if number == root)))
        super().put_element(facts, element)


def storable(s: Specialiser, value: Value) -> bool:
    """True if a value can be an element of a list that lives in a variable."""
    if isinstance(value, Leaf):
        return True
    if isinstance(value, Const):
        return isinstance(s.facts_of(value), Num) or value.value is None or isinstance(value.value, (str, Enum))
    if isinstance(value, Later):
        return storable(s, value.item)
    return isinstance(value, TupleV) and all(storable(s, v) for v in value.items)


def as_element(s: Specialiser, value: Value) -> Value:
    """A value as an element of a list that lives in a variable, where slices are objects."""
    if isinstance(value, TupleV):
        return TupleV(tuple(as_element(s, item) for item in value.items), value.cls)
    return slice_object(s, value) if is_slice(value) else value


def is_slice(value: Value) -> bool:
    """True if a value is a slice whose bounds are known."""
    return isinstance(value, SliceV) or isinstance(value, Const) and isinstance(value.value, slice)


def as_operand(s: Specialiser, value: Value) -> Value:
    """A value as an operand of a comparison, where slices are objects, also those in tuples and lists."""
    if isinstance(value, (TupleV, ListV)):
        items = tuple(as_operand(s, item) for item in value.items)
        if all(map(is_, items, value.items)):
            return value
        return ListV(items, value.site) if isinstance(value, ListV) else TupleV(items, value.cls)
    return slice_object(s, value) if is_slice(value) else value


def slice_object(s: Specialiser, value: Any) -> Leaf:
    """A variable that holds a slice."""
    if isinstance(value, Const):
        bounds: list[Value] = [Const(bound) for bound in (value.value.start, value.value.stop, value.value.step)]
    else:
        bounds = [value.start, value.stop, value.step]
    if bounds[2] == Const(None):
        bounds.pop()
    return s.let(ir.call("slice", *map(s.expr, bounds)), Opaque(slice), hint="part", may_raise=False)


def element_facts(facts: Facts) -> Facts:
    """Facts of an element: elements of one list need not agree in the lengths of their axes."""
    if isinstance(facts, Num):
        dims = None if facts.dims is None else tuple(map(blurred, facts.dims))
        return replace(facts, dims=dims, size=None)
    if isinstance(facts, Pair):
        return Pair(tuple(element_facts(f) for f in facts.items), facts.cls)
    return facts
