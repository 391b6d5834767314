"""The few functions that emitted code calls beside NumPy's.

Each has a row in the derivative table or is differentiated like any other Python, so emitted code stays its own input.
"""

from __future__ import annotations

from .broadcast import ones_like, spread, unbroadcast, zeros_like
from .scalar_functions import real_power
from .scatter import add_at, diagonal_adjoint, gather_adjoint, stored, unpad

__all__ = [
    "add_at",
    "diagonal_adjoint",
    "gather_adjoint",
    "ones_like",
    "real_power",
    "spread",
    "stored",
    "unbroadcast",
    "unpad",
    "zeros_like",
]
