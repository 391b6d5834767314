"""Emitted programs run once for a whole batch: arrays of all examples, and NumPy's functions over them.

`Lanes` stands for the value of one variable in every example.  `run` gives an emitted function another `np`, which
makes new arrays for all examples; `functions` says what each function of NumPy is over them.
"""

from __future__ import annotations

from .run import run

__all__ = ["run"]
