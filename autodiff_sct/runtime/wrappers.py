"""Wrappers that hand their arguments on: what they do besides, around what is done in the place of the wrapped call.

::

    @functools.wraps(fn)
    def wrapper(*args, **kwargs):       with running(wrapper, x):       # validates, and enters the settings
        validate(*args, **kwargs)           ...                         # the body of `fn`
        with settings():
            return fn(*args, **kwargs)

The text of the wrapper becomes that of a generator, with a `yield` in the place of each ``return fn(*args, **kwargs)``.
"""

from __future__ import annotations

import ast
import functools
import inspect
import textwrap
from collections.abc import Iterator
from types import CodeType, FunctionType, TracebackType
from typing import Any

from ..errors import NoRule
from .objects import contents, read_only

__all__ = ["running"]

NO_CALL = "the wrapper {} does not call the function that it wraps"


class running:
    """Runs a wrapper around a block that stands for the call of the function that it wraps.

    Arrays are given to the wrapper as views that it cannot write into.  What the block raises is raised in the place
    of the call, and whatever the wrapper makes of it comes out.

    Raises
    ------
    NoRule
        If the wrapper returns without the call, or after an exception of the block.
    """

    def __init__(self, wrapper: FunctionType, /, *args: Any, **kwargs: Any) -> None:
        self.wrapper, self.given = wrapper, read_only((args, kwargs))

    def __enter__(self) -> None:
        args, kwargs = self.given
        before = contents(self.given)
        self.steps: Iterator[None] = generator_of(self.wrapper)(*args, **kwargs)
        if next(self.steps, self) is self or contents(self.given) != before:
            raise NoRule(NO_CALL.format(self.wrapper.__name__))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if error is None:
            next(self.steps, None)
            return
        try:
            self.steps.throw(error)  # type: ignore[attr-defined]
        except StopIteration:
            pass
        except BaseException as raised:
            if raised is error:
                return
            raise
        raise NoRule(NO_CALL.format(self.wrapper.__name__)) from error


def generator_of(wrapper: FunctionType) -> FunctionType:
    """The generator function that a wrapper becomes."""
    code = code_of_generator(wrapper.__code__)
    cells = dict(zip(wrapper.__code__.co_freevars, wrapper.__closure__ or ()))
    closure = tuple(cells[name] for name in code.co_freevars)
    made = FunctionType(code, wrapper.__globals__, wrapper.__name__, wrapper.__defaults__, closure)
    made.__kwdefaults__ = wrapper.__kwdefaults__
    return made


@functools.cache
def code_of_generator(code: CodeType) -> CodeType:
    """The code of a wrapper with a `yield` in the place of what it returns."""
    lines, first = inspect.getsourcelines(code)
    module = ast.parse(textwrap.dedent("".join(lines)))
    ast.increment_lineno(module, first - 1)
    function = module.body[0]
    assert isinstance(function, ast.FunctionDef)
    function.decorator_list = []
    ReturnsYield().generic_visit(function)
    around = ast.parse(f"def around({', '.join(code.co_freevars)}): pass")
    around.body[0].body = [function]  # type: ignore[attr-defined]
    outer = compile(around, code.co_filename, "exec").co_consts
    inner = next(part for part in outer if isinstance(part, CodeType)).co_consts
    return next(part for part in inner if isinstance(part, CodeType))


class ReturnsYield(ast.NodeTransformer):
    """Writes `yield` for `return`, but not in functions that are nested."""

    def visit_Return(self, node: ast.Return) -> Any:
        here = functools.partial(ast.copy_location, old_node=node)
        return [here(ast.Expr(here(ast.Yield(None)))), here(ast.Return(None))]

    def visit_FunctionDef(self, node: Any) -> Any:
        return node

    visit_AsyncFunctionDef = visit_Lambda = visit_ClassDef = visit_FunctionDef
