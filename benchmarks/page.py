"""Tables between markers of a page: ``<!-- measured: NAME -->`` to ``<!-- end -->``."""

from __future__ import annotations

import re
from collections.abc import Mapping

PLACE = re.compile(r"(<!-- measured: (?P<name>\w+) -->\n).*?(<!-- end -->)", re.S)


def fill(text: str, tables: Mapping[str, str]) -> str:
    """The page with each table at its place; a place that there is no table for stays as it is.

    >>> fill("<!-- measured: times -->\\nold\\n<!-- end -->", {"times": "new"})
    '<!-- measured: times -->\\nnew\\n<!-- end -->'
    """

    def filled(place: re.Match[str]) -> str:
        return f"{place[1]}{tables[place['name']]}\n{place[3]}" if place["name"] in tables else place[0]

    return PLACE.sub(filled, text)
