"""Find the conductances in a grid of resistors from the voltages of its nodes.

`scipy.sparse.linalg.spsolve` solves Kirchhoff's equations, a Laplacian of the grid with 10,000 unknowns, and
`value_and_grad` differentiates the misfit of the voltages with respect to the conductance of every node, for two
injected currents.  The conductances that are looked for are the brightness of a photograph of scikit-learn's.

    python examples/resistors.py [--size 100] [--iterations 60]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib
import numpy as np
from scipy.optimize import OptimizeResult, minimize
from scipy.sparse import csr_array
from scipy.sparse.linalg import spsolve
from sklearn.datasets import load_sample_image

from autodiff_sct import value_and_grad

matplotlib.use("Agg")
import matplotlib.pyplot as plt

OUT = Path("out")
GROUND = 0.01  # the conductance from every node to the ground


def edges(size: int) -> tuple[np.ndarray, np.ndarray]:
    """The two ends of each resistor."""
    nodes = np.arange(size * size).reshape(size, size)
    first = np.concatenate([nodes[:, :-1].ravel(), nodes[:-1].ravel()])
    second = np.concatenate([nodes[:, 1:].ravel(), nodes[1:].ravel()])
    return first, second


def voltages(logs: np.ndarray, ends: tuple[np.ndarray, np.ndarray], injected: np.ndarray) -> np.ndarray:
    """The voltage of each node; a resistor conducts as the mean of its ends, whose logarithms are `logs`."""
    first, second = ends
    count = len(logs)
    conductance = np.exp(0.5 * (logs[first] + logs[second]))
    diagonal = np.arange(count)
    rows = np.concatenate([first, second, first, second, diagonal])
    columns = np.concatenate([second, first, first, second, diagonal])
    ground = np.full(count, GROUND)
    data = np.concatenate([-conductance, -conductance, conductance, conductance, ground])
    return spsolve(csr_array((data, (rows, columns)), shape=(count, count)), injected)


def misfit(logs, ends, injected, measured, smoothness):
    """Half the summed square of what the voltages get wrong, and a penalty on differences of neighbours."""
    error = 0.0
    for k in range(len(injected)):
        error += np.sum((voltages(logs, ends, injected[k]) - measured[k]) ** 2)
    return 0.5 * error + 0.5 * smoothness * np.sum((logs[ends[0]] - logs[ends[1]]) ** 2)


def photograph(size: int) -> np.ndarray:
    """The brightness of a flower, between -1 and 1, on a grid."""
    image = load_sample_image("flower.jpg").mean(axis=2)
    rows, columns = (np.linspace(0, n - 1, size).astype(int) for n in image.shape)
    return image[np.ix_(rows, columns)] / 127.5 - 1


def recover(size: int, ends: tuple[np.ndarray, np.ndarray], given: tuple, iterations: int) -> OptimizeResult:
    """Minimise the misfit, from a uniform grid."""
    options = {"maxiter": iterations, "ftol": 1e-15, "gtol": 1e-12}
    arguments = (ends, *given)
    start = np.zeros(size * size)
    return minimize(value_and_grad(misfit), start, args=arguments, jac=True, method="L-BFGS-B", options=options)


def draw(path: Path, **grids: np.ndarray) -> None:
    """Save grids side by side."""
    figure, axes = plt.subplots(1, len(grids), figsize=(3 * len(grids), 3.2), layout="constrained")
    for axis, (title, grid) in zip(axes, grids.items()):
        axis.imshow(grid, cmap="gray")
        axis.set_title(title.replace("_", " "))
        axis.set_axis_off()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
    plt.close(figure)


def main(argv: list[str] | None = None) -> float:
    """Run the example; return the correlation of the found conductances with the true ones."""
    parser = argparse.ArgumentParser(description="Recover the conductances of a grid from its voltages.")
    parser.add_argument("--size", type=int, default=100, help="nodes along an edge of the grid")
    parser.add_argument("--iterations", type=int, default=60, help="at most so many steps of L-BFGS")
    options = parser.parse_args(argv)
    size, ends, true = options.size, edges(options.size), photograph(options.size)
    x = np.linspace(-1, 1, size)
    injected = np.stack([np.outer(np.ones(size), x).ravel(), np.outer(x, np.ones(size)).ravel()])
    measured = np.stack([voltages(true.ravel(), ends, i) for i in injected])
    given = (injected, measured, 1e-3)
    before = misfit(np.zeros(size * size), ends, *given)
    result = recover(size, ends, given, options.iterations)
    agreement = float(np.corrcoef(result.x, true.ravel())[0, 1])
    print(f"misfit {before:.3e} -> {result.fun:.3e} in {result.nfev} evaluations of value and gradient")
    print(f"correlation with the true conductances of {size * size:,} nodes: {agreement:.3f}")
    draw(OUT / "resistors.png", true_conductances=true, found=result.x.reshape(size, size))
    print(f"saved {OUT / 'resistors.png'}")
    return agreement


if __name__ == "__main__":
    main()
