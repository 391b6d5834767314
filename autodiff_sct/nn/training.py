"""Cells that put a network, a loss and an optimizer together."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..api import GradFunction, value_and_grad
from .cell import Cell

__all__ = ["TrainOneStepCell", "WithEvalCell", "WithLossCell"]


class WithLossCell(Cell):
    """The loss of a network's output.

    Parameters
    ----------
    backbone : Cell
        The network.
    loss_fn : Cell or function
        The loss, of the network's output and the label.
    """

    def __init__(self, backbone: Cell, loss_fn: Any) -> None:
        # As in MindSpore, a network that is trained keeps the names of its parameters.
        super().__init__(auto_prefix=False)
        self.backbone = backbone
        self.loss_fn = loss_fn

    @property
    def backbone_network(self) -> Cell:
        """The network."""
        return self.backbone

    def construct(self, data: Any, label: Any) -> Any:
        """The loss on a batch."""
        return self.loss_fn(self.backbone(data), label)


class WithEvalCell(Cell):
    """The loss of a network's output, the output and the label."""

    def __init__(self, network: Cell, loss_fn: Any) -> None:
        super().__init__(auto_prefix=False)
        self.network = network
        self.loss_fn = loss_fn

    def construct(self, data: Any, label: Any) -> Any:
        """The loss on a batch, the output and the label."""
        output = self.network(data)
        return self.loss_fn(output, label), output, label


class TrainOneStepCell(Cell):
    """One step of training: the loss, its gradients, the optimizer.

    Parameters
    ----------
    network : Cell
        Returns the loss.
    optimizer : Optimizer
        Called with the gradients of its `parameters`.
    sens : float
        What the gradients are multiplied by.
    """

    def __init__(self, network: Cell, optimizer: Any, sens: float = 1.0) -> None:
        super().__init__(auto_prefix=False)
        self.network = network
        self.optimizer = optimizer
        self.sens = float(sens)
        self.gradient: GradFunction = value_and_grad(network, None, list(optimizer.parameters))
        self.set_train()

    def construct(self, *inputs: Any) -> Any:
        """Make the step and return the loss before it."""
        loss, gradients = self.gradient(*inputs)
        if self.sens != 1:
            gradients = tuple(np.multiply(gradient, self.sens) for gradient in gradients)
        self.optimizer(gradients)
        return loss
