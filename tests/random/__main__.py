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
    """Return the last words of a refusal without names, lines and numbers."""
    told = " ".join(line.strip() for line in text.splitlines() if "<random program" not in line)
    return re.sub(r"'[^']*'|`[^`]*`|\d+", "_", told)[:160]


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
