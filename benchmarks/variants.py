"""One call for each way to compute a workload's gradient.

A builder takes the workload and its arguments and returns a call without arguments, with everything that a user does
once (transforming, compiling, moving arrays into the library's own) already done or done at its first call.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

import autodiff_sct as ad

from .workload import under

Call = Callable[[], Any]
Builder = Callable[[ModuleType, tuple], "Call | None"]
# `nnan` and `ninf` stay out: a program may compute with both.
FASTMATH = {"reassoc", "contract", "arcp", "afn", "nsz"}


@dataclass(frozen=True)
class Variant:
    """A way to compute gradients: its name, the package that it needs, its builder."""

    name: str
    package: str
    build: Builder

    def call(self, module: ModuleType, args: tuple) -> Call | None:
        """The call, or None where the package is missing or the library cannot run the workload."""
        try:
            if importlib.util.find_spec(self.package) is None:
                return None
        except ModuleNotFoundError:
            return None
        return self.build(module, args)


def hand(module: ModuleType, args: tuple) -> Call | None:
    """The adjoint written by hand."""
    return lambda: module.hand(*args)


def ours(module: ModuleType, args: tuple) -> Call | None:
    """`autodiff_sct.grad`."""
    if hasattr(module, "ours"):
        return module.ours(args)
    gradient = ad.grad(module.primal, grad_position=module.WRT)
    return lambda: gradient(*args)


def ours_numba(module: ModuleType, args: tuple) -> Call | None:
    """`autodiff_sct.grad` with ``backend="numba"``, where that back end is there and takes the whole program."""
    if "backend" not in inspect.signature(ad.grad).parameters or hasattr(module, "ours"):
        return None
    gradient = ad.grad(module.primal, grad_position=module.WRT, backend="numba")
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        gradient(*args)
    return None if said else lambda: gradient(*args)


def hand_numba(module: ModuleType, args: tuple) -> Call | None:
    """The adjoint written by hand as loops, compiled by numba."""
    if not hasattr(module, "hand_numba"):
        return None
    numba = importlib.import_module("numba")
    compiled = numba.njit(error_model="numpy", fastmath=FASTMATH, cache=True)(module.hand_numba)
    return lambda: compiled(*args)


def tape(module: ModuleType, args: tuple) -> Call | None:
    """`autodiff_sct.tape`: the program runs on tensors that record what happens to them."""
    from autodiff_sct import tape as library

    primal = getattr(module, "tape_primal", module.primal)
    if primal is None:
        return None

    def call() -> Any:
        inputs = [library.tensor(arg, requires_grad=True) if at in module.WRT else arg for at, arg in enumerate(args)]
        return library.grad(primal(*inputs), [inputs[position] for position in module.WRT])

    return call


def hips(module: ModuleType, args: tuple) -> Call | None:
    """HIPS autograd."""
    autograd = importlib.import_module("autograd")
    primal = primal_of("hips_primal", module, importlib.import_module("autograd.numpy"))
    if primal is None:
        return None
    gradient = autograd.grad(primal, module.WRT)
    return lambda: gradient(*args)


def torch(module: ModuleType, args: tuple) -> Call | None:
    """PyTorch, eager."""
    library = importlib.import_module("torch")
    library.set_num_threads(1)
    primal = primal_of("torch_primal", module, library)
    if primal is None:
        return None
    tensors = [in_torch(library, arg, position in module.WRT) for position, arg in enumerate(args)]
    wanted = [tensors[position] for position in module.WRT]
    return lambda: library.autograd.grad(primal(*tensors), wanted)


def in_torch(library: ModuleType, arg: Any, wanted: bool) -> Any:
    """An argument as PyTorch takes it: arrays and differentiated numbers are tensors."""
    if wanted or isinstance(arg, np.ndarray):
        return library.tensor(np.asarray(arg), requires_grad=wanted)
    return arg


def jax(module: ModuleType, args: tuple) -> Call | None:
    """``jax.jit(jax.grad)``; integers are static."""
    library = importlib.import_module("jax")
    library.config.update("jax_enable_x64", True)
    primal = primal_of("jax_primal", module, library.numpy)
    if primal is None:
        return None
    static = [position for position, arg in enumerate(args) if isinstance(arg, int)]
    gradient = library.jit(library.grad(primal, module.WRT), static_argnums=static)
    arrays = [library.numpy.asarray(arg) if isinstance(arg, np.ndarray) else arg for arg in args]
    return lambda: library.block_until_ready(gradient(*arrays))


def primal_of(name: str, module: ModuleType, numpy: ModuleType) -> Callable[..., Any] | None:
    """What the workload has for a library, bound to that library."""
    space = under(module, numpy)
    return space[name] if name in space else space["primal"]


VARIANTS = (
    Variant("hand", "numpy", hand),
    Variant("ours", "autodiff_sct", ours),
    Variant("tape", "autodiff_sct.tape", tape),
    Variant("hips", "autograd", hips),
    Variant("torch", "torch", torch),
    Variant("jax", "jax", jax),
    Variant("ours_numba", "numba", ours_numba),
    Variant("hand_numba", "numba", hand_numba),
)


def calls(module: ModuleType, args: tuple) -> dict[str, Call]:
    """The calls that this environment and the workload allow, by variant."""
    found = {variant.name: variant.call(module, args) for variant in VARIANTS}
    return {name: call for name, call in found.items() if call is not None}


def as_arrays(gradients: Any) -> list[np.ndarray]:
    """What a call returned, as float64 arrays."""
    several = gradients if isinstance(gradients, (tuple, list)) else (gradients,)
    return [np.asarray(gradient, dtype=float) for gradient in several]


def disagreement(first: list[np.ndarray], second: list[np.ndarray]) -> float:
    """The largest difference between two lists of gradients, relative to the largest entry of each array."""
    if [one.shape for one in first] != [other.shape for other in second]:
        return np.inf
    return max(largest(one - other) / (largest(one) + 1e-300) for one, other in zip(first, second))


def largest(array: np.ndarray) -> float:
    """The largest absolute value."""
    return float(np.max(np.abs(array), initial=0.0))
