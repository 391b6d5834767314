"""Exceptions and context managers: what was done before an exception counts, what was not does not."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad
from tests.compiler.checked import Cases, V, check_gradient, check_tangent, names, registrar

CASES: Cases = []
case = registrar(CASES)


# -- exceptions


@case((V, 2), (V, 9), (V, -9))
def write_then_error(x: Any, i: int) -> Any:
    y = x * x
    try:
        y[0] = y[1] * x[2]
        y[i] = y[0] ** 2
        y[3] = 5.0 * y[2]
    except IndexError:
        y[1] = y[0] * x[3]
    return np.sum(y * x)


@case((V, 4), (V, 2), (V, 9))
def loop_cut_off(x: Any, n: int) -> Any:
    y = x * 1.0
    total = 1.0
    try:
        for i in range(n):
            total = total * x[i] + 1.0
            y[i] = y[i] ** 2 + y[i - 1] * total
    except IndexError:
        total = total * 2.0
    return np.sum(y) * total


@case(V, np.array([0.4, -0.5, 2.0, -0.3]))
def try_in_loop(x: Any) -> Any:
    total = 0.3
    for v in [x[0], x[1], x[2], x[3]]:
        w = float(v)
        try:
            part = total * 2.0
            total = part + 1.0 / (w if w > 0.0 else int(0))
        except ZeroDivisionError:
            total = total * total
        else:
            total = total + part
    return total * x[0]


@case((0.4, 0), (0.4, 1), (0.4, 2), (0.4, 3))
def several_handlers(x: float, which: int) -> Any:
    y = x
    try:
        y = y * x
        if which == 1:
            raise KeyError("a")
        y = math.sin(y)
        if which == 2:
            raise ValueError("b")
        y = y + x
        if which == 3:
            [][which]
        y = y * y
    except KeyError:
        y = y * 3.0
    except (ValueError, IndexError) as error:
        y = y * y * len(error.args)
    else:
        y = y - x
    finally:
        y = y + x * x
    return y


@case((0.4, 0), (0.4, 1), (0.4, 2))
def nested_and_reraised(x: float, which: int) -> Any:
    y = x
    try:
        try:
            y = y * x
            if which > 0:
                raise KeyError("inner")
            y = y + 1.0
        except KeyError:
            y = y * 5.0
            if which == 2:
                raise
            y = y + x
        finally:
            y = y * math.cos(x)
        y = y * x
    except LookupError:
        y = y + x**3
    return y


@case((0.4, 5), (0.4, 1), (0.4, 0))
def return_in_try_in_loop(x: float, n: int) -> Any:
    y = x
    for i in range(3):
        try:
            y = y * x + i
            if i == n:
                return y * y
            y = y / (n - i)
        except ZeroDivisionError:
            return y * 7.0
        finally:
            y = y + 1.0
    return y


@case((0.4, 5), (0.4, 1), (0.4, 0))
def break_and_continue_in_try(x: float, n: int) -> Any:
    y = x
    for i in range(4):
        try:
            y = y * x + i
            if i == n:
                break
            if i == 2:
                continue
            y = y + 1 / (i - 1)
        except ZeroDivisionError:
            y = y * x
            continue
        y = y + 2.0
    return y * x


@case((V, 0.0), (V, 10.0))
def loop_inside_try_inside_loop(x: Any, limit: float) -> Any:
    total = 0.0
    for i in range(3):
        s = x[i]
        try:
            for j in range(5):
                s = s * x[j] + 0.5
                if s > limit:
                    raise OverflowError
            total = total + s
        except (IndexError, OverflowError):
            total = total + s * s
    return total


def risky(v: Any, k: int) -> Any:
    w = v * v
    if k == 2:
        raise ValueError("two")
    for _ in range(k):
        w = w * v
    return w


@case(V)
def callee_raises(x: Any) -> Any:
    total = x[0]
    for k in range(4):
        try:
            total = total * risky(x[k], k)
        except ValueError:
            total = total + x[k]
    return total


@case((0.7, 0.0), (0.7, 2.0))
def unchanged_by_failed_assignment(x: float, d: float) -> Any:
    y = x * 3.0
    try:
        y = math.sin(x) / d
    except ZeroDivisionError:
        pass
    return y * x


@case((V, 1), (V, 8))
def swap_in_try(x: Any, k: int) -> Any:
    a, b = x[0], x[1]
    try:
        a, b = b * 2.0, a * x[k]
    except IndexError:
        a = a * b
    return a * b + a


# -- context managers


class Meter:
    def __init__(self, gain: Any, forgiving: bool = False) -> None:
        self.gain, self.forgiving, self.count = gain, forgiving, 0

    def __enter__(self) -> Meter:
        self.count += 1
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool:
        self.count += 1
        return self.forgiving and kind is not None


class Plain:
    def __enter__(self) -> float:
        return 2.5

    def __exit__(self, *details: Any) -> None:
        return None


@contextlib.contextmanager
def quiet() -> Iterator[float]:
    yield 2.0


@contextlib.contextmanager
def forgiving() -> Iterator[None]:
    try:
        yield
    except ZeroDivisionError:
        pass


@case((0.7, 0.0), (0.7, 2.0))
def user_manager_swallows(x: float, d: float) -> Any:
    y = x
    with Meter(x * x, True) as meter:
        y = y * meter.gain
        y = y + x / d
        y = y * 3.0
    return y * meter.count


@case((0.7, 3), (0.7, 0), (0.7, 1))
def return_in_with_in_loop(x: float, n: int) -> Any:
    y = x
    for i in range(3):
        with Plain() as scale, Meter(y) as meter:
            y = y * scale + meter.gain
            if i == n:
                return y * x
    return y


@case((0.7, 0.0), (0.7, 2.0))
def generator_manager_swallows(x: float, d: float) -> Any:
    y = x
    with forgiving():
        y = y * x
        y = y / d
        y = y * 5.0
    return y * x


@case((0.7, 0.0), (0.7, 2.0))
def suppressed_in_loop(x: float, d: float) -> Any:
    y = x
    for i in range(3):
        with contextlib.suppress(ZeroDivisionError):
            y = y * x + i
            y = y / (d * i)
            y = y + 0.5
    with quiet() as factor:
        y = y * len([factor])
    return y * x


@case(V)
def list_appended_in_try(x: Any) -> Any:
    out = []
    for i in range(6):
        try:
            out.append(x[i] ** 2)
        except IndexError:
            out.append(x[0] * i)
    s = 0.0
    for k in range(len(out)):
        s = s + out[k] * x[k % 4]
    return s


@case(V)
def list_append_then_fail(x: Any) -> Any:
    out = [1.0]
    try:
        for i in range(6):
            out.append(out[-1] * x[i])
    except IndexError:
        out.append(3.0)
    s = 0.0
    for k in range(len(out)):
        s = s + out[k] * x[k % 4]
    return s


@case((0.4, 0), (0.4, 1), (0.4, 2))
def handler_raises_caught_outside(x: Any, w: Any) -> Any:
    y = x
    try:
        try:
            y = y * x
            if w:
                raise ValueError
            y = y + 1
        except ValueError:
            y = y * 3
            if w == 2:
                raise RuntimeError("x")
            y = y * y
    except RuntimeError as e:
        y = y + x * len(e.args)
    return y


@case((V, 0), (V, 1), (V, 7))
def retry(x: Any, n: Any) -> Any:
    y = x * x
    tries = 0
    while True:
        try:
            tries += 1
            z = np.sum(y) * x[n - tries + 1] if n < 4 else np.sum(y) * x[n - tries]
            if z > 0:
                break
            raise ValueError
        except IndexError:
            y = y * 1.5
        except ValueError:
            y = y + x
            if tries > 5:
                break
    return np.sum(y * x) * tries


@case((0.7, 2), (0.7, 0))
def with_in_try(x: Any, d: Any) -> Any:
    y = x
    try:
        with Plain() as k:
            y = y * k
            y = y + 1 / d
            y = y * 2
        y = y * x
    except ZeroDivisionError:
        y = y * y
    return y


@case((V, 2), (V, 7))
def else_in_try_in_loop(x: Any, n: Any) -> Any:
    t = 1.0
    for i in range(n):
        try:
            v = x[i]
        except IndexError:
            t = t * 1.5
            if i > 5:
                break
            continue
        else:
            if v < 0:
                t = t - v
                continue
            t = t * v
        finally:
            t = t + 0.1 * i
        t = t + x[0]
    return t


@case((V, 1), (V, 9))
def comprehension_in_try(x: Any, i: Any) -> Any:
    try:
        v = [x[k] * x[k + i] for k in range(3)]
        s = v[0] * v[1] + sum(v)
    except IndexError:
        s = x[0] * x[1]
    return s * x[2]


# -- steps that nothing stops


def below_one(v: float) -> float:
    if v > 1.0:
        raise ValueError
    return v * 1.5


@case(0.2, 0.45, 0.9, 3.0)
def steps_in_a_loop_some_of_which_raise(x: Any) -> Any:
    y, total = x, 0.0
    for _ in range(4):
        try:
            y = y * 1.7
            total = total + below_one(y) * y
            y = y - 0.1
        except ValueError:
            y = y * 0.3
            continue
        finally:
            total = total + y * y
    return total * y


@case(0.2, 0.9, 3.0)
def value_from_before_the_step_that_raises(x: Any) -> Any:
    y, z = x * 2.0, 1.0
    try:
        y = y * y
        z = below_one(y)
        y = y * 3.0
    except ValueError:
        z = y + 1.0
    return y * z


@case(0.2, 0.45, 0.9, 3.0)
def attempt_inside_an_attempt(x: Any) -> Any:
    y = x
    try:
        w = y * y
        try:
            y = w * 2.0
            u = below_one(y)
        except KeyError:
            u = y
        y = u * w
    except ValueError:
        u = y * 5.0
        w = y * u
    return u * w + y


@case((2.0, 3), (2.0, 10**400))
def whole_number_too_large_for_a_float(x: Any, n: int) -> Any:
    try:
        y = x * n
    except OverflowError:
        y = x * 7.0
    return y * x


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradient(fn: Any, args: Any) -> None:
    check_gradient(fn, args)


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_tangent(fn: Any, args: Any) -> None:
    check_tangent(fn, args)


# -- exceptions that leave the function


def always(x: float) -> float:
    raise KeyError("always", x)


def checked(x: float) -> float:
    assert x > 0.0, f"negative: {x:.1f}"
    return math.sqrt(x)


def passed_on(x: float, error: Exception) -> float:
    y = x * x
    try:
        y = y * x
        raise error
    except KeyError:
        y = y + 1.0
    return y


def test_a_function_that_always_raises() -> None:
    with pytest.raises(KeyError) as caught:
        ad.grad(always)(0.5)
    assert caught.value.args == ("always", 0.5)


def test_messages_of_assertions() -> None:
    assert ad.grad(checked)(4.0) == 0.25
    with pytest.raises(AssertionError, match="negative: -1.0"):
        ad.grad(checked)(-1.0)


def test_exceptions_come_out_unchanged() -> None:
    error = ValueError("mine")
    with pytest.raises(ValueError, match="mine") as caught:
        ad.grad(passed_on)(0.5, error)
    assert caught.value is error
    assert any("test_exceptions.py" in note for note in error.__notes__)


def unbound(x: Any, n: int) -> Any:
    for i in range(n):
        y = x * i
    return y


def test_unbound_names_raise_as_in_python() -> None:
    assert ad.grad(unbound)(0.5, 3) == 2.0
    with pytest.raises(UnboundLocalError):
        ad.grad(unbound)(0.5, 0)


class Carrier(Exception):
    def __init__(self, state: Any) -> None:
        super().__init__("carrier")
        self.state = state


def carried_by_exception(x: float) -> Any:
    try:
        if x > 0.1:
            raise Carrier(x * x)
        y = x
    except Carrier as error:
        y = error.state * 3.0
    return y


def test_a_derivative_in_an_exception_is_right_or_refused() -> None:
    try:
        gradient = ad.grad(carried_by_exception)(0.5)
    except ad.AutodiffError:
        return
    assert abs(gradient - 3.0) < 1e-9


def assigned_before_it_raises(x: Any, i: int) -> Any:
    y = x[0]
    try:
        z = (y := y * x[1]) * x[i]
    except IndexError:
        z = y * 5.0
    return z * y


def test_a_step_cut_off_in_its_middle_is_refused() -> None:
    with pytest.raises(ad.AutodiffError, match="may or may not have been changed"):
        ad.grad(assigned_before_it_raises)(V, 9)


# -- calls that fail


class Counter:
    """Counts what has been done with it."""

    def __init__(self) -> None:
        self.started, self.ended = 0, 0.0


COUNTER = Counter()


def counted(x: Any) -> Any:
    COUNTER.started += 1
    x[0] = 5.0
    if x[1] < 0:
        raise ValueError("negative")
    COUNTER.ended = 1.5
    return x * x


def counted_and_refused(x: Any) -> Any:
    COUNTER.started += 1
    return np.frompyfunc(math.sin, 1, 1)(x)


@pytest.mark.parametrize(
    "differentiate", [ad.grad, lambda f: lambda x: ad.vjp(f, x), lambda f: lambda x: ad.jvp(f, x, x)]
)
def test_a_failing_program_leaves_what_it_had_done(differentiate: Any) -> None:
    """As without the gradient: what came before the exception has happened once, what comes after it has not."""
    COUNTER.__init__()  # type: ignore[misc]
    x = np.array([1.0, -1.0])
    with pytest.raises(ValueError, match="negative"):
        differentiate(counted)(x)
    assert (COUNTER.started, COUNTER.ended) == (1, 0.0)
    assert x.tolist() == [1.0, -1.0]
    differentiate(counted)(-x)
    assert (COUNTER.started, COUNTER.ended) == (2, 1.5)


def test_a_refused_program_has_done_nothing() -> None:
    COUNTER.__init__()  # type: ignore[misc]
    with pytest.raises(ad.AutodiffError):
        ad.grad(counted_and_refused)(np.ones(2))
    assert COUNTER.started == 0


def later(x):
    return x * defined_later  # noqa: F821


def test_a_name_that_comes_to_be_is_seen():
    gradient = ad.grad(later)
    with pytest.raises(NameError, match="defined_later"):
        gradient(2.0)
    globals()["defined_later"] = 3.0
    try:
        assert gradient(2.0) == 3.0
    finally:
        del globals()["defined_later"]
    with pytest.raises(NameError):
        gradient(2.0)


class Settings:
    pass


def test_an_attribute_that_comes_to_be_is_seen():
    settings = Settings()
    gradient = ad.grad(lambda x: x * settings.factor)
    with pytest.raises(AttributeError, match="factor"):
        gradient(2.0)
    settings.factor = 4.0
    assert gradient(2.0) == 4.0


@pytest.mark.parametrize(
    ("fn", "error"),
    [
        (lambda x: 1 / 0, ZeroDivisionError),
        (lambda x: x.no_such_attribute, AttributeError),
        (lambda x: np.no_such_function(x), AttributeError),
        (lambda x: later(x, x), TypeError),
        (lambda x: later(y=x), TypeError),
        (lambda x: {"a": x}["b"], KeyError),
        (lambda x: (x, x)[2], IndexError),
    ],
)
def test_mistakes_raise_what_they_raise_in_python(fn, error):
    with pytest.raises(error):
        fn(np.ones(3))
    for _ in range(2):
        with pytest.raises(error) as caught:
            ad.grad(fn)(np.ones(3))
        assert not isinstance(caught.value, ad.errors.AutodiffError)


@pytest.mark.parametrize("number", [0.7, 0.4, 0.1])
def test_pullback_of_what_only_some_paths_assign(number):
    def program(x, t):
        try:
            if t > 0.5:
                raise ValueError
            w = x
            if t > 0.2:
                w = x * 2.0
            w += x
        except ValueError:
            pass
        return x

    value, pull = ad.vjp(lambda x: program(x, number), np.array([1.0, 3.0]))
    factor = 2.0 if number < 0.2 else 1.0
    assert value.tolist() == [factor, 3.0 * factor]
    for _ in range(2):
        (gradient,) = pull(np.ones(2))
        assert gradient.tolist() == [factor, factor]


def test_a_step_that_nothing_stops_needs_no_attempt() -> None:
    def f(x: Any) -> Any:
        try:
            y = x * 2.0
            y = below_one(y) + y
        except ValueError:
            y = 0.0
        return y

    source = ad.adjoint_source(f, 0.3)
    assert source.count("\n    try:\n") == 1
    assert source.index("y = x * 2.0") < source.index("try:")
