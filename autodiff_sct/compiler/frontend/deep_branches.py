"""Branches that nest too deeply: Python takes no more than 100 levels of indentation.

A chain of `elif`s is a nest, one branch in the other, and its tests may need statements of their own. What is nested
too deeply, with nothing after it in the branches around, is done after these, under a flag::

    if a: A                     otherwise = False
    else:                       if a: A
        if b: B            ->   else: otherwise = True
        else: C                 if otherwise:
                                    if b: B
                                    else: C
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import gast

from ...core import thresholds
from .builders import Block, Names, Statement, assign, at, blocks_of, constant, load, rebuilt


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
