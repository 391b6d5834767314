"""The kinds of refusals: for each code why it is refused, a program that is, and the rewrite that is not.

``tools/error_page.py`` makes docs/errors.md of it, ``tests/test_error_page.py`` runs each pair of programs.
"""

from __future__ import annotations

import enum
import functools
import operator
import types
from collections.abc import Callable
from copy import deepcopy
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
import scipy.optimize

import autodiff_sct as ad

X = np.array([0.4, 1.3, 2.1])
LOG: Any = types.SimpleNamespace(append=[].append)
MANY = [functools.partial(operator.mul, 1.0 + k * 1e-6) for k in range(5000)]
COUNTS: dict[str, Any] = {"calls": 0}
TRACE: list[Any] = [0.0]
SCHEDULE = {7: 20.0, 18: 21.0}


class Entry(NamedTuple):
    """One kind of refusal."""

    code: str
    title: str
    why: str
    before: Callable[..., Any]
    after: Callable[..., Any]
    args: tuple[Any, ...]
    after_args: tuple[Any, ...]
    call: Callable[..., Any]


ENTRIES: dict[str, Entry] = {}


def entry(*args: Any, call: Callable[..., Any] = ad.grad) -> Callable[[type], type]:
    """Enter a class of two functions, `before` and `after`; its name is the code, its docstring title and reason."""

    def enter(cls: type) -> type:
        code = cls.__name__.rstrip("_").replace("_", "-")
        title, _, why = str(cls.__doc__).partition("\n\n")
        given = args or (X,)
        both = vars(cls)["before"], vars(cls)["after"]
        later = getattr(cls, "after_args", given)
        ENTRIES[code] = Entry(code, title.rstrip("."), " ".join(why.split()), *both, given, later, call)
        return cls

    return enter


class Mode(enum.Enum):
    HEAT = 1
    OFF = 2


class Meter:
    def __init__(self, x):
        self.x = x


class Wide(Meter):
    def __init__(self, x):
        self.x, self.width = x, 2.0


@runtime_checkable
class Measuring(Protocol):
    x: Any


class Made:
    def __new__(cls, x):
        made = object.__new__(cls)
        made.x = x
        return made


class Unit:
    def __init__(self, v, activation):
        self.v, self.activation = v, activation


def squared(x):
    return x**2


@ad.rule.reverse(squared)
def squared_rule(y, d, x):
    return (2.0 * d * x,)


def cubed(x):
    return x**3


@ad.rule(cubed)
def cubed_rule(y, d, x):
    return (3.0 * d * x**2,)


def halves(x):
    for v in x:
        yield v / 2


@entry()
class unsupported_syntax:
    """Python that is not translated.

    Generators as the differentiated function, coroutines, `del` of attributes and a few rare statements have no
    adjoint.
    """

    def before(x):
        for v in x:
            yield v**2

    def after(x):
        return sum(v**2 for v in x)


@entry()
class hidden_variables:
    """Variables reached without their names.

    `eval`, `exec`, `locals`, `globals` and frames read or write variables that the source does not name.
    """

    def before(x):
        return np.sum(eval("x**2"))

    def after(x):
        return np.sum(x**2)


@entry(np.array([1.0, 3.0, 1.0]))
class no_rule:
    """A function without a derivative rule.

    It is neither in the tables of NumPy and SciPy nor written in Python that could be followed.
    """

    def before(x):
        return np.polynomial.polynomial.polyroots(x)[0]

    def after(x):
        p = x[1] / (2 * x[2])
        return -p - np.sqrt(p**2 - x[0] / x[2])


@entry(call=ad.jacfwd)
class no_forward_rule:
    """A function without a rule in forward mode.

    `jvp`, `jacfwd`, `hvp` and `hessian` ask for the tangent of each function; a rule by `rule.reverse` has none.
    """

    def before(x):
        return np.sum(squared(x))

    def after(x):
        return np.sum(cubed(x))


@entry()
class setting:
    """A function that is differentiable with other settings.

    The derivative is known for some values of an argument only, or the argument has to be known when the program is
    compiled.
    """

    def before(x):
        return np.sum(np.pad(x, 2, mode="linear_ramp") ** 2)

    def after(x):
        return np.sum(np.pad(x, 2, mode="edge") ** 2)


@entry(X[:2])
class numpy_form:
    """A call of NumPy in a form that is not followed.

    Some arguments, such as `out=` of a function that is no ufunc, write where the derivative is not kept.
    """

    def before(x):
        return np.sum(np.add(x, 1.0, where=x > 1.0) ** 2)

    def after(x):
        return np.sum(np.where(x > 1.0, x + 1.0, x) ** 2)


@entry()
class method:
    """A method that is not followed.

    The value is of a type whose methods the compiler does not know, or the method has no derivative.
    """

    def before(x):
        pair = (x[0], x[1])
        return x[pair.index(x[1])] ** 2

    def after(x):
        pair = np.array([x[0], x[1]])
        return x[np.argmax(pair == x[1])] ** 2


@entry(2.0, [6, 7])
class dict_method:
    """A method of a dict that is not followed.

    A dict with constant keys is a record. Keys that are known only at run time may read it, but not change it.
    """

    def before(x, hours):
        schedule = dict(SCHEDULE)
        return sum((x - schedule.pop(hour, 15.0)) ** 2 for hour in hours)

    def after(x, hours):
        return sum((x - SCHEDULE.get(hour, 15.0)) ** 2 for hour in hours)


@entry()
class dict_key:
    """A key that is known only at run time.

    A dict is compiled as a record with constant keys; keys are no place for numbers that carry a derivative.
    """

    def before(x):
        return sum(dict.fromkeys(x, 1.0))

    def after(x):
        return sum(v for v in x)


@entry()
class unknown_length:
    """A number of items that is not known.

    How many items there are decides which code is emitted: for unpacking, for `zip`, for `itertools`.
    """

    def before(x):
        def product(first, second=2.0, third=3.0):
            return first * second * third

        return product(*x[x > 0.0])

    def after(x):
        def product(first, second=2.0, third=3.0):
            return first * second * third

        kept = x[x > 0.0]
        return product(kept[0], kept[1], kept[2])


@entry()
class iterator:
    """An iterator that cannot be followed.

    An iterator is known by what it was made of; one that is moved in several places has no such description.
    """

    def before(x):
        total, items = 0.0, iter(list(x))
        for a, k, b in zip(items, range(len(x)), items):
            total += k * a * b
        return total

    def after(x):
        total, items = 0.0, list(x)
        for k, (a, b) in enumerate(zip(items[::2], items[1::2])):
            total += k * a * b
        return total


@entry()
class kept_generator:
    """A generator that is kept in a variable.

    The body of a generator becomes part of the loop over it, so it has to be gone through where it is called.
    """

    def before(x):
        values = halves(x)
        return next(values) * sum(values)

    def after(x):
        values = list(halves(x))
        return values[0] * sum(values[1:])


@entry()
class changed_while_iterated:
    """A container that changes while it is iterated over.

    The reverse sweep would go over other items than the loop did.
    """

    def before(x):
        values = [v for v in x if v > 0.0]
        items = iter(values)
        values.append(2.0)
        return sum(v * next(items) for v in x)

    def after(x):
        values = [v for v in x if v > 0.0]
        items = list(values)
        values.append(2.0)
        return sum(v * w for v, w in zip(x, items))


@entry()
class different_kinds:
    """A variable that stands for different kinds of things.

    A name has one kind of value wherever paths meet: an array or a number, a list, an object, but not one of several.
    """

    def before(x):
        scale = [x[0]] if x[0] < 1.0 else x
        return sum(scale)

    def after(x):
        scale = x[:1] if x[0] < 1.0 else x
        return sum(scale)


@entry()
class which_object:
    """An object that is known only at run time.

    Objects are kept in tables by their fields, so those in one list need the same fields with the same kinds of values.
    """

    def before(x):
        units = [Unit(v, np.tanh) for v in x if v > 0.0]
        units[-1].activation = lambda v: v
        return sum(unit.activation(unit.v) for unit in units)

    def after(x):
        units = [Unit(v, 1.0) for v in x if v > 0.0]
        units[-1].activation = 0.0
        return sum(unit.activation * np.tanh(unit.v) + (1.0 - unit.activation) * unit.v for unit in units)


@entry()
class list_of_objects:
    """A list of objects that lives at run time.

    Lists that grow hold numbers, arrays, tuples of them or objects with the same fields.
    """

    def before(x):
        steps = []
        for v in x:
            steps.append(lambda t: t * v)
        first = steps[0]
        return first(x[1])

    def after(x):
        factors = []
        for v in x:
            factors.append(v)
        return factors[0] * x[1]


@entry(2.0, 300, 300)
class object_identity:
    """The identity of an object.

    Numbers and tuples of the emitted program are other objects than those of the function.
    """

    def before(x, n, m):
        return x**2 if n is m else x**3

    def after(x, n, m):
        return x**2 if n == m else x**3


@entry()
class attribute:
    """An attribute that an object may not have.

    The fields of an object are known from its class; one that only some paths assign is known at run time only.
    """

    def before(x):
        m = Meter(x[0])
        if x[1] > 1.0:
            m.gain = 2.0
        return m.x * m.gain if hasattr(m, "gain") else m.x

    def after(x):
        m = Meter(x[0])
        m.gain = 1.0
        if x[1] > 1.0:
            m.gain = 2.0
        return m.x * m.gain


@entry()
class isinstance_:
    """A question about the class of a value.

    The class has a `__instancecheck__` or is a protocol, which looks at the object itself.
    """

    def before(x):
        m = Meter(x[0])
        return m.x**2 if isinstance(m, Measuring) else m.x

    def after(x):
        m = Meter(x[0])
        return m.x**2 if isinstance(m, Meter) else m.x


@entry()
class class_feature:
    """A class that does something special.

    Metaclasses, `__new__`, subclasses of built-in types and descriptors run code that the compiler does not see.
    """

    def before(x):
        return Made(x[0]).x ** 2

    def after(x):
        return Meter(x[0]).x ** 2


@entry()
class local_class:
    """A class inside the function.

    What its body computes is not known before the program runs.
    """

    def before(x):
        class Scaled:
            factor = x[1]

        return x[0] * Scaled.factor

    def after(x):
        class Scaled:
            def __init__(self, factor):
                self.factor = factor

        return x[0] * Scaled(x[1]).factor


@entry()
class function_value:
    """A function as a value.

    A function made in the program can be called and passed to functions that are followed, not to others.
    """

    def before(x):
        return np.sum(np.frompyfunc(lambda v: v * v, 1, 1)(x))

    def after(x):
        return np.sum(np.vectorize(lambda v: v * v, otypes=[float])(x))


@entry()
class unknown_value:
    """A value of which nothing is known.

    It stands for something that the operation does not take, or comes from an object that is not looked into.
    """

    def before(x):
        return np.sum(Meter(x) * 2.0)

    def after(x):
        return np.sum(Meter(x).x * 2.0)


@entry()
class kept_in_object:
    """A derivative that disappears in an object.

    A set, a queue or an object of another library takes the value in, and gives back one without its derivative.
    """

    def before(x):
        kept = set()
        for v in x:
            kept.add(v)
        return sum(kept)

    def after(x):
        kept = []
        for v in x:
            if v not in kept:
                kept.append(v)
        return sum(kept)


@entry(X, LOG)
class unknown_write:
    """An unknown function that may write into an array.

    Objects that are not looked into might change what they are given, and the reverse sweep needs the old values.
    """

    def before(x, log):
        y = x**2
        log.append(y)
        return np.sum(y)

    def after(x, log):
        y = x**2
        log.append(ad.stop_gradient(y).copy())
        return np.sum(y)


@entry()
class outside_write:
    """A write to something outside the function.

    What carries a derivative would stay there after the call.
    """

    def before(x):
        TRACE[0] = x[0] ** 2
        return TRACE[0] * x[1]

    def after(x):
        trace = [x[0] ** 2]
        return trace[0] * x[1]


@entry(np.arange(1.0, 6.0))
class written_view:
    """A write to memory that has other names.

    The adjoint of an array that is changed in place must have the same views and the same old values as the array;
    where that cannot be made sure, a copy helps.
    """

    def before(x):
        y = x * 2.0
        y[::2] = y[:3]
        return np.sum(y**2)

    def after(x):
        y = x * 2.0
        y[::2] = y[:3].copy()
        return np.sum(y**2)


@entry(X, X)
class shared_arguments:
    """Two arguments that share memory.

    One of them is written, which changes the other, too.
    """

    def before(x, y):
        y[0] = x[1] * 2.0
        return np.sum(x * y)

    def after(x, y):
        y = y.copy()
        y[0] = x[1] * 2.0
        return np.sum(x * y)


@entry(np.asfortranarray(np.arange(1.0, 7.0).reshape(2, 3)))
class memory_order:
    """An array in another memory order.

    Whether `reshape` and `ravel` return a view or a copy depends on it, and with it what a write changes.
    """

    def before(x):
        x.reshape(-1)[0] = 3.0
        return np.sum(x**2)

    def after(x):
        x = np.copy(x, order="C")
        x.reshape(-1)[0] = 3.0
        return np.sum(x**2)


@entry()
class exceptions:
    """Exceptions and `try`.

    A statement that may raise after it has changed something, or that leaves `finally`, has no adjoint.
    """

    def before(x):
        for v in x:
            try:
                total = v * 2
            finally:
                break
        return total

    def after(x):
        for v in x:
            total = v * 2
            break
        return total


@entry(2.0, 3)
class recursion:
    """Recursion.

    A recursive function is compiled once, so what it returns has to have one kind at every depth.
    """

    def before(x, n):
        def nested(v):
            return (v,) if v > 10.0 else (nested(v * x), v)

        return nested(x)[1]

    def after(x, n):
        def powers(v):
            return [v] if v > 10.0 else [*powers(v * x), v]

        return powers(x)[-1]


@entry()
class cached_function:
    """A function with a cache.

    A cached number would come without its derivative.
    """

    def before(x):
        @functools.cache
        def power(v):
            return v**2

        return sum(power(v) for v in x)

    def after(x):
        def power(v):
            return v**2

        return sum(power(v) for v in x)


@entry()
class copy:
    """A copy of something that cannot be followed.

    `copy.deepcopy` goes through everything that an object holds.
    """

    def before(x):
        table = dict(enumerate(x))
        return sum(deepcopy(table).values())

    def after(x):
        table = dict(enumerate(x))
        return sum(dict(table).values())


@entry()
class vectorize:
    """A call of `np.vectorize` in a form that is not followed.

    One function of numbers, with constant `otypes`, is followed.
    """

    def before(x):
        return np.sum(np.vectorize(lambda v: v * v, cache=True)(x))

    def after(x):
        return np.sum(np.vectorize(lambda v: v * v, otypes=[float])(x))


@entry()
class nested_derivative:
    """A derivative inside a differentiated function.

    The compiler differentiates the inner function first, so that its settings have to be known and its effects none.
    """

    def before(x):
        return np.sum(ad.grad(lambda v: np.sum(v**3), int(x[0]))(x))

    def after(x):
        return np.sum(ad.grad(lambda v: np.sum(v**3), 0)(x))


@entry()
class segments:
    """A loop over segments.

    Each segment is run a second time, so it must neither end early nor write to what is not saved.
    """

    def before(x):
        for k in ad.segments(range(8), every=4):
            x = x * 0.9
            if k > 5:
                break
        return np.sum(x)

    def after(x):
        for k in ad.segments(range(8), every=4):
            if k <= 6:
                x = x * 0.9
        return np.sum(x)


@entry(np.arange(3))
class integer_input:
    """An argument of integers.

    A function of integers has no derivative; pass floats.
    """

    after_args = (np.arange(3.0),)

    def before(x):
        return np.sum(x**2)

    def after(x):
        return np.sum(x**2)


@entry("name", X)
class input_without_derivative:
    """An argument without a derivative.

    The first argument is differentiated unless `grad_position` names others: it has to hold floats.
    """

    after_args = (X, "name")

    def before(name, x):
        return np.sum(x**2)

    def after(x, name):
        return np.sum(x**2)


@entry()
class result_without_derivative:
    """A result without a derivative.

    The function returns None, a string or an object.
    """

    def before(x):
        print(f"{np.sum(x):.3f}")

    def after(x):
        return np.sum(x)


@entry()
class no_source:
    """A function whose source text is not found.

    It was made by `eval`, at the prompt of Python 3.12 or earlier, or its file has changed since.
    """

    before = eval("lambda x: x[0] ** 2")

    def after(x):
        return x[0] ** 2


@entry()
class too_large:
    """A program that is too large or nested too deeply.

    A loop over objects that are known when the program is compiled is written out, item by item.
    """

    def before(x):
        for scaled in MANY:
            x = scaled(x)
        return np.sum(x)

    def after(x):
        for k in range(5000):
            x = np.multiply(1.0 + k * 1e-6, x)
        return np.sum(x)


@entry(np.eye(3))
class degenerate:
    """Vectors that belong to equal eigenvalues or singular values.

    Any rotation of them is as good, so a result that depends on them has no derivative.
    """

    def before(a):
        w, v = np.linalg.eigh(a)
        return np.sum(w * v[0])

    def after(a):
        return np.sum(np.linalg.eigvalsh(a))


@entry()
class solution:
    """A solver that found no solution.

    The derivative of a root or a minimum is that of the equation that it solves.
    """

    def before(x):
        return scipy.optimize.newton(lambda t: t**2 + x[0], 1.0, maxiter=5, disp=False)

    def after(x):
        return scipy.optimize.newton(lambda t: t**2 - x[0], 1.0)


@entry(call=ad.sparse_jacobian)
class sparsity_pattern:
    """A Jacobian whose pattern is not found.

    The pattern comes from a run on sets of indices, which follows NumPy's functions only, and is made once.
    """

    def before(x):
        COUNTS["calls"] += 1
        return x**2

    def after(x):
        return x**2
