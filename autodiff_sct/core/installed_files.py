"""The files of this package as they were when it was imported.

A process that has been running since before an upgrade would keep what the old compiler emits under the new one's name:
it keeps nothing once a file has changed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

__all__ = ["is_unchanged"]

PACKAGE = os.path.dirname(os.path.dirname(__file__))


def states(folder: str) -> Iterator[tuple[str, int, int]]:
    """The path, the size in bytes and the time in nanoseconds of each module below a folder."""
    for entry in os.scandir(folder):
        if entry.name.endswith(".py"):
            state = entry.stat()
            yield entry.path, state.st_size, state.st_mtime_ns
        elif entry.name != "__pycache__" and entry.is_dir(follow_symlinks=False):
            yield from states(entry.path)


AT_IMPORT = sorted(states(PACKAGE))


def is_unchanged() -> bool:
    """True if the files are what they were when the package was imported."""
    try:
        return sorted(states(PACKAGE)) == AT_IMPORT
    except OSError:
        return False
