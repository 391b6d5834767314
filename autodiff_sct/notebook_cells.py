"""Cells of notebooks: a function that is defined in one has a file whose name nobody knows; its cell is ``In [2]``."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable

__all__ = ["cell_of", "in_cells"]


def cell_of(file: str) -> str | None:
    """The cell, as ``In [2]``, that a file name stands for in the notebook or the IPython session that runs."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    named = getattr(getattr(shell, "compile", None), "format_code_name", lambda name: None)(file)
    return None if named is None else named[1].replace("In[", "In [")


def in_cells(text: str, files: Iterable[str]) -> str:
    """A text in which places in some files, as ``4045.py:3``, are places in their cells, as ``In [2]:3``."""
    for file in {*files}:
        if (cell := cell_of(file)) is not None:
            text = text.replace(f"{os.path.basename(file)}:", f"{cell}:")
    return text
