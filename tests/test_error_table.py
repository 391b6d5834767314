"""The table of errors of the calls, of Cells and of tensors, row by row."""

from __future__ import annotations

import numpy as np
import pytest

import autodiff_sct as ad
import autodiff_sct.nn as nn
from autodiff_sct import Parameter, Tensor, get_grad, grad, jacfwd, jacrev, jvp, value_and_grad, vjp


def product(x, y):
    return x * x * y


X, Y = Tensor([1.0, 2.0]), Tensor([3.0, 4.0])


class Empty(nn.Cell):
    """A Cell without construct."""


class TooEarly(nn.Cell):
    def __init__(self):
        self.dense = nn.Dense(2, 1)


IDS = grad(product, (0, 1), return_ids=True)(X, Y)
PULL = vjp(lambda x: x * x, X)[1]
SQUARE = Tensor([[1.0, 2.0], [3.0, 4.0]])
ROWS = {
    "a position past the arguments": (RuntimeError, lambda: value_and_grad(product, (0, 5))(X, Y)),
    "weights that are a dict": (TypeError, lambda: grad(product, 0, {"w": 1})(X, Y)),
    "weights that are an array": (TypeError, lambda: grad(product, 0, np.ones(2))(X, Y)),
    "weights that are a tensor": (TypeError, lambda: grad(product, 0, X)(X, Y)),
    "a name instead of a function": (TypeError, lambda: grad("product")(X)),
    "get_grad of None": (TypeError, lambda: get_grad(IDS, None)),
    "get_grad of a position not asked for": (RuntimeError, lambda: get_grad(IDS, 5)),
    "vjp of None": (TypeError, lambda: vjp(product, None, Y)),
    "vjp of a flag": (TypeError, lambda: vjp(product, True, Y)),
    "vjp with weights that are none": (TypeError, lambda: vjp(product, X, Y, weights=3)),
    "vjp without aux": (ValueError, lambda: vjp(product, X, Y, has_aux=True)),
    "a vector that is None": (TypeError, lambda: PULL(None)),
    "a vector that is a flag": (TypeError, lambda: PULL(True)),
    "a vector of another shape": (ValueError, lambda: PULL(Tensor([1.0]))),
    "two vectors for one output": (ValueError, lambda: PULL(X, X)),
    "jvp of None": (TypeError, lambda: jvp(product, (None, Y), (X, Y))),
    "jvp along a string": (TypeError, lambda: jvp(product, (X, Y), ("a", Y))),
    "jvp without aux": (ValueError, lambda: jvp(product, (X, Y), (X, Y), has_aux=True)),
    "jacrev by a name": (TypeError, lambda: jacrev(product, "0")(X, Y)),
    "jacfwd by nothing": (ValueError, lambda: jacfwd(product, ())(X, Y)),
    "a ParameterTuple of numbers": (TypeError, lambda: ad.ParameterTuple([1])),
    "a ParameterTuple of a number": (TypeError, lambda: ad.ParameterTuple(3)),
    "parameters of one name": (ValueError, lambda: ad.ParameterTuple([Parameter([1.0], "w"), Parameter([2.0], "w")])),
    "a Tensor of None": (TypeError, lambda: Tensor(None)),
    "a Tensor of a ragged list": (TypeError, lambda: Tensor([[1], [1, 2]])),
    "a Parameter of a dict": (TypeError, lambda: Parameter({"a": 1}, "w")),
    "a dtype by its name": (TypeError, lambda: Tensor([1.0], "float32")),
    "a Cell without construct": (AttributeError, lambda: Empty()(X)),
    "the gradient of a Cell without construct": (AttributeError, lambda: grad(Empty())(X)),
    "a sub-cell before super().__init__()": (AttributeError, lambda: TooEarly()),
    "a CellList of numbers": (TypeError, lambda: nn.CellList([1])),
    "a SequentialCell of numbers": (TypeError, lambda: nn.SequentialCell([nn.ReLU(), 3])),
    "channels that are no int": (TypeError, lambda: nn.Dense("a", 1)),
    "no channels": (ValueError, lambda: nn.Dense(0, 1)),
    "a first weight of another shape": (ValueError, lambda: nn.Dense(2, 1, weight_init=Tensor([[1.0]]))),
    "an input of another width": (ValueError, lambda: nn.Dense(2, 1)(Tensor([[1.0, 2.0, 3.0]]))),
    "an unknown reduction": (ValueError, lambda: nn.MSELoss(reduction="avg")),
    "shapes that do not broadcast": (ValueError, lambda: SQUARE + Tensor([1.0, 2.0, 3.0])),
    "the same, differentiated": (ValueError, lambda: grad(lambda a: a + Tensor([1.0, 2.0, 3.0]))(SQUARE)),
    "a shape of another size": (ValueError, lambda: grad(lambda a: a.reshape(3, 3))(SQUARE)),
    "an axis that is not there": (ValueError, lambda: grad(lambda a: a.sum(5))(SQUARE)),
    "an index past the end": (IndexError, lambda: grad(lambda a: a[5])(SQUARE)),
    "too many indices": (IndexError, lambda: SQUARE[0, 0, 0]),
    "an index that is a float": (IndexError, lambda: grad(lambda a: a[0.5])(SQUARE)),
    "a Tensor and a string": (TypeError, lambda: SQUARE + "x"),
    "a Tensor and None, differentiated": (TypeError, lambda: grad(lambda a: a * None)(SQUARE)),
    "the truth of several elements": (ValueError, lambda: bool(SQUARE)),
    "the same as a branch": (ValueError, lambda: grad(lambda a: a if a else 2 * a)(SQUARE)),
}


@pytest.mark.parametrize("row", ROWS)
def test_errors_row_by_row(row):
    error, call = ROWS[row]
    with pytest.raises(error):
        call()
