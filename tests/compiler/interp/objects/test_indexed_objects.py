"""Objects with methods for Python's own operations: their items, lengths and iteration, also of objects in lists."""

from dataclasses import dataclass

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.errors import AutodiffError
from tests.compiler.checked import V, check_gradient, check_tangent, names, registrar

CASES: list = []
case = registrar(CASES)


class Doubled:
    """Three numbers, reached by index only."""

    def __init__(self, a):
        self.a = a

    def __getitem__(self, k):
        if k >= 3:
            raise IndexError
        return self.a[k] * 2


class Windows:
    def __init__(self, a):
        self.a = a

    def __len__(self):
        return len(self.a) - 1

    def __getitem__(self, k):
        if not 0 <= k < len(self):
            raise IndexError(k)
        return self.a[k : k + 2]


@dataclass
class Pair:
    first: object
    second: object
    number: float = 1.0

    def __iter__(self):
        yield self.first
        yield self.second

    def __len__(self):
        return 2

    def __getitem__(self, k):
        return self.first if k == 0 else self.second

    def __setitem__(self, k, value):
        if k == 0:
            self.first = value
        else:
            self.second = value

    def __contains__(self, number):
        return number == self.number


def pairs(x):
    made = []
    for v in x:
        made.append(Pair(v, x * v, float(len(made))))
    return made


@case(V, -V)
def loop_by_index(x):
    total = 0.0
    for v in Doubled(x):
        total += v * v
    return total


@case(V)
def loop_by_index_that_is_left(x):
    total = 0.0
    for i, v in enumerate(Doubled(x)):
        if i == 2:
            break
        total += v * i * v
    return total


@case(V)
def builtins_by_index(x):
    return sum(Doubled(x)) + max(Windows(x)[0]) + np.sum(np.array(list(Doubled(x))) ** 2)


@case(V, -V)
def comprehension_and_zip_by_index(x):
    return sum([v * v for v in Doubled(x) if v > 0]) + sum(v * w for v, w in zip(Doubled(x), x))


class Two:
    def __init__(self, a):
        self.a = a

    def __getitem__(self, k):
        if k == 2:
            raise StopIteration
        return self.a[k]


@case(V, -V)
def loop_by_index_up_to_a_stop(x):
    total = 0.0
    for v in Two(x):
        total += v * v
    return total


@case(V)
def loops_by_index_in_each_other(x):
    total = 0.0
    for w in Windows(x):
        for v in Doubled(x):
            total += w[0] * v
    return total


@case(V)
def unpacked_by_index(x):
    a, b, c = Doubled(x)
    d, *e = Windows(x)
    return a * b * c + np.sum(d) + np.sum(e[0])


@case(V)
def unpacked_out_of_a_list(x):
    total = 0.0
    for pair in pairs(x):
        a, b = pair
        total += a * np.sum(b)
    return total


@case(V)
def loop_over_one_of_a_list(x):
    return sum(np.sum(v * x) for v in pairs(x)[1]) + sum(np.sum(v) for v in list(pairs(x)[2]))


@case(V)
def zipped_out_of_a_list(x):
    total = 0.0
    for pair in pairs(x):
        for a, b in zip(pair, [x, x * 2]):
            total += np.sum(a * b)
    return total


@case(V)
def items_and_length_out_of_a_list(x):
    made = pairs(x)
    made[1][1] = made[0][1] * x
    return np.sum(made[1][1] * made[2][0]) * len(made[3])


@case(V)
def membership_out_of_a_list(x):
    return x[0] * x[0] if 3.0 in pairs(x)[3] else x[1]


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradients(fn, args):
    check_gradient(fn, args)


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_tangents(fn, args):
    check_tangent(fn, args)


@dataclass
class Plain:
    a: object


def test_an_object_without_a_length_in_a_list_is_refused():
    def f(x):
        made = []
        for v in x:
            made.append(Plain(v))
        return made[0].a * len(made[1])

    with pytest.raises(AutodiffError):
        ad.grad(f)(V)
