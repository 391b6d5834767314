"""Texts from a grammar: a symbol in braces stands for one of its alternatives, which may hold symbols themselves."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence

DEEP = 3  # levels below which a symbol becomes its first alternative


class Grammar:
    """A writer of programs by `rules`, the same for the same seed."""

    rules: Mapping[str, Sequence[str]] = {}

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def expand(self, text: str, depth: int = 0) -> str:
        """Return a text with alternatives in the place of its symbols; double braces are braces."""
        text = text.replace("{{", "\0").replace("}}", "\1")
        text = re.sub(r"{(\w+)}", lambda found: self.one_of(found[1], depth), text)
        return text.replace("\0", "{").replace("\1", "}")

    def one_of(self, symbol: str, depth: int) -> str:
        known = [text for text in self.rules[symbol] if self.is_known(text)]
        return self.expand(known[0] if depth > DEEP else self.random.choice(known), depth + 1)

    def is_known(self, text: str) -> bool:
        """True if the program has the variables of an alternative."""
        return True

    def program(self) -> str:
        """Return the text of a function `program` of one array."""
        raise NotImplementedError
