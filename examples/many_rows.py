"""Fit a logistic regression to ten million rows that no worker holds at once.

The rows are in blocks, and a worker gets the number of a block: it reads the rows (here it draws them, from a generator
that the number seeds) and returns the value and the gradient of its part of the loss.  `ad.parallel.map_grad` adds them
in the order of the blocks, so the fit has the same bits for every executor and every number of workers.

    python examples/many_rows.py                                 # here, one block after the other
    python examples/many_rows.py --executor dask --workers 2     # a cluster of dask on this machine
    mpiexec -n 3 python -m mpi4py.futures examples/many_rows.py --executor mpi      # one process hands out, two work
"""

from __future__ import annotations

import argparse
import contextlib
import os
import time
from collections.abc import Iterator
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # a worker has one processor

import numpy as np
from scipy.optimize import minimize

import autodiff_sct as ad

FEATURES = 16
TRUE = np.linspace(-1.0, 1.0, FEATURES)


def loss(w: np.ndarray, x: np.ndarray, y: np.ndarray) -> float:
    """The negative log-likelihood of labels `y`, zeros and ones, for rows `x`."""
    z = x @ w
    return np.sum(np.logaddexp(0.0, z) - y * z)


gradient = ad.value_and_grad(loss)


def read(block: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """The rows of a block and their labels."""
    rng = np.random.default_rng([2026, block])
    x = rng.standard_normal((count, FEATURES))
    return x, (rng.random(count) < 1 / (1 + np.exp(-(x @ TRUE)))).astype(float)


def of_block(w: np.ndarray, block: int, count: int) -> tuple[float, np.ndarray]:
    """Value and gradient of a block's part of the loss: what runs in a worker."""
    return gradient(w, *read(block, count))


def mean_loss(w: np.ndarray, rows: int, count: int, executor: Any) -> tuple[float, np.ndarray]:
    """Value and gradient of the mean loss of all rows."""
    sizes = [min(count, rows - start) for start in range(0, rows, count)]
    value, d_w = ad.parallel.map_grad(of_block, [(w, k, size) for k, size in enumerate(sizes)], executor)
    return value / rows, d_w / rows


@contextlib.contextmanager
def executor_of(kind: str, workers: int) -> Iterator[Any]:
    """The executor of a kind, with its workers running."""
    if kind == "dask":
        from dask.distributed import Client, LocalCluster

        with LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as cluster:
            with Client(cluster) as client:
                client.wait_for_workers(workers)
                yield client
    elif kind == "mpi":
        from mpi4py.futures import MPIPoolExecutor

        with MPIPoolExecutor() as pool:  # its workers are what `mpiexec` has started
            yield pool
    elif kind == "processes":
        from concurrent.futures import ProcessPoolExecutor
        from multiprocessing import get_context

        with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
            yield pool
    else:
        yield None


def main(arguments: list[str] | None = None) -> np.ndarray:
    """Fit, print how far the weights are from the true ones, and return them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--block", type=int, default=750_000, help="rows of a block")
    parser.add_argument("--iterations", type=int, default=8)
    parser.add_argument("--executor", choices=("here", "processes", "dask", "mpi"), default="here")
    parser.add_argument("--workers", type=int, default=2)
    chosen = parser.parse_args(arguments)
    with executor_of(chosen.executor, chosen.workers) as executor:
        started = time.perf_counter()
        settings = {"maxiter": chosen.iterations}
        given = (chosen.rows, chosen.block, executor)
        fit = minimize(mean_loss, np.zeros(FEATURES), given, "L-BFGS-B", jac=True, options=settings)
        seconds = time.perf_counter() - started
    worst = np.max(np.abs(fit.x - TRUE))
    print(f"{chosen.rows:,} rows, {fit.nfev} gradients in {seconds:.1f} s: weights within {worst:.4f} of the true ones")
    print(f"loss {fit.fun!r}")
    return np.asarray(fit.x)


if __name__ == "__main__":
    main()
