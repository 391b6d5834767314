"""Long lines, broken where Python allows it and a reader would.

A line may be broken inside brackets, after a comma or before an operator. Of the places that keep the line within
the width, the one outside the most brackets is taken, and of these the last.

>>> for line in broken("total = combine(first_argument, other(second, third), fourth)", width=40):
...     print(line)
total = combine(first_argument,
    other(second, third), fourth)
"""

from __future__ import annotations

import re
from collections.abc import Iterator

WIDTH = 110

# A string literal is one token; formatted ones may hold quotes of their own.
_TOKENS = re.compile(
    r"""(?P<string>[urbURB]*(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'))"""
    r"""|(?P<open>[(\[{])|(?P<close>[)\]}])|(?P<comma>,\s)"""
    r"""|(?P<operator>\s(?:[-+*/@%&|^]|//|\*\*|<<|>>|and|or)\s)"""
)
_FORMATTED = re.compile(r"""\b[rR]?[fFtT][rR]?["']""")


def broken(line: str, width: int = WIDTH) -> list[str]:
    """Return `line` as lines no longer than `width`, as far as there are places to break it."""
    if len(line) <= width or line.lstrip().startswith("#") or _FORMATTED.search(line):
        return [line]
    indent = len(line) - len(line.lstrip()) + 4
    places = list(_places(line))
    lines: list[str] = []
    start, room = 0, width
    while len(line) - start > room:
        fitting = [place for place in places if start < place[1] <= start + room]
        if not fitting:
            break
        _, end = min(fitting, key=lambda place: (place[0], -place[1]))
        lines.append(line[start:end].rstrip())
        start, room = end, width - indent
    lines.append(line[start:])
    return [lines[0], *(" " * indent + each for each in lines[1:])]


def _places(line: str) -> Iterator[tuple[int, int]]:
    """Yield the places where a line may be broken: how many brackets are around, and the position."""
    depth = 0
    for token in _TOKENS.finditer(line):
        if token["open"]:
            depth += 1
        elif token["close"]:
            depth -= 1
        if depth and token["open"]:
            yield depth, token.end()
        elif depth and token["comma"]:
            yield depth, token.end()
        elif depth and token["operator"]:
            yield depth, token.start() + 1
