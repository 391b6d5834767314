"""No random program over lists, dicts, iterators, arrays or tables gets a wrong value, gradient or exception."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad
from tests.random import ENOUGH, PROGRAMS
from tests.random.containers import Containers
from tests.random.grammar import Grammar
from tests.random.oracle import forget, load
from tests.random.sweeps import Sweeps
from tests.random.tables import Tables

COUNTS: dict[type[Grammar], int] = {
    Containers: min(480, PROGRAMS),
    Sweeps: min(320, PROGRAMS),
    Tables: min(40, PROGRAMS),
}
RIGHT: dict[type[Grammar], float] = {Containers: 0.33, Sweeps: 0.9, Tables: 0.9}  # at least
BATCHES = 16
POINTS = (np.array([0.51, 0.23, 0.92]), np.array([-0.6, 1.2, 0.4]))


def differences(program: Any, x: np.ndarray, step: float) -> np.ndarray:
    return np.array([(program(x + e) - program(x - e)) / (2 * step) for e in step * np.eye(len(x))])


def expected(program: Any, x: np.ndarray) -> Any:
    """What a program returns, with its gradient; the exception that it raises; None where nothing can be said."""
    try:
        value = program(x.copy())
        found = [differences(program, x, step) for step in (1e-5, 3e-6)]
    except Exception as error:
        return error
    scale = 1.0 + np.max(np.abs(found[0]))
    if not np.isfinite(value) or scale > 1e7 or np.max(np.abs(found[0] - found[1])) > 1e-4 * scale:
        return None
    return value, found[0]


def outcome(program: Any) -> str:
    """Return how a program turned out at all points."""
    compiled, alone, turned = ad.value_and_grad(program), ad.grad(program), "unknown"
    for x in POINTS:
        wanted, given = expected(program, x), x.copy()
        if wanted is None:
            return "unknown"
        try:
            value, gradient = compiled(given)
        except ad.AutodiffError:
            return "refused"
        except Exception as error:
            assert isinstance(wanted, Exception), f"raises {error!r}"
            assert type(error) is type(wanted), f"raises {error!r} instead of {wanted!r}"
            turned = "raised"
            continue
        assert not isinstance(wanted, Exception), f"does not raise {wanted!r}"
        assert np.array_equal(given, x), "the argument was changed"
        assert value == wanted[0], f"value {value!r} is not {wanted[0]!r}"
        scale = 1.0 + np.max(np.abs(wanted[1]))
        np.testing.assert_allclose(gradient, wanted[1], rtol=1e-4, atol=1e-5 * scale)
        np.testing.assert_allclose(alone(given), gradient, rtol=1e-9, atol=1e-12 * scale)
        turned = "right"
    return turned


@pytest.mark.parametrize("batch", range(BATCHES))
@pytest.mark.parametrize("writer", COUNTS, ids=lambda writer: writer.__name__.lower())
def test_random_programs_of_a_grammar(writer: type[Grammar], batch: int) -> None:
    """The same programs in each run."""
    outcomes: Counter[str] = Counter()
    for number in range(batch, COUNTS[writer], BATCHES):
        text = writer(number).program()
        program = load(text)
        try:
            outcomes[outcome(program)] += 1
        except Exception as error:
            raise AssertionError(f"program {number}: {error}\n{text}") from error
        finally:
            forget(program)
    print(dict(outcomes))
    if outcomes.total() >= ENOUGH:
        assert outcomes["right"] >= RIGHT[writer] * outcomes.total()
