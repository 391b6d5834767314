"""The programs of the bank at other sizes and in other orders; `python -m tests.bank.sizes [WORD...]` runs them all.

One length of a program's arguments becomes another one, wherever it occurs: axes of arrays, lists of numbers, and
integers that are equal to it; a length that is one more or one less stays so.  Numbers are those of the bank over and
over, each a little different; what is sorted stays sorted, and a square matrix keeps its weight on the diagonal.  Where
the primal itself raises, or has no derivative, there is nothing to compare.
"""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import pkgutil
import signal
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import autodiff_sct as ad
from autodiff_sct.compiler.domain import pass_registry
from benchmarks import workloads
from tests.bank import checks
from tests.bank.differences import assert_close, quiet, shrink_of, slope, step_of, tolerance_of
from tests.bank.limits import LIMITS, within
from tests.bank.registry import PROGRAMS, MakeArgs, Program, load_bank
from tests.bank.structures import arrays, children, leaves, map_leaves, rebuild, same, show, total

# On both sides of the thresholds of the package.
SIZES = (0, 1, 2, 3, 15, 16, 17, 31, 33, 63, 65, 127, 128, 129, 130, 401, 1000, 4097, 16385, 33000)
MOST = 40_000  # numbers of an argument
ORDERS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "strided": lambda a: np.repeat(a, 2, axis=-1)[..., ::2],
    "turned": lambda a: np.flip(np.ascontiguousarray(np.flip(a))),
}


class Nothing(Exception):
    """There is nothing to compare: the primal raises, or has no derivative there."""


@dataclasses.dataclass(frozen=True)
class Case:
    """A program with one length of its arguments changed."""

    program: Program
    length: int
    size: int
    order: str

    def __str__(self) -> str:
        return f"{self.program.topic}-{self.program.name}-{self.length}-{self.size}-{self.order}"

    def resized(self) -> Program:
        """The program with other arguments."""
        fresh = self.program.args

        def make_args(rng: np.random.Generator) -> tuple[Any, ...]:
            changed: tuple[Any, ...] = Resizing(self, rng).value(fresh())
            return changed

        return dataclasses.replace(self.program, make_args=make_args)


@dataclasses.dataclass
class Resizing:
    """How the arguments of a case are made of those of its program."""

    case: Case
    rng: np.random.Generator

    def length(self, n: int) -> int:
        """What becomes of a length."""
        apart = n - self.case.length
        return (
            max(self.case.size + apart, 0)
            if abs(apart) <= 1 and self.case.length > 1
            else n
            if apart
            else self.case.size
        )

    def value(self, value: Any) -> Any:
        """What becomes of an argument or of a part of one."""
        if isinstance(value, np.ndarray):
            return self.array(value)
        if type(value) is int:
            return self.length(value) if value > 2 else value
        if isinstance(value, list) and value and all(type(item) is float for item in value):
            return [float(x) for x in self.array(np.array(value))]
        parts = list(children(value))
        return rebuild(value, [self.value(part) for _, part in parts]) if parts else value

    def array(self, a: np.ndarray) -> np.ndarray:
        shape = tuple(self.length(n) for n in a.shape)
        if shape == a.shape or not a.size:
            return ORDERS[self.case.order](a) if a.ndim else a
        if np.prod(shape) > MOST:
            raise Nothing
        found = a[np.ix_(*(np.arange(m) % n for m, n in zip(shape, a.shape, strict=True)))]
        if a.dtype.kind in "fc":
            found = (found * (1 + 0.1 * self.rng.uniform(-1, 1, size=shape))).astype(a.dtype)
            if a.ndim == 1 and len(a) > 2 and np.all(np.diff(a) > 0):
                found = np.sort(found)
            if a.ndim >= 2 and a.shape[-1] == a.shape[-2]:
                found = self.weighted(found, a)
        return ORDERS[self.case.order](found)

    def weighted(self, found: np.ndarray, a: np.ndarray) -> np.ndarray:
        """Square matrices whose rows sum up to what they did, symmetric ones where they were."""
        diagonal = np.eye(found.shape[-1], dtype=bool)
        found = np.where(diagonal, found, found * (a.shape[-1] / max(found.shape[-1], 1))).astype(a.dtype)
        symmetric = np.array_equal(a, np.swapaxes(a, -1, -2))
        return (found + np.swapaxes(found, -1, -2)) / 2 if symmetric else found


def programs() -> list[Program]:
    """The programs of the bank, and those of the benchmarks."""
    load_bank()
    modules = [
        importlib.import_module(f"benchmarks.workloads.{m.name}") for m in pkgutil.iter_modules(workloads.__path__)
    ]
    others = [
        Program(m.__name__.rpartition(".")[2], "workloads", m.primal, inputs_of(m), m.WRT, frozenset(), False)
        for m in modules
    ]
    return [*within(PROGRAMS.values()), *others]


def inputs_of(module: Any) -> MakeArgs:
    """Fresh arguments of a benchmark, small ones."""
    return lambda rng: tuple(module.inputs(True))


def lengths_of(program: Program) -> list[int]:
    """The lengths that occur in the arguments of a program, without those that follow another by one."""
    found: Counter[int] = Counter()

    def visit(value: Any) -> None:
        if isinstance(value, np.ndarray):
            found.update(n for n in value.shape if n)
        elif isinstance(value, list) and value and all(type(item) is float for item in value):
            found[len(value)] += 1
        else:
            for _, part in children(value):
                visit(part)

    visit(program.args())
    return sorted(n for n in found if n == 1 or n - 1 not in found or n == 2)


def cases(programs: list[Program], sizes: tuple[int, ...] = SIZES) -> Iterator[Case]:
    """Every case of some programs: each order where there are several axes or large arrays."""
    for program in programs:
        for length in lengths_of(program):
            for size in sizes:
                for order in orders_for(program):
                    if size != length and (length, size) != (1, 0):
                        yield Case(program, length, size, order)


def orders_for(program: Program) -> list[str]:
    """The orders of memory that differ for the arrays of a program."""
    axes = max((array.ndim for array in arrays(program.args())), default=0)
    return [order for order in ORDERS if order == "C" or axes > (order == "F")]


@contextlib.contextmanager
def primal_only() -> Iterator[None]:
    """What the primal itself warns of or raises is no failure."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            yield
    except TimeoutError:
        raise
    except Exception as error:
        raise Nothing from error


def directions(program: Program) -> tuple[Any, ...]:
    """A direction in which all that is differentiated is moved: arguments with zeros where nothing is."""
    rng = np.random.default_rng(1)
    paths = {f"[{position}]" for position in program.wrt}

    def direction(path: Any, leaf: Any) -> Any:
        if path[0] not in paths:
            return leaf * 0
        drawn = rng.normal(size=np.shape(leaf)) + (1j * rng.normal(size=np.shape(leaf)) if np.iscomplexobj(leaf) else 0)
        return np.asarray(drawn, leaf.dtype) if isinstance(leaf, np.ndarray) else type(leaf)(drawn)

    found: tuple[Any, ...] = map_leaves(direction, program.args())
    return found


def narrowest(program: Program) -> Any:
    """The leaf of least precision among those that are differentiated."""
    args = program.args()
    found = [leaf for position in program.wrt for leaf in leaves(args[position]).values()]
    return min(found, key=lambda leaf: np.asarray(leaf).dtype.itemsize, default=0.0)


def slopes(program: Program, along: dict[Any, Any], shrink: float = 2.0**-3) -> tuple[float, float]:
    """The slope of the total of the results in a direction, by differences with two steps."""

    def at(t: float) -> float:
        def change(path: Any, leaf: Any) -> Any:
            moved = leaf + t * along[path]
            return moved if not isinstance(leaf, np.ndarray) else like(moved.astype(leaf.dtype), leaf)

        return total(quiet(program.function, *map_leaves(change, program.args()))[0])

    step = step_of(narrowest(program), shrink_of(program) * shrink)
    return slope(at, step, 1.0), slope(at, step / 2, 1.0)


def like(moved: np.ndarray, leaf: np.ndarray) -> np.ndarray:
    """Numbers in the order of memory of another array."""
    return np.asfortranarray(moved) if leaf.flags.f_contiguous else moved


@contextlib.contextmanager
def if_any() -> Iterator[None]:
    """Pass where there is nothing to compare, or where the call is refused before there is a number."""
    with contextlib.suppress(Nothing, ad.AutodiffError), np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def expected_of(program: Program) -> Any:
    """The value of a program, which has to be made of finite numbers."""
    with primal_only():
        value, _ = quiet(program.function, *program.args())
    numbers = leaves(value)
    if not numbers or not all(np.all(np.isfinite(leaf)) for leaf in numbers.values()):
        raise Nothing
    return value


def check_without(name: str, case: Case) -> None:
    """The gradient of a case is the same without a pass of the compiler, but for rounding."""
    program = case.resized()
    expected_of(program)
    gradient, _ = quiet(checks.gradient_of(program), *program.args())
    with pass_registry.without(name):
        plain, _ = quiet(checks.gradient_of(program), *program.args())
    found = checks.by_path(program.wrt, plain)
    for path, leaf in checks.by_path(program.wrt, gradient).items():
        narrow = np.asarray(leaf).dtype.itemsize < 8
        if np.all(np.isfinite(leaf)):
            assert_close(found[path], leaf, 1e-2 if narrow else 1e-7, f"gradient of argument {show(path)}")


def check(case: Case) -> None:
    """Value, gradient, tangent and pullback of a case; what the primal warns of, they may warn of."""
    with np.errstate(all="ignore"):
        check_all(case)


def check_all(case: Case) -> None:
    program = case.resized()
    along = leaves(directions(program))
    value = expected_of(program)
    numbers = leaves(value)
    with primal_only():
        expected, nearer = slopes(program, along)
    found = along_gradient(program, along)
    size = max(1.0, sum(float(np.sum(np.abs(product))) for product in found))
    noise = 1e-9 * sum(float(np.sum(np.abs(leaf))) for leaf in numbers.values())
    tolerance = tolerance_of(program, narrowest(program)) * size + noise
    if not abs(nearer - expected) <= 0.2 * tolerance:
        raise Nothing
    got = float(np.real(sum(np.sum(product) for product in found)))
    if not abs(got - expected) <= tolerance and not abs(slopes(program, along, 2.0**-12)[1] - expected) <= tolerance:
        raise Nothing  # a kink lies near
    assert abs(got - expected) <= tolerance, f"gradient: {got} for {expected}"
    checks.check_value(program)
    if checks.takes_arrays(program) and program.name not in LIMITS["forward"]:
        moved = tuple(along[(f"[{position}]",)] for position in program.wrt)
        active = tuple(program.args()[position] for position in program.wrt)
        (primal, tangent), _ = quiet(ad.jvp, checks.of_active(program, program.args()), active, moved)
        assert same(primal, value), "value of the tangent"
        assert abs(total(tangent) - expected) <= tolerance, f"tangent: {total(tangent)} for {expected}"
    if checks.returns_arrays(program) and program.name not in LIMITS["pullback"]:
        checks.check_pullback(program)


def along_gradient(program: Program, along: dict[Any, Any]) -> list[Any]:
    """The gradient times the direction, number by number."""
    gradient, _ = quiet(checks.gradient_of(program), *program.args())
    return [leaf * along[path] for path, leaf in checks.by_path(program.wrt, gradient).items()]


def outcome(case: Case, seconds: int) -> str:
    """What becomes of a case: right, nothing, slow, refused, or what is wrong."""

    def late(*_: Any) -> None:
        raise TimeoutError

    signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        check(case)
    except Nothing:
        return "nothing"
    except TimeoutError:
        return "slow"
    except ad.AutodiffError as error:
        return f"refused: {type(error).__name__}: {' '.join(str(error).split())[:300]}"
    except Exception as error:
        return f"wrong: {type(error).__name__}: {' '.join(str(error).split())[:300]}"
    finally:
        signal.alarm(0)
    return "right"


def main(words: list[str]) -> int:
    """Print what is wrong, and how many cases there are of each kind; the words ``k/n`` take every n-th program."""
    part = next((word for word in words if "/" in word), "0/1")
    words = [word for word in words if word != part]
    first, every = map(int, part.split("/"))
    chosen = [p for p in programs() if not words or any(w in f"{p.topic}-{p.name}" for w in words)]
    counts: Counter[str] = Counter()
    for program in chosen[first::every]:
        checks.GRADIENTS.clear()
        slow: set[tuple[int, int]] = set()  # at larger sizes, it would be slower still
        for case in cases([program]):
            if any(case.length == length and case.size >= size for length, size in slow):
                counts["slow"] += 1
                continue
            result = outcome(case, 5)
            counts[result.partition(":")[0]] += 1
            if result == "slow":
                slow.add((case.length, case.size))
            elif ":" in result:
                print(case, result, flush=True)
    print(dict(counts))
    return counts["wrong"]


if __name__ == "__main__":
    warnings.simplefilter("error")
    sys.exit(min(main(sys.argv[1:]), 1))
