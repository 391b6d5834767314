"""The derivative rules, one module for each topic of NumPy's manual; importing this package fills the table."""

from importlib import import_module

TOPICS = (
    "nondifferentiable",
    "elementwise",
    "special",
    "reduce",
    "scan",
    "create",
    "shape",
    "index",
    "products",
    "linalg",
    "fft",
)

__all__ = ["TOPICS"]

import pathlib as _p  # until all are there
for _topic in TOPICS:
    if (_p.Path(__file__).parent / f"{_topic}.py").exists():
        import_module(f"{__name__}.{_topic}")
