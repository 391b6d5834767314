"""The tutorials: each notebook runs, and shows what is stored of it; the stored outputs name no machine."""

import importlib.util
import json
import re

import pytest

from tools import tutorials

pytestmark = pytest.mark.once

CAN_RUN = all(map(importlib.util.find_spec, ("nbclient", "nbformat", "ipykernel", "matplotlib", "scipy", "sklearn")))
books = pytest.mark.parametrize("path", tutorials.BOOKS, ids=lambda path: path.stem)


@pytest.mark.skipif(not CAN_RUN, reason="needs nbclient, ipykernel and what the examples need")
@books
def test_a_tutorial_shows_what_is_stored(path):
    stored = json.loads(path.read_text(encoding="utf-8"))
    for cell, now, before in zip(stored["cells"], tutorials.texts(tutorials.run(path)), tutorials.texts(stored)):
        assert now == before, tutorials.joined(cell["source"])


@books
def test_stored_outputs_name_no_machine(path):
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"/tmp/|/home/|/root/|ipykernel|0x[0-9a-f]{8}|\"execution\"", text)
    book = json.loads(text)
    code = [cell for cell in book["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    assert all(
        output["output_type"] != "error" or "tags" in cell["metadata"] for cell in code for output in cell["outputs"]
    )


def test_pages_show_cells_outputs_and_pictures():
    pages = tutorials.pages()
    for path in tutorials.BOOKS:
        page = pages[f"tutorials/{path.stem}.md"]
        assert page.startswith("# ") and f"({path.name})" in page
        for picture in re.findall(r"!\[[^]]*\]\(([^)]*)\)", page):
            assert pages[f"tutorials/{picture}"].startswith(b"\x89PNG")
        for target in re.findall(r"\]\((\.\./[^)#]*)", page):
            assert (path.parent / target).exists(), target
    assert (
        "<iframe" in pages["tutorials/notebook.md"]
        and "generators are not differentiated." in pages["tutorials/notebook.md"]
    )
    assert '<span class="d">d_rod</span>' in pages["tutorials/calibrate.md"]
    assert "```{ .text .output }\nparameters: [1.297 0.08 ]\n```" in pages["tutorials/calibrate.md"]
