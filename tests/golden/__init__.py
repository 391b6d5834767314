"""The expected adjoints of 29 programs of the bank, one text each.

A change to the compiler's output is reviewed as a diff of these files: `python -m tests.golden --write` rewrites them,
`python -m tests.golden` prints the difference.
"""

from __future__ import annotations

from pathlib import Path

from tests.bank.checks import source_of
from tests.bank.registry import load_bank

FOLDER = Path(__file__).parent
NAMES = (
    "append_and_pop",
    "array_alias",
    "bodies_moved_in_place",
    "captured_variable",
    "damp_edges",
    "dataclass_argument",
    "dict_argument",
    "division_by_zero_caught",
    "drag",
    "dropout",
    "for_else_taken",
    "gaussian_process",
    "heat",
    "heat_into_a_copy",
    "linear_system",
    "list_comprehension",
    "match_literal",
    "mean_squared_error",
    "mlp_loss",
    "newton_sqrt",
    "power",
    "reduced",
    "repeated_gather",
    "return_in_loop",
    "softmax_cross_entropy",
    "triangular_solve",
    "volume",
    "wander",
    "write_into_argument",
)


def expected_path(name: str) -> Path:
    """Return the file that holds a program's expected adjoint."""
    return FOLDER / f"{name}.txt"


def printed(name: str) -> str:
    """Return a program's adjoint as the compiler prints it now."""
    programs, _ = load_bank()
    return source_of(programs[name]).rstrip() + "\n"


def expected(name: str) -> str:
    """Return a program's expected adjoint, empty where none is written yet."""
    path = expected_path(name)
    return path.read_text() if path.exists() else ""
