"""Parameters: the tensors of a `Cell` that training changes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from .errors import ArgumentTypeError, ArgumentValueError
from .tensor import Tensor, array_of
from .tensor_text import tensor_repr

__all__ = ["Parameter", "ParameterTuple"]

UNNAMED = "Parameter"


class Parameter(Tensor):
    """A tensor with a name, whose value can be replaced.

    Parameters
    ----------
    default_input : number, sequence of numbers, ndarray or Tensor
        The value, which is copied.
    name : str, optional
        The name; one without takes the name of the attribute that it becomes in a `Cell`.
    requires_grad : bool
        Whether it is trained.  A frozen parameter's gradient is zero.

    Raises
    ------
    TypeError
        If the value is not made of numbers, or another argument has a wrong type.
    """

    def __init__(self, default_input: Any, name: str | None = None, requires_grad: bool = True) -> None:
        if name is not None and not isinstance(name, str):
            raise ArgumentTypeError(f"a Parameter's name is a string, not {name!r}")
        super().__init__(default_input)
        self.name = UNNAMED if name is None else name
        self.requires_grad = requires_grad

    @property
    def requires_grad(self) -> bool:
        """Whether it is trained."""
        return self._requires_grad

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        if not isinstance(value, bool):
            raise ArgumentTypeError(f"requires_grad is True or False, not {value!r}")
        self._requires_grad = value

    def set_data(self, data: Any, slice_shape: bool = False) -> Parameter:
        """Replace the value.

        Parameters
        ----------
        data : number, ndarray or Tensor
            The new value, which is copied and cast to the parameter's dtype.
        slice_shape : bool
            Whether the shape may change.

        Raises
        ------
        ValueError
            If the shape differs.
        """
        value = np.array(data, dtype=self._data.dtype) if isinstance(data, np.ndarray) else array_of(data, self.dtype)
        if value.shape != self._data.shape and not slice_shape:
            raise ArgumentValueError(
                f"parameter {self.name!r} has shape {self._data.shape}: it cannot take data of shape {value.shape}"
            )
        # A new array, not a write into the old one: what was computed from the old value may still hold it.
        self._data = value
        return self

    def value(self) -> Tensor:
        """The value as a tensor of its own."""
        return Tensor(self)

    @property
    def data(self) -> Parameter:
        """The parameter itself, as in MindSpore."""
        return self

    def clone(self, init: Any = "same") -> Parameter:
        """A parameter of its own with the same value, name and flag; `init` ``"zeros"`` or ``"ones"`` fills it."""
        fill = {"zeros": np.zeros_like, "ones": np.ones_like}.get(init, np.copy)
        return Parameter(fill(self._data), self.name, self.requires_grad)

    def __repr__(self) -> str:
        lead = f"name={self.name}, "
        tail = f", requires_grad={self.requires_grad})"
        return tensor_repr(self._data, str(self.dtype), "Parameter", lead).removesuffix(")") + tail

    def __copy__(self) -> Parameter:
        return self.clone()

    def __deepcopy__(self, memo: dict[int, Any]) -> Parameter:
        memo[id(self)] = copy = self.clone()
        return copy

    def __reduce__(self) -> tuple[Any, ...]:
        return Parameter, (self._data, self.name, self.requires_grad)


class ParameterTuple(tuple[Parameter, ...]):
    """A tuple of parameters.

    Raises
    ------
    TypeError
        If `iterable` is not iterable or holds anything but parameters.
    ValueError
        If two different parameters have one name.
    """

    __slots__ = ()

    def __new__(cls, iterable: Iterable[Parameter]) -> ParameterTuple:
        if isinstance(iterable, Tensor) or not isinstance(iterable, Iterable):
            raise ArgumentTypeError(f"a ParameterTuple is made from parameters, not from {type(iterable).__name__}")
        parameters = tuple(iterable)
        names: dict[str, Parameter] = {}
        for parameter in parameters:
            if not isinstance(parameter, Parameter):
                raise ArgumentTypeError(f"a ParameterTuple holds parameters, not {type(parameter).__name__}")
            if names.setdefault(parameter.name, parameter) is not parameter and parameter.name != UNNAMED:
                raise ArgumentValueError(f"two parameters of a ParameterTuple are named {parameter.name!r}")
        return super().__new__(cls, parameters)

    def clone(self, prefix: str, init: Any = "same") -> ParameterTuple:
        """Clones of the parameters, their names led by `prefix` and a dot."""
        clones = [parameter.clone(init) for parameter in self]
        for clone in clones:
            clone.name = f"{prefix}.{clone.name}"
        return ParameterTuple(clones)
