"""Arguments and results at the boundary of compiled code: signatures, binding, and tensors unwrapped and wrapped."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Iterator
from types import FunctionType, MethodType
from typing import Any

import numpy as np

from ...core.process_state import part
from ...errors import ArgumentTypeError, ArgumentValueError, AutodiffError
from ...tensor import wrap
from ..domain import pytree
from ..domain.facts import UNKNOWN, Listed, Mapped, Num
from ..domain.identifiers import identifier
from ..domain.pytree import Static, children, describe, is_mutable, is_tensor, with_children
from ..domain.values import Leaf, ListV, Obj, TupleV, home_of, python_of
from .cache.fingerprint import is_library

__all__ = ["Binding", "IndexPastArguments", "Slot", "defaults_of", "general_tree", "refuse_endless", "signature_of"]


def signature_of(fn: Any) -> inspect.Signature:
    """The parameters of anything callable; those of ``construct`` for a Cell."""
    target = fn
    if hasattr(type(fn), "construct") and not inspect.isfunction(fn):
        target = fn.construct
    target = python_of(target) or target
    if not hasattr(target, "__code__") and (known := signature_of_known(target)) is not None:
        return known
    try:
        return inspect.signature(target, follow_wrapped=is_dispatcher(target))
    except ValueError:
        raise ArgumentTypeError(f"{target!r} does not tell its parameters; wrap it in a function") from None


def is_dispatcher(fn: Any) -> bool:
    """True for a function of NumPy's that other array classes may override: compiled, around one that is not."""
    return hasattr(fn, "_implementation")


def defaults_of(fn: Any) -> tuple[Any, ...]:
    """The stand-ins of arguments that are not given, which may change at any time."""
    if isinstance(fn, functools.partial):
        return (*fn.keywords, *fn.keywords.values(), *defaults_of(fn.func))
    fn = python_of(fn) or fn
    for name in ("construct", "__call__"):
        if not hasattr(fn, "__code__"):
            fn = getattr(type(fn), name, fn)
    return (getattr(fn, "__defaults__", None), *(getattr(fn, "__kwdefaults__", None) or {}).values())


def signature_of_known(fn: Any) -> inspect.Signature | None:
    """The signature of a function with a row in the table, or of its derivative: NumPy's do not all tell `out`."""
    while hasattr(type(fn), "__autodiff_gradient__"):
        fn = getattr(fn, "fn", None)
    if not callable(fn) or fn.__hash__ is None:
        return None
    from ...rules.table import load_optional

    table = part("compiler").TABLE
    load_optional()
    if fn not in table and isinstance(fn, np.ufunc):
        return inspect.Signature([inspect.Parameter(f"x{k}", inspect.Parameter.POSITIONAL_ONLY) for k in range(fn.nin)])
    return table[fn].signature if fn in table else None


def general_tree(parameter: inspect.Parameter) -> Any:
    """The tree assumed for a parameter without an example."""
    default = parameter.default
    if default is not inspect.Parameter.empty and (
        default is None or isinstance(default, (bool, str)) or callable(default)
    ):
        return Static(default)
    if default is not inspect.Parameter.empty and isinstance(default, (int, float)):
        return describe(default, parameter.name)
    if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
        return describe((), parameter.name)
    if parameter.kind is inspect.Parameter.VAR_KEYWORD:
        return describe({}, parameter.name)
    if parameter.annotation in (int, "int"):
        return describe(1, parameter.name)
    if parameter.annotation in (float, "float"):
        return describe(1.0, parameter.name)
    return pytree.Leaf(UNKNOWN)


POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
CONSTANTS = {int, float, bool, complex, str, type(None)}
Slot = tuple[str, Any]  # a parameter's name and kind

STARRED: dict[Any, Any] = {
    inspect.Parameter.VAR_POSITIONAL: inspect.Parameter.POSITIONAL_ONLY,
    inspect.Parameter.VAR_KEYWORD: inspect.Parameter.KEYWORD_ONLY,
}


def one_by_one(parameter: inspect.Parameter, value: Any) -> dict[str, Any]:
    """The arguments that a parameter takes, by name: several for a starred one."""
    if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
        return {f"{parameter.name}_{k}": item for k, item in enumerate(value)}
    return value if parameter.kind is inspect.Parameter.VAR_KEYWORD else {parameter.name: value}


def is_constant(value: Any) -> bool:
    """True if nobody can change a value."""
    return type(value) in CONSTANTS or (type(value) is tuple and all(map(is_constant, value)))


class IndexPastArguments(AutodiffError, RuntimeError, IndexError):
    """``grad_position`` names more arguments than there are."""


class Binding:
    """A callable, the positions of the arguments to differentiate with respect to, and how it is called."""

    arity: int

    def __init__(self, fn: Any, positions: tuple[int, ...]) -> None:
        self.fn, self.positions = fn, positions
        self.name = identifier(getattr(fn, "__name__", None) or type(fn).__name__)
        self.read_signature()

    def read_signature(self) -> None:
        self.defaults, self.signature = defaults_of(self.fn), signature_of(self.fn)
        self.parameters = list(self.signature.parameters.values())
        self.simple = all(p.kind in POSITIONAL for p in self.parameters)
        self.slots = tuple((p.name, p.kind) for p in self.parameters)
        self.of_library = is_library(home_of(self.fn))  # which may have a rule, that knows the defaults
        self.spare = () if self.of_library else getattr(self.fn, "__defaults__", None) or ()

    def filled(self, args: tuple[Any, ...]) -> tuple[Any, ...] | None:
        """All arguments of a call that leaves the last ones to defaults that no call can change."""
        missing = self.arity - len(args)
        own = isinstance(self.fn, (FunctionType, MethodType)) and getattr(self.fn, "__defaults__", None) is self.spare
        if not own or not 0 < missing <= len(self.spare):
            return None
        left = self.spare[-missing:]
        return (*args, *left) if all(map(is_constant, left)) else None

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Slot, ...], tuple[Any, ...]]:
        """The emitted function's parameters and their arguments: starred ones one by one, defaults filled in."""
        if not kwargs and self.simple and len(args) == len(self.parameters):
            return self.slots, args
        defaults = defaults_of(self.fn)
        if len(defaults) != len(self.defaults) or any(a is not b for a, b in zip(defaults, self.defaults)):
            self.read_signature()
        try:
            bound = self.signature.bind(*args, **kwargs)
        except TypeError as error:
            unknown = [name for name in kwargs if name not in self.signature.parameters]
            if unknown and not any(p.kind is p.VAR_KEYWORD for p in self.parameters):
                raise ArgumentTypeError(f"{self.name}() got an unexpected keyword argument {unknown[0]!r}") from None
            raise ArgumentTypeError(f"{self.name}(): {error}") from None
        own = self.own_defaults(bound.arguments, set(self.wanted(args, kwargs)))
        bound.apply_defaults()
        slots: list[Slot] = []
        values: list[Any] = []
        left_out = False
        for p in self.parameters:
            value = bound.arguments[p.name]
            if p.name in own:
                left_out = True
                continue
            starred = STARRED.get(p.kind, inspect.Parameter.KEYWORD_ONLY if left_out else p.kind)
            found = one_by_one(p, value)
            slots += [(name, starred) for name in found]
            values += found.values()
        return tuple(slots), tuple(values)

    def own_defaults(self, given: dict[str, Any], wanted: set[str]) -> set[str]:
        """The parameters left to defaults that a call may change for the next one, or that a rule knows: its own."""
        absent = [p for p in self.parameters if p.name not in given]
        left = [p for p in absent if p.default is not inspect.Parameter.empty and not is_constant(p.default)]
        own = {p.name for p in left if is_mutable(describe(p.default, p.name, fields=True))}
        if self.of_library:
            own = {p.name for p in absent if p.default is not inspect.Parameter.empty}
        hidden = {p.name for p in absent if p.kind is inspect.Parameter.POSITIONAL_ONLY}
        own |= hidden if own & hidden else set()
        return set() if own & wanted else own

    def in_order(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """The arguments as positions count them: in the order of the signature, then those that `**` takes."""
        bound = self.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return {n: v for p in self.parameters for n, v in one_by_one(p, bound.arguments[p.name]).items()}

    def wanted(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[str, ...]:
        """The names of the parameters with respect to which is differentiated."""
        order = list(self.in_order(args, kwargs))
        if self.positions and max(self.positions) >= len(order):
            past = max(self.positions)
            raise IndexPastArguments(f"grad_position {past} is past the {len(order)} arguments of {self.name}")
        return tuple(order[position] for position in self.positions)

    def inputs(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        """The arguments with respect to which is differentiated."""
        values = [*self.in_order(args, kwargs).values()] if kwargs else args
        return [values[position] for position in self.positions]


DEEPEST = 100  # containers one in the other


def refuse_endless(called: str, arguments: dict[str, Any]) -> None:
    """Refuse an argument in which a container holds itself, or that is too deep to be described."""
    for name, value in arguments.items():
        if (reason := endless(value)) is not None:
            raise ArgumentValueError(
                f"the argument {name!r} of {called} {reason}: pass the numbers and arrays in it that {called} reads, "
                "or let it read the object from outside, under a global name"
            )


def endless(value: Any) -> str | None:
    """The objection to an endless argument, from a walk without recursion that enters and leaves each container."""
    inside: list[int] = []  # containers around the place
    waiting: list[tuple[Any, bool]] = [(value, True)]
    while waiting:
        here, entered = waiting.pop()
        if not entered:
            inside.pop()
            continue
        parts = children(here)
        if not parts:
            continue
        if id(here) in inside:
            return "holds itself"
        if len(inside) == DEEPEST:
            return f"has more than {DEEPEST} containers one in the other"
        inside.append(id(here))
        waiting.append((here, False))
        waiting += [(part, True) for part in parts.values()]
    return None


BARE = frozenset((np.ndarray, float, int, type(None)))  # what holds no tensor, and is none


def unwrapped(value: Any) -> Any:
    """A value without tensors, for the compiled code."""
    if type(value) in BARE or isinstance(value, (np.ndarray, float, int)):
        return value
    if is_tensor(value):
        return value.asnumpy()
    if isinstance(value, tuple) and has_tensor(value):
        items = [unwrapped(v) for v in value]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    if type(value) is list and has_tensor(value):
        return [unwrapped(v) for v in value]
    if has_tensor(value):  # a dict or an object
        return with_children(value, {k: unwrapped(v) for k, v in (children(value) or {}).items()})
    return value


def has_tensor(value: Any) -> bool:
    if is_tensor(value):
        return True
    return any(has_tensor(v) for v in (children(value) or {}).values())


def is_dressed(value: Any) -> bool:
    """True if a gradient is to be made another kind of thing than the emitted function returns."""
    if is_tensor(value):
        return True
    if isinstance(value, np.ndarray):
        return not value.dtype.isnative
    return any(is_dressed(v) for v in (children(value) or {}).values())


def wrapped_like(gradient: Any, value: Any) -> Any:
    """A gradient in the kind of what it belongs to, and in its order of bytes."""
    if type(value) is np.ndarray and not value.dtype.isnative:
        return gradient.astype(value.dtype, copy=False)
    if type(value) in BARE:
        return gradient
    if is_tensor(value):
        return wrap(np.asarray(gradient))
    if isinstance(value, tuple) and is_dressed(value):
        items = [wrapped_like(g, v) for g, v in zip(gradient, value)]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    if type(value) is list and is_dressed(value):
        return [wrapped_like(g, v) for g, v in zip(gradient, value)]
    if is_dressed(value):
        parts = children(gradient) or {}
        return with_children(gradient, {k: wrapped_like(parts[k], v) for k, v in (children(value) or {}).items()})
    return gradient


def wrap_by(spec: Any, value: Any) -> Any:
    """Wrap the tensors of an output where `spec` says so."""
    if spec is True:
        return wrap(np.asarray(value))
    if isinstance(spec, tuple):
        items = [wrap_by(s, v) for s, v in zip(spec, value)]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    if isinstance(spec, dict):
        return {k: wrap_by(spec[k], v) for k, v in value.items()}
    return value


def wrap_spec(s: Any, value: Any) -> Any:
    """The places of tensors in an output: True, a tuple, a dict, or None for nowhere."""
    if isinstance(value, Leaf):
        facts = s.facts[value.name]
        return True if isinstance(facts, Num) and facts.tensor else None
    if isinstance(value, (TupleV, ListV)):
        items = tuple(wrap_spec(s, v) for v in value.items)
        return items if any(i is not None for i in items) else None
    if isinstance(value, Obj) and value.cls is dict:
        parts = {k: wrap_spec(s, s.env[(value.id, k)]) for k in s.fields(value)}
        return parts if any(v is not None for v in parts.values()) else None
    return None


def seed_spec(s: Any, value: Any) -> Any:
    """The places of seeds in an output: True or False, a tuple of these, or a dict by key or attribute."""
    if isinstance(value, Leaf):
        facts = s.facts[value.name]
        return facts.differentiable if isinstance(facts, Num) else isinstance(facts, (Listed, Mapped))
    if isinstance(value, (TupleV, ListV)):
        return tuple(seed_spec(s, item) for item in value.items)
    if isinstance(value, Obj):
        return {key: seed_spec(s, s.env[(value.id, key)]) for key in s.fields(value)}
    return False


def seeds_in(seed: Any, spec: Any) -> Iterator[Any]:
    """The seeds of the output's leaves, in order; those of outputs without a derivative are left out."""
    if spec is True:
        yield unwrapped(seed)
    elif isinstance(spec, tuple):
        if not isinstance(seed, (tuple, list)) or len(seed) != len(spec):
            raise ArgumentValueError(f"{len(spec)} seeds are needed, one for each output, and {seed!r} was given")
        for item, inner in zip(seed, spec):
            yield from seeds_in(item, inner)
    elif isinstance(spec, dict):
        for key, inner in spec.items():
            item = seed[key] if isinstance(seed, (dict, list, tuple)) else getattr(seed, key)
            yield from seeds_in(item, inner)
