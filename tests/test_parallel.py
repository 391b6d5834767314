"""`parallel.map_grad`: the same bits for every executor and every number of workers."""

import linecache
import pickle
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from typing import NamedTuple

import numpy as np
import pytest
from scipy import sparse

import autodiff_sct as ad

pytestmark = pytest.mark.once
RNG = np.random.default_rng(0)
W, X = RNG.normal(size=5), RNG.normal(size=(60, 5)) * 10.0 ** RNG.integers(-8, 8, size=(60, 1))
BATCHES = [(W, X[k : k + 7]) for k in range(0, 60, 7)]


def loss(w, x):
    return np.sum(np.sin(x @ w) ** 2)


def expected(g):
    results = [g(*batch) for batch in BATCHES]
    value, gradient = results[0]
    for v, d in results[1:]:
        value, gradient = value + v, gradient + d
    return value, gradient


@pytest.mark.parametrize("workers", [1, 2, 5])
@pytest.mark.parametrize("ahead", [1, 3, None])
def test_same_bits_with_threads(workers, ahead):
    g = ad.value_and_grad(loss)
    with ThreadPoolExecutor(workers) as pool:
        value, gradient = ad.parallel.map_grad(g, iter(BATCHES), pool, ahead=ahead)
    assert value == expected(g)[0] and np.array_equal(gradient, expected(g)[1])


def test_same_bits_with_processes():
    scale = 2.0
    g = ad.value_and_grad(lambda w, x: scale * loss(w, x))
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        value, gradient = ad.parallel.map_grad(g, BATCHES, pool)
    assert value == expected(g)[0] and np.array_equal(gradient, expected(g)[1])


def test_a_function_travels_with_the_text_that_it_has_now(tmp_path, monkeypatch):
    """A file of the same name, read by tracebacks before, may have changed since."""
    monkeypatch.chdir(tmp_path)
    for factor in (2.0, 3.0):
        text = f"def scaled(x):\n    return {factor} * x\n" + "# longer\n" * int(factor)
        (tmp_path / "travels.py").write_text(text)
        names = {"__name__": "travels"}
        exec(compile(text, "travels.py", "exec"), names)
        g = pickle.loads(pickle.dumps(ad.grad(names["scaled"])))
        assert g(1.0) == factor
        linecache.getlines("travels.py")


class Parameters(NamedTuple):
    w: np.ndarray
    name: str


def test_containers():
    """Numbers and arrays are added, other things stay; a batch that is no tuple is the only argument."""

    def results(x):
        return {"a": [x.sum(), None], "b": Parameters(x, "layer"), "s": sparse.csr_array(np.diag(x))}

    total = ad.parallel.map_grad(results, [X[0], X[1], X[2]])
    assert total["a"][0] == X[0].sum() + X[1].sum() + X[2].sum() and total["a"][1] is None
    assert total["b"].name == "layer" and np.array_equal(total["b"].w, X[0] + X[1] + X[2])
    assert np.array_equal(total["s"].toarray(), np.diag(X[0] + X[1] + X[2]))


def test_errors_come_out():
    def failing(w, x):
        if x[0, 0] == X[14, 0]:
            raise ValueError("the third batch")
        return np.sum(w)

    with ThreadPoolExecutor(2) as pool, pytest.raises(ValueError, match="the third batch"):
        ad.parallel.map_grad(ad.grad(failing), BATCHES, pool)


def test_no_batches():
    with pytest.raises(ad.errors.ArgumentValueError, match="no batches"):
        ad.parallel.map_grad(ad.grad(loss), [])
