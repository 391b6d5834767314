"""Define-by-run differentiation of NumPy programs, by the compiler's table of rules.

>>> import numpy as np
>>> from autodiff_sct.tape import grad, tensor
>>> x = tensor([1.0, 2.0], requires_grad=True)
>>> grad(np.sum(np.sin(x) * x), x)[0]
tensor([1.3818, 0.0770])

Programs are written with NumPy; what they compute from tensors is recorded.  Decided where systems differ:

- Numbers are NumPy's: Python floats are float64, a tensor made of a number or by a reduction is a value, not memory.
- `item()`, `detach()`, `int()` and comparisons leave the tape.  What would lose a gradient unasked is an error: a plain
  array made of a tensor or written with one, and `float()`, which the functions of `math` call.
- Writing into results, through views too, is differentiated; a saved value whose elements were overwritten is an error.
- Functions through which no derivative flows return NumPy's integers and booleans, and constant tensors.
- A Python function with a rule of its own is called by `apply`: a tape sees what a function does, not its name.
"""

from __future__ import annotations

from . import torch_style as autograd
from .array import Tensor, tensor
from .modes import enable_grad, no_grad
from .operators import apply
from .torch_style import backward, grad, gradients

__all__ = ["Tensor", "apply", "autograd", "backward", "enable_grad", "grad", "gradients", "no_grad", "tensor"]
