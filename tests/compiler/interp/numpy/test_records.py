"""Structured arrays that a program makes: fields, elements, parts, and how the fields lie in memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.errors import AutodiffError

PARTICLE = np.dtype([("place", float, (2,)), ("speed", float, (2,)), ("mass", float), ("number", int)])


def fields(x):
    s = np.zeros(x.size, dtype=[("a", float), ("b", float)])
    s["a"] = x
    s["b"] = x**2
    return np.sum(s["a"] * s["b"])


def particles(x):
    p = np.zeros(3, PARTICLE)
    p["mass"] = 1 + x[:3] ** 2
    p["place"][:, 0] = x[:3]
    p["number"] = np.arange(3)
    for _ in range(4):
        p["speed"] += 0.1 * p["place"] * p["mass"][:, None]
        p["place"] += 0.1 * p["speed"] + 0.01 * p["number"][:, None]
    return np.sum(p["place"] ** 2)


def elements(x):
    p = np.empty(x.size, dtype=[("a", "f8"), ("b", "f8")])
    for i in range(x.size):
        p[i] = (x[i], x[i] ** 2)
    total = 0.0
    for r in p:
        total += r["a"] * r[1]
    for i in range(len(p)):
        p[i]["a"] = p[i]["b"] * 2
    chosen = p[p["a"] > 1]
    chosen["b"] = 3 * chosen["a"]
    view = p[1:3]
    view["b"] *= 2
    return total + np.sum(chosen["b"] ** 2) + p["b"].sum() + p.shape[0] * x[0] + p[0]["a"]


def of_items(x):
    s = np.array([(x[0], x[1]), (x[1] * 2, x[2])], dtype=[("a", float), ("b", float)])
    t = s.copy()
    t["a"] = 0.0
    s[0] = t[1]
    return np.sum(s["a"] * s["b"] + t["b"])


def several_fields(x):
    s = np.zeros((x.size,), [("a", "f8"), ("b", "f8")])
    s[:]["a"] = x
    s[["a", "b"]]["b"] = x * 2
    s["b"][2] += s["a"][1]
    return np.sum(s["a"] * s["b"]) + s.size


def one_of_the_run(x):
    s = np.zeros(x.size, dtype=np.dtype([("a", float), ("b", float)]))
    s["a"], s["b"] = x, x**2
    largest = s[np.argmax(s["a"])]
    s[np.argmin(x)] = s[0]
    return largest["a"] * largest["b"] + np.sum(s["a"] ** 3)


class Pendulums:
    dtype = np.dtype([("x", float), ("v", float)])

    def __init__(self, x):
        self.state = np.zeros(len(x), dtype=self.dtype)
        self.state["x"] = x

    def step(self, dt):
        s = self.state
        s["v"] -= dt * np.sin(s["x"])
        s["x"] += dt * s["v"]


def stepped(x):
    pendulums, energy = Pendulums(x), 0.0
    for k in range(5):
        pendulums.step(0.1 * (k + 1))
        energy += np.sum(pendulums.state["v"] ** 2 / 2 - np.cos(pendulums.state["x"])) * pendulums.state["x"][0]
    return energy


PROGRAMS = (fields, particles, elements, of_items, several_fields, one_of_the_run, stepped)


@pytest.mark.parametrize("size", [5, 40])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda fn: fn.__name__)
def test_records(program: Any, size: int) -> None:
    x = np.random.default_rng(0).normal(size=size) + 0.3
    value, _ = ad.value_and_grad(program)(x)
    assert value == program(x)
    ad.check_grads(program, (x,))


def shown(x):
    s = np.zeros(x.size, dtype=[("a", float), ("n", np.int32), ("b", float, 2)])
    s["a"] = x
    s["b"][:, 1] = s["a"]
    return np.sum(s["b"].reshape(-1) ** 2)


def test_fields_lie_as_those_of_numpy() -> None:
    with pytest.raises(AutodiffError, match="not aligned"):
        ad.grad(shown)(np.ones(3))


def test_an_array_that_leaves_the_program_is_refused() -> None:
    def returned(x):
        s = np.zeros(x.size, dtype=[("a", float)])
        s["a"] = x
        return s

    with pytest.raises(AutodiffError, match="a structured array"):
        ad.value_and_grad(returned)(np.ones(3))
