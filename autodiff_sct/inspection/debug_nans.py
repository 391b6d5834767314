"""`debug_nans`: the first line that made a NaN or an infinity, in each sweep.

A statement makes one where its result has it and nothing that it read has it.  So what passes through a line is not
blamed on it.  An infinity that the program names (``np.inf``) is made nowhere.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

import numpy as np

from ..compiler.codegen.emit import FORWARD, REVERSE, EmittedLine
from ..compiler.domain.pytree import children, is_tensor
from ..compiler.interp.world.boundary import place_of_result
from ..errors import NonFinite
from .watched import LineEvents, Program, Statement, Watched

__all__ = ["debug_nans"]

TESTS: tuple[tuple[str, Callable[[Any], Any]], ...] = (("NaN", np.isnan), ("an infinity", np.isinf))
INF = float("inf")
SHOWN = 3  # values that a line was given, and are shown


def debug_nans(
    fn: Any,
    grad_position: int | tuple[int, ...] | None = 0,
    weights: Any = None,
    has_aux: bool = False,
    *,
    infinities: bool = True,
) -> Callable[..., Any]:
    """Make a gradient function that raises where a NaN or an infinity is made, and names the line.

    Parameters
    ----------
    fn : callable, Cell or GradFunction
        What is differentiated, or its gradient function, whose settings then hold.
    grad_position, weights, has_aux
        As for `grad`.
    infinities : bool
        Whether infinities count, too.

    Returns
    -------
    callable
        Called as the gradient function is; it returns the same gradients within rounding, and takes longer: every
        assigned value is looked at.

    Raises
    ------
    NonFinite
        At the call, after the run: the first line of each sweep that made one, with the user's line behind it and the
        values that it was given.  It is a FloatingPointError, too.  Its attribute `findings` has them as objects.

    Examples
    --------
    >>> import numpy as np
    >>> debug_nans(lambda x: np.sum(np.sqrt(x)))(np.array([1.0, 4.0]))
    array([0.5 , 0.25])
    """
    gradient = Watched.of(fn, grad_position, weights, has_aux)
    gradient.valued = True

    def checked(*args: Any, **kwargs: Any) -> Any:
        watch = NonFiniteEvents(gradient.ready(args, kwargs), infinities)
        try:
            with watch.watching(), np.errstate(all="ignore"):
                result = gradient(*args, **kwargs)
        except ArithmeticError as error:
            if watch.findings:
                raise watch.error("the call raised") from error
            raise
        if not watch.findings and any(kind for kind, _ in watch.kinds_in(result)):
            watch.blame_arguments(args, kwargs)
        if watch.findings:
            harmless = not any(kind for kind, _ in watch.kinds_in(result))
            raise watch.error("the gradient is finite all the same" if harmless else "")
        return result

    checked.__name__ = checked.__qualname__ = getattr(gradient, "__name__", "checked")
    return checked


@dataclass
class Finding:
    """The place where a NaN or an infinity was made.

    Attributes
    ----------
    kind : str
        ``"NaN"`` or ``"an infinity"``.
    line : EmittedLine
        The line of the emitted program: its sweep and the user's line.
    text : str
        Its text.
    made : str
        What was made, and where.
    given : list of str
        The values that it was made of.
    """

    kind: str
    line: EmittedLine
    text: str
    made: str
    given: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        forward = self.line.sweep == FORWARD
        origin = self.line.origin
        place = origin.show() if origin else "an argument of the call"
        own = [] if not self.text else [f"  {'forward' if forward else 'reverse'} sweep: {self.text}"]
        given = f", from {', '.join(self.given)}" if self.given else ""
        return "\n".join(
            [
                f"{self.kind} was made here:" if self.text else f"{self.kind} came in:",
                place,
                *own,
                f"  {self.made}{given}",
            ]
        )


class NonFiniteEvents(LineEvents):
    """Looks at what each statement has assigned."""

    def __init__(self, adjoint: Any, infinities: bool) -> None:
        super().__init__(adjoint)
        self.tests = TESTS if infinities else TESTS[:1]
        self.findings: list[Finding] = []
        self.before: dict[FrameType, dict[str, Any]] = {}

    def enter(self, frame: FrameType, program: Program) -> None:
        if frame.f_code is program.code:
            self.findings = []  # the program runs again, or another one in its place: the last run counts

    def begin(self, frame: FrameType, program: Program, statement: Statement) -> None:
        held = frame.f_locals
        names = [n for n in {*statement.reads, *statement.changes} if n in held]
        self.before[frame] = {n: copied(held[n]) if n in statement.changes else held[n] for n in names}

    def end(self, frame: FrameType, program: Program, statement: Statement) -> None:
        held = frame.f_locals
        before = self.before.pop(frame, {})
        for name in statement.writes:
            if name in held:
                self.look(program.line_of(statement.line), statement, name, last_item(statement, held[name]), before)

    def leave(self, frame: FrameType, program: Program, statement: Statement | None, value: Any) -> None:
        before = self.before.pop(frame, {})
        result = statement.node.value if statement is not None and isinstance(statement.node, ast.Return) else None
        if not isinstance(result, ast.Tuple) or not isinstance(value, tuple) or frame.f_code is not program.code:
            return  # of an inner function: what takes its result is looked at
        origin = place_of_result(self.adjoint.fn)
        for k, (node, part) in enumerate(zip(result.elts, value)):
            names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
            line = EmittedLine(origin, REVERSE if k else FORWARD)
            given = {n: v for n, v in before.items() if n in names}
            if not isinstance(node, ast.Name):
                text = f"return ... {ast.unparse(node)}"
                whole = Statement(statement.line, text, tuple(sorted(names)), (), (), node)  # type: ignore[union-attr]
                self.look(line, whole, "the gradient" if k else "the value", part, given)

    def look(self, line: EmittedLine, statement: Statement, name: str, value: Any, before: dict[str, Any]) -> None:
        """Note what a statement has made, unless its sweep has a finding."""
        if names_infinity(statement.node):
            return
        if any((each.line.sweep == FORWARD) == (line.sweep == FORWARD) for each in self.findings):
            return
        read = {n: before[n] for n in statement.reads if n in before}
        for kind, array, mask in self.made(value, read.values(), before.get(name)):
            place = tuple(int(k) for k in np.argwhere(mask)[0])
            where = f"[{', '.join(map(str, place))}]" if place else ""
            count = f" ({int(mask.sum())} of {mask.size} elements)" if place else ""
            given = [shown(n, v, array.shape, place) for n, v in read.items() if any(True for _ in numbers(v))]
            own = f"{name}{where} is {array[place]}{count}"
            self.findings.append(Finding(kind, line, statement.text, own, given[:SHOWN]))
            return

    def made(self, value: Any, read: Any, before: Any) -> Iterator[tuple[str, Any, Any]]:
        """The arrays in a value with what is new in them: its kind, the array, a mask of the elements.

        Nothing is new that may come from the values that were read, or that was there `before`.
        """
        operands = [each for v in read for each in numbers(v)]
        for array, old in itertools.zip_longest(numbers(value), numbers(before)):
            for kind, test in self.tests if array is not None else ():
                mask = test(array)
                blamed = np.isnan if kind == "NaN" else is_bad
                if old is not None and old.shape == mask.shape:
                    mask = mask & ~blamed(old)
                if mask.any() and not any(blamed(each).any() for each in operands):
                    yield kind, array, mask

    def kinds_in(self, value: Any) -> Iterator[tuple[str, Any]]:
        """The NaN and infinities in a value, and their places."""
        for array in numbers(value):
            for kind, test in self.tests:
                if test(array).any():
                    yield kind, array[test(array)][0]

    def blame_arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Note an argument that holds what the gradient has."""
        names = self.adjoint.in_order(args, kwargs)
        for name, value in names.items():
            for kind, number in self.kinds_in(value):
                line = EmittedLine(None, FORWARD)
                self.findings.append(
                    Finding(kind, line, "", f"the argument {name!r} of {self.adjoint.name} holds {number}")
                )
                return

    def error(self, remark: str) -> NonFinite:
        text = "\n".join([*map(str, self.findings), *([f"({remark})"] if remark else [])])
        return NonFinite(text, tuple(self.findings))


def is_bad(array: Any) -> Any:
    """The elements that are NaN or infinite."""
    return ~np.isfinite(array)


def names_infinity(node: Any) -> bool:
    """True if a statement names an infinity or a NaN itself: ``np.inf``, ``float("inf")``."""
    named = {getattr(n, "attr", getattr(n, "id", None)) for n in ast.walk(node)}
    constants = [n.value for n in ast.walk(node) if isinstance(n, ast.Constant)]
    texts = [c for c in constants if isinstance(c, str) and c.lower().strip("+-") in ("inf", "infinity", "nan")]
    return bool(
        named & {"inf", "nan", "infty"} or texts or any(isinstance(c, float) and c in (INF, -INF) for c in constants)
    )


def fits(bad: Any, mask: Any) -> bool:
    """True if an operand has an element for each of a result."""
    try:
        return bool(np.broadcast_shapes(bad.shape, mask.shape) == mask.shape)
    except ValueError:
        return False


def numbers(value: Any) -> Iterator[Any]:
    """The floating-point arrays and numbers in a value."""
    if isinstance(value, (np.ndarray, float, complex, np.inexact)):
        array = np.asarray(value)
        if array.dtype.kind in "fc":
            yield array
    elif isinstance(value, (list, tuple)):
        if value and all(isinstance(x, float) for x in value):
            yield np.asarray(value)
        else:
            for item in value:
                yield from numbers(item)
    elif is_tensor(value):
        yield from numbers(value.asnumpy())
    elif not isinstance(value, (str, bytes, int, np.generic)) and value is not None:
        yield from numbers(list((children(value) or {}).values()))


def copied(value: Any) -> Any:
    """A value as it is now, where a statement may write into it."""
    if isinstance(value, (list, tuple)):
        return [copied(item) for item in value]
    return value.copy() if isinstance(value, np.ndarray) else value


def last_item(statement: Statement, value: Any) -> Any:
    """The item that a statement has appended to a list; another value itself."""
    call = getattr(statement.node, "value", None)
    appended = isinstance(call, ast.Call) and getattr(call.func, "attr", "") == "append"
    return value[-1:] if appended and isinstance(value, list) else value


def shown(name: str, value: Any, shape: tuple[int, ...], place: tuple[int, ...]) -> str:
    """A value that a line was given: its element in the place of the result, or its kind."""
    array = next(numbers(value))
    if array.ndim == 0:
        return f"{name} = {array[()]}"
    if isinstance(value, np.ndarray) and fits(array, np.empty(shape, bool)):
        own = tuple(0 if n == 1 else k for k, n in zip(place[len(place) - array.ndim :], array.shape))
        return f"{name}[{', '.join(map(str, own))}] = {array[own]}"
    return (
        f"{name} of shape {np.shape(value)} with values from {array.min()} to {array.max()}"
        if array.dtype.kind == "f" and array.size
        else name
    )
