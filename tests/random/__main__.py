"""`python -m tests.random [COUNT] [FIRST_SEED]` tries programs and prints what is refused and what fails."""

from __future__ import annotations

import random
import re
import sys
from collections import Counter

from tests.random.oracle import judge
from tests.random.writer import FLAVOURS, Writer


def write(number: int) -> str:
    """Return the text of a numbered program."""
    source = random.Random(number)
    flavour = list(FLAVOURS)[number % len(FLAVOURS)]
    return Writer(source.randrange, flavour, budget=1 + number // 8 % 12).program()


def attempt(number: int) -> str:
    """Return how a numbered program turned out, in one line."""
    try:
        return judge(write(number), number)
    except AssertionError as error:
        return f"failed: {error}"


def reason(text: str) -> str:
    """Return what a refusal says below the user's line, without names and numbers."""
    lines = [line.strip() for line in text.splitlines()]
    carets = [i for i, line in enumerate(lines) if line and not line.strip("^")]
    told = " ".join(lines[carets[-1] + 1 :] if carets else lines[-2:])
    return re.sub(r"'[^']*'|`[^`]*`|\d+", "_", told.partition("What to do")[0])


def main(count: int = 200, first: int = 0) -> int:
    """Print the outcomes and return the number of failures."""
    kinds: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    for number in range(first, first + count):
        result = attempt(number)
        kind = result.partition(":")[0]
        kinds[kind] += 1
        if kind == "refused":
            reasons[reason(result)] += 1
        if kind == "failed":
            complaint, _, _ = result.partition("import math")
            _, _, program = write(number).partition("return f(f(a))")
            print(f"--- program {number}: {complaint}\n{program.strip()}")
    print(dict(kinds))
    for text, times in reasons.most_common(20):
        print(f"{times:5} {text}")
    return kinds["failed"]


if __name__ == "__main__":
    sys.exit(min(main(*map(int, sys.argv[1:])), 1))
