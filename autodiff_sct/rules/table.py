"""The derivative table: one text for the compiler, forward mode and the tape; rules of optional libraries.

A rule is an ordinary function ``rule(y, d, *arguments)``: ``y`` is the primal's result, ``d`` the incoming
derivative, and the rest are the primal's own parameters, with the same names, order and defaults.  It returns one
*entry* for each leading parameter (a bare entry where only the first parameter is differentiable, ``None`` where a
parameter is not): the linear map that the parameter's derivative obeys, applied to ``d``.

====================  =================================================  =========================================
decorator             what the text says                                 who applies it
====================  =================================================  =========================================
``elementwise(f)``    ``d -> f'(x) * d``: its own transpose              reverse and forward mode
``linear(f)``         the transpose of ``f`` in its first parameter      reverse mode; forward mode calls ``f``
``reverse(f)``        cotangent of the result -> cotangents of inputs    reverse mode
``forward(f)``        tangent of input i -> its share of the result's    forward mode, which sums the shares
====================  =================================================  =========================================

Invariants that an engine keeps, so that a rule need not: an entry whose shape differs from its input's, as those of
elementwise and of ``broadcasting`` functions may, is summed over (or broadcast along) the axes that differ; an entry is
cast to the dtype of its input; a ``d`` that a rule other than an elementwise one receives has the full shape of ``y``.
For a function with several results ``y`` and ``d`` are tuples, and ``d`` holds ``None`` for a result that nothing
depends on.

Inside a rule an ``if`` may test facts (``x.ndim == 2``, ``axis is None``): the compiler folds it where it knows the
fact, the tape executes it.  A function decorated with ``static`` computes settings (axes, subscripts) from settings;
the compiler runs it at compile time where its arguments are known.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import Any, TypeVar

__all__ = [
    "BROADCASTING",
    "BY_ITEM",
    "NONDIFFERENTIABLE",
    "STATIC",
    "STEPS_OF_REALS",
    "TABLE",
    "Rule",
    "broadcasting",
    "by_item",
    "elementwise",
    "forward",
    "linear",
    "load_optional",
    "nondifferentiable",
    "perturbing",
    "reverse",
    "static",
    "steps_of_reals",
]

F = TypeVar("F", bound=Callable[..., Any])


@dataclass
class Rule:
    """The row of one function in the table."""

    fn: Callable[..., Any]
    kind: str = "general"  # "elementwise", "linear" or "general"
    reverse: Callable[..., Any] | None = None
    forward: Callable[..., Any] | None = None
    reverse_anywhere: Callable[..., Any] | None = None  # in place of the other at singular points, and at every order
    forward_anywhere: Callable[..., Any] | None = None
    reverse_again: Callable[..., Any] | None = None  # in place of the other where its result is differentiated again
    forward_again: Callable[..., Any] | None = None
    perturbed: Callable[..., Any] | None = None  # the same function of an argument near by, where derivatives exist
    degenerate: bool = False  # True if there are points at which perturbed functions give the derivative
    signature: inspect.Signature = field(default_factory=inspect.Signature)

    @property
    def home(self) -> str:
        """The module of the reverse-mode rule."""
        return "" if self.reverse is None else self.reverse.__module__

    @cached_property
    def by_position(self) -> tuple[tuple[str, ...], range]:
        """The parameters that arguments without names are bound to, one each, and how many of these there may be."""
        parameters = list(self.signature.parameters.values())
        named = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        needed = [p for p in parameters if p.default is p.empty and p.kind is not p.VAR_KEYWORD]
        if any(p.kind in (p.VAR_POSITIONAL, p.KEYWORD_ONLY) for p in needed):
            return (), range(0)
        return tuple(named), range(len(needed), len(named) + 1)


TABLE: dict[Callable[..., Any], Rule] = {}
NONDIFFERENTIABLE: set[Callable[..., Any]] = set()
STEPS_OF_REALS: set[Callable[..., Any]] = set()
COMPLEX_BY_VALUE: set[Callable[..., Any]] = set()  # of real arrays they make complex ones where the values ask for it
STATIC: set[Callable[..., Any]] = set()
BY_ITEM: set[Callable[..., Any]] = set()
BROADCASTING: set[Callable[..., Any]] = set()


def signature_of(rule: Callable[..., Any]) -> inspect.Signature:
    """The primal's parameters: those of `rule` after ``y`` and ``d``."""
    parameters = list(inspect.signature(rule).parameters.values())
    return inspect.Signature(parameters[2:])


def entry_for(fn: Callable[..., Any], rule: Callable[..., Any]) -> Rule:
    """The row of `fn`, made with the signature that `rule` shows where there is none yet."""
    if not callable(fn):
        raise TypeError(f"a rule is registered for a callable, not for {fn!r}")
    if fn not in TABLE:
        TABLE[fn] = Rule(fn, signature=signature_of(rule))
    return TABLE[fn]


def elementwise(*fns: Callable[..., Any]) -> Callable[[F], F]:
    """Register a rule whose entries are elementwise factors of ``d``: the same text is the vjp and the jvp."""

    def register(rule: F) -> F:
        for fn in fns:
            row = entry_for(fn, rule)
            row.kind, row.reverse, row.forward = "elementwise", rule, rule
        return rule

    return register


def linear(*fns: Callable[..., Any]) -> Callable[[F], F]:
    """Register the transpose of functions that are linear in their first parameter (an array or a list of arrays)."""

    def register(rule: F) -> F:
        for fn in fns:
            row = entry_for(fn, rule)
            row.kind, row.reverse = "linear", rule
        return rule

    return register


def reverse(*fns: Callable[..., Any], anywhere: bool = False, again: bool = False) -> Callable[[F], F]:
    """Register the reverse-mode rule of functions, or one that also holds where that, or its derivative, fails.

    `again`: a rule for derivatives that are differentiated again, which says where a second derivative is not known.
    """

    def register(rule: F) -> F:
        for fn in fns:
            setattr(entry_for(fn, rule), "reverse" + suffix(anywhere, again), rule)
        return rule

    return register


def forward(*fns: Callable[..., Any], anywhere: bool = False, again: bool = False) -> Callable[[F], F]:
    """Register the forward-mode rule of functions: each entry maps one input's tangent, in the place of ``d``.

    On top of ``linear`` it says that the function itself, with its other arguments as they are, is not the tangent's.
    """

    def register(rule: F) -> F:
        for fn in fns:
            row = entry_for(fn, rule)
            setattr(row, "forward" + suffix(anywhere, again), rule)
            row.kind = "general" if row.kind == "linear" else row.kind
        return rule

    return register


def suffix(anywhere: bool, again: bool) -> str:
    """The suffix of the name of a field that holds a rule for certain programs only."""
    return "_anywhere" if anywhere else "_again" if again else ""


def perturbing(fn: Callable[..., Any], perturbed: Callable[..., Any], *slopes: Callable[..., Any]) -> None:
    """Declare which function stands for `fn` in programs that are run near points without a derivative.

    There the derivative of `fn` raises or is NaN, or those of `slopes`, functions which the derivative of `fn` calls.
    """
    TABLE[fn].perturbed = perturbed
    for slope in slopes or (fn,):
        TABLE[slope].degenerate = True


def nondifferentiable(*fns: Callable[..., Any]) -> None:
    """Declare functions whose derivative is zero wherever it exists, or whose results are not real numbers."""
    NONDIFFERENTIABLE.update(fns)


def steps_of_reals(*fns: Callable[..., Any]) -> None:
    """Declare that functions with a rule have derivative zero for real arguments: engines need not follow them."""
    STEPS_OF_REALS.update(fns)


def broadcasting(*fns: Callable[..., Any]) -> None:
    """Declare that entries of functions may differ from their inputs in the lengths of as many axes.

    Those of elementwise functions may; all others are of the shape of an input that has as many axes.
    """
    BROADCASTING.update(fns)


def by_item(*fns: Callable[..., Any]) -> None:
    """Declare that the forward rules of functions of a tuple return a list: an entry for the tangent of each item."""
    BY_ITEM.update(fns)


def static(fn: F) -> F:
    """Declare that `fn` computes settings from settings, without side effects: the compiler may run it itself."""
    STATIC.add(fn)
    return fn


MODULES = {
    "bottleneck": ("bottleneck",),
    "scipy.fft": ("scipy.fft",),
    "scipy.fftpack": ("scipy.fftpack",),
    "scipy.integrate": ("scipy.sampled",),
    "scipy.interpolate": ("scipy.interpolation",),
    "scipy.sparse": ("scipy.sparse",),
    "scipy.signal": ("scipy.signals",),
    "scipy.ndimage": ("scipy.signals", "scipy.images", "scipy.resampled", "scipy.ranked"),
    "scipy.spatial.distance": ("scipy.distances",),
    "scipy.special": ("scipy.special", "scipy.bessel", "scipy.integrals"),
    "scipy.stats": ("scipy.stats", "scipy.samples"),
    "scipy.linalg": ("scipy.linalg", "scipy.factors", "scipy.equations", "scipy.structured"),
}


def load_optional() -> None:
    """Fill the table with the rules of the libraries that have been imported."""
    for library, rules in MODULES.items():
        if library in sys.modules:
            for name in rules:
                import_module(f"{__package__}.{name}")
