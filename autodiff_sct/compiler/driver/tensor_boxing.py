"""Tensors and seeds at the boundary of compiled code: unwrapped on the way in, wrapped on the way out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...errors import ArgumentValueError
from ...tensor import wrap
from ..domain.facts import Listed, Mapped, Num
from ..domain.pytree import children, is_tensor, with_children
from ..domain.values import Leaf, ListV, Obj, TupleV

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
