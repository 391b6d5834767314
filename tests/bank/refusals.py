"""Programs that must be refused, with the line and the reason, before any number leaves."""

import array
import functools

import numpy as np

from tests.bank.registry import refused

half_wave = np.frompyfunc(lambda v: max(v, 0.0), 1, 1)


def vector(rng):
    return (rng.normal(size=3),)


def squares_of(x):
    for v in x:
        yield v * v


@refused(r"generator", args=vector)
def keeps_a_generator(x):
    values = squares_of(x)
    return next(values) * sum(values)  # refused here


@refused(r"nothing is known", args=vector)
def spans_a_grid(x):
    points = np.mgrid[0.0 : x[0] : 3j]  # refused here
    return np.sum(points**2)


@refused(r"yield|generator", args=vector)
def is_a_generator(x):
    yield np.sum(x)  # refused here


@refused(r"async|await|coroutine", args=vector)
async def is_a_coroutine(x):  # refused here
    return np.sum(x)


@refused(r"half_wave|frompyfunc|rule", args=vector)
def unknown_ufunc(x):
    y = x * 2.0
    y = half_wave(y)  # refused here
    return y[0] + y[1]


@refused(r"array|rule|source", args=vector)
def unknown_class_in_c(x):
    y = x + 1.0
    packed = array.array("d", y)  # refused here
    return packed[0] * packed[1]


@refused(r"None", args=vector)
def returns_none(x):
    y = x * 2.0
    y[0] = 1.0  # no return: the definition is named


@refused(r"str", args=vector)
def returns_text(x):
    return f"{np.sum(x):.3f}"  # refused here


@refused(r"eval", args=vector)
def evaluates_text(x):
    y = eval("x * 2.0")  # refused here
    return np.sum(y)


@refused(r"exec", args=vector)
def executes_text(x):
    exec("x[0] = 3.0")  # refused here
    return np.sum(x)


@refused(r"x.*(int|complex|float)|int.*x", args=lambda rng: (3,))
def integer_argument(x):  # the argument is named
    return x * 2.0


@refused(r"x.*int|int.*x", args=lambda rng: (np.arange(3),))
def integer_array_argument(x):  # the argument is named
    return np.sum(x * 2.0)


@refused(r"x.*str|str.*x", args=lambda rng: ("text",))
def text_argument(x):  # the argument is named
    return len(x) * 2.0


@refused(r"x.*None|None.*x", args=lambda rng: (None,))
def none_argument(x):  # the argument is named
    return 2.0


@refused(r"object", args=lambda rng: (np.array([1.0, None], dtype=object),))
def object_array_argument(x):  # the argument is named
    return x[0] * 2.0


@refused(r"locals|globals|vars", args=vector)
def writes_through_locals(x):
    names = locals()  # refused here
    return np.sum(names["x"] * 2.0)


@refused(r"returns|result|output|object", args=vector)
def returns_function(x):
    return lambda t: t * x  # refused here


@refused(r"has a cache", args=vector)
def cache_that_is_asked_with_a_number(x):
    @functools.cache
    def power(v):
        return v**2

    return sum(power(v) for v in x)  # refused here


@refused(r"only the run tells what this is", args=vector)
def list_or_none_from_a_dict(x):
    groups = {}
    for i, v in enumerate(x):
        group = groups.get(i % 3)
        if group is None:
            group = []
            groups[i % 3] = group
        group.append(v * v)  # refused here
    return sum(sum(group) ** 2 for group in groups.values())


@refused(r"nothing is known of what this recursion returns", args=lambda rng: (rng.normal(size=20),))
def memo_that_is_filled_between_calls(x):
    memo = {}

    def f(k):
        if k in memo:
            return memo[k]
        if k <= 0:
            return x[0]
        return f(k - 1) * 0.5 + x[1]  # refused here

    a = f(len(x))
    memo[2] = x[2] * 3.0
    return a + f(len(x) + 1)


@refused(r"a value that is computed where a class is defined", args=vector)
def class_with_a_computed_default(x):
    scale = 2.0

    class Scaled:
        def of(self, v, s=scale):  # refused here
            return v * s

    return Scaled().of(x[0])


@refused(r"the attribute 'n' of a class is assigned", args=vector)
def class_that_counts(x):
    class Counter:
        n = 0

        def hit(self, v):
            Counter.n += 1  # refused here
            return v * Counter.n

    c = Counter()
    return sum(c.hit(v) for v in x)


@refused(r"needed at run time", args=vector)
def raises_an_exception_of_its_own_class(x):
    class Stop(Exception):
        pass

    total = 0.0
    try:
        for v in x:
            if v > 1.0:
                raise Stop()  # refused here
            total = total + v**2
    except Stop:
        total = total * 2
    return total


@refused(r"keeps a value that carries a derivative in a set", args=vector)
def sum_of_a_filled_set(x):
    kept = set()
    for v in x:
        kept.add(v)  # refused here
    return sum(kept)


@refused(r"keeps a value that carries a derivative in a set", args=vector)
def loop_over_an_updated_set(x):
    kept = set()
    kept.update([x[0], x[1]])  # refused here
    total = 0.0
    for v in kept:
        total = total + v
    return total


class Parcel:
    def __init__(self, weight):
        self.weight = weight

    def __mul__(self, factor):
        return self.weight * factor


@refused(r"'parcels' is, or holds, a container of objects and something else", args=vector)
def objects_on_one_path_only(x):
    parcels = None
    if x[0] > -10:  # refused here
        parcels = [Parcel(v) for v in x]
    return parcels[1] * 2.0 if parcels is not None else 0.0


@refused(r"'held' is, or holds, a container of objects and something else", args=vector)
def objects_beside_numbers(x):
    parcels = []
    held = []
    held.append(3.0)  # refused here
    held.append(parcels)
    for v in x:
        parcels.append(Parcel(v))
    return held[1][1] * 2.0
