"""Solve Burgers' equation with a network that knows the equation: u_t + u u_x = nu u_xx.

The loss is the equation's residual at random places, with derivatives of the network with respect to its inputs, plus
the errors of the initial and the boundary values.  L-BFGS of SciPy minimises it; the gradient with respect to the
weights differentiates through the derivatives.  The result is compared with the Cole-Hopf solution.

    python examples/burgers.py [--iterations N] [--places N] [FOLDER]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib
import numpy as np
from scipy.optimize import minimize
from tqdm import tqdm

import autodiff_sct as ms
from autodiff_sct import Tensor, nn, ops

matplotlib.use("Agg")
import matplotlib.pyplot as plt

VISCOSITY = 0.05 / np.pi
WIDTH, LAYERS = 20, 3


class Network(nn.Cell):
    """The solution u(x, t): dense layers with tanh between them."""

    def __init__(self) -> None:
        super().__init__()
        settings = {"weight_init": "xavier_normal", "dtype": ms.float64}
        hidden = [nn.Dense(2 if k == 0 else WIDTH, WIDTH, activation="tanh", **settings) for k in range(LAYERS)]
        self.layers = nn.SequentialCell(*hidden, nn.Dense(WIDTH, 1, **settings))

    def construct(self, x, t):
        return self.layers(ops.stack((x, t), axis=1))[:, 0]


class Burgers(nn.Cell):
    """The loss: the mean squares of the residual, and of the errors of the values that are known."""

    def __init__(self, net: Network) -> None:
        super().__init__()
        self.net = net

    def construct(self, x, t, x_known, t_known, u_known):
        u_x, u_t = ms.grad(self.net, (0, 1))(x, t)
        u_xx = ms.grad(lambda x: ms.grad(self.net)(x, t))(x)
        residual = u_t + self.net(x, t) * u_x - VISCOSITY * u_xx
        error = self.net(x_known, t_known) - u_known
        return ops.mean(residual**2) + ops.mean(error**2)


def places(count: int) -> list[Tensor]:
    """Random places of the residual, and places of the initial and the boundary values with these values."""
    rng = np.random.default_rng(0)
    x, t = rng.uniform(-1, 1, count), rng.uniform(0, 1, count)
    x_start, t_edge = np.linspace(-1, 1, 64), np.linspace(0, 1, 32)
    x_known = np.concatenate([x_start, -np.ones(32), np.ones(32)])
    t_known = np.concatenate([np.zeros(64), t_edge, t_edge])
    return [Tensor(v) for v in (x, t, x_known, t_known, np.where(t_known == 0, -np.sin(np.pi * x_known), 0))]


def train(net: Network, count: int, iterations: int) -> list[float]:
    """Minimise the loss; return its value after every iteration."""
    weights = net.trainable_params()
    cuts = np.cumsum([p.size for p in weights])[:-1]
    inputs = places(count)
    step = ms.value_and_grad(Burgers(net), None, weights)
    history: list[float] = []
    bar = tqdm(total=iterations, desc="training", unit="iteration")

    def put(flat: np.ndarray) -> None:
        for parameter, part in zip(weights, np.split(flat, cuts)):
            parameter.set_data(part.reshape(parameter.shape))

    def loss(flat: np.ndarray) -> tuple[float, np.ndarray]:
        put(flat)
        value, gradients = step(*inputs)
        return float(value), np.concatenate([g.asnumpy().ravel() for g in gradients])

    def report(intermediate_result) -> None:
        history.append(float(intermediate_result.fun))
        bar.update()
        bar.set_postfix(loss=f"{history[-1]:.2e}")

    start = np.concatenate([p.asnumpy().ravel() for p in weights])
    options = {"maxiter": iterations, "maxfun": 2 * iterations, "maxcor": 50, "ftol": 0.0, "gtol": 1e-8}
    put(minimize(loss, start, jac=True, method="L-BFGS-B", callback=report, options=options).x)
    bar.close()
    return history


def exact(x: np.ndarray, t: float) -> np.ndarray:
    """The solution by Cole and Hopf, its integrals by Gauss-Hermite quadrature."""
    if t == 0:
        return -np.sin(np.pi * x)
    z, w = np.polynomial.hermite.hermgauss(100)
    y = x[:, None] - np.sqrt(4 * VISCOSITY * t) * z
    share = w * np.exp(-np.cos(np.pi * y) / (2 * np.pi * VISCOSITY))
    return -np.sum(share * np.sin(np.pi * y), axis=1) / np.sum(share, axis=1)


def plot(net: Network, history: list[float], path: Path) -> None:
    """Save the loss, the solution over space and time, and three profiles beside the exact ones."""
    x, times = np.linspace(-1, 1, 201), np.linspace(0, 1, 101)
    u = np.array([net(Tensor(x), Tensor(np.full_like(x, t))).asnumpy() for t in times])
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(13, 4), layout="constrained")
    left.semilogy(history)
    left.set(xlabel="iteration", ylabel="loss")
    image = middle.pcolormesh(times, x, u.T, cmap="RdBu_r", vmin=-1, vmax=1)
    middle.set(xlabel="t", ylabel="x", title="u(x, t) of the network")
    figure.colorbar(image, ax=middle)
    for t in (0.25, 0.5, 1.0):
        (line,) = right.plot(x, exact(x, t), alpha=0.4, linewidth=4, label=f"exact, t = {t}")
        right.plot(x, u[np.argmin(np.abs(times - t))], "--", color=line.get_color())
    right.set(xlabel="x", title="profiles (dashed: network)")
    right.legend()
    figure.savefig(path, dpi=120)
    plt.close(figure)


def main(argv: list[str] | None = None) -> float:
    """Train, report and draw; return the relative error of the solution."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", nargs="?", type=Path, default=Path("out"), help="where the picture goes (out)")
    parser.add_argument("--iterations", type=int, default=1000, help="iterations of L-BFGS (1000)")
    parser.add_argument("--places", type=int, default=1000, help="places of the residual (1000)")
    settings = parser.parse_args(argv)
    settings.folder.mkdir(parents=True, exist_ok=True)
    ms.set_seed(0)
    net = Network()
    history = train(net, settings.places, settings.iterations)
    x, times = np.linspace(-1, 1, 101), np.linspace(0, 1, 21)
    found = np.array([net(Tensor(x), Tensor(np.full_like(x, t))).asnumpy() for t in times])
    wanted = np.array([exact(x, t) for t in times])
    error = float(np.linalg.norm(found - wanted) / np.linalg.norm(wanted))
    print(f"the loss fell from {history[0]:.3g} to {history[-1]:.3g}; relative error of the solution: {error:.4f}")
    plot(net, history, settings.folder / "burgers.png")
    print(f"picture: {settings.folder / 'burgers.png'}")
    return error


if __name__ == "__main__":
    main()
