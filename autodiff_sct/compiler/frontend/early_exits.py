"""Early `return`, `break` and `continue`, and `else` of loops, as nested branches and flags.

Leaving early means to skip the rest of a *region*: of the function for `return`, of the loop's body for all three.
Where one branch of an `if` always leaves, the rest moves into the other branch and nothing else is needed. Where that
cannot be (a branch that leaves on some paths only, a `with`, a `try`, a loop inside), the statements that leave set a
flag and the rest is guarded by it. A loop then ends with ``if <flag>: break``. What it returns is computed after it,
where that is the same.

The rule behind it: every block is turned into one that is always left through its end, by `Exits.block`. A `Place`
says which flags a leaving statement there has to set, and which flags are known to be false.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator
from typing import Any

import gast

from autodiff_sct.compiler.frontend.builders import (
    Block,
    Names,
    Statement,
    again,
    assign,
    at,
    blocks_of,
    bound_before,
    constant,
    load,
    names_in,
    negated,
    rebuilt,
    scan,
    statements_in,
)
from autodiff_sct.errors import UnsupportedSyntax

from ...core import thresholds
from .builders import is_last_break, none_of, set_flags

FALL, RETURN, BREAK, CONTINUE = "fall", "return", "break", "continue"
LEAVING = {gast.Return: RETURN, gast.Break: BREAK, gast.Continue: CONTINUE}
EXITS = frozenset(LEAVING.values())
LOOPS = (gast.For, gast.While)


@dataclasses.dataclass(frozen=True)
class Place:
    """The facts at a place in the function.

    Attributes
    ----------
    sets : dict
        For each way to leave, the flags that it has to set to true.
    clear : frozenset of str
        Flags that are false whenever control is here.
    busy : frozenset of str
        Flags of the loops around, which a loop here must not use for itself.
    in_loop : bool
        Whether there are loops around.
    depth : int
        How deep the blocks nest that this stage made.
    later : bool
        Whether what is returned here is computed after the loops around.
    """

    sets: dict[str, tuple[str, ...]] = dataclasses.field(default_factory=lambda: dict.fromkeys(EXITS, ()))
    clear: frozenset[str] = frozenset()
    busy: frozenset[str] = frozenset()
    in_loop: bool = False
    depth: int = 0
    later: bool = False

    def cleared(self, flags: tuple[str, ...]) -> Place:
        """Return the place where `flags` are known to be false too."""
        return dataclasses.replace(self, clear=self.clear.union(flags))

    @property
    def taken(self) -> frozenset[str]:
        """The flags that mean something here."""
        return self.busy.union(self.clear, *self.sets.values())

    def deeper(self, by: int = 10) -> Place:
        """Return the place one block further in."""
        return dataclasses.replace(self, depth=self.depth + by)


def single_exit(tree: gast.FunctionDef, names: Names) -> gast.FunctionDef:
    """Return `tree` with `return` only as the last statement, and loops left only by a last ``if <flag>: break``."""
    returns = [each for each in statements_in(tree.body) if isinstance(each, gast.Return)]
    body, end = tree.body, []
    if returns == body[-1:]:
        body, end = body[:-1], returns
    exits = Exits(tree, names)
    if all(exits.is_plain(statement) for statement in body):
        return tree
    if end or all(each.value is None for each in returns):
        return rebuilt(tree, body=[*exits.block(body, Place()), *end] or [at(tree, gast.Pass())])
    exits.result = names.fresh("result")
    if FALL in exits.outcome_of_block(body):
        exits.falling_off = at(body[-1], gast.Return(None))
        body = [*body, exits.falling_off]
    end = [at(max(returns, key=lambda each: each.lineno), gast.Return(load(exits.result)))]
    return rebuilt(tree, body=exits.block(body, Place()) + end)


class Exits:
    """The rewriting of one function."""

    def __init__(self, tree: gast.FunctionDef, names: Names) -> None:
        self.tree = tree
        self.names = names
        self.result = ""
        self.falling_off: Statement = None
        # Keyed by identity; the statement is kept so that its identity stays its own.
        self._outcomes: dict[int, tuple[Statement, frozenset[str]]] = {}
        self._plain: dict[int, tuple[Statement, bool]] = {}

    @functools.cached_property
    def bound_before(self) -> dict[int, frozenset[str]]:
        return bound_before(self.tree)

    # What a statement may do

    def outcome(self, statement: Statement) -> frozenset[str]:
        """Return how control may get out of `statement`: by falling through to the next, or by leaving."""
        known = self._outcomes.get(id(statement))
        if known is None:
            known = self._outcomes[id(statement)] = statement, frozenset(self._outcome(statement))
        return known[1]

    def outcome_of_block(self, block: Block) -> frozenset[str]:
        """Return how control may get out of a list of statements."""
        found: set[str] = set()
        for statement in block:
            outcome = self.outcome(statement)
            found |= outcome - {FALL}
            if FALL not in outcome:
                return frozenset(found)
        return frozenset(found | {FALL})

    def _outcome(self, statement: Statement) -> set[str] | frozenset[str]:
        kind = type(statement)
        if kind in LEAVING:
            return {LEAVING[kind]}
        if kind is gast.Raise:
            return set()
        if kind is gast.If:
            return self.outcome_of_block(statement.body) | self.outcome_of_block(statement.orelse)
        if kind in LOOPS:
            return self._outcome_of_loop(statement)
        if kind is gast.With:
            # A context manager may swallow an exception, so that what follows runs after all.
            return self.outcome_of_block(statement.body) | {FALL}
        if kind is gast.Try:
            return self._outcome_of_try(statement)
        return {FALL}

    def _outcome_of_loop(self, loop: Statement) -> set[str] | frozenset[str]:
        body = self.outcome_of_block(loop.body)
        found = set(body & {RETURN})
        if BREAK in body:
            found.add(FALL)
        return found if _is_endless(loop) else found | self.outcome_of_block(loop.orelse)

    def _outcome_of_try(self, statement: Statement) -> set[str]:
        body = self.outcome_of_block(statement.body)
        found = set(body if FALL not in body else body - {FALL} | self.outcome_of_block(statement.orelse))
        for handler in statement.handlers:
            found |= self.outcome_of_block(handler.body)
        last = self.outcome_of_block(statement.finalbody)
        if last & EXITS:
            reason = "leaving a `finally` block by `return`, `break` or `continue` drops exceptions."
            raise UnsupportedSyntax(reason, "leave after the `try` statement.", code="exceptions")
        return found if FALL in last else found - {FALL}

    def unreachable(self, block: Block) -> Iterator[Statement]:
        """Yield the statements of a block, and of the blocks in it, that control never gets to."""
        reached = True
        for statement in block:
            if not reached:
                yield statement
            else:
                reached = FALL in self.outcome(statement)
                for inner in blocks_of(statement):
                    yield from self.unreachable(inner)

    def is_plain(self, statement: Statement) -> bool:
        """Tell whether `statement` has the form already that this stage makes."""
        known = self._plain.get(id(statement))
        if known is None:
            known = self._plain[id(statement)] = statement, self._is_plain(statement)
        return known[1]

    def _is_plain(self, statement: Statement) -> bool:
        if type(statement) in LEAVING:
            return False
        blocks = list(blocks_of(statement))
        if isinstance(statement, LOOPS):
            if statement.orelse:
                return False
            if is_last_break(statement.body[-1]) and isinstance(statement.body[-1].test, gast.Name):
                blocks = [statement.body[:-1]]
        return all(self.is_plain(each) for block in blocks for each in block)

    def leaves_late(self, statement: Statement) -> bool:
        """Tell whether code that may raise (a `finally`, a context manager's exit) runs after a leaving statement."""
        if isinstance(statement, gast.With) or (isinstance(statement, gast.Try) and statement.finalbody):
            return bool(self.outcome(statement) & EXITS)
        return any(self.leaves_late(each) for block in blocks_of(statement) for each in block)

    # Blocks

    def block(self, statements: Block, place: Place) -> Block:
        """Return statements with the same effect that are always left through their end."""
        done: Block = []
        rest = statements[::-1]
        while rest:
            statement = rest.pop()
            outcome = self.outcome(statement)
            if type(statement) in LEAVING:
                return done + self._leave(statement, place)
            if rest and outcome > {FALL} and place.depth >= thresholds.NESTED_BLOCKS:
                return done + self._flat(statement, rest[::-1], place)
            if self.is_plain(statement):
                done.append(statement)
            elif isinstance(statement, LOOPS):
                later = self._later(statement, place)
                loop, after = self._loop(statement, dataclasses.replace(place, later=later is not None or place.later))
                done += loop
                if FALL not in outcome and _is_endless(statement):
                    return done + ([] if later is None else self._leave(later, place))
                rest += after[::-1]
                if RETURN not in self.outcome_of_block(statement.body):
                    continue
                if later is not None and rest and _is_same(later, rest[-1]):
                    continue
                if later is None:
                    return done + self._guard((self._returned,), rest[::-1], place, statement)
                return done + self._either(later, rest[::-1], place)
            elif outcome & EXITS:
                return done + self._split(statement, rest[::-1] if FALL in outcome else [], place)
            else:
                done += self._split(statement, [], place)
            if FALL not in outcome:
                break
        return done

    @property
    def _returned(self) -> str:
        return self.names.free("returned", frozenset())

    def _leave(self, statement: Statement, place: Place) -> Block:
        kind = LEAVING[type(statement)]
        done = []
        if kind == RETURN and self.result and not place.later:
            done.append(at(statement, assign(self.result, statement.value or constant(None))))
        return done + set_flags(place.sets[kind], True, statement)

    def _later(self, loop: Statement, place: Place) -> Statement | None:
        """Return the `return` of a loop, where there is one, or several alike, and it may as well be done after it."""
        returns = [each for each in statements_in(loop.body) if isinstance(each, gast.Return)]
        if place.in_loop or not self.result or not returns or any(map(_returns_through_more, loop.body)):
            return None
        made = scan([loop])[0]
        for each in returns:
            # A name of the step's own is as well assigned there: nothing else is carried out of the loop for it.
            known = self.bound_before.get(
                id(loop if isinstance(each.value, (gast.Name, gast.Tuple)) else each), frozenset()
            )
            if not _is_same(each, returns[0]) or not made.isdisjoint({*names_in(each)} - known):
                return None
        later = again(returns[0])
        for each in gast.walk(later):
            each.bound = True  # where the loop is left: nothing has to look
        return later

    def _either(self, later: Statement, rest: Block, place: Place) -> Block:
        """Return what a loop has left for after it, and the rest for where nothing was returned."""
        inside = place.cleared((self._returned,)).deeper()
        return [at(later, gast.If(load(self._returned), self._leave(later, place), self.block(rest, inside)))]

    def _guard(self, flags: tuple[str, ...], rest: Block, place: Place, origin: Statement) -> Block:
        """Return `rest` under ``if not flag``."""
        after = self.block(rest, place.cleared(flags).deeper())
        return [at(origin, gast.If(none_of(flags), after, []))] if after else []

    def _flags(self, kinds: frozenset[str], place: Place) -> tuple[tuple[str, ...], Place]:
        """Return the flags that tell whether one of `kinds` took place, and the place where they are set."""
        flags: list[str] = []
        sets = dict(place.sets)
        if BREAK in kinds:
            # The flag of the loop: a `return` sets it too.
            flags.append(sets[BREAK][0])
        elif RETURN in kinds:
            flags.append(self._returned)
            sets[RETURN] = _with(sets[RETURN], self._returned)
        if CONTINUE in kinds:
            if not sets[CONTINUE]:
                sets[CONTINUE] = (self.names.free("skip", place.busy.union(*sets.values())),)
            flags += sets[CONTINUE]
        return tuple(flags), dataclasses.replace(place, sets=sets).cleared(tuple(flags))

    # Statements

    def _split(self, statement: Statement, rest: Block, place: Place) -> Block:
        """Return `statement` followed by the `rest` that it may skip."""
        if isinstance(statement, gast.If):
            return self._if(statement, rest, place)
        if isinstance(statement, gast.With):
            return self._with(statement, rest, place)
        return self._try(statement, rest, place)

    def _if(self, statement: Statement, rest: Block, place: Place) -> Block:
        body, orelse = statement.body, statement.orelse
        if rest:
            if FALL not in self.outcome_of_block(body):
                is_elif = not orelse and isinstance(rest[0], gast.If)
                return [self._choice(statement, body, orelse + rest, place.deeper(4 if is_elif else 10))]
            if FALL not in self.outcome_of_block(orelse):
                return [self._choice(statement, body + rest, orelse, place.deeper())]
            if not place.in_loop and self._is_small(rest):
                return [self._choice(statement, body + rest, orelse + [again(rest[0])], place)]
        return self._guarded(statement, rest, place)

    def _is_small(self, rest: Block) -> bool:
        # A copy of `return x` reads better than a flag.
        return isinstance(rest[0], gast.Return) and isinstance(rest[0].value, (gast.Name, gast.Constant, type(None)))

    def _choice(self, statement: Statement, body: Block, orelse: Block, place: Place) -> Statement:
        yes, no = self.block(body, place), self.block(orelse, place)
        if no and not yes:
            return at(statement, gast.If(negated(statement.test), no, []))
        return rebuilt(statement, body=yes or [at(statement, gast.Pass())], orelse=no)

    def _guarded(self, statement: Statement, rest: Block, place: Place) -> Block:
        flags, inside, after = self._watch(statement, rest, place)
        start = self._start(flags, place, statement)
        return [*start, self._choice(statement, statement.body, statement.orelse, inside), *after]

    def _watch(self, statement: Statement, rest: Block, place: Place) -> tuple[tuple[str, ...], Place, Block]:
        """Return the flags that guard `rest`, the place inside of `statement` where they are set, and the guard."""
        if rest:
            flags, inside = self._flags(self.outcome(statement) & EXITS, place)
            after = self._guard(flags, rest, place, statement)
            if after:
                return flags, inside, after
        return (), place, []

    def _start(self, flags: tuple[str, ...], place: Place, origin: Statement) -> Block:
        return set_flags(tuple(flag for flag in flags if flag not in place.clear), False, origin)

    def _flat(self, statement: Statement, rest: Block, place: Place) -> Block:
        """Return `statement` and `rest` with one guard after the other."""
        kinds = self.outcome_of_block([statement, *rest]) & EXITS
        flags, inside = self._flags(kinds, place)
        done = self._start(flags, place, statement) + self.block([statement], inside)
        segment: Block = []
        for each in rest:
            segment.append(each)
            outcome = self.outcome(each)
            if outcome != {FALL} or each is rest[-1]:
                done += self._guard(flags, segment, inside, segment[0])
                segment = []
            if FALL not in outcome:
                break
        return done

    def _with(self, statement: Statement, rest: Block, place: Place) -> Block:
        kinds = self.outcome(statement) & EXITS
        if kinds and len(statement.items) > 1:
            inner = rebuilt(statement, items=statement.items[1:])
            statement = rebuilt(statement, items=statement.items[:1], body=[inner])
        late = bool(kinds) and any(map(self.leaves_late, statement.body))
        if rest == [self.falling_off] and not late:
            start, inside = [self._nothing_yet(statement)], place
            after: Block = []
        else:
            flags, inside, after = self._watch(statement, rest, place)
            start = self._start(flags, place, statement)
        body = self.block(statement.body, inside) or [at(statement, gast.Pass())]
        cut_short = _to_undo(kinds, inside) if late else ()
        if cut_short:
            # The outer manager may swallow what an inner one raises on the way out: then nothing was left.
            finished = self.names.fresh("finished")
            start += set_flags((finished,), False, statement)
            body += set_flags((finished,), True, statement)
            after = [at(statement, gast.If(none_of((finished,)), set_flags(cut_short, False, statement), [])), *after]
        return [*start, rebuilt(statement, body=body), *after]

    def _nothing_yet(self, origin: Statement) -> Statement:
        return at(origin, assign(self.result, constant(None)))

    def _try(self, statement: Statement, rest: Block, place: Place) -> Block:
        body = self.outcome_of_block(statement.body)
        handlers_leave = all(FALL not in self.outcome_of_block(each.body) for each in statement.handlers)
        if rest and not body & EXITS and handlers_leave and not statement.finalbody:
            # Nothing but success gets past this statement, and success has a place in it.
            deeper = place.deeper()
            return [self._rebuilt_try(statement, self.block(statement.orelse + rest, deeper), (), place)]
        late = bool(body & EXITS) and any(map(self.leaves_late, statement.body))
        late_anywhere = any(self.leaves_late(each) for block in blocks_of(statement) for each in block)
        if rest == [self.falling_off] and not late_anywhere and not (body & EXITS and statement.orelse):
            return [self._nothing_yet(statement), *self._try(statement, [], place)]
        flags, inside, after = self._watch(statement, rest, place)
        orelse = statement.orelse if FALL in body else []
        if orelse and body & EXITS:
            if not flags:
                flags, inside = self._flags(body & EXITS, place)
            orelse = self._guard(flags, orelse, inside, statement)
        else:
            orelse = self.block(orelse, inside)
        undone = _to_undo(body & EXITS, inside) if late else ()
        return [*self._start(flags, place, statement), self._rebuilt_try(statement, orelse, undone, inside), *after]

    def _rebuilt_try(self, statement: Statement, orelse: Block, undone: tuple[str, ...], place: Place) -> Statement:
        """Return the `try` with its parts rewritten; a handler first clears the flags in `undone`."""
        handlers = [
            rebuilt(each, body=set_flags(undone, False, each) + self.block(each.body, place) or [at(each, gast.Pass())])
            for each in statement.handlers
        ]
        body = self.block(statement.body, place) or [at(statement, gast.Pass())]
        finalbody = self.block(statement.finalbody, place)
        return rebuilt(statement, body=body, handlers=handlers, orelse=orelse, finalbody=finalbody)

    def _loop(self, loop: Statement, place: Place) -> tuple[Block, Block]:
        """Return the loop, and the statements of its `else` that come after it."""
        *body, last = loop.body
        if is_last_break(last) and self.outcome_of_block(body) == {FALL}:
            return self._loop_until(loop, body, last, place)
        outcome = self.outcome_of_block(loop.body)
        stop = self.names.free("stop", place.taken) if BREAK in outcome else ""
        leaving = place.sets[RETURN]
        if RETURN in outcome:
            leaving = _with(_with(leaving, self._returned), stop)
        flags = ((self._returned,) if RETURN in outcome else ()) + ((stop,) if stop else ())
        sets = {RETURN: leaving, BREAK: (stop,) if stop else (), CONTINUE: ()}
        inside = Place(sets, place.clear.union(flags), place.taken, True, place.depth, place.later)
        new_body = self.block(loop.body, inside)
        if flags:
            new_body.append(_last_break(flags[-1], loop))
        start = self._start(flags[:1] if RETURN in outcome else (), place, loop)
        start += set_flags((stop,), False, loop) if stop else []
        new_loop = rebuilt(loop, body=new_body or [at(loop, gast.Pass())], orelse=[])
        return [*start, new_loop], _otherwise(loop, stop)

    def _loop_until(self, loop: Statement, body: Block, last: Statement, place: Place) -> tuple[Block, Block]:
        """Return a loop whose body ends with ``if test: break`` and is left nowhere else."""
        inside = dataclasses.replace(place, busy=place.taken, in_loop=True)
        if isinstance(last.test, gast.Name) and not loop.orelse:
            return [rebuilt(loop, body=[*self.block(body, inside), last])], []
        stop = self.names.free("stop", place.taken)
        new_body = [*self.block(body, inside), at(last, assign(stop, last.test)), _last_break(stop, last)]
        start = set_flags((stop,), False, loop) if loop.orelse else []
        return [*start, rebuilt(loop, body=new_body, orelse=[])], _otherwise(loop, stop)


def _to_undo(kinds: frozenset[str], place: Place) -> tuple[str, ...]:
    """Return the flags that may be set at `place` although an exception then stopped control from leaving."""
    return tuple(sorted((place.clear - place.busy).union(*(place.sets[kind] for kind in kinds))))


def _returns_through_more(statement: Statement) -> bool:
    """Tell whether a statement of a loop returns from inside a `with` or a `try`, which have more to do then."""
    if isinstance(statement, (gast.With, gast.Try)):
        return any(isinstance(each, gast.Return) for each in statements_in([statement]))
    return any(_returns_through_more(each) for block in blocks_of(statement) for each in block)


def _is_same(one: Statement, other: Statement) -> bool:
    """Tell whether both statements return the same."""
    return isinstance(other, gast.Return) and gast.dump(one) == gast.dump(other)


def _is_endless(loop: Statement) -> bool:
    return isinstance(loop, gast.While) and isinstance(loop.test, gast.Constant) and bool(loop.test.value)


def _otherwise(loop: Statement, stop: str) -> Block:
    """Return what runs after a loop in place of its `else`."""
    orelse = [] if _is_endless(loop) else loop.orelse
    return [at(orelse[0], gast.If(none_of((stop,)), orelse, []))] if orelse and stop else orelse


def _last_break(flag: str, origin: Any) -> Statement:
    return at(origin, gast.If(load(flag), [gast.Break()], []))


def _with(flags: tuple[str, ...], flag: str) -> tuple[str, ...]:
    return flags if not flag or flag in flags else (*flags, flag)
