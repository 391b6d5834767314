"""A source-transformation autodiff compiler for NumPy.

`grad` reads the source of a function, writes the source of its adjoint, and runs that:

>>> from autodiff_sct import grad
>>> grad(lambda x: x ** 3)(2.0)
12.0
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from . import context, dtypes, errors
from . import dtypes as dtype
from .api import adjoint_source, get_grad, grad, hessian, hvp, jacfwd, jacrev, jvp, stop_gradient, value_and_grad, vjp
from .api import jacrev as jacobian
from .api.gradfunction import GradFunction
from .checkpoints import checkpoint, segments
from .context import (
    GRAPH_MODE,
    PYNATIVE_MODE,
    get_context,
    jit,
    jit_class,
    ms_function,
    mutable,
    set_context,
    set_device,
)
from .core.process_state import MODULES as _PARTS
from .core.process_state import get_seed, set_seed
from .dtypes import (
    bool_,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)
from .errors import AutodiffError
from .tensor import Parameter, ParameterTuple, Tensor, from_numpy, tensor

if TYPE_CHECKING:
    from . import common, nn, ops, parallel, tape, train
    from .api.batching import per_example_grad, vmap
    from .api.checking import check_grads
    from .api.custom_rules import check_rule, constant, rule
    from .api.implicit import implicit_root
    from .api.labels import labelled
    from .api.linear import linearize
    from .api.pickling import from_source
    from .api.sparse import sparse_hessian, sparse_jacobian
    from .common.initializer import initializer
    from .inspection.debug_nans import debug_nans
    from .inspection.explorer import show
    from .inspection.profile import profile
    from .train.serialization import load_checkpoint, load_param_into_net, save_checkpoint

__version__ = "0.1.0"

__all__ = [
    "GRAPH_MODE",
    "PYNATIVE_MODE",
    "AutodiffError",
    "GradFunction",
    "Parameter",
    "ParameterTuple",
    "Tensor",
    "__version__",
    "adjoint_source",
    "bool_",
    "check_grads",
    "check_rule",
    "checkpoint",
    "common",
    "complex64",
    "complex128",
    "constant",
    "context",
    "debug_nans",
    "dtype",
    "dtypes",
    "errors",
    "float16",
    "float32",
    "float64",
    "from_numpy",
    "from_source",
    "get_context",
    "get_grad",
    "get_seed",
    "grad",
    "hessian",
    "hvp",
    "implicit_root",
    "initializer",
    "int8",
    "int16",
    "int32",
    "int64",
    "jacfwd",
    "jacobian",
    "jacrev",
    "jit",
    "jit_class",
    "jvp",
    "labelled",
    "linearize",
    "load_checkpoint",
    "load_param_into_net",
    "ms_function",
    "mutable",
    "nn",
    "ops",
    "parallel",
    "per_example_grad",
    "profile",
    "rule",
    "save_checkpoint",
    "segments",
    "set_context",
    "set_device",
    "set_seed",
    "show",
    "sparse_hessian",
    "sparse_jacobian",
    "stop_gradient",
    "tape",
    "tensor",
    "train",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "value_and_grad",
    "vjp",
    "vmap",
]

# Parts that lower layers ask for when a program is compiled.
_PARTS["compiler"] = f"{__name__}.compiler.derivatives_inside.bootstrap"
_PARTS["libraries"] = f"{__name__}.compiler.derivatives_inside.scipy"

# Read at first use: importing the package reads neither networks nor the rules nor the compiler.
LATER = {
    "check_grads": ".api.checking",
    "check_rule": ".api.custom_rules",
    "common": ".common",
    "constant": ".api.custom_rules",
    "debug_nans": ".inspection.debug_nans",
    "from_source": ".api.pickling",
    "implicit_root": ".api.implicit",
    "initializer": ".common.initializer",
    "labelled": ".api.labels",
    "linearize": ".api.linear",
    "load_checkpoint": ".train.serialization",
    "load_ipython_extension": ".inspection.notebook",
    "load_param_into_net": ".train.serialization",
    "nn": ".nn",
    "ops": ".ops",
    "parallel": ".parallel",
    "per_example_grad": ".api.batching",
    "profile": ".inspection.profile",
    "rule": ".api.custom_rules",
    "save_checkpoint": ".train.serialization",
    "show": ".inspection.explorer",
    "sparse_hessian": ".api.sparse",
    "sparse_jacobian": ".api.sparse",
    "tape": ".tape",
    "train": ".train",
    "vmap": ".api.batching",
}


def __getattr__(name: str) -> Any:
    if name not in LATER:
        from .api.other_names import HINTS

        hint = f": {HINTS[name]}" if name in HINTS else ""
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{hint}")
    module = importlib.import_module(LATER[name], __name__)
    globals()[name] = value = module if LATER[name] == f".{name}" else getattr(module, name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *LATER})
