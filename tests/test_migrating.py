"""docs/migrating.md: each line of its tables runs and gives what it states.

A table whose header ends in ``| here | gives |`` belongs to the nearest block under ``<!-- setup: name -->`` above it,
which is run anew for each line.  What a line gives is what it prints, else the value of its last expression, else the
error that it raises.  ``python -m tests.test_migrating`` writes that column anew: a change is reviewed as a diff.
"""

from __future__ import annotations

import ast
import contextlib
import inspect
import io
import re
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest

import autodiff_sct as ad
from autodiff_sct import ops, tape

PAGE = Path(__file__).parent.parent / "docs" / "migrating.md"
SETUP = re.compile(r"^<!-- setup: (?P<name>[\w ]+) -->\n```python\n(?P<code>.*?)^```$", re.M | re.S)
ROW = re.compile(r"^\| (?P<theirs>.+) \| (?P<here>`.+`) \| `(?P<gives>[^|]*)` \|$")
HEADER = re.compile(r"^\| \w+ \| here \| gives \|$")


@dataclass(frozen=True)
class Line:
    """One line of a table: where it stands, the block that it needs, its code and what it states."""

    number: int
    setup: str
    theirs: str
    code: str
    gives: str


def lines_of(text: str) -> list[Line]:
    """The lines of all tables of calls."""
    found, inside = [], False
    blocks = {text[: match.end()].count("\n"): match["name"] for match in SETUP.finditer(text)}
    for number, line in enumerate(text.split("\n")):
        inside = bool(HEADER.match(line)) or (inside and line.startswith("|"))
        if inside and not HEADER.match(line) and not line.startswith("|---"):
            row = ROW.match(line)
            assert row, f"line {number + 1} is no call: {line}"
            setup = blocks[max(start for start in blocks if start < number)]
            found.append(Line(number, setup, row["theirs"], code_of(row["here"]), row["gives"]))
    return found


def code_of(cell: str) -> str:
    """The code in a cell; pieces in backquotes are lines of their own."""
    return "\n".join(re.findall(r"`([^`]+)`", cell))


TEXT = PAGE.read_text()
BLOCKS = {match["name"]: match["code"] for match in SETUP.finditer(TEXT)}
LINES = lines_of(TEXT)


def run(line: Line, folder: Path) -> str:
    """Run a line after its block, as a file that the compiler can read; return what it gives."""
    *before, last = ast.parse(line.code).body
    source = "\n".join([BLOCKS[line.setup], *map(ast.unparse, before), ""])
    if isinstance(last, ast.Expr):
        source += f"result = {ast.unparse(last)}\n"
    else:
        source += f"{ast.unparse(last)}\nresult = None\n"
    path = folder / f"line_{line.number}.py"
    path.write_text(source)
    module = ModuleType(path.stem)
    output = io.StringIO()
    with registered(module), contextlib.redirect_stdout(output):
        try:
            exec(compile(source, str(path), "exec"), vars(module))
        except ad.AutodiffError as error:
            kinds = [kind.__name__ for kind in type(error).__mro__ if kind.__module__ == "builtins"]
            return line.gives if line.gives in kinds else kinds[0]
    return shown(output.getvalue() or repr(vars(module)["result"]))


def shown(text: str) -> str:
    """On one line."""
    return " ".join(text.split()).replace("[ ", "[")


@contextlib.contextmanager
def registered(module: ModuleType):
    """Let classes find their module by its name."""
    sys.modules[module.__name__] = module
    try:
        yield
    finally:
        del sys.modules[module.__name__]


@pytest.mark.parametrize("line", [pytest.param(line, id=f"{line.setup}-{line.number + 1}") for line in LINES])
def test_a_line_gives_what_it_states(line, tmp_path):
    assert run(line, tmp_path) == line.gives


def test_every_table_is_long_enough():
    counts = {name: sum(line.setup == name for line in LINES) for name in BLOCKS}
    assert counts["mindspore"] >= 40 and counts["torch"] >= 35 and counts["tensorflow"] >= 20
    assert counts["torch compiled"] >= 8


CALLS = [
    *(ad.grad, ad.value_and_grad, ad.get_grad, ad.vjp, ad.jvp, ad.jacrev, ad.jacfwd),
    *(ops.stop_gradient, ops.GradOperation, ad.Parameter, ad.ParameterTuple),
    *(tape.tensor, tape.backward, tape.grad, tape.gradients, tape.no_grad, tape.enable_grad),
]


@pytest.mark.parametrize("call", CALLS, ids=lambda call: f"{call.__module__}.{call.__name__}")
def test_every_call_and_every_parameter_is_there(call):
    """The page shows each function and each parameter that the signatures have."""
    names = [name for name in inspect.signature(call).parameters if name not in ("self", "args", "kwargs")]
    missing = [name for name in (call.__name__, *names) if not re.search(rf"`[^`\n]*\b{name}\b[^`\n]*`", TEXT)]
    assert not missing


@pytest.mark.parametrize(
    "name",
    "requires_grad requires_grad_ is_leaf grad_fn detach retain_grad backward item shape dtype grad".split(),
)
def test_every_attribute_of_a_tensor_is_there(name):
    assert any(re.search(rf"\.{name}\b", line.code) for line in LINES)


def rewrite() -> None:
    """Write what the lines give into the page."""
    import tempfile

    text = TEXT.split("\n")
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("error")
        for line in LINES:
            start, _, _ = text[line.number].rpartition("| `")
            text[line.number] = f"{start}| `{run(line, Path(folder))}` |"
    PAGE.write_text("\n".join(text))


if __name__ == "__main__":
    rewrite()
