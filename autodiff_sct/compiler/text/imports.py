"""The import lines of an emitted text."""

from __future__ import annotations

import re
import types
from collections import defaultdict
from typing import Any

COMMENT = re.compile(r"^ *#.*$", re.MULTILINE)


def words(text: str) -> set[str]:
    """The words of a text without its comments: every name that it uses is among them."""
    return set(re.findall(r"\w+", COMMENT.sub("", text)))


def imports_of(namespace: dict[str, Any], module: str, text: str) -> list[str]:
    """The import lines that make an emitted text run where its primal, of `module`, does; one line a module."""
    modules, names = [], defaultdict(list)
    used = words(text)
    for name, value in sorted(item for item in namespace.items() if item[0] in used):
        home, own = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
        if isinstance(value, types.ModuleType):
            modules.append(f"import {value.__name__}" + (f" as {name}" if value.__name__ != name else ""))
        elif home and own and home not in ("builtins", "__main__", module) and own.isidentifier() and callable(value):
            names[home].append(own + (f" as {name}" if own != name else ""))
    return sorted(modules) + [f"from {home} import {', '.join(found)}" for home, found in sorted(names.items())]
