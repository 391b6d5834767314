"""The types of the public calls: a user's script and the snippets of the pages, as mypy sees them.

The script is checked as with ``--strict``, and has an error in each line that says ``# error``, and nowhere else.
"""

from __future__ import annotations

import re
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


def test_a_users_script_and_the_pages_have_the_types_that_they_should(tmp_path: Path) -> None:
    files = [SCRIPT]
    for page in PAGES:
        blocks = re.findall(r"^```python\n(.*?)^```", page.read_text(), re.S | re.M)
        if blocks and page.name != "errors.md":  # whose programs are parts of tools/error_entries.py
            files.append(tmp_path / f"{page.stem.lower()}_page.py")
            files[-1].write_text("\n\n".join(blocks))
    for book in tutorials.BOOKS:
        files.append(tmp_path / f"{book.stem}_book.py")
        files[-1].write_text("\n\n".join(tutorials.cells_of_code(book)))
    lines = SCRIPT.read_text().splitlines()
    wrong = {(SCRIPT.name, k) for k, line in enumerate(lines, 1) if line.endswith("# error")}
    assert len(files) > 5 and len(wrong) > 10
    assert places_of_errors(files, tmp_path) == wrong


def test_dir_shows_what_is_public() -> None:
    def square(x):
        return np.sum(x**2)

    for made in (ad.grad(square), ad.value_and_grad(square), ad.jacrev(square), ad.jacfwd(square), ad.hessian(square)):
        shown = [name for name in dir(made) if not name.startswith("_")]
        assert {"fn", "has_aux", "kind", "backend", "source", "source_for"} <= set(shown)
        assert len(shown) <= 12
        assert all(hasattr(made, name) for name in shown if name != "source")
