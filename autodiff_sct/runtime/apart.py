"""Inside ``try``, what a tangent raises is not for the handlers, which are there for what the program raises.

A program that calls ``jvp`` has the tangents of another inside it, whose handlers are not its own.  So tangents have
a level: those of a program stand above all that it has inside.
"""

from __future__ import annotations

from types import TracebackType

__all__ = ["Apart", "apart", "rejoined"]


class Apart(BaseException):
    """An exception of a tangent of some level, its cause, on its way past handlers."""

    def __init__(self, level: int) -> None:
        super().__init__("raised by a tangent inside `try`")
        self.level = level


class Levelled:
    """A manager of what tangents of one level raise."""

    def __init__(self, level: int = 1) -> None:
        self.level = level

    def __enter__(self) -> None:
        pass


class apart(Levelled):
    """``with apart():`` around the tangents of statements inside ``try``.

    >>> try:
    ...     with apart():
    ...         1.0 / 0.0
    ... except ZeroDivisionError:
    ...     print("handled")
    ... except Apart as passing:
    ...     print(repr(passing.__cause__))
    ZeroDivisionError('float division by zero')
    """

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, Exception):
            raise Apart(self.level) from error


class rejoined(Levelled):
    """``with rejoined():`` around a program with tangents, where it has become part of another.

    >>> try:
    ...     with rejoined(), apart():
    ...         1.0 / 0.0
    ... except ZeroDivisionError:
    ...     print("handled")
    handled
    """

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, Apart) and error.level == self.level:
            raise error.__cause__ from None  # type: ignore[misc]
