"""README.md and docs/*.md say what the package does: their Python blocks run, and print what the pages show.

The ```` ```python ```` blocks of a page run in order in one namespace.  A block under ``<!-- printed -->`` is what the
block above it printed; one under ``<!-- needs package -->`` is left out without that.  A block whose first line is a
comment ``# name.py`` is a file of that name (the compiler quotes file and line).

``python -m tests.test_readme`` writes the printed blocks anew, so that a change is reviewed as a diff.
"""

import contextlib
import importlib.util
import io
import os
import re
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest

from autodiff_sct.compiler.driver.pipeline import STAGES

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^(?:<!-- (?P<marker>[^\n]*) -->\n)?```(?P<language>\w*)\n(?P<text>.*?)^```$", re.M | re.S)
NAMED = re.compile(r"# (\w+\.py)\n")


@dataclass
class Shown:
    """A printed block: where its text stands in the page, that text, and what was printed when the page ran."""

    start: int
    end: int
    text: str
    printed: str


def run_page(page, folder):
    """Run the page's Python blocks in `folder`; return its printed blocks."""
    module = ModuleType("example")
    shown, printed, skipped = [], None, False
    with contextlib.chdir(folder), registered(module):
        for number, block in enumerate(BLOCK.finditer(page.read_text())):
            if (block["marker"] or "").startswith("needs "):
                skipped = importlib.util.find_spec(block["marker"].removeprefix("needs ")) is None
                if not skipped:
                    printed = run_block(block["text"], module, number)
            elif block["marker"] == "printed" and skipped:
                skipped = False
            elif block["marker"] == "printed":
                assert printed is not None, "nothing was run that could have printed this"
                shown.append(Shown(*block.span("text"), block["text"], printed))
            elif block["language"] == "python":
                printed = run_block(block["text"], module, number)
    return shown


def run_block(text, module, number):
    """Run one block as a file of its own, in the namespace of the page; return what it printed."""
    named = NAMED.match(text)
    name = named[1] if named else f"example_{number}.py"
    assert not Path(name).exists(), f"two blocks are called {name}"
    Path(name).write_text(text)
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(compile(text, name, "exec"), vars(module))
    return tidy(output.getvalue())


def tidy(text):
    """Without trailing blanks, and with one newline at the end."""
    return "\n".join(line.rstrip() for line in text.rstrip().splitlines()) + "\n"


@contextlib.contextmanager
def registered(module):
    """Let classes and functions find their module by name while the page runs."""
    sys.modules[module.__name__] = module
    try:
        yield
    finally:
        del sys.modules[module.__name__]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_prints_what_it_shows(page, tmp_path):
    for shown in run_page(page, tmp_path):
        assert shown.printed == shown.text


def test_the_readme_shows_a_printed_adjoint(tmp_path):
    assert any("d_rod" in shown.text for shown in run_page(PAGES[0], tmp_path))


def test_the_readme_has_the_two_commands():
    commands = {block["marker"]: block["text"] for block in BLOCK.finditer(PAGES[0].read_text())}
    assert "examples/digits.py" in commands["command: digits"]
    assert "pytest" in commands["command: test"]
    assert all(commands[f"command: {name}"].count("\n") == 1 for name in ("digits", "test"))


def test_the_design_page_names_every_stage():
    page = (ROOT / "docs" / "design.md").read_text()
    positions = [page.find(f"  -> {name} ") for name, _ in STAGES]
    assert -1 not in positions and positions == sorted(positions)


def test_links_between_the_pages_lead_somewhere():
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def rewrite(page):
    """Write what the page's blocks print into the page."""
    with tempfile.TemporaryDirectory() as folder:
        shown = run_page(page, folder)
    text = page.read_text()
    for block in reversed(shown):
        text = text[: block.start] + block.printed + text[block.end :]
    page.write_text(text)


if __name__ == "__main__":
    os.chdir(ROOT)
    for path in [Path(name) for name in sys.argv[1:]] or PAGES:
        rewrite(path.resolve())
