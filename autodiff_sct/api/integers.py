"""Gradients by integer and boolean tensors: computed in floats, given back in the tensor's dtype where nothing is lost.

NumPy's integer arrays and Python's integers are refused instead: MindSpore's users alone expect this.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import NotDifferentiable
from ..tensor import Tensor, wrap

__all__ = ["as_floats", "as_given", "is_integer_tensor"]


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
        from ..compiler.interp.world.origins import place_of_definition

        raise NotDifferentiable(
            f"the gradient by {name} is not made of numbers of the argument's dtype, {value.dtype}",
            f"pass floats: `{name}.astype(ad.float32)`",
            place_of_definition(fn),
            code="integer-input",
        )
    return wrap(kept)
