"""Calls that are repeated with another program: where a derivative is NaN, infinite in a number, or degenerate.

Most calls need none of this, and no program pays for it but a look for NaN.  The programs are: two with strong zeros
(``ad/strong_zeros.py``), those of singular functions or of every function, and one with perturbed spectra
(``runtime/linalg/degenerate.py``), whose derivatives at four points around a degenerate spectrum tell the one in the
middle.  They are what `limit_of` makes of them only if they agree: a derivative that is infinite, or that jumps from
one side to the other, is refused.

Where strong zeros of singular functions are enough once, calls begin with that program from then on (`Variant.first`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...core import deep_stack, thresholds
from ...errors import Degenerate
from ...runtime.linalg.degenerate import perturbation
from ..domain.leaves import children, leaves, replaced
from .specialization import Variant

if TYPE_CHECKING:
    from .dispatch import Compiled

__all__ = ["REPEATED", "derive", "holds_nan"]

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
            masked.strong = variant.strong
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
            settings = {"backend": "numpy", "strong": strong_zeros.SINGULAR}
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
