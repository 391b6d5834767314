"""`python -m tests.golden [--write]` prints how the adjoints differ from the expected ones, or rewrites those."""

from __future__ import annotations

import difflib
import sys

from tests.golden import NAMES, expected, expected_path, printed


def difference(name: str, now: str) -> str:
    """Return the difference between the expected and the printed adjoint of a program."""
    lines = expected(name).splitlines(keepends=True), now.splitlines(keepends=True)
    return "".join(difflib.unified_diff(*lines, f"expected {name}", f"printed {name}"))


def main(write: bool) -> int:
    """Print or write, and return the number of programs that differ from what was expected."""
    changed = 0
    for name in NAMES:
        now = printed(name)
        changed += now != expected(name)
        print(difference(name, now), end="")
        if write:
            expected_path(name).write_text(now)
    print(f"{changed} of {len(NAMES)} adjoints {'rewritten' if write else 'differ'}")
    return 0 if write else changed


if __name__ == "__main__":
    sys.exit(min(main("--write" in sys.argv[1:]), 1))
