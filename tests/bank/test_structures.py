"""The harness itself: a bank is as good as what compares its numbers."""

from __future__ import annotations

import numpy as np

from tests.bank.containers import Point
from tests.bank.differences import differentiate
from tests.bank.objects import Body
from tests.bank.structures import leaves, map_leaves, same, show, total


def test_leaves_are_found_by_path() -> None:
    value = {"p": Point(1.0, [2, 3j]), "b": Body(np.ones(2), np.zeros(2)), "flag": True}
    assert [show(path) for path in leaves(value)] == [
        "['p'].x",
        "['p'].y[1]",
        "['b'].position",
        "['b'].velocity",
        "['b'].mass",
    ]


def test_map_leaves_keeps_kinds_and_does_not_write() -> None:
    value = (Point(1.0, 2), [Body(np.ones(2), np.zeros(2))], {"n": 3})
    doubled = map_leaves(lambda path, leaf: 2 * leaf, value)
    assert doubled[0] == Point(2.0, 2) and doubled[1][0].mass == 2.0 and doubled[2] == {"n": 3}
    assert value[1][0].mass == 1.0


def test_same_tells_kinds_and_bits_apart() -> None:
    assert same([np.nan, np.array([np.nan])], [np.nan, np.array([np.nan])])
    assert not same(1.0, np.float64(1.0))
    assert not same(np.zeros(2), np.zeros(2, np.float32))
    assert not same(Body(np.ones(2), np.ones(2)), Body(np.ones(2), np.array([1.0, 1.0 + 1e-16 * 4])))


def test_total_counts_real_parts_only() -> None:
    assert total((1.0, [np.array([2.0, 3.0]), 1 + 5j], 7, "text")) == 7.0


def test_differences_of_real_and_complex_numbers() -> None:
    found = differentiate(lambda x, z: x**3 + z * z, lambda: (2.0, 1 + 2j), (0, 1))
    np.testing.assert_allclose(found[("[0]",)], 12.0, rtol=1e-10)
    np.testing.assert_allclose(found[("[1]",)], 2 + 4j, rtol=1e-10)
