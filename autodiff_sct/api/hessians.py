"""Second derivatives by one call: Hessians, and their products with a direction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ParamSpec

from ..core.process_state import require_recording
from .arguments import chosen_positions
from .entry import shared
from .gradfunction import GradFunction
from .gradients import jvp
from .jacobians import JacobianFunction

__all__ = ["hessian", "hvp"]

P = ParamSpec("P")


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
