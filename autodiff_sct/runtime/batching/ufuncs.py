"""NumPy's universal functions over all examples."""

from __future__ import annotations

from typing import Any

import numpy as np

from .lanes import FUNCTIONS, Lanes, Unbatchable, aligned, ndim, per_example, raised

__all__ = ["apply", "matmul"]

REDUCED = {np.add: np.sum, np.multiply: np.prod, np.maximum: np.max, np.minimum: np.min}
REDUCED |= {np.logical_and: np.all, np.logical_or: np.any}
ACCUMULATED = {np.add: np.cumsum, np.multiply: np.cumprod}


def apply(ufunc: Any, method: str, inputs: tuple[Any, ...], out: Any, kwargs: dict[str, Any]) -> Any:
    """Carry out a call of a universal function, or of one of its methods."""
    target = out[0] if out is not None and len(out) == 1 else None
    if out is not None and not isinstance(target, Lanes):
        raise Unbatchable(f"{ufunc.__name__} writes into an array that all examples share")
    if method == "__call__" and ufunc.signature is None:
        return elementwise(ufunc, inputs, target, kwargs)
    if target is not None:
        raise Unbatchable(f"{ufunc.__name__} writes its result into an array")
    if method == "at":
        return scatter(ufunc, *inputs)
    if ufunc is np.matmul and not kwargs:
        return matmul(*inputs)
    if method == "reduce" and ufunc in REDUCED:
        return FUNCTIONS[REDUCED[ufunc]](*inputs, **{"axis": 0, **kwargs})
    if method == "accumulate" and ufunc in ACCUMULATED:
        return FUNCTIONS[ACCUMULATED[ufunc]](*inputs, **{"axis": 0, **kwargs})
    if method == "outer" and len(inputs) == 2 and isinstance(inputs[0], Lanes):
        first, second = inputs
        spread = Lanes(first.data[(..., *(None,) * ndim(second))])
        return elementwise(ufunc, (spread, second), None, kwargs)
    return per_example(ufunc if method == "__call__" else getattr(ufunc, method), inputs, kwargs)


def elementwise(ufunc: Any, inputs: tuple[Any, ...], target: Lanes | None, kwargs: dict[str, Any]) -> Any:
    """Carry out an elementwise function; one that writes into a number returns another number, as NumPy's are."""
    where = kwargs.pop("where", True)
    axes = max(0 if target is None else target.ndim, ndim(where))
    *operands, where = aligned((*inputs, where), axes)
    if where is not True:
        kwargs["where"] = where
    if target is None or not target.ndim:
        found = ufunc(*operands, **kwargs)
        return tuple([Lanes(part) for part in found]) if isinstance(found, tuple) else Lanes(np.asarray(found))
    ufunc(*operands, out=raised(target, axes), **kwargs)
    return target


def scatter(ufunc: Any, base: Any, index: Any, *values: Any) -> None:
    """``ufunc.at(base, index, value)``, for each example into its own array."""
    if not isinstance(base, Lanes) or not base.ndim:
        raise Unbatchable(f"{ufunc.__name__}.at writes into an array that all examples share")
    from .lanes import example

    for k in range(len(base.data)):
        ufunc.at(base.data[k], example(index, k), *[example(value, k) for value in values])


def matmul(a: Any, b: Any) -> Any:
    """The product of matrices and vectors: one product for all examples where one factor is shared."""
    rows, columns = ndim(a), ndim(b)
    if not rows or not columns:
        raise ValueError("matmul: an operand has no axes")
    if rows == 1 and columns == 1:
        first, second = aligned((a, b))
        return Lanes(np.matmul(first[..., None, :], second[..., :, None])[..., 0, 0])
    if columns == 1 and rows == 2 and not isinstance(a, Lanes):
        return Lanes(b.data @ a.T)
    if rows == 1 and columns == 2 and not isinstance(b, Lanes):
        return Lanes(a.data @ b)
    first = Lanes(a.data[:, None, :]) if rows == 1 and isinstance(a, Lanes) else a[None, :] if rows == 1 else a
    second = Lanes(b.data[:, :, None]) if columns == 1 and isinstance(b, Lanes) else b[:, None] if columns == 1 else b
    found = np.matmul(*aligned((first, second)))
    if rows == 1:
        found = found[..., 0, :]
    return Lanes(found[..., 0] if columns == 1 else found)
