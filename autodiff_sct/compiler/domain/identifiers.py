"""Identifiers: the only way for a name into the emitted text.

Names come from users' programs, and so from data: keys of ``**settings``, fields of objects, names of classes.  Any
string becomes a legal identifier here; every other string reaches the emitted program as a literal or as an object.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from keyword import iskeyword

__all__ = ["identifier", "is_identifier", "unique"]


@lru_cache(maxsize=4096)
def is_identifier(text: str) -> bool:
    """True if a text names what it says: Python reads identifiers in the normal form NFKC, and reserves some.

    >>> is_identifier("x_1"), is_identifier("class"), is_identifier("a b"), is_identifier("ﬁ")
    (True, False, False, False)
    """
    stable = text.isascii() or unicodedata.normalize("NFKC", text) == text
    return stable and text.isidentifier() and not iskeyword(text) and text != "__debug__"


def identifier(text: str) -> str:
    """A text as an identifier: an underscore in place of what cannot be part of one, ``t`` for nothing.

    >>> identifier("item_Cr13, bare"), identifier("class"), identifier("1"), identifier("q=f()"), identifier("")
    ('item_Cr13_bare', 'class_', 't_1', 'q_f', 't')
    """
    if is_identifier(text):
        return text
    for letters in (r"\W+", r"[^A-Za-z0-9_]+"):
        plain = "_".join(filter(None, re.split(letters, unicodedata.normalize("NFKC", text))))
        for found in (plain, f"{plain}_", f"t_{plain}") if plain else ():
            if is_identifier(found):
                return found
    return "t"


def unique(name: str, taken: set[str]) -> str:
    """A name that is not taken, and is from now on."""
    candidate, number = name, 1
    while candidate in taken:
        number += 1
        candidate = f"{name}_{number}"
    taken.add(candidate)
    return candidate
