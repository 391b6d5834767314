"""Inside ``try``, what a tangent raises is not for the handlers, which are there for what the program raises."""

from __future__ import annotations

from types import TracebackType

__all__ = ["Apart", "apart"]


class Apart(BaseException):
    """On its way past handlers: an exception of a tangent, which is the cause."""


class apart:
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

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, Exception):
            raise Apart("raised by a tangent inside `try`") from error
