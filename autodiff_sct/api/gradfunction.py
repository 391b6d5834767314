"""`GradFunction`, what `grad` returns: the adjoint of a function as an object that is called like the function."""

from __future__ import annotations

import copy
import functools
import inspect
import os
import types
from collections.abc import Callable
from typing import (
    Any,
    Concatenate,
    Generic,
    NoReturn,
    ParamSpec,
    TypeVar,
    overload,
)

import numpy as np

from ..compiler.domain.pytree import holds_chunked
from ..core.highlight import highlighted_html
from ..core.process_state import Lock
from ..errors import ArgumentRuntimeError, ArgumentTypeError, AutodiffError, NotDifferentiable
from ..tensor import Parameter, Tensor
from .arguments import (
    as_floats,
    as_given,
    checked_backend,
    checked_callable,
    checked_flag,
    checked_memory,
    checked_positions,
    checked_weights,
    is_integer_tensor,
    name_of,
    refuse_position,
    require_aux,
)
from .entry import compiled, is_unchanged, made
from .tracebacks import presented

__all__ = ["GradFunction", "ParameterName", "assemble", "get_grad", "html_of", "parameter_names"]


P = ParamSpec("P")
Q = ParamSpec("Q")
R = TypeVar("R")

PREPARING = Lock()


class ParameterName(str):
    """The name of a parameter that remembers which parameter it names."""

    __slots__ = ("parameter",)
    parameter: Parameter

    def __new__(cls, parameter: Parameter) -> ParameterName:
        name = super().__new__(cls, parameter.name)
        name.parameter = parameter
        return name

    def __reduce__(self) -> tuple[Any, ...]:
        return ParameterName, (self.parameter,)


# The compiler inlines these three: plain code over flags that are known when it does.


def assemble(
    value: Any,
    position_gradients: Any,
    weight_gradients: Any,
    by_positions: bool,
    by_weights: bool,
    one_position: bool,
    one_weight: bool,
    position_ids: Any,
    weight_ids: Any,
    has_aux: bool,
    with_value: bool,
) -> Any:
    """MindSpore's return structure of a value and its gradients."""
    gradient = arranged(
        position_gradients,
        weight_gradients,
        by_positions,
        by_weights,
        one_position,
        one_weight,
        position_ids,
        weight_ids,
    )
    if with_value:
        return value, gradient
    if has_aux:
        return gradient, value[1:]
    return gradient


def arranged(
    position_gradients: Any,
    weight_gradients: Any,
    by_positions: bool,
    by_weights: bool,
    one_position: bool,
    one_weight: bool,
    position_ids: Any,
    weight_ids: Any,
) -> Any:
    """The gradients by positions, by weights, or the pair of both."""
    if not by_weights:
        return part(position_gradients, one_position, position_ids)
    if not by_positions:
        return part(weight_gradients, one_weight, weight_ids)
    return part(position_gradients, one_position, position_ids), part(weight_gradients, one_weight, weight_ids)


def part(gradients: Any, one: bool, ids: Any) -> Any:
    """The gradients as a tuple, or bare where there is `one`, each paired with its id where there are `ids`."""
    if ids is None:
        return gradients[0] if one else gradients
    if one:
        return ids[0], gradients[0]
    return tuple([(name, gradient) for name, gradient in zip(ids, gradients)])


class GradFunction(Generic[P, R]):
    """The gradient of a function, called with the function's own arguments.

    Made by `grad` and `value_and_grad`; see there for the parameters.

    Attributes
    ----------
    fn : callable
        What is differentiated.
    positions : tuple of int or None
        Positions of the arguments to differentiate with respect to.
    weights : Parameter, sequence of Parameter or None
        Parameters to differentiate with respect to.
    has_aux, return_ids, sens_param : bool
        As given.
    kind : {'grad', 'value_and_grad'}
        Whether the value is returned as well.
    backend : {'numpy', 'numba', 'auto'}
        What runs the adjoint.
    memory : int or None
        The bytes that what its loops save may take.
    """

    # What `dir` shows beside the special methods: the rest is for the package.
    PUBLIC = (
        *("backend", "compiled", "fn", "has_aux", "kind", "memory", "positions", "return_ids", "sens_param"),
        *("save", "source", "source_for", "weights"),
    )
    # What the compiler knows a gradient function by, to differentiate it.
    __autodiff_gradient__ = True
    # What tells two gradients of one function apart, where their programs are kept on disk.
    __autodiff_settings__ = (
        "kind",
        "positions",
        "has_aux",
        "return_ids",
        "sens_param",
        "always_tuple",
        "backend",
        "skip",
    )

    def __init__(
        self,
        fn: Callable[..., Any],
        grad_position: int | tuple[int, ...] | None = 0,
        weights: Any = None,
        has_aux: bool = False,
        return_ids: bool = False,
        sens_param: bool = False,
        kind: str = "grad",
        always_tuple: bool = False,
        backend: str = "numpy",
        memory: int | str | None = None,
        skip: int = 0,
    ) -> None:
        if isinstance(fn, (np.ndarray, np.generic, Tensor)):
            checked_callable(fn)
        self.take_identity(fn)
        asked = checked_positions(grad_position, weights)
        # Of a method, the instance comes first, and positions as the user counts them leave it out.
        self.skip = skip
        self.positions = None if asked is None else tuple(position + skip for position in asked)
        self.fn = fn
        self.weights = weights
        self.has_aux = checked_flag(has_aux, "has_aux")
        self.return_ids = checked_flag(return_ids, "return_ids")
        self.sens_param = checked_flag(sens_param, "sens_param")
        self.kind = kind
        self.always_tuple = always_tuple
        self.backend = checked_backend(backend)
        self.memory = checked_memory(memory)
        self._method: GradFunction | None = None
        self._adjoint: Any = None
        self._twin: Any = None  # the function that the adjoint was made of, if that is another one of the same text
        self.__autodiff_products__: dict[Any, Any] = {}
        self._run: Callable[..., Any] | None = None
        self._called = False
        self._form: tuple[Any, ...] = ()
        self._bare: bool | None = None  # of gradients by positions alone, and nothing else: whether there is one
        self._least = 0 if not self.positions else max(self.positions) + 1

    def take_identity(self, fn: Any) -> None:
        """Take the name, signature and docstring of what is differentiated."""
        shown = getattr(fn, "construct", fn)
        if not callable(shown):
            return
        functools.update_wrapper(self, shown, updated=())
        self.__name__ = name_of(fn)
        self.__doc__ = getattr(fn, "__doc__", None)

    def __getattr__(self, name: str) -> Any:
        """Read the signature of what is differentiated when somebody asks for it: that takes longer than all else."""
        if name != "__signature__" or "fn" not in vars(self):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        try:
            self.__signature__ = inspect.signature(getattr(self.fn, "construct", self.fn))
        except (TypeError, ValueError):
            raise AttributeError(name) from None  # a builtin that does not tell
        return self.__signature__

    def __call__(self, /, *args: P.args, **kwargs: P.kwargs) -> R:
        __tracebackhide__ = True
        try:
            run = self._run
            if run is None or len(args) < self._least or not (self._twin is None or is_unchanged(self._twin, self.fn)):
                return self.call_carefully(args, kwargs)
            try:
                value, position_gradients, weight_gradients = run(args, kwargs)
            except NotDifferentiable:
                return self.call_carefully(args, kwargs)
            if self._bare is not None:
                return position_gradients[0] if self._bare else position_gradients
            if self.has_aux:
                require_aux(value)
            return assemble(value, position_gradients, weight_gradients, *self._form)
        except Exception as error:
            failure = error
        try:
            raise presented(failure, self.fn, args[:-1] if self.sens_param else args, kwargs)
        finally:
            del failure  # which holds this frame

    def call_carefully(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The call with everything that the short way leaves out: the first call, seeds, keyword arguments."""
        adjoint = self.prepared()
        self._called, self._run = True, None if self.sens_param else adjoint.run
        seeds: tuple[Any, ...] = ()
        if self.sens_param:
            if not args:
                raise ArgumentTypeError("sens_param=True: the last argument of the call is the seed")
            *rest, seed = args
            args, seeds = tuple(rest), (seed,)
        if len(args) + len(kwargs) < self._least:
            refuse_position(self.fn, self.asked() or (), args, kwargs)
        if holds_chunked((args, kwargs)):
            from .chunked import run_chunked

            value, position_gradients, weight_gradients = run_chunked(adjoint, args, kwargs, seeds)
        else:
            try:
                value, position_gradients, weight_gradients = adjoint.run(args, kwargs, *seeds)
            except NotDifferentiable:
                value, position_gradients, weight_gradients = self.run_in_floats(adjoint, args, kwargs, seeds)
        if self.has_aux:
            require_aux(value)
        return assemble(value, position_gradients, weight_gradients, *self._form)

    def run_in_floats(self, adjoint: Any, args: tuple[Any, ...], kwargs: dict[str, Any], seeds: tuple[Any, ...]) -> Any:
        """Run with floats for integer tensors; where there are none, the refusal stands.

        A value is that of the function for the integers: it is called for it, which asks for a function that does
        nothing besides returning.
        """
        chosen = adjoint.inputs(args, kwargs)
        if not any(map(is_integer_tensor, chosen)):
            raise
        floats, named = as_floats(args), dict(zip(kwargs, as_floats(kwargs.values())))
        wanted = self.kind == "value_and_grad" or self.has_aux
        if wanted and adjoint.has_effects(floats, named):
            raise
        value, by_position, by_weight = adjoint.run(floats, named, *seeds)
        names = self.position_names()
        gradients = tuple(as_given(g, x, name, self.fn) for g, x, name in zip(by_position, chosen, names))
        return self.fn(*copy.deepcopy(args), **copy.deepcopy(kwargs)) if wanted else value, gradients, by_weight

    def prepared(self) -> Any:
        """The adjoint, made at the first call: arguments that MindSpore checks then are checked then."""
        with PREPARING:
            if self._adjoint is None or not (self._twin is None or is_unchanged(self._twin, self.fn)):
                self._adjoint = self.prepare()
                made_of = self._adjoint.fn
                self._twin = None if made_of is self.fn or isinstance(made_of, types.MethodType) else made_of
        return self._adjoint

    def prepare(self) -> Any:
        """Check what the constructor could not, and make the adjoint."""
        fn = checked_callable(self.fn)
        weights, self._form = self.form_of_weights()
        bare = self.kind == "grad" and self.weights is None and not (self.return_ids or self.has_aux)
        self._bare = self._form[2] if bare and self.positions is not None else None
        make = made if weights else compiled
        value = self.kind == "value_and_grad"
        settings = self.positions or (), weights, self.has_aux, self.sens_param, value, self.backend
        return make("Adjoint", fn, *settings, memory=self.memory)

    def form_of_weights(self) -> tuple[tuple[Parameter, ...], tuple[Any, ...]]:
        """The weights in a tuple, and the settings of `assemble`, both checked."""
        weights = checked_weights(self.weights)
        if self.positions == ():
            raise ArgumentRuntimeError("grad_position is (): name at least one position, or None")
        return weights, self.form(weights)

    def form(self, weights: tuple[Parameter, ...]) -> tuple[Any, ...]:
        """The settings of `assemble`, after the gradients."""
        by_positions, by_weights = self.positions is not None, self.weights is not None
        one_position = by_positions and len(self.positions or ()) == 1 and not self.always_tuple
        ids = (self.asked(), tuple(ParameterName(weight) for weight in weights)) if self.return_ids else (None, None)
        one_weight = isinstance(self.weights, Parameter)
        return (by_positions, by_weights, one_position, one_weight, *ids, self.has_aux, self.kind == "value_and_grad")

    @property
    def source(self) -> str:
        """The text of the adjoint of the last call, or for arguments of any kind where there was none."""
        adjoint = self.prepared()
        return adjoint.source() if self._called else adjoint.general_source()

    def source_for(self, /, *args: Any, **kwargs: Any) -> str:
        """The text of the adjoint that a call with these arguments runs."""
        return self.prepared().source(*args, **kwargs)

    def compiled(self, /, *args: Any, **kwargs: Any) -> Callable[..., Any]:
        """The plain function that a call with these arguments runs: that of the printed text, with its parameters."""
        return self.prepared().function_for(*args, **kwargs)

    def save(self, path: str | os.PathLike[str], /, *args: Any, **kwargs: Any) -> None:
        """Write the adjoint that a call with these arguments runs, by default that of the last call, to a file.

        The program runs from that file then: breakpoints, line profilers and coverage tools work in it.
        """
        if not (args or kwargs or self._called):
            raise ArgumentRuntimeError(f"no call has been made yet: give example arguments, save({path!r}, *args)")
        self.prepared().save(os.path.abspath(path), args, kwargs)

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> GradFunction[P, R]: ...

    @overload
    def __get__(
        self: GradFunction[Concatenate[Any, Q], R], instance: object, owner: type | None = None
    ) -> Callable[Q, R]: ...

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        # As with any function in a class; a Cell or another object that is differentiated does not bind.
        if instance is None or not hasattr(type(self.fn), "__get__"):
            return self
        if self._method is None:
            self._method = type(self)(*(*self.settings()[:-1], 1))
        return types.MethodType(self._method, instance)

    def asked(self) -> tuple[int, ...] | None:
        """The positions as the user counts them."""
        return None if self.positions is None else tuple(position - self.skip for position in self.positions)

    def settings(self) -> tuple[Any, ...]:
        """The arguments that make an equal gradient function."""
        positions = self.asked()
        if positions is not None and len(positions) == 1 and not self.always_tuple:
            return (self.fn, positions[0], *self.rest_of_settings())
        return (self.fn, positions, *self.rest_of_settings())

    def rest_of_settings(self) -> tuple[Any, ...]:
        """The arguments after the position."""
        flags = self.has_aux, self.return_ids, self.sens_param
        return (self.weights, *flags, self.kind, self.always_tuple, self.backend, self.memory, self.skip)

    def __reduce__(self) -> tuple[Any, ...]:
        from .pickling import by_value

        fn, *rest = self.settings()
        return type(self), (by_value(fn), *rest)

    def __copy__(self) -> GradFunction:
        return type(self)(*self.settings())

    def __deepcopy__(self, memo: dict[int, Any]) -> GradFunction:
        return type(self)(*(copy.deepcopy(setting, memo) for setting in self.settings()))

    def __dir__(self) -> list[str]:
        return [*filter(is_special, object.__dir__(self)), *self.PUBLIC]

    def __repr__(self) -> str:
        what = {"grad": "gradient", "value_and_grad": "value and gradient"}[self.kind]
        flags = [name for name in ("has_aux", "return_ids", "sens_param") if getattr(self, name)]
        extras = f", {', '.join(flags)}" if flags else ""
        return f"<{what} of {name_of(self.fn)} by {self.inputs_text()}{extras}>"

    def position_names(self) -> list[str]:
        """The names of the arguments to differentiate with respect to, where the signature tells them."""
        names = parameter_names(self.fn)
        return [names[p] if p < len(names) else f"argument {p - self.skip}" for p in self.positions or ()]

    def inputs_text(self) -> str:
        """The text that names the differentiated inputs, by parameter where the signature tells the names."""
        texts = self.position_names()
        if self.weights is not None:
            count = 1 if isinstance(self.weights, Parameter) else len(self.weights)
            texts.append(f"{count} weight{'s' if count != 1 else ''}")
        return ", ".join(texts)

    def _repr_html_(self) -> str:
        return html_of(self)


def html_of(derivative: Any) -> str:
    """The text of a gradient or Jacobian function as a notebook shows it, under what it is."""
    try:
        text = derivative.source
    except AutodiffError as error:
        reason = str(error).replace("\n", "\n# ")
        text = f"# its text needs example arguments, `source_for(...)`\n# {reason}"
    return highlighted_html(text, repr(derivative).strip("<>"))


def is_special(name: str) -> bool:
    """True for a name with two underscores before and after."""
    return name.startswith("__") and name.endswith("__")


def parameter_names(fn: Any) -> list[str]:
    """The names of the positional parameters of a function or of a Cell's construct."""
    try:
        parameters = inspect.signature(getattr(fn, "construct", fn)).parameters.values()
    except (TypeError, ValueError):
        return []
    return [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]


def get_grad(gradients: Any, identifier: int | Parameter) -> Any:
    """Find one gradient in what a gradient function with ``return_ids=True`` returned.

    Parameters
    ----------
    gradients : tuple
        The gradients with their ids.
    identifier : int or Parameter
        The position or the parameter.

    Raises
    ------
    RuntimeError
        If it is not among them.
    TypeError
        If the identifier is neither, or `gradients` is no tuple.
    """
    checked_identifier(identifier)
    if not isinstance(gradients, tuple):
        raise ArgumentTypeError(f"gradients is the tuple from a call with return_ids=True, not {gradients!r}")
    found = [gradient for name, gradient in labelled(gradients) if names(name, identifier)]
    return found[0] if found else refuse_identifier(identifier)


def checked_identifier(identifier: Any) -> None:
    """TypeError for what is neither a position nor a Parameter."""
    if isinstance(identifier, bool) or not isinstance(identifier, (int, Parameter)):
        raise ArgumentTypeError(f"a gradient is found by its position or its Parameter, not by {identifier!r}")


def refuse_identifier(identifier: int | Parameter) -> NoReturn:
    """Say that a gradient was not found."""
    shown = identifier.name if isinstance(identifier, Parameter) else identifier
    raise ArgumentRuntimeError(f"there is no gradient of {shown!r} here; was return_ids=True given?")


def labelled(gradients: Any) -> list[tuple[Any, Any]]:
    """The pairs of an id and a gradient, wherever they are nested."""
    if not isinstance(gradients, tuple):
        return []
    if len(gradients) == 2 and isinstance(gradients[0], (int, str)):
        return [(gradients[0], gradients[1])]
    return [pair for item in gradients for pair in labelled(item)]


def names(name: Any, identifier: int | Parameter) -> bool:
    """True if an id is that of a position or a parameter; parameters are told apart by object where they can be."""
    if isinstance(identifier, Parameter):
        if isinstance(name, ParameterName):
            return name.parameter is identifier
        return isinstance(name, str) and name == identifier.name
    return isinstance(name, int) and name == identifier
