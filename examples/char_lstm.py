"""Teach an LSTM to write the Zen of Python, character by character.

Prints what the network writes after the title, and saves a picture of the loss and of the memory cells
while it reads.

    python examples/char_lstm.py [--epochs N] [FOLDER]
"""

from __future__ import annotations

import argparse
import codecs
import contextlib
import io
from pathlib import Path

import matplotlib
import numpy as np
from tqdm import trange

import autodiff_sct as ms
from autodiff_sct import Tensor, nn, ops

matplotlib.use("Agg")
import matplotlib.pyplot as plt

LENGTH, BATCH, RATE = 128, 8, 1e-2

with contextlib.redirect_stdout(io.StringIO()):
    import this

TEXT = codecs.decode(this.s, "rot13")
LETTERS = sorted(set(TEXT))
CODES = np.array([LETTERS.index(letter) for letter in TEXT])


class Writer(nn.Cell):
    """Scores of the next character at each place: an embedding, an LSTM and a dense layer."""

    def __init__(self, hidden: int = 96) -> None:
        super().__init__()
        self.embedding = nn.Embedding(len(LETTERS), 24)
        self.lstm = nn.LSTM(24, hidden, batch_first=True)
        self.dense = nn.Dense(hidden, len(LETTERS))

    def construct(self, codes, state=None):
        y, state = self.lstm(self.embedding(codes), state)
        return self.dense(y), state


def train(net: Writer, epochs: int) -> list[float]:
    """Train on pieces of the text from everywhere; return the mean loss of every epoch."""
    loss_fn = nn.CrossEntropyLoss()
    optimizer = nn.Adam(net.trainable_params(), learning_rate=nn.ExponentialDecayLR(RATE, 0.5, 300))

    def forward(codes, following):
        scores, _ = net(codes)
        return loss_fn(ops.reshape(scores, (-1, len(LETTERS))), ops.reshape(following, -1))

    step = ms.value_and_grad(forward, None, optimizer.parameters)
    rng = np.random.default_rng(0)
    history = []
    bar = trange(epochs, desc="training", unit="epoch")
    for _ in bar:
        losses = []
        for starts in rng.permutation(len(CODES) - LENGTH - 1)[: 8 * BATCH].reshape(8, BATCH):
            pieces = CODES[starts[:, None] + np.arange(LENGTH + 1)]
            loss, gradients = step(Tensor(pieces[:, :-1]), Tensor(pieces[:, 1:]))
            optimizer(ops.clip_by_global_norm(gradients, 1.0))
            losses.append(float(loss))
        history.append(float(np.mean(losses)))
        bar.set_postfix(loss=f"{history[-1]:.3f}")
    return history


def write(net: Writer, begin: str, count: int) -> str:
    """The text that the network continues, the likeliest character each time."""
    text = begin
    scores, state = net(Tensor([[LETTERS.index(letter) for letter in begin]]))
    for _ in range(count):
        code = int(ops.argmax(scores[0, -1]))
        text += LETTERS[code]
        scores, state = net(Tensor([[code]]), state)
    return text


def plot(net: Writer, history: list[float], path: Path) -> None:
    """Save the loss, and the outputs of the LSTM while it reads a line of the text."""
    line = TEXT.splitlines()[2]
    seen, _ = net.lstm(net.embedding(Tensor([[LETTERS.index(letter) for letter in line]])))
    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4), width_ratios=(1, 2), layout="constrained")
    left.semilogy(range(1, len(history) + 1), history)
    left.set(xlabel="epoch", ylabel="cross entropy per character")
    right.imshow(seen.asnumpy()[0, :, :32].T, cmap="RdBu_r", vmin=-1, vmax=1, aspect="auto")
    right.set_xticks(range(len(line)), list(line))
    right.set(ylabel="unit", title="outputs of 32 units")
    figure.savefig(path, dpi=120)
    plt.close(figure)


def main(argv: list[str] | None = None) -> float:
    """Train, write and draw; return the share of characters that are foreseen."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", nargs="?", type=Path, default=Path("out"), help="where the picture goes (out)")
    parser.add_argument("--epochs", type=int, default=50, help="rounds of 64 pieces of the text (50)")
    settings = parser.parse_args(argv)
    settings.folder.mkdir(parents=True, exist_ok=True)
    ms.set_seed(0)
    net = Writer()
    history = train(net, settings.epochs)
    scores, _ = net(Tensor(CODES[None, :-1]))
    foreseen = float(np.mean(scores.asnumpy()[0].argmax(1) == CODES[1:]))
    print(write(net, TEXT[:33], 300))
    print(f"characters foreseen: {foreseen:.3f} of {len(CODES) - 1}")
    plot(net, history, settings.folder / "char_lstm.png")
    print(f"picture: {settings.folder / 'char_lstm.png'}")
    return foreseen


if __name__ == "__main__":
    main()
