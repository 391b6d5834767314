"""The derivative rules, one module for each topic of NumPy's manual; importing this package fills the table."""

from autodiff_sct.rules import (
    elementwise,
    nondifferentiable,
    reduce,
    scan,
    special,
    table,
)

__all__ = ["elementwise", "nondifferentiable", "reduce", "scan", "special", "table"]
