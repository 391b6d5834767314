"""Python's own trees as those of `gast`, which are the same for every version of Python.

`gast` converts any tree.  The kinds of nodes that programs are mostly made of are converted here, as it does, but in a
third of the time.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import gast

from autodiff_sct.compiler import ir

PLAIN = (
    "Assert Assign Attribute AugAssign BinOp BoolOp Break Call Compare Constant Continue Dict Expr For GeneratorExp If "
    "IfExp Lambda List ListComp Pass Raise Return Slice Starred Subscript Tuple UnaryOp While arguments comprehension "
    "keyword"
)
"""Kinds whose nodes have the same fields on both sides."""
KINDS = {getattr(ast, name): (getattr(gast, name), getattr(gast, name)._fields) for name in PLAIN.split()}
SIGNS = {
    getattr(ast, kind.__name__): kind()
    for base in (gast.boolop, gast.operator, gast.unaryop, gast.cmpop, gast.expr_context)
    for kind in base.__subclasses__()
    if kind.__module__ == gast.Add.__module__ and hasattr(ast, kind.__name__)
}
"""Operators, and how a name is used: nodes with nothing in them, of which one of each kind is enough."""


def converted(node: Any, rest: Callable[[Any], Any]) -> Any:
    """Return a tree as one of `gast`; what has other kinds of nodes is given to `rest`."""
    kind = type(node)
    if kind in SIGNS:
        return SIGNS[kind]
    if kind is ast.Name:
        new = ir.name(node.id)
        new.ctx = SIGNS[type(node.ctx)]
    elif kind is ast.arg:
        new = gast.Name(node.arg, gast.Param(), part(node.annotation, rest), node.type_comment)
    elif kind is ast.FunctionDef:
        fields = (node.name, node.args, node.body, node.decorator_list, node.returns, node.type_comment)
        new = gast.FunctionDef(*(part(each, rest) for each in fields), part(getattr(node, "type_params", []), rest))
    elif kind in KINDS:
        cls, names = KINDS[kind]
        new = cls.__new__(cls)
        inside = new.__dict__
        for name in names:
            value = getattr(node, name)
            known = value is None or type(value) is str
            inside[name] = value if known else part(value, rest)
    else:
        return rest(node)
    if node._attributes:
        new.lineno, new.col_offset = node.lineno, node.col_offset
        new.end_lineno, new.end_col_offset = node.end_lineno, node.end_col_offset
    return new


def part(value: Any, rest: Callable[[Any], Any]) -> Any:
    """The field of a node: a node, a list, or something else."""
    if type(value) is list:
        return [item if item is None else converted(item, rest) for item in value]
    return converted(value, rest) if isinstance(value, ast.AST) else value
