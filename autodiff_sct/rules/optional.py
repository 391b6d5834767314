"""Rules of libraries that may not be there: read once a program has imported what they are of."""

from __future__ import annotations

import sys
from importlib import import_module

__all__ = ["load_optional"]

MODULES = {
    "bottleneck": ("bottleneck",),
    "scipy.fft": ("scipy.fft",),
    "scipy.fftpack": ("scipy.fftpack",),
    "scipy.integrate": ("scipy.sampled",),
    "scipy.interpolate": ("scipy.interpolation",),
    "scipy.sparse": ("scipy.sparse",),
    "scipy.signal": ("scipy.signals",),
    "scipy.ndimage": ("scipy.signals", "scipy.images", "scipy.resampled", "scipy.ranked"),
    "scipy.spatial.distance": ("scipy.distances",),
    "scipy.special": ("scipy.special", "scipy.bessel", "scipy.integrals", "scipy.distributions"),
    "scipy.stats": ("scipy.stats", "scipy.discrete", "scipy.samples"),
    "scipy.linalg": ("scipy.linalg", "scipy.factors", "scipy.equations", "scipy.structured", "scipy.symmetric"),
}


def load_optional() -> None:
    """Fill the table with the rules of the libraries that have been imported."""
    for library, rules in MODULES.items():
        if library in sys.modules:
            for name in rules:
                import_module(f"{__package__}.{name}")
