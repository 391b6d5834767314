"""MindSpore's tensor over one ndarray.

A `Tensor` is a wrapper that exists outside compiled code only: the compiler takes the array out of it at the boundary,
runs on arrays, and wraps what comes back.  The methods (`TensorMethods`) are therefore plain NumPy on ``self``.  Run
eagerly, NumPy hands each call back to the tensor (``__array_ufunc__``, ``__array_function__``), which unwraps, calls
NumPy and wraps; compiled, the compiler reads the same method with an array for ``self``.

Two dtype rules differ from NumPy's and are applied where results are wrapped: an integer tensor that meets a float
takes on the float's dtype, and where no float is around (``/``, ``exp`` of integers) the result is float32.
"""

from __future__ import annotations

import builtins
import numbers
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ..dtypes import DType, dtype_of
from ..errors import ArgumentTypeError, ArgumentValueError
from .methods import TensorMethods, tensor_repr

__all__ = ["Parameter", "ParameterTuple", "Tensor", "from_numpy", "tensor", "wrap"]

FLOAT32 = np.dtype(np.float32)
WIDE = (np.dtype(np.float64), np.dtype(np.complex128))
NUMBERS = (numbers.Number, np.generic)
# The name of a parameter that was given none.
UNNAMED = "Parameter"


class Tensor(TensorMethods):
    """An array of numbers that behaves as MindSpore's tensors do.

    Parameters
    ----------
    input_data : number, sequence of numbers, ndarray or Tensor
        The content, which is copied.  Python floats become float32 and Python integers int64; an ndarray keeps its
        dtype.
    dtype : DType, optional
        The dtype of the elements: ``ad.float32`` and so on.

    Raises
    ------
    TypeError
        If the content is not made of numbers, is a ragged list, or `dtype` is not one of the package's dtypes.
    """

    __slots__ = ("__weakref__", "_data")
    __autodiff_tensor__ = True
    if TYPE_CHECKING:  # the operators of `TensorMethods` return what NumPy returns for `self`

        def __add__(self, other: Any) -> Tensor: ...

        __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __add__
        __pow__ = __rpow__ = __mod__ = __rmod__ = __floordiv__ = __rfloordiv__ = __matmul__ = __rmatmul__ = __add__

        def __neg__(self) -> Tensor: ...

        __pos__ = __abs__ = __neg__
    __array_priority__ = 1000
    __hash__ = object.__hash__

    def __init__(self, input_data: Any, dtype: DType | None = None) -> None:
        self._data: np.ndarray = array_of(input_data, dtype)

    @property
    def dtype(self) -> DType:
        """The dtype of the elements."""
        return dtype_of(self._data.dtype)

    @property
    def shape(self) -> tuple[builtins.int, ...]:
        """The lengths of the axes."""
        return self._data.shape

    @property
    def ndim(self) -> builtins.int:
        """The number of axes."""
        return self._data.ndim

    @property
    def size(self) -> builtins.int:
        """The number of elements."""
        return self._data.size

    @property
    def itemsize(self) -> builtins.int:
        """Bytes of one element."""
        return self._data.itemsize

    @property
    def nbytes(self) -> builtins.int:
        """Bytes of all elements."""
        return self._data.nbytes

    @property
    def strides(self) -> tuple[builtins.int, ...]:
        """Bytes to step along each axis."""
        return self._data.strides

    @staticmethod
    def from_numpy(array: np.ndarray) -> Tensor:
        """A tensor that shares memory with `array`."""
        return from_numpy(array)

    def asnumpy(self) -> np.ndarray:
        """The array itself, not a copy."""
        return self._data

    def numpy(self) -> np.ndarray:
        """The array itself, not a copy."""
        return self._data

    def item(self, *index: builtins.int) -> Any:
        """One element as a Python number; without an index, the only one."""
        return self._data.item(*index)

    def tolist(self) -> Any:
        """The elements as nested Python lists."""
        return self._data.tolist()

    def astype(self, dtype: Any, copy: builtins.bool = True) -> Tensor:
        """The elements in another dtype."""
        return wrap(self._data.astype(np.dtype(dtype), copy=copy))

    def to(self, dtype: Any) -> Tensor:
        """The elements in another dtype."""
        return self.astype(dtype)

    def float(self) -> Tensor:
        """The elements as float32."""
        return self.astype(np.float32)

    def half(self) -> Tensor:
        """The elements as float16."""
        return self.astype(np.float16)

    def int(self) -> Tensor:
        """The elements as int32."""
        return self.astype(np.int32)

    def long(self) -> Tensor:
        """The elements as int64."""
        return self.astype(np.int64)

    def bool(self) -> Tensor:
        """True for each element that differs from 0."""
        return self.astype(np.bool_)

    def __array__(self, dtype: Any = None, copy: builtins.bool | None = None) -> np.ndarray:
        return np.array(self._data, dtype=dtype, copy=copy)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = None, **settings: Any) -> Any:
        if not all(isinstance(value, (Tensor, *NUMBERS)) for value in inputs) and method != "at":
            return refuse_operands(ufunc, inputs)
        if out is not None:
            settings["out"] = tuple(unwrap(target) for target in out)
        result = getattr(ufunc, method)(*[unwrap(value) for value in inputs], **unwrap(settings))
        if out is not None:
            return out[0] if len(out) == 1 else out
        return wrap_result(result, None if "dtype" in settings else floating_of(inputs))

    def __array_function__(self, func: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        result = func(*unwrap(args), **unwrap(kwargs))
        if kwargs.get("out") is not None:
            return kwargs["out"]
        return wrap_result(result, None if "dtype" in kwargs else floating_of((*args, *kwargs.values())))

    def __getitem__(self, index: Any) -> Tensor:
        return wrap(np.asarray(self._data[unwrap(index)]))

    def __setitem__(self, index: Any, value: Any) -> None:
        self._data[unwrap(index)] = unwrap(value)

    def __iter__(self) -> Iterator[Tensor]:
        if self._data.ndim == 0:
            raise ArgumentTypeError("a tensor without axes cannot be iterated over")
        return (self[k] for k in range(len(self._data)))

    def __len__(self) -> builtins.int:
        return len(self._data)

    def __contains__(self, value: Any) -> builtins.bool:
        return unwrap(value) in self._data

    def __bool__(self) -> builtins.bool:
        return bool(self.only("bool"))

    def __float__(self) -> builtins.float:
        return float(self.only("float"))

    def __int__(self) -> builtins.int:
        return int(self.only("int"))

    def __complex__(self) -> complex:
        return complex(self.only("complex"))

    def __index__(self) -> builtins.int:
        return self._data.__index__()

    def __round__(self, digits: builtins.int = 0) -> Tensor:
        return wrap(np.asarray(np.round(self._data, digits)))

    def __format__(self, spec: str) -> str:
        return format(self._data.item() if spec and self._data.ndim == 0 else str(self), spec)

    def __str__(self) -> str:
        return str(self._data)

    def __repr__(self) -> str:
        return tensor_repr(self._data, str(self.dtype))

    def __copy__(self) -> Tensor:
        return wrap(self._data.copy())

    def __deepcopy__(self, memo: dict[builtins.int, Any]) -> Tensor:
        return wrap(self._data.copy())

    def __reduce__(self) -> tuple[Any, ...]:
        return wrap, (self._data,)

    def only(self, kind: str) -> Any:
        """The one element of a tensor that is asked to be a Python number."""
        if self._data.size != 1:
            raise ArgumentValueError(f"{kind}() wants a tensor of one element, not one of shape {self._data.shape}")
        return self._data.item()


def refuse_operands(ufunc: Any, inputs: tuple[Any, ...]) -> Any:
    """Say which operand a tensor cannot be combined with; another array library's has its own say first."""
    other = next(value for value in inputs if not isinstance(value, (Tensor, *NUMBERS)))
    if not isinstance(other, np.ndarray) and hasattr(type(other), "__array_ufunc__"):
        return NotImplemented
    kind = type(other).__name__
    raise ArgumentTypeError(f"{ufunc.__name__}: a Tensor is combined with Tensors and numbers, not with a {kind}")


def tensor(input_data: Any, dtype: DType | None = None) -> Tensor:
    """Make a `Tensor`; see there."""
    return Tensor(input_data, dtype)


def from_numpy(array: np.ndarray) -> Tensor:
    """A tensor that shares memory with `array`."""
    if not isinstance(array, np.ndarray):
        raise ArgumentTypeError(f"from_numpy takes an ndarray, not {type(array).__name__}")
    dtype_of(array.dtype)
    return wrap(array)


def wrap(array: np.ndarray) -> Tensor:
    """A tensor around `array` itself, without a check or a copy."""
    result = Tensor.__new__(Tensor)
    result._data = array
    return result


def unwrap(value: Any) -> Any:
    """`value` with an array in the place of each tensor, also inside tuples, lists and dicts."""
    if isinstance(value, Tensor):
        return value._data
    if isinstance(value, tuple):
        return tuple(unwrap(item) for item in value)
    if isinstance(value, list):
        return [unwrap(item) for item in value]
    if isinstance(value, dict):
        return {key: unwrap(item) for key, item in value.items()}
    return value


def wrap_result(result: Any, floating: np.dtype[Any] | None) -> Any:
    """The result of a NumPy function as tensors; a float that only integers made takes the dtype `floating`."""
    if isinstance(result, (np.ndarray, np.generic)):
        array = np.asarray(result)
        if floating is not None and array.dtype in WIDE:
            array = array.astype(np.result_type(floating, np.complex64) if array.dtype.kind == "c" else floating)
        return wrap(array)
    if isinstance(result, tuple) and hasattr(result, "_fields"):
        return type(result)(*[wrap_result(item, floating) for item in result])
    if isinstance(result, (tuple, list)):
        return type(result)(wrap_result(item, floating) for item in result)
    return result


def floating_of(values: Any) -> np.dtype[Any] | None:
    """The dtype that replaces NumPy's float64 in a result: None where no integer is among `values`, or a wide float."""
    dtypes = list(dtypes_in(values))
    floats = [dtype for dtype in dtypes if dtype.kind in "fc"]
    if len(floats) == len(dtypes) or any(dtype in WIDE for dtype in floats):
        return None
    return np.result_type(*floats) if floats else FLOAT32


def dtypes_in(values: Any) -> Iterator[np.dtype[Any]]:
    """The dtypes of the tensors and arrays in a tuple or list, nested ones included."""
    for value in values:
        if isinstance(value, Tensor):
            yield value._data.dtype
        elif isinstance(value, (np.ndarray, np.generic)):
            yield value.dtype
        elif isinstance(value, (tuple, list)):
            yield from dtypes_in(value)


def array_of(value: Any, dtype: DType | None) -> np.ndarray:
    """A new array of the content that a tensor is made from."""
    if dtype is not None and not isinstance(dtype, DType):
        raise ArgumentTypeError(f"dtype is one of ad.float32, ad.int64 and so on, not {dtype!r}")
    if isinstance(value, Tensor):
        return np.array(value._data, dtype=dtype)
    if isinstance(value, (np.ndarray, np.generic)):
        dtype_of(value.dtype)
        return np.array(value, dtype=dtype)
    if not isinstance(value, (numbers.Number, list, tuple)):
        raise ArgumentTypeError(f"a Tensor is made from numbers, lists, arrays or tensors, not from {value!r}")
    return array_of_python(unwrap(value), dtype)


def array_of_python(value: Any, dtype: DType | None) -> np.ndarray:
    """A new array of Python numbers; floats among them are float32 unless a dtype is given."""
    try:
        array = np.array(value)
    except ValueError as error:
        raise ArgumentTypeError(f"a Tensor is rectangular: {error}") from None
    dtype_of(array.dtype)
    if dtype is not None:
        return array.astype(dtype)
    narrow = {np.dtype(np.float64): FLOAT32, np.dtype(np.complex128): np.dtype(np.complex64)}
    return array if has_numpy(value) else array.astype(narrow.get(array.dtype, array.dtype), copy=False)


def has_numpy(value: Any) -> bool:
    """True if a nested list holds arrays, whose dtype is kept."""
    if isinstance(value, (list, tuple)):
        return any(has_numpy(item) for item in value)
    return isinstance(value, (np.ndarray, np.generic))


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
        """True if it is trained."""
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
        of = f"shape={self.shape}, dtype={self.dtype}, requires_grad={self.requires_grad}"
        return f"Parameter (name={self.name}, {of})"

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
