"""Colour for Python source: on a terminal by ANSI escapes, on a web page by spans, which `code.css` colours.

Stripping the escapes gives the text back letter by letter, and text that is no Python comes back unchanged.
"""

from __future__ import annotations

import html
import io
import keyword
import os
import re
import token
import tokenize
from functools import cache
from pathlib import Path
from typing import TextIO

__all__ = ["SourceText", "highlight", "highlighted_html", "highlighted_lines", "stylesheet", "wants_color"]

RESET = "\x1b[0m"
COMMENT, KEYWORD, STRING, NUMBER, ADJOINT = "\x1b[90m", "\x1b[34m", "\x1b[32m", "\x1b[36m", "\x1b[33m"


def wants_color(stream: TextIO) -> bool:
    """True if `stream` is a terminal that shows colour; ``NO_COLOR`` and ``FORCE_COLOR`` decide first."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def highlight(source: str) -> str:
    """Return `source` with keywords, strings, numbers, comments and adjoint names (``d_x``, ``t_x``) coloured.

    >>> highlight("d_x = 2").replace(chr(27), "<")
    '<[33md_x<[0m = <[36m2<[0m'
    """
    lines = list(io.StringIO(source))
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(source).readline))
    except (tokenize.TokenError, SyntaxError):
        return source
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    pieces, done = [], 0
    for tok in tokens:
        color = color_of(tok)
        if color is not None:
            begin, end = (starts[row - 1] + column for row, column in (tok.start, tok.end))
            pieces += [source[done:begin], color, source[begin:end], RESET]
            done = end
    return "".join([*pieces, source[done:]])


def color_of(tok: tokenize.TokenInfo) -> str | None:
    """The colour of one token, None for the terminal's own."""
    if tok.type == token.NAME:
        return name_color(tok.string)
    # Python 3.12 cuts an f-string into a start, middles and an end.
    if tok.type == token.STRING or token.tok_name[tok.type].startswith("FSTRING"):
        return STRING
    return {tokenize.COMMENT: COMMENT, token.NUMBER: NUMBER}.get(tok.type)


def name_color(name: str) -> str | None:
    """The colour of a name: keywords and adjoints stand out."""
    if keyword.iskeyword(name):
        return KEYWORD
    return ADJOINT if name.startswith(("d_", "t_")) else None


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
