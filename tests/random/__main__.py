"""`python -m tests.random [LEVEL] [COUNT] [FIRST_SEED]` tries programs and prints what is refused and what fails.

The level is `small` (vectors of a few numbers), `sized`, `shared` or `kept` (up to 300 rows and columns), or `dtypes`.
"""

from __future__ import annotations

import random
import re
import sys
from collections import Counter

from tests.random import dtypes_oracle, sized_oracle
from tests.random.dtypes import Dtypes
from tests.random.kept import Kept
from tests.random.oracle import judge
from tests.random.shared import Shared
from tests.random.sized import Sized
from tests.random.writer import FLAVOURS, Writer

LEVELS = {"sized": Sized, "shared": Shared, "kept": Kept, "dtypes": Dtypes}


def write(level: str, number: int) -> str:
    """Return the text of a numbered program."""
    if level in LEVELS:
        return LEVELS[level](number).program()
    source = random.Random(number)
    flavour = list(FLAVOURS)[number % len(FLAVOURS)]
    return Writer(source.randrange, flavour, budget=1 + number // 8 % 12).program()


def attempt(level: str, number: int) -> str:
    """Return how a numbered program turned out, in one line."""
    try:
        of_level = dtypes_oracle.judge if level == "dtypes" else sized_oracle.judge if level in LEVELS else judge
        return of_level(write(level, number), number)
    except AssertionError as error:
        return f"failed: {error}"


def reason(text: str) -> str:
    """Return what a refusal says below the user's line, without names and numbers."""
    lines = [line.strip() for line in text.splitlines()]
    carets = [i for i, line in enumerate(lines) if line and not line.strip("^")]
    told = " ".join(lines[carets[-1] + 1 :] if carets else lines[-2:])
    return re.sub(r"'[^']*'|`[^`]*`|\d+", "_", told.partition("What to do")[0])


def main(level: str = "small", count: int = 200, first: int = 0) -> int:
    """Print the outcomes and return the number of failures."""
    kinds: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    for number in range(first, first + count):
        result = attempt(level, number)
        kind = result.partition(":")[0]
        kinds[kind] += 1
        if kind == "refused":
            reasons[reason(result)] += 1
        if kind == "failed":
            complaint, _, _ = result.partition("import math")
            text = write(level, number)
            program = text if level in LEVELS else text.partition("return f(f(a))")[2]
            print(f"--- program {number}: {complaint}\n{program.strip()}")
    print(dict(kinds))
    for text, times in reasons.most_common(20):
        print(f"{times:5} {text}")
    return kinds["failed"]


if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if not word.isdigit()]
    numbers = [int(word) for word in sys.argv[1:] if word.isdigit()]
    sys.exit(min(main(*(words[:1] or ["small"]), *numbers), 1))
