"""From a tree to its text: minimal parentheses, comments, lines of a readable length.

The printer takes trees of `ast` and of `gast` alike (they differ in names, parameters and handlers only), so nothing
is converted. Every expression is printed *at* a level of precedence and gets parentheses only if its own is lower.

>>> import ast
>>> print(unparse(ast.parse("y = ((a - (b - c)) ** 2) [(1), (2):]; z = (-x) ** (-2)")), end="")
y = ((a - (b - c)) ** 2)[1, 2:]
z = (-x) ** -2
"""

from __future__ import annotations

import ast
import io
from collections.abc import Callable, Iterable, Mapping
from enum import IntEnum
from typing import Any, NamedTuple

import astunparse
import gast

from autodiff_sct.compiler.depth import deeply
from autodiff_sct.compiler.linebreaks import broken


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


_OPERATORS = {
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
_DEFINITIONS = ("FunctionDef", "AsyncFunctionDef", "ClassDef")


def _level(node: Any) -> Level:
    """Return how strongly an expression binds."""
    kind = type(node).__name__
    if kind == "BinOp":
        return _OPERATORS[type(node.op).__name__][1]
    if kind == "BoolOp":
        return Level.AND if type(node.op).__name__ == "And" else Level.OR
    if kind == "UnaryOp":
        return Level.NOT if type(node.op).__name__ == "Not" else Level.SIGN
    if kind == "Constant" and type(node.value) in (int, float) and str(node.value).startswith("-"):
        return Level.SIGN
    return _LEVELS.get(kind, Level.ATOM)


class Printer(astunparse.Unparser):  # type: ignore[misc]
    """The printer of one tree."""

    def __init__(self, tree: Any, comments: Mapping[int, str]) -> None:
        self.future_imports: list[str] = []
        self.f = io.StringIO()
        self.statements: dict[int, Any] = {}
        self._comments = comments
        self._indent = 0
        self._lines: list[str] = []
        self._line: list[str] = []
        self._methods: dict[type, Callable[[Any], None]] = {}
        self.dispatch([tree] if isinstance(tree, (ast.stmt, gast.stmt)) else tree)

    def text(self) -> str:
        """Return what was printed."""
        self._finish_line()
        return "\n".join(self._lines) + "\n" if self._is_in_lines else "".join(self._lines)

    # Lines

    @property
    def _is_in_lines(self) -> bool:
        return bool(self.statements)

    def write(self, text: str) -> None:
        """Append to the current line."""
        self._line.append(text)

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

    def dispatch(self, tree: Any) -> None:
        """Print a node, or the statements of a block."""
        if isinstance(tree, list):
            self._block(tree)
            return
        method = self._methods.get(type(tree))
        if method is None:
            kind = type(tree).__name__
            method = self._methods[type(tree)] = getattr(self, "_" + kind, self._unknown)
        method(tree)

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

    def _unknown(self, tree: Any) -> None:
        # The standard library's printer is private, but knows the nodes of its own version.
        plain = gast.gast_to_ast(tree) if isinstance(tree, gast.AST) and type(tree).__module__ != "ast" else tree
        text = ast.unparse(ast.fix_missing_locations(plain))
        if isinstance(tree, (ast.stmt, gast.stmt)):
            for line in text.splitlines():
                self.fill(line)
        else:
            self.write(text)

    # Expressions

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

    def _Module(self, tree: Any) -> None:
        body = tree.body
        if body and _is_docstring(body[0]):
            self.statements[1] = body[0]
            self._write_docstring(body[0])
            body = body[1:]
        self._block(body)

    def _Name(self, tree: Any) -> None:
        self.write(tree.id)
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
            # A literal that overflows is how text can say infinity; there is none for NaN.
            self.write('float("nan")' if value != value else repr(value).replace("inf", astunparse.unparser.INFSTR))
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
            self.write(f" {_OPERATORS[type(each.op).__name__][0]} ")
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
        self.write("**" if tree.arg is None else tree.arg + "=")
        self.at(Level.TEST, tree.value)

    def _Subscript(self, tree: Any) -> None:
        self.at(Level.ATOM, tree.value)
        self.write("[")
        self.at(Level.TUPLE, tree.slice)
        self.write("]")

    def _Slice(self, tree: Any) -> None:
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

    # Statements

    def _Expr(self, tree: Any) -> None:
        self.fill()
        self.at(Level.YIELD if type(tree.value).__name__ != "Tuple" else Level.TUPLE, tree.value)

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
        self.write(f" {_OPERATORS[type(tree.op).__name__][0]}= ")
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
            self.write(f" as {tree.name if isinstance(tree.name, str) else tree.name.id}")
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
        self.write(tree.name)
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
        self.fill("class " + tree.name)
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
        self.write(tree.arg)
        if tree.annotation is not None:
            self.write(": ")
            self.at(Level.TEST, tree.annotation)


def _is_docstring(statement: Any) -> bool:
    value = getattr(statement, "value", None) if type(statement).__name__ == "Expr" else None
    return type(value).__name__ == "Constant" and isinstance(value.value, str)


def _quoted(text: str) -> str:
    """Return a string literal, with double quotes where that needs no more escapes."""
    literal = repr(text)
    return f'"{literal[1:-1]}"' if literal[0] == "'" and '"' not in text else literal
