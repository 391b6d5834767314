"""Find the temperature that a plate had at the start from the one that it has at the end.

The plate follows the heat equation, stepped by the explicit five-point stencil, in place, as one writes it in plain
NumPy.  `value_and_grad` differentiates the loop, and `scipy.optimize.minimize` does the rest.

    python examples/heat.py [--steps 40] [--size 48]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib
import numpy as np
from scipy.optimize import OptimizeResult, minimize

from autodiff_sct import value_and_grad

matplotlib.use("Agg")
import matplotlib.pyplot as plt

OUT = Path("out")


def diffuse(plate: np.ndarray, steps: int, rate: float = 0.2) -> np.ndarray:
    """The plate after `steps` steps; its rim stays as it is. Stable for rates up to 0.25."""
    plate = plate.copy()
    for _ in range(steps):
        inside = plate[1:-1, 1:-1]
        inside += rate * (plate[:-2, 1:-1] + plate[2:, 1:-1] + plate[1:-1, :-2] + plate[1:-1, 2:] - 4 * inside)
    return plate


def misfit(start: np.ndarray, final: np.ndarray, steps: int) -> float:
    """Half the summed square of what `start` gets wrong at the end; `start` is flat, as SciPy likes it."""
    error = diffuse(start.reshape(final.shape), steps) - final
    return 0.5 * np.sum(error**2)


def true_start(size: int) -> np.ndarray:
    """A warm ring, a hot bar and a cold spot on a plate at zero degrees."""
    y, x = np.mgrid[-1 : 1 : size * 1j, -1 : 1 : size * 1j]
    plate = np.zeros((size, size))
    plate[np.abs(np.hypot(x + 0.2, y + 0.2) - 0.45) < 0.12] = 60.0
    plate[(np.abs(x - 0.62) < 0.1) & (np.abs(y) < 0.7)] = 100.0
    plate[np.hypot(x + 0.2, y + 0.2) < 0.15] = -40.0
    return plate


def recover(final: np.ndarray, steps: int) -> OptimizeResult:
    """Minimise the misfit, starting from a plate at zero degrees."""
    guess = np.zeros(final.size)
    options = {"maxiter": 200, "ftol": 1e-14, "gtol": 1e-9}
    return minimize(value_and_grad(misfit), guess, args=(final, steps), jac=True, method="L-BFGS-B", options=options)


def draw(path: Path, **plates: np.ndarray) -> None:
    """Save the plates side by side on one colour scale."""
    figure, axes = plt.subplots(1, len(plates), figsize=(3 * len(plates) + 1, 3.2), layout="constrained")
    for axis, (title, plate) in zip(axes, plates.items()):
        image = axis.imshow(plate, cmap="coolwarm", vmin=-100, vmax=100)
        axis.set_title(title.replace("_", " "))
        axis.set_axis_off()
    figure.colorbar(image, ax=axes, label="temperature (degrees)")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
    plt.close(figure)


def main(argv: list[str] | None = None) -> float:
    """Run the example; return by how many times the misfit fell."""
    parser = argparse.ArgumentParser(description="Recover the start of a diffusion from its end.")
    parser.add_argument("--steps", type=int, default=40, help="time steps of the simulation")
    parser.add_argument("--size", type=int, default=48, help="points along an edge of the plate")
    options = parser.parse_args(argv)

    start = true_start(options.size)
    final = diffuse(start, options.steps)
    before = misfit(np.zeros(final.size), final, options.steps)
    result = recover(final, options.steps)
    found = result.x.reshape(final.shape)
    fell = before / result.fun
    print(f"misfit {before:.3e} -> {result.fun:.3e} in {result.nfev} evaluations of value and gradient")
    print(f"the misfit fell {fell:,.0f} times")
    print(f"error of the found start: {np.sqrt(np.mean((found - start) ** 2)):.2f} degrees root mean square")
    assert fell >= 1000, "the misfit should fall at least 1,000 times"
    draw(OUT / "heat.png", true_start=start, observed_end=final, found_start=found)
    print(f"saved {OUT / 'heat.png'}")
    return float(fell)


if __name__ == "__main__":
    main()
