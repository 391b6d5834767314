"""What `backward` and `grad` of the tape refuse: one test for each error of torch's table and of its list of errors."""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Iterator

import numpy as np
import pytest

from autodiff_sct import AutodiffError, tape
from autodiff_sct.tape import backward, grad, no_grad, tensor


def leaf(*numbers: float) -> tape.Tensor:
    """A vector that requires its gradient."""
    return tensor(np.array(numbers), requires_grad=True)


def scalar(number: float) -> tape.Tensor:
    """A number that requires its gradient."""
    return tensor(number, requires_grad=True)


@contextlib.contextmanager
def refused(kind: type[Exception], pattern: str) -> Iterator[None]:
    """Expect an error of a built-in kind that is one of ours, too, and says what is wrong."""
    with pytest.raises(kind) as caught:
        yield
    assert isinstance(caught.value, AutodiffError), f"{type(caught.value).__name__} is none of our errors"
    assert re.search(pattern, str(caught.value), re.IGNORECASE), str(caught.value)


# The table.


def test_seed_of_another_shape():
    x = leaf(1.0, 2.0)
    with refused(RuntimeError, "shape"):
        grad(x * x, x, tensor(np.ones(3)))
    with refused(RuntimeError, "shape"):
        backward(x * x, tensor(1.0))


def test_seed_of_one_element_for_a_scalar():
    x = scalar(3.0)
    with refused(RuntimeError, "shape"):
        grad(x * x, x, tensor(np.ones(1)))
    with refused(RuntimeError, "shape"):
        (x * x).backward(tensor(np.ones(1)))


def test_seed_none_inside_a_list_for_a_vector():
    v = leaf(1.0, 2.0)
    with refused(RuntimeError, "scalar|one element|one number"):
        grad([v.sum(), v * v], v, [None, None])


def test_inputs_of_backward_empty():
    x = scalar(3.0)
    with refused(RuntimeError, "empty|inputs"):
        backward(x * x, inputs=[])
    assert x.grad is None


def test_second_pass_over_a_freed_graph():
    x = scalar(3.0)
    y = x * x
    y.backward()
    with refused(RuntimeError, "second time|freed|retain_graph"):
        y.backward()
    with refused(RuntimeError, "second time|freed|retain_graph"):
        grad(y, x)
    assert np.asarray(x.grad) == 6.0


def test_second_pass_over_a_part_of_a_freed_graph():
    x = scalar(3.0)
    shared = np.sin(x)
    (shared * 2).backward()
    with refused(RuntimeError, "second time|freed|retain_graph"):
        (shared * 3).backward()


@pytest.mark.parametrize("allow_unused", [None, False])
def test_unused_input(allow_unused):
    x, unused = scalar(3.0), scalar(4.0)
    with refused(RuntimeError, "unused|not been used|allow_unused"):
        grad(x * x, [x, unused], allow_unused=allow_unused)


def test_materialize_grads_against_allow_unused():
    x = scalar(3.0)
    with refused(ValueError, "allow_unused"):
        grad(x * x, x, allow_unused=False, materialize_grads=True)


def test_grad_variables_beside_grad_tensors():
    x = scalar(3.0)
    with pytest.warns(FutureWarning), refused(RuntimeError, "grad_variables"):
        backward(x * x, tensor(1.0), grad_variables=tensor(1.0))


def test_a_result_cannot_stop_requiring_its_gradient():
    x = scalar(3.0)
    with refused(RuntimeError, "leaf|leaves|detach"):
        (x * x).requires_grad_(False)
    y = x * x
    with refused(RuntimeError, "leaf|leaves|detach"):
        y.requires_grad = False


@pytest.mark.parametrize("data", [3, True, np.array([1, 2])], ids=["int", "bool", "array"])
def test_integers_cannot_require_a_gradient(data):
    with refused(RuntimeError, "floating|integer|dtype"):
        tensor(data, requires_grad=True)
    with refused(RuntimeError, "floating|integer|dtype"):
        tensor(data).requires_grad_()


def test_writing_into_a_leaf():
    x = leaf(1.0, 2.0)
    with refused(RuntimeError, "leaf"):
        x[0] = 5.0
    with refused(RuntimeError, "leaf"):
        x += 1.0
    assert np.asarray(x.detach()).tolist() == [1.0, 2.0]
    with no_grad():
        x[0] = 5.0
    assert np.asarray(x.detach()).tolist() == [5.0, 2.0]


def test_writing_into_a_view_of_a_leaf():
    x = leaf(1.0, 2.0, 3.0)
    with refused(RuntimeError, "leaf"):
        x[1:][0] = 5.0
    assert np.asarray(x.detach()).tolist() == [1.0, 2.0, 3.0]


def test_a_saved_value_changed_in_place():
    x = leaf(1.0, 2.0)
    y = x * 2
    z = y * y
    y[0] = 7.0
    with refused(RuntimeError, "in.place|changed|modified"):
        z.backward(tensor(np.ones(2)))


def test_a_saved_value_changed_through_a_view():
    x = leaf(1.0, 2.0, 3.0)
    y = x * 2
    z = np.sum(y**2)
    y[1:][0] = 7.0
    with refused(RuntimeError, "in.place|changed|modified"):
        z.backward()


def test_a_saved_constant_changed_in_place():
    x, weights = leaf(1.0, 2.0), tensor(np.array([3.0, 4.0]))
    z = x * weights
    weights[0] = 100.0
    with refused(RuntimeError, "in.place|changed|modified"):
        z.backward(tensor(np.ones(2)))


# The list: errors about graphs, shapes and counts are RuntimeErrors.


def test_no_seed_for_an_output_of_several_elements():
    v = leaf(1.0, 2.0)
    with refused(RuntimeError, "scalar|one element|one number"):
        grad(v * v, v)
    with refused(RuntimeError, "scalar|one element|one number"):
        backward(v * v)
    with refused(RuntimeError, "scalar|one element|one number"):
        (v * v).backward()


def test_nothing_requires_a_gradient():
    x = tensor(3.0)
    with refused(RuntimeError, "require"):
        backward(x * x)
    with refused(RuntimeError, "require"):
        (x * x).backward()


@pytest.mark.parametrize("count", [1, 3])
def test_number_of_seeds(count):
    x = scalar(3.0)
    with refused(RuntimeError, "2.*(%d)|(%d).*2" % (count, count)):
        grad([x * x, x * 5], x, [tensor(1.0)] * count)
    with refused(RuntimeError, "2.*(%d)|(%d).*2" % (count, count)):
        backward([x * x, x * 5], [tensor(1.0)] * count)


def test_empty_inputs_of_grad():
    x = scalar(3.0)
    with refused(RuntimeError, "input"):
        grad(x * x, [])


def test_output_that_requires_no_gradient():
    x, constant = scalar(3.0), tensor(4.0)
    with refused(RuntimeError, "require"):
        grad(constant * constant, x)
    with refused(RuntimeError, "require"):
        grad([x * x, constant * constant], x)


def test_input_that_requires_no_gradient():
    x, constant = scalar(3.0), tensor(4.0)
    with refused(RuntimeError, "require"):
        grad(x * constant, constant)
    with refused(RuntimeError, "require"):
        grad(x * constant, [x, constant], allow_unused=True)


def test_output_recorded_under_no_grad():
    x = scalar(3.0)
    with no_grad():
        y = x * x
    with refused(RuntimeError, "require"):
        grad(y, x)


@pytest.mark.parametrize("seed", [1.0, [1.0], np.ones(()), "one"], ids=["float", "list", "array", "str"])
def test_seed_that_is_no_tensor(seed):
    x = scalar(3.0)
    with refused(TypeError, "tensor"):
        grad(x * x, x, seed)
    with refused(TypeError, "tensor"):
        backward(x * x, seed)
    with refused(TypeError, "tensor"):
        (x * x).backward(seed)


@pytest.mark.parametrize("wrong", [3.0, np.ones(()), "x", None], ids=["float", "array", "str", "None"])
def test_input_that_is_no_tensor(wrong):
    x = scalar(3.0)
    with refused(TypeError, "tensor"):
        grad(x * x, wrong)
    with refused(TypeError, "tensor"):
        grad(x * x, [x, wrong])


# What a tape cannot follow is refused, never left out of the gradient.


def test_a_plain_array_of_a_recorded_value():
    x = leaf(1.0, 2.0)
    with pytest.raises(AutodiffError, match="detach"):
        np.asarray(x)
    with pytest.raises(AutodiffError, match="detach"):
        np.array([x * 2, x * 3], dtype=float)
    assert np.asarray(x.detach()).tolist() == [1.0, 2.0]


def test_a_recorded_value_written_into_a_plain_array():
    x, kept = leaf(1.0, 2.0), np.zeros(2)
    with pytest.raises(AutodiffError, match="detach"):
        kept[:] = x
    with pytest.raises(AutodiffError, match="detach|out"):
        np.multiply(x, 2, out=kept)
    with pytest.raises((AutodiffError, ValueError)):  # NumPy replaces our error by its own
        kept[0] = x[1]
    assert kept.tolist() == [0.0, 0.0]


def test_a_recorded_number_given_to_python():
    x = scalar(0.5)
    with pytest.raises(AutodiffError, match="detach"):
        float(x)
    with pytest.raises(AutodiffError, match="detach"):
        math.sin(x)
    assert math.sin(x.item()) == math.sin(0.5)


def test_a_function_without_a_rule():
    x = leaf(1.0, 2.0)
    with pytest.raises(AutodiffError, match="roots"):
        np.roots(x)
