"""The statements of an emitted function as one would phrase them."""

from __future__ import annotations

from typing import Any

from .. import passes
from ..specialise.state import Specialiser
from ..text.emit import annotate
from .augmented import augment
from .backwards import go_back
from .comprehension import comprehend
from .conditional import choose
from .leaving import leave_at_once
from .one_branch import say_once
from .read_next import read_next
from .returned import return_at_once
from .several_targets import assign_together
from .side_by_side import side_by_side, stores_together


def phrased(s: Specialiser, body: list[Any], tail: list[Any], whole: bool) -> tuple[list[Any], list[Any]]:
    """The statements of both sweeps as one would phrase them; `whole` if they are one function."""
    if whole and passes.on("leave_at_once"):
        leave_at_once(body, tail)
    if passes.on("say_once"):
        say_once(body, True)
        say_once(tail, False)
    if passes.on("choose"):
        choose(body)
        choose(tail)
    for again in (False, True):
        if passes.on("read_next"):
            read_next(body, False)
            read_next(tail, True)
        if whole and not again and passes.on("comprehend"):
            comprehend(body, tail)
    if whole and passes.on("go_back") and "reversed" not in s.globals:
        go_back(body, tail)
    if passes.on("return_at_once"):
        return_at_once(tail)
    annotate(tail)
    if passes.on("assign_together"):
        assign_together(body)
        assign_together(tail)
    if passes.on("side_by_side"):
        body, tail = side_by_side(body), side_by_side(tail)
        stores_together(body)
        stores_together(tail)
        if passes.on("read_next"):
            read_next(tail, True)  # what is stored beside something else is computed before that is stored
    if not s.read_again:  # there it would have to be known again that these are numbers
        augment(tail)
    return body, tail
