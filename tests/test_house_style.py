"""Docstrings begin with a noun or an imperative verb; modules are of a size that one overlooks; names are there."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import autodiff_sct

pytestmark = pytest.mark.once

PACKAGE = Path(autodiff_sct.__file__).parent
HEADLESS = {"As", "At", "By", "For", "From", "How", "In", "Of", "On", "That", "What", "When", "Where"}
HEADLESS |= {"Whether", "Which", "Who", "Whose", "With", "Without"}


def documented(tree: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    """Modules, classes and functions with their docstrings."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node)
            if text:
                yield node, text


FOLDERS = sorted({path.parent for path in PACKAGE.rglob("*.py")})


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda p: p.name)
def test_sizes(folder: Path) -> None:
    modules = list(folder.glob("*.py"))
    assert len(modules) <= 25
    assert [path.name for path in modules if len(path.read_text().splitlines()) > 500] == []


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda p: p.name)
def test_first_words(folder: Path) -> None:
    found = [
        f"{path.name}:{getattr(node, 'lineno', 1)} {text.splitlines()[0]}"
        for path in folder.glob("*.py")
        for node, text in documented(ast.parse(path.read_text()))
        if text.split()[0] in HEADLESS
    ]
    assert found == []


@pytest.mark.parametrize("name", autodiff_sct.__all__)
def test_public_names_are_where_the_package_says(name: str) -> None:
    assert getattr(autodiff_sct, name) is not None
