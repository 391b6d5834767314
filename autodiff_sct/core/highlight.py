"""Colour for Python source on a terminal: tokens in, the same text with ANSI escapes out.

Stripping the escapes gives the text back letter by letter, and text that is no Python comes back unchanged.
"""

from __future__ import annotations

import io
import keyword
import os
import token
import tokenize
from typing import TextIO

__all__ = ["highlight", "wants_color"]

RESET = "\x1b[0m"
COMMENT, KEYWORD, STRING, NUMBER, ADJOINT = "\x1b[90m", "\x1b[34m", "\x1b[32m", "\x1b[36m", "\x1b[33m"


def wants_color(stream: TextIO) -> bool:
    """Whether `stream` is a terminal that shows colour; ``NO_COLOR`` and ``FORCE_COLOR`` decide first."""
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
