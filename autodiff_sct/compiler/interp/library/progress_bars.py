"""Progress bars around what a loop goes over, as `tqdm(range(n))`: the bar counts, the loop is that over the items."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

from ... import ir
from ...domain.facts import Opaque
from ...domain.values import Value
from ...ir.builder import Specialiser
from ..kernel.functions import Shown, look
from ..kernel.handlers import handles


class Progress:
    """A bar, and what is gone through while it counts."""

    def __init__(self, iterable: Any, bar: Any) -> None:
        self.iterable, self.bar = iterable, bar

    def __iter__(self) -> Any:
        for item in self.iterable:
            yield item
            self.bar.update(1)
        self.bar.close()

    def __len__(self) -> int:
        return len(self.iterable)

    def __enter__(self) -> Any:
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        self.bar.close()

    def update(self, count: Any = 1) -> None:
        self.bar.update(count)

    def close(self) -> None:
        self.bar.close()

    def set_description(self, *args: Any, **kwargs: Any) -> None:
        self.bar.set_description(*args, **kwargs)

    def set_postfix(self, *args: Any, **kwargs: Any) -> None:
        self.bar.set_postfix(*args, **kwargs)

    def set_postfix_str(self, *args: Any, **kwargs: Any) -> None:
        self.bar.set_postfix_str(*args, **kwargs)

    def write(self, *args: Any, **kwargs: Any) -> None:
        self.bar.write(*args, **kwargs)


def begin(cls: Any, iterable: Any = None, desc: Any = None, total: Any = None, **settings: Any) -> Any:
    if total is None and hasattr(iterable, "__len__"):
        total = len(iterable)
    return Progress(iterable, bar_of(cls, desc=desc, total=total, **settings))


def bar_of(cls: Any, **settings: Any) -> Any: ...


@handles(bar_of)
def make_bar(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    made = ir.call(s.expr(args[0]), **{name: s.expr(value) for name, value in kwargs.items()})
    every = {f"argument {k}": value for k, value in enumerate(kwargs.values())}
    return s.let(made, Opaque(Shown), ir.Op(look, every), hint="bar", effect=True)


def bar_like(cls: type) -> Callable[..., Any] | None:
    """The stand-in of a class of progress bars; None for others."""
    bars = getattr(sys.modules.get("tqdm.std"), "tqdm", None)
    return functools.partial(begin, cls) if bars is not None and issubclass(cls, bars) else None
