"""The systems that `compare` runs a function by.

Each is prepared once, which gives a `Runner`: `run()` computes value and gradients as a user of that system would, and
is what is timed; `read(result)` takes the numbers out as plain arrays.  What is differentiated is the sum of all
results.  A system that is not there, or cannot run the function, raises; the reason is shown instead of numbers.
"""

from __future__ import annotations

import builtins
import copy
import enum
import importlib
import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from ..errors import AutodiffError

__all__ = ["SYSTEMS", "Cannot", "Runner", "Target", "numbers_in"]

Arrays = list[np.ndarray]


class Cannot(AutodiffError):
    """A system cannot run the function."""


@dataclass(frozen=True)
class Target:
    """The function to compare: its `name` in `module`, its `args`, and the differentiated `positions`."""

    module: ModuleType
    name: str
    function: Callable[..., Any]
    args: tuple[Any, ...]
    positions: tuple[int, ...]


@dataclass(frozen=True)
class Runner:
    """One system, ready to run a target."""

    run: Callable[[], Any]
    read: Callable[[Any], tuple[Arrays, Arrays]]
    note: str = ""
    traced: bool = True  # whether tracemalloc sees its memory


def is_number(value: Any) -> bool:
    """True if a value is a real or complex number or an array of them (integers and flags are not)."""
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "fc"
    return isinstance(value, (float, complex, np.inexact))


def replaced(value: Any, change: Callable[[Any], Any], wanted: Callable[[Any], bool] = is_number) -> Any:
    """`value` with every wanted part in it replaced; containers and objects are kept, in the same order each time."""
    if wanted(value):
        return change(value)
    if isinstance(value, tuple):
        parts = [replaced(part, change, wanted) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    if isinstance(value, list):
        return [replaced(part, change, wanted) for part in value]
    if isinstance(value, dict):
        return {key: replaced(part, change, wanted) for key, part in value.items()}
    return replaced_fields(value, change, wanted) if has_fields(value) else value


def has_fields(value: Any) -> bool:
    """True if a value is an object whose attributes may hold numbers."""
    return hasattr(value, "__dict__") and not isinstance(value, (type, enum.Enum, ModuleType, FunctionType))


def replaced_fields(value: Any, change: Callable[[Any], Any], wanted: Callable[[Any], bool]) -> Any:
    """A copy of an object with the wanted parts of its attributes replaced."""
    made = copy.copy(value)
    made.__dict__.update({name: replaced(part, change, wanted) for name, part in vars(value).items()})
    return made


def numbers_in(value: Any, wanted: Callable[[Any], bool] = is_number) -> list[Any]:
    """Every wanted part of a value, in the order of `replaced`."""
    found: list[Any] = []

    def keep(part: Any) -> Any:
        found.append(part)
        return part

    replaced(value, keep, wanted)
    return found


def with_leaves(target: Target, leaves: Iterable[Any], constant: Callable[[Any], Any] | None = None) -> list[Any]:
    """The arguments, with the numbers that are differentiated replaced by `leaves` and the others by `constant`."""
    following = iter(leaves)
    args: list[Any] = []
    for position, arg in enumerate(target.args):
        if position in target.positions:
            args.append(replaced(arg, lambda _: next(following)))
        else:
            args.append(arg if constant is None else replaced(arg, constant))
    return args


def leaves_of(target: Target) -> list[Any]:
    """The numbers and arrays that a target is differentiated by."""
    return numbers_in([target.args[position] for position in target.positions])


def arrays(values: Any) -> Arrays:
    """The numbers in a value, as arrays."""
    return [np.asarray(number) for number in numbers_in(values)]


def alone(target: Target) -> Runner:
    """The function itself, without a derivative; it may write into arguments, which are its own."""
    args = copy.deepcopy(target.args)
    return Runner(lambda: target.function(*args), lambda value: (arrays(value), []))


def source_transformation(target: Target) -> Runner:
    """The runner of this package's compiler."""
    from ..api import value_and_grad
    from ..compiler.derivatives_inside import bootstrap  # noqa: F401

    # The first run compiles the function; reading the compiler itself is no part of it.
    from ..compiler.driver import dispatch  # noqa: F401

    gradient = value_and_grad(target.function, target.positions)

    def read(result: Any) -> tuple[Arrays, Arrays]:
        value, gradients = result
        return arrays(value), arrays(gradients)

    return Runner(lambda: gradient(*target.args), read)


def by_tape(target: Target) -> Runner:
    """The runner of this package's tape: the same function, called with tensors that record."""
    from .. import tape

    def recorded(value: Any) -> bool:
        return isinstance(value, tape.Tensor)

    def run() -> Any:
        leaves = [tape.tensor(number, requires_grad=True) for number in leaves_of(target)]
        value = target.function(*with_leaves(target, leaves))
        outputs = [output for output in numbers_in(value, recorded) if output.requires_grad]
        if not outputs:
            raise Cannot("no result depends on the arguments")
        seeds = [tape.tensor(np.ones(output.shape, output.dtype)) for output in outputs]
        return value, tape.grad(outputs, leaves, seeds, materialize_grads=True)

    def read(result: Any) -> tuple[Arrays, Arrays]:
        value, gradients = replaced(result, lambda part: np.asarray(part.detach()), recorded)
        return arrays(value), arrays(gradients)

    return Runner(run, read)


def hips_autograd(target: Target) -> Runner:
    """HIPS autograd: the function's module is run again with its wrapped NumPy in NumPy's place."""
    autograd = installed("autograd")
    wrapped = importlib.import_module("autograd.numpy")
    getval = importlib.import_module("autograd.tracer").getval
    box = importlib.import_module("autograd.tracer").Box
    function = named_again(target, wrapped)

    def number(value: Any) -> bool:
        return is_number(value) or isinstance(value, box)

    def run() -> Any:
        kept: list[Any] = []

        def total(*leaves: Any) -> Any:
            kept.append(numbers_in(function(*with_leaves(target, leaves)), number))
            return sum(wrapped.sum(wrapped.real(part)) for part in kept[0])

        leaves = leaves_of(target)
        pull, value = autograd.make_vjp(total, tuple(range(len(leaves))))(*leaves)
        return kept[0], pull(1.0)

    def read(result: Any) -> tuple[Arrays, Arrays]:
        value, gradients = result
        return [np.asarray(getval(part)) for part in value], arrays(gradients)

    return Runner(run, read, f"ran {target.module.__name__} again with numpy = autograd.numpy")


def by_torch(target: Target) -> Runner:
    """torch: the function as it is on torch's tensors, else its module run again with torch in NumPy's place."""
    torch = installed("torch")
    plain = torch_runner(torch, target, target.function, "the function as it is")
    try:
        plain.run()
        return plain
    except Exception:
        function = named_again(target, torch)
        return torch_runner(torch, target, function, f"ran {target.module.__name__} again with numpy = torch")


def torch_runner(torch: Any, target: Target, function: Callable[..., Any], note: str) -> Runner:
    """The runner of a function of torch's tensors."""

    def tensor(number: Any) -> Any:
        return torch.tensor(number, requires_grad=True)

    def run() -> Any:
        with default_double(torch):
            leaves = [tensor(number) for number in leaves_of(target)]
            outputs = numbers_in(function(*with_leaves(target, leaves, torch.tensor)), torch.is_tensor)
            followed = [output for output in outputs if output.requires_grad]
            seeds = [torch.ones_like(output) for output in followed]
            return outputs, torch.autograd.grad(followed, leaves, seeds, allow_unused=True), leaves

    def read(result: Any) -> tuple[Arrays, Arrays]:
        outputs, gradients, leaves = result
        # torch's gradient by a complex number is the conjugate of the one that is the convention here.
        found = [torch.zeros_like(x) if g is None else g.conj() for g, x in zip(gradients, leaves)]
        return [output.detach().numpy() for output in outputs], [g.detach().resolve_conj().numpy() for g in found]

    return Runner(run, read, note, traced=False)


class default_double:
    """Python numbers are float64 in torch while this lasts, as they are in NumPy."""

    def __init__(self, torch: Any) -> None:
        self.torch = torch

    def __enter__(self) -> None:
        self.before = self.torch.get_default_dtype()
        self.torch.set_default_dtype(self.torch.float64)

    def __exit__(self, *error: object) -> None:
        self.torch.set_default_dtype(self.before)


def installed(name: str) -> ModuleType:
    """A package that may be missing."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise Cannot("not installed") from error


def named_again(target: Target, numpy: ModuleType) -> Callable[..., Any]:
    """The function of the same name, from its module run again with `numpy` in NumPy's place.

    Only this one module is run again, under the same name, into a namespace of its own: what it imports from elsewhere
    is what everybody else has.
    """
    names: Any = run_again(target.module, numpy)
    first, *rest = target.name.split(".")
    found = names[first]
    for part in rest:
        found = getattr(found, part)
    return found


def run_again(module: ModuleType, numpy: ModuleType) -> dict[str, Any]:
    """The names that a module defines when each `import numpy` in it means another module."""

    def import_instead(name: str, *rest: Any, **keywords: Any) -> Any:
        top, *parts = name.split(".")
        fromlist = keywords.get("fromlist", rest[2] if len(rest) > 2 else ())
        if top != "numpy":
            return builtins.__import__(name, *rest, **keywords)
        found: Any = numpy
        for part in parts if fromlist else ():
            found = getattr(found, part)
        return found

    source = inspect.getsource(module)
    kept = ("__name__", "__file__", "__package__", "__spec__")
    names = {name: getattr(module, name, None) for name in kept}
    names["__builtins__"] = {**vars(builtins), "__import__": import_instead}
    exec(compile(source, module.__file__ or "<module>", "exec"), names)
    return names


SYSTEMS: dict[str, Callable[[Target], Runner]] = {
    "source transformation": source_transformation,
    "tape": by_tape,
    "HIPS autograd": hips_autograd,
    "torch": by_torch,
}
