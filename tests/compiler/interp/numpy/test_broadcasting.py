"""`np.broadcast_shapes` and `np.broadcast` tell shapes of a known rank, whose lengths may be known only at run time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad
from tests.compiler.checked import Cases, check_gradient, check_tangent, names, registrar

CASES: Cases = []
case = registrar(CASES)
ROW, COLUMN = np.linspace(-1, 1, 3), np.linspace(0.5, 2, 4).reshape(4, 1)
ARGUMENTS = [(ROW, COLUMN), (ROW, 2.0), (COLUMN, ROW), (ROW, ROW[:1]), (ROW[:1], ROW), (np.linspace(0, 1, 300), 0.5)]


@case(*ARGUMENTS)
def repeated(x: Any, y: Any) -> Any:
    shape = np.broadcast_shapes(np.shape(x), np.shape(y))
    table = np.zeros(shape + (2,))
    table[..., 0] = np.broadcast_to(x, shape) * y
    table[..., 1] = x**2
    return np.sum(table**2) / len(shape)


@case(*ARGUMENTS)
def by_a_broadcast(x: Any, y: Any) -> Any:
    joint = np.broadcast(x, y)
    wide = np.broadcast_to(x[..., np.newaxis], joint.shape + (2,))
    return np.sum(np.exp(wide) * np.ones(joint.shape + (2,))) / joint.size + joint.ndim + joint.nd


@case((COLUMN, ROW))
def of_literals(x: Any, y: Any) -> Any:
    return np.sum(np.broadcast_to(x, np.broadcast_shapes((4, 1), (1, 5), 5)) ** 2)


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradients(fn: Any, args: Any) -> None:
    check_gradient(fn, args)
    check_tangent(fn, args)


@pytest.mark.parametrize("fn", [repeated, by_a_broadcast])
def test_shapes_that_do_not_fit_raise(fn: Any) -> None:
    with pytest.raises(ValueError, match="broadcast"):
        ad.grad(fn)(ROW, np.ones(4))
