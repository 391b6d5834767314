"""The scripts run to their end, and what they raise is their own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.once

FOLDER = Path(__file__).parent
NEEDS = {"scientist": ("scipy", "pandas"), "network": (), "engineer": (), "teacher": (), "author": ()}


@pytest.mark.parametrize("name", NEEDS)
def test_script(name: str, tmp_path: Path) -> None:
    for package in NEEDS[name]:
        pytest.importorskip(package)
    settings = os.environ | {"PYTHONPATH": str(FOLDER.parent.parent)}
    run = subprocess.run(
        [sys.executable, FOLDER / f"{name}.py"], cwd=tmp_path, env=settings, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    assert not run.stderr  # neither warnings nor hints
    assert run.stdout


def test_notebook(tmp_path: Path) -> None:
    """The cells of a notebook user, in a kernel of their own."""
    nbformat, client = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    cells = (FOLDER / "notebook.ipy").read_text(encoding="utf-8").split("# %%\n")[1:]
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    client.NotebookClient(book, timeout=600, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [output["data"] for cell in book.cells for output in cell.outputs if "data" in output]
    assert any("text/html" in data and "d_drag" in data["text/html"] for data in shown)
