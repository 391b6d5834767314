"""The names that statements bind, and those that a function has surely bound at each of its statements."""

from __future__ import annotations

from typing import Any

import gast

from autodiff_sct.compiler import ir
from autodiff_sct.compiler.frontend.builders import Block, blocks_of

SCOPES = (gast.FunctionDef, gast.Lambda, gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp, gast.ClassDef)
LEAVES = (gast.Return, gast.Break, gast.Continue, gast.Raise)


def scan(body: list[Any]) -> tuple[frozenset[str], frozenset[str]]:
    """The names that a function body assigns, and those that it declares nonlocal or global."""
    assigned: set[str] = set()
    declared: set[str] = set()
    stack: list[Any] = list(body)
    while stack:
        node = stack.pop()
        if isinstance(node, gast.Name):
            if isinstance(node.ctx, (gast.Store, gast.Del)):
                assigned.add(node.id)
            continue
        if isinstance(node, (gast.Nonlocal, gast.Global)):
            declared.update(node.names)
        elif isinstance(node, (gast.Import, gast.ImportFrom)):
            assigned.update((a.asname or a.name.split(".")[0]) for a in node.names)
        elif isinstance(node, (gast.FunctionDef, gast.ClassDef)):
            assigned.add(node.name)
        elif isinstance(node, gast.ExceptHandler):
            if node.name:
                assigned.add(node.name if isinstance(node.name, str) else node.name.id)
            stack.extend(node.body)
            continue
        if isinstance(node, SCOPES):
            # A walrus inside a comprehension binds in the function around it.
            if not isinstance(node, (gast.FunctionDef, gast.Lambda, gast.ClassDef)):
                assigned.update(n.target.id for n in gast.walk(node) if isinstance(n, gast.NamedExpr))
            continue
        stack += ir.children(node)
    return frozenset(assigned - declared), frozenset(declared)


def parameters(arguments: Any) -> list[str]:
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    every += [a for a in (arguments.vararg, arguments.kwarg) if a is not None]
    return [a.id for a in every]


def bound_before(tree: gast.FunctionDef) -> dict[int, frozenset[str]]:
    """The statements of a function by their identity, each with the names that are bound whenever it begins."""
    found: dict[int, frozenset[str]] = {}
    follow(tree.body, frozenset(parameters(tree.args)), found)
    return found


def follow(block: Block, known: frozenset[str], found: dict[int, frozenset[str]]) -> frozenset[str] | None:
    """The names that are bound after a block, where `known` are before it; None where it is always left early."""
    for statement in block:
        found[id(statement)] = known
        if isinstance(statement, LEAVES):
            return None
        blocks = list(blocks_of(statement))
        if isinstance(statement, gast.If):
            ends = [follow(side, known, found) for side in (statement.body, statement.orelse)]
            sides = [end for end in ends if end is not None]
            if not sides:
                return None
            known = frozenset.intersection(*sides)
        elif not blocks:
            known |= scan([statement])[0]
        else:
            target = scan([statement.target])[0] if isinstance(statement, gast.For) else frozenset()
            for inner in blocks:
                follow(inner, known | target, found)
        known -= {node.id for node in gast.walk(statement) if isinstance(node, gast.Name) and is_deleted(node)}
    return known


def is_deleted(name: gast.Name) -> bool:
    return isinstance(name.ctx, gast.Del)
