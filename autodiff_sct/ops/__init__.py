"""MindSpore's ``ops``: functions, primitives and gradients over NumPy.

``ops.functional`` (F), ``ops.operations`` (P) and ``ops.composite`` (C) are there under MindSpore's names.
"""

from ..api import get_grad, grad, jacfwd, jacrev, jvp, value_and_grad, vjp
from . import composite, functional, operations, primitives
from .composite import GradOperation, HyperMap, Map, MultitypeFuncGraph
from .functional import *  # noqa: F403
from .primitive import constexpr
from .primitives import *  # noqa: F403

__all__ = [
    "GradOperation",
    "HyperMap",
    "Map",
    "MultitypeFuncGraph",
    "composite",
    "constexpr",
    "functional",
    "get_grad",
    "grad",
    "jacfwd",
    "jacrev",
    "jvp",
    "operations",
    "primitives",
    "value_and_grad",
    "vjp",
]
__all__ += functional.__all__
__all__ += primitives.__all__
