"""Which names stand for one object: `is`, `in` and the `==` of classes that have none of their own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad
from tests.random.oracle import forget, load

POINTS = (np.array([0.5, 0.2]), np.array([0.1, 0.7]))
START = """
class Box:
    def __init__(self, v):
        self.v, self.me = v, self

def program(x):
    c, d = Box(x[0]), Box(x[1])
    b = c if x[0] > 0.2 else d
    boxes = [c, d]
"""
FOLLOWED = {
    "two objects": "return x[0] if c is d else 3 * x[1]",
    "one object": "return x[0] * x[1] if c is not c else 3 * x[1]",
    "one of two": "return b.v * x[1] if b is c else b.v * 3",
    "equal without a method": "return b.v * x[1] if b == c and b != d else b.v * 3",
    "in a tuple": "return b.v * x[1] if b in (d, d) else b.v * 3",
    "not in a list": "return b.v * x[1] if b not in boxes[1:] else b.v * 3",
    "in a list that is known": "return c.v if c in boxes else x[1]",
    "a step swaps them": "first, c.me, d.me = c, None, None\n    for k in range(3): c, d = d, c\n"
    "    return c.v * 3 if c is first else c.v",
    "all but the largest": "best = max(boxes, key=lambda o: o.v)\n"
    "    return sum([o.v * best.v for o in boxes if o is not best])",
    "the largest of a loop": "best = c\n    for o in boxes:\n        if o.v > best.v: best = o\n"
    "    return sum([o.v * best.v for o in boxes if o is not best])",
    "each once": "done = []\n    for o in [b, c, d]:\n        if o not in done: done.append(o)\n"
    "    return sum([o.v * o.v for o in done])",
    "dicts": "p, q = {'v': x[0]}, {'v': x[1]}\n    r = p if x[0] > 0.2 else q\n"
    "    return r['v'] * (x[1] if r is p else 4)",
    "itself": "return b.v * 3 if b.me is b else x[0]",
    "a field of itself": "b.me.v = 5 * x[1]\n    return b.v * c.v + d.v",
    "changed to and fro": "if x[0] > 0.2: c.me = d\n    return c.me.v * 3 + c.me.me.v * x[1]",
    "the dict of an object": "return x[0] if '__init__' in c.__dict__ else x[1]",
    "under a handler": "try:\n        c.v *= 3\n        if x[0] > 0.3: raise ValueError\n        c.v *= x[1]\n"
    "    except ValueError: c.me.v += x[0]\n    return c.v * x[1]",
}
REFUSED = {
    "keys": "return {c: x[0], d: x[1]}[c]",
    "a set": "return len({c, d, c}) * x[0]",
    "numbers of objects": "return x[0] if id(c) == id(b) else x[1]",
    "inside tuples": "return x[0] if (c, 1) == (c, 1) else x[1]",
    "inside lists": "return x[0] if [c, d] == boxes else x[1]",
    "the dict of one of two": "return x[0] if b is c and '__init__' in b.__dict__ else x[1]",
    "tuples": "p, q = (x[0], 1.0), (x[1], 2.0)\n    r = p if x[0] > 0.2 else q\n    return x[0] if r is p else x[1]",
}


def differences(program: Any, x: np.ndarray) -> np.ndarray:
    return np.array([(program(x + e) - program(x - e)) / 2e-6 for e in 1e-6 * np.eye(len(x))])


@pytest.mark.parametrize("body", FOLLOWED.values(), ids=list(FOLLOWED))
def test_identity_is_known(body: str) -> None:
    program = load(f"{START}    {body}\n")
    compiled = ad.value_and_grad(program)
    for x in POINTS:
        value, gradient = compiled(x)
        assert value == program(x)
        np.testing.assert_allclose(gradient, differences(program, x), rtol=1e-6, atol=1e-8)
    forget(program)


@pytest.mark.parametrize("body", REFUSED.values(), ids=list(REFUSED))
def test_identity_is_refused(body: str) -> None:
    program = load(f"{START}    {body}\n")
    with pytest.raises(ad.AutodiffError):
        ad.grad(program)(POINTS[0])
    forget(program)


@dataclass
class Pair:
    left: float
    right: float


def of_pairs(x: Any) -> Any:
    p, q = Pair(x[0], 1.0), Pair(x[1], 1.0)
    r = p if x[0] > 0.2 else q
    return r.left * (3 if r == p else 1) * (x[1] if p == q else 2) + (x[0] if r is q else 0)


def test_dataclasses_are_compared_by_their_fields() -> None:
    for x in (*POINTS, np.array([0.4, 0.4])):
        assert ad.value_and_grad(of_pairs)(x)[0] == of_pairs(x)


class Counting:
    def __init__(self, v: Any) -> None:
        self.v = v

    def __contains__(self, item: Any) -> bool:
        self.v = self.v * 2
        return bool(item > self.v)


def searched(x: Any) -> Any:
    counting = Counting(x[0])
    return counting.v * (3 if x[1] in counting else x[1]) + counting.v


def test_a_search_changes_the_object_that_is_searched() -> None:
    for x in POINTS:
        value, gradient = ad.value_and_grad(searched)(x)
        assert value == searched(x)
        np.testing.assert_allclose(gradient, differences(searched, x), rtol=1e-6, atol=1e-8)


def test_a_cycle_of_objects_is_seen_by_inner_derivatives() -> None:
    class Box:
        def __init__(self, v: Any) -> None:
            self.v, self.me = v, self

    def program(x: Any) -> Any:
        box = Box(x[0])
        return ad.grad(lambda q: box.me.v * q * q)(x[1])

    np.testing.assert_allclose(ad.grad(program)(POINTS[0]), [0.4, 1.0])
