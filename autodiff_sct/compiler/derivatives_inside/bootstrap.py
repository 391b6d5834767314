"""The whole compiler: every rule registered, every kind of call known.

It is read when something has to be compiled, which a program that was kept on disk has not.
"""

from __future__ import annotations

from ... import rules as _rules  # noqa: F401  (fills the table)
from ...ops import erf_rule as _erf_rule  # noqa: F401
from ...rules.table import TABLE
from ..driver.forward_pipeline import tangent
from ..driver.pipeline import adjoint
from ..interp.calls import dispatch as _dispatch  # noqa: F401
from ..interp.calls import stepped_iterators as _stepped_iterators  # noqa: F401
from ..interp.containers import iterators as _iterators  # noqa: F401
from ..interp.control import loop_joins as _loop_joins  # noqa: F401
from ..interp.language import comparisons as _comparisons  # noqa: F401
from ..interp.language import generators as _generators  # noqa: F401
from ..interp.language import statements as _statements  # noqa: F401
from ..interp.library import attribute_builtins as _attribute_builtins  # noqa: F401
from ..interp.library import builtins as _builtins  # noqa: F401
from ..interp.library import combinatorics as _combinatorics  # noqa: F401
from ..interp.library import copying as _copying  # noqa: F401
from ..interp.library import runtime_helpers as _runtime_helpers  # noqa: F401
from ..interp.library import signatures as _signatures  # noqa: F401
from ..interp.library import standard_library as _standard_library  # noqa: F401
from ..interp.library import wrappers as _wrappers  # noqa: F401
from ..interp.numpy import calls as _calls  # noqa: F401
from ..interp.numpy import keywords as _keywords  # noqa: F401
from ..interp.numpy import vectorize as _vectorize  # noqa: F401
from ..interp.objects import local_classes as _local_classes  # noqa: F401
from ..interp.world import names as _names  # noqa: F401
from . import custom_vjp as _custom_vjp  # noqa: F401
from . import handlers as _handlers

__all__ = ["TABLE", "adjoint", "tangent"]

_handlers.register_api()
