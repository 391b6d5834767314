"""Methods of lists of a few objects, of which only the run tells the order."""

import numpy as np
import pytest

import autodiff_sct as ad
from tests.compiler.checked import check_gradient


class Point:
    def __init__(self, x, w):
        self.x, self.w = x, w


class Wide(Point):
    def __init__(self, x):
        super().__init__(x * 2.0, 1.5)


def sorted_by_key(x):
    ps = [Point(x[0], 1.0), Point(x[1], 2.0), Point(x[2], 3.0)]
    ps.sort(key=lambda p: -p.x)
    return sum((k + 1) * p.x * p.w for k, p in enumerate(ps))


def turned_and_changed(x):
    ps = [Point(x[0], 1.0), Point(x[1], 2.0), Point(x[2], 3.0)]
    ps.reverse()
    ps.insert(1, Point(x[0] * x[1], 4.0))
    last = ps.pop()
    last.x *= 2
    return sum((k + 1) * p.x * p.w for k, p in enumerate(ps)) + last.x


def found_and_removed(x):
    ps = [Point(x[0], 1.0), Point(x[1], 2.0), Point(x[2], 3.0)]
    best = max(ps, key=lambda p: p.x)
    k = ps.index(best)
    ps.remove(best)
    ps.extend([Point(x[k], 5.0)])
    return sum((k + 1) * p.x * p.w for k, p in enumerate(ps)) + k * x[0]


def of_two_classes(x):
    items = [Point(x[0], 1.0), Wide(x[1]), Point(x[2], 2.0)]
    items.sort(key=lambda p: p.x * p.w)
    return items[0].x * items[1].w + 3.0 * items[2].x * isinstance(items[2], Wide)


@pytest.mark.parametrize("x", [[0.5, 0.2, 0.9], [-0.6, 1.2, 0.4]])
@pytest.mark.parametrize("fn", [sorted_by_key, turned_and_changed, found_and_removed, of_two_classes])
def test_gradients(fn, x):
    x = np.array(x)
    check_gradient(fn, (x,))
    value, tangent = ad.jvp(fn, (x,), (np.ones(3),))
    assert value == fn(x)
    np.testing.assert_allclose(tangent, ad.grad(fn)(x).sum(), rtol=1e-12)
