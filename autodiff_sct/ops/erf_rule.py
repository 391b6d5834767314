"""The derivative of the error function; apart from it, so that importing ``ops`` does not read the rule table."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..rules.table import elementwise
from .erf import erf

__all__ = ["erf_rule"]


@elementwise(erf)
def erf_rule(y: Any, d: Any, x: Any) -> Any:
    """``2 / sqrt(pi) * exp(-x**2)``."""
    return d * (2 / math.sqrt(math.pi)) * np.exp(-x * x)
