"""The types of the public calls: a user's script and the snippets of the pages, as mypy and pyright see them.

The script is checked as with ``--strict``, and has an error in each line that says ``# error``, and nowhere else.
"""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import autodiff_sct as ad
from tools import tutorials

api = pytest.importorskip("mypy.api")

pytestmark = pytest.mark.once

ROOT = Path(__file__).parents[1]
SCRIPT = ROOT / "tests" / "typed" / "user.py"
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
SETTINGS = """
[mypy]
python_version = 3.11
mypy_path = {root}
follow_imports = silent
check_untyped_defs = true
allow_redefinition = true
disable_error_code = import-untyped, no-redef

[mypy-user]
disallow_any_generics = true
disallow_untyped_calls = true
disallow_untyped_decorators = true
disallow_untyped_defs = true
disallow_subclassing_any = true
no_implicit_reexport = true
warn_return_any = true
warn_unused_ignores = true
"""


def places_of_errors(files: list[Path], folder: Path) -> set[tuple[str, int]]:
    """The files and lines in which mypy finds errors."""
    settings = folder / "mypy.ini"
    settings.write_text(SETTINGS.format(root=ROOT))
    cache = ROOT / ".mypy_cache" / "typed"
    arguments = ["--config-file", str(settings), "--cache-dir", str(cache), *map(str, files)]
    printed, faults, _ = api.run(arguments)
    assert not faults, faults
    return {(Path(name).name, int(line)) for name, line in re.findall(r"^(\S+\.py):(\d+): error", printed, re.M)}


def programs(page: Path) -> list[str]:
    """The Python blocks of a page; one that imports the package begins a program of its own."""
    found: list[str] = []
    for block in re.findall(r"^```python\n(.*?)^```", page.read_text(), re.S | re.M):
        if re.search(r"^(import|from) autodiff_sct", block, re.M) or not found:
            found.append(block)
        else:
            found[-1] += f"\n\n{block}"
    return found


def written(folder: Path) -> list[Path]:
    """The user's script, and the programs of the pages and of the tutorials as files."""
    texts = {"user": SCRIPT.read_text()}
    for page in PAGES:
        if page.name != "errors.md":  # whose programs are parts of tools/error_entries.py
            texts |= {f"{page.stem.lower()}_page_{k}": text for k, text in enumerate(programs(page))}
    texts |= {f"{book.stem}_book": "\n\n".join(tutorials.cells_of_code(book)) for book in tutorials.BOOKS}
    assert len(texts) > 15
    for name, text in texts.items():
        (folder / f"{name}.py").write_text(text)
    return [folder / f"{name}.py" for name in texts]


def places_that_should_be_errors() -> set[tuple[str, int]]:
    """The lines of the user's script that have an error in them."""
    lines = SCRIPT.read_text().splitlines()
    wrong = {(SCRIPT.name, k) for k, line in enumerate(lines, 1) if line.endswith("# error")}
    assert len(wrong) > 10
    return wrong


def test_a_users_script_and_the_pages_have_the_types_that_they_should(tmp_path: Path) -> None:
    assert places_of_errors(written(tmp_path), tmp_path) == places_that_should_be_errors()


@pytest.mark.skipif(importlib.util.find_spec("pyright") is None, reason="needs pyright")
def test_pyright_finds_the_same(tmp_path: Path) -> None:
    files = written(tmp_path)
    (tmp_path / "pyrightconfig.json").write_text(json.dumps({"extraPaths": [str(ROOT)], "reportRedeclaration": False}))
    command = [sys.executable, "-m", "pyright", "--pythonpath", sys.executable, "--outputjson", "-p", str(tmp_path)]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    if not run.stdout.startswith("{"):
        pytest.skip(f"pyright does not run here: {run.stderr[-200:]}")
    found = json.loads(run.stdout)
    assert found["summary"]["filesAnalyzed"] == len(files)
    errors = [each for each in found["generalDiagnostics"] if each["severity"] == "error"]
    assert {(Path(e["file"]).name, e["range"]["start"]["line"] + 1) for e in errors} == places_that_should_be_errors()


def test_dir_shows_what_is_public() -> None:
    def square(x):
        return np.sum(x**2)

    for made in (ad.grad(square), ad.value_and_grad(square), ad.jacrev(square), ad.jacfwd(square), ad.hessian(square)):
        shown = [name for name in dir(made) if not name.startswith("_")]
        assert {"fn", "has_aux", "kind", "backend", "source", "source_for"} <= set(shown)
        assert len(shown) <= 13
        assert all(hasattr(made, name) for name in shown if name != "source")
