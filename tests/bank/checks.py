"""What must hold for each program of the bank."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

import autodiff_sct as ad
from autodiff_sct.compiler.domain import pass_registry
from autodiff_sct.api.entry import dispatch
from tests.bank.differences import assert_close, differentiate, gradient_by_differences, quiet, shrink_of, tolerance_of
from tests.bank.registry import Program
from tests.bank.structures import arrays, is_leaf, leaves, map_leaves, same, show, total


def position_of(wrt: tuple[int, ...]) -> int | tuple[int, ...]:
    """Return `grad_position` as people write it."""
    return wrt[0] if len(wrt) == 1 else wrt


def by_position(wrt: tuple[int, ...], gradient: Any) -> dict[int, Any]:
    """Return the gradients by position; for one position the gradient comes bare."""
    return dict(zip(wrt, (gradient,) if len(wrt) == 1 else gradient, strict=True))


def by_path(wrt: tuple[int, ...], gradient: Any) -> dict[tuple[str, ...], Any]:
    """Return the leaves of the gradients by their paths from the tuple of arguments."""
    found = {}
    for position, part in by_position(wrt, gradient).items():
        found.update(leaves(part, (f"[{position}]",)))
    return found


GRADIENTS: dict[Any, Any] = {}


def gradient_of(program: Program, anew: bool = False) -> Any:
    """The gradient function of a program, which several checks of one process call."""
    key = program.name, program.function, pass_registry.off()
    if anew or key not in GRADIENTS:
        GRADIENTS[key] = ad.grad(program.function, position_of(program.wrt))
    return GRADIENTS[key]


def check_gradient(program: Program) -> None:
    """The gradient is that of central differences, in the caller's structure, dtypes and kinds of numbers."""
    gradient = gradient_of(program, anew=True)
    found, _ = quiet(gradient, *program.args())
    check_kinds(program.args(), program.wrt, found)
    compare(program, found, gradient_by_differences(program))
    assert same(found, quiet(gradient, *program.args())[0]), "two calls differ"


def compare(program: Program, gradient: Any, differences: dict[tuple[str, ...], np.ndarray]) -> None:
    """Compare a gradient with differences, number by number."""
    found = by_path(program.wrt, gradient)
    for path, expected in differences.items():
        assert_close(found[path], expected, tolerance_of(program, found[path]), f"gradient of argument {show(path)}")


def check_other_values(program: Program) -> None:
    """A gradient function that was compiled for some numbers is right for others."""
    gradient = gradient_of(program)
    quiet(gradient, *program.args())
    for number in range(1, 10):
        if (expected := differences_elsewhere(program, number)) is not None:
            return compare(program, quiet(gradient, *program.args_elsewhere(number))[0], expected)
    raise AssertionError("no other numbers suit this program")


def differences_elsewhere(program: Program, number: int) -> dict[tuple[str, ...], np.ndarray] | None:
    """Return the differences at other numbers, or None where the program fails there or a kink lies near."""
    function, make, wrt, shrink = (
        program.function,
        lambda: program.args_elsewhere(number),
        program.wrt,
        shrink_of(program),
    )
    try:
        expected = differentiate(function, make, wrt, shrink)
        halved = differentiate(function, make, wrt, 0.5 * shrink)
    except (ArithmeticError, LookupError, ValueError, Warning):
        return None
    tolerance = 0.2 * tolerance_of(program, 0.0)
    steady = all(np.allclose(halved[p], expected[p], rtol=tolerance, atol=0.01 * tolerance) for p in expected)
    return expected if steady else None


def check_kinds(args: tuple[Any, ...], wrt: tuple[int, ...], gradient: Any) -> None:
    """Each gradient has the containers, shapes, dtypes and kinds of its argument."""
    for position, part in by_position(wrt, gradient).items():
        expected, found = leaves(args[position]), leaves(part)
        assert list(found) == list(expected), f"the structure of argument {position} is not kept"
        assert type(part) is type(args[position])
        for path, leaf in expected.items():
            check_leaf(leaf, found[path], f"[{position}]{show(path)}")


def check_leaf(leaf: Any, gradient: Any, where: str) -> None:
    """A Python float gets a Python float; an array or NumPy scalar gets its own dtype and shape."""
    if type(leaf) in (float, complex):
        assert type(gradient) is type(leaf), f"{where}: {type(gradient).__name__} for {type(leaf).__name__}"
        return
    kinds = type(leaf) if isinstance(leaf, np.ndarray) else (type(leaf), np.ndarray)
    assert isinstance(gradient, kinds), f"{where}: {type(gradient).__name__} for {type(leaf).__name__}"
    found, wanted = (gradient.dtype, gradient.shape), (leaf.dtype, leaf.shape)
    assert found == wanted, f"{where}: {found} for {wanted}"


def check_value(program: Program, make_args: Callable[[], tuple[Any, ...]] | None = None) -> Any:
    """The value is the primal's bit for bit, effects happen once, and nothing that the caller holds has changed."""
    make_args = make_args or program.args
    expected, printed = quiet(program.function, *(primal_args := make_args()))
    args = make_args()
    (value, gradient), text = quiet(ad.value_and_grad(program.function, position_of(program.wrt)), *args)
    assert same(value, expected), f"value {value!r} is not {expected!r}"
    assert text == printed
    check_caller(args, make_args(), primal_args)
    check_memory(args, value, gradient, program.wrt)
    return gradient


def check_caller(args: tuple[Any, ...], fresh: tuple[Any, ...], after_primal: tuple[Any, ...]) -> None:
    """Arguments are as they were, except that generators are where the primal leaves them."""
    for position, (arg, untouched, used) in enumerate(zip(args, fresh, after_primal, strict=True)):
        expected = used if isinstance(arg, np.random.Generator) else untouched
        assert same(arg, expected), f"argument {position} was changed"


def check_memory(args: tuple[Any, ...], value: Any, gradient: Any, wrt: tuple[int, ...]) -> None:
    """Gradients share no memory with arguments, values or each other; values share none with arguments."""
    parts = [arrays(part) for part in by_position(wrt, gradient).values()]
    owned = [array for part in parts for array in part]
    for i, array in enumerate(owned):
        for other in owned[i + 1 :] + arrays(args) + arrays(value):
            assert not np.shares_memory(array, other), "a gradient shares memory"
    for array in arrays(value):
        assert not any(np.shares_memory(array, other) for other in arrays(args)), "the value shares memory"


def single_precision(program: Program) -> tuple[Any, ...]:
    """Return the arguments with float32 arrays."""

    def narrow(path: Any, leaf: Any) -> Any:
        return leaf.astype(np.float32) if isinstance(leaf, np.ndarray) and leaf.dtype == np.float64 else leaf

    args: tuple[Any, ...] = map_leaves(narrow, program.args())
    return args


def check_float32(program: Program) -> None:
    """float32 arguments get float32 gradients, close to those in double precision, and the primal's value."""
    gradient = check_value(program, lambda: single_precision(program))
    check_kinds(single_precision(program), program.wrt, gradient)
    found = by_path(program.wrt, gradient)
    for path, expected in gradient_by_differences(program).items():
        assert_close(found[path], expected, 5e-2, f"gradient of argument {show(path)} in float32")


def takes_arrays(program: Program) -> bool:
    """Tell whether all that is differentiated are arrays and numbers, as `jvp` wants its inputs."""
    args = program.args()
    return all(is_leaf(args[position]) for position in program.wrt)


def of_active(program: Program, args: tuple[Any, ...]) -> Callable[..., Any]:
    """Return a function of the differentiated arguments alone."""
    function = program.function
    if program.wrt == tuple(range(len(args))):
        return function
    names = list(inspect.signature(function).parameters)
    if program.wrt == tuple(range(len(program.wrt))) and len(names) >= len(args):
        fixed = dict(zip(names[len(program.wrt) :], args[len(program.wrt) :], strict=False))
        return functools.partial(function, **fixed)

    def of_some(*active: Any) -> Any:
        full = list(args)
        for position, value in zip(program.wrt, active):
            full[position] = value
        return function(*full)

    return of_some


def random_directions(program: Program) -> tuple[Any, ...]:
    """Return a direction for each differentiated argument."""
    rng = np.random.default_rng(1)

    def direction(leaf: Any) -> Any:
        if not isinstance(leaf, np.ndarray):
            return type(leaf)(rng.normal())
        imaginary = 1j * rng.normal(size=leaf.shape) if leaf.dtype.kind == "c" else 0.0
        return np.asarray(rng.normal(size=leaf.shape) + imaginary, leaf.dtype)

    return tuple(direction(program.args()[position]) for position in program.wrt)


def check_forward(program: Program) -> None:
    """Forward mode agrees with differences and, more closely, with reverse mode applied to the same direction."""
    args, directions = program.args(), random_directions(program)
    active = tuple(args[position] for position in program.wrt)
    (value, tangent), _ = quiet(ad.jvp, of_active(program, args), active, directions)
    assert same(value, quiet(program.function, *program.args())[0])
    differences = gradient_by_differences(program)
    expected = [differences[(f"[{position}]",)] for position in program.wrt]
    compare_with(tangent, expected, directions, 10 * tolerance_of(program, 0.0))
    gradient, _ = quiet(gradient_of(program), *program.args())
    reverse = list(by_position(program.wrt, gradient).values())
    narrow = any(np.asarray(leaf).dtype.itemsize < 8 for leaf in reverse)
    compare_with(tangent, reverse, directions, 1e-2 if narrow else 1e-8)


def compare_with(tangent: Any, gradient: list[Any], directions: tuple[Any, ...], rtol: float) -> None:
    """Compare the total of a tangent with the gradient applied to the directions."""
    products = [leaf * direction for leaf, direction in zip(gradient, directions, strict=True)]
    expected = float(np.real(sum(np.sum(product) for product in products)))
    size = float(sum(np.sum(np.abs(product)) for product in products))
    np.testing.assert_allclose(total(tangent), expected, rtol=rtol, atol=rtol * max(1.0, size))


def returns_arrays(program: Program) -> bool:
    """Tell whether the result is a number, an array or a tuple of these, for which ones can be made."""
    value, _ = quiet(program.function, *program.args())
    return takes_arrays(program) and all(map(is_leaf, value if isinstance(value, tuple) else (value,)))


def check_pullback(program: Program) -> None:
    """A pullback gives the gradient of the sum of the results, each time that it is run."""
    args = program.args()
    active = tuple(args[position] for position in program.wrt)
    (value, pull), _ = quiet(ad.vjp, of_active(program, args), *active)
    seed = tuple(map(np.ones_like, value)) if isinstance(value, tuple) else np.ones_like(value)
    gradient, _ = quiet(gradient_of(program), *program.args())
    expected = list(by_position(program.wrt, gradient).values())
    for _ in range(3):
        found, _ = quiet(pull, seed)
        for got, wanted in zip(found if isinstance(found, tuple) else (found,), expected, strict=True):
            assert_close(got, wanted, 1e-3 if np.asarray(wanted).dtype.itemsize < 8 else 1e-8, "pullback")


def contraction(program: Program) -> Callable[..., Any]:
    """Return a function of the same arguments: the gradient by the first position, summed with fixed weights."""
    gradient = ad.grad(program.function, program.wrt[0])
    shape = np.shape(program.args()[program.wrt[0]])
    weights = np.random.default_rng(2).normal(size=shape) if shape else 0.7

    def contracted(*args: Any) -> Any:
        return np.sum(gradient(*args) * weights) if shape else gradient(*args) * weights

    return contracted


def check_second(program: Program) -> None:
    """The gradient of a contraction of the gradient is that of differences of the gradient."""
    contracted = contraction(program)
    first = program.wrt[:1]
    got = ad.grad(contracted, first[0])(*program.args())
    for path, expected in differentiate(contracted, program.args, first).items():
        assert_close(by_path(first, got)[path], expected, 2e-5, f"second order by argument {show(path)}")


def attempt_gradient(program: Program) -> None:
    """Only run reverse mode."""
    quiet(ad.value_and_grad(program.function, position_of(program.wrt)), *program.args())


def attempt_forward(program: Program) -> None:
    """Only run forward mode."""
    args = program.args()
    active = tuple(args[position] for position in program.wrt)
    quiet(ad.jvp, of_active(program, args), active, random_directions(program))


def attempt_second(program: Program) -> None:
    """Only run the gradient of a contraction of the gradient."""
    quiet(ad.grad(contraction(program), program.wrt[0]), *program.args())


def source_of(program: Program) -> str:
    """Return the adjoint's text for the program's own arguments."""
    text: str = ad.adjoint_source(program.function, *program.args(), grad_position=position_of(program.wrt))
    return text


def check_smooth(program: Program) -> None:
    """The oracle is trustworthy: two steps give the same differences, so no kink or branch lies near."""
    halved = differentiate(program.function, program.args, program.wrt, shrink=0.5 * shrink_of(program))
    for path, expected in gradient_by_differences(program).items():
        assert np.all(np.isfinite(expected))
        tolerance = 0.2 * tolerance_of(program, expected)
        assert_close(halved[path], expected, tolerance, f"differences of argument {show(path)}")


def check_source_alone(program: Program) -> None:
    """The printed adjoint, read as a new program beside the user's module, gives the same gradient."""
    adjoint = dispatch().Adjoint(program.function, program.wrt, (), False, False, False)
    quiet(adjoint.run, program.args(), {})  # from here on, globals are of the kinds that the program leaves
    (_, expected, _), _ = quiet(adjoint.run, program.args(), {})
    text = adjoint.latest.text
    assert text == source_of(program)
    # An object of the user's that the program changes is no name of a module: the text takes it from outside.
    outside = adjoint.latest.emitted.namespace.items()
    names = {**module_globals(program), **{n: v for n, v in outside if n.startswith("captured")}}
    exec(compile(text, f"<adjoint of {program.name}>", "exec"), names)
    emitted = adjoint.latest.emitted
    emitted.function = names[emitted.function.__name__]
    (_, alone, _), _ = quiet(adjoint.run, program.args(), {})
    assert same(alone, expected)


def module_globals(program: Program) -> dict[str, Any]:
    """Return the globals of the module that defines a program."""
    return vars(sys.modules[f"tests.bank.{program.topic}"])
