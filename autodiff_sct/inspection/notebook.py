"""Magics for notebooks and IPython: ``%load_ext autodiff_sct`` brings ``%adjoint f(x)`` and ``%%adjoint``.

This module needs IPython, and is read by ``%load_ext`` only.
"""

from __future__ import annotations

import ast
from typing import Any

from IPython.core.magic import Magics, line_cell_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring
from IPython.display import display

from ..api import adjoint_source
from ..errors import ArgumentValueError
from .explorer import show
from .profile import profile

__all__ = ["AdjointMagics", "load_ipython_extension"]


def load_ipython_extension(shell: Any) -> None:
    """Register the magics; IPython calls this for ``%load_ext autodiff_sct``."""
    shell.register_magics(AdjointMagics)


@magics_class
class AdjointMagics(Magics):
    """The magics of this package."""

    shell: Any  # the running one: no magic is called without it

    @magic_arguments()
    @argument("--wrt", default="0", help="positions of the arguments to differentiate with respect to, as 0,1")
    @argument("--explain", action="store_true", help="say what is saved, computed again or put back")
    @argument("--page", action="store_true", help="show the function beside its adjoint, line by line")
    @argument("--profile", action="store_true", help="show what each line costs; with --page, on the page")
    @argument("call", nargs="*", help="a function, or a call of it with example arguments")
    @line_cell_magic
    def adjoint(self, line: str, cell: str | None = None) -> None:
        """Show the adjoint of a function.

        ``%adjoint f(x, 2.0)`` shows it for the kinds of these arguments, ``%adjoint f`` for arguments of any kind.
        ``%%adjoint`` runs the cell and shows the adjoint of the last function that it defines; ``%%adjoint f(x)`` runs
        it and shows that of the call.
        """
        options = parse_argstring(self.adjoint, line)
        text = line[line.index(options.call[0]) :].strip() if options.call else ""
        if cell is not None:
            if not self.run(cell):
                return
            text = text or last_function(cell)
        if not text:
            raise ArgumentValueError("%adjoint takes a function or a call of it: %adjoint f(x, 2.0)")
        fn, args, kwargs = self.called(text)
        wrt = tuple(int(part) for part in options.wrt.split(","))
        position = wrt[0] if len(wrt) == 1 else wrt
        if options.page:
            display(show(fn, *args, grad_position=position, profile=options.profile, **kwargs))
        elif options.profile:
            display(profile(fn, position)(*args, **kwargs))
        else:
            display(adjoint_source(fn, *args, grad_position=position, explain=options.explain, **kwargs))

    def run(self, cell: str) -> bool:
        """Run the text below ``%%adjoint``, whose lines count from there, under the number of its cell."""
        shell, number = self.shell, self.shell.execution_count
        shell.execution_count = len(shell.user_ns["In"]) - 1
        try:
            return bool(shell.run_cell(cell if cell.startswith("%%") else f"# %%adjoint\n{cell}").success)
        finally:
            shell.execution_count = number

    def called(self, text: str) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
        """The function that a text names, and the arguments that it is called with there."""
        node = ast.parse(text, mode="eval").body
        if not isinstance(node, ast.Call):
            return self.shell.ev(text), (), {}
        received = "(lambda *args, **kwargs: (args, kwargs))"
        args, kwargs = self.shell.ev(f"{received}{text[len(ast.get_source_segment(text, node.func) or '') :].strip()}")
        return self.shell.ev(ast.unparse(node.func)), args, kwargs


def last_function(cell: str) -> str:
    """The name of the last function that a cell defines."""
    names = [node.name for node in ast.parse(cell).body if isinstance(node, ast.FunctionDef)]
    if not names:
        raise ArgumentValueError("the cell below %%adjoint defines no function")
    return names[-1]
