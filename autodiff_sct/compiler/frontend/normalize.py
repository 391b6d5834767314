"""Control flow in one form, branches that nest no deeper than Python takes, and ``locals()`` as a dict.

Control flow in one form.

The stages after this one need to know six things only, which hold for every tree that `desugar` returns:

1. `return` is the last statement of the function and stands nowhere else;
2. there is no `continue`, and `break` occurs only as ``if <name>: break`` at the end of a loop's body;
3. no loop has an `else`;
4. there is no `match`;
5. branches nest no deeper than Python can read;
6. everything else is as the user wrote it, and nested functions are untouched.

Nested branches are preferred to flags, and a function that has the form already is returned as it is. New nodes carry
the place in the source of what they come from. The given tree is not changed, and shares its expressions with the
new one.

>>> import gast
>>> from autodiff_sct.compiler.text.unparse import unparse
>>> before = '''
... def first_above(values, bound):
...     for value in values:
...         if value > bound:
...             return value
...     return bound
... '''
>>> print(unparse(desugar(gast.parse(before).body[0])), end="")
def first_above(values, bound):
    returned = False
    for value in values:
        if value > bound:
            result = value
            returned = True
        if returned:
            break
    if not returned:
        result = bound
    return result

Branches that nest too deeply: Python takes no more than 100 levels of indentation.

A chain of `elif`s is a nest, one branch in the other, and its tests may need statements of their own. What is nested
too deeply, with nothing after it in the branches around, is done after these, under a flag::

    if a: A                     otherwise = False
    else:                       if a: A
        if b: B            ->   else: otherwise = True
        else: C                 if otherwise:
                                    if b: B
                                    else: C

``locals()`` as a dict of the variables by their names, where each path that leads to it binds the same ones.

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
import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

import gast

from ...core import thresholds
from ...core.deep_stack import deeply
from .. import ir
from .builders import (
    SCOPES,
    Block,
    Names,
    Statement,
    assign,
    at,
    blocks_of,
    bound_before,
    constant,
    load,
    parameters,
    rebuilt,
    scan,
)
from .early_exits import single_exit
from .pattern_matching import without_match


@dataclasses.dataclass
class Tail:
    """A block that is done after the branches that it was in, under a flag."""

    flag: str
    block: Block


def without_deep_branches(tree: gast.FunctionDef, names: Names) -> gast.FunctionDef:
    """Return `tree` with no more branches inside each other than Python can read."""
    if not any(is_deep(statement) for statement in tree.body):
        return tree
    return rebuilt(tree, body=flat(tree.body, names))


def is_deep(statement: Statement) -> bool:
    """True if branches in a statement, or in one inside it, nest too deeply."""
    pending = [(statement, 1)]
    while pending:
        inner, depth = pending.pop()
        if depth > thresholds.NESTED_BRANCHES:
            return True
        for block in blocks_of(inner):
            pending += [(each, depth + 1 if isinstance(each, gast.If) else 0) for each in block]
    return False


def flat(block: Sequence[Statement], names: Names) -> Block:
    """Return a block whose branches nest less deeply."""
    done: Block = []
    for statement in block:
        if not is_deep(statement):
            done.append(statement)
        elif isinstance(statement, gast.If):
            done += flat_branch(statement, names)
        else:
            done.append(with_flat_blocks(statement, names))
    return done


def with_flat_blocks(statement: Statement, names: Names) -> Statement:
    fields = {field: flat(getattr(statement, field, ()), names) for field in ("body", "orelse", "finalbody")}
    parts = {field: value for field, value in fields.items() if hasattr(statement, field)}
    if isinstance(statement, gast.Try):
        parts["handlers"] = [rebuilt(each, body=flat(each.body, names)) for each in statement.handlers]
    return rebuilt(statement, **parts)


def flat_branch(statement: Statement, names: Names) -> Block:
    """Return a branch, and after it what nests too deeply in it."""
    tails: list[Tail] = []
    first = cut(statement, 1, tails, names)
    before = [at(statement, assign(tail.flag, constant(False))) for tail in tails]
    after = [at(tail.block[0], gast.If(load(tail.flag), flat(tail.block, names), [])) for tail in tails]
    return [*before, first, *after]


def cut(statement: Statement, depth: int, tails: list[Tail], names: Names) -> Statement:
    """Return a branch that ends where it nests too deeply, and note what is left."""
    body, orelse = (cut_block(block, depth, tails, names) for block in (statement.body, statement.orelse))
    return rebuilt(statement, body=body, orelse=orelse)


def cut_block(block: Block, depth: int, tails: list[Tail], names: Names) -> Block:
    if not block or not isinstance(block[-1], gast.If):
        return flat(block, names)
    if depth >= thresholds.NESTED_BRANCHES - 1:
        tails.append(Tail(names.fresh("otherwise"), block))
        return [at(block[0], assign(tails[-1].flag, constant(True)))]
    return [*flat(block[:-1], names), cut(block[-1], depth + 1, tails, names)]


def desugar(tree: gast.FunctionDef) -> gast.FunctionDef:
    """Return a function that does the same in the form above.

    Raises
    ------
    UnsupportedSyntax
        If a `finally` block is left by `return`, `break` or `continue`.
    """
    return deeply(_desugar, tree)


def _desugar(tree: gast.FunctionDef) -> gast.FunctionDef:
    names = Names(tree)
    return without_deep_branches(single_exit(without_match(tree, names), names), names)


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
