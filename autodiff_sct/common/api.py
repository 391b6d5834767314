"""MindSpore's ``jit`` under the name ``common.api``."""

from ..context import jit, jit_class, ms_function

__all__ = ["jit", "jit_class", "ms_function"]
