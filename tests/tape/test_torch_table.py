"""The behaviour of `torch.autograd.backward` and `grad`: one test for each row of the table that the tape follows."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from autodiff_sct import tape
from autodiff_sct.tape import backward, enable_grad, grad, no_grad, tensor


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
def test_arguments_are_one_tensor_a_list_or_a_tuple(wrap):
    x = scalar(3.0)
    found = grad(wrap(x * x), wrap(x), wrap(tensor(2.0)))
    assert type(found) is tuple
    assert [numbers(g) for g in found] == [12.0]
    backward(wrap(x * x), wrap(tensor(2.0)), inputs=wrap(x))
    assert numbers(x.grad) == 12.0


def test_arguments_in_the_order_of_inputs_and_the_same_twice():
    x, y = scalar(3.0), scalar(5.0)
    assert [numbers(g) for g in grad(x * y, [y, x, y])] == [3.0, 5.0, 3.0]


def test_seeds_may_be_left_out_for_one_element():
    x = scalar(3.0)
    assert numbers(grad(x * x, x, None)[0]) == 6.0
    assert numbers(grad(x * x, x, [None])[0]) == 6.0
    v = leaf(3.0)
    assert numbers(grad(v * v, v)[0]) == [6.0]


def test_seeds_of_a_list_may_be_none_for_scalars():
    x, v = scalar(3.0), leaf(1.0, 2.0)
    by_x, by_v = grad([x * x, v * x], [x, v], [None, tensor(np.array([1.0, 10.0]))])
    assert numbers(by_x) == 6.0 + 21.0
    assert numbers(by_v) == [3.0, 30.0]


def test_seeds_are_cast_and_may_be_integers():
    x = tensor(np.array([1.0, 2.0], np.float32), requires_grad=True)
    (wide,) = grad(x * 3, x, tensor(np.array([1.0, 2.0])))
    assert wide.dtype == np.float32 and numbers(wide) == [3.0, 6.0]
    (whole,) = grad(x * 3, x, tensor(np.array([1, 2])))
    assert whole.dtype == np.float32 and numbers(whole) == [3.0, 6.0]


def test_several_outputs_add_up_also_the_same_one_twice():
    x = scalar(3.0)
    y = x * x
    assert numbers(grad([y, y, 5 * x], x)[0]) == 17.0
    z = x * x
    backward([z, z, 5 * x])
    assert numbers(x.grad) == 17.0


def test_accumulation_into_the_same_object():
    x = scalar(3.0)
    backward(x * x)
    first = x.grad
    backward(x * x)
    assert x.grad is first and numbers(x.grad) == 12.0
    grad(x * x, x)
    assert numbers(x.grad) == 12.0
    x.grad = None
    (x * x).backward()
    assert numbers(x.grad) == 6.0 and numbers(first) == 12.0


def test_accumulation_only_into_leaves_that_require_it():
    x, y, constant = scalar(3.0), scalar(4.0), tensor(5.0)
    (x * y * constant).backward()
    assert (numbers(x.grad), numbers(y.grad), constant.grad) == (20.0, 15.0, None)


def test_inputs_of_backward_accumulate_alone_and_may_be_results():
    x, y = scalar(3.0), scalar(4.0)
    z = x * y
    backward(z * z, inputs=[x, z])
    assert (numbers(x.grad), y.grad, numbers(z.grad)) == (96.0, None, 24.0)


def test_create_graph_makes_gradients_that_require_gradients():
    x = scalar(3.0)
    (first,) = grad(x * x * x, x, create_graph=True)
    assert first.requires_grad and not first.is_leaf
    (second,) = grad(first, x, create_graph=True)
    (third,) = grad(second, x)
    assert [numbers(g) for g in (first, second, third)] == [27.0, 18.0, 6.0]


def test_create_graph_decides_over_retain_graph():
    x = scalar(3.0)
    y = x * x
    grad(y, x, create_graph=True)
    assert numbers(grad(y, x)[0]) == 6.0
    with pytest.raises(RuntimeError):
        grad(y, x)


def test_without_create_graph_gradients_are_constants():
    x = scalar(3.0)
    (found,) = grad(x * x, x)
    assert found.is_leaf and not found.requires_grad and found.grad_fn is None


def test_retain_graph_lets_a_second_pass_run():
    x = scalar(3.0)
    y = x * x
    y.backward(retain_graph=True)
    y.backward()
    assert numbers(x.grad) == 12.0


def test_a_graph_without_saved_values_may_be_passed_again():
    x = scalar(3.0)
    y = x + x
    y.backward()
    y.backward()
    assert numbers(x.grad) == 4.0


def test_allow_unused_gives_none_and_materialize_grads_zeros():
    x, unused = scalar(3.0), leaf(1.0, 2.0)
    by_x, missing = grad(x * x, [x, unused], allow_unused=True)
    assert (numbers(by_x), missing) == (6.0, None)
    by_x, zeros = grad(x * x, [x, unused], materialize_grads=True)
    assert (numbers(by_x), numbers(zeros)) == (6.0, [0.0, 0.0])
    assert zeros.dtype == unused.dtype


def test_inputs_of_grad_are_leaves_results_or_the_output():
    x = scalar(3.0)
    y = x * x
    z = y * 5
    assert [numbers(g) for g in grad(z, [x, y, z])] == [30.0, 5.0, 1.0]
    assert x.grad is None and x.requires_grad


def test_only_inputs_false_warns_and_is_ignored():
    x = scalar(3.0)
    with pytest.warns(FutureWarning):
        found = grad(x * x, x, only_inputs=False)
    assert numbers(found[0]) == 6.0


def test_grad_variables_warns_and_is_another_name_for_grad_tensors():
    x = leaf(1.0, 2.0)
    with pytest.warns(FutureWarning):
        backward(x * x, grad_variables=tensor(np.array([1.0, 10.0])))
    assert numbers(x.grad) == [2.0, 40.0]


def test_a_result_requires_a_gradient_when_an_operand_does():
    x, constant = scalar(3.0), tensor(4.0)
    assert (x * constant).requires_grad and (constant * x).requires_grad
    assert not (constant * constant).requires_grad
    assert not tensor(4.0).requires_grad
    assert constant.requires_grad_() is constant and constant.requires_grad
    assert not constant.requires_grad_(False).requires_grad


def test_is_leaf_without_a_gradient_or_made_by_the_user():
    x, constant = scalar(3.0), tensor(4.0)
    assert x.is_leaf and constant.is_leaf and (constant * constant).is_leaf
    y = x * constant
    assert not y.is_leaf and y.grad_fn is not None
    assert x.grad_fn is None and constant.grad_fn is None
    with no_grad():
        assert (x * x).is_leaf


def test_no_grad_and_enable_grad_nest():
    x = scalar(3.0)
    with no_grad():
        assert not (x * x).requires_grad
        with enable_grad():
            assert (x * x).requires_grad
        assert not (x * x).requires_grad
    assert (x * x).requires_grad


def test_no_grad_and_enable_grad_decorate():
    @no_grad()
    def constant(x):
        return x * x

    @enable_grad()
    def recorded(x):
        return x * x

    x = scalar(3.0)
    assert not constant(x).requires_grad
    with no_grad():
        assert recorded(x).requires_grad
    assert (x * x).requires_grad


def test_no_grad_ends_where_an_error_leaves_it():
    x = scalar(3.0)
    with pytest.raises(ZeroDivisionError), no_grad():
        raise ZeroDivisionError
    assert (x * x).requires_grad


def test_detach_shares_the_value():
    x = leaf(1.0, 2.0)
    y = x * 2
    constant = y.detach()
    assert (constant.requires_grad, constant.is_leaf, constant.grad_fn) == (False, True, None)
    assert np.shares_memory(np.asarray(constant), np.asarray(y.detach()))
    (y * constant).backward(tensor(np.ones(2)))
    assert numbers(x.grad) == [4.0, 8.0]


def test_retain_grad_keeps_the_gradient_of_a_result():
    x = scalar(3.0)
    y = x * x
    y.retain_grad()
    (y * 5).backward()
    assert (numbers(y.grad), numbers(x.grad)) == (5.0, 30.0)


def test_the_gradient_of_another_result_is_none_with_a_warning():
    x = scalar(3.0)
    y = x * x
    (y * 5).backward()
    with pytest.warns(UserWarning):
        assert y.grad is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert x.grad is not None


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_a_gradient_has_its_tensors_dtype(dtype):
    x = tensor(np.array([1.0, 2.0], dtype), requires_grad=True)
    wide = tensor(np.array([3.0, 4.0]), requires_grad=True)
    y = x * wide
    assert y.dtype == np.float64
    by_x, by_wide = grad(y, [x, wide], tensor(np.ones(2)))
    assert (by_x.dtype, by_wide.dtype) == (dtype, np.float64)
    assert numbers(by_x) == [3.0, 4.0]


@pytest.mark.parametrize("function", [np.maximum, np.minimum])
def test_a_tie_is_shared_by_halves(function):
    x, y = leaf(1.0, 5.0), leaf(1.0, 7.0)
    by_x, by_y = grad(function(x, y), [x, y], tensor(np.ones(2)))
    assert numbers(by_x)[0] == numbers(by_y)[0] == 0.5


def test_abs_has_the_derivative_zero_at_zero():
    x = leaf(-2.0, 0.0, 2.0)
    assert numbers(grad(abs(x), x, tensor(np.ones(3)))[0]) == [-1.0, 0.0, 1.0]
    assert numbers(grad(np.abs(x), x, tensor(np.ones(3)))[0]) == [-1.0, 0.0, 1.0]


def test_writing_into_a_result_is_differentiated():
    x = leaf(1.0, 2.0, 3.0)
    y = x * x
    y[0] = x[2] * 5
    assert numbers(y) == [15.0, 4.0, 9.0]
    y.backward(tensor(np.array([1.0, 10.0, 100.0])))
    assert numbers(x.grad) == [0.0, 40.0, 605.0]


def test_tensor_backward_takes_its_gradient_and_inputs():
    x, y = leaf(1.0, 2.0), leaf(3.0, 4.0)
    (x * y).backward(gradient=tensor(np.array([1.0, 10.0])), retain_graph=None, create_graph=False, inputs=x)
    assert numbers(x.grad) == [3.0, 40.0] and y.grad is None


def test_backward_returns_nothing():
    x = scalar(3.0)
    assert backward(x * x) is None and (x * x).backward() is None


def test_item_shape_and_dtype():
    x = leaf(1.0, 2.0)
    assert (x.shape, x.dtype) == ((2,), np.float64)
    assert type(x[1].item()) is float and x[1].item() == 2.0


def test_numpy_functions_and_indices_are_recorded():
    x = leaf(0.5, 2.0, 3.0)
    y = np.sum(np.sin(x)[1:]) + np.concatenate([x, x])[4] + x.sum()
    assert np.allclose(numbers(grad(y, x)[0]), [1.0, 2.0 + np.cos(2.0), 1.0 + np.cos(3.0)])
