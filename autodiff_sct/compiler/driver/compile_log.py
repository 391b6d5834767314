"""The log of compilations: why a function is compiled again, and how long that takes.

``AUTODIFF_SCT_LOG=compile`` prints a line for each compilation on standard error; it sets the level of the logger
``autodiff_sct.compile``, which can be configured instead.  A function whose text is compiled over and over is named
there once in any case, at the level of warnings.
"""

from __future__ import annotations

import logging
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..domain.dependencies import (
    AttributeRead,
    CellRead,
    CodeRead,
    DefaultRead,
    GlobalRead,
    ItemRead,
    KwDefaultRead,
    ModuleRead,
)
from ..domain.pytree import key
from .specialization import GONE, Variant

if TYPE_CHECKING:
    from .dispatch import Compiled

__all__ = ["note"]

SIZES = {2: "n", 3: "long"}  # classes of lengths of axes, as `facts.size_classes` has them
OFTEN = 16  # compilations of one text after which a hint is given
LOGGER = logging.getLogger("autodiff_sct.compile")
if "compile" in os.environ.get("AUTODIFF_SCT_LOG", "").split(","):
    LOGGER.setLevel(logging.INFO)
    LOGGER.addHandler(handler := logging.StreamHandler())
    handler.setFormatter(logging.Formatter("autodiff_sct: %(message)s"))
    LOGGER.propagate = False


@dataclass
class History:
    """The compilations of one text so far: their reasons, and the time that they took."""

    reasons: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0


HISTORIES: dict[tuple[str, str, int, str], History] = {}  # by what is made, file, line and name


def note(
    compiled: Compiled, kinds: Any, slots: tuple[Any, ...], values: tuple[Any, ...], variant: Variant, seconds: float
) -> None:
    """Note that a variant has been compiled, before it is kept with the others."""
    place = place_of(compiled)
    history = HISTORIES.setdefault(place, History())
    first = not history.reasons
    reason = "first call" if first else reason_of(compiled, kinds, slots, values)
    history.reasons[reason] += 1
    history.seconds += seconds
    if LOGGER.isEnabledFor(logging.INFO):
        took = f"{'loaded from the disk cache' if variant.revived else 'compiled'} in {1000 * seconds:.0f} ms"
        given = ", ".join(f"{name}: {text_of(k)}" for (name, _), k in zip(slots, kinds[0]))
        LOGGER.info("%s of %s (%s:%d), %s: %s; %s", *place[:1], place[3], *place[1:3], took, reason, given)
    if history.reasons.total() == OFTEN:
        why, times = history.reasons.most_common(1)[0]
        LOGGER.warning(
            "%s (%s:%d) has been compiled %d times, which took %.1f s; %d times the reason was: %s.  "
            "AUTODIFF_SCT_LOG=compile lists them.",
            place[3], place[1], place[2], OFTEN, history.seconds, times, why,
        )  # fmt: skip


def place_of(compiled: Compiled) -> tuple[str, str, int, str]:
    """The product of a callable, and the place of its text."""
    fn = compiled.fn
    code = getattr(fn, "__code__", None) or getattr(getattr(type(fn), "construct", type(fn)), "__code__", None)
    kind = type(compiled).__name__.lower()
    return kind, getattr(code, "co_filename", "?"), getattr(code, "co_firstlineno", 0), compiled.name


def reason_of(compiled: Compiled, kinds: Any, slots: tuple[Any, ...], values: tuple[Any, ...]) -> str:
    """Why none of the variants that there are serves a call."""
    known = compiled.variants.by_kinds
    if not known:
        return "another function object of the same text, as a loop or a factory makes them"
    if kinds in known:
        if not known[kinds][0].serves(values):
            return "the sizes of the arguments compare otherwise: a part of one was inside it, or outside"
        return what_changed(known[kinds][0], compiled.fn)
    latest = max(known, key=lambda each: max(v.used for v in known[each]))
    names = [name for name, _ in slots]
    changes = [change(name, old, new) for name, old, new in zip(names, latest[0], kinds[0]) if old != new]
    return ", ".join(changes) or "other arguments are given, or other integers"


def change(name: str, old: Any, new: Any) -> str:
    """The difference between two kinds of an argument."""
    before, after = text_of(old), text_of(new)
    return f"{name!r} was {before}, is {after}" if before != after else f"{name!r} is another {after}"


def text_of(kind: Any) -> str:
    """The kind of an argument in words.

    >>> text_of(key(np.ones((2, 3)))), text_of(float), text_of(key(True)), text_of(key([1.0]))
    ('float64[n, n]', 'float', 'True', 'list')
    """
    if isinstance(kind, type):
        return kind.__name__
    if not isinstance(kind, tuple):
        return type(getattr(kind, "value", kind)).__name__
    head, *rest = kind
    if isinstance(head, np.dtype):
        return f"{head}[{', '.join(SIZES.get(k, str(k)) for k in rest)}]"
    if isinstance(head, type) and len(rest) == 1 and isinstance(rest[0], (bool, str, bytes, type(None))):
        return repr(rest[0])
    if isinstance(head, str):
        return {"items": "list"}.get(head, head)
    return head.__name__ if isinstance(head, type) else type(head).__name__


def what_changed(variant: Variant, fn: Any) -> str:
    """The dependencies of a variant that have changed since it was compiled."""
    if variant.code is not getattr(fn, "__code__", None):
        return "the code of the function has changed"
    changed = [*dict.fromkeys(broken(variant))]
    return f"{', '.join(changed)} changed" if changed else "another array is passed, or is a weight"


def broken(variant: Variant) -> Iterator[str]:
    """The names of what a variant reads and that has changed since."""
    for guard in variant.emitted.guards:
        if not still(guard.holds):
            yield name_of_read(getattr(guard, "read", None))
    for external, kind in zip(variant.emitted.externals, variant.keys):
        if not still(lambda external=external, kind=kind: key(external.read()) == kind):
            yield f"the kind of {external.symbol!r}"


def still(holds: Any) -> bool:
    try:
        return bool(holds())
    except GONE:
        return False


def name_of_read(read: Any) -> str:
    """The words for a value that a program reads from outside."""
    if isinstance(read, GlobalRead):
        return f"the global {read.name!r}"
    if isinstance(read, AttributeRead):
        return f"the attribute {read.name!r}"
    if isinstance(read, CodeRead):
        return f"the code of {read.fn.__name__!r}"
    if isinstance(read, ItemRead):
        return f"item {read.key!r} of {name_of_read(read.read).removeprefix('the ')}"
    if isinstance(read, (DefaultRead, KwDefaultRead)):
        return f"a default of {read.fn.__name__!r}"
    if isinstance(read, ModuleRead):
        return f"the module {read.name!r}"
    return "a closure variable" if isinstance(read, CellRead) else "something that the program reads from outside"
