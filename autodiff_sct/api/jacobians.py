"""Jacobians, assembled from pullbacks (one for each element of the output) or pushforwards (one for each input's),
and second derivatives by one call: Hessians, and their products with a direction.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, ParamSpec

import numpy as np

from ..compiler.domain.pytree import leaves, replaced
from ..core.process_state import require_recording
from ..errors import ArgumentTypeError
from ..runtime.objects import is_sparse
from ..tensor import Tensor, wrap
from .arguments import (
    checked_backend,
    checked_callable,
    checked_flag,
    checked_jacobian_positions,
    chosen_positions,
    fitted,
    name_of,
    split_aux,
)
from .entry import compiled, shared
from .gradfunction import GradFunction, html_of, is_special, parameter_names
from .gradients import jvp
from .tracebacks import shortened

__all__ = ["JacobianFunction", "hessian", "hvp", "jacfwd", "jacrev"]

P = ParamSpec("P")


class JacobianFunction(Generic[P]):
    """The Jacobian of a function, called with the function's own arguments.  Made by `jacrev` and `jacfwd`.

    Attributes
    ----------
    fn : callable
        What is differentiated.
    grad_position : int or tuple of int
        Positions of the arguments to differentiate with respect to.
    has_aux : bool
        Whether only the first element of the output is differentiated.
    kind : {'jacrev', 'jacfwd'}
        The mode.
    backend : {'numpy', 'numba', 'auto'}
        What runs the derivatives.
    always_tuple : bool
        True if one position gives a tuple of one Jacobian.
    """

    PUBLIC = ("always_tuple", "backend", "fn", "grad_position", "has_aux", "kind", "source", "source_for")
    # What the compiler knows a Jacobian function by, to differentiate it.
    __autodiff_gradient__ = True

    def __init__(
        self,
        fn: Callable[..., Any],
        grad_position: Any,
        has_aux: bool,
        kind: str,
        backend: str = "numpy",
        always_tuple: bool = False,
    ) -> None:
        self.backend = checked_backend(backend)
        self.fn = fn
        self.grad_position = grad_position
        self.has_aux = checked_flag(has_aux, "has_aux")
        self.kind = kind
        self.always_tuple = always_tuple
        self.__autodiff_products__: dict[Any, Any] = {}
        self.__name__ = name_of(fn)
        self.__doc__ = getattr(fn, "__doc__", None)

    @shortened(lambda self, *args, **kwargs: self.fn(*args, **kwargs))
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Any:
        checked_callable(self.fn)
        positions = checked_jacobian_positions(self.grad_position, len(args) + len(kwargs))
        output, aux, blocks = PRODUCTS[self.kind][1](self, self.product(positions), args, kwargs)
        one = len(positions) == 1 and not self.always_tuple
        parts = [row[0] if one else tuple(row) for row in blocks]
        jacobian = tuple(parts) if isinstance(output, (tuple, list)) else parts[0]
        return (jacobian, aux) if self.has_aux else jacobian

    def product(self, positions: tuple[int, ...]) -> Any:
        """The pullback, or the pushforward, that the Jacobian is made with."""
        kind = PRODUCTS[self.kind][0]
        weights: tuple[Any, ...] = ((),) if kind == "Pullback" else ()
        return compiled(kind, self.fn, positions, *weights, self.has_aux, self.backend)

    @property
    def source(self) -> str:
        """The text of what the last call ran, or for arguments of any kind where there was none."""
        return self.source_for()

    @shortened(None)
    def source_for(self, /, *args: Any, **kwargs: Any) -> str:
        """The text of what a call with these arguments runs: once for each row, or for each column."""
        count = len(args) + len(kwargs) or len(parameter_names(self.fn))
        positions = checked_jacobian_positions(self.grad_position, count)
        return self.product(positions).source(*args, **kwargs)  # type: ignore[no-any-return]

    def _repr_html_(self) -> str:
        return html_of(self)

    def by_rows(self, pullback: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The output, the auxiliary output, and for each output its Jacobian by each input."""
        value, pull = pullback.run(args, kwargs)
        inputs = pullback.inputs(args, kwargs)
        output, aux = split_aux(value) if self.has_aux else (value, None)
        outputs = outputs_of(output)
        blocks = []
        for k in range(len(outputs)):
            rows = [pull(rebuilt(output, seeds))[0] for seeds in units(outputs, k)]
            by_input = [[row[j] for row in rows] for j in range(len(inputs))]
            blocks.append([stacked(found, outputs[k], x) for found, x in zip(by_input, inputs)])
        return output, aux, blocks

    def by_columns(self, push: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The output, the auxiliary output, and for each output its Jacobian by each input."""
        inputs = push.inputs(args, kwargs)
        flat = [leaf for x in inputs for leaf in numbers_of(x)]
        # An input without elements has no direction: the output is still wanted.
        every = [d for j in range(len(flat)) for d in units(flat, j)]
        runs = [push.run(args, kwargs, containers(inputs, d)) for d in every or [[zeros_like(x) for x in flat]]]
        output, aux = split_aux(runs[0][0]) if self.has_aux else (runs[0][0], None)
        outputs = outputs_of(output)
        columns = [outputs_of(tangent) for _, tangent in runs] if every else []
        tables = [columns_stacked(columns, k, y, flat) for k, y in enumerate(outputs)]
        return output, aux, [[*containers(inputs, found)] for found in tables]

    def __dir__(self) -> list[str]:
        return [*filter(is_special, object.__dir__(self)), *self.PUBLIC]

    def __repr__(self) -> str:
        return f"<Jacobian of {self.__name__} by {self.kind}, grad_position={self.grad_position}>"


PRODUCTS = {"jacrev": ("Pullback", JacobianFunction.by_rows), "jacfwd": ("Pushforward", JacobianFunction.by_columns)}


def numbers_of(x: Any) -> list[Any]:
    """The numbers and arrays in an input: TypeError where there are none."""
    if is_sparse(x):
        raise ArgumentTypeError(
            "an input of a Jacobian is a sparse matrix: differentiate by its elements,"
            " `jacrev(lambda data: f(csr_array((data, S.indices, S.indptr))))(S.data)`"
        )
    found = list(leaves(x, x))
    if not found and isinstance(x, (int, np.ndarray, np.generic)) and np.asarray(x).dtype.kind in "iu":
        raise ArgumentTypeError("an input of a Jacobian holds integers: pass floats, `float(x)` or `x.astype(float)`")
    if not found:
        raise ArgumentTypeError(
            f"an input of a Jacobian is a tensor, an array, a float or a container of them, not {type(x).__name__}"
        )
    return found


def containers(inputs: list[Any], found: list[Any]) -> tuple[Any, ...]:
    """The inputs with other numbers and arrays in them."""
    rest = iter(found)
    return tuple([replaced(x, rest) for x in inputs])


def columns_stacked(columns: list[Any], k: int, y: Any, flat: list[Any]) -> list[Any]:
    """The Jacobian of output `k` by each number or array."""
    start, tables = 0, []
    for x in flat:
        found = [np.asarray(column[k]) for column in columns[start : start + size(x)]]
        start += size(x)
        table = np.stack(found, -1) if found else np.zeros((*np.shape(y), 0), np.asarray(y).dtype)
        tables.append(finished(table.reshape(np.shape(y) + np.shape(x)), y, x))
    return tables


def size(x: Any) -> int:
    """The number of elements of an array or a number."""
    return math.prod(np.shape(x))


def outputs_of(output: Any) -> list[Any]:
    """The outputs of a function one by one: TypeError where they are neither arrays nor numbers."""
    outputs = list(output) if isinstance(output, (tuple, list)) else [output]
    for y in outputs:
        require_array(y, "an output of a Jacobian")
    return outputs


def require_array(x: Any, what: str) -> None:
    """TypeError unless `x` is an array or a number that has a derivative."""
    if isinstance(x, bool) or not isinstance(x, (Tensor, np.ndarray, np.generic, float, complex)):
        raise ArgumentTypeError(f"{what} is a tensor, an array or a float, not {type(x).__name__}")


def zeros_like(x: Any) -> Any:
    """The zero of the kind of `x`, as vectors are given to the compiler."""
    return fitted(np.zeros(np.shape(x)), x, "zeros")


def units(values: list[Any], which: int) -> Iterator[list[Any]]:
    """The unit vectors of ``values[which]``: for each element one that is 1 there and 0 elsewhere."""
    zeros = [zeros_like(x) for x in values]
    for index in np.ndindex(np.shape(values[which])):
        unit = np.zeros(np.shape(values[which]))
        unit[index] = 1
        yield [fitted(unit, x, "unit") if k == which else zeros[k] for k, x in enumerate(values)]


def rebuilt(output: Any, seeds: list[Any]) -> Any:
    """Seeds in the structure of the output."""
    if not isinstance(output, (tuple, list)):
        return seeds[0]
    return type(output)(*seeds) if hasattr(output, "_fields") else type(output)(seeds)


def stacked(rows: list[Any], y: Any, x: Any) -> Any:
    """The gradients of the elements of `y` as one Jacobian, in the container that `x` is."""
    found = [list(leaves(row, x)) for row in rows]
    tables = []
    for k, leaf in enumerate(numbers_of(x)):
        arrays = [np.asarray(row[k]) for row in found]
        table = np.stack(arrays) if arrays else np.zeros((0, *np.shape(leaf)), np.asarray(leaf).dtype)
        tables.append(finished(table.reshape(np.shape(y) + np.shape(leaf)), y, leaf))
    return replaced(x, iter(tables))


def finished(table: np.ndarray, y: Any, x: Any) -> Any:
    """A Jacobian in the kind that output and input call for."""
    if isinstance(y, Tensor) or isinstance(x, Tensor):
        return wrap(table)
    if table.shape == () and not isinstance(x, np.ndarray):
        return table[()] if isinstance(x, np.generic) else table.item()
    return table


def jacrev(
    fn: Callable[P, Any],
    grad_position: int | tuple[int, ...] = 0,
    has_aux: bool = False,
    backend: str = "numpy",
    *,
    argnums: int | tuple[int, ...] | None = None,
) -> JacobianFunction[P]:
    """Make the function that computes the Jacobian of `fn`, row by row in reverse mode.

    Parameters
    ----------
    fn : callable or Cell
        What is differentiated.
    grad_position : int or tuple of int
        Positions of the arguments to differentiate with respect to.
    has_aux : bool
        Whether `fn` returns a tuple whose first element only is differentiated.
    backend : {'numpy', 'numba', 'auto'}
        As for `grad`; only forward mode, `jacfwd`, has a native form.
    argnums : int or tuple of int, optional
        `grad_position` under JAX's name: a tuple of one position gives a tuple of one Jacobian.

    Returns
    -------
    JacobianFunction
        Called as `fn` is.  For one output and one position it returns an array of shape ``out.shape + in.shape``; for
        several positions a tuple; for several outputs a tuple of these.  With `has_aux`, the pair of this and the
        auxiliary outputs, bare where there is one.

    Raises
    ------
    TypeError
        If `has_aux` is not a bool; on the call, if `grad_position` is None.
    ValueError
        On the call, if a position is negative, named twice or too large.

    Examples
    --------
    >>> import numpy as np
    >>> print(jacrev(lambda x: x[:2] * x[1])(np.array([1.0, 2.0, 3.0])))
    [[2. 1. 0.]
     [0. 4. 0.]]
    """
    positions, always_tuple = chosen_positions(grad_position, argnums)
    return JacobianFunction(fn, positions, has_aux, "jacrev", backend, always_tuple)


def jacfwd(
    fn: Callable[P, Any],
    grad_position: int | tuple[int, ...] = 0,
    has_aux: bool = False,
    backend: str = "numpy",
    *,
    argnums: int | tuple[int, ...] | None = None,
) -> JacobianFunction[P]:
    """Make the function that computes the Jacobian of `fn`, column by column in forward mode.

    The parameters, results and errors are those of `jacrev`; the function runs once for each element of its inputs.
    """
    positions, always_tuple = chosen_positions(grad_position, argnums)
    return JacobianFunction(fn, positions, has_aux, "jacfwd", backend, always_tuple)


def hessian(
    fn: Callable[P, Any],
    grad_position: int | tuple[int, ...] = 0,
    *,
    argnums: int | tuple[int, ...] | None = None,
) -> JacobianFunction[P]:
    """Make the function that computes the Hessian of `fn`: the Jacobian of its gradient, column by column.

    It costs one product of the Hessian with a direction for each number that is differentiated with respect to; `hvp`
    computes a single one.

    Parameters
    ----------
    fn : callable or Cell
        The function.  Outputs that are not scalar are summed.
    grad_position : int or tuple of int
        The positions of the arguments to differentiate with respect to.
    argnums : int or tuple of int, optional
        The same under JAX's name, as for `grad`.

    Returns
    -------
    JacobianFunction
        Called as `fn` is.  For one position it returns an array of shape ``in.shape + in.shape``, for several a tuple
        with an item for each position, each a tuple of the blocks with respect to each position.

    Examples
    --------
    >>> hessian(lambda x, y: x**3 * y, (0, 1))(2.0, 5.0)
    ((60.0, 12.0), (12.0, 0.0))
    """
    require_recording()
    positions, always_tuple = chosen_positions(grad_position, argnums)
    gradient = gradient_of(fn, positions, always_tuple)
    return JacobianFunction(gradient, positions, False, "jacfwd", always_tuple=always_tuple)


def hvp(fn: Callable[..., Any], inputs: Any, v: Any) -> Any:
    """Compute the product of the Hessian of `fn` with a direction, at the cost of a few gradients.

    Parameters
    ----------
    fn : callable or Cell
        The function.  Outputs that are not scalar are summed.
    inputs : Tensor, array, float, container of them, or tuple or list of the arguments
        The point, given as for `jvp`.
    v : like `inputs`
        The direction: for each input a vector of its shape.

    Returns
    -------
    product
        The derivative of the gradient in the direction `v`: a tuple with an item for each input, or the bare item if
        `inputs` is not a tuple or list.

    Examples
    --------
    >>> hvp(lambda x: x**3, 2.0, 1.0)
    12.0
    >>> hvp(lambda x, y: x**3 * y, (2.0, 5.0), (1.0, 0.0))
    (60.0, 12.0)
    """
    require_recording()
    product = shared(lambda fn: HessianProduct(fn, GradFunction(slope_of(fn), 0)), fn, ("hvp",))
    if not isinstance(inputs, (tuple, list)):
        return product.gradient(inputs, v)
    return product.gradient(tuple(inputs), tuple(v))


@dataclass
class HessianProduct:
    """The gradient of the slope of `fn` along a direction, which is shared by all calls."""

    fn: Callable[..., Any]
    gradient: GradFunction
    original: Any = None


def slope_of(fn: Callable[..., Any]) -> Callable[..., Any]:
    """The function of a point and a direction whose gradient by the point is a product with the Hessian.

    Reverse over forward mode: the tangents of an emitted program are quicker to reverse than its adjoint is to push.
    """

    def slope(inputs: Any, v: Any) -> Any:
        return jvp(fn, inputs, v)[1]

    return slope


def gradient_of(fn: Callable[..., Any], positions: Any, always_tuple: bool) -> GradFunction:
    """Return the gradient function of an earlier call if there is one, with what was compiled for its derivatives."""
    return shared(  # type: ignore[no-any-return]
        lambda fn: GradFunction(fn, positions, always_tuple=always_tuple), fn, ("gradient", positions, always_tuple)
    )
