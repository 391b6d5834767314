"""Temporaries that are called after the field, the item or the parameter that they are stored in."""

import ast

import numpy as np
import pytest

import autodiff_sct as ad
from tests.compiler.checked import check_gradient

X = np.array([0.5, 0.2, 0.9])


class Body:
    def __init__(self, at):
        self._place, self.speed = at * 2.0, np.zeros_like(at)

    def move(self, force):
        self.speed += force * 0.1
        self._place += self.speed * np.tanh(force)


def moving(x):
    body = Body(x)
    for k in range(3):
        body.move(np.cos(body._place) * (k + 1))
    return np.sum(body._place * body.speed)


def in_a_dict(x):
    state = {"u": x * 2.0, "not a name": x + 1.0}
    state["v"] = np.sin(state["u"]) * state["not a name"]
    state["v"] += state["v"] ** 2
    return np.sum(state["v"] * state["u"])


def squared(v):
    return v * v * np.sum(v)


def of_parameters(x):
    return np.sum(squared(x * 2.0) * squared(np.exp(x)))


def assigned(text):
    tree = ast.parse(text)
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


@pytest.mark.parametrize(
    "fn, names", [(moving, "place speed force d_place d_speed"), (in_a_dict, "u v d_v"), (of_parameters, "v v2")]
)
def test_names(fn, names):
    check_gradient(fn, (X,))
    assert assigned(ad.adjoint_source(fn, X)).issuperset(names.split())
