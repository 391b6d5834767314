"""Emitted programs kept on disk, so that another process need not compile them again.

- `marks` tells what a program was compiled against, so that two processes can compare it;
- `paths` tells where that is found, starting from the function that is differentiated;
- `entries` writes an emitted program down and makes it live again;
- `programs` finds and keeps them.
"""

from __future__ import annotations

from .entry import find, keep, wanted

__all__ = ["find", "keep", "wanted"]
