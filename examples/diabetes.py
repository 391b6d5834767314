"""Fit a Gaussian process to scikit-learn's diabetes data by its marginal likelihood.

`cho_factor` and `cho_solve` compute the likelihood; `value_and_grad` differentiates it with respect to a length scale
for each of the ten measurements, the size of the signal and that of the noise.

    python examples/diabetes.py [--patients 330] [--iterations 40]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib
import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import OptimizeResult, minimize
from sklearn.datasets import load_diabetes

from autodiff_sct import value_and_grad

matplotlib.use("Agg")
import matplotlib.pyplot as plt

OUT = Path("out")


def kernel(a: np.ndarray, b: np.ndarray, logs: np.ndarray) -> np.ndarray:
    """The covariance of the signal between each row of `a` and each of `b`."""
    scaled_a, scaled_b = a / np.exp(logs[2:]), b / np.exp(logs[2:])
    squares = np.sum(scaled_a**2, axis=1)[:, None] + np.sum(scaled_b**2, axis=1) - 2 * scaled_a @ scaled_b.T
    return np.exp(2 * logs[0]) * np.exp(-0.5 * squares)


def negative_log_likelihood(logs: np.ndarray, x: np.ndarray, y: np.ndarray) -> float:
    """Minus the logarithm of the marginal likelihood, for each patient; `logs` are of sizes and length scales."""
    covariance = kernel(x, x, logs) + np.exp(2 * logs[1]) * np.eye(len(y))
    factor = cho_factor(covariance, lower=True)
    half = np.sum(np.log(np.diag(factor[0])))
    return (0.5 * y @ cho_solve(factor, y) + half + 0.5 * len(y) * np.log(2 * np.pi)) / len(y)


def fit(x: np.ndarray, y: np.ndarray, iterations: int) -> OptimizeResult:
    """Maximise the marginal likelihood."""
    start = np.concatenate([np.log([1.0, 0.7]), np.full(x.shape[1], np.log(3.0))])
    objective = value_and_grad(negative_log_likelihood)
    return minimize(objective, start, args=(x, y), jac=True, method="L-BFGS-B", options={"maxiter": iterations})


def predict(logs: np.ndarray, x: np.ndarray, y: np.ndarray, new: np.ndarray) -> np.ndarray:
    """The mean of the process at new places."""
    factor = cho_factor(kernel(x, x, logs) + np.exp(2 * logs[1]) * np.eye(len(y)), lower=True)
    return kernel(new, x, logs) @ cho_solve(factor, y)


def draw(path: Path, names: list[str], logs: np.ndarray) -> None:
    """Save how much each measurement matters: the inverse of its length scale."""
    figure, axis = plt.subplots(figsize=(6, 3.2), layout="constrained")
    axis.bar(names, np.exp(-logs[2:]))
    axis.set(ylabel="1 / length scale")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
    plt.close(figure)


def main(argv: list[str] | None = None) -> float:
    """Run the example; return the part of the variance of held-out patients that is explained."""
    parser = argparse.ArgumentParser(description="Fit a Gaussian process to the diabetes data.")
    parser.add_argument("--patients", type=int, default=330, help="patients that are learned from")
    parser.add_argument("--iterations", type=int, default=40, help="at most so many steps of L-BFGS")
    options = parser.parse_args(argv)
    data = load_diabetes()
    order = np.random.default_rng(0).permutation(len(data.target))
    x, y = data.data[order] * np.sqrt(len(order)), data.target[order]
    y = (y - y.mean()) / y.std()
    learned, held = slice(0, options.patients), slice(options.patients, None)
    result = fit(x[learned], y[learned], options.iterations)
    predicted = predict(result.x, x[learned], y[learned], x[held])
    explained = 1 - float(np.mean((predicted - y[held]) ** 2) / np.var(y[held]))
    print(f"negative log likelihood a patient: {result.fun:.4f} after {result.nit} steps")
    print(f"explained variance of {len(y[held])} held-out patients: {explained:.3f}")
    draw(OUT / "diabetes.png", data.feature_names, result.x)
    print(f"saved {OUT / 'diabetes.png'}")
    return explained


if __name__ == "__main__":
    main()
