"""What `gradients` of the tape refuses: the rows of tf.gradients on errors, `grad_ys` and `unconnected_gradients`."""

from __future__ import annotations

import numpy as np
import pytest

from autodiff_sct import tape
from autodiff_sct.tape import gradients, no_grad, tensor
from tests.tape.test_torch_errors import refused


def scalar(number: float) -> tape.Tensor:
    """A number that requires its gradient."""
    return tensor(number, requires_grad=True)


# The row of errors.


def test_none():
    x = scalar(3.0)
    with refused(AttributeError, "None"):
        gradients(None, x)
    with refused(AttributeError, "None"):
        gradients(x * x, None)
    with refused(AttributeError, "None"):
        gradients([x * x, None], x)
    with refused(AttributeError, "None"):
        gradients(x * x, [x, None])


def test_ys_a_string():
    x = scalar(3.0)
    with refused(TypeError, "str"):
        gradients("y", x)


@pytest.mark.parametrize("constant", [2.0, 3, "x"], ids=["float", "int", "str"])
def test_xs_that_are_numbers_or_strings_are_constants(constant):
    x = scalar(3.0)
    assert gradients(x * x, constant) == [None]
    by_x, nothing = gradients(x * x, [x, constant])
    assert (by_x.item(), nothing) == (6.0, None)


def test_a_graph_that_was_not_recorded():
    x = scalar(3.0)
    with no_grad():
        y = x * x
    with refused(RuntimeError, "no_grad|record|require"):
        with no_grad():
            gradients(y, x)


def test_an_x_that_the_tape_did_not_follow():
    x, constant = scalar(3.0), tensor(4.0)
    with refused(RuntimeError, "require"):
        gradients(x * constant, constant)


# The row of grad_ys.


@pytest.mark.parametrize("count", [0, 1, 3])
def test_number_of_grad_ys(count):
    x = scalar(3.0)
    with refused(ValueError, "grad_ys|2"):
        gradients([x * x, x * 5], x, grad_ys=[tensor(1.0)] * count)


def test_shape_of_grad_ys():
    v = tensor(np.ones(2), requires_grad=True)
    with refused(ValueError, "shape"):
        gradients(v * v, v, grad_ys=tensor(np.ones(3)))
    with refused(ValueError, "shape"):
        gradients(np.sum(v), v, grad_ys=tensor(np.ones(2)))


@pytest.mark.parametrize("seed", [np.array(1), np.array(1, np.float32)], ids=["int", "float32"])
def test_dtype_of_grad_ys(seed):
    x = scalar(3.0)
    with refused(TypeError, "dtype|float"):
        gradients(x * x, x, grad_ys=tensor(seed))


# The row of unconnected_gradients.


@pytest.mark.parametrize("word", ["zeros", "nothing", None, 0])
def test_unknown_unconnected_gradients(word):
    x = scalar(3.0)
    with refused(ValueError, "unconnected_gradients|none"):
        gradients(x * x, x, unconnected_gradients=word)
