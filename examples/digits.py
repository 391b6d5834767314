"""Train a small network on scikit-learn's handwritten digits.

Prints the accuracy on digits that were held out, and saves the loss curve and a page of misread digits as PNG.

    python examples/digits.py [FOLDER]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from tqdm import trange

import autodiff_sct as ad
from autodiff_sct import Tensor, nn

matplotlib.use("Agg")
import matplotlib.pyplot as plt

EPOCHS, BATCH, RATE = 40, 64, 3e-3


class Network(nn.Cell):
    """Two convolutions over the 8 by 8 pixels of a digit, and a dense layer over what they see."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(1, 8, 3, has_bias=True)
        self.second = nn.Conv2d(8, 16, 3, has_bias=True)
        self.relu = nn.ReLU()
        self.pool = nn.MaxPool2d(kernel_size=2, stride=2)
        self.flatten = nn.Flatten()
        self.dropout = nn.Dropout(p=0.3)
        self.last = nn.Dense(16 * 4 * 4, 10)

    def construct(self, x):
        x = self.relu(self.first(x))
        x = self.pool(self.relu(self.second(x)))
        return self.last(self.dropout(self.flatten(x)))


def load() -> tuple[np.ndarray, ...]:
    """Images with pixels between -1 and 1, and their classes, split into those to learn from and those held out."""
    pixels, labels = load_digits(return_X_y=True)
    pixels = (pixels / 8 - 1).astype(np.float32).reshape(-1, 1, 8, 8)
    return train_test_split(pixels, labels, test_size=0.25, random_state=0, stratify=labels)


def train(net: Network, pixels: np.ndarray, labels: np.ndarray) -> list[float]:
    """Train with Adam; return the mean loss of every epoch."""
    loss_fn = nn.CrossEntropyLoss()
    optimizer = nn.Adam(net.trainable_params(), learning_rate=RATE, weight_decay=1e-4)

    def forward(x, y):
        logits = net(x)
        return loss_fn(logits, y), logits

    step = ad.value_and_grad(forward, grad_position=None, weights=net.trainable_params(), has_aux=True)
    rng = np.random.default_rng(0)
    history = []
    bar = trange(EPOCHS, desc="training", unit="epoch")
    for _ in bar:
        losses, right = [], 0
        for rows in np.split(rng.permutation(len(labels)), range(BATCH, len(labels), BATCH)):
            (loss, logits), gradients = step(Tensor(pixels[rows]), Tensor(labels[rows]))
            optimizer(gradients)
            losses.append(float(loss))
            right += int((logits.argmax(axis=1).asnumpy() == labels[rows]).sum())
        history.append(float(np.mean(losses)))
        bar.set_postfix(loss=f"{history[-1]:.4f}", accuracy=f"{right / len(labels):.3f}")
    return history


def plot_losses(history: list[float], path: Path) -> None:
    """Save the loss curve."""
    figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    axes.semilogy(range(1, len(history) + 1), history)
    axes.set(xlabel="epoch", ylabel="cross entropy", title="Handwritten digits: training loss")
    axes.grid(alpha=0.3)
    figure.savefig(path, dpi=120)
    plt.close(figure)


def plot_misread(pixels: np.ndarray, labels: np.ndarray, read: np.ndarray, path: Path) -> None:
    """Save a page of the digits that were misread."""
    wrong = np.flatnonzero(read != labels)[:24]
    rows = max(1, -(-len(wrong) // 6))
    figure, grid = plt.subplots(rows, 6, figsize=(8, 1.6 * rows + 0.5), squeeze=False, layout="constrained")
    for axes in grid.flat:
        axes.axis("off")
    for axes, k in zip(grid.flat, wrong):
        axes.imshow(pixels[k].reshape(8, 8), cmap="gray_r")
        axes.set_title(f"{labels[k]} read as {read[k]}", fontsize=9)
    figure.suptitle(f"{int((read != labels).sum())} of {len(labels)} held-out digits were misread")
    figure.savefig(path, dpi=120)
    plt.close(figure)


def main(argv: list[str] | None = None) -> float:
    """Train, report and draw; return the accuracy on the digits held out."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", nargs="?", type=Path, default=Path("out"), help="where the pictures go (out)")
    folder = parser.parse_args(argv).folder
    folder.mkdir(parents=True, exist_ok=True)
    ad.set_seed(0)
    learn_x, test_x, learn_y, test_y = load()
    net = Network().set_train()
    history = train(net, learn_x, learn_y)
    net.set_train(False)
    read = net(Tensor(test_x)).argmax(axis=1).asnumpy()
    accuracy = float((read == test_y).mean())
    print(f"held-out accuracy: {accuracy:.4f} ({len(test_y)} digits)")
    plot_losses(history, folder / "digits_loss.png")
    plot_misread(test_x, test_y, read, folder / "digits_misread.png")
    print(f"pictures: {folder / 'digits_loss.png'}, {folder / 'digits_misread.png'}")
    return accuracy


if __name__ == "__main__":
    main()
