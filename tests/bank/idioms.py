"""Idioms of plain Python programs: memos, sorted lists, groups, records."""

import bisect
import functools
import heapq
import itertools
import logging
import math
import operator
from collections import deque

import numpy as np

from tests.bank.registry import program

KNOTS = [-1.0, 0.0, 0.5]
LOG = logging.getLogger("quiet")


def vector(rng):
    return (rng.normal(size=5),)


def positive(rng):
    return (rng.uniform(0.5, 2.0, size=5),)


def number_and_count(rng):
    return rng.uniform(0.1, 0.5), 6


# -- memos


@program(args=number_and_count)
def memo_in_an_argument(x, n):
    def go(k, cache=None):
        if cache is None:
            cache = {}
        if k in cache:
            return cache[k]
        if k < 2:
            return x * (k + 1)
        cache[k] = go(k - 1, cache) * x + go(k - 2, cache)
        return cache[k]

    return go(n)


@program(args=lambda rng: (rng.normal(size=5), rng.normal(size=4)), wrt=(0, 1))
def time_warping_with_a_memo(a, b):
    memo = {}

    def cost(i, j):
        if (i, j) in memo:
            return memo[i, j]
        d = (a[i] - b[j]) ** 2
        if i == 0 and j == 0:
            r = d
        elif i == 0:
            r = d + cost(0, j - 1)
        elif j == 0:
            r = d + cost(i - 1, 0)
        else:
            r = d + min(cost(i - 1, j), cost(i, j - 1), cost(i - 1, j - 1))
        memo[i, j] = r
        return r

    return cost(len(a) - 1, len(b) - 1)


@program(args=number_and_count)
def memo_that_is_asked_with_get(x, n):
    memo = {}

    def f(k):
        r = memo.get(k)
        if r is not None:
            return r
        r = x if k < 2 else f(k - 1) + x * f(k - 2)
        memo[k] = r
        return r

    return f(n)


@program(args=number_and_count)
def two_memos_of_one_function(x, n):
    def f(k, memo):
        if k in memo:
            return memo[k]
        r = x if k < 2 else f(k - 1, memo) * 0.7 + f(k - 2, memo) * x
        memo[k] = r
        return r

    a, b = {}, {}
    y = f(n, a) + f(n + 2, b)
    return y + f(n + 1, a) * b[2]


@program(args=positive)
def memo_of_arrays(x):
    memo = {}

    def h(k):
        if k in memo:
            return memo[k]
        r = x * 1.0 if k < 1 else h(k - 1) * x + h(k - 2)
        memo[k] = r
        return r

    return np.sum(h(len(x)))


@program(args=positive)
def memo_of_tuples(x):
    memo = {}

    def h(k):
        if k in memo:
            return memo[k]
        if k < 1:
            r = (x[0], 1)
        else:
            a, c = h(k - 1)
            b, d = h(k - 2)
            r = (a * x[1] + b, c + d)
        memo[k] = r
        return r

    v, n = h(len(x))
    return v * n


@program(args=number_and_count)
def looks_into_an_empty_dict(x, n):
    table = {}
    total = 0.0
    for k in range(n):
        if k % 3 in table:
            total += table[k % 3]
        else:
            table[k % 3] = x * k
    if n in table:
        total = total * 1000
    other = {}
    return total + table[1] * other.get(n, x)


@program(args=positive)
def cached_grid(x):
    n = len(x)

    @functools.lru_cache(maxsize=None)
    def best(i, j):
        if i < 0 or j < 0:
            return 0.0
        return x[i] * x[j] + max(best(i - 1, j), best(i, j - 1))

    return best(n - 1, n - 1)


@program(args=positive)
def cache_asked_in_both_ways(x):
    @functools.cache
    def f(k):
        return x[0] * (k + 1) if k < 1 else f(k - 1) * x[1]

    a = f(2)
    for i in range(len(x)):
        a = a + f(i)
    return a * f(1)


@program(args=positive)
def cached_value_is_changed_in_place(x):
    @functools.cache
    def basis(k):
        return x * k

    total = 0.0
    for k in range(len(x)):
        b = basis(k % 2)
        b *= 2.0
        total += np.sum(b)
    return total


@program(args=positive)
def cache_of_a_closure_that_changes(x):
    scale = 1.0

    @functools.cache
    def f(k):
        return x[0] * k * scale

    a = 0.0
    for i in range(len(x)):
        a = a + f(i % 3)
        scale = scale + 1.0
    return a


# -- sorted lists, heaps and deques


@program(args=vector)
def weights_by_bisection(x):
    total = 0.0
    for v in x:
        total += v**2 * (bisect.bisect_right(KNOTS, v) + bisect.bisect_left(KNOTS, v, 0, 2) + 1)
    return total


@program(args=vector)
def samples_by_bisection(x):
    w = np.exp(x)
    edges = list(np.cumsum(w) / np.sum(w))
    return edges[bisect.bisect(edges, 0.4)] ** 2


@program(args=vector)
def running_median(x):
    window = []
    total = 0.0
    for v in x:
        bisect.insort(window, v * v)
        m = len(window) // 2
        total += window[m] if len(window) % 2 else 0.5 * (window[m - 1] + window[m])
    return total


@program(args=vector)
def sorted_by_a_key(x):
    items = []
    for i, v in enumerate(x):
        bisect.insort(items, (v, i), key=lambda t: -t[0])
    k = bisect.bisect_left(items, 0.0, key=lambda t: -t[0])
    return items[0][0] ** 2 + items[-1][0] * items[-1][1] + sum(v**3 for v, _ in items[:k])


@program(args=vector)
def replaces_in_a_heap(x):
    h = [v**2 for v in x]
    heapq.heapify(h)
    a = heapq.heapreplace(h, x[0] * 3)
    b = heapq.heappushpop(h, x[1] * 0.1)
    big = heapq.nlargest(2, h)
    small = heapq.nsmallest(2, h, key=lambda v: -v)
    return a * b + big[0] * big[1] + small[0] * 2


@program(args=vector)
def replaces_in_a_heap_between_loops(x):
    steps, total = [1, 2], 0.0
    for k in steps:
        total = total + x[k] * k
    heapq.heapreplace(steps, 0)
    for k in steps:
        total = total * 0.5 + x[k] ** 2
    return total


@program(args=vector)
def best_few(x):
    scores = {i: v for i, v in enumerate(x)}
    return sum(v * (i + 1) for i, v in heapq.nlargest(3, scores.items(), key=operator.itemgetter(1)))


@program(args=vector)
def turns_a_deque(x):
    d = deque(x * 2.0)
    total = 0.0
    for k in range(3):
        d.rotate(1)
        total += d[0] * (k + 1)
    d.rotate(-2)
    d.rotate(len(x) * 3 + 1)
    d.extendleft([x[0], x[1]])
    return total + d[1] ** 2 + d[3] * x[2]


@program(args=vector)
def assigns_every_second_item(x):
    items = [v * 1.0 for v in x]
    items[::2] = [v**2 for v in items[::2]]
    items[1:4:2] = [items[0], items[1]]
    items[::-1] = items
    return sum(k * v for k, v in enumerate(items))


@program(args=vector)
def sieve(x):
    n = 12
    prime = [True] * n
    for k in range(2, n):
        if prime[k]:
            prime[k * k :: k] = [False] * len(prime[k * k :: k])
    return sum(x[k % len(x)] ** 2 for k in range(2, n) if prime[k])


# -- groups


@program(args=vector)
def groups_by_setdefault(x):
    groups = {}
    for i, v in enumerate(x):
        groups.setdefault(i % 3, []).append(v)
    return sum(sum(g) ** 2 for g in groups.values())


@program(args=vector)
def arrays_by_setdefault(x):
    groups = {}
    for i, v in enumerate(x):
        groups.setdefault(i % 3, np.zeros(2))[i % 2] += v**2
    return sum(np.prod(1.0 + g) for g in groups.values())


@program(args=vector)
def products_of_runs(x):
    total = 0.0
    for above, run in itertools.groupby(x, key=lambda v: v > 0):
        total += math.prod(run) if above else sum(run) ** 2
    return total


@program(args=vector)
def products_of_generators(x):
    return math.prod(v + 2 for v in x) + math.fsum(v**2 for v in x) + math.prod(map(math.cos, x))


@program(args=vector)
def multiplies_at_places(x):
    y = np.ones(3)
    np.multiply.at(y, np.arange(len(x)) % 3, x)
    z = np.outer(x, x)
    i, j = np.array([0, 1, 0, 0]), np.array([2, 1, 2, 0])
    np.minimum.at(z, (i, j), x[:4] * 0.5)
    np.divide.at(z, (i, j), 2.0)
    return np.sum(np.sin(y)) + np.sum(z**2)


@program(args=vector)
def largest_in_groups(x):
    y = np.full(3, -10.0)
    np.maximum.at(y, np.arange(len(x)) % 3, x)
    return np.sum(y**2) + np.maximum.reduce(x, initial=0.1) ** 2


# -- logs


@program(args=vector)
def logs_arrays(x):
    logger = logging.getLogger("quiet")
    s = 0.0
    w = x
    for k in range(len(x)):
        w = w - 0.1 * np.sin(w)
        s += np.sum(w**2)
        logger.debug("step %d %s %s", k, s, w)
        LOG.info("at %s", w)
        logging.debug("x %s", w)
    return s


@program(args=vector, tags={"second"})
def levinson(r):
    y = np.empty_like(r)
    alpha, beta = -r[0] * 0.1, 1.0
    y[0] = alpha
    for k in range(1, len(r)):
        beta *= 1.0 - alpha * alpha
        alpha = -0.1 * (r[k] + np.dot(np.flip(r[:k]), y[:k])) / beta
        y[:k] += alpha * np.flip(y[:k])
        y[k] = alpha
    return np.sum(y**2) + np.sum(np.flip(np.outer(y, r), 1)[1:] * np.flip(r * y))
