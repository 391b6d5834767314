"""`iter` and `next`, classes that are iterated, iterators under a name, walks over indices."""

import itertools

import numpy as np

from tests.bank.registry import program


def vector(rng):
    return (rng.uniform(0.3, 1.5, size=4),)


class Polynomial:
    def __init__(self, c):
        self.c = c

    def __len__(self):
        return len(self.c)

    def __getitem__(self, k):
        return self.c[k]

    def __setitem__(self, k, value):
        self.c[k] = value

    def __contains__(self, value):
        return value < 10

    def __iter__(self):
        return iter(self.c)

    def __call__(self, t):
        result = 0.0
        for k in range(len(self)):
            result = result + self[k] * t**k
        return result


class Countdown:
    def __init__(self, x):
        self.x = x
        self.k = len(x)

    def __iter__(self):
        return self

    def __next__(self):
        if self.k == 0:
            raise StopIteration
        self.k -= 1
        return self.x[self.k] ** 2


@program(args=vector)
def iter_of_an_array(x):
    rest = iter(x)
    total = next(rest) ** 2
    for v in rest:
        total = total * v + 1
    return total


@program(args=vector)
def next_with_a_default(x):
    arrays = iter([x, x * 2])
    a = next(arrays)
    b = next(arrays)
    return np.sum(a * b) + next(arrays, 0.0)


@program(args=vector)
def two_loops_over_one_iterator(x):
    it = iter(x)
    total = 0.0
    for v in it:
        if v > 0.9:
            break
        total = total + v
    for v in it:
        total = total + v * v * 10
    return total


@program(args=vector)
def next_until_stop(x):
    it = iter(x)
    total = 0.0
    try:
        while True:
            total = total + next(it) ** 2
    except StopIteration:
        pass
    return total + sum(it)


@program(args=vector, tags={"inplace"})
def array_written_under_its_iterator(x):
    x = x * 1.0
    it = iter(x)
    a = next(it)
    x[1] *= 3
    return a * sum(v * v for v in it)


@program(args=vector, tags={"inplace"})
def object_with_the_methods_of_a_container(x):
    p = Polynomial(x.copy())
    p[0] = p[1] * 2
    total = 0.0
    for c in p:
        total = total + c**2
    return total + p(0.5) + (1.0 if 3 in p else 2.0) + sum(p)


@program(args=vector)
def object_that_is_its_own_iterator(x):
    total = 0.0
    for v in Countdown(x):
        if v < 0.1:
            continue
        if v > 1.4:
            break
        total = total * v + v
    rest = Countdown(x)
    total = total + next(rest)
    return total + [v * 2 for v in rest][0]


@program(args=vector)
def zip_is_gone_through_once(x):
    pairs = zip(x, x[::-1])
    return sum(a * b for a, b in pairs) + sum(a for a, _ in pairs) + x[0]


@program(args=vector)
def an_iterator_beside_itself(x):
    total = 0.0
    for height, width in zip(*[iter(x)] * 2):
        total = total + height * np.exp(-width * width)
    rest = iter(x)
    first = next(rest)
    return total + sum(first * a * b * b for a, b in zip(rest, rest))


@program(args=vector)
def enumerate_goes_on_where_it_stopped(x):
    numbered = enumerate(x)
    total = 0.0
    for i, v in numbered:
        if i == 1:
            break
        total = total + v
    for i, v in numbered:
        total = total + i * v
    return total


def sum_twice(items):
    return sum(items) + 2 * sum(items)


@program(args=vector)
def map_given_to_a_function(x):
    return sum_twice(map(lambda v: v * v, x)) + sum_twice(filter(lambda v: v > 0.5, x)) + x[0]


@program(args=vector)
def next_of_tools(x):
    squares = map(lambda v: v * v, x)
    sums = itertools.accumulate(x)
    counter = itertools.count()
    around = itertools.cycle(x)
    first = x[next(counter)] * x[next(counter)]
    return first * next(squares) * sum(squares) + next(sums) * next(around) * next(around)


@program(args=vector)
def longest_of_two(x):
    return sum(a * b for a, b in itertools.zip_longest(x, x[:2], fillvalue=2.0))


@program(args=vector)
def weights_in_turn(x):
    return sum(v * c for v, c in zip(x, itertools.cycle([1.0, 2.0])))


@program(args=vector, tags={"in_argument"})
def indices_with_values(x):
    total = 0.0
    for (i,), v in np.ndenumerate(x):
        x[i] = v * v
        total = total + x[i] * i
    return total + np.sum(x)


@program(args=lambda rng: (rng.normal(size=(2, 3)),))
def walk_over_indices(a):
    total = 0.0
    for i, j in np.ndindex(a.shape):
        total = total + a[i, j] ** 2 * (i + 1)
    for index in np.ndindex(2, 3):
        total = total + a[index] * index[1]
    for (i, j), v in np.ndenumerate(a):
        total = total + v * (i - j)
    return total


@program(args=vector, tags={"second"})
def chosen_three_at_a_time(x):
    triples = sum(a * b**2 * c**3 for a, b, c in itertools.combinations(x, 3))
    pairs = sum(a * b**2 for a, b in itertools.combinations_with_replacement(x, 2))
    return triples + pairs + sum(a - a * b**2 for a, b in itertools.permutations(list(x), 2))


@program(args=vector)
def picked_and_left_out(x):
    picked = sum(v**2 for v in itertools.compress(x, [v > 0.8 for v in x]))
    left = sum(v**3 for v in itertools.filterfalse(lambda v: v > 0.8, x))
    return picked + left + sum(v * v for v in itertools.islice(x, 1, None, 2))


@program(args=vector)
def two_readers_of_one_iterator(x):
    behind, ahead = itertools.tee(v * v for v in x)
    next(ahead)
    signs = itertools.cycle([1.0, -1.0])
    return sum(s * a * b for s, a, b in zip(signs, behind, ahead))


@program(args=vector)
def items_of_ranges(x):
    n = len(x)
    low, odd = range(n), range(1, 2 * n, 2)
    total = 0.0
    for i in range(n):
        total = total + (low[i] - low[n - i - 1]) * odd[-i - 1] * x[low[-1] - i] ** 2
    return total * odd[0]
