"""Script of a package's author: two modules with a rule of their own, checked, pickled and run in processes."""

import pathlib
import pickle
import sys
import tempfile
import textwrap
from concurrent.futures import ProcessPoolExecutor

import numpy as np

import autodiff_sct as ad

KERNELS = '''
"""Kernels of Gaussian processes."""
from functools import lru_cache

import numpy as np

import autodiff_sct as ad

_REGISTRY = {}


def register(name):
    def decorate(function):
        _REGISTRY[name] = function
        return function
    return decorate


@register("rbf")
def rbf(a, b, length):
    return np.exp(-0.5 * (a[:, None] - b) ** 2 / length**2)


@register("matern32")
def matern32(a, b, length):
    r = np.sqrt(3.0) * np.abs(a[:, None] - b) / length
    return (1.0 + r) * np.exp(-r)


def kernel(name):
    try:
        return _REGISTRY[name]
    except KeyError:
        raise ValueError(f"no kernel {name!r}; there are {sorted(_REGISTRY)}") from None


@lru_cache(maxsize=None)
def jitter(n):
    return 1e-8 * n


def legacy_softplus(x):
    """Stands for a function in C."""
    return np.frompyfunc(lambda v: float(np.logaddexp(0.0, v)), 1, 1)(x).astype(float)


@ad.rule.reverse(legacy_softplus)
def _(y, d, x):
    return d / (1.0 + np.exp(-x))
'''

PROCESS = '''
"""Regression by a Gaussian process."""
import warnings

import numpy as np

from . import kernels


class Process:
    def __init__(self, name="rbf", *, noise=0.1):
        self.kernel = kernels.kernel(name)
        self.noise = noise

    def log_likelihood(self, theta, x, y):
        length, noise = kernels.legacy_softplus(theta)
        x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
        if x.ndim != 1:
            raise ValueError("x has one axis")
        if len(x) > 10_000:
            warnings.warn("this will take a while", stacklevel=2)
        k = self.kernel(x, x, length)
        k[np.diag_indices_from(k)] += noise**2 + kernels.jitter(len(x))
        factor = np.linalg.cholesky(k)
        half = np.linalg.solve(factor, y)
        return -0.5 * half @ half - np.sum(np.log(np.diag(factor))) - 0.5 * len(x) * np.log(2 * np.pi)
'''


def work(batch):
    from mygp.process import Process

    theta, x, y = batch
    return ad.value_and_grad(Process("matern32").log_likelihood)(theta, x, y)


def main():
    folder = tempfile.mkdtemp()
    package = pathlib.Path(folder, "mygp")
    package.mkdir()
    (package / "__init__.py").write_text("from .process import Process\n")
    (package / "kernels.py").write_text(textwrap.dedent(KERNELS))
    (package / "process.py").write_text(textwrap.dedent(PROCESS))
    sys.path.insert(0, folder)
    from mygp import Process, kernels

    ad.check_rule(kernels.legacy_softplus, np.array([0.3, -1.2]))
    rng = np.random.default_rng(0)
    for size in (3, 40, 200):
        x = np.sort(rng.uniform(0, 5, size))
        y = np.sin(2 * x) + 0.1 * rng.standard_normal(size)
        for name in ("rbf", "matern32"):
            gp = Process(name)
            ad.check_grads(gp.log_likelihood, (np.array([0.4, -0.3]), x, y), order=1, modes="rev")
    gradient = ad.grad(gp.log_likelihood)
    again = pickle.loads(pickle.dumps(gradient))
    theta = np.array([0.4, -0.3])
    np.testing.assert_array_equal(again(theta, x, y), gradient(theta, x, y))

    batches = [(theta, x[i::2], y[i::2]) for i in range(2)]
    alone = [work(batch) for batch in batches]
    with ProcessPoolExecutor(2) as pool:
        together = list(pool.map(work, batches))
    for (v, g), (w, h) in zip(alone, together, strict=True):
        assert v == w
        np.testing.assert_array_equal(g, h)

    try:
        ad.grad(lambda t: Process("periodic").log_likelihood(t, x, y))(theta)
    except ValueError as error:
        assert "no kernel 'periodic'" in str(error)
    else:
        raise AssertionError("no error")
    print("the package works")


if __name__ == "__main__":
    main()
