"""``locals()`` as a dict of the variables by their names, where each path that leads to it binds the same ones.

>>> import gast
>>> from autodiff_sct.compiler.text.unparse import unparse
>>> print(unparse(without_locals(gast.parse('''
... def f(x, scale):
...     y = x * scale
...     return check(locals(), "y")
... ''').body[0])), end="")
def f(x, scale):
    y = x * scale
    return check({"x": x, "scale": scale, "y": y}, "y")
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import gast

from .. import ir
from .bindings import SCOPES, bound_before, parameters, scan
from .builders import Block, at, blocks_of, load


def without_locals(tree: gast.FunctionDef) -> gast.FunctionDef:
    """A function in which dicts of its variables stand for calls of ``locals``."""
    if not any(is_locals(node) for node in ir.nodes(tree)):
        return tree
    tree = copy.deepcopy(tree)
    return _Naming(variables_at_calls(tree)).visit(tree)  # type: ignore[no-any-return]


class _Naming(gast.NodeTransformer):
    def __init__(self, variables: dict[int, list[str]]) -> None:
        self.variables = variables

    def visit_Call(self, node: gast.Call) -> Any:
        if id(node) in self.variables:
            names = self.variables[id(node)]
            return at(node, gast.Dict([gast.Constant(name, None) for name in names], [load(name) for name in names]))
        return self.generic_visit(node)


def is_locals(node: Any) -> bool:
    """True for ``locals()``."""
    call = isinstance(node, gast.Call) and not node.args and not node.keywords
    return call and isinstance(node.func, gast.Name) and node.func.id == "locals"


def variables_at_calls(tree: gast.FunctionDef) -> dict[int, list[str]]:
    """The names of the variables at calls of ``locals`` by their identity.

    Missing are calls where only the run knows which variables are bound, and those that keep the dict under a name: a
    later call of ``locals`` may change it.
    """
    surely = bound_before(tree)
    maybe: dict[int, tuple[Any, frozenset[str]]] = {}
    note_bound(tree.body, frozenset(parameters(tree.args)), maybe)
    order = [*parameters(tree.args), *(node.id for node in ir.nodes(tree) if isinstance(node, gast.Name))]
    found: dict[int, list[str]] = {}
    for statement, bound in maybe.values():
        if surely.get(id(statement)) == bound:
            names = [name for name in dict.fromkeys(order) if name in bound]
            found |= {id(call): names for call in calls_of(statement) if len(names) == len(bound)}
    return found


def note_bound(block: Block, bound: frozenset[str], found: dict[int, tuple[Any, frozenset[str]]]) -> frozenset[str]:
    """The names that may be bound after a block, where `bound` may be before; noted before each of its statements."""
    for statement in block:
        found[id(statement)] = statement, bound
        after = bound | scan([statement])[0]
        for inner in blocks_of(statement):
            note_bound(inner, bound if isinstance(statement, gast.If) else after, found)
        bound = after
    return bound


def calls_of(statement: Any) -> Iterator[Any]:
    """Calls of ``locals`` in a statement, not in one inside it, that hand on the dict or look something up in it."""
    inner = {id(each) for block in blocks_of(statement) for each in block}
    pending = [] if isinstance(statement, SCOPES) else [statement]
    while pending:
        node = pending.pop()
        parts: list[Any] = []
        if isinstance(node, gast.Call):
            parts = [*node.args, *(keyword.value for keyword in node.keywords)]
        elif isinstance(node, (gast.Subscript, gast.Attribute)):
            parts = [node.value]
        elif isinstance(node, gast.Compare):
            parts = node.comparators
        yield from filter(is_locals, parts)
        pending += [part for part in ir.children(node) if id(part) not in inner and not isinstance(part, SCOPES)]
