"""Attempts: another program for what is refused, and for calls whose derivative is NaN or degenerate.

Most calls are not repeated, and pay for no more than a look for NaN.  The other programs are: two with strong zeros
(``ad/strong_zeros.py``), those of singular functions or of every function, and one with perturbed spectra
(``runtime/linalg/degenerate.py``), whose derivatives at four points around a degenerate spectrum tell the one in the
middle.  They are what `limit_of` makes of them only if they agree: a derivative that is infinite, or that jumps from
one side to the other, is refused.

Where strong zeros of singular functions are enough once, calls begin with that program from then on (`Variant.first`).

The first attempt to compile writes the shortest and most general program.  A second one is made where the first met
something that it could have done otherwise (see `domain.request`), and a third where the lengths of the arguments, or
integers among them, may decide what the program is: as a program for the very lengths or integers that it is given, it
is of no use to calls with others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core import deep_stack, thresholds
from ...errors import Degenerate, Refused, UnsupportedSyntax
from ...runtime.linalg.degenerate import perturbation
from ..domain.facts import Num
from ..domain.pytree import Branch, Leaf, Listing, Static, children, is_setting, leaves, replaced
from ..domain.request import Attempt, Emitted, Request, Way
from .specialization import Variant

if TYPE_CHECKING:
    from .dispatch import Compiled

__all__ = ["REPEATED", "derive", "fixed", "granted_by", "holds_nan", "settings_of"]

NUMBERS = (ZeroDivisionError, OverflowError)  # what Python's numbers raise where NumPy's are infinite
REPEATED = (*NUMBERS, np.linalg.LinAlgError, Degenerate)
NOT_NEAR_BY = (ArithmeticError, ValueError, Degenerate)  # what a perturbed program may raise: there is no limit
SINGULAR, EVERY, PERTURBED = "singular", "every", "perturbed"  # programs with strong zeros; of perturbed spectra
AROUND = ((1.0, 0), (-1.0, 0), (0.5, 0), (-0.5, 0), (1.0, 1), (-1.0, 1))  # amounts, and bases


def derive(compiled: Compiled, variant: Variant, values: tuple[Any, ...], seeds: tuple[Any, ...] = ()) -> Any:
    """Run a variant; where a derivative fails or is NaN, run another program, unless a call cannot be repeated.

    An error that remains is that of the first run.
    """
    try:
        result = compiled.call(variant.first or variant, values, seeds)
    except REPEATED as error:
        if not variant.may_be_nan or not (variant.again or not isinstance(error, NUMBERS)):
            raise
        if isinstance(error, Degenerate):
            return limit(compiled, variant, values, seeds, error)
        return strong_result(compiled, variant, values, seeds, error)
    if not variant.may_be_nan or not holds_nan(compiled.derivatives_in(variant, result)):
        return result
    return defined(compiled, variant, values, seeds)


def defined(compiled: Compiled, variant: Variant, values: tuple[Any, ...], seeds: tuple[Any, ...] = ()) -> Any:
    """The result of another program in the place of one that holds a NaN."""
    with np.errstate(all="ignore"):
        if (degenerate := degenerate_at(compiled, variant, values, seeds)) is not None:
            return limit(compiled, variant, values, seeds, degenerate)
        if variant.first is None and not (compiled.split or SINGULAR in variant.strong):
            masked = strongly(compiled, variant, SINGULAR)
            try:
                result = compiled.call(masked, values, seeds)
                if not holds_nan(compiled.derivatives_in(variant, result)):
                    variant.first = masked
                    return result
            except REPEATED:
                pass  # of Python's numbers, which the next program does without
        return compiled.call(strongly(compiled, variant), values, seeds)


def degenerate_at(
    compiled: Compiled, variant: Variant, values: tuple[Any, ...], seeds: tuple[Any, ...]
) -> Degenerate | None:
    """The error for a degenerate point, which a program that failed or returned a NaN may have been run at."""
    if variant.emitted.spectral:
        try:
            with perturbation(strict=True):
                compiled.call(variant, values, seeds)
        except Degenerate as error:
            return error
    return None


def strong_result(
    compiled: Compiled, variant: Variant, values: tuple[Any, ...], seeds: tuple[Any, ...], error: Exception
) -> Any:
    """The result of the program with strong zeros; the error where that fails as well."""
    program = strongly(compiled, variant)
    try:
        result = compiled.call(program, values, seeds)
        if (found := degenerate_at(compiled, program, values, seeds)) is not None:
            raise found
    except Degenerate as degenerate:
        return limit(compiled, variant, values, seeds, degenerate)
    except REPEATED:
        raise error from None
    if isinstance(error, np.linalg.LinAlgError) and holds_nan(compiled.derivatives_in(variant, result)):
        raise error
    return result


def strongly(compiled: Compiled, variant: Variant, kind: str = EVERY) -> Variant:
    """The variant in which zero derivatives stay zero: of singular functions, of every one, or near by, too."""
    from ..ad import strong_zeros

    with compiled.lock, deep_stack.paused():
        found = variant.strong.get(kind)
        if found is None:
            settings: dict[str, Any] = {"backend": "numpy", "strong": strong_zeros.SINGULAR}
            if kind != SINGULAR:
                settings |= {"lists": False, "careful": True, "strong": strong_zeros.EVERY}
            settings |= {"perturbed": True, "value": True} if kind == PERTURBED else {}
            found = variant.strong[kind] = compiled.variant_of(variant, **settings)
        return found


def limit(
    compiled: Compiled, variant: Variant, values: tuple[Any, ...], seeds: tuple[Any, ...], error: Degenerate
) -> Any:
    """The result at a degenerate spectrum: its derivative is the limit of those at spectra near by, or the error."""
    program = strongly(compiled, variant, PERTURBED)

    def run(amount: float, basis: int = 0) -> Any:
        with perturbation(amount, basis):
            result = compiled.call(program, values, seeds)
        return result if program.count > 1 else (result,)

    try:
        with np.errstate(all="ignore"):
            middle, *around = [run(*settings) for settings in ((0.0,), *AROUND)]
            beside = size_of(around[0])
            found = limit_of([each[1:] for each in around], beside)
            value = limit_of([each[0] for each in around], beside, size_of(found))
    except NOT_NEAR_BY:
        raise error from None
    if value is None or found is None:
        raise error
    return compiled.with_derivatives(exact(middle[0], value, size_of(found)), found)


def limit_of(around: list[Any], beside: float, size: float = 0.0) -> Any:
    """The value in the middle of the points around it; None for none.

    Rounding errors are relative to `beside`, and what is small is so relative to `size` or to what there is.

    What is even in the distance is extrapolated.  What is odd gets smaller with it, and another basis gives the same,
    or there is no limit.
    """
    found: list[Any] = []
    uncertain = odd = odd_nearer = eps = 0.0
    for far, other_far, near, other_near, *elsewhere in zip(*map(numbers_in, around)):
        even, even_nearer, even_elsewhere = (far + other_far) / 2, (near + other_near) / 2, sum(elsewhere) / 2
        middle = (4 * even_nearer - even) / 3
        if not np.all(np.isfinite(middle)):
            return None
        found.append(middle.astype(far.dtype)[()])
        size = max(size, largest(middle))
        uncertain = max(uncertain, largest(middle - even_nearer), largest(even - even_elsewhere))
        odd, odd_nearer = max(odd, largest(far - other_far)), max(odd_nearer, largest(near - other_near))
        eps = max(eps, float(np.finfo(far.dtype).eps))
    noise = eps**0.5 * beside
    smooth = uncertain <= eps**0.2 * size + noise and odd_nearer <= 0.75 * odd + noise
    return replaced(around[0], iter(found)) if smooth else None


def exact(value: Any, found: Any, size: float) -> Any:
    """The value itself where the one that was found is that but for rounding, as it is unless it holds derivatives."""
    near = zip(numbers_in(value), numbers_in(found))
    return value if all(np.allclose(a, b, 1e-3, 1e-3 * size) for a, b in near) else found


def numbers_in(x: Any) -> list[np.ndarray]:
    """The numbers and arrays in a result."""
    return [np.asarray(leaf) for leaf in leaves(x, x)]


def size_of(x: Any) -> float:
    """The largest magnitude in a result."""
    return max(map(largest, numbers_in(x)), default=0.0)


def largest(x: np.ndarray) -> float:
    """The largest magnitude in an array."""
    return float(np.max(np.abs(x), initial=0.0))


def holds_nan(value: Any) -> bool:
    """True if a number, an array or a container of them may hold a NaN: some complex infinities count, too.

    The product of an array with itself is NaN where an element is, as is its minimum, and neither warns of anything.
    The product takes half the time of the minimum of a short array.
    """
    kind = type(value)
    if kind is np.ndarray:
        if value.dtype.kind not in "fc":
            return False
        found = np.vdot(value, value) if value.size <= thresholds.ELEMENTS_OF_ONE_THREAD else value.min(initial=0.0)
        return bool(found != found)
    if kind is float or isinstance(value, (complex, np.inexact)):
        return bool(value != value)
    if kind is tuple or kind is list:
        return any(map(holds_nan, value))
    if isinstance(value, (str, bytes, int, np.generic)) or value is None:
        return False
    return any(map(holds_nan, (children(value) or {}).values()))


def granted_by(
    emit: Callable[[Request], Emitted], request: Request, values: tuple[Any, ...] = ()
) -> tuple[Emitted, Request]:
    """The program that `emit` makes of a request, and the request as it was granted."""
    from ..interp.library.validation import explained
    from ..interp.world.boundary import users_line

    first: Refused | None = None
    following: Request | None = request
    while following is not None:
        request = following
        try:
            return settled(emit, request), request
        except Refused as error:
            following = after(request, error, values)
            error.origin = users_line(error.origin, request.fn, request.attempt.derivatives)
            explains = first is None or not request.attempt.ways.isdisjoint((Way.CALL, Way.FIELDS))
            first, last = error if explains else first, error
    assert first is not None
    raise explained(first, last, request.attempt.unfollowed.values()) from None


def settled(emit: Callable[[Request], Emitted], request: Request) -> Emitted:
    """The result of `emit` for a request; refused if a container needs a variable where a derivative uses it."""
    from ..interp.kernel.program_values import Restart

    try:
        return emit(request)
    except Restart:
        raise UnsupportedSyntax(
            "a container changes its shape in a way that cannot be followed",
            "give each of its items one kind on every path",
            code="different-kinds",
        ) from None


def after(request: Request, refused: Refused, values: tuple[Any, ...]) -> Request | None:
    """The attempt that follows one that was refused."""
    tried = request.attempt
    if Way.FIELDS in tried.met - tried.ways:
        return replace(request, attempt=Attempt(tried.ways | {Way.FIELDS}))
    tried = replace(tried, ways=tried.ways - {Way.FIELDS})  # each of the following attempts is made without it first
    ways = ways_around(tried, refused)
    if not tried.ways and tried.derivatives and Way.CALL in tried.met and Way.CALL not in ways:
        return replace(request, attempt=Attempt(frozenset([Way.CALL])))
    if tried.ways <= {Way.CALL} and tried.met & ways:
        return replace(request, attempt=Attempt(ways))
    if tried.ways and Way.CALL in ways - tried.ways:  # the attempts before did not come to the derivative
        return replace(request, attempt=Attempt(tried.ways | {Way.CALL}))
    if Way.LENGTHS not in tried.ways:
        parameters = measured(request.parameters, values)
        if refused.code == "unknown-length" or parameters != request.parameters:
            return replace(request, parameters=parameters, attempt=Attempt((tried.ways or ways) | {Way.LENGTHS}))
    parameters = fixed(request.parameters, values)
    if Way.INTEGERS in tried.ways or parameters == request.parameters:
        return None
    return replace(request, parameters=parameters, attempt=Attempt((tried.ways or ways) | {Way.INTEGERS}))


def ways_around(tried: Attempt, refused: Refused) -> frozenset[Way]:
    """The ways that may lift a refusal."""
    from ..interp.world.boundary import is_ours

    ways = {Way.TEXTS, Way.ASK, Way.LATE, Way.DEFAULTS, Way.ASSEMBLED, Way.INLINE if tried.specialised else Way.SHORT}
    in_derivative = tried.derivatives and (refused.origin is None or is_ours(refused.origin))
    return frozenset(ways | {Way.CALL} if in_derivative else ways)


# Integers that are settings: an order, a degree, an axis. How many results there are may depend on one.


def settings_of(values: tuple[Any, ...], ways: frozenset[Way]) -> tuple[Any, ...]:
    """The settings and lengths that tell calls apart which a program for given ones serves."""
    settings = tuple([value if Way.INTEGERS in ways and is_setting(value) else None for value in values])
    return (settings, *map(lengths_of, values)) if Way.LENGTHS in ways else settings


def fixed(parameters: dict[str, Any], values: tuple[Any, ...]) -> dict[str, Any]:
    """The trees of the arguments where integers that are settings are known."""
    found = {name: value for name, value in zip(parameters, values) if is_setting(value)}
    return {name: (kind, known(found[name]) if name in found else tree) for name, (kind, tree) in parameters.items()}


def known(value: Any) -> Any:
    """The tree of a setting."""
    if isinstance(value, tuple):
        return Branch(tuple, tuple(range(len(value))), tuple(map(known, value)))
    return Static(value)


# Lengths of short lists and of short axes: as many items are unpacked.


def measured(parameters: dict[str, Any], values: tuple[Any, ...]) -> dict[str, Any]:
    """The trees of the arguments with the lengths that these have, where there are any."""
    pairs = zip(parameters.items(), values)
    return parameters | {name: (kind, with_lengths(tree, value)) for (name, (kind, tree)), value in pairs}


def is_short(length: int) -> bool:
    return length <= thresholds.SETTING


def lengths_of(value: Any) -> Any:
    """The lengths of the short axes in an argument, and of the short containers."""
    if isinstance(value, np.ndarray):
        return tuple([n if is_short(n) else None for n in value.shape])
    if isinstance(value, (list, tuple, dict)) and is_short(len(value)):
        return tuple(map(lengths_of, items_of(value)))
    return None


def with_lengths(tree: Any, value: Any) -> Any:
    """The tree of an argument in which short lists are known item by item, and short axes by their lengths."""
    if isinstance(tree, Leaf) and isinstance(value, np.ndarray) and isinstance(tree.facts, Num) and tree.facts.dims:
        dims = tuple([n if is_short(n) else dim for n, dim in zip(value.shape, tree.facts.dims)])
        return replace(tree, facts=replace(tree.facts, dims=dims))
    if not isinstance(value, (list, tuple, dict)) or not is_short(len(value)):
        return tree
    if isinstance(tree, Listing):
        items = tuple([with_lengths(tree.element, item) for item in value])
        return Branch(tree.cls, tuple(range(len(value))), items)
    if isinstance(tree, Branch):
        return replace(tree, children=tuple(map(with_lengths, tree.children, items_of(value))))
    return tree


def items_of(value: Any) -> Iterable[Any]:
    """The items of a list or a tuple, or the values of a dict."""
    return value.values() if isinstance(value, dict) else value
