"""Builders for the stages of `desugar`: free names, nodes with their source places, and names that statements bind."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from functools import cached_property
from typing import Any

import gast

from autodiff_sct.compiler import ir

Statement = Any
Expression = Any
Block = list[Any]


class Names:
    """Names for new variables, different from every name in a function.

    >>> import gast
    >>> names = Names(gast.parse("def f(stop): return stop + 1").body[0])
    >>> names.fresh("stop"), names.fresh("result"), names.free("skip", set()), names.free("skip", {"skip"})
    ('stop_2', 'result', 'skip', 'skip_2')
    """

    def __init__(self, tree: gast.FunctionDef) -> None:
        self._tree = tree
        self._given: dict[str, list[str]] = {}

    @cached_property
    def _taken(self) -> set[str]:
        return set(names_in(self._tree))

    def fresh(self, base: str) -> str:
        """Return `base`, or `base` with the first number that makes it new."""
        name, number = base, 1
        while name in self._taken:
            number += 1
            name = f"{base}_{number}"
        self._taken.add(name)
        return name

    def free(self, base: str, busy: Set[str]) -> str:
        """Return the first name that stands for `base` and is not `busy`: it may have served before."""
        given = self._given.setdefault(base, [])
        for name in given:
            if name not in busy:
                return name
        given.append(self.fresh(base))
        return given[-1]


def names_in(tree: Any) -> Iterator[str]:
    """Yield every name that occurs in `tree`, those of nested functions too."""
    for node in ir.nodes(tree):
        if isinstance(node, gast.Name):
            yield node.id
        elif isinstance(node, (gast.Global, gast.Nonlocal)):
            yield from node.names
        elif isinstance(node, gast.alias):
            yield (node.asname or node.name).partition(".")[0]
        elif isinstance(node, gast.MatchMapping):
            yield from [node.rest] if node.rest else []
        elif isinstance(node, (gast.FunctionDef, gast.ClassDef, gast.MatchAs, gast.MatchStar)):
            yield from [node.name] if node.name else []


def at(origin: Any, node: Any) -> Any:
    """Give `node` and the new nodes in it the place of `origin`."""
    pending = [node]
    while pending:
        each = pending.pop()
        if getattr(each, "lineno", None) is None:
            gast.copy_location(each, origin)
            pending.extend(gast.iter_child_nodes(each))
    return node


def load(name: str) -> gast.Name:
    """Return an expression that reads `name`."""
    return gast.Name(name, gast.Load(), None, None)


def store(name: str) -> gast.Name:
    """Return a target that binds `name`."""
    return gast.Name(name, gast.Store(), None, None)


def constant(value: Any) -> gast.Constant:
    """Return a literal."""
    return gast.Constant(value, None)


def assign(name: str, value: Expression) -> gast.Assign:
    """Return `name = value`."""
    return gast.Assign([store(name)], value, None)


def call(function: Expression, *args: Expression) -> gast.Call:
    """Return `function(*args)`; a string names the function."""
    return gast.Call(load(function) if isinstance(function, str) else function, list(args), [])


def every(tests: list[Expression]) -> Expression:
    """Return the conjunction of one or more tests."""
    return tests[0] if len(tests) == 1 else gast.BoolOp(gast.And(), tests)


def some(tests: list[Expression]) -> Expression:
    """Return the disjunction of one or more tests."""
    return tests[0] if len(tests) == 1 else gast.BoolOp(gast.Or(), tests)


def negated(test: Expression) -> Expression:
    """Return `not test`, or what `test` negates."""
    if isinstance(test, gast.UnaryOp) and isinstance(test.op, gast.Not):
        return test.operand
    return gast.UnaryOp(gast.Not(), test)


def again(expression: Expression) -> Expression:
    """Return the same expression in new nodes, so that no node stands in two places."""
    fields = {}
    for field, value in gast.iter_fields(expression):
        if isinstance(value, gast.AST):
            value = again(value)
        elif isinstance(value, list):
            value = [again(item) if isinstance(item, gast.AST) else item for item in value]
        fields[field] = value
    return gast.copy_location(type(expression)(**fields), expression)


def blocks_of(statement: Statement) -> Iterator[Block]:
    """Yield the statement lists inside a compound statement, but not those of nested functions and classes."""
    if isinstance(statement, (gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef)):
        return
    for field in ("body", "orelse", "finalbody"):
        block = getattr(statement, field, None)
        if isinstance(block, list) and block:
            yield block
    for part in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
        yield part.body


def statements_in(body: Iterable[Statement]) -> Iterator[Statement]:
    """Yield all statements of a function's body at any depth, but not those of nested functions."""
    pending = list(body)[::-1]
    while pending:
        statement = pending.pop()
        yield statement
        for block in blocks_of(statement):
            pending.extend(block)


def rebuilt(node: Any, **fields: Any) -> Any:
    """Return a node like `node` with some fields replaced; the others are shared."""
    return gast.copy_location(type(node)(**{**dict(gast.iter_fields(node)), **fields}), node)


def is_last_break(statement: Statement) -> bool:
    """Tell whether a statement is ``if test: break``."""
    return (
        isinstance(statement, gast.If)
        and not statement.orelse
        and len(statement.body) == 1
        and isinstance(statement.body[0], gast.Break)
    )


def none_of(flags: tuple[str, ...]) -> Any:
    """Return the test that no flag is set."""
    return negated(some([load(flag) for flag in flags]))


def set_flags(flags: tuple[str, ...], value: bool, origin: Any) -> Block:
    """Return the statements that give flags a value."""
    return [at(origin, assign(flag, constant(value))) for flag in flags]


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
