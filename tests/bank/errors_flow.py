"""`try`, `with`, `assert`, `raise`, warnings."""

import contextlib
import math
import warnings

import numpy as np

from tests.bank.registry import program


class Diverged(Exception):
    def __init__(self, state):
        super().__init__("diverged")
        self.state = state


class Scope:
    def __init__(self, gain):
        self.gain = gain
        self.open = False

    def __enter__(self):
        self.open = True
        return self

    def __exit__(self, kind, error, trace):
        self.open = False
        return kind is ZeroDivisionError


@contextlib.contextmanager
def announced(name):
    print("enter", name)
    try:
        yield name
    finally:
        print("leave", name)


@program(args=lambda rng: (0.4, 0.0))
def division_by_zero_caught(x, y):
    try:
        ratio = x / y
    except ZeroDivisionError:
        ratio = x**2 + y
    return ratio * x


@program(args=lambda rng: (rng.normal(size=3), 5))
def index_error_caught(x, i):
    try:
        v = x[i]
    except IndexError:
        v = x[-1] ** 2
    else:
        v = v * 100.0
    finally:
        v = v + x[0]
    return v * x[1]


@program(args=lambda rng: (rng.normal(size=3), {"a": 2.0}))
def key_error_in_loop(x, table):
    total = 0.0
    for name, v in zip(("a", "b", "a"), x):
        try:
            total += table[name] * v
        except KeyError as error:
            total += v**2 * len(error.args)
    return total**2


@program(args=lambda rng: (rng.normal(size=(3, 3)),))
def jitter_until_positive(A):
    M = A @ A.T - 0.5 * np.eye(3)
    jitter = 0.0
    while True:
        try:
            L = np.linalg.cholesky(M + jitter * np.eye(3))
            break
        except np.linalg.LinAlgError:
            jitter = 10 * jitter + 0.1
    return np.sum(np.log(np.diag(L)))


@program(args=lambda rng: (rng.normal(size=4),))
def errstate(x):
    with np.errstate(divide="ignore", invalid="ignore"):
        y = np.where(x > -100.0, x / np.sqrt(x * x + 1.0), 0.0)
        z = np.zeros(4) / np.zeros(4)
    return np.sum(np.where(np.isnan(z), y, z))


@program(args=lambda rng: (rng.normal(size=4), 3), tags={"second"})
def errstate_in_a_loop(x, n):
    for _ in range(n):
        with np.errstate(all="ignore"):
            y = np.sin(x) * np.log(np.abs(x) + 0.3)
            if y[0] > 0:
                y = y * np.cos(x)
        x = y * x + 0.1
    return np.sum(x)


@program(args=lambda rng: (rng.normal(size=4), 3))
def finally_in_a_loop(x, n):
    done = 0
    for i in range(n):
        try:
            y = np.sin(x) * np.exp(x * 0.1)
            if i == 7:
                raise ValueError(i)
        finally:
            done += 1
            z = np.cos(x)
        x = y * x * z
    return np.sum(x) * done


@program(args=lambda rng: (0.7, 1.2), wrt=(0, 1))
def user_context_manager(x, g):
    with Scope(g * g) as scope:
        y = x * scope.gain
        if scope.open:
            y = np.sin(y)
    with Scope(y) as outer, Scope(x) as inner:
        y = y * outer.gain * inner.gain
        x = x / 0 if g == 0.0 else x
    return y * x if not scope.open else 0.0


@program(args=lambda rng: (0.7,))
def context_manager_swallows(x):
    y = x
    with Scope(2.0):
        y = y * x
        y = y * (1.0 / (int(x) * 0))
        y = y * 100.0
    return y * x


@program(args=lambda rng: (0.7,))
def generator_context_manager(x):
    y = x
    with announced("outer"):
        y = y * x
        with announced("inner") as name:
            y = np.sin(y) * len(name)
    return y


@program(args=lambda rng: (rng.uniform(0.5, 1.5, size=3),), tags={"second"})
def assertions(x):
    assert x.ndim == 1, "expects a vector"
    assert np.all(x > 0)
    return np.sum(np.log(x) * x)


@program(args=lambda rng: (rng.uniform(0.5, 1.5, size=3), "smooth"))
def raise_on_bad_setting(x, kind):
    if kind not in ("smooth", "rough"):
        raise ValueError(f"unknown kind {kind!r}")
    if x.shape != (3,):
        raise TypeError("three numbers")
    return np.sum(x**2)


@program(args=lambda rng: (1.5,))
def exception_carries_a_value(x):
    def grow(state):
        for _ in range(10):
            state = state * state
            if state > 20.0:
                raise Diverged(state)
        return state

    try:
        y = grow(x)
    except Diverged as error:
        y = np.log(error.state) * x
    return y


@program(args=lambda rng: (rng.uniform(0.5, 1.5, size=4),))
def stop_by_exception(x):
    total = 0.0
    items = iter(x)
    try:
        while True:
            v = next(items)
            total = total * 0.5 + v**2
    except StopIteration:
        total = np.sin(total)
    return total


@program(args=lambda rng: (rng.normal(size=3),), tags={"inplace"})
def finally_writes(x):
    y = x * 1.0
    try:
        y[0] = y[1] * y[2]
        y[7] = 1.0
    except IndexError:
        y[1] = y[0] ** 2
    finally:
        y *= 2.0
    return np.sum(y**2)


@program(args=lambda rng: (rng.normal(size=3),), tags={"inplace"})
def partial_work_before_error(x):
    y = x * 1.0
    try:
        for i in range(5):
            y[i] = y[i] ** 2 + y[i - 1]
    except IndexError:
        pass
    return np.sum(y * x)


@program(args=lambda rng: (0.4,))
def return_inside_try(x):
    try:
        if x > 0.1:
            return x**3
        x = x * 2.0
    except ArithmeticError:
        return x
    finally:
        print("done")
    return x


@program(args=lambda rng: (-0.6,))
def math_domain_error(x):
    try:
        return math.sqrt(x)
    except ValueError:
        return math.sqrt(-x) * x


@program(args=lambda rng: (0.6,))
def nested_try(x):
    y = x
    try:
        try:
            y = y * x
            raise KeyError("inner")
        except IndexError:
            y = y * 100.0
        finally:
            y = y + x
    except (KeyError, ValueError):
        y = np.sin(y)
    return y


@program(args=lambda rng: (rng.normal(size=3),))
def warnings_and_prints(x):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        y = np.log(x**2)
        if y[0] < 100:
            warnings.warn("quiet", stacklevel=2)
    print(f"mean {np.mean(y):.3f}", y.shape, sep=" | ")
    return np.sum(y)


@program(args=lambda rng: (rng.normal(size=3),))
def suppressed(x):
    total = np.sum(x**2)
    with contextlib.suppress(IndexError):
        total = total * x[0]
        total = total + x[3]
        total = 0.0
    return total


@program(lambda rng: (rng.uniform(0.5, 1.5, size=3),))
def missing_keys_and_items(x):
    table = {"a": x[0]}
    pair = (x[1], x[2])
    total = 0.0
    for key in ("a", "b"):
        try:
            total += table[key] ** 2
        except KeyError as error:
            print(error)
            total *= 2.0
    try:
        last = pair[2]
    except IndexError:
        last = pair[0] * pair[1]
    return total * last


@program(lambda rng: (rng.uniform(0.5, 1.5, size=4),), tags={"second"})
def mistakes_on_paths_not_taken(x):
    def fail():
        raise ValueError("never")

    table = {"a": x[0]}
    total = np.sum(x)
    sure = total > 0.0 or fail()
    if total < 0.0 and table["b"] > 1.0:
        total = total * 2.0
    if 0.0 < total < 9.0 or never_defined < 3.0:  # noqa: F821
        total = total * x[1]
    assert sure, f"{never_defined}"  # noqa: F821
    last = x[2] if total > 0.0 else x.no_such_attribute
    return (total and last) * (total or 1 / 0)


@program(lambda rng: (rng.uniform(0.5, 1.5, size=4),))
def mistakes_that_are_caught(x):
    try:
        first = x.no_such_attribute
    except AttributeError as error:
        print(error)
        first = x[0] ** 2
    try:
        second = never_defined * 2.0  # noqa: F821
    except NameError:
        second = x[1]
    try:
        third = 1 / 0
    except ZeroDivisionError:
        third = x[2]
    try:
        fourth = scaled_by(x[3])
    except TypeError as error:
        print(error)
        fourth = x[3]
    return first * second * third * fourth


def scaled_by(a, b):
    return a * b


@program(lambda rng: (rng.uniform(0.5, 1.5, size=3), float(rng.uniform(0.5, 1.5))))
def numbers_or_arrays_by_exceptions(x, t):
    def floored(v):
        try:
            v[v < 1.0] = 1.0
        except TypeError:
            v = max(v, 1.0)
        return v

    def halves(v):
        try:
            first, *rest = v
        except TypeError as error:
            print(error)
            return v / 2, v / 2
        return first, sum(rest)

    def last(v):
        try:
            return v[-1]
        except (IndexError, TypeError):
            return v * v

    total = np.sum(x * x)
    return last(x) * last(t) * last(total) * sum(halves(x)) * sum(halves(total)) * np.sum(floored(x * 1.1)) * floored(t)


@program(args=lambda rng: (np.array([-1.0, 2.0, 0.5]),))
def only_the_exception_matters(x):
    factor = 1.0
    for v in x:
        try:
            math.sqrt(v)
            math.log(v)
        except ValueError:
            factor *= x[1]
    return factor * x[2] ** 2


@program(args=lambda rng: (1.3, 0.4), tags={"second"})
def cases_without_a_last_one(x, y):
    for k in range(4):
        if x > 100.0:
            w = math.sin(x * y)
        elif k in (0, 2):
            w = math.cos(x * y)
        elif k < 9:
            w = math.exp(-x * y)
        else:
            raise ValueError(f"no case for {k}")
        y = y * w + math.sin(w)
    return y * x


@program(args=lambda rng: (rng.uniform(0.5, 1.5, size=4),))
def errors_of_the_library_translated(x):
    factors = {"a": 1.5, "b": 2.5}
    total = 0.0
    for k, name in enumerate("abba"):
        try:
            scale = factors[name] * math.sqrt(x[k])
        except KeyError:
            raise Diverged(name) from None
        total = total * scale + scale * scale
    return total


@program(args=lambda rng: (1.3, 0.4))
def report_only_where_asked_for(x, y, full=False):
    if full:
        report = {"steps": 0}
    for _ in range(3):
        x = x * y + math.sin(x)
        if full:
            report["steps"] += 1
    return x * report["steps"] if full else x


@program(args=lambda rng: (rng.normal(size=4),), tags={"second"})
def assertions_at_the_end(x):
    total = 1.0
    for v in x:
        total = total * 0.5 - v**2
        assert abs(total) < 1e6, "diverged"
    assert np.isfinite(total)
    return total


@program(args=lambda rng: (rng.normal(size=4),))
def assertion_in_a_branch(x):
    total = np.sum(x**3)
    if len(x) != 3:
        total = total * x[0]
        assert len(x) == 4
    return total
