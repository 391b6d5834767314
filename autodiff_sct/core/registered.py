"""Functions that users have registered a derivative for."""

from __future__ import annotations

from typing import Any

__all__ = ["REGISTERED"]

REGISTERED: list[Any] = []
