"""Train LeNet-5 on scikit-learn's handwritten digits, as a MindSpore script does.

The 8 by 8 pixels are enlarged to the 32 by 32 that the network of LeCun et al. (1998) reads.  Prints the accuracy on
digits that were held out, keeps the weights in a checkpoint, and saves a picture of the loss and of what the first
layer sees.

    python examples/lenet.py [--epochs N] [FOLDER]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from tqdm import trange

import autodiff_sct as ms
from autodiff_sct import Tensor, nn
from autodiff_sct.common.initializer import Normal

matplotlib.use("Agg")
import matplotlib.pyplot as plt

BATCH, RATE = 32, 3e-3


class LeNet5(nn.Cell):
    """Two convolutions with pools, then three dense layers."""

    def __init__(self, num_class: int = 10, num_channel: int = 1) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(num_channel, 6, 5, pad_mode="valid")
        self.conv2 = nn.Conv2d(6, 16, 5, pad_mode="valid")
        self.fc1 = nn.Dense(16 * 5 * 5, 120, weight_init=Normal(0.05))
        self.fc2 = nn.Dense(120, 84, weight_init=Normal(0.05))
        self.fc3 = nn.Dense(84, num_class, weight_init=Normal(0.05))
        self.relu = nn.ReLU()
        self.max_pool2d = nn.MaxPool2d(kernel_size=2, stride=2)
        self.flatten = nn.Flatten()

    def construct(self, x):
        x = self.max_pool2d(self.relu(self.conv1(x)))
        x = self.max_pool2d(self.relu(self.conv2(x)))
        x = self.flatten(x)
        x = self.relu(self.fc1(x))
        x = self.relu(self.fc2(x))
        return self.fc3(x)


def load() -> tuple[np.ndarray, ...]:
    """Images of 32 by 32 pixels, and their classes, split into those to learn from and those held out."""
    pixels, labels = load_digits(return_X_y=True)
    images = np.kron(pixels.reshape(-1, 1, 8, 8), np.ones((3, 3))) / 16
    images = np.pad(images, ((0, 0), (0, 0), (4, 4), (4, 4))).astype(np.float32)
    return train_test_split(images, labels.astype(np.int32), test_size=0.25, random_state=0, stratify=labels)


def train(net: LeNet5, images: np.ndarray, labels: np.ndarray, epochs: int) -> list[float]:
    """Train with Adam and a cosine schedule on digits moved by up to 2 pixels; return the mean loss of every epoch."""
    loss_fn = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    batches = -(-len(labels) // BATCH)
    schedule = nn.cosine_decay_lr(0.0, RATE, epochs * batches, 1, epochs * batches)
    optimizer = nn.Adam(net.trainable_params(), learning_rate=schedule)
    step = nn.TrainOneStepCell(nn.WithLossCell(net, loss_fn), optimizer)
    rng = np.random.default_rng(0)
    history = []
    bar = trange(epochs, desc="training", unit="epoch")
    for _ in bar:
        losses = []
        for rows in np.split(rng.permutation(len(labels)), range(BATCH, len(labels), BATCH)):
            moved = np.roll(images[rows], rng.integers(-2, 3, size=2), axis=(2, 3))
            losses.append(float(step(Tensor(moved), Tensor(labels[rows]))))
        history.append(float(np.mean(losses)))
        bar.set_postfix(loss=f"{history[-1]:.4f}")
    return history


def plot(net: LeNet5, image: np.ndarray, history: list[float], path: Path) -> None:
    """Save the loss, a digit, and what the six kernels of the first layer make of it."""
    seen = net.relu(net.conv1(Tensor(image[None]))).asnumpy()[0]
    figure, grid = plt.subplots(2, 4, figsize=(10, 5), layout="constrained")
    grid[0, 0].semilogy(range(1, len(history) + 1), history)
    grid[0, 0].set(xlabel="epoch", title="cross entropy")
    for axes, picture, title in zip(grid.flat[1:], [image[0], *seen], ["a digit", *[f"kernel {k}" for k in range(6)]]):
        axes.imshow(picture, cmap="gray_r")
        axes.set_title(title)
        axes.axis("off")
    figure.savefig(path, dpi=120)
    plt.close(figure)


def main(argv: list[str] | None = None) -> float:
    """Train, report and draw; return the accuracy on the digits held out."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", nargs="?", type=Path, default=Path("out"), help="where the files go (out)")
    parser.add_argument("--epochs", type=int, default=20, help="rounds over the digits (20)")
    settings = parser.parse_args(argv)
    settings.folder.mkdir(parents=True, exist_ok=True)
    ms.set_seed(0)
    learn_x, test_x, learn_y, test_y = load()
    net = LeNet5()
    history = train(net, learn_x, learn_y, settings.epochs)
    ms.save_checkpoint(net, settings.folder / "lenet.ckpt")
    restored = LeNet5()
    ms.load_checkpoint(settings.folder / "lenet.ckpt", restored)
    read = restored(Tensor(test_x)).argmax(axis=1).asnumpy()
    accuracy = float((read == test_y).mean())
    print(f"held-out accuracy: {accuracy:.4f} ({len(test_y)} digits)")
    plot(restored, test_x[0], history, settings.folder / "lenet.png")
    print(f"picture: {settings.folder / 'lenet.png'}, weights: {settings.folder / 'lenet.ckpt'}")
    return accuracy


if __name__ == "__main__":
    main()
