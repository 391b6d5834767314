"""`vmap` and `per_example_grad`: the program of one example, run once for a batch."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import special

import autodiff_sct as ad
from autodiff_sct import per_example_grad, vmap
from autodiff_sct.core import thresholds
from autodiff_sct.errors import ArgumentTypeError, ArgumentValueError
from tests.laws.programs import Program, load
from tests.laws.test_programs import PROGRAMS, differentiable

RNG = np.random.default_rng(3)
W = RNG.normal(size=(4, 3))


def steps(w: Any, x: Any, y: Any) -> Any:
    h = np.tanh(w @ x)
    s = 0.0
    for i in range(3):
        s = s + h[i] * y
    h[0] = s
    z = np.zeros(4)
    z[1:] = h[:3] ** 2
    return np.sum((h - y) ** 2) + z.sum() + np.linalg.norm(x)


def branches(w: Any, x: Any, y: Any) -> Any:
    if x[0] > 0:
        return np.sum(w @ x) * y
    return np.sum(np.sin(x)) + np.max(w)


def cross_entropy(w: Any, x: Any, y: Any) -> Any:
    h = np.maximum(w @ x, 0)
    return y * (np.log(np.sum(np.exp(h - h.max()))) - h[1])


def picks(w: Any, x: Any, y: Any) -> Any:
    k = np.argmax(w @ x)
    return (w @ x)[k] ** 2 + x[[0, 2]].sum() * math.exp(-(float(y) ** 2))


def factors(w: Any, x: Any, y: Any) -> Any:
    a = np.outer(x, x) + (3 + y * y) * np.eye(3)
    return np.sum(np.linalg.solve(a, x)) + np.linalg.slogdet(a)[1] + np.sum(np.linalg.cholesky(a) @ x)


FUNCTIONS = [steps, branches, cross_entropy, picks, factors]
MADE = {
    "value": lambda f: f,
    "gradient": lambda f: ad.grad(f, (0, 1)),
    "jacfwd": lambda f: ad.jacfwd(f, 1),
    "hessian": lambda f: ad.hessian(f, 1),
}


@pytest.mark.parametrize("made", MADE)
@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_sizes(f: Any, made: str) -> None:
    fn = MADE[made](f)
    batched = vmap(fn, (None, 0, 0))
    for size in (1, 3, 130, 1000):
        x, y = RNG.normal(size=(size, 3)), RNG.normal(size=size)
        got = batched(W, x, y)
        assert batched.reason is None
        for k in {0, size // 2, size - 1}:
            wanted = fn(W, x[k], y[k])
            for g, w in zip(parts_of(got), parts_of(wanted), strict=True):
                assert g.dtype == w.dtype and g.shape == (size, *np.shape(w))
                np.testing.assert_allclose(g[k], w, rtol=1e-9, atol=1e-11)


def parts_of(value: Any) -> Any:
    return value if isinstance(value, (tuple, list)) else (value,)


@pytest.fixture(scope="module", autouse=True)
def _functions(tmp_path_factory: pytest.TempPathFactory) -> None:
    load(PROGRAMS, tmp_path_factory.mktemp("programs") / "programs_of_batches.py")


@pytest.mark.parametrize("p", PROGRAMS[::30], ids=lambda p: str(p.item))
@pytest.mark.filterwarnings("ignore")
def test_rules(p: Program) -> None:
    """Functions of the table, and their gradients, in every example of a batch."""
    args = [x[()] if isinstance(x, np.ndarray) and not x.ndim else x for x in p.args]
    places = differentiable(p, p.function(*p.args))[0]
    for fn in [p.function, *([ad.grad(p.function, places[0])] if places else [])]:
        examples = [[x * np.asarray(c, np.asarray(x).dtype) for x in args] for c in (1.0, 1.03, 0.97)]
        wanted = [fn(*example) for example in examples]
        got = vmap(fn)(*[np.stack(column) for column in zip(*examples, strict=True)])
        one = 1e-3 if np.asarray(args[0]).dtype in (np.float32, np.complex64) else 1e-8
        for k, single in enumerate(wanted):
            for g, w in zip(parts_of(got), parts_of(single), strict=True):
                np.testing.assert_allclose(g[k], w, rtol=one, atol=one * np.max(np.abs(w), initial=1.0))


def test_axes() -> None:
    x = RNG.normal(size=(3, 7))
    got = vmap(lambda x, w: (w @ x, x), (1, None), 1)(x, W)
    np.testing.assert_allclose(got[0], W @ x)
    np.testing.assert_array_equal(got[1], x)
    np.testing.assert_allclose(vmap(lambda x: x.sum(), -1)(x), x.sum(0))


def test_containers_and_shared_results() -> None:
    got = vmap(lambda p, x: {"y": p["w"] @ x, "rest": (p["w"], 1.5)}, (None, 0))({"w": W}, np.ones((2, 3)))
    assert got["y"].shape == (2, 4) and got["rest"][0].shape == (2, 4, 3)
    np.testing.assert_array_equal(got["rest"][1], [1.5, 1.5])
    got["rest"][0][0] = 0.0
    assert np.all(got["rest"][0][1] == W)
    np.testing.assert_array_equal(vmap(lambda d: d["a"] * d["b"].sum())({"a": np.ones(3), "b": np.ones((3, 2))}), 2.0)


def test_arguments_stay() -> None:
    def writes(x: Any) -> Any:
        x[0] = 5.0
        return x * 2

    x = np.ones((3, 2))
    np.testing.assert_array_equal(vmap(writes)(x), np.tile([10.0, 2.0], (3, 1)))
    assert np.all(x == 1.0)


def test_effects_run_example_by_example(capsys: Any) -> None:
    def prints(x: Any) -> Any:
        print(x[0])
        return x.sum()

    batched = vmap(prints)
    batched(np.array([[1.0, 2.0], [3.0, 4.0]]))
    assert capsys.readouterr().out == "1.0\n3.0\n" and batched.reason is not None


def test_examples_part_ways() -> None:
    def count(x: Any) -> Any:
        n = 0
        while x.sum() > 1:
            x, n = x / 2, n + 1
        return x * n

    x = np.abs(RNG.normal(size=(40, 3))) * 4
    batched = vmap(count)
    np.testing.assert_allclose(batched(x), [count(row) for row in x])
    assert batched.reason is None


def test_functions_of_scipy() -> None:
    def f(x: Any) -> Any:
        return special.logsumexp(x) + special.gammaln(x[0] ** 2)

    x = RNG.normal(size=(5, 3))
    np.testing.assert_allclose(vmap(ad.grad(f))(x), [ad.grad(f)(row) for row in x])


def test_an_error_of_the_program_is_its_own() -> None:
    with pytest.raises(np.linalg.LinAlgError):
        vmap(np.linalg.inv)(np.zeros((2, 3, 3)))


def pair(w: Any, x: Any) -> Any:
    return np.tanh(w @ x), x.sum()


OUTSIDE = vmap(pair, (None, 0))


@pytest.mark.parametrize("size", [1, 3, 130])
def test_inside_differentiated_programs(size: int) -> None:
    x = RNG.normal(size=(size, 3))

    def f(w: Any, x: Any) -> Any:
        return np.sum(np.tanh(w @ x) ** 2)

    def outside(w: Any, x: Any) -> Any:
        first, second = OUTSIDE(w, x)
        return np.sum(first**2 * second[:, None])

    def captured(w: Any, x: Any) -> Any:
        return np.sum(vmap(lambda row: f(w, row))(x) ** 2)

    def of_gradients(w: Any, x: Any) -> Any:
        return np.sum(vmap(ad.grad(f), (None, 1))(w, x.T) ** 2)

    for program in (outside, captured, of_gradients):
        ad.check_grads(program, (W, x), 2 if size == 3 else 1)


def test_per_example_gradients() -> None:
    def loss(p: Any, x: Any, y: Any) -> Any:
        return (p["w"] @ x - y) ** 2

    x, y = RNG.normal(size=(6, 3)), RNG.normal(size=6)
    got = per_example_grad(loss)({"w": W[0]}, x, y)["w"]
    np.testing.assert_allclose(got, 2 * (x @ W[0] - y)[:, None] * x)
    by_both = per_example_grad(lambda a, b, x: a @ x * b, (0, 1))(W[0], 2.0, x)
    np.testing.assert_allclose(by_both[1], x @ W[0])


@pytest.mark.parametrize(
    ("make", "kind", "message"),
    [
        (lambda x: vmap(np.sum, (0,))(x, x), ArgumentValueError, "for 1 arguments, but 2 were given"),
        (lambda x: vmap(np.add)(x, x[:2]), ArgumentValueError, "differ in the number of examples: 3 in argument 0"),
        (lambda x: vmap(np.sum, None)(x), ArgumentValueError, "no argument has an axis of examples"),
        (lambda x: vmap(np.sum)(x[:0]), ArgumentValueError, "the batch has no example"),
        (lambda x: vmap(np.sum, 2)(x), ArgumentValueError, "which has no axis 2"),
        (lambda x: vmap(np.add)(x, 1.0), ArgumentValueError, "give it None in in_axes"),
        (lambda x: vmap(np.sum, 0, 3)(x), ArgumentValueError, "out_axes is 3"),
        (lambda x: vmap(3), ArgumentTypeError, "not 3"),
        (lambda x: vmap(np.sum, "a"), ArgumentTypeError, "in_axes is an int, None"),
    ],
)
def test_wrong_arguments(make: Any, kind: Any, message: str) -> None:
    with pytest.raises(kind, match=message):
        make(np.ones((3, 2)))


def doubled(x: Any) -> Any:
    while np.sum(x) < 1.0:
        x = x * 2.0
    return np.sum(x**2)


@pytest.mark.parametrize("count", [1, 3, 130, 1000])
@pytest.mark.parametrize("most", [1, 8, 10**9])
def test_as_many_ways_as_are_allowed(monkeypatch: Any, most: int, count: int) -> None:
    monkeypatch.setattr(thresholds, "WAYS_OF_A_BATCH", most)
    monkeypatch.setattr(thresholds, "PARTS_OF_A_BATCH", 2 * most)
    x = np.asfortranarray(np.random.default_rng(count).uniform(0.01, 1.0, (count, 3)))
    np.testing.assert_allclose(vmap(doubled)(x), [doubled(row) for row in x], 1e-13)
