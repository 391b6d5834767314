"""`python -m tests.bank.sources NAME...` prints the adjoints of programs as JSON, compiled in the order given."""

from __future__ import annotations

import json
import sys

from tests.bank.checks import source_of
from tests.bank.registry import load_bank


def adjoint_or_error(name: str) -> str:
    """Return a program's adjoint, or what stopped it."""
    programs, _ = load_bank()
    try:
        return source_of(programs[name])
    except Exception as error:  # one failing program must not hide the others
        return f"{type(error).__name__}: {error}"


if __name__ == "__main__":
    json.dump({name: adjoint_or_error(name) for name in sys.argv[1:]}, sys.stdout)
