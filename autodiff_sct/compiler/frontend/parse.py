"""Parsing: from a function object to the tree of its text, in the node kinds of `gast`.

Parsing: from a function object to the tree of its text.

The function object decides. The text is found by the place that its code object names, and is believed only after it
was compiled and compared with the code object: a file edited since import, two lambdas on a line, or a function made
by `exec` give the right tree or a refusal, never the tree of something else.

The tree is a `gast.FunctionDef`, also for a lambda; its line numbers are those of the file; decorators are dropped,
since the function object is what they made; private names are written as Python mangles them. Trees are shared
between callers and must not be changed.

>>> square = lambda x: x * x
>>> tree = parse(square).tree
>>> tree.name, type(tree.body[0]).__name__
('square', 'Return')

Python's own trees as those of `gast`, which are the same for every version of Python.

`gast` converts any tree.  The kinds of nodes that programs are mostly made of are converted here, as it does, but in a
third of the time.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Callable, Sequence
from types import FunctionType, MethodType
from typing import Any

import gast

from autodiff_sct.compiler import ir
from autodiff_sct.compiler.frontend.source_text import (
    TEXTS,
    CodeMap,
    Found,
    Text,
    first_line,
    locate,
    register,
    texts_of,
)
from autodiff_sct.core.deep_stack import deeply
from autodiff_sct.errors import Origin, SourceUnavailable, UnsupportedSyntax

__all__ = ["TEXTS", "Parsed", "Text", "function_of", "parse", "register"]

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


@dataclasses.dataclass(frozen=True, eq=False)
class Parsed:
    """The text of a function as a tree, and where it stands.

    Attributes
    ----------
    tree : gast.FunctionDef
        The function; line numbers are those of `file`.
    file : str
        The file, as the code object names it.
    first_line : int
        Line of the file with the first decorator, or else the `def` or `lambda`.
    lines : sequence of str
        All lines of the file.
    name : str
        The qualified name, without the functions around it.
    free_names : tuple of str
        Names that the function takes from the functions around it.
    """

    tree: gast.FunctionDef
    file: str
    first_line: int
    lines: Sequence[str]
    name: str
    free_names: tuple[str, ...] = ()

    def origin(self, node: Any) -> Origin:
        """Return the place of `node` (any node of the tree, or one that copied its location from there)."""
        line = getattr(node, "lineno", None)
        if line is None:
            node, line = self.tree, self.tree.lineno
        text = self.lines[line - 1].rstrip("\r\n") if 0 < line <= len(self.lines) else ""
        start = _characters(text, getattr(node, "col_offset", None) or 0)
        end = len(text)
        if getattr(node, "end_lineno", line) == line and getattr(node, "end_col_offset", None) is not None:
            end = _characters(text, node.end_col_offset)
        return Origin(self.file, line, start, max(end, start), text, self.name)


def _characters(text: str, offset: int) -> int:
    """Turn an offset in UTF-8 bytes, as trees have them, into one in characters."""
    return offset if text.isascii() else len(text.encode()[:offset].decode(errors="ignore"))


_PARSED: CodeMap[Parsed] = CodeMap()


def parse(fn: Callable[..., Any]) -> Parsed:
    """Return the text of `fn` as a tree.

    Parameters
    ----------
    fn : callable
        A Python function, bound method, `staticmethod` or `classmethod` object, or lambda. A wrapper made by a
        decorator is parsed as the wrapper that it is.

    Raises
    ------
    SourceUnavailable
        If there is no text that provably is the text of `fn`.
    UnsupportedSyntax
        If the text has a construct that no stage knows.
    """
    function = function_of(fn)
    parsed = _PARSED.get(function.__code__)
    if parsed is None:
        try:
            parsed = deeply(_parse, function)
        except RecursionError:
            reason = "its expressions nest deeper than this version of Python can turn into a tree."
            raise UnsupportedSyntax(
                reason, "use intermediate variables.", _place_of(function), code="too-large"
            ) from None
        _PARSED[function.__code__] = parsed
    return parsed


def function_of(fn: Callable[..., Any]) -> FunctionType:
    """Return the Python function inside a method object.

    Raises
    ------
    SourceUnavailable
        If `fn` is not a function written in Python.
    """
    inner: Any = fn
    while isinstance(inner, (MethodType, staticmethod, classmethod)):
        inner = inner.__func__
    if isinstance(inner, FunctionType):
        return inner
    raise SourceUnavailable(
        f"{_describe(fn)} is not a function written in Python, so there is no text to differentiate.",
        "register a derivative for it with `autodiff_sct.rule`, or call it from a Python function.",
    )


def _describe(fn: Any) -> str:
    name = getattr(fn, "__qualname__", None) or getattr(fn, "__name__", None)
    return f"`{name}`" if isinstance(name, str) else f"An object of type `{type(fn).__name__}`"


def _parse(function: FunctionType) -> Parsed:
    code = function.__code__
    candidates = list(texts_of(function))
    for text in candidates:
        found = locate(text, code)
        if found is not None:
            return _parsed(function, text, found)
    # Every text that is executed has this name, and one that was given to the interpreter may be kept under it.
    raise _unavailable(function, edited=bool(candidates) and code.co_filename != "<string>")


def _parsed(function: FunctionType, text: Text, found: Found) -> Parsed:
    code = function.__code__
    name = _short_name(function)
    lines = text.source.split("\n")
    shell = Parsed(gast.Pass(lineno=code.co_firstlineno), text.file, code.co_firstlineno, lines, name)
    tree = converted(found.node, lambda part: _by_gast(part, shell))
    tree = _as_function(tree, found.bound_to) if isinstance(tree, gast.Lambda) else tree
    tree.decorator_list = []
    if found.class_name.strip("_"):
        _mangle(tree, "_" + found.class_name.lstrip("_"))
    return Parsed(tree, text.file, first_line(found.node), lines, name, code.co_freevars)


def _by_gast(part: ast.AST, shell: Parsed) -> Any:
    """Convert what has rarer kinds of nodes."""
    _check_kinds(part, shell)
    tree = gast.ast_to_gast(part)
    for node in ir.nodes(tree):
        if isinstance(node, gast.ExceptHandler) and node.name is not None:
            gast.copy_location(node.name, node)
    return tree


def _check_kinds(node: ast.AST, shell: Parsed) -> None:
    # gast leaves out, without a word, what it does not know.
    known: set[type] = {ast.arg}
    for each in ast.walk(node):
        kind = type(each)
        if kind in known:
            continue
        known.add(kind)
        if not hasattr(gast, kind.__name__):
            reason = f"`{kind.__name__}` is not part of the Python that is understood."
            raise UnsupportedSyntax(reason, "rewrite this line with older syntax.", shell.origin(each))


def _as_function(tree: gast.Lambda, bound_to: str) -> gast.FunctionDef:
    """Turn `lambda x: e` into `def name(x): return e`."""
    body = gast.copy_location(gast.Return(tree.body), tree.body)
    function = gast.FunctionDef(bound_to or "lambda_", tree.args, [body], [], None, None, [])
    return gast.copy_location(function, tree)


def _mangle(tree: gast.FunctionDef, prefix: str) -> None:
    """Write private names as Python stores them: `self.__w` in a class `Net` is `self._Net__w`."""

    def mangled(name: str) -> str:
        return prefix + name if name.startswith("__") and not name.endswith("__") and "." not in name else name

    for node in gast.walk(tree):
        for field in _NAME_FIELDS.get(type(node).__name__, ()):
            name = getattr(node, field)
            if isinstance(name, str):
                setattr(node, field, mangled(name))
        if isinstance(node, (gast.Global, gast.Nonlocal)):
            node.names = [mangled(name) for name in node.names]
        elif isinstance(node, gast.alias) and mangled(node.asname or node.name) != (node.asname or node.name):
            node.asname = mangled(node.asname or node.name)


# Keyword names in calls and attribute names in class patterns are not mangled by Python.
_NAME_FIELDS = {
    "Name": ("id",),
    "Attribute": ("attr",),
    "FunctionDef": ("name",),
    "MatchAs": ("name",),
    "MatchStar": ("name",),
    "MatchMapping": ("rest",),
}


def _unavailable(function: FunctionType, edited: bool) -> SourceUnavailable:
    code = function.__code__
    name = code.co_qualname
    if edited:
        reason = (
            f"the text in {code.co_filename} is not the text that `{name}` was compiled from: "
            "the file has changed since it was imported, or the function was made or changed by a program."
        )
        remedy = "import the module again, or pass the function's text to `autodiff_sct.from_source(text)`."
    else:
        reason = f"the source text of `{name}` cannot be found."
        remedy = "pass the function's text to `autodiff_sct.from_source(text)`, or put it in a file and import it."
    return SourceUnavailable(reason, remedy, _place_of(function))


def _place_of(function: FunctionType) -> Origin:
    code = function.__code__
    return Origin(code.co_filename, code.co_firstlineno, 0, 0, "", _short_name(function))


def _short_name(function: FunctionType) -> str:
    """Return the qualified name without the functions around."""
    return function.__code__.co_qualname.rpartition("<locals>.")[2]
