"""Python source on a web page: tokens as spans with classes, which `code.css` colours for light and dark pages."""

from __future__ import annotations

import html
import re
from functools import cache
from pathlib import Path

from .highlight import ADJOINT, COMMENT, KEYWORD, NUMBER, RESET, STRING, highlight

__all__ = ["SourceText", "highlighted_html", "highlighted_lines", "stylesheet"]

CLASSES = {COMMENT: "c", KEYWORD: "k", STRING: "s", NUMBER: "n", ADJOINT: "d"}
ESCAPE = re.compile("|".join(map(re.escape, [RESET, *CLASSES])))


class SourceText(str):
    """Source that shows itself: as it is where Python prints a result, coloured in a notebook."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self).rstrip("\n")

    def _repr_html_(self) -> str:
        return highlighted_html(self)


def highlighted_lines(source: str) -> list[str]:
    """The lines of `source` as HTML, each complete in itself.

    >>> highlighted_lines("d_x = 2")
    ['<span class="d">d_x</span> = <span class="n">2</span>']
    """
    lines, token = [], ""
    for line in html.escape(highlight(source), quote=False).split("\n"):
        before = token
        for escape in ESCAPE.findall(line):
            token = CLASSES.get(escape, "")
        spans = ESCAPE.sub(lambda m: "</span>" if m[0] == RESET else f'<span class="{CLASSES[m[0]]}">', line)
        lines.append(f"{opened(before)}{spans}{'</span>' if token else ''}")
    return lines


def opened(token: str) -> str:
    return f'<span class="{token}">' if token else ""


def highlighted_html(source: str, title: str = "") -> str:
    """`source` as an element of a page, for notebooks: coloured, in the light or the dark theme of its reader."""
    text = "\n".join(highlighted_lines(source.rstrip("\n")))
    caption = f"<figcaption>{html.escape(title)}</figcaption>" if title else ""
    return f'<figure class="autodiff-sct"><style>{stylesheet()}</style>{caption}<pre tabindex="0">{text}</pre></figure>'


@cache
def stylesheet() -> str:
    """The rules that colour the classes of tokens."""
    return (Path(__file__).parent / "code.css").read_text(encoding="utf-8")
