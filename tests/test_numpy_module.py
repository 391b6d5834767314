"""MindSpore's ``numpy`` module."""

from __future__ import annotations

import autodiff_sct as ad
import autodiff_sct.numpy as mnp
from autodiff_sct import Tensor


def test_functions_take_tensors_and_constructors_make_them():
    x = Tensor([1.0, 4.0])
    assert isinstance(mnp.sqrt(x), Tensor) and mnp.sqrt(x).tolist() == [1, 2]
    for made in (mnp.zeros((2,)), mnp.ones(2), mnp.arange(2), mnp.array([1.0, 2.0]), mnp.full((2,), 1.0)):
        assert isinstance(made, Tensor) and made.shape == (2,)
    assert all(hasattr(mnp, name) for name in mnp.__all__)


def test_gradient():
    gradient = ad.grad(lambda x: mnp.sum(mnp.square(x) * mnp.ones((2,)) + mnp.concatenate([x, x])[1:3]))
    assert gradient(Tensor([1.0, 2.0])).tolist() == [3, 5]
