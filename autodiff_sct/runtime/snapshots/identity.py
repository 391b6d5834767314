"""Digests of programs and of what they read, which two processes can compare."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from ...errors import ArgumentTypeError

__all__ = ["digest_of", "digests_of_program"]

INSTALLED = {"autodiff_sct", "numpy", "scipy"}  # packages whose functions count by their names


def digests_of_program(code: CodeType, names: dict[str, Any], variables: dict[str, Any]) -> dict[str, str]:
    """Digests of a program that is running: its code and the globals it names, each argument, other variables."""
    arguments = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    others = {name: value for name, value in variables.items() if name not in arguments}
    program = [code, {name: names[name] for name in named_by(code) if name in names}]
    return {
        "program": digest_of(program),
        **{f"argument {name}": digest_of(variables[name]) for name in arguments},
        "variables": digest_of(others),
    }


def digest_of(value: Any) -> str:
    """The digest of a value, by its content.

    Raises
    ------
    ArgumentTypeError
        If it, or something in it, is an object whose content is not to be seen, such as an open file.
    """
    digest = hashlib.sha256()
    add(digest, value, {})
    return digest.hexdigest()


def named_by(code: CodeType) -> list[str]:
    """The names that a code and those inside it look up in their globals, and those of attributes."""
    inner = [name for constant in code.co_consts if isinstance(constant, CodeType) for name in named_by(constant)]
    return sorted({*code.co_names, *inner})


def add(digest: Any, value: Any, seen: dict[int, Any]) -> None:
    """Add a value to a digest; `seen` holds the containers and objects that are in it already."""

    def text(*parts: Any) -> None:
        digest.update("\0".join(map(str, parts)).encode() + b"\0")

    def each(values: Iterable[Any]) -> None:
        for part in values:
            add(digest, part, seen)

    cls = type(value)
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes, range, slice)) or value is Ellipsis:
        text(cls.__name__, len(repr(value)), repr(value))
    elif isinstance(value, (np.ndarray, np.generic)) and not value.dtype.hasobject:
        text(cls.__name__, value.dtype.descr, value.shape)
        digest.update(np.ascontiguousarray(value).reshape(-1).view(np.uint8).data)
    elif id(value) in seen:
        text("seen", [*seen].index(id(value)))
    elif isinstance(value, ModuleType):
        text("module", value.__name__)
    else:
        seen[id(value)] = value
        text(cls.__module__, cls.__qualname__)
        if isinstance(value, (set, frozenset)):
            text(*sorted(map(digest_of, value)))
        elif isinstance(value, dict):
            text(len(value))
            each(part for item in value.items() for part in item)
        elif isinstance(value, (list, tuple)):
            text(len(value))
            each(value)
        else:
            each(content_of(value))


def content_of(value: Any) -> list[Any]:
    """The content by which an object is told from others of its class."""
    if isinstance(value, CodeType):
        return [value.co_code, list(value.co_consts), list(value.co_names), list(value.co_varnames)]
    if isinstance(value, FunctionType):
        if (value.__module__ or "").partition(".")[0] in INSTALLED:
            return [value.__module__, value.__qualname__]
        globals_ = {name: value.__globals__[name] for name in named_by(value.__code__) if name in value.__globals__}
        cells = [cell.cell_contents for cell in value.__closure__ or ()]
        return [value.__code__, value.__defaults__, value.__kwdefaults__, cells, globals_]
    if isinstance(value, MethodType):
        return [value.__func__, value.__self__]
    if isinstance(value, (type, BuiltinFunctionType, np.ufunc)):
        return [getattr(value, "__module__", ""), getattr(value, "__qualname__", value.__name__)]
    if isinstance(value, np.ndarray):
        return [value.shape, value.tolist()]
    if isinstance(getattr(value, "__dict__", None), dict):
        return [vars(value)]
    try:
        return list(value.__reduce_ex__(4)[:3])
    except TypeError:
        raise ArgumentTypeError(
            f"checkpoint: a {type(value).__name__} cannot be compared from one run to the next; "
            "keep it out of the function"
        ) from None
