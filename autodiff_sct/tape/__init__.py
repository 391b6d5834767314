"""Define-by-run differentiation of NumPy programs, by the compiler's table of rules.

>>> import numpy as np
>>> from autodiff_sct.tape import grad, tensor
>>> x = tensor([1.0, 2.0], requires_grad=True)
>>> grad(np.sum(np.sin(x) * x), x)[0]
tensor([1.3818, 0.0770])
"""

from __future__ import annotations

from . import torch_style as autograd
from .array import Tensor, tensor
from .modes import enable_grad, no_grad
from .operators import apply
from .tf_style import gradients
from .torch_style import backward, grad

__all__ = ["Tensor", "apply", "autograd", "backward", "enable_grad", "grad", "gradients", "no_grad", "tensor"]
