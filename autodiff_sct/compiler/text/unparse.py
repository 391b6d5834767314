"""Unparsing: from a tree to its text, with long lines broken where a reader would.

Unparsing: from a tree to its text with minimal parentheses, comments, and lines of a readable length.

The printer takes trees of `ast` and of `gast` alike (they differ in names, parameters and handlers only), so nothing
is converted. Every expression is printed *at* a level of precedence and gets parentheses only if its own is lower.

>>> import ast
>>> print(unparse(ast.parse("y = ((a - (b - c)) ** 2) [(1), (2):]; z = (-x) ** (-2)")), end="")
y = ((a - (b - c)) ** 2)[1, 2:]
z = (-x) ** -2

Long lines, broken where Python allows it and a reader would.

A line may be broken inside brackets, after a comma or before an operator. Of the places that keep the line within
the width, the one outside the most brackets is taken, and of these the last.

>>> for line in broken("total = combine(first_argument, other(second, third), fourth)", width=40):
...     print(line)
total = combine(first_argument,
    other(second, third), fourth)
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import gast

from autodiff_sct.compiler.text.expressions import OPERATORS, ExpressionPrinter, Level
from autodiff_sct.core.deep_stack import deeply

WIDTH = 110

# A string literal is one token; formatted ones may hold quotes of their own.
_TOKENS = re.compile(
    r"""(?P<string>[urbURB]*(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'))"""
    r"""|(?P<open>[(\[{])|(?P<close>[)\]}])|(?P<comma>,\s)"""
    r"""|(?P<operator>\s(?:[-+*/@%&|^]|//|\*\*|<<|>>|and|or)\s)"""
)
_FORMATTED = re.compile(r"""\b[rR]?[fFtT][rR]?["']""")


def broken(line: str, width: int = WIDTH) -> list[str]:
    """Return `line` as lines no longer than `width`, as far as there are places to break it."""
    if len(line) <= width or line.lstrip().startswith("#") or _FORMATTED.search(line):
        return [line]
    indent = len(line) - len(line.lstrip()) + 4
    places = list(_places(line))
    lines: list[str] = []
    start, room = 0, width
    while len(line) - start > room:
        fitting = [place for place in places if start < place[1] <= start + room]
        if not fitting:
            break
        _, end = min(fitting, key=lambda place: (place[0], -place[1]))
        lines.append(line[start:end].rstrip())
        start, room = end, width - indent
    lines.append(line[start:])
    return [lines[0], *(" " * indent + each for each in lines[1:])]


def _places(line: str) -> Iterator[tuple[int, int]]:
    """Yield the places where a line may be broken: how many brackets are around, and the position."""
    depth = 0
    for token in _TOKENS.finditer(line):
        if token["open"]:
            depth += 1
        elif token["close"]:
            depth -= 1
        if depth and token["open"]:
            yield depth, token.end()
        elif depth and token["comma"]:
            yield depth, token.end()
        elif depth and token["operator"]:
            yield depth, token.start() + 1


class Printed(NamedTuple):
    """A text, and the statement that begins at each of its lines (counted from 1)."""

    text: str
    statements: dict[int, Any]


def unparse(tree: Any, comments: Mapping[int, str] | None = None) -> str:
    """Return the text of a tree.

    Parameters
    ----------
    tree : ast.AST or gast.AST
        A module, statement or expression.
    comments : mapping, optional
        Comments by the `id` of the statement that they stand above. A statement may also carry one as its attribute
        ``comment``.
    """
    return printed(tree, comments).text


def printed(tree: Any, comments: Mapping[int, str] | None = None) -> Printed:
    """Return the text of a tree as `unparse` does, and which statement each line begins."""
    return deeply(_printed, tree, comments or {})


def _printed(tree: Any, comments: Mapping[int, str]) -> Printed:
    printer = Printer(tree, comments)
    return Printed(printer.text(), printer.statements)


_DEFINITIONS = ("FunctionDef", "AsyncFunctionDef", "ClassDef")


class Printer(ExpressionPrinter):
    """The printer of one tree."""

    def __init__(self, tree: Any, comments: Mapping[int, str]) -> None:
        super().__init__()
        self.statements: dict[int, Any] = {}
        self._comments = comments
        self._indent = 0
        self._lines: list[str] = []
        self.dispatch([tree] if isinstance(tree, (ast.stmt, gast.stmt)) else tree)

    def text(self) -> str:
        """Return what was printed."""
        self._finish_line()
        return "\n".join(self._lines) + "\n" if self._is_in_lines else "".join(self._lines)

    # Lines

    @property
    def _is_in_lines(self) -> bool:
        return bool(self.statements)

    def fill(self, text: str = "") -> None:
        """Begin a line."""
        self._finish_line()
        self._line.append("    " * self._indent + text)

    def _finish_line(self) -> None:
        if self._line:
            line = "".join(self._line)
            self._line = []
            # A string over several lines is one piece of text here, and stays as it is.
            self._lines.extend(line.split("\n") if "\n" in line else broken(line))

    def _block(self, statements: list[Any]) -> None:
        previous: Any = None
        for statement in statements:
            definitions = (type(previous).__name__ in _DEFINITIONS, type(statement).__name__ in _DEFINITIONS)
            self._finish_line()
            if previous is not None and any(definitions):
                self._lines.extend([""] * (1 if self._indent else 2))
            self._print_comment(statement)
            self.statements[len(self._lines) + 1] = statement
            self.dispatch(statement)
            previous = statement

    def _print_comment(self, statement: Any) -> None:
        comment = getattr(statement, "comment", None) or self._comments.get(id(statement))
        if comment:
            self._finish_line()
            self._lines.extend("    " * self._indent + f"# {line}".rstrip() for line in comment.splitlines())

    def _Module(self, tree: Any) -> None:
        body = tree.body
        if body and _is_docstring(body[0]):
            self.statements[1] = body[0]
            self._write_docstring(body[0])
            body = body[1:]
        self._block(body)

    # Statements

    def _Expr(self, tree: Any) -> None:
        self.fill()
        self._value(tree.value)

    def _value(self, tree: Any) -> None:
        """Print a value that stands alone at the end of a statement."""
        is_plain_tuple = type(tree).__name__ == "Tuple" and len(tree.elts) > 1
        self.at(Level.TUPLE if is_plain_tuple else Level.YIELD, tree)

    def _Assign(self, tree: Any) -> None:
        self.fill()
        for target in tree.targets:
            self._value(target)
            self.write(" = ")
        self._value(tree.value)

    def _AugAssign(self, tree: Any) -> None:
        self.fill()
        self.dispatch(tree.target)
        self.write(f" {OPERATORS[type(tree.op).__name__][0]}= ")
        self._value(tree.value)

    def _AnnAssign(self, tree: Any) -> None:
        self.fill()
        is_bare = not tree.simple and type(tree.target).__name__ == "Name"
        self.write("(" if is_bare else "")
        self.dispatch(tree.target)
        self.write("): " if is_bare else ": ")
        self.at(Level.TEST, tree.annotation)
        if tree.value is not None:
            self.write(" = ")
            self._value(tree.value)

    def _Return(self, tree: Any) -> None:
        self.fill("return")
        if tree.value is not None:
            self.write(" ")
            self.at(Level.TUPLE if len(getattr(tree.value, "elts", ())) > 1 else Level.TEST, tree.value)

    def _Delete(self, tree: Any) -> None:
        self.fill("del ")
        self._each(Level.TEST, tree.targets)

    def _Assert(self, tree: Any) -> None:
        self.fill("assert ")
        self._each(Level.TEST, [tree.test] if tree.msg is None else [tree.test, tree.msg])

    def _Raise(self, tree: Any) -> None:
        self.fill("raise")
        if tree.exc is not None:
            self.write(" ")
            self.at(Level.TEST, tree.exc)
        if tree.cause is not None:
            self.write(" from ")
            self.at(Level.TEST, tree.cause)

    def _suite(self, statements: list[Any]) -> None:
        self.enter()
        self._block(statements)
        self.leave()

    def _otherwise(self, word: str, statements: list[Any]) -> None:
        if statements:
            self.fill(word)
            self._suite(statements)

    def _If(self, tree: Any) -> None:
        word = "if "
        while True:
            self.fill(word)
            self.at(Level.WALRUS, tree.test)
            self._suite(tree.body)
            if len(tree.orelse) != 1 or type(tree.orelse[0]).__name__ != "If":
                break
            tree, word = tree.orelse[0], "elif "
            self._print_comment(tree)
            self._finish_line()
            self.statements[len(self._lines) + 1] = tree
        self._otherwise("else", tree.orelse)

    def _While(self, tree: Any) -> None:
        self.fill("while ")
        self.at(Level.WALRUS, tree.test)
        self._suite(tree.body)
        self._otherwise("else", tree.orelse)

    def _For(self, tree: Any) -> None:
        self.fill("async for " if type(tree).__name__ == "AsyncFor" else "for ")
        self.at(Level.TUPLE, tree.target)
        self.write(" in ")
        self.at(Level.TEST, tree.iter)
        self._suite(tree.body)
        self._otherwise("else", tree.orelse)

    _AsyncFor = _For

    def _With(self, tree: Any) -> None:
        self.fill("async with " if type(tree).__name__ == "AsyncWith" else "with ")
        for position, item in enumerate(tree.items):
            self.write(", " if position else "")
            # `with (a, b):` would be two managers.
            is_tuple = type(item.context_expr).__name__ == "Tuple" and item.optional_vars is None
            self.write("(" if is_tuple else "")
            self.at(Level.TEST, item.context_expr)
            self.write(")" if is_tuple else "")
            if item.optional_vars is not None:
                self.write(" as ")
                self.at(Level.TEST, item.optional_vars)
        self._suite(tree.body)

    _AsyncWith = _With

    def _Try(self, tree: Any) -> None:
        self.fill("try")
        self._suite(tree.body)
        for handler in tree.handlers:
            self._print_handler(handler, "except*" if type(tree).__name__ == "TryStar" else "except")
        self._otherwise("else", tree.orelse)
        self._otherwise("finally", tree.finalbody)

    _TryStar = _Try

    def _print_handler(self, tree: Any, word: str) -> None:
        self.fill(word)
        if tree.type is not None:
            self.write(" ")
            self.at(Level.TEST, tree.type)
        if tree.name is not None:
            self.write(" as ")
            self.name(tree.name if isinstance(tree.name, str) else tree.name.id)
        self._suite(tree.body)

    def _Match(self, tree: Any) -> None:
        self.fill("match ")
        self.at(Level.TUPLE, tree.subject)
        self.enter()
        for case in tree.cases:
            self.fill("case ")
            self._unknown(case.pattern)
            if case.guard is not None:
                self.write(" if ")
                self.at(Level.WALRUS, case.guard)
            self._suite(case.body)
        self.leave()

    def _FunctionDef(self, tree: Any) -> None:
        self._decorators(tree)
        self.fill("async def " if type(tree).__name__ == "AsyncFunctionDef" else "def ")
        self.name(tree.name)
        self._type_params(tree)
        self.write("(")
        self.dispatch(tree.args)
        self.write(")")
        if tree.returns is not None:
            self.write(" -> ")
            self.at(Level.TEST, tree.returns)
        self._body(tree)

    _AsyncFunctionDef = _FunctionDef

    def _ClassDef(self, tree: Any) -> None:
        self._decorators(tree)
        self.fill("class ")
        self.name(tree.name)
        self._type_params(tree)
        if tree.bases or tree.keywords:
            self.write("(")
            self._each(Level.TEST, tree.bases)
            for position, keyword in enumerate(tree.keywords, len(tree.bases)):
                self.write(", " if position else "")
                self.dispatch(keyword)
            self.write(")")
        self._body(tree)

    def _decorators(self, tree: Any) -> None:
        for decorator in tree.decorator_list:
            self.fill("@")
            self.at(Level.TEST, decorator)

    def _type_params(self, tree: Any) -> None:
        parameters = getattr(tree, "type_params", None)
        if parameters:
            self.write("[")
            for position, parameter in enumerate(parameters):
                self.write(", " if position else "")
                self._unknown(parameter)
            self.write("]")

    def _body(self, tree: Any) -> None:
        self.enter()
        body = tree.body
        if _is_docstring(body[0]):
            self._finish_line()
            self.statements[len(self._lines) + 1] = body[0]
            self._write_docstring(body[0])
            body = body[1:]
            if body and type(body[0]).__name__ in _DEFINITIONS:
                self._finish_line()
                self._lines.append("")
        self._block(body)
        self.leave()

    def _write_docstring(self, tree: Any) -> None:
        value = tree.value.value
        plain = value.replace("\n", "")
        if plain.isprintable() and "\\" not in value and '"""' not in value and not value.endswith('"'):
            kind = "u" if getattr(tree.value, "kind", None) == "u" else ""
            self.fill(f'{kind}"""{value}"""')
        else:
            self.dispatch(tree)


def _is_docstring(statement: Any) -> bool:
    value: Any = getattr(statement, "value", None) if type(statement).__name__ == "Expr" else None
    return type(value).__name__ == "Constant" and isinstance(value.value, str)
