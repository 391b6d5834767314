"""One emitted function, and what has to hold for it to be used again."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from itertools import repeat
from operator import attrgetter, is_
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from ...core.highlight import SourceText
from ...errors import AliasError, ArgumentValueError
from ...notebook_cells import in_cells
from ...runtime.broadcast import are_floats
from ..codegen.load import imports_of
from ..domain.assumptions import Sizes, check_of
from ..domain.dependencies import CodeRead, GlobalRead, Guard
from ..domain.facts import Num
from ..domain.pytree import Branch, Leaf, Listing, children, key
from ..domain.request import Emitted, Way
from .argument_binding import wrap_by


class Variant:
    """One emitted function, and what has to hold for it to be used."""

    def __init__(
        self,
        emitted: Emitted,
        names: tuple[str, ...] = (),
        wrt: tuple[int, ...] = (),
        fn: Any = None,
        asked: tuple[dict[str, Any], tuple[str, ...]] | None = None,  # what `Compiled.request` is made of
        weights: tuple[Any, ...] = (),
    ) -> None:
        self.asked, self.lists, self.again = asked, emitted.lists, emitted.again
        self.ways: frozenset[Way] = frozenset()  # in which it was compiled
        self.sizes = Sizes()  # of its arguments, with what it assumes of them
        self.revived = False  # whether it comes from the disk cache
        self.used = 0  # how many variants there were when it was chosen last
        self.other: Variant | None = None  # without lists, and careful with Python's floats
        self.strong: dict[str, Variant] = {}  # with strong zeros, by their kind
        self.first: Variant | None = None  # with which calls begin since one returned a NaN
        self.may_be_nan = emitted.singular and not emitted.effects  # where it is, the call may be repeated
        self.emitted, self.names, self.wrt, self.code = emitted, names, wrt, getattr(fn, "__code__", None)
        assert emitted.function is not None
        self.function = emitted.function
        self.module = getattr(fn, "__module__", None) or ""
        self.origins = getattr(emitted.function, "__autodiff_origins__", {})
        self.keys = [key(e.read()) for e in emitted.externals]
        self.weights = {id(w): k for k, w in enumerate(weights)}
        self.places = [self.weights.get(id(e.read())) for e in emitted.externals] if weights else []
        self.written = emitted.written
        self.changed, self.rebound = emitted.changed, emitted.rebound
        self.wrap = emitted.wrap
        self.count = emitted.count
        self.tensors = emitted.tensors
        self.swapped = asked is not None and any(is_swapped(tree) for _, tree in asked[0].values())
        dressed = self.tensors or self.swapped
        # A call leaves nothing behind, not even where it fails half-way.
        self.pure = not (emitted.effects or emitted.written or emitted.changed or emitted.rebound or emitted.outside)
        self.is_plain = not (emitted.externals or emitted.written or emitted.rebound or emitted.outside or dressed)
        self.guards = distinct(emitted.guards, self.code)
        # Of arguments of the same kinds, and of those among them whose shapes were met before.
        self.check = check_of(emitted.assumed)
        self.check_again = check_of([a for a in emitted.assumed if not a.is_of_shapes(len(names))])
        # Whether it holds as long as the function's code is the same.
        self.steady = self.code is not None and not (self.guards or emitted.externals)

    @property
    def text(self) -> str:
        lines = imports_of(self.emitted.namespace, self.module, self.emitted.text)
        text = "\n".join([*lines, "", "", self.emitted.text]) if lines else self.emitted.text
        return SourceText(in_cells(text, [origin.file for origin in self.origins.values()]))

    def holds(self, fn: Any) -> bool:
        """True if the world is still as it was when this was compiled."""
        if self.code is not None and getattr(fn, "__code__", None) is not self.code:
            return False
        try:
            for guard in self.guards:
                if not guard.holds():
                    return False
            outside = [external.read() for external in self.emitted.externals]
        except GONE:
            return False
        if [key(value) for value in outside] != self.keys:
            return False
        # Tied weights are one, and another than was one may be in its place.
        return not self.places or [self.weights.get(id(value)) for value in outside] == self.places

    def serves(self, values: tuple[Any, ...]) -> bool:
        """True if the sizes of arguments are as the program assumes."""
        return self.check is None or self.check((*values, *[e.read() for e in self.emitted.externals]))

    def serves_again(self, values: tuple[Any, ...]) -> bool:
        """The same for arguments of shapes that it has served."""
        return self.check_again is None or self.check_again((*values, *[e.read() for e in self.emitted.externals]))

    def wrap_output(self, value: Any) -> Any:
        return value if self.wrap is None else wrap_by(self.wrap, value)


def is_swapped(tree: Any) -> bool:
    """True if an argument holds an array whose bytes are in another order than the machine's."""
    if isinstance(tree, Branch):
        return any(map(is_swapped, tree.children))
    facts = tree.facts if isinstance(tree, Leaf) else None
    if isinstance(tree, Listing):
        return is_swapped(tree.element)
    return isinstance(facts, Num) and facts.dtype is not None and not facts.dtype.isnative


class CodesGuard:
    """The code of some functions must stay what it was, each looked at once however often the function is called."""

    def __init__(self, reads: Iterable[tuple[FunctionType, CodeType]]) -> None:
        different = {(id(fn), id(code)): (fn, code) for fn, code in reads}
        self.functions, self.codes = zip(*different.values())

    def holds(self) -> bool:
        return all(map(is_, map(CODE, self.functions), self.codes))


class TableGuard:
    """Names of a module must mean what they meant: as long as it holds the very same under them, they do."""

    def __init__(self, guards: list[Any]) -> None:
        self.guards = guards
        self.names = [guard.read.name for guard in guards]
        self.get = guards[0].read.table.get
        self.held: list[Any] = []

    def holds(self) -> bool:
        held = list(map(self.get, self.names, repeat(ABSENT)))
        if len(self.held) == len(held) and all(map(is_, held, self.held)):
            return True
        if not all(guard.holds() for guard in self.guards):
            return False
        self.held = held
        return True


OUTSIDE = "something outside the function"
GONE = (AttributeError, LookupError, TypeError, ValueError)  # what was read is no longer there, or holds no such thing
CODE = attrgetter("__code__")
ABSENT = object()


def distinct(guards: Iterable[Any], own: CodeType | None) -> list[Any]:
    """Guards, with one for the names of each module, and one for the code of all functions.

    The code of the one that is called is looked at by `Variant.holds`.
    """
    others: dict[int, Any] = {}
    codes: list[tuple[FunctionType, CodeType]] = []
    tables: dict[int, list[Guard]] = {}
    for guard in guards:
        if not isinstance(guard, Guard):
            others[id(guard)] = guard
        elif isinstance(guard.read, GlobalRead):
            tables.setdefault(id(guard.read.table), []).append(guard)
        elif not isinstance(guard.read, CodeRead):
            others[id(guard)] = guard
        elif guard.expected is not own:
            codes.append((guard.read.fn, guard.expected))
    of_tables = [TableGuard(names) for names in tables.values()]
    return [*of_tables, *others.values(), *([CodesGuard(codes)] if codes else [])]


def check_overlap(called: str, variant: Variant, given: list[Any], outside: list[Any]) -> None:
    """Arrays that share memory, one of which the program writes, would have to be copied together."""
    symbols = [external.symbol for external in variant.emitted.externals]
    arrays = [(n, a) for n, v in zip([*variant.names, *symbols], [*given, *outside]) for a in arrays_in(v, set())]
    for k, (name, value) in enumerate(arrays):
        for other, array in arrays[:k]:
            written = {name, other} & variant.written
            if written and np.may_share_memory(value, array) and np.shares_memory(value, array):
                raise AliasError(
                    f"the arguments {other!r} and {name!r} of {called} share memory, and one of them is written"
                    if name != other
                    else f"the argument {name!r} of {called} holds an array twice, and is written",
                    "pass a copy of one of them",
                    code="shared-arguments",
                )


def check_writable(called: str, variant: Variant, given: list[Any]) -> None:
    """Arrays that the program writes, of which it is given copies, which can be written otherwise than they."""
    for name, value in zip(variant.names, given):
        if any(changed.startswith(name) for changed in variant.changed):
            for place, reason in unlike_copies(value, name, set()):
                if any(place == changed or place.startswith(f"{changed}[") for changed in variant.changed):
                    raise ArgumentValueError(f"{place!r} {reason}, and {called} writes into it: pass a copy")


def check_order(called: str, variant: Variant, given: list[Any]) -> None:
    """Arrays that the program writes and that are copied in C order, where the order matters."""
    for name, value in zip(variant.names, given):
        if name in variant.written and not all(a.flags.c_contiguous for a in arrays_in(value, set())):
            raise AliasError(
                f"the argument {name!r} of {called} is written and does not lie in C order, "
                "and whether a view of it is a copy depends on that",
                "pass it in C order (`np.ascontiguousarray`)",
                code="memory-order",
            )


def arrays_in(value: Any, seen: set[int]) -> Iterator[np.ndarray]:
    """The arrays in an argument; an object is looked into once."""
    if isinstance(value, np.ndarray):
        yield value
    elif (inside := children(value)) is not None and id(value) not in seen:
        seen.add(id(value))
        for part in inside.values() if may_hold_more(value) else ():
            yield from arrays_in(part, seen)


def check_distinct(called: str, variant: Variant, given: list[Any], outside: list[Any]) -> None:
    """Lists, dicts and objects of which the program changes something are received as if each were in one place."""
    seen: dict[int, str] = {}
    for external, value in zip(variant.emitted.externals, outside):
        if isinstance(value, (list, dict)):
            deque(met_again(value, f"{external.symbol} (outside)", seen), 0)
    seen |= {id(read()): OUTSIDE for read in variant.emitted.outside}
    for name, value in zip(variant.names, given):
        for place, other in met_again(value, name, seen):
            published = other == OUTSIDE and variant.emitted.published
            if published or any(touches(rebound, p) for rebound in variant.rebound for p in (place, other)):
                reason = f"{other!r} and {place!r} of {called} are one object, and it is changed"
                raise AliasError(reason, "pass a copy of one of them", code="shared-arguments")


def met_again(value: Any, place: str, seen: dict[int, str]) -> Iterator[tuple[str, str]]:
    """The places where there is a list, a dict or an object that has been in another place; `seen` are those."""
    inside = None if isinstance(value, np.ndarray) else children(value)
    if not inside:
        return
    if not isinstance(value, tuple) and seen.setdefault(id(value), place) != place:
        yield place, seen[id(value)]
        return
    for k, part in inside.items() if may_hold_more(value) else ():
        yield from met_again(part, place_in(value, place, k), seen)


def may_hold_more(value: Any) -> bool:
    """True if a container may hold arrays and containers, and not only numbers."""
    return not (isinstance(value, (list, tuple)) and are_floats(value))


def touches(rebound: str, place: str) -> bool:
    """True if what is changed is in a place, or that in a list of which anything may be."""
    changed = rebound.removesuffix("[")
    inside = changed == place or changed.startswith((f"{place}[", f"{place}."))
    return inside or (changed != rebound and place.startswith(rebound))


def place_in(value: Any, place: str, key: Any) -> str:
    """The place of a part of a container, as one would write it."""
    return f"{place}[{key!r}]" if isinstance(value, (tuple, list, dict)) else f"{place}.{key}"


def unlike_copies(value: Any, place: str, seen: set[int]) -> Iterator[tuple[str, str]]:
    """The places of the arrays in an argument whose copies are written otherwise; an object is looked into once."""
    if isinstance(value, np.ndarray):
        if not value.flags.writeable:
            yield place, "is read-only"
        elif meets_itself(value):
            yield place, "shows the same memory in several of its elements"
    elif (inside := children(value)) is not None and id(value) not in seen:
        seen.add(id(value))
        for k, part in inside.items() if may_hold_more(value) else ():
            yield from unlike_copies(part, place_in(value, place, k), seen)


def meets_itself(array: np.ndarray) -> bool:
    """True if elements of an array may lie in the same memory, as those of `as_strided` do.

    The steps along its axes tell: each leads past all that the shorter ones reach.
    """
    if array.flags.forc or array.size == 0:
        return False
    reach = array.itemsize
    for step, length in sorted((abs(step), n) for step, n in zip(array.strides, array.shape) if n > 1):
        if step < reach:
            return True
        reach += step * (length - 1)
    return False


ASSUMING = 4  # variants of one kind that differ in what they assume: the next one assumes nothing
MOST = 128  # variants that are kept of one function, besides those of the shapes that it met


class Variants:
    """Variants by the kinds of their arguments; those of one kind differ in the world that they were compiled for."""

    def __init__(self) -> None:
        self.age = 0  # how many were compiled
        self.by_kinds: dict[Any, tuple[Variant, ...]] = {}

    def find(self, kinds: Any, fn: Any, values: tuple[Any, ...]) -> Variant | None:
        """The variant that was compiled for such arguments and for the world as it is."""
        for variant in self.by_kinds.get(kinds, ()):
            if variant.holds(fn) and variant.serves(values):
                variant.used = self.age
                return variant
        return None

    def __iter__(self) -> Iterator[Variant]:
        """All variants, those that calls are repeated with among them."""
        several = [variant for variants in self.by_kinds.values() for variant in variants]
        for each in several:
            yield each
            several += [*([each.other] if each.other else []), *each.strong.values()]

    def may_assume(self, kinds: Any) -> bool:
        """True if few of the variants of a kind assume anything of the sizes of arguments."""
        return sum(variant.check is not None for variant in self.by_kinds.get(kinds, ())) < ASSUMING

    def keep(self, kinds: Any, variant: Variant) -> None:
        """Keep a variant, and drop the one that was used least recently where there are too many."""
        self.age += 1
        variant.used = self.age
        # Those that assume more come first.
        several = (variant, *self.by_kinds.get(kinds, ()))
        self.by_kinds[kinds] = tuple(sorted(several, key=lambda each: each.check is None))
        every = [(each, place) for place, several in self.by_kinds.items() for each in several]
        if len(every) > MOST:
            oldest, place = min(every, key=lambda kept: kept[0].used)
            self.by_kinds[place] = tuple(each for each in self.by_kinds[place] if each is not oldest)
            if not self.by_kinds[place]:
                del self.by_kinds[place]
