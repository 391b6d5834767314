"""`Cell.bprop`: a derivative of the user's own in the place of the compiler's."""

from __future__ import annotations

import pytest

import autodiff_sct as ad
from autodiff_sct import Parameter, Tensor, nn


class Doubled(nn.Cell):
    """The product, with twice its derivative."""

    def construct(self, x, y):
        return x * y

    def bprop(self, x, y, out, dout):
        return 2 * y * dout, 2 * x * dout


class Single(nn.Cell):
    """One gradient that is no tuple, and a parameter, which then gets zeros."""

    def __init__(self):
        super().__init__()
        self.w = Parameter([3.0], "w")

    def construct(self, x):
        return self.w * x

    def bprop(self, x, out, dout):
        return dout + out


class TwoOutputs(nn.Cell):
    def construct(self, x):
        return x * x, x + 1

    def bprop(self, x, out, dout):
        return (out[0] * dout[0] + 10 * dout[1],)


class TooFew(nn.Cell):
    def construct(self, x, y):
        return x * y

    def bprop(self, x, y, out, dout):
        return (y * dout,)


def test_replaces_the_derivative():
    assert ad.grad(Doubled(), (0, 1))(3.0, 5.0) == (10.0, 6.0)
    cell = Doubled()
    assert ad.grad(lambda x: cell(x, 4.0) * x)(3.0) == pytest.approx(12.0 + 24.0)


def test_parameters_get_zeros():
    cell = Single()
    by_x, by_w = ad.grad(cell, 0, cell.w)(Tensor([2.0]))
    assert by_x.tolist() == [7.0] and by_w.tolist() == [0.0]


def test_several_outputs():
    assert ad.grad(TwoOutputs())(3.0) == 19.0


def test_fewer_gradients_than_inputs():
    with pytest.raises(RuntimeError):
        ad.grad(TooFew(), (0, 1))(3.0, 5.0)
