"""Second order over the bank: `python -m tests.bank.second [WORD...]` prints what is right, wrong and refused.

Three ways to a Hessian times a direction: the gradient of a directional derivative of the gradient, the tangent of the
gradient, and the gradient of the tangent.  Each is compared with differences of the gradient along the direction.
"""

from __future__ import annotations

import collections
import re
import sys
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

import autodiff_sct as ad
from benchmarks import workload
from tests.bank import checks
from tests.bank.differences import COARSE, STEP, assert_close, quiet, slope
from tests.bank.registry import Program, load_bank
from tests.bank.structures import Path, leaves, map_leaves, show


def directions(program: Program) -> tuple[Any, ...]:
    """Return a direction of the structure of each differentiated argument; integers in it stay what they are."""
    rng = np.random.default_rng(3)

    def direction(path: Path, leaf: Any) -> Any:
        if not isinstance(leaf, np.ndarray):
            return type(leaf)(rng.normal())
        imaginary = 1j * rng.normal(size=leaf.shape) if leaf.dtype.kind == "c" else 0.0
        return np.asarray(rng.normal(size=leaf.shape) + imaginary, leaf.dtype)

    return tuple(map_leaves(direction, program.args()[position]) for position in program.wrt)


def along(program: Program, step: complex) -> tuple[Any, ...]:
    """Return the arguments, moved by a step along the directions."""
    args = list(program.args())
    for position, way in zip(program.wrt, directions(program), strict=True):
        ways = leaves(way)
        args[position] = map_leaves(lambda path, leaf: moved(leaf, step, ways[path]), args[position])  # noqa: B023
    return tuple(args)


def moved(leaf: Any, step: complex, way: Any) -> Any:
    """Return a leaf plus a step along a direction, in its own kind of number."""
    found = leaf + step * way
    return np.asarray(found, leaf.dtype) if isinstance(leaf, np.ndarray) else type(leaf)(found)


def by_differences(program: Program) -> dict[Path, np.ndarray]:
    """Return the derivative of the gradient along the directions, leaf by leaf."""
    gradient = checks.gradient_of(program)

    def at(step: complex) -> dict[Path, Any]:
        return checks.by_path(program.wrt, quiet(gradient, *along(program, step))[0])

    h = COARSE if "coarse" in program.tags else STEP
    keys = at(0.0)
    return {key: slope(lambda step, key=key: np.asarray(at(step)[key]), h, 1.0) for key in keys}  # type: ignore


def product(gradient: Any, way: Any) -> Any:
    """Return the sum of the products of two structures, as a user writes it."""
    if isinstance(gradient, (list, tuple)):
        return sum([product(part, other) for part, other in zip(gradient, way)])
    if isinstance(gradient, dict):
        return sum([product(gradient[key], way[key]) for key in way])
    return np.sum(np.real(gradient * way))


def reverse_over_reverse(program: Program) -> Any:
    """Return the gradient of the product of the gradient and the directions."""
    gradient, way = ad.grad(program.function, position := checks.position_of(program.wrt)), directions(program)
    weights = way[0] if len(way) == 1 else way

    def contracted(*args: Any) -> Any:
        return product(gradient(*args), weights)

    return quiet(ad.grad(contracted, position), *program.args())[0]


def forward_over_reverse(program: Program) -> Any:
    """Return the tangent of the gradient."""
    args = program.args()
    active = tuple(args[position] for position in program.wrt)
    gradient = ad.grad(checks.of_active(program, args), checks.position_of(tuple(range(len(active)))))
    return quiet(ad.jvp, gradient, active, directions(program))[0][1]


def reverse_over_forward(program: Program) -> Any:
    """Return the gradient of the tangent."""
    args, way = program.args(), directions(program)
    active = tuple(args[position] for position in program.wrt)
    function = checks.of_active(program, args)

    def tangent(*inputs: Any) -> Any:
        return total(ad.jvp(function, inputs, way)[1])

    return quiet(ad.grad(tangent, checks.position_of(tuple(range(len(active))))), *active)[0]


def total(tangent: Any) -> Any:
    """Return the sum of all numbers of a structure, as a user writes it."""
    if isinstance(tangent, (list, tuple)):
        return sum([total(part) for part in tangent])
    if isinstance(tangent, dict):
        return sum([total(tangent[key]) for key in tangent])
    return np.sum(np.real(tangent))


WAYS: dict[str, Callable[[Program], Any]] = {
    "grad of grad": reverse_over_reverse,
    "jvp of grad": forward_over_reverse,
    "grad of jvp": reverse_over_forward,
}


RR, FR, RF = ("grad of grad",), ("jvp of grad",), ("grad of jvp",)
EACH = RR + FR + RF
# Programs that are refused at second order, in which ways, and why.
REFUSED: dict[str, tuple[tuple[str, ...], str]] = {
    "closure_variable_outside": (EACH, "effects|cell_contents"),
    "deque_from_the_left": (RF, "reached in a way"),
    "dict_argument_written_by_number": (RR, "only the run tells"),
    "exception_carries_a_value": (EACH, "no derivative rule"),
    "group_by_key": (RR, "of lists, dicts or objects"),
    "inactive_side_work": (EACH, "the method 'index'"),
    "keys_of_a_branch": (EACH, "different fields"),
    "list_argument_written": (RR, "of lists, dicts or objects"),
    "numbers_or_arrays_by_exceptions": (RR, "handles exceptions"),
    "shortest_paths": (RR, "effects"),
    "sliding_windows": (EACH, "no view of its adjoint"),
}
# Second differences do not tell: of half precision, and at a kink of the gradient.
UNTOLD = {"half_precision_value", "quantiles_by_method"}


def applies(way: str, program: Program) -> bool:
    """True if a way takes the arguments of a program: tangents are of numbers and arrays."""
    if way == "grad of grad":
        return all(is_plain(program.args()[position]) for position in program.wrt)
    return checks.returns_arrays(program)


def is_plain(value: Any) -> bool:
    """True for numbers, arrays, and lists, tuples and dicts of them."""
    if isinstance(value, dict):
        return all(map(is_plain, value.values()))
    if isinstance(value, (list, tuple)):
        return all(map(is_plain, value))
    return checks.is_leaf(value)


def check(way: str, program: Program) -> None:
    """The second derivative is that of differences of the gradient."""
    expected = by_differences(program)
    found = WAYS[way](program)
    got = checks.by_path(program.wrt, found)
    narrow = any(np.asarray(leaf).dtype.itemsize < 8 for leaf in leaves(program.args()).values())
    rtol = 2e-2 if narrow or "coarse" in program.tags else 1e-5
    for path, value in expected.items():
        assert_close(got[path], value, rtol, f"{way} by argument {show(path)}")


def outcome(way: str, program: Program) -> tuple[str, str]:
    """Return what came of a check, and its message in one line."""
    try:
        check(way, program)
    except ad.AutodiffError as error:
        return "refused", " ".join(str(error).split())
    except AssertionError as error:
        return "wrong", " ".join(str(error).split())[:300]
    except Exception as error:
        return "crashed", f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
    return "right", ""


def of_benchmarks() -> Iterable[Program]:
    """Yield the programs of the benchmarks with small inputs."""
    for name in workload.names():
        module = workload.load(name)
        make = lambda rng, module=module: module.inputs(quick=True)  # noqa: E731
        yield Program(name, "benchmarks", module.primal, make, tuple(module.WRT), frozenset(), True)


def reason(message: str) -> str:
    """Return a message without the names and places in it."""
    return re.sub(r"'[^']*'|\S*:\d+\S*|\d+", "_", message)[:110]


def main(words: list[str]) -> int:
    """Print a line for each that is not right, and the counts; return how many are wrong or crash."""
    step = next((int(word[2:]) for word in words if word.startswith("::")), 1)
    words = [word for word in words if not word.startswith("::")]
    programs = [*of_benchmarks(), *load_bank()[0].values()]
    chosen = [p for p in programs if not words or any(w in f"{p.topic}-{p.name}" for w in words)][::step]
    counts: collections.Counter[tuple[str, str]] = collections.Counter()
    reasons: collections.Counter[str] = collections.Counter()
    for program in chosen:
        for way in WAYS:
            if applies(way, program):
                result, message = outcome(way, program)
                counts[way, result] += 1
                reasons[f"{result}: {reason(message)}"] += result != "right"
                if result != "right":
                    print(f"{program.topic}-{program.name}: {way}: {result}: {message}", flush=True)
    for (way, result), count in sorted(counts.items()):
        print(f"{count:6d}  {way}: {result}")
    for text, count in reasons.most_common(30):
        print(f"{count:6d}  {text}")
    return sum(count for (_, result), count in counts.items() if result in ("wrong", "crashed"))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]) > 0)
