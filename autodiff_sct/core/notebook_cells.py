"""Cells of notebooks: a function that is defined in one has a file whose name nobody knows; its cell is ``In [2]``."""

from __future__ import annotations

import os
from collections.abc import Iterable

from ..errors import cell_of

__all__ = ["in_cells"]


def in_cells(text: str, files: Iterable[str]) -> str:
    """A text in which places in some files, as ``4045.py:3``, are places in their cells, as ``In [2]:3``."""
    for file in {*files}:
        if (cell := cell_of(file)) is not None:
            text = text.replace(f"{os.path.basename(file)}:", f"{cell}:")
    return text
