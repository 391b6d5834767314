"""Expressions as text, with parentheses only where the tree would be another one without them.

Every expression is printed *at* a level of precedence and gets parentheses if its own is lower.

`columns_of` is the printed width of an expression, without printing it.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterable
from enum import IntEnum
from typing import Any

import astunparse
import gast

from ..domain.identifiers import is_identifier


class Level(IntEnum):
    """Precedence, from what binds least to what binds most."""

    WALRUS = 0
    TUPLE = 1
    YIELD = 2
    TEST = 3
    OR = 4
    AND = 5
    NOT = 6
    COMPARE = 7
    BITOR = 8
    BITXOR = 9
    BITAND = 10
    SHIFT = 11
    ARITHMETIC = 12
    TERM = 13
    SIGN = 14
    POWER = 15
    AWAIT = 16
    ATOM = 17


OPERATORS = {
    "BitOr": ("|", Level.BITOR),
    "BitXor": ("^", Level.BITXOR),
    "BitAnd": ("&", Level.BITAND),
    "LShift": ("<<", Level.SHIFT),
    "RShift": (">>", Level.SHIFT),
    "Add": ("+", Level.ARITHMETIC),
    "Sub": ("-", Level.ARITHMETIC),
    "Mult": ("*", Level.TERM),
    "MatMult": ("@", Level.TERM),
    "Div": ("/", Level.TERM),
    "FloorDiv": ("//", Level.TERM),
    "Mod": ("%", Level.TERM),
    "Pow": ("**", Level.POWER),
}
_SIGNS = {"USub": "-", "UAdd": "+", "Invert": "~"}
_LEVELS = {
    "NamedExpr": Level.WALRUS,
    "Tuple": Level.TUPLE,
    "Yield": Level.YIELD,
    "YieldFrom": Level.YIELD,
    "IfExp": Level.TEST,
    "Lambda": Level.TEST,
    "Compare": Level.COMPARE,
    "Await": Level.AWAIT,
}


def _level(node: Any) -> Level:
    """Return how strongly an expression binds."""
    kind = type(node).__name__
    if kind == "Name":
        return Level.ATOM
    if kind == "BinOp":
        return OPERATORS[type(node.op).__name__][1]
    if kind == "BoolOp":
        return Level.AND if type(node.op).__name__ == "And" else Level.OR
    if kind == "UnaryOp":
        return Level.NOT if type(node.op).__name__ == "Not" else Level.SIGN
    if kind == "Constant" and type(node.value) in (int, float) and str(node.value).startswith("-"):
        return Level.SIGN
    return _LEVELS.get(kind, Level.ATOM)


class ExpressionPrinter(astunparse.Unparser):
    """The printer of expressions. A subclass prints statements and keeps the lines."""

    def __init__(self) -> None:
        # Not the one of astunparse, which prints at once.
        self._line: list[str] = []

    def write(self, text: str) -> None:
        """Append to the current line."""
        self._line.append(text)

    def dispatch(self, tree: Any) -> None:
        """Print a node, or each node of a list."""
        if isinstance(tree, list):
            self._block(tree)
        else:
            getattr(self, "_" + type(tree).__name__, self._unknown)(tree)

    def _block(self, statements: list[Any]) -> None:
        raise NotImplementedError

    def _unknown(self, tree: Any) -> None:
        # The standard library's printer is private, but knows the nodes of its own version.
        plain = gast.gast_to_ast(tree) if isinstance(tree, gast.AST) and type(tree).__module__ != "ast" else tree
        text = ast.unparse(ast.fix_missing_locations(plain))
        if isinstance(tree, (ast.stmt, gast.stmt)):
            for line in text.splitlines():
                self.fill(line)
        else:
            self.write(text)

    def at(self, level: int, tree: Any) -> None:
        """Print an expression where only what binds at least as strongly as `level` needs no parentheses."""
        if _level(tree) < level and not (type(tree).__name__ == "Tuple" and not tree.elts):
            self.write("(")
            self.dispatch(tree)
            self.write(")")
        else:
            self.dispatch(tree)

    def _each(self, level: int, trees: Iterable[Any]) -> None:
        for position, tree in enumerate(trees):
            if position:
                self.write(", ")
            self.at(level, tree)

    def _Expression(self, tree: Any) -> None:
        self.dispatch(tree.body)

    def name(self, text: str) -> None:
        """Write an identifier; any other text here is an error of the compiler, which Python might take for code."""
        if not is_identifier(text) and text != "__debug__":  # which may be read
            raise ValueError(f"{text!r} is printed as a name, and is none")
        self.write(text)

    def _Name(self, tree: Any) -> None:
        self.name(tree.id)
        if getattr(tree, "annotation", None) is not None:
            self.write(": ")
            self.at(Level.TEST, tree.annotation)

    def _Constant(self, tree: Any) -> None:
        value = tree.value
        if value is Ellipsis:
            self.write("...")
        elif isinstance(value, str):
            self.write(("u" if getattr(tree, "kind", None) == "u" else "") + _quoted(value))
        elif isinstance(value, tuple):
            self._Tuple(ast.Tuple([ast.Constant(each) for each in value], ast.Load()))
        elif type(value) in (float, complex):
            self.write(_number(value))
        elif isinstance(value, (type, type(len), type(_quoted))):
            self.write(value.__name__)
        else:
            self.write(repr(value))

    def _JoinedStr(self, tree: Any) -> None:
        # Which quotes and escapes are possible differs between versions of Python.
        self._unknown(tree)

    _FormattedValue = _JoinedStr

    def _Tuple(self, tree: Any) -> None:
        if len(tree.elts) == 1:
            self.at(Level.TEST, tree.elts[0])
            self.write(",")
        elif tree.elts:
            self._each(Level.TEST, tree.elts)
        else:
            self.write("()")

    def _List(self, tree: Any) -> None:
        self.write("[")
        self._each(Level.TEST, tree.elts)
        self.write("]")

    def _Set(self, tree: Any) -> None:
        self.write("{" if tree.elts else "{*(")
        self._each(Level.TEST, tree.elts)
        self.write("}" if tree.elts else ")}")

    def _Dict(self, tree: Any) -> None:
        self.write("{")
        for position, (key, value) in enumerate(zip(tree.keys, tree.values, strict=True)):
            self.write(", " if position else "")
            if key is None:
                self.write("**")
                self.at(Level.BITOR, value)
            else:
                self.at(Level.TEST, key)
                self.write(": ")
                self.at(Level.TEST, value)
        self.write("}")

    def _ListComp(self, tree: Any) -> None:
        self._comprehension_of("[", tree, "]")

    def _SetComp(self, tree: Any) -> None:
        self._comprehension_of("{", tree, "}")

    def _GeneratorExp(self, tree: Any) -> None:
        self._comprehension_of("(", tree, ")")

    def _comprehension_of(self, opening: str, tree: Any, closing: str) -> None:
        self.write(opening)
        self.at(Level.TEST, tree.elt)
        for generator in tree.generators:
            self.dispatch(generator)
        self.write(closing)

    def _DictComp(self, tree: Any) -> None:
        self.write("{")
        self.at(Level.TEST, tree.key)
        self.write(": ")
        self.at(Level.TEST, tree.value)
        for generator in tree.generators:
            self.dispatch(generator)
        self.write("}")

    def _comprehension(self, tree: Any) -> None:
        self.write(" async for " if tree.is_async else " for ")
        self.at(Level.TUPLE, tree.target)
        self.write(" in ")
        self.at(Level.OR, tree.iter)
        for condition in tree.ifs:
            self.write(" if ")
            self.at(Level.OR, condition)

    def _NamedExpr(self, tree: Any) -> None:
        self.dispatch(tree.target)
        self.write(" := ")
        self.at(Level.TEST, tree.value)

    def _IfExp(self, tree: Any) -> None:
        self.at(Level.OR, tree.body)
        self.write(" if ")
        self.at(Level.OR, tree.test)
        self.write(" else ")
        self.at(Level.TEST, tree.orelse)

    def _Lambda(self, tree: Any) -> None:
        self.write("lambda")
        start = len(self._line)
        self.dispatch(tree.args)
        if len(self._line) > start:
            self._line.insert(start, " ")
        self.write(": ")
        self.at(Level.TEST, tree.body)

    def _UnaryOp(self, tree: Any) -> None:
        sign = _SIGNS.get(type(tree.op).__name__)
        self.write(sign or "not ")
        self.at(Level.SIGN if sign else Level.NOT, tree.operand)

    def _BinOp(self, tree: Any) -> None:
        # The left operands of a long sum nest as deep as the sum is long.
        chain = []
        level = _level(tree)
        while type(tree).__name__ == "BinOp" and _level(tree) == level != Level.POWER:
            chain.append(tree)
            tree = tree.left
        if not chain:
            self.at(Level.POWER + 1, tree.left)
            self.write(" ** ")
            self.at(Level.SIGN, tree.right)
            return
        self.at(level, tree)
        for each in reversed(chain):
            self.write(f" {OPERATORS[type(each.op).__name__][0]} ")
            self.at(level + 1, each.right)

    def _BoolOp(self, tree: Any) -> None:
        level = _level(tree)
        word = " and " if level == Level.AND else " or "
        for position, value in enumerate(tree.values):
            self.write(word if position else "")
            self.at(level + 1, value)

    def _Compare(self, tree: Any) -> None:
        self.at(Level.BITOR, tree.left)
        for operator, value in zip(tree.ops, tree.comparators, strict=True):
            self.write(f" {self.cmpops[type(operator).__name__]} ")
            self.at(Level.BITOR, value)

    def _Await(self, tree: Any) -> None:
        self.write("await ")
        self.at(Level.ATOM, tree.value)

    def _Yield(self, tree: Any) -> None:
        self.write("yield")
        if tree.value is not None:
            self.write(" ")
            self.at(Level.TUPLE, tree.value)

    def _YieldFrom(self, tree: Any) -> None:
        self.write("yield from ")
        self.at(Level.TEST, tree.value)

    def _Attribute(self, tree: Any) -> None:
        if not is_identifier(tree.attr):
            self.write("getattr(")
            self.at(Level.TEST, tree.value)
            self.write(f", {tree.attr!r})")
            return
        is_integer = type(tree.value).__name__ == "Constant" and type(tree.value.value) is int
        self.at(Level.ATOM + is_integer, tree.value)
        self.write("." + tree.attr)

    def _Call(self, tree: Any) -> None:
        self.at(Level.ATOM, tree.func)
        if len(tree.args) == 1 and not tree.keywords and type(tree.args[0]).__name__ == "GeneratorExp":
            self.dispatch(tree.args[0])
            return
        self.write("(")
        self._each(Level.TEST, tree.args)
        for position, keyword in enumerate(tree.keywords, len(tree.args)):
            self.write(", " if position else "")
            self.dispatch(keyword)
        self.write(")")

    def _keyword(self, tree: Any) -> None:
        if tree.arg is None:
            self.write("**")
        else:
            self.name(tree.arg)
            self.write("=")
        self.at(Level.TEST, tree.value)

    def _Subscript(self, tree: Any) -> None:
        self.at(Level.ATOM, tree.value)
        self.write("[")
        several = type(tree.slice).__name__ == "Tuple"
        parts = tree.slice.elts if several else [tree.slice]
        if not any(type(part).__name__ == "Slice" for part in parts):
            self.at(Level.TUPLE, tree.slice)
        else:
            for position, part in enumerate(parts):
                self.write(", " if position else "")
                self.bounds(part) if type(part).__name__ == "Slice" else self.at(Level.TEST, part)
            self.write("," if several and len(parts) == 1 else "")
        self.write("]")

    def _Slice(self, tree: Any) -> None:
        """A slice that is no index: an item of a list, or an argument."""
        parts = [tree.lower, tree.upper, *([tree.step] if tree.step is not None else [])]
        self.write("slice(")
        for position, part in enumerate(parts):
            self.write(", " if position else "")
            self.write("None") if part is None else self.at(Level.TEST, part)
        self.write(")")

    def bounds(self, tree: Any) -> None:
        """A slice as an index."""
        for lead, part in (("", tree.lower), (":", tree.upper)):
            self.write(lead)
            if part is not None:
                self.at(Level.TEST, part)
        if tree.step is not None:
            self.write(":")
            self.at(Level.TEST, tree.step)

    def _Starred(self, tree: Any) -> None:
        self.write("*")
        self.at(Level.BITOR, tree.value)

    def _arguments(self, tree: Any) -> None:
        positional = [*tree.posonlyargs, *tree.args]
        pieces: list[tuple[str, Any, Any]] = [
            ("", parameter, default)
            for parameter, default in zip(
                positional, [None] * (len(positional) - len(tree.defaults)) + tree.defaults, strict=True
            )
        ]
        if tree.posonlyargs:
            pieces.insert(len(tree.posonlyargs), ("/", None, None))
        if tree.vararg is not None or tree.kwonlyargs:
            pieces.append(("*", tree.vararg, None))
        pieces += [("", each, default) for each, default in zip(tree.kwonlyargs, tree.kw_defaults, strict=True)]
        if tree.kwarg is not None:
            pieces.append(("**", tree.kwarg, None))
        for position, (mark, parameter, default) in enumerate(pieces):
            self.write((", " if position else "") + mark)
            self._parameter(parameter, default)

    def _parameter(self, parameter: Any, default: Any) -> None:
        if parameter is not None:
            self.dispatch(parameter)
        if default is not None:
            self.write(" = " if parameter.annotation is not None else "=")
            self.at(Level.TEST, default)

    def _arg(self, tree: Any) -> None:
        self.name(tree.arg)
        if tree.annotation is not None:
            self.write(": ")
            self.at(Level.TEST, tree.annotation)


def _number(value: float | complex) -> str:
    """Return a float or complex number as an expression that gives it back to the last bit."""
    if value != value:
        return f'{type(value).__name__}("{value}")'
    if isinstance(value, complex) and not value.real and math.copysign(1.0, value.real) < 0:
        return f"(-{-value!r})" if value.imag < 0 else f'complex("{value}")'
    # A literal that overflows is how text can say infinity.
    return repr(value).replace("inf", str(astunparse.unparser.INFSTR))


def _quoted(text: str) -> str:
    """Return a string literal, with double quotes where that needs no more escapes."""
    literal = repr(text)
    return f'"{literal[1:-1]}"' if literal[0] == "'" and '"' not in text else literal


COLUMNS = 88
FOREIGN = 1000  # the width of what is never put into a row


def columns_of(expr: Any) -> int:
    """The printed width of an expression, without parentheses around it."""
    kind_of = type(expr)
    if kind_of is gast.Name:
        return len(expr.id)
    if kind_of is gast.Constant:
        return 3 if expr.value is Ellipsis else len(repr(expr.value))
    if kind_of is gast.Attribute:
        return columns_of(expr.value) + 1 + len(expr.attr)
    if kind_of is gast.Subscript:
        index = expr.slice
        return columns_of(expr.value) + 2 + (listed(index.elts) if type(index) is gast.Tuple else columns_of(index))
    if kind_of is gast.BinOp:
        wide = isinstance(expr.op, (gast.Pow, gast.FloorDiv))
        return columns_of(expr.left) + 3 + wide + columns_of(expr.right)
    if kind_of is gast.UnaryOp:
        return 1 + columns_of(expr.operand)
    if kind_of is gast.Call:
        words = sum(len(k.arg or "") + 3 + columns_of(k.value) for k in expr.keywords)
        return columns_of(expr.func) + 2 + listed(expr.args) + words
    if kind_of in (gast.Tuple, gast.List):
        return 2 + listed(expr.elts)
    if kind_of is gast.Compare:
        return columns_of(expr.left) + sum(columns_of(e) + 4 for e in expr.comparators)
    if kind_of is gast.BoolOp:
        return sum(columns_of(e) + 5 for e in expr.values) - 5
    if kind_of is gast.IfExp:
        return columns_of(expr.body) + columns_of(expr.test) + columns_of(expr.orelse) + 10
    if kind_of is gast.Dict:
        return 2 + sum(columns_of(e) + 2 for e in [*expr.keys, *expr.values])
    if kind_of is gast.ListComp:
        return 2 + columns_of(expr.elt) + sum(map(columns_of, expr.generators))
    if kind_of is gast.comprehension:
        return 9 + columns_of(expr.target) + columns_of(expr.iter) + sum(columns_of(e) + 4 for e in expr.ifs)
    if kind_of is gast.Slice:
        stepped = expr.step is not None
        return 1 + stepped + sum(columns_of(part) for part in (expr.lower, expr.upper, expr.step) if part is not None)
    return FOREIGN


def listed(exprs: list[Any]) -> int:
    """The printed width of expressions with commas between them."""
    return sum(map(columns_of, exprs)) + 2 * max(len(exprs) - 1, 0)
