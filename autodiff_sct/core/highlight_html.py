"""Colour for Python source on a web page, for notebooks."""

from __future__ import annotations

import html

from .highlight import ADJOINT, COMMENT, KEYWORD, NUMBER, RESET, STRING, highlight

__all__ = ["highlighted_html"]

COLORS = {COMMENT: "#6a737d", KEYWORD: "#0000c0", STRING: "#007000", NUMBER: "#007080", ADJOINT: "#a05000"}


def highlighted_html(source: str) -> str:
    """`source` as a ``<pre>`` element with coloured tokens.

    >>> highlighted_html("d_x = 2")
    '<pre><span style="color:#a05000">d_x</span> = <span style="color:#007080">2</span></pre>'
    """
    text = html.escape(highlight(source), quote=False)
    for escape, color in COLORS.items():
        text = text.replace(escape, f'<span style="color:{color}">')
    return f"<pre>{text.replace(RESET, '</span>')}</pre>"
