"""The behaviour of `tf.gradients`: one test for each row of the table that the tape follows."""

from __future__ import annotations

import numpy as np
import pytest

from autodiff_sct import tape
from autodiff_sct.tape import gradients, tensor


def leaf(*numbers: float) -> tape.Tensor:
    """A vector that requires its gradient."""
    return tensor(np.array(numbers), requires_grad=True)


def scalar(number: float) -> tape.Tensor:
    """A number that requires its gradient."""
    return tensor(number, requires_grad=True)


def numbers(value: tape.Tensor) -> list[float] | float:
    """What a tensor holds, as Python numbers."""
    return np.asarray(value.detach()).tolist()


@pytest.mark.parametrize("wrap", [lambda x: x, lambda x: [x], lambda x: (x,)], ids=["bare", "list", "tuple"])
def test_the_result_is_a_list_as_long_as_xs(wrap):
    x = scalar(3.0)
    found = gradients(wrap(x * x), wrap(x))
    assert type(found) is list and [numbers(g) for g in found] == [6.0]


def test_the_same_x_twice_and_none_at_all():
    x, y = scalar(3.0), scalar(5.0)
    assert [numbers(g) for g in gradients(x * y, [y, x, y])] == [3.0, 5.0, 3.0]
    assert gradients(x * y, []) == []


def test_several_ys_are_summed_and_the_same_one_counts_twice():
    x = scalar(3.0)
    y = x * x
    assert numbers(gradients([y, y, 5 * x], x)[0]) == 17.0


def test_a_y_that_is_no_scalar_is_seeded_with_ones():
    x = leaf(1.0, 2.0)
    assert numbers(gradients(x * x, x)[0]) == [2.0, 4.0]


def test_a_y_may_be_an_x():
    x = scalar(3.0)
    y = x * x
    assert [numbers(g) for g in gradients([y, y * 5], [y, x])] == [6.0, 36.0]
    assert numbers(gradients(x, x)[0]) == 1.0


def test_grad_ys_bare_or_in_a_list_with_none_for_ones():
    x = leaf(1.0, 2.0)
    seed = tensor(np.array([1.0, 10.0]))
    assert numbers(gradients(x * x, x, seed)[0]) == [2.0, 40.0]
    assert numbers(gradients([x * x, x * 3], x, [seed, None])[0]) == [5.0, 43.0]
    assert numbers(gradients(x * x, x, grad_ys=[None])[0]) == [2.0, 4.0]


def test_grad_ys_that_broadcast():
    x = leaf(1.0, 2.0)
    assert numbers(gradients(x * x, x, tensor(10.0))[0]) == [20.0, 40.0]


def test_grad_ys_may_depend_on_xs():
    x = scalar(3.0)
    (first,) = gradients(x * x, x, grad_ys=x * x * x)
    assert numbers(first) == 27.0 * 6.0
    assert numbers(gradients(first, x)[0]) == 8 * 27.0


def test_xs_are_leaves_and_results_and_none_where_they_are_not_reached():
    x, apart = scalar(3.0), scalar(4.0)
    y = x * x
    z = y * 5
    by_x, by_y, nothing = gradients(z, [x, y, apart])
    assert (numbers(by_x), numbers(by_y), nothing) == (30.0, 5.0, None)


@pytest.mark.parametrize("word", ["none", "zero"])
def test_unconnected_gradients(word):
    x, apart = scalar(3.0), tensor(np.ones((2, 3), np.float32), requires_grad=True)
    _, found = gradients(x * x, [x, apart], unconnected_gradients=word)
    if word == "none":
        assert found is None
    else:
        assert (found.shape, found.dtype, np.asarray(found.detach()).any()) == ((2, 3), np.float32, False)


def test_stop_gradients_gives_partial_derivatives():
    a = scalar(0.0)
    b = 2 * a
    assert [numbers(g) for g in gradients(a + b, [a, b])] == [3.0, 1.0]
    assert [numbers(g) for g in gradients(a + b, [a, b], stop_gradients=[a, b])] == [1.0, 1.0]
    assert [numbers(g) for g in gradients(a + b, [a, b], stop_gradients=b)] == [1.0, 1.0]


def test_a_y_in_stop_gradients_has_no_gradient():
    x = scalar(3.0)
    y = x * x
    assert gradients(y, x, stop_gradients=[y]) == [None]


def test_gradients_of_gradients_also_mixed():
    x, y = scalar(3.0), scalar(5.0)
    by_x, by_y = gradients(x * x * x * y * y, [x, y])
    assert numbers(gradients(by_x, x)[0]) == 6 * 3.0 * 25.0
    assert numbers(gradients(by_x, y)[0]) == 3 * 9.0 * 2 * 5.0
    assert numbers(gradients(by_y, x)[0]) == 3 * 9.0 * 2 * 5.0
    assert numbers(gradients(gradients(by_x, x), x)[0]) == 6 * 25.0


def test_a_gradient_is_an_ordinary_tensor():
    x = leaf(1.0, 2.0)
    (found,) = gradients(x * x * x, x)
    assert numbers(gradients(np.sin(found[1]) * x[0], x)[0]) == pytest.approx(
        [np.sin(12.0), np.cos(12.0) * 12.0], rel=1e-15
    )


def test_the_graph_may_be_asked_again():
    x = scalar(3.0)
    y = x * x
    assert [numbers(gradients(y, x)[0]) for _ in range(3)] == [6.0] * 3
    assert x.grad is None


def test_integers_have_no_gradient():
    n, x = tensor(3), scalar(2.0)
    assert gradients(n * n, n) == [None]
    by_n, by_x = gradients(n * x, [n, x])
    assert (by_n, numbers(by_x)) == (None, 3.0)


def test_a_cast_to_integers_disconnects():
    x = leaf(1.5, 2.5)
    whole = x.astype(int)
    assert gradients(whole, x) == [None]
    assert numbers(gradients(whole * x, x)[0]) == [1.0, 2.0]


@pytest.mark.parametrize("function", [np.maximum, np.minimum])
def test_a_tie_is_shared_by_halves_as_in_torch(function):
    x, y = leaf(1.0, 5.0), leaf(1.0, 7.0)
    by_x, by_y = gradients(function(x, y), [x, y])
    assert numbers(by_x)[0] == numbers(by_y)[0] == 0.5


def test_reduced_maximum_splits_and_abs_is_zero_at_zero():
    x = leaf(2.0, 2.0, 1.0, 0.0)
    assert numbers(gradients(np.max(x), x)[0]) == [0.5, 0.5, 0.0, 0.0]
    assert numbers(gradients(abs(x), x)[0]) == [1.0, 1.0, 1.0, 0.0]


def test_gradients_have_the_dtype_of_their_x():
    x = tensor(np.ones(2, np.float32), requires_grad=True)
    y = tensor(np.ones(2), requires_grad=True)
    assert [g.dtype for g in gradients(x * y, [x, y])] == [np.float32, np.float64]
