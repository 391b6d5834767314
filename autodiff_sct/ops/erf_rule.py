"""The derivatives of the error functions; apart from them, so that importing ``ops`` does not read the rule table."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..rules.table import elementwise
from .erf import erf, erfc

__all__ = ["erf_rule", "erfc_rule"]


@elementwise(erf)
def erf_rule(y: Any, d: Any, x: Any) -> Any:
    """``2 / sqrt(pi) * exp(-x**2)``."""
    return d * (2 / math.sqrt(math.pi)) * np.exp(-x * x)


@elementwise(erfc)
def erfc_rule(y: Any, d: Any, x: Any) -> Any:
    """``-2 / sqrt(pi) * exp(-x**2)``."""
    return d * (-2 / math.sqrt(math.pi)) * np.exp(-x * x)
