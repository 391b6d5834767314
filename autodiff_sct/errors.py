"""Every error that the package raises on its own account.

::

    AutodiffError
    ├── Refused                                   a program that cannot be differentiated rightly
    │   ├── UnsupportedSyntax (NotImplementedError)   a construct outside the language that is understood
    │   ├── NoRule (NotImplementedError)              a callee with neither a rule nor Python source
    │   ├── AliasError                                memory shared in a way that cannot be followed
    │   ├── SourceUnavailable (OSError)               no text that provably is the function's own
    │   └── NotDifferentiable (TypeError)             an input or a result without a derivative
    │       └── Degenerate                                a derivative lost in the choice of a basis
    ├── DerivativeMismatch (AssertionError)       a derivative that differs from central differences, of `check_grads`
    ├── NonFinite (FloatingPointError)            a line that makes a NaN or an infinity, found by `debug_nans`
    └── ArgumentError                             a call of ours with a wrong argument
        ├── ArgumentTypeError (TypeError)
        ├── ArgumentValueError (ValueError)
        ├── ArgumentRuntimeError (RuntimeError)
        ├── ArgumentIndexError (IndexError)
        └── ArgumentAttributeError (AttributeError)

Errors of the differentiated program itself are never wrapped: they come out as the user raised them.
"""

from __future__ import annotations

import os
import traceback
from pathlib import Path
from typing import Any, NamedTuple

from .notebook_cells import cell_of

__all__ = [
    "REMEDIES",
    "REPEATABLE",
    "AliasError",
    "ArgumentAttributeError",
    "ArgumentError",
    "ArgumentIndexError",
    "ArgumentRuntimeError",
    "ArgumentTypeError",
    "ArgumentValueError",
    "AutodiffError",
    "Degenerate",
    "DerivativeMismatch",
    "NoRule",
    "NonFinite",
    "NotDifferentiable",
    "Origin",
    "Refused",
    "SourceUnavailable",
    "UnsupportedSyntax",
]

PACKAGE = str(Path(__file__).resolve().parent) + os.sep
# The mark of an exception out of an emitted program: whether the call left nothing behind, so that it may be repeated.
REPEATABLE = "__autodiff_repeatable__"
# What to do about each kind of refusal where nothing more exact can be said. docs/errors.md has an entry for each.
REMEDIES = {
    "attribute": "assign it in __init__",
    "cached-function": "call it without the cache",
    "changed-while-iterated": "make a list of it first",
    "class-feature": "use an ordinary class with __init__, or a dataclass",
    "copy": "copy the arrays in it",
    "degenerate": "write it without the vectors, as `a @ a` for `(v * w**2) @ v.T`",
    "dict-key": "use constant keys, or a list",
    "dict-method": "use constant keys, read with `get`, or keep the values in a list",
    "different-kinds": "give it one kind of value on every path",
    "exceptions": "let a condition before the statement decide",
    "function-value": "call it directly, or define it at module level",
    "hidden-variables": "compute it outside, and pass it as an argument",
    "input-without-derivative": "leave it out of grad_position",
    "integer-input": "pass floats: `x.astype(float)`",
    "isinstance": "ask for a class",
    "iterator": "make a list of it first",
    "kept-generator": "go over it with `for`, or make a list of it",
    "kept-in-object": "keep such values in a list",
    "list-of-objects": "use numbers, arrays or tuples of them",
    "local-class": "write it inside the methods, or define the class at the top level of a module",
    "memory-order": "pass it in C order (`np.ascontiguousarray`)",
    "method": "use NumPy functions on arrays",
    "nested-derivative": "take the derivative outside the differentiated function",
    "no-forward-rule": "register one with autodiff_sct.rule.forward",
    "no-rule": (
        "register one with autodiff_sct.rule, wrap its result in stop_gradient, "
        "or write it with functions that have rules"
    ),
    "no-source": "register a derivative for it with autodiff_sct.rule, or put it in a file and import it",
    "numpy-form": "assign what it returns",
    "object-identity": "compare by `==`",
    "outside-write": "pass it as an argument and return it",
    "recursion": "write it as a loop",
    "result-without-derivative": "return a number or an array",
    "segments": "leave `segments` out, or take that out of the loop",
    "setting": "leave these settings out, or register a rule with autodiff_sct.rule",
    "shared-arguments": "pass a copy of one of them",
    "solution": "give it a better start, or a looser tolerance",
    "sparsity-pattern": "use the dense Jacobian, `jacfwd(f)`",
    "too-large": "write the recursion as a loop, or a long expression as several statements",
    "unknown-length": "make a list of it first",
    "unknown-value": "give it one kind of value on every path",
    "unknown-write": "give it a constant: `stop_gradient(x).copy()`",
    "unsupported-syntax": "do that outside the differentiated function",
    "vectorize": "write the loop over the elements",
    "which-object": "assign it in __init__",
    "written-view": "copy it first (`.copy()`)",
}


class Origin(NamedTuple):
    """A place in the user's source.

    Attributes
    ----------
    file : str
        Path as the code object names it.
    line : int
        Line in the file, counted from 1.
    column, end_column : int
        Characters (not bytes) of `text` that are meant, counted from 0, the end exclusive.
    text : str
        The whole source line, with its indentation.
    function : str
        Name of the function that the line belongs to.
    """

    file: str
    line: int
    column: int
    end_column: int
    text: str
    function: str

    def show(self) -> str:
        """Return the place as three lines: where, the source line, and carets under the columns."""
        text = self.text.rstrip()
        body = text.lstrip()
        margin = len(text) - len(body)
        start = min(max(self.column - margin, 0), len(body))
        width = max(min(self.end_column - margin, len(body)) - start, 1)
        # Tabs stay tabs, so that the carets line up however wide the terminal shows them.
        lead = "".join("\t" if char == "\t" else " " for char in body[:start])
        where = f"{cell_of(self.file) or self.file}:{self.line}: in {self.function}"
        return f"{where}\n    {body}\n    {lead}{'^' * width}" if body else where


class AutodiffError(Exception):
    """Base of all errors of this package."""

    def _render_traceback_(self) -> list[str]:
        """Render a traceback for Jupyter and IPython: the frames of the user's, one line of code each."""
        frames = traceback.extract_tb(self.__traceback__)
        if os.environ.get("AUTODIFF_SCT_TRACEBACK") != "full":
            hidden = (PACKAGE, f"{os.sep}IPython{os.sep}core{os.sep}")
            users = [frame for frame in frames if not any(folder in frame.filename for folder in hidden)]
            frames = traceback.StackSummary.from_list(users)
        head = ["Traceback (most recent call last):\n"] if frames else []
        text = "".join([*head, *frames.format(), *traceback.format_exception_only(self)])
        for file in {frame.filename for frame in frames}:
            if (cell := cell_of(file)) is not None:
                text = text.replace(f'File "{file}"', f"Cell {cell}")
        return text.splitlines()


class DerivativeMismatch(AutodiffError, AssertionError):
    """A derivative that differs from central differences, found by `check_grads` or `check_rule`."""


class NonFinite(AutodiffError, FloatingPointError):
    """A line that makes a NaN or an infinity, found by `debug_nans`; `findings` are the first ones of each sweep."""

    def __init__(self, message: str, findings: tuple[Any, ...] = ()) -> None:
        super().__init__(message)
        self.findings = findings


class Refused(AutodiffError):
    """A program that cannot be differentiated rightly.

    Parameters
    ----------
    reason : str
        What stands in the way, in terms of the user's program.
    remedy : str, optional
        What the user can do: the rewrite, or the rule to register.
    origin : Origin, optional
        The place in the user's source.
    code : str, optional
        The kind of refusal, a key of `REMEDIES`; each class has one of its own.
    """

    code = ""

    def __init__(self, reason: str, remedy: str = "", origin: Origin | None = None, code: str = "") -> None:
        super().__init__(reason)
        self.code = code or type(self).code
        self.reason = reason
        self.remedy = remedy or REMEDIES.get(self.code, "")
        self.origin = origin

    def __str__(self) -> str:
        parts = [self.origin.show()] if self.origin is not None else []
        parts.append(self.reason)
        if self.remedy:
            parts.append(f"What to do: {self.remedy}")
        if self.code:
            parts.append(f"More: docs/errors.md#{self.code}")
        return "\n".join(parts)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.reason, self.remedy, self.origin, self.code), dict(self.__dict__)


class UnsupportedSyntax(Refused, NotImplementedError):
    """A construct outside the part of Python that is differentiated."""

    code = "unsupported-syntax"


class NoRule(Refused, NotImplementedError):
    """A callee on an active path that has neither a derivative rule nor Python source."""

    code = "no-rule"


class AliasError(Refused):
    """Memory that is shared and written in a way that cannot be followed."""

    code = "written-view"
    regions: frozenset[int] = frozenset()  # the compiler's numbers of that memory, where it has another way to try


class SourceUnavailable(Refused, OSError):
    """No source text that provably is the text of the function object."""

    code = "no-source"


class NotDifferentiable(Refused, TypeError):
    """An input or a result that has no derivative: an integer, a string, None, an object."""

    code = "result-without-derivative"


class Degenerate(NotDifferentiable):
    """A result that depends on the vectors of equal eigenvalues, or a second derivative of a norm that is zero."""

    code = "degenerate"


class ArgumentError(AutodiffError):
    """A wrong argument to a function of this package."""


class ArgumentTypeError(ArgumentError, TypeError):
    """An argument of a wrong type."""


class ArgumentValueError(ArgumentError, ValueError):
    """An argument of the right type with an impossible value."""


class ArgumentRuntimeError(ArgumentError, RuntimeError):
    """An argument that proves wrong only while the call runs."""


class ArgumentIndexError(ArgumentError, IndexError):
    """An index or position out of range."""


class ArgumentAttributeError(ArgumentError, AttributeError):
    """An object without an attribute or method that it must have."""
