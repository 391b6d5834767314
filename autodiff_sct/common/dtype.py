"""MindSpore's dtypes under the name ``common.dtype``."""

from ..dtypes import *  # noqa: F403
from ..dtypes import __all__ as __all__
