"""The calls that users make: their arguments checked, their results arranged in MindSpore's structures.

In come a function, settings and the arguments of one call.  Out come gradients, values and sources.  The compiler is
imported at the first call only, and everything that a user can get wrong about a call is raised here.
"""

from __future__ import annotations

from .gradfunction import GradFunction, get_grad
from .gradients import adjoint_source, grad, jvp, stop_gradient, value_and_grad, vjp
from .jacobians import hessian, hvp, jacfwd, jacrev

__all__ = [
    "GradFunction",
    "adjoint_source",
    "get_grad",
    "grad",
    "hessian",
    "hvp",
    "jacfwd",
    "jacrev",
    "jvp",
    "stop_gradient",
    "value_and_grad",
    "vjp",
]
