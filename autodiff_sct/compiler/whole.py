"""The whole compiler: every rule registered, every kind of call known.

It is read when something has to be compiled, which a program that was kept on disk has not.
"""

from __future__ import annotations

from .. import rules as _rules  # noqa: F401  (fills the table)
from ..ops import erf_rule as _erf_rule  # noqa: F401
from ..rules.table import TABLE
from .forward.pushforward import tangent
from .pipeline import adjoint
from .specialise import api_calls as _api_calls
from .specialise import broadcasting as _broadcasting  # noqa: F401
from .specialise import builtin_calls as _builtin_calls  # noqa: F401
from .specialise import caches as _caches  # noqa: F401
from .specialise import cell_calls as _cell_calls  # noqa: F401
from .specialise import combinations as _combinations  # noqa: F401
from .specialise import comparisons as _comparisons  # noqa: F401
from .specialise import copies as _copies  # noqa: F401
from .specialise import decorators as _decorators  # noqa: F401
from .specialise import dtype_calls as _dtype_calls  # noqa: F401
from .specialise import frames as _frames  # noqa: F401
from .specialise import generators as _generators  # noqa: F401
from .specialise import importing as _importing  # noqa: F401
from .specialise import inspected as _inspected  # noqa: F401
from .specialise import iterators as _iterators  # noqa: F401
from .specialise import local_classes as _local_classes  # noqa: F401
from .specialise import numpy_calls as _numpy_calls  # noqa: F401
from .specialise import segments as _segments  # noqa: F401
from .specialise import sequences as _sequences  # noqa: F401
from .specialise import standard_library as _standard_library  # noqa: F401
from .specialise import strings as _strings  # noqa: F401
from .specialise import tensor_calls as _tensor_calls  # noqa: F401
from .specialise import vectorize as _vectorize  # noqa: F401
from .specialise import zeros as _zeros  # noqa: F401

__all__ = ["TABLE", "adjoint", "tangent"]

_api_calls.register_api()
