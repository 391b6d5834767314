"""Tuples as long as only the run tells: they are tuples, and no lists."""

import numpy as np
import pytest

import autodiff_sct as ad


def test_a_tuple_is_no_list():
    def program(x):
        items = tuple(v * v for v in x)
        found = isinstance(items, tuple) and not isinstance(items, list) and type(items) is tuple
        return sum(items) if found else 0.0 * x[0]

    assert np.allclose(ad.grad(program)(np.arange(3.0)), 2 * np.arange(3.0))


def test_what_is_joined_to_it_is_another():
    def program(x):
        items = tuple(x)
        other = items
        items += (x[0] ** 2,)
        return sum(items) * len(other) + sum(items[1:])

    x = np.array([0.5, 2.0])
    assert np.allclose(ad.grad(program)(x), [2 + 4 * 0.5 + 2 * 0.5, 3.0])


@pytest.mark.parametrize("change", ["items.append(1.0)", "items.sort()"])
def test_methods_that_it_lacks(change):
    program = ad.from_source(f"def program(x):\n    items = tuple(x)\n    {change}\n    return sum(items)\n")
    with pytest.raises(AttributeError, match="'tuple' object has no attribute"):
        ad.grad(program)(np.ones(3))


def test_as_an_index_it_may_show_a_part():
    def program(a):
        place = tuple(int(k) for k in np.argwhere(a > 0)[0][:1])
        row = a[place]
        row *= 2
        return np.sum(a**2)

    with pytest.raises(ad.AutodiffError, match="number or an array"):
        ad.grad(program)(np.ones((2, 2)))


def test_one_that_grows_in_a_loop_is_refused():
    def program(x):
        items = ()
        for v in x:
            items = items + (v * v,)
        return sum(items)

    with pytest.raises(ad.AutodiffError, match="joined with"):
        ad.grad(program)(np.ones(3))


def test_ones_that_grow_in_a_dict_are_refused():
    def program(x):
        table = {k: () for k in range(2)}
        for k, v in enumerate(x):
            table[k % 2] = table[k % 2] + (v,)
        return sum(sum(items) ** 2 for items in table.values())

    with pytest.raises(ad.AutodiffError, match="joined with"):
        ad.grad(program)(np.ones(3))


def test_a_list_on_one_path_and_a_number_on_another_is_refused():
    def program(x):
        items = list(x)
        last = items[::-1]
        for last in items:
            pass
        return last * items[0]

    with pytest.raises(ad.AutodiffError, match="a container on one path"):
        ad.grad(program)(np.ones(3))
