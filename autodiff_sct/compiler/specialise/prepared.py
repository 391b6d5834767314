"""The texts of functions that are followed, as the specialiser reads them: each is made once."""

from __future__ import annotations

import functools
import types
from typing import Any

import gast

from .. import ir
from ..desugar import desugar
from ..fence import fence
from ..parse import parse
from .names import scan
from .values import Closure


@functools.lru_cache(maxsize=4096)
def prepared(code: types.CodeType, fn: Any, generator: bool = False) -> Any:
    del code
    parsed = parse(fn)
    fence(parsed, fn.__globals__, generator)
    tree = desugar(parsed.tree)
    return parsed, tree, *scan(tree.body)


@functools.lru_cache(maxsize=4096)
def leaving(tree: Any) -> tuple[Any, str, frozenset[str], frozenset[str]]:
    """A generator that may be left after each value, and the variable that tells whether it is."""
    from .generators import with_exits

    text, left = with_exits(tree)
    text = desugar(text)
    assigned, declared = scan(text.body)
    return text, left, assigned | {left}, declared


def desugared(closure: Closure) -> Any:
    node = closure.node
    if not hasattr(node, "desugared"):
        node.desugared = desugar(node)
    return node.desugared


@functools.lru_cache(maxsize=4096)
def makes_closures(tree: Any) -> bool:
    """Whether functions defined in a body may read its variables when its activation is over."""
    return any(isinstance(n, (gast.FunctionDef, gast.Lambda)) for n in ir.nodes(tree.body))
