"""Docstrings begin with a noun or an imperative verb; modules are of a size that one overlooks; names are there."""

import ast
from collections.abc import Iterator
from graphlib import TopologicalSorter
from importlib.util import resolve_name
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


def test_imports_go_round_nowhere() -> None:
    """Any module can be imported first."""
    paths = {".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts): path for path in PACKAGE.rglob("*.py")}
    paths = {name.removesuffix(".__init__"): path for name, path in paths.items()}
    graph = {
        name: {whole if whole in paths else base for base, whole in imported(name, path)} & paths.keys()
        for name, path in paths.items()
    }
    TopologicalSorter(graph).prepare()


def imported(module: str, path: Path) -> Iterator[tuple[str, str]]:
    """Each name that a module imports where its text is run: where it is from, and with its own name."""
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.ImportFrom):
            base = resolve_name("." * node.level + (node.module or ""), package) if node.level else node.module
            yield from ((base, f"{base}.{alias.name}") for alias in node.names)
