"""The compiler's door: read at the first gradient, so that importing the package stays quick."""

from __future__ import annotations

from typing import Any

__all__ = ["dispatch"]


def dispatch() -> Any:
    """The module with `Adjoint`, `Pullback` and `Pushforward`, every rule registered."""
    from .compiler import dispatch as module
    from .compiler.specialise import cell_calls as _cell_calls  # noqa: F401  (registers what a Cell with a bprop means)
    from .compiler.specialise import tensor_calls as _tensor_calls  # noqa: F401  (registers what making a tensor means)
    from .ops import erf_rule as _erf_rule  # noqa: F401  (registers a rule)

    return module
