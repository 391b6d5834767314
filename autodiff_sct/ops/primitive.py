"""Primitives: operations as objects, with settings in the constructor and operands in the call."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from typing import Any

__all__ = ["Plain", "Primitive", "constexpr", "primitive"]


class Primitive:
    """Base of the primitives: an operation as an object."""

    def __init__(self, name: str = "") -> None:
        self.name = name or type(self).__name__

    def __call__(self, *operands: Any) -> Any:
        """Apply the operation."""
        raise NotImplementedError

    def __repr__(self) -> str:
        names = [name for name in inspect.signature(type(self)).parameters if name != "name"]
        settings = ", ".join(f"{name}={getattr(self, name)!r}" for name in names if hasattr(self, name))
        return f"{type(self).__name__}({settings})"


class Plain(Primitive):
    """A function as a primitive: of the operands, then of the settings."""

    function: Callable[..., Any]
    arranged: Callable[..., tuple[Any, ...]]

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__()
        # A tuple: a call is compiled for the settings that are in it.
        self.settings = self.arranged(*given, **named)

    def __call__(self, *operands: Any) -> Any:
        """Apply the operation."""
        return self.function(*operands, *self.settings)

    def __repr__(self) -> str:
        names = inspect.signature(self.arranged).parameters
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in zip(names, self.settings))})"


def primitive(
    name: str,
    function: Callable[..., Any],
    settings: Callable[..., tuple[Any, ...]] = lambda: (),
    base: type[Plain] = Plain,
) -> Any:
    """The class of a primitive that applies a function.

    Parameters
    ----------
    name : str
        The name of the class.
    function : callable
        Called with the operands, then with the settings.
    settings : callable, optional
        Has the parameters of the constructor, and returns the settings.
    base : type, optional
        A class with another order of operands and settings.
    """
    attributes = {"function": staticmethod(function), "arranged": staticmethod(settings)}
    summary = (function.__doc__ or "").partition("\n")[0]
    return type(name, (base,), {**attributes, "__doc__": summary, "__module__": sys._getframe(1).f_globals["__name__"]})


def constexpr(fn: Any = None, **settings: Any) -> Any:
    """The function itself: MindSpore's mark of what is computed when a graph is built."""
    return constexpr if fn is None else fn
