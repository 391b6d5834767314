"""Source texts: where the text of a code object may stand, and what a text says about a code object.

A text is only ever a *candidate*: `locate` compiles it and accepts a function in it if the compiled code is the code
that the function object carries. An edited, shifted or replaced file can thus never be mistaken for the function's
own text.
"""

from __future__ import annotations
import __future__

import ast
import functools
import linecache
import os
import sys
import weakref
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType
from typing import Any, Generic, NamedTuple, TypeVar

V = TypeVar("V")
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda

FUTURE_FLAGS = functools.reduce(
    lambda flags, name: flags | getattr(__future__, name).compiler_flag, __future__.all_feature_names, 0
)


class Text(NamedTuple):
    """The text of a file, real or not, in which a function was compiled."""

    file: str
    source: str


class Found(NamedTuple):
    """A definition in a text: its node, the class around it, and the name that a lambda is bound to."""

    node: Definition
    class_name: str
    bound_to: str


class CodeMap(Generic[V]):
    """A mapping from code objects by identity, which does not keep them alive.

    Equality would not do: code objects from two files compare equal when only the files' names differ.
    """

    def __init__(self) -> None:
        self._entries: dict[int, tuple[weakref.ref[CodeType], V]] = {}

    def get(self, code: CodeType) -> V | None:
        entry = self._entries.get(id(code))
        return entry[1] if entry is not None and entry[0]() is code else None

    def __setitem__(self, code: CodeType, value: V) -> None:
        key, entries = id(code), self._entries

        def forget(gone: weakref.ref[CodeType]) -> None:
            if key in entries and entries[key][0] is gone:
                del entries[key]

        entries[key] = (weakref.ref(code, forget), value)

    def __len__(self) -> int:
        return len(self._entries)


TEXTS: CodeMap[Text] = CodeMap()
"""The texts of functions that were compiled by this package, which no file needs to hold."""


def register(code: CodeType, text: Text) -> None:
    """Record `text` as the text of `code` and of every function defined inside it."""
    for each in codes_in(code):
        TEXTS[each] = text


def codes_in(code: CodeType) -> Iterator[CodeType]:
    """Yield `code` and all code objects nested in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes_in(constant)


def texts_of(function: FunctionType) -> Iterator[Text]:
    """Yield the texts that may hold the text of `function`, the likeliest first."""
    code = function.__code__
    own = TEXTS.get(code)
    if own is not None:
        yield own
    # A compiled file that was moved still names its old place, and a frozen one none at all; the module knows better.
    for file in dict.fromkeys((code.co_filename, function.__globals__.get("__file__"))):
        if isinstance(file, str) and _may_name(code.co_filename, file):
            linecache.checkcache(file)
            lines = linecache.getlines(file, function.__globals__) or _lines_by_code(code)
            if lines:
                yield Text(file, "".join(lines))


def _may_name(name: str, file: str) -> bool:
    """Tell whether the file name in a code object may mean `file`."""
    made = name == "<string>"  # by `exec` of a part of the file, as reloaders do
    return made or name == file or name.startswith("<frozen ") or os.path.basename(name) == os.path.basename(file)


def _lines_by_code(code: CodeType) -> list[str]:
    # Since Python 3.13 the text of `python -c` and of the prompt is kept by code object.
    by_code: Callable[[CodeType], list[str]] | None = getattr(linecache, "_getlines_from_code", None)
    return list(by_code(code)) if by_code is not None else []


def locate(text: Text, code: CodeType) -> Found | None:
    """Find the definition in `text` that compiles to `code`, or None.

    The place that the code object names is tried first. Where the text has been shifted, a definition of the same
    name elsewhere that compiles to the same code means the same.
    """
    try:
        module = _module(text.source)
        if TEXTS.get(code) is text:  # this is what it was compiled from
            return _definition(module, code)
        for search in (_in_place, _anywhere, _alone):
            found = search(module, text.source, code)
            if found is not None:
                return found
    except (SyntaxError, ValueError):
        pass
    return None


@functools.lru_cache(maxsize=4)
def _module(source: str) -> ast.Module:
    return ast.parse(source)


def _in_place(module: ast.Module, source: str, code: CodeType) -> Found | None:
    line = code.co_firstlineno
    for statement in module.body:
        if first_line(statement) <= line <= last_line(statement):
            # A call of a method compiles to other code where the object is a name that the module imports.
            alone = ast.Module([*_imports(module.body), statement], [])
            for candidate in _compiled(alone, source, code):
                if candidate.co_firstlineno == line and same_code(candidate, code, positions=True):
                    return _definition(statement, candidate)
    return None


def _anywhere(module: ast.Module, source: str, code: CodeType) -> Found | None:
    matches = [each for each in _compiled(module, source, code) if same_code(each, code, positions=False)]
    if not matches:
        return None
    nearest = min(matches, key=lambda each: abs(each.co_firstlineno - code.co_firstlineno))
    return _definition(module, nearest)


def _alone(module: ast.Module, source: str, code: CodeType) -> Found | None:
    """The definition that compiles to `code` without the imports of its module: a reloader may compile it by itself."""
    for statement in _each_definition(module):
        for candidate in _compiled(ast.Module([statement], []), source, code):
            if same_code(candidate, code, positions=False):
                return _definition(module, candidate)
    return None


def _each_definition(tree: ast.Module | ast.ClassDef) -> Iterator[ast.stmt]:
    """Yield the functions of a module, and each method in a class of its own."""
    for statement in tree.body:
        if isinstance(statement, ast.ClassDef):
            yield from _each_definition(statement)
        elif isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield with_body(tree, [statement]) if isinstance(tree, ast.ClassDef) else statement


def with_body(cls: ast.ClassDef, body: list[ast.stmt]) -> ast.ClassDef:
    """The class without bases and decorators, and with another body."""
    since_312: Any = {"type_params": []} if hasattr(cls, "type_params") else {}
    return ast.copy_location(ast.ClassDef(cls.name, [], [], body, [], **since_312), cls)


def _imports(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the imports in the scope that `body` is in."""
    for statement in body:
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            yield statement
        elif not isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            for field in ("body", "orelse", "finalbody"):
                yield from _imports(getattr(statement, field, []))
            for handler in getattr(statement, "handlers", []):
                yield from _imports(handler.body)


def _compiled(module: ast.Module, source: str, code: CodeType) -> Iterator[CodeType]:
    """Compile `module`, as `code` was compiled, and yield the code objects in it."""
    if any(name.startswith("@py") for name in code.co_varnames + code.co_names):
        module = _with_rewritten_asserts(source)
    flags = code.co_flags & FUTURE_FLAGS
    yield from codes_in(compile(module, code.co_filename, "exec", flags=flags, dont_inherit=True))


def _with_rewritten_asserts(source: str) -> ast.Module:
    """Return the module as pytest compiles it, for functions with an `assert` that stand in a test file."""
    module = ast.parse(source)
    rewriting: Any = sys.modules.get("_pytest.assertion.rewrite")
    if rewriting is not None:
        rewriting.rewrite_asserts(module, source.encode())
    return module


def same_code(one: CodeType, other: CodeType, positions: bool) -> bool:
    """Tell whether two code objects do the same, and if `positions`, stand at the same place in a text."""
    return (
        one.co_name == other.co_name
        and one.co_code == other.co_code
        and one.co_names == other.co_names
        and one.co_varnames == other.co_varnames
        and one.co_freevars == other.co_freevars
        and one.co_cellvars == other.co_cellvars
        and one.co_flags == other.co_flags
        and one.co_argcount == other.co_argcount
        and one.co_posonlyargcount == other.co_posonlyargcount
        and one.co_kwonlyargcount == other.co_kwonlyargcount
        and one.co_exceptiontable == other.co_exceptiontable
        and _same_constants(one.co_consts, other.co_consts, positions)
        and (not positions or _same_positions(one, other))
    )


def _same_positions(one: CodeType, other: CodeType) -> bool:
    if one.co_firstlineno == other.co_firstlineno and one.co_linetable == other.co_linetable:
        return True
    return list(one.co_positions()) == list(other.co_positions())


def _same_constants(one: Any, other: Any, positions: bool) -> bool:
    """Compare constants by type and value: `1`, `1.0` and `True` differ, as do `0.0` and `-0.0`."""
    if type(one) is not type(other):
        return False
    if isinstance(one, CodeType):
        return same_code(one, other, positions)
    if isinstance(one, tuple):
        return len(one) == len(other) and all(_same_constants(a, b, positions) for a, b in zip(one, other, strict=True))
    if isinstance(one, frozenset):
        return sorted(map(repr, one)) == sorted(map(repr, other))
    if isinstance(one, (float, complex)):
        return repr(one) == repr(other)
    return bool(one == other)


def _definition(tree: ast.AST, code: CodeType) -> Found | None:
    """Find the node in `tree` that was compiled to `code`."""
    found = [each for each in _definitions(tree, code.co_firstlineno) if _may_be(each.node, code)]
    if code.co_name == "<lambda>" and len(found) > 1:
        spans = _spans(code)
        found = [each for each in found if (_contains(each.node, spans) if spans else _is_alone(each.node, code))]
    # The innermost is the last: `lambda x: (lambda y: y)` holds the places of both.
    return max(found, key=lambda each: (each.node.lineno, each.node.col_offset), default=None)


def _is_alone(node: ast.AST, code: CodeType) -> bool:
    """Tell whether a lambda compiles to `code` by itself: the test where instructions name no columns."""
    expression = ast.Expression(node)  # type: ignore[arg-type]
    compiled = compile(expression, code.co_filename, "eval", flags=code.co_flags & FUTURE_FLAGS, dont_inherit=True)
    return any(same_code(each, code, positions=False) for each in compiled.co_consts if isinstance(each, CodeType))


def _may_be(node: Definition, code: CodeType) -> bool:
    name = "<lambda>" if isinstance(node, ast.Lambda) else node.name
    return name == code.co_name and first_line(node) == code.co_firstlineno


def _definitions(tree: ast.AST, line: int) -> Iterator[Found]:
    """Yield the functions and lambdas in `tree` around `line`, the outer ones first."""
    stack: list[tuple[ast.AST, str, str]] = [(tree, "", "")]
    while stack:
        node, class_name, bound_to = stack.pop()
        if hasattr(node, "lineno") and not first_line(node) <= line <= last_line(node):
            continue
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            yield Found(node, class_name, bound_to)
        inner = node.name if isinstance(node, ast.ClassDef) else class_name
        stack.extend((child, inner, _binding(node, child)) for child in ast.iter_child_nodes(node))


def _binding(node: ast.AST, child: ast.AST) -> str:
    """Return the name that an assignment `node` gives its value `child`, or an empty string."""
    if isinstance(node, ast.Assign) and len(node.targets) == 1 and node.value is child:
        target = node.targets[0]
    elif isinstance(node, (ast.AnnAssign, ast.NamedExpr)) and node.value is child:
        target = node.target
    else:
        return ""
    return target.id if isinstance(target, ast.Name) else ""


def _spans(code: CodeType) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Return the non-empty source ranges that the instructions of `code` name."""
    ranges = (((line, column), (end, last)) for line, end, column, last in code.co_positions() if _known(line, column))
    return [(start, end) for start, end in ranges if end > start]  # type: ignore[misc]


def _known(line: int | None, column: int | None) -> bool:
    return line is not None and column is not None


def _contains(node: Definition, spans: list[tuple[tuple[int, int], tuple[int, int]]]) -> bool:
    body = node.body if isinstance(node, ast.Lambda) else node
    start = (body.lineno, body.col_offset)
    end = (body.end_lineno, body.end_col_offset)
    return all(start <= first and last <= end for first, last in spans)


def first_line(node: Any) -> int:
    """Return the first line of a node, with its decorators."""
    return min((decorator.lineno for decorator in getattr(node, "decorator_list", ())), default=node.lineno)


def last_line(node: Any) -> int:
    """Return the last line of a node."""
    return node.end_lineno or node.lineno
