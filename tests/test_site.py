"""The site: generated pages are complete, and the whole builds without warnings and without other hosts."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import autodiff_sct as ad
from tools import site_pages, tutorials

ROOT = Path(__file__).parent.parent
CAN_BUILD = all(importlib.util.find_spec(name) for name in ("mkdocs", "material", "mkdocstrings"))


def test_the_reference_names_everything_public():
    entries = [*site_pages.REFERENCE.values(), *site_pages.MODULES, *site_pages.ALIASES, *site_pages.dtypes()]
    named = " ".join(entries).split()
    others = {"AutodiffError", "GRAPH_MODE", "PYNATIVE_MODE", "__version__"}
    others |= {"common", "context", "dtype", "dtypes", "errors"}
    assert set(named) - {"Errors"} | others == set(ad.__all__)
    assert len(named) == len(set(named))


def test_entries_and_tables():
    pages = site_pages.reference()
    assert "::: autodiff_sct.api.gradients.value_and_grad" in pages["api/derivatives.md"]
    assert "members: [source, source_for, compiled]" in pages["api/derivatives.md"]
    assert "::: autodiff_sct.api.custom_rules.Rule" in pages["api/rules.md"]
    assert pages["api/ops.md"].count("\n| `") == len(ad.ops.__all__)
    for name in ad.errors.__all__:
        assert f"| `{name}` | " in pages["api/errors.md"]


def test_home_is_the_readme_with_links_of_the_site():
    home = site_pages.home()
    assert "(docs/" not in home and "(CHANGELOG.md)" not in home and "(guide.md)" in home
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", home):
        assert (ROOT / "docs" / target).exists(), target


def test_links_to_notebooks_lead_to_their_pages():
    assert (
        site_pages.on_page_markdown("[a](tutorials/teach.ipynb) [b](teach.ipynb)")
        == "[a](tutorials/teach.md) [b](teach.ipynb)"
    )


def test_the_navigation_has_every_page():
    text = (ROOT / "mkdocs.yml").read_text()
    for page in [
        *(path.name for path in (ROOT / "docs").glob("*.md")),
        *site_pages.reference(),
        *(f"tutorials/{path.stem}.md" for path in tutorials.BOOKS),
        "index.md",
        "gallery.md",
    ]:
        assert f": {page}\n" in text, page


@pytest.mark.skipif(not CAN_BUILD, reason="needs the extra [docs]")
def test_the_site_builds_strictly_and_loads_nothing_from_elsewhere(tmp_path):
    env = {**os.environ, "NO_MKDOCS_2_WARNING": "1", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-W", "ignore", "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]
    run = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    for page in tmp_path.rglob("*.html"):
        assert not re.search(r'<(script|link|img|iframe)[^>]*(src|href)="(https?:)?//', page.read_text()), page
    assert "d_in_place" in (tmp_path / "gallery.html").read_text()
    assert (tmp_path / "gallery" / "in_place.html").read_text().count('role="listbox"') > 5
