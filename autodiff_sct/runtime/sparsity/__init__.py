"""Sparsity patterns of Jacobians: emitted programs run on index sets, and columns that may share a colour."""

from __future__ import annotations

from .run import coloured, pattern_of
from .tracked import Untraceable

__all__ = ["Untraceable", "coloured", "pattern_of"]
