"""Dicts that are made of others, whose keys only the run knows."""

import numpy as np
import pytest

import autodiff_sct as ad
from tests.compiler.checked import V, check_gradient, check_tangent, names, registrar

CASES: list = []
case = registrar(CASES)


@case(V)
def with_another_key(v):
    table = {}
    for k, x in enumerate(v):
        table[f"k{k}"] = x * k
    more = {**table, "z": v[0], "k1": v[2]}
    return sum(more.values()) + len(more) * more["k3"] * table["k1"]


@case(V)
def numbers_as_keys(v):
    table = dict(enumerate(v))
    more = {**table, 7: v[0], 1: v[2] * 2}
    first = {1: v[3], **more}
    return sum(k * x for k, x in more.items()) + first[1] * first[0]


@case(V)
def arrays_that_change_in_one_of_them(v):
    table = {k: x * v for k, x in enumerate(v)}
    more = {**table}
    more[0] = more[0] * 2
    more[1] += 1
    return sum(x.sum() for x in more.values()) + (table[0] * table[1]).sum()


@case(V)
def step_by_step(v):
    table = {"a": 1.0}
    for x in v:
        table = {**table, int(x * 10): x, "a": table["a"] * x}
    return table["a"] + sum(table.values())


@case(V)
def settings_over_defaults(v):
    defaults = dict(zip("abcd", v))
    given = {key: x * 2 for key, x in zip("bd", v)}
    both = {**defaults, **given}
    return both["a"] * both["b"] + both["d"] + sum(defaults.values()) * 0.1


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradients(fn, args):
    check_gradient(fn, args)


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_tangents(fn, args):
    check_tangent(fn, args)


def total_of_values(p):
    s = 0.0
    for v in p.values():
        s = s + np.sum(v**2)
    return s


def total_by_key(p):
    s = 0.0
    for name in p:
        if not name.startswith("bias"):
            s = s + np.sum(p[name] ** 2)
    return s


def scaled_entries(p):
    q = {}
    for name, v in p.items():
        q[name] = v * 2.0
    return sum(np.sum(v**2) for v in q.values()) / 4.0


@pytest.mark.parametrize("count", [64, 65, 200])
@pytest.mark.parametrize("fn", [total_of_values, total_by_key, scaled_entries])
def test_loops_over_many_entries(fn, count):
    p = {f"weight{k}": np.full(2, k + 1.0) for k in range(count)}
    value, gradient = ad.value_and_grad(fn)(p)
    assert value == fn(p)
    assert list(gradient) == list(p)
    for name, v in p.items():
        np.testing.assert_allclose(gradient[name], 2 * v)


def test_loops_over_more_entries_are_refused():
    with pytest.raises(ad.errors.UnsupportedSyntax, match="513 objects"):
        ad.grad(total_of_values)({str(k): np.ones(1) for k in range(513)})
