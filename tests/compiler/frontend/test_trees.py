"""Python's trees as `gast` converts them, whatever is in them."""

from __future__ import annotations

import argparse
import ast
import asyncio.base_events
import dataclasses
import inspect
import typing
from pathlib import Path
from typing import Any

import gast
import pytest

from autodiff_sct.compiler.frontend.parse import converted

BANK = sorted(Path(__file__).parents[2].joinpath("bank").glob("*.py"))
LIBRARY = [Path(inspect.getfile(m)) for m in (argparse, ast, asyncio.base_events, dataclasses, inspect, typing)]


def shown(tree: Any) -> Any:
    """All that a tree holds, the places of its nodes and the order of its fields among it."""
    if isinstance(tree, gast.AST):
        names = [name for name in (*tree._fields, *tree._attributes) if hasattr(tree, name)]
        return type(tree), [(name, shown(getattr(tree, name))) for name in names]
    return [shown(item) for item in tree] if isinstance(tree, list) else (type(tree), repr(tree))


@pytest.mark.parametrize("file", [*BANK, *LIBRARY], ids=lambda file: file.stem)
def test_a_tree_is_as_gast_converts_it(file: Path) -> None:
    for statement in ast.parse(file.read_text()).body:
        assert shown(converted(statement, gast.ast_to_gast)) == shown(gast.ast_to_gast(statement))
        for inner in statement.body if isinstance(statement, ast.ClassDef) else ():  # a class is given to gast
            assert shown(converted(inner, gast.ast_to_gast)) == shown(gast.ast_to_gast(inner))
