"""The import lines of an emitted text."""

from __future__ import annotations

import json
import re
import sys
import types
from collections import defaultdict
from typing import Any

from ..domain.identifiers import is_identifier

COMMENT = re.compile(r"^ *#.*$", re.MULTILINE)


def words(text: str) -> set[str]:
    """The words of a text without its comments and its attributes: every name that it uses is among them."""
    return set(re.findall(r"(?<!\.)\b\w+", COMMENT.sub("", text)))


def imports_of(namespace: dict[str, Any], module: str, text: str) -> list[str]:
    """The lines that make an emitted text run where its primal, of `module`, does: imports, and named tuples."""
    modules, classes = list[str](), list[str]()
    names: dict[str, list[str]] = defaultdict(list)
    used = words(text)
    for name, value in sorted(item for item in namespace.items() if item[0] in used):
        home, own = str(getattr(value, "__module__", "")), str(getattr(value, "__qualname__", ""))
        if isinstance(value, types.ModuleType) and is_path(value.__name__):
            modules.append(f"import {value.__name__}" + (f" as {name}" if value.__name__ != name else ""))
        elif is_made_inside(value):
            names["collections"] += [] if "namedtuple" in names["collections"] else ["namedtuple"]
            classes.append(f"{name} = namedtuple({quoted(value.__name__)}, {quoted(' '.join(value._fields))})")
        elif is_imported(home, own, module) and callable(value):
            names[home].append(own + (f" as {name}" if own != name else ""))
    lines = [f"from {home} import {', '.join(own)}" for home, own in sorted(names.items())]
    return [*sorted(modules), *lines, *classes]


def is_imported(home: str, own: str, module: str) -> bool:
    """True if a name of a module can be imported: ``__main__`` and the primal's module are there already."""
    return home not in ("builtins", "__main__", module) and is_path(home) and is_identifier(own)


def is_path(text: str) -> bool:
    """True if a text is a dotted name of a module."""
    return all(map(is_identifier, text.split(".")))


def quoted(text: str) -> str:
    return json.dumps(text)


def is_made_inside(value: Any) -> bool:
    """True if a value is a class of named tuples that the program makes, which stands in no module."""
    if not isinstance(value, type) or not issubclass(value, tuple) or not hasattr(value, "_fields"):
        return False
    return vars(sys.modules.get(value.__module__, types)).get(value.__name__) is not value
