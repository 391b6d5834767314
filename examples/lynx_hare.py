"""Fit the Lotka-Volterra equations to 21 years of lynx and hare pelts.

`scipy.integrate.solve_ivp` solves the equations; `value_and_grad` differentiates the misfit of its solution, with
respect to the rates and to the populations at the start.

The record is the Hudson's Bay Company's, in thousands of pelts, as P. Howard tabulated it ("Modeling Basics", lecture
notes, Texas A&M University 2009) from E. P. Odum, "Fundamentals of Ecology" (Saunders, 1953).

    python examples/lynx_hare.py [--iterations 60]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib
import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import OptimizeResult, minimize

from autodiff_sct import value_and_grad

matplotlib.use("Agg")
import matplotlib.pyplot as plt

OUT = Path("out")
YEARS = np.arange(1900.0, 1921.0)
HARES = np.array(
    [30.0, 47.2, 70.2, 77.4, 36.3, 20.6, 18.1, 21.4, 22.0, 25.4, 27.1]
    + [40.3, 57.0, 76.6, 52.3, 19.5, 11.2, 7.6, 14.6, 16.2, 24.7]
)
LYNXES = np.array(
    [4.0, 6.1, 9.8, 35.2, 59.4, 41.7, 19.0, 13.0, 8.3, 9.1, 7.4]
    + [8.0, 12.3, 19.5, 45.7, 51.1, 29.7, 15.8, 9.7, 10.1, 8.6]
)
GUESS = np.log([0.5, 0.025, 0.9, 0.025, 30.0, 5.0])  # of the four rates, and of the hares and lynxes of 1900


def populations(logs: np.ndarray) -> np.ndarray:
    """The hares and the lynxes of each year, one population a row."""
    birth, hunted, death, growth = np.exp(logs[:4])

    def rates(t: float, y: np.ndarray) -> np.ndarray:
        hares, lynxes = y
        return np.array([hares * (birth - hunted * lynxes), lynxes * (growth * hares - death)])

    return solve_ivp(rates, (YEARS[0], YEARS[-1]), np.exp(logs[4:]), t_eval=YEARS, rtol=1e-6, atol=1e-8).y


def misfit(logs: np.ndarray) -> float:
    """The mean square of what the logarithms of the populations get wrong."""
    hares, lynxes = populations(logs)
    return np.mean((np.log(hares) - np.log(HARES)) ** 2 + (np.log(lynxes) - np.log(LYNXES)) ** 2) / 2


def fit(iterations: int) -> OptimizeResult:
    """Minimise the misfit."""
    return minimize(value_and_grad(misfit), GUESS, jac=True, method="L-BFGS-B", options={"maxiter": iterations})


def draw(path: Path, logs: np.ndarray) -> None:
    """Save the record and the fit."""
    figure, axis = plt.subplots(figsize=(7, 3.4), layout="constrained")
    for name, record, line, colour in zip(("hares", "lynxes"), (HARES, LYNXES), populations(logs), ("C0", "C3")):
        axis.plot(YEARS, record, "o", color=colour, label=f"{name}, recorded")
        axis.plot(YEARS, line, color=colour, label=f"{name}, fitted")
    axis.set(xlabel="year", ylabel="thousands of pelts")
    axis.legend(ncols=2)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
    plt.close(figure)


def main(argv: list[str] | None = None) -> float:
    """Run the example; return the spread of the record around the fit, as a factor's logarithm."""
    parser = argparse.ArgumentParser(description="Fit the Lotka-Volterra equations to a record of pelts.")
    parser.add_argument("--iterations", type=int, default=60, help="at most so many steps of L-BFGS")
    options = parser.parse_args(argv)
    result = fit(options.iterations)
    birth, hunted, death, growth = np.exp(result.x[:4])
    print(f"hares: born at {birth:.3f} a year, hunted at {hunted:.4f} a year and thousand lynxes")
    print(f"lynxes: die at {death:.3f} a year, grow at {growth:.4f} a year and thousand hares")
    spread = float(np.sqrt(result.fun))
    print(f"spread around the fit: {spread:.3f} (before: {np.sqrt(misfit(GUESS)):.3f})")
    draw(OUT / "lynx_hare.png", result.x)
    print(f"saved {OUT / 'lynx_hare.png'}")
    return spread


if __name__ == "__main__":
    main()
