"""A user's script, for type checkers: it has no errors but in the lines that say so."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import autodiff_sct as ad
from autodiff_sct import nn, tape

Vector = NDArray[np.float64]
ONES: Vector = np.ones(3)


def loss(w: Vector, x: Vector, n: int = 2) -> float:
    return float(np.sum((w - x) ** n))


# The calls take what the function takes.

gradient = ad.grad(loss)
by_position: Vector = gradient(ONES, ONES, n=2)
by_name: Vector = gradient(w=ONES, x=ONES)
text: str = gradient.source
gradient(ONES)  # error
gradient("wrong", ONES)  # error
gradient(ONES, ONES, m=3)  # error
ad.grad(3)  # error
ad.grad(loss, "w")  # error
ad.grad(loss, backend="cuda")  # error

value, found = ad.value_and_grad(loss, (0, 1))(ONES, ONES)
total: float = value
wrong: str = value  # error
seeded = ad.grad(loss, sens_param=True)(ONES, ONES, 2, 1.0)
twice: Vector = ad.grad(lambda w: np.sum(ad.grad(loss)(w, ONES)))(ONES)
first, aux = ad.grad(lambda x: (x, x), has_aux=True)(1.0)

output, pull = ad.vjp(loss, ONES, ONES)
total = output
by_w, by_x = pull(1.0)
output, pull, rest = ad.vjp(lambda w: (w, 1.0), ONES, has_aux=True)
ad.vjp(3, 1.0)  # error
output, tangent = ad.jvp(loss, (ONES, ONES), (ONES, ONES))
total = tangent

rows: Vector = ad.jacrev(loss)(ONES, ONES)
columns: Vector = ad.jacfwd(loss, (0, 1))(ONES, ONES)
ad.jacrev(loss)(ONES)  # error
second: Vector = ad.hessian(loss)(ONES, ONES)
product: Any = ad.hvp(loss, (ONES, ONES), (ONES, ONES))
batch: Vector = ad.vmap(loss)(np.ones((2, 3)), np.ones((2, 3)))
ad.vmap(loss)(ONES, n="2")  # error
again: float = ad.checkpoint(loss)(ONES, ONES)
kept: float = ad.stop_gradient(3.0)
ad.check_grads(loss, (ONES, ONES))

# Decorators keep the parameters, in classes too.


@ad.grad
def slope(x: float) -> float:
    return x * x


@ad.grad(grad_position=(0, 1))
def slopes(x: float, y: float) -> float:
    return x * y


@ad.value_and_grad
def both(x: float, y: float) -> float:
    return x * y


@ad.constant
def price(day: int) -> float:
    return 2.0


@ad.rule(slope)
def slope_rule(y: float, d: float, x: float) -> float:
    return 2.0 * d * x


class Spring:
    stiffness = 2.0

    @ad.grad(grad_position=0)
    def force(self, x: float) -> float:
        return 0.5 * self.stiffness * x**2


steep: float = slope(1.0)
slope("1.0")  # error
slopes(1.0)  # error
height, (left, right) = both(1.0, 2.0)
price("Monday")  # error
force: float = Spring().force(0.5)
Spring().force("far")  # error

# The tape, tensors and Cells.

x = tape.tensor(3.0, requires_grad=True)
z = x * x * 2.0 + 1.0 - x / 2.0
z = -(z**2) + 2.0 * z - 1.0 / z + (x @ x).sum()
z.backward()
z = z[0] if x > 1.0 else z.mean().reshape(1)


class Network(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.dense = nn.Dense(3, 1)

    def construct(self, inputs: ad.Tensor) -> ad.Tensor:
        hidden: ad.Tensor = self.dense(inputs)
        return hidden * 2 + hidden @ hidden - 1.0


network = Network()
outputs = network(ad.Tensor(np.ones((2, 3))))
of_weights = ad.value_and_grad(network, None, weights=network.trainable_params())
result, gradients = of_weights(ad.Tensor(np.ones((2, 3))))
