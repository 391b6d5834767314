"""Dispatch from a call to an emitted function: one compiled variant for each kind of arguments, chosen by facts.

A variant is used again as long as the arguments' key is the same and its guards hold: functions, flags and strings that
it was compiled against are unchanged, and what it reads from outside has the same kind as then.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from types import FunctionType
from typing import Any, cast

import numpy as np

from ...core import deep_stack, thresholds
from ...core.highlight import SourceText
from ...core.process_state import IMPORTING, Lock, part
from ...errors import REPEATABLE, Degenerate, Refused
from ...runtime.apart import Apart
from ..codegen.load import move_to_file, note_origin
from ..domain.assumptions import Sizes, sizes_of
from ..domain.pytree import describe, key
from ..domain.request import Attempt, Emitted, Request, Way
from . import attempts, cache, compile_log
from .argument_binding import Binding, Slot, general_tree, refuse_endless, seeds_in, unwrapped, wrapped_like
from .attempts import granted_by, holds_nan, settings_of
from .specialization import Variant, Variants, check_distinct, check_order, check_overlap, check_writable

ARRAY = np.ndarray
MET = 512  # combinations of shapes that are remembered, none of which keeps a function alive
OF_LISTS = (ArithmeticError, IndexError, ValueError)  # what lists and floats raise where arrays do not, or otherwise
TOLD = frozenset(("raise", "call", "print", "log"))


class Compiled(Binding):
    """A callable, what is wanted of it, and the variants compiled so far."""

    split = False
    assuming = True  # whether programs may rely on how the sizes of the arguments of a call compare

    def __init__(
        self,
        fn: Any,
        positions: tuple[int, ...],
        weights: tuple[Any, ...],
        has_aux: bool,
        seeded: bool,
        value: bool,
        backend: str = "numpy",
    ) -> None:
        self.backend, self.explain = backend, False
        self.memory: int | None = None
        super().__init__(fn, positions)
        self.weights = weights
        self.has_aux, self.seeded, self.value = has_aux, seeded, value
        direct = self.simple and not (seeded or has_aux)
        self.arity = len(self.parameters) if direct else -1  # of calls that may go a short way
        self.met: dict[Any, Variant] = {}  # by the kinds of their arguments
        self.original: Any = None  # a weak reference to the function of which `fn` is a twin (see `entry`)
        self.variants = Variants()
        self.lock = Lock()
        self.latest: Variant | None = None
        self.by_settings = frozenset[Way]()  # in which programs are compiled for very integers or lengths

    def variant(
        self, slots: tuple[Slot, ...], values: tuple[Any, ...], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Variant:
        try:
            found_key = self.key_of(values, args, kwargs)
            known = self.variants.find(found_key, self.fn, values)
            return self.compiled(found_key, slots, values, args, kwargs) if known is None else known
        except RecursionError:
            refuse_endless(self.name, {name: value for (name, _), value in zip(slots, values)})
            raise

    def compiled(
        self,
        found_key: Any,
        slots: tuple[Slot, ...],
        values: tuple[Any, ...],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Variant:
        """A new variant, or one that another thread has compiled meanwhile."""
        with self.lock, deep_stack.paused():
            if (known := self.variants.find(found_key, self.fn, values)) is not None:
                return known
            started = time.perf_counter()
            sizes = self.sizes(found_key, slots, values)
            variant = self.compile(slots, values, self.wanted(args, kwargs), sizes)
            compile_log.note(self, found_key, slots, values, variant, time.perf_counter() - started)
            self.variants.keep(self.key_of(values, args, kwargs), variant)
            self.latest = variant
            return variant

    def key_of(self, values: tuple[Any, ...], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The key that tells calls apart which one variant serves."""
        kinds = (tuple([key(v) for v in values]), tuple(kwargs) if kwargs else len(args))
        return (*kinds, settings_of(values, self.by_settings)) if self.by_settings else kinds

    def sizes(self, kinds: Any, slots: tuple[Slot, ...], values: tuple[Any, ...]) -> Sizes:
        """The sizes of arguments, of which the next variant may assume something."""
        assuming = self.assuming and self.variants.may_assume(kinds)
        return sizes_of({name: value for (name, _), value in zip(slots, values)}) if assuming else Sizes()

    def compile(self, slots: tuple[Slot, ...], values: tuple[Any, ...], wrt: tuple[str, ...], sizes: Sizes) -> Variant:
        names = [name for name, _ in slots]
        asked = self.trees(slots, values), wrt
        file = cache.wanted(self, slots, values, wrt)
        emitted, ways = cache.find(file, self.fn, values), frozenset[Way]()
        revived = emitted is not None
        if emitted is None:
            with IMPORTING:
                part("compiler")
            emitted, granted = granted_by(self.repeatable, replace(self.request(*asked), sizes=sizes), values)
            asked, ways = (granted.parameters, wrt), granted.attempt.ways
            if by := ways & {Way.INTEGERS, Way.LENGTHS}:
                self.tell_apart(by)
                file = None
            if self.backend != "numba" or hasattr(emitted.function, "plain"):  # else the next process is to warn too
                cache.keep(file, self.fn, emitted)
        variant = Variant(emitted, tuple(names), tuple(names.index(n) for n in wrt), self.fn, asked, self.weights)
        variant.ways, variant.revived = ways, revived
        variant.sizes = sizes.following(emitted.assumed)
        return variant

    def tell_apart(self, ways: frozenset[Way]) -> None:
        """Tell calls apart by the integers or lengths that they are given, from now on."""
        self.by_settings, self.arity = self.by_settings | ways, -1
        self.met.clear()

    def emit(self, request: Request) -> Emitted:
        """Compile."""
        found: Emitted = part("compiler").adjoint(request)
        return found

    def repeatable(self, request: Request) -> Emitted:
        """The program that is asked for; derivatives inside have strong zeros where a call of it cannot be repeated."""
        from ..ad.strong_zeros import SINGULAR

        emitted = self.best(request)
        late = emitted.effects and request.attempt.derivatives and not request.strong
        return self.best(replace(request, strong=SINGULAR)) if late else emitted

    def variant_of(self, variant: Variant, **settings: Any) -> Variant:
        """The variant that is compiled with other settings."""
        assert variant.asked is not None
        request = replace(self.request(*variant.asked), attempt=Attempt(variant.ways), sizes=variant.sizes, **settings)
        emitted, _ = granted_by(self.emit, request)
        return Variant(emitted, variant.names, variant.wrt, self.fn, variant.asked, self.weights)

    def on_arrays(self, variant: Variant) -> Variant:
        """The variant whose loops have no arrays as lists, and whose derivatives are NumPy's numbers."""
        with self.lock, deep_stack.paused():
            if variant.other is None:
                variant.other = self.variant_of(variant, lists=False, careful=True)
            return variant.other

    def best(self, request: Request) -> Emitted:
        """The program that is asked for; one that was to be native and is not, is emitted as NumPy programs are."""
        found = self.emit(request)
        if request.backend == "numpy" or hasattr(found.function, "plain"):
            return found
        return self.emit(replace(request, backend="numpy"))

    def request_of(self, slots: tuple[Slot, ...], values: tuple[Any, ...], wrt: tuple[str, ...]) -> Request:
        """The request to the compiler for these arguments."""
        return replace(self.request(self.trees(slots, values), wrt), sizes=self.sizes(None, slots, values))

    def trees(self, slots: tuple[Slot, ...], values: tuple[Any, ...]) -> dict[str, Any]:
        """The trees of the arguments."""
        return {name: (kind, describe(v, name, fields=True)) for (name, kind), v in zip(slots, values)}

    def request(self, parameters: dict[str, Any], wrt: tuple[str, ...]) -> Request:
        from ..ad.strong_zeros import NONE, SINGULAR

        return Request(
            self.fn,
            parameters,
            wrt,
            self.weights,
            self.has_aux,
            self.seeded,
            self.split,
            self.value or self.has_aux,
            self.name,
            self.backend,
            self.memory,
            self.explain,
            strong=SINGULAR if self.split else NONE,
        )

    def call(self, variant: Variant, values: tuple[Any, ...], seeds: tuple[Any, ...] = ()) -> Any:
        """Run a variant on arguments, unwrapped; on arrays only where a list does what an array does not."""
        if variant.lists and floats_may_raise():
            variant = self.on_arrays(variant)
        emitted = variant.emitted
        given, outside = list(values), [e.read() for e in emitted.externals]
        if variant.tensors:
            given, outside = [unwrapped(v) for v in given], [unwrapped(v) for v in outside]
        if variant.rebound:
            check_writable(self.name, variant, given)
        if variant.rebound or emitted.outside:
            check_distinct(self.name, variant, given, outside)
        if variant.written:
            check_overlap(self.name, variant, given, outside)
            if emitted.ordered:
                check_order(self.name, variant, given)
        assert emitted.function is not None
        started = time.perf_counter()
        try:
            return emitted.function(*given, *outside, *seeds)
        except Exception as error:
            if not may_be_of_floats(variant, error):
                note_origin(error, variant.origins, emitted.function.__code__.co_filename)
                mark_repeatable(error, variant, started)
                raise
        except Apart as passing:
            raise_refusal(passing)
            raise
        return self.call(self.on_arrays(variant), values, seeds)

    def derive(self, variant: Variant, values: tuple[Any, ...], seeds: tuple[Any, ...] = ()) -> Any:
        """Run a variant, or another program where its derivatives fail."""
        return attempts.derive(self, variant, values, seeds)

    def derivatives_in(self, variant: Variant, result: Any) -> Any:
        """The part of what an emitted function returned that is derivatives."""
        raise NotImplementedError

    def with_derivatives(self, value: Any, found: tuple[Any, ...]) -> Any:
        """The result of an emitted function: a value and derivatives."""
        return (value, *found)

    # -- looking at it

    def general_source(self) -> str:
        """The text of the adjoint for arguments of any kind."""
        return Variant(self.general(), fn=self.fn).text if self.parameters else self.source()

    def source(self, *args: Any, **kwargs: Any) -> str:
        """The text of the adjoint for these arguments; the general one without any."""
        if not args and not kwargs and self.parameters:
            return self.latest.text if self.latest is not None else self.general_source()
        slots, values = self.bind(args, kwargs)
        return self.variant(slots, values, args, kwargs).text

    def function_for(self, *args: Any, **kwargs: Any) -> Callable[..., Any]:
        """The emitted function for these arguments."""
        slots, values = self.bind(args, kwargs)
        return cast(Callable[..., Any], self.variant(slots, values, args, kwargs).emitted.function)

    def save(self, path: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Let the program for these arguments, or the latest without any, run from a file."""
        if self.latest is not None and self.parameters and not (args or kwargs):
            function = cast(Callable[..., Any], self.latest.emitted.function)
        else:
            function = self.function_for(*args, **kwargs)
        move_to_file(function, path)

    def functions(self) -> list[Callable[..., Any]]:
        """All emitted functions so far."""
        return [cast(Callable[..., Any], v.emitted.function) for v in self.variants]

    def stage(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
        """The text of one stage of the pipeline."""
        from .dump import text_of_stage

        return SourceText(text_of_stage(self, name, args, kwargs))

    def general(self) -> Emitted:
        """The program for arguments of any kind, where one is enough for all."""
        try:
            return granted_by(self.best, self.general_request())[0]
        except Refused as error:
            example = ", ".join(p.name for p in self.parameters)
            raise type(error)(
                f"{error.reason}; this is asked without example arguments, for arguments of any kind",
                f"give example arguments: `ad.adjoint_source({self.name}, {example})`, `show ... --args`",
                error.origin,
            ) from None

    def general_request(self) -> Request:
        parameters = {p.name: (p.kind, general_tree(p)) for p in self.parameters}
        names = list(parameters)
        return self.request(parameters, tuple(names[k] for k in self.positions if k < len(names)))


class Adjoint(Compiled):
    """Values and gradients."""

    def request(self, parameters: dict[str, Any], wrt: tuple[str, ...]) -> Request:
        return replace(super().request(parameters, wrt), lists=self.backend == "numpy")

    def has_effects(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """True if a call with these arguments does something besides returning, so that it may not be repeated."""
        slots, values = self.bind(args, kwargs)
        return bool(self.variant(slots, values, args, kwargs).emitted.effects)

    def run(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], seed: Any = None
    ) -> tuple[Any, tuple[Any, ...], tuple[Any, ...]]:
        """The value (None where it was not asked for), and the gradients by position and by weight."""
        if kwargs:
            return self.run_carefully(args, kwargs, seed)
        if len(args) != self.arity:
            filled = self.filled(args)
            if filled is None:
                return self.run_carefully(args, kwargs, seed)
            args = filled
        # The short way: arrays of shapes that were met before; the shortest, if there is nothing to read or unwrap.
        try:
            kinds = tuple(
                [(v.dtype, v.shape) if type(v) is ARRAY else float if type(v) is float else key(v) for v in args]
            )
        except RecursionError:
            return self.run_carefully(args, kwargs, seed)
        variant = self.met.get(kinds)
        if variant is None:
            return self.run_carefully(args, kwargs, seed, kinds)
        holds = self.fn.__code__ is variant.code if variant.steady else variant.holds(self.fn)
        if not holds or not variant.serves_again(args) or (variant.lists and floats_may_raise()):
            return self.run_carefully(args, kwargs, seed, kinds)
        variant.used = self.variants.age
        if not variant.is_plain:
            return self.outcome(variant, args, self.derive(variant, args))
        started = time.perf_counter()
        try:
            result = variant.function(*args)
        except Exception as error:
            if not may_be_repeated(variant, error):
                note_origin(error, variant.origins, variant.function.__code__.co_filename)
                mark_repeatable(error, variant, started)
                raise
        except Apart as passing:
            raise_refusal(passing)
            raise
        else:
            gradients = result[1:] if self.value else result if variant.count > 1 else (result,)
            if not (variant.may_be_nan and holds_nan(gradients)):
                return result[0] if self.value else None, gradients, ()
            result = attempts.defined(self, variant, args)
            self.met[kinds] = variant.first or variant
            return self.outcome(variant, args, result)
        return self.outcome(variant, args, self.derive(variant, args))

    def derivatives_in(self, variant: Variant, result: Any) -> Any:
        if variant.count == 1:
            return result
        return result[1:] if self.value or self.has_aux else result

    def with_derivatives(self, value: Any, found: tuple[Any, ...]) -> Any:
        parts = (value, *found) if self.value or self.has_aux else found
        return parts if len(parts) > 1 else parts[0]

    def run_carefully(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], seed: Any, kinds: Any = None
    ) -> tuple[Any, tuple[Any, ...], tuple[Any, ...]]:
        """A call with everything that the short way leaves out."""
        slots, values = self.bind(args, kwargs)
        variant = self.variant(slots, values, args, kwargs)
        lasting = not (self.by_settings or any(isinstance(v, FunctionType) for v in values))
        if kinds is not None and lasting:
            if len(self.met) >= MET:
                self.met.clear()
            self.met[kinds] = variant
        seeds = tuple(seeds_in(seed, variant.emitted.seeds)) if self.seeded else ()
        return self.outcome(variant, values, self.derive(variant, values, seeds))

    def outcome(
        self, variant: Variant, values: tuple[Any, ...], result: Any
    ) -> tuple[Any, tuple[Any, ...], tuple[Any, ...]]:
        """The outcome of an emitted function, as `run` returns it."""
        count = variant.count
        parts = result if count > 1 else (result,)
        first = 1 if self.value or self.has_aux else 0
        value = variant.wrap_output(parts[0]) if first else None
        split = first + len(self.positions)
        grads = parts[first:split]
        if variant.tensors or variant.swapped:
            chosen = [values[k] for k in variant.wrt]
            grads = tuple(wrapped_like(g, v) for g, v in zip(grads, chosen))
        weights = tuple(wrapped_like(g, w) for g, w in zip(parts[split:], self.weights)) if self.weights else ()
        return value, tuple(grads), weights


def mark_repeatable(error: Exception, variant: Variant, started: float) -> None:
    """Mark an exception of a call after which the function may be called again, for the frames that Python shows."""
    setattr(error, REPEATABLE, variant.pure and time.perf_counter() - started < thresholds.SECONDS_REPEATED)


def may_be_of_floats(variant: Variant, error: Exception) -> bool:
    """True if lists or Python's floats may have raised what arrays and NumPy's numbers do not."""
    if variant.lists:
        return isinstance(error, OF_LISTS)
    of_math = isinstance(error, ValueError) and str(error).startswith(("math ", "expected a "))
    return variant.again and (of_math or isinstance(error, (ZeroDivisionError, OverflowError)))


def may_be_repeated(variant: Variant, error: Exception) -> bool:
    """True if another program may do what raised an exception."""
    singular = variant.may_be_nan and isinstance(error, (np.linalg.LinAlgError, Degenerate))
    return singular or may_be_of_floats(variant, error)


def floats_may_raise() -> bool:
    """True if somebody asked to be told of overflows and the like, of which only NumPy's numbers tell."""
    return not TOLD.isdisjoint(np.geterr().values())


def raise_refusal(passing: Apart) -> None:
    """Raise the refusal that was brought past the handlers of the program, if that is what passes."""
    if isinstance(passing.__cause__, Refused):
        raise passing.__cause__.with_traceback(None) from None
