"""Classes of dicts: those with the same keys are rows of one table."""

from __future__ import annotations

from functools import cache
from typing import Any

from ...domain.identifiers import is_identifier
from ...domain.values import Obj
from ...ir.builder import Specialiser


class Record(dict[str, Any]):
    """The class of the dicts with the same keys."""

    keys_of_all: tuple[str, ...]


@cache
def record_class(keys: tuple[str, ...]) -> type[Record]:
    """The class of the dicts with these keys, in this order."""
    return type("record", (Record,), {"keys_of_all": keys})


def class_of_dict(s: Specialiser, value: Obj) -> type[Record] | None:
    """The class that a dict of the program could have a table for."""
    keys = s.fields(value)
    named = bool(keys) and all(isinstance(key, str) and is_identifier(key) for key in keys)
    made = value.id not in s.objects and value.id[0] in ("dict", "carried", "merge", "copy")
    return record_class(tuple(keys)) if named and made else None
