"""SciPy's classes, methods and functions of functions: one module for each of its own.

They are read once a program has imported the module of SciPy that they are of, as its rules are.
"""

from __future__ import annotations

import sys
from importlib import import_module

from ....rules.table import load_optional

__all__ = ["load_libraries"]

MODULES = {
    "scipy.linalg": ("linalg",),
    "scipy.stats": ("stats",),
    "scipy.integrate": ("integrate", "equations"),
    "scipy.optimize": ("optimize",),
    "scipy.interpolate": ("interpolate", "scattered"),
    "scipy.signal": ("spectra",),
    "scipy.sparse": ("sparse", "sparse_linalg", "assembly"),
    "scipy.spatial": ("neighbours",),
    "scipy.spatial.transform": ("rotations",),
    "autodiff_sct.api.implicit": ("implicit",),
}


def load_libraries() -> None:
    """Read the rules, and the meanings of calls, of the libraries that have been imported."""
    load_optional()
    for library, names in MODULES.items():
        if library in sys.modules:
            for name in names:
                import_module(f"{__name__}.{name}")
