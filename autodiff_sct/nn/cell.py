"""`Cell`: MindSpore's building block, an object with parameters, sub-cells and a `construct`; cells that train one.

Attributes live in the instance's ordinary ``__dict__``; which of them are parameters and sub-cells is read off it, so
that nothing is kept twice.  Parameters are named when a cell is put into another: ``attribute path.attribute``.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from ..api import GradFunction, value_and_grad
from ..errors import ArgumentAttributeError, ArgumentTypeError
from ..tensor import UNNAMED, Parameter, ParameterTuple, Tensor

__all__ = ["Cell", "CellList", "SequentialCell", "TrainOneStepCell", "WithEvalCell", "WithLossCell"]

# Classes with a derivative of their own, and who wants to hear of new ones: the compiler, once it is imported.
WITH_BPROP: list[type] = []
ON_BPROP: list[Callable[[type], None]] = []


class Cell:
    """Base of all networks, layers and losses.

    A subclass calls ``super().__init__()``, makes parameters and sub-cells as attributes, and defines ``construct``.
    A ``bprop(self, *inputs, out, dout)`` replaces the derivative of ``construct``.

    Parameters
    ----------
    auto_prefix : bool
        True to name the parameters of cells that become attributes by their paths; False to leave their names.
    flags : dict, optional
        Attributes to set.

    Raises
    ------
    AttributeError
        On a call, if there is no ``construct``; when a parameter or a cell is assigned, if ``super().__init__()`` was
        not called.
    """

    def __init__(self, auto_prefix: bool = True, flags: dict[str, Any] | None = None) -> None:
        self.training = False
        self.auto_prefix = auto_prefix
        self.param_prefix = ""  # of the names of parameters: the path to this cell, with a dot at its end
        for name, value in (flags or {}).items():
            setattr(self, name, value)

    def __init_subclass__(cls, **settings: Any) -> None:
        super().__init_subclass__(**settings)
        if hasattr(cls, "bprop"):
            WITH_BPROP.append(cls)
            for hear in ON_BPROP:
                hear(cls)

    def __call__(self, *inputs: Any, **settings: Any) -> Any:
        return self.construct(*inputs, **settings)

    def __getattr__(self, name: str) -> Any:
        if name == "construct":
            raise ArgumentAttributeError(f"{type(self).__name__} has no 'construct': define construct(self, ...) in it")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, (Parameter, Cell, ParameterTuple)):
            if "training" not in self.__dict__:
                raise ArgumentAttributeError(
                    f"{type(self).__name__}.{name} is set before super().__init__() was called: call it first"
                )
            self.name_inside(name, value)
        held = self.__dict__.get(name)
        if isinstance(held, Parameter) and isinstance(value, (Tensor, np.ndarray)) and not isinstance(value, Parameter):
            # As in MindSpore, `self.weight = tensor` gives the parameter a value; it stays the same parameter.
            held.set_data(value)
        else:
            object.__setattr__(self, name, value)

    def name_inside(self, name: str, value: Parameter | ParameterTuple | Cell) -> None:
        """Name the parameters of what becomes the attribute `name`."""
        if isinstance(value, Parameter) and value.name == UNNAMED:
            value.name = name
        elif isinstance(value, Cell) and self.auto_prefix:
            value.update_parameters_name(f"{name}.")

    @property
    def cls_name(self) -> str:
        """The name of the class."""
        return type(self).__name__

    def own_parameters(self) -> Iterator[tuple[str, Parameter]]:
        """The parameters that are attributes of this cell itself, with the attributes' names."""
        for name, value in self.__dict__.items():
            if isinstance(value, Parameter):
                yield name, value
            elif isinstance(value, ParameterTuple):
                yield from ((parameter.name, parameter) for parameter in value)

    def name_cells(self) -> OrderedDict[str, Cell]:
        """The sub-cells by attribute name, each once."""
        found: dict[int, tuple[str, Cell]] = {}
        for name, value in self.__dict__.items():
            if isinstance(value, Cell):
                found.setdefault(id(value), (name, value))
        return OrderedDict(found.values())

    def cells(self) -> list[Cell]:
        """The sub-cells."""
        return list(self.name_cells().values())

    def cells_and_names(self, name_prefix: str = "") -> Iterator[tuple[str, Cell]]:
        """Yield this cell and all cells inside it, each once, with their attribute paths."""
        seen: set[int] = set()
        yield from self.walk(name_prefix, seen)

    def walk(self, path: str, seen: set[int]) -> Iterator[tuple[str, Cell]]:
        """The cells that are not in `seen` yet, outer ones first."""
        if id(self) in seen:
            return
        seen.add(id(self))
        yield path, self
        for name, cell in self.name_cells().items():
            yield from cell.walk(f"{path}.{name}" if path else name, seen)

    def parameters_and_names(self, name_prefix: str = "", expand: bool = True) -> Iterator[tuple[str, Parameter]]:
        """The parameters of this cell and, with `expand`, of all inside it, each once, with their attribute paths."""
        seen: set[int] = set()
        for path, cell in self.cells_and_names(name_prefix) if expand else [(name_prefix, self)]:
            for name, parameter in cell.own_parameters():
                if id(parameter) not in seen:
                    seen.add(id(parameter))
                    yield f"{path}.{name}" if path else name, parameter

    def get_parameters(self, expand: bool = True) -> Iterator[Parameter]:
        """The parameters, each once."""
        return (parameter for _, parameter in self.parameters_and_names(expand=expand))

    def trainable_params(self, recurse: bool = True) -> list[Parameter]:
        """The parameters with ``requires_grad``."""
        return [parameter for parameter in self.get_parameters(recurse) if parameter.requires_grad]

    def untrainable_params(self, recurse: bool = True) -> list[Parameter]:
        """The frozen parameters."""
        return [parameter for parameter in self.get_parameters(recurse) if not parameter.requires_grad]

    def parameters_dict(self, recurse: bool = True) -> OrderedDict[str, Parameter]:
        """The parameters by their names."""
        return OrderedDict((parameter.name, parameter) for parameter in self.get_parameters(recurse))

    def update_parameters_name(self, prefix: str = "", recurse: bool = True) -> None:
        """Name each parameter by its path inside this cell, led by `prefix`."""
        for path, cell in self.cells_and_names():
            cell.param_prefix = f"{prefix}{path}." if path else prefix
        for path, parameter in self.parameters_and_names(expand=recurse):
            parameter.name = f"{prefix}{path}"

    def set_train(self, mode: bool = True) -> Cell:
        """Put this cell and all inside it into training or evaluation mode."""
        for _, cell in self.cells_and_names():
            cell.training = mode
        return self

    def set_grad(self, requires_grad: bool = True) -> Cell:
        """Accepted for MindSpore's sake; there is nothing to prepare."""
        return self

    def extend_repr(self) -> str:
        """The settings that a subclass adds to its ``repr``."""
        return ""

    def __repr__(self) -> str:
        lines = [f"({name}): {cell!r}" for name, cell in self.name_cells().items()]
        if not lines:
            return f"{self.cls_name}({self.extend_repr()})"
        head = [self.extend_repr()] if self.extend_repr() else []
        body = "\n".join([*head, *lines]).replace("\n", "\n  ")
        return f"{self.cls_name}(\n  {body}\n)"


class Cells(Cell):
    """A cell whose sub-cells are numbered, or named by the keys of a dict, instead of being attributes."""

    def __init__(self, cells: Iterable[Any] | dict[str, Any]) -> None:
        super().__init__()
        names = list(cells) if isinstance(cells, dict) else None
        # A tuple: `construct` is compiled for the cells that are in it.
        self.members: tuple[Cell, ...] = ()
        self.names: tuple[str, ...] | None = None
        self.assign(list(cells.values()) if isinstance(cells, dict) else list(cells))
        self.names = None if names is None else tuple(names)
        self.rename()

    def assign(self, members: list[Any]) -> None:
        """Replace the sub-cells."""
        for cell in members:
            if not isinstance(cell, Cell):
                raise ArgumentTypeError(f"{self.cls_name} holds Cells, not {type(cell).__name__}")
        self.members = tuple(members)
        if self.names is not None:
            self.names = (*self.names, *map(str, range(len(self.names), len(members))))[: len(members)]
        self.rename()

    def rename(self) -> None:
        """Name the parameters by the places of the cells."""
        for name, cell in self.name_cells().items():
            cell.update_parameters_name(f"{self.param_prefix}{name}.")

    def name_cells(self) -> OrderedDict[str, Cell]:
        """The sub-cells by number or key, each once."""
        names = self.names or [str(k) for k in range(len(self.members))]
        found: dict[int, tuple[str, Cell]] = {}
        for name, cell in zip(names, self.members):
            found.setdefault(id(cell), (name, cell))
        return OrderedDict(found.values())

    def cells(self) -> list[Cell]:
        """The sub-cells in order."""
        return list(self.members)

    def append(self, cell: Cell) -> Any:
        """Add a cell at the end."""
        self.assign([*self.members, cell])
        return self

    def insert(self, index: int, cell: Cell) -> None:
        """Add a cell before `index`."""
        members = list(self.members)
        members.insert(index, cell)
        self.assign(members)

    def extend(self, cells: Iterable[Cell]) -> Any:
        """Add cells at the end."""
        self.assign([*self.members, *cells])
        return self

    def __len__(self) -> int:
        return len(self.members)

    def __iter__(self) -> Iterator[Cell]:
        return iter(self.members)

    def __getitem__(self, index: Any) -> Any:
        return type(self)(self.members[index]) if isinstance(index, slice) else self.members[index]

    def __setitem__(self, index: int, cell: Cell) -> None:
        members = list(self.members)
        members[index] = cell
        self.assign(members)

    def __delitem__(self, index: int) -> None:
        members = list(self.members)
        del members[index]
        self.assign(members)


class SequentialCell(Cells):
    """Cells that are applied one after the other.

    Parameters
    ----------
    *args : Cell, or one list, or one OrderedDict
        The cells.
    """

    def __init__(self, *args: Any) -> None:
        super().__init__(args[0] if len(args) == 1 and isinstance(args[0], (list, tuple, dict)) else args)

    def construct(self, x: Any) -> Any:
        """Apply the cells in order."""
        for cell in self.members:
            x = cell(x)
        return x


class CellList(Cells):
    """A list of cells.

    Parameters
    ----------
    *args : Cell, or one list
        The cells.
    """

    def __init__(self, *args: Any) -> None:
        super().__init__(args[0] if len(args) == 1 and isinstance(args[0], (list, tuple)) else args)

    def construct(self, *inputs: Any) -> Any:
        """Refuse: a list says nothing about how its cells are applied."""
        raise NotImplementedError("a CellList is not called: call the cells in it")


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
