"""The derivative rules, one module for each topic of NumPy's manual; importing this package fills the table."""

from . import (
    create,
    difference,
    elementwise,
    fft,
    index,
    linalg,
    nondifferentiable,
    norms,
    order,
    products,
    python,
    reduce,
    scan,
    shape,
    special,
    table,
)

__all__ = [
    "create",
    "difference",
    "elementwise",
    "fft",
    "index",
    "linalg",
    "nondifferentiable",
    "norms",
    "order",
    "products",
    "python",
    "reduce",
    "scan",
    "shape",
    "special",
    "table",
]
