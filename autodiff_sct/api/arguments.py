"""Checks of the arguments of `grad` and its relatives: each returns the argument in one form, or raises.

Gradients by integer and boolean tensors: computed in floats, given back in the tensor's dtype where nothing is lost.

NumPy's integer arrays and Python's integers are refused instead: MindSpore's users alone expect this.
"""

from __future__ import annotations

import importlib.util
import inspect
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from ..compiler.domain.pytree import children, with_children
from ..errors import ArgumentRuntimeError, ArgumentTypeError, ArgumentValueError, NotDifferentiable
from ..runtime.memory import layout_copy
from ..runtime.objects import is_sparse
from ..tensor import Parameter, Tensor, wrap

__all__ = [
    "as_floats",
    "as_given",
    "checked_backend",
    "checked_callable",
    "checked_flag",
    "checked_jacobian_positions",
    "checked_memory",
    "checked_positions",
    "checked_weights",
    "chosen_positions",
    "fitted",
    "is_integer_tensor",
    "refuse_input",
    "refuse_position",
    "split_aux",
]

Positions = int | tuple[int, ...] | None


def checked_flag(value: Any, name: str) -> bool:
    """A flag: TypeError unless it is a bool."""
    if not isinstance(value, bool):
        raise ArgumentTypeError(f"{name} is True or False, not {value!r}")
    return value


def checked_backend(backend: Any) -> str:
    """The name of a back end: ValueError unless there is one of that name, or the package that it needs is missing."""
    if backend not in ("numpy", "numba", "auto"):
        raise ArgumentValueError(f"backend is 'numpy', 'numba' or 'auto', not {backend!r}")
    if backend == "numba" and importlib.util.find_spec("numba") is None:
        raise ArgumentValueError("backend='numba' needs numba: pip install 'autodiff_sct[numba]'")
    return str(backend)


UNITS = {"": 1, "B": 1} | {
    f"{prefix}{kind}": base ** (power + 1)
    for power, prefix in enumerate("kMGT")
    for kind, base in (("B", 1000), ("iB", 1024))
}
UNITS |= {"KB": 1000, "KiB": 1024}


def checked_memory(memory: Any) -> int | None:
    """A budget of memory in bytes.

    >>> checked_memory("200 MB"), checked_memory("1.5 GiB"), checked_memory(4096)
    (200000000, 1610612736, 4096)

    Raises
    ------
    TypeError
        If it is neither None, an int nor a string.
    ValueError
        If it is not positive, or a string that is no number with a unit of bytes.
    """
    if memory is None:
        return None
    if isinstance(memory, bool) or not isinstance(memory, (int, str)):
        raise ArgumentTypeError(f"memory is a number of bytes or a string such as '200 MB', not {memory!r}")
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*", str(memory))
    size = int(float(found[1]) * UNITS[found[2]]) if found is not None and found[2] in UNITS else 0
    if size <= 0:
        raise ArgumentValueError(f"memory is a positive number of bytes, such as '200 MB' or '1.5 GiB', not {memory!r}")
    return size


def chosen_positions(grad_position: Any, argnums: Any) -> tuple[Any, bool]:
    """Return the positions, and True if the gradient is a tuple also where there is one position only.

    `grad_position` follows MindSpore, where a tuple of one position asks for a bare gradient; `argnums` follows JAX,
    where it asks for a tuple.

    Raises
    ------
    TypeError
        If both are given.
    """
    if argnums is None:
        return grad_position, False
    if grad_position != 0:
        raise ArgumentTypeError("grad_position and argnums are two names of one setting: give one of them")
    return argnums, isinstance(argnums, tuple)


def checked_positions(grad_position: Any, weights: Any) -> tuple[int, ...] | None:
    """The positions as a tuple, or None.

    Raises
    ------
    TypeError
        If `grad_position` is neither None, an int nor a tuple of int, or `weights` is a number or a string.
    ValueError
        If a position is negative or named twice, or there are neither positions nor weights.
    """
    if isinstance(weights, (bool, int, float, str)):
        raise ArgumentTypeError(
            f"weights is a Parameter or a list of them, not {weights!r}: settings are named, `has_aux=True`"
        )
    if grad_position is None:
        if weights is None:
            raise ArgumentValueError("grad_position and weights are both None: nothing is left to differentiate by")
        return None
    positions = grad_position if isinstance(grad_position, tuple) else (grad_position,)
    for position in positions:
        if not isinstance(position, int) or isinstance(position, bool):
            asked = f"grad_position is None, an int or a tuple of int, not {grad_position!r}"
            several = isinstance(position, list) and all(isinstance(each, int) for each in position)
            instead = f"write {tuple(grad_position)!r}" if several else "arguments go to the gradient, `grad(f)(x)`"
            raise ArgumentTypeError(f"{asked}: {instead}")
        if position < 0:
            raise ArgumentValueError(f"grad_position counts from 0: {grad_position!r} has a negative position")
    if len(set(positions)) < len(positions):
        raise ArgumentValueError(f"grad_position names a position twice: {grad_position!r}")
    return positions


def checked_jacobian_positions(grad_position: Any, count: int) -> tuple[int, ...]:
    """The positions of a Jacobian, of which `count` arguments were given; None is a TypeError, the rest ValueErrors."""
    if grad_position is None:
        raise ArgumentTypeError("grad_position of a Jacobian is an int or a tuple of int, not None")
    positions = checked_positions(grad_position, None) or ()
    if not positions or max(positions) >= count:
        raise ArgumentValueError(f"grad_position is {grad_position!r}, but {count} arguments were given")
    return positions


def checked_weights(weights: Any) -> tuple[Parameter, ...]:
    """The weights as a tuple, TypeError where they are no parameters."""
    if weights is None:
        return ()
    if isinstance(weights, Parameter):
        return (weights,)
    if not isinstance(weights, (list, tuple)):
        raise ArgumentTypeError(f"weights is a Parameter or a list or tuple of them, not {weights!r}")
    for weight in weights:
        if not isinstance(weight, Parameter):
            raise ArgumentTypeError(f"weights holds a {type(weight).__name__}, which is no Parameter")
    return tuple(weights)


def checked_callable(fn: Any) -> Callable[..., Any]:
    """The callable to differentiate: TypeError for no callable, AttributeError for a Cell without ``construct``."""
    if not callable(fn):
        raise ArgumentTypeError(f"what is differentiated is a function or a Cell, not {fn!r}: write `grad(f)(x)`")
    if hasattr(type(fn), "trainable_params"):
        getattr(fn, "construct")  # noqa: B009  (the Cell itself says that it has none)
    return fn


def refuse_position(fn: Any, positions: tuple[int, ...], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Say why a call has too few arguments for the positions: `fn` itself lacks some, or a position is too high."""
    try:
        inspect.signature(getattr(fn, "construct", fn)).bind(*args, **kwargs)
    except TypeError as error:
        raise ArgumentTypeError(f"{name_of(fn)}() {error}") from None
    except ValueError:
        pass  # a builtin without a signature
    count = len(args) + len(kwargs)
    raise ArgumentRuntimeError(f"grad_position is {positions}, but {name_of(fn)} got {count} argument(s)")


def name_of(fn: Any) -> str:
    """The name by which messages call a function or a Cell."""
    return getattr(fn, "__name__", None) or type(fn).__name__


def refuse_input(value: Any, what: str) -> None:
    """TypeError for what cannot be an input or a vector: None, strings, booleans, tensors of the tape."""
    if hasattr(type(value), "__autodiff_taped__"):
        raise ArgumentTypeError(
            f"{what} is a tensor of the tape that came to a compiled gradient, which would not be recorded: pass "
            "`t.detach().numpy()`, or differentiate all of it by `tape.grad(..., create_graph=True)`"
        )
    if value is None or isinstance(value, (str, bytes, bool)):
        raise ArgumentTypeError(f"{what} is a tensor, an array, a float or a container of them, not {value!r}")


def split_aux(value: Any) -> tuple[Any, Any]:
    """The differentiated output and the auxiliary one: bare where there is one, else a tuple.

    Raises
    ------
    ValueError
        If the output is not a tuple of two or more.
    """
    require_aux(value)
    return value[0], value[1] if len(value) == 2 else value[1:]


def require_aux(value: Any) -> None:
    """ValueError unless an output has auxiliary parts."""
    if not isinstance(value, tuple) or len(value) < 2:
        raise ArgumentValueError("has_aux=True wants a function that returns a tuple of two outputs or more")


def fitted(vector: Any, value: Any, what: str) -> Any:
    """`vector` (a seed or a tangent) with the structure and dtypes of `value`.

    Raises
    ------
    TypeError
        If it is no number or array where `value` is one.
    ValueError
        If its shape or its length differs.
    """
    if isinstance(value, (tuple, list)):
        if not isinstance(vector, (tuple, list)) or len(vector) != len(value):
            raise ArgumentValueError(f"{what} holds {len(value)} vectors in a {type(value).__name__}")
        parts = [fitted(v, x, f"{what}[{k}]") for k, (v, x) in enumerate(zip(vector, value))]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    if isinstance(value, dict):
        if not isinstance(vector, dict) or vector.keys() != value.keys():
            raise ArgumentValueError(f"{what} is a dict with the keys {list(value)}")
        return {key: fitted(vector[key], value[key], f"{what}[{key!r}]") for key in value}
    if isinstance(value, (Tensor, np.ndarray, np.generic, float, complex)):
        return fitted_array(vector, value, what)
    fields = children(value)
    if fields is None:  # a flag or a name beside what is differentiated
        return vector
    if type(vector) is not type(value):
        raise ArgumentTypeError(f"{what} is a {type(value).__name__}, not {vector!r}")
    if is_sparse(value) and not same_pattern(vector, value):
        raise ArgumentValueError(f"{what} has elements at other places than the matrix that it belongs to")
    given = children(vector) or {}
    return with_children(vector, {n: fitted(given.get(n), x, f"{what}.{n}") for n, x in fields.items()})


def same_pattern(vector: Any, value: Any) -> bool:
    """True if the elements of two sparse matrices of one class are at the same places, in the same order."""
    names = [n for n in ("indices", "indptr", "coords", "offsets") if hasattr(value, n)]
    return bool(vector.shape == value.shape) and all(
        np.array_equal(getattr(vector, n), getattr(value, n)) for n in names
    )


def fitted_array(vector: Any, value: Any, what: str) -> Any:
    """A vector for one array, in the array's kind and dtype."""
    if isinstance(vector, bool) or not isinstance(vector, (Tensor, np.ndarray, np.generic, int, float, complex)):
        raise ArgumentTypeError(f"{what} is a tensor, an array or a number, not {vector!r}")
    if np.shape(vector) != np.shape(value):
        raise ArgumentValueError(f"{what} has shape {np.shape(vector)}: it must have {np.shape(value)}")
    if isinstance(value, (float, complex)) and not isinstance(value, np.generic):
        return type(value)(np.asarray(vector).item())
    content, like = np.asarray(vector), np.asarray(value)
    dtype = like.dtype if like.dtype.kind in "fc" else content.dtype
    if content.dtype.kind == "c" and dtype.kind == "f":
        raise ArgumentTypeError(f"{what} is complex, but what it belongs to is real")
    found = copied_like(content, like, dtype)
    return found[()] if isinstance(value, np.generic) else found


def copied_like(content: np.ndarray, like: np.ndarray, dtype: np.dtype[Any]) -> np.ndarray:
    """A copy that lies in memory as `like` does: whether `reshape` returns a view may depend on it."""
    if like.flags.forc or like.dtype != dtype:
        return np.array(content, dtype, order="C" if like.flags.c_contiguous else "F")
    found = layout_copy(like)
    found[...] = content
    return found  # type: ignore[no-any-return]


def is_integer_tensor(value: Any) -> bool:
    """True if `value` is a tensor of integers or booleans."""
    return isinstance(value, Tensor) and value.asnumpy().dtype.kind in "biu"


def as_floats(values: Any) -> tuple[Any, ...]:
    """The arguments with float64 tensors, which hold whole numbers exactly, in the place of integer ones."""
    return tuple(wrap(value.asnumpy().astype(np.float64)) if is_integer_tensor(value) else value for value in values)


def as_given(gradient: Any, value: Any, name: str, fn: Any) -> Any:
    """The gradient of `fn` by an integer tensor in that tensor's dtype; other gradients as they are.

    Raises
    ------
    NotDifferentiable
        If the gradient is no number of that dtype.
    """
    if not is_integer_tensor(value):
        return gradient
    content, dtype = gradient.asnumpy(), value.asnumpy().dtype
    with np.errstate(invalid="ignore"):
        kept = content.astype(dtype)
    if not np.array_equal(kept, content):
        from ..compiler.interp.world.boundary import place_of_definition

        raise NotDifferentiable(
            f"the gradient by {name} is not made of numbers of the argument's dtype, {value.dtype}",
            f"pass floats: `{name}.astype(ad.float32)`",
            place_of_definition(fn),
            code="integer-input",
        )
    return wrap(kept)
