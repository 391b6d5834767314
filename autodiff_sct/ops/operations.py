"""MindSpore's older name of `primitives`, as in ``import ...ops.operations as P``."""

from .primitives import *  # noqa: F403
from .primitives import __all__ as __all__
