"""The calls: `grad`, `value_and_grad` and their relatives, with MindSpore's parameters and return structures.

Everything here is checked and arranged around three objects of the compiler: `Adjoint` (values and gradients),
`Pullback` (a value and a function from seeds to gradients) and `Pushforward` (a value and its tangent).  The compiler
is imported at the first call, so that importing the package stays quick.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Literal, ParamSpec, Protocol, TypedDict, TypeVar, Unpack, overload

from ..core.process_state import require_recording
from ..errors import ArgumentTypeError, ArgumentValueError
from ..tensor import Parameter
from .arguments import (
    Positions,
    checked_backend,
    checked_callable,
    checked_flag,
    checked_memory,
    checked_positions,
    checked_weights,
    chosen_positions,
    fitted,
    refuse_input,
    split_aux,
)
from .entry import compiled, dispatch, made
from .gradfunction import GradFunction, part
from .tracebacks import shortened

__all__ = ["adjoint_source", "grad", "jvp", "stop_gradient", "value_and_grad", "vjp"]

P = ParamSpec("P")
F = TypeVar("F", bound=Callable[..., Any])
R = TypeVar("R")
T = TypeVar("T")
Backend = Literal["numpy", "numba", "auto"]


class Settings(TypedDict, total=False):
    """The settings of `grad` and `value_and_grad` that are given by name."""

    return_ids: bool
    backend: Backend
    memory: int | str | None
    argnums: int | tuple[int, ...] | None


class Means(TypedDict, total=False):
    """The back end and the memory with which a derivative runs."""

    backend: Backend
    memory: int | str | None


class Gradient(Protocol):
    """The decorator that `grad` without a function is."""

    def __call__(self, fn: Callable[P, Any], /) -> GradFunction[P, Any]: ...


class ValueAndGradient(Protocol):
    """The decorator that `value_and_grad` without a function is."""

    def __call__(self, fn: Callable[P, R], /) -> GradFunction[P, tuple[R, Any]]: ...


class Missing:
    """The type of the default of `fn`, which None cannot be: differentiating None is an error."""

    def __repr__(self) -> str:
        return "..."


MISSING: Any = Missing()


def not_empty(make: F) -> F:
    """Raise TypeError for a call without any argument, which is neither of a function nor a decorator."""

    @functools.wraps(make)
    def call(*args: Any, **settings: Any) -> Any:
        if not args and not settings:
            raise ArgumentTypeError(f"{make.__name__}() misses its function: write {make.__name__}(fn)")
        return make(*args, **settings)

    return call  # type: ignore[return-value]


@overload
def grad(
    fn: Callable[..., Any],
    grad_position: Positions = 0,
    weights: Any = None,
    has_aux: bool = False,
    *,
    sens_param: Literal[True],
    **settings: Unpack[Settings],
) -> GradFunction[..., Any]: ...


@overload
def grad(
    fn: Callable[P, R],
    grad_position: Positions = 0,
    weights: Any = None,
    has_aux: bool = False,
    **settings: Unpack[Settings],
) -> GradFunction[P, Any]: ...


@overload
def grad(
    *,
    grad_position: Positions = 0,
    weights: Any = None,
    has_aux: bool = False,
    sens_param: bool = False,
    **settings: Unpack[Settings],
) -> Gradient: ...


@shortened(None)
@not_empty
def grad(
    fn: Any = MISSING,
    grad_position: int | tuple[int, ...] | None = 0,
    weights: Any = None,
    has_aux: bool = False,
    return_ids: bool = False,
    sens_param: bool = False,
    backend: str = "numpy",
    memory: int | str | None = None,
    *,
    argnums: int | tuple[int, ...] | None = None,
) -> Any:
    """Make the function that computes the gradient of `fn`.

    Parameters
    ----------
    fn : callable or Cell
        What is differentiated.  Left out, `grad` is a decorator: ``@grad(grad_position=(0, 1))``.
    grad_position : int, tuple of int or None
        Positions of the arguments to differentiate with respect to; keyword arguments are numbered after the
        positional ones.
    weights : Parameter, or list, tuple or ParameterTuple of them, optional
        Parameters to differentiate with respect to.
    has_aux : bool
        Whether `fn` returns a tuple whose first element only is differentiated.
    return_ids : bool
        Whether each gradient is paired with its position or its parameter's name.
    sens_param : bool
        Whether the last argument of the call is the seed: the derivative by the output.
    backend : {'numpy', 'numba', 'auto'}
        What runs the adjoint.  ``"numba"`` compiles it to machine code, whose results equal NumPy's within rounding;
        what it cannot compile stays NumPy code, with a `NativeWarning`.  ``"auto"`` does so where numba is installed
        and the program has loops that it can compile.
    memory : int or str, optional
        A budget for what the loops save, in bytes or as ``"200 MB"``: outermost loops over ranges keep their state at
        the start of segments, as with `segments`, of a length that the run chooses to fit.  A `MemoryWarning` says
        where it is estimated not to fit, or which loop cannot be run so.
    argnums : int or tuple of int, optional
        `grad_position` under JAX's name: a tuple of one position gives a tuple of one gradient.

    Returns
    -------
    GradFunction
        Called as `fn` is.  It returns the bare gradient for one position or one Parameter, else a tuple; the pair of
        both with positions and weights; the pair of this and the auxiliary outputs with `has_aux`.  A gradient has the
        kind, the shape and the dtype of its argument.  Outputs that are not scalar are summed.

    Raises
    ------
    ValueError
        If `grad_position` and `weights` are both None, or a position is negative or named twice.
    TypeError
        If an argument has a wrong type, or both `grad_position` and `argnums` are given.
    RuntimeError
        Inside `tape.no_grad()`.

    Examples
    --------
    >>> grad(lambda x, y: x * x * y, (0, 1))(3.0, 2.0)
    (12.0, 9.0)
    """
    require_recording()
    positions, always_tuple = chosen_positions(grad_position, argnums)
    settings = (positions, weights, has_aux, return_ids, sens_param, "grad", always_tuple, backend, memory)
    return decorator(settings) if fn is MISSING else GradFunction(fn, *settings)


@overload
def value_and_grad(
    fn: Callable[..., Any],
    grad_position: Positions = 0,
    weights: Any = None,
    has_aux: bool = False,
    *,
    sens_param: Literal[True],
    **settings: Unpack[Settings],
) -> GradFunction[..., Any]: ...


@overload
def value_and_grad(
    fn: Callable[P, R],
    grad_position: Positions = 0,
    weights: Any = None,
    has_aux: bool = False,
    **settings: Unpack[Settings],
) -> GradFunction[P, tuple[R, Any]]: ...


@overload
def value_and_grad(
    *,
    grad_position: Positions = 0,
    weights: Any = None,
    has_aux: bool = False,
    sens_param: bool = False,
    **settings: Unpack[Settings],
) -> ValueAndGradient: ...


@shortened(None)
@not_empty
def value_and_grad(
    fn: Any = MISSING,
    grad_position: int | tuple[int, ...] | None = 0,
    weights: Any = None,
    has_aux: bool = False,
    return_ids: bool = False,
    sens_param: bool = False,
    backend: str = "numpy",
    memory: int | str | None = None,
    *,
    argnums: int | tuple[int, ...] | None = None,
) -> Any:
    """Make the function that computes the value of `fn` and its gradient.

    The parameters and errors are those of `grad`.

    Returns
    -------
    GradFunction
        Called as `fn` is.  It returns the whole output of `fn`, bit for bit, paired with the gradient as `grad` has it.

    Examples
    --------
    >>> value_and_grad(lambda x: x * x)(3.0)
    (9.0, 6.0)
    """
    require_recording()
    positions, always_tuple = chosen_positions(grad_position, argnums)
    settings = (positions, weights, has_aux, return_ids, sens_param, "value_and_grad", always_tuple, backend, memory)
    return decorator(settings) if fn is MISSING else GradFunction(fn, *settings)


def decorator(settings: tuple[Any, ...]) -> Callable[[Any], GradFunction]:
    """The decorator that `grad` without a function is; its settings are checked at once."""
    GradFunction(len, *settings)
    return lambda fn: GradFunction(fn, *settings)


@overload
def vjp(
    fn: Callable[..., Any], *inputs: Any, weights: Any = None, has_aux: Literal[True], **settings: Unpack[Means]
) -> tuple[Any, Callable[..., Any], Any]: ...


@overload
def vjp(
    fn: Callable[..., R], *inputs: Any, weights: None = None, has_aux: Literal[False] = False, **settings: Unpack[Means]
) -> tuple[R, Callable[..., tuple[Any, ...]]]: ...


@overload
def vjp(
    fn: Callable[..., R], *inputs: Any, weights: Any, has_aux: Literal[False] = False, **settings: Unpack[Means]
) -> tuple[R, Callable[..., tuple[tuple[Any, ...], Any]]]: ...


@shortened(lambda fn, *inputs, **_: fn(*inputs))
def vjp(
    fn: Any,
    *inputs: Any,
    weights: Any = None,
    has_aux: bool = False,
    backend: str = "numpy",
    memory: int | str | None = None,
) -> Any:
    """Compute the value of `fn` and the function that maps vectors for its outputs to gradients.

    Parameters
    ----------
    fn : callable or Cell
        What is differentiated.
    *inputs : Tensor, array, float or containers of them
        Its arguments; it is differentiated with respect to all of them.
    weights : Parameter, or list, tuple or ParameterTuple of them, optional
        Parameters to differentiate with respect to, too.
    has_aux : bool
        Whether `fn` returns a tuple whose first element only is differentiated.
    backend : {'numpy', 'numba', 'auto'}
        As for `grad`; the function that is returned may be called many times, and stays NumPy code.
    memory : int or str, optional
        As for `grad`.

    Returns
    -------
    value
        The output, or its first element with `has_aux`.
    vjp_fn : callable
        Takes one vector for each output, or one tuple of them, as often as wanted.  Returns the tuple of the gradients
        by the inputs; with `weights`, the pair of this and the gradients by the weights.
    aux
        With `has_aux` only: the rest of the output, bare where it is one.

    Raises
    ------
    TypeError
        If an input or a vector is no number or array, or an argument has a wrong type.
    ValueError
        If a vector has another shape than its output, or there is nothing beside one output with `has_aux`.

    Examples
    --------
    >>> value, pull = vjp(lambda x, y: x * y, 3.0, 4.0)
    >>> value, pull(1.0)
    (12.0, (4.0, 3.0))
    """
    checked_callable(fn)
    checked_flag(has_aux, "has_aux")
    parameters = checked_weights(weights)
    for k, value in enumerate(inputs):
        refuse_input(value, f"input {k} of vjp")
    positions = tuple(range(len(inputs)))
    make = made if parameters else compiled
    settings = positions, parameters, has_aux, checked_backend(backend)
    pullback = make("Pullback", fn, *settings, memory=checked_memory(memory))
    output, pull = pullback.run(inputs, {})
    first, aux = split_aux(output) if has_aux else (output, None)

    def vjp_fn(*vectors: Any) -> Any:
        """Map vectors for the outputs to gradients."""
        by_inputs, by_weights = pull(seed_of(vectors, first))
        if weights is None:
            return by_inputs
        return by_inputs, part(by_weights, isinstance(weights, Parameter), None)

    return (first, vjp_fn, aux) if has_aux else (first, vjp_fn)


def seed_of(vectors: tuple[Any, ...], output: Any) -> Any:
    """The seed that the arguments of a vjp function are: one vector, one for each output, or one tuple of them."""
    several = isinstance(output, (tuple, list))
    if several and not (len(vectors) == 1 and isinstance(vectors[0], (tuple, list))):
        return fitted(vectors, output, "the vectors")
    if len(vectors) != 1:
        raise ArgumentValueError(f"the function has one output: one vector is wanted, not {len(vectors)}")
    return fitted(vectors[0], output, "the vector")


@overload
def jvp(
    fn: Callable[..., Any], inputs: Any, v: Any, has_aux: Literal[True], backend: Backend = "numpy"
) -> tuple[Any, Any, Any]: ...


@overload
def jvp(
    fn: Callable[..., R], inputs: Any, v: Any, has_aux: Literal[False] = False, backend: Backend = "numpy"
) -> tuple[R, R]: ...


@shortened(lambda fn, inputs, *_, **__: fn(*inputs) if isinstance(inputs, (tuple, list)) else fn(inputs))
def jvp(fn: Any, inputs: Any, v: Any, has_aux: bool = False, backend: str = "numpy") -> Any:
    """Compute the value of `fn` and its derivative in one direction.

    Parameters
    ----------
    fn : callable or Cell
        What is differentiated.
    inputs : Tensor, array, float, or tuple or list of the arguments
        Where.
    v : like `inputs`
        The direction: for each input a vector of its shape.
    has_aux : bool
        Whether `fn` returns a tuple whose first element only is differentiated.
    backend : {'numpy', 'numba', 'auto'}
        As for `grad`.

    Returns
    -------
    value
        The output, or its first element with `has_aux`.
    tangent
        The derivative, with the structure of the value.
    aux
        With `has_aux` only: the rest of the output, bare where it is one.

    Raises
    ------
    TypeError
        If an input is no number or array.
    ValueError
        If `inputs` and `v` differ in number or shape, or there is nothing beside one output with `has_aux`.

    Examples
    --------
    >>> jvp(lambda x, y: x * y, (3.0, 4.0), (1.0, 0.0))
    (12.0, 4.0)
    """
    checked_callable(fn)
    checked_flag(has_aux, "has_aux")
    arguments = tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,)
    directions = tuple(v) if isinstance(v, (tuple, list)) else (v,)
    if len(arguments) != len(directions):
        raise ArgumentValueError(f"jvp got {len(arguments)} inputs and {len(directions)} vectors")
    for k, value in enumerate(arguments):
        refuse_input(value, f"input {k} of jvp")
    tangents = tuple(fitted(d, x, f"v[{k}]") for k, (d, x) in enumerate(zip(directions, arguments)))
    push = compiled("Pushforward", fn, tuple(range(len(arguments))), has_aux, checked_backend(backend))
    output, tangent = push.run(arguments, {}, tangents)
    if not has_aux:
        return output, tangent
    first, aux = split_aux(output)
    return first, tangent, aux


def stop_gradient(value: T) -> T:
    """Return `value` itself, as a constant to derivatives; of a tensor of the tape, its detached twin.

    Examples
    --------
    >>> grad(lambda x: x * stop_gradient(x))(3.0)
    3.0
    """
    if hasattr(type(value), "__autodiff_taped__"):
        return value.detach()  # type: ignore[attr-defined]
    if type(value) in (list, tuple) and any(hasattr(type(v), "__autodiff_taped__") for v in value):  # type: ignore[attr-defined]
        return type(value)([stop_gradient(v) for v in value])  # type: ignore[call-arg, attr-defined]
    return value


@shortened(None)
def adjoint_source(
    fn: Any,
    *args: Any,
    grad_position: int | tuple[int, ...] | None = 0,
    weights: Any = None,
    has_aux: bool = False,
    stage: str | None = None,
    backend: str = "numpy",
    explain: bool = False,
    memory: int | str | None = None,
    **kwargs: Any,
) -> str:
    """Return the text of the adjoint of `fn`.

    Parameters
    ----------
    fn : callable or Cell
        What is differentiated.
    *args, **kwargs
        Example arguments, for whose kinds, dtypes and ranks the text is specialised.  Without any: the text that is
        right for all.
    grad_position, weights, has_aux, backend, memory
        As for `grad`.
    stage : str, optional
        Return what this stage or pass of the pipeline made instead; for ``"changes"``, the program after each pass that
        changes it.
    explain : bool
        Whether comments say what is kept, saved, computed again, put back or taken out of a loop, and which reverse
        line reads it.

    Raises
    ------
    TypeError, ValueError
        As `grad`.
    """
    positions = checked_positions(grad_position, weights) or ()
    adjoint = dispatch().Adjoint(
        checked_callable(fn), positions, checked_weights(weights), has_aux, False, False, checked_backend(backend)
    )
    adjoint.explain, adjoint.memory = checked_flag(explain, "explain"), checked_memory(memory)
    return adjoint.source(*args, **kwargs) if stage is None else adjoint.stage(stage, args, kwargs)
