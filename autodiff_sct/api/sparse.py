"""`sparse_jacobian` and `sparse_hessian`: derivatives as sparse matrices, from few directions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from ..core.process_state import require_recording
from ..errors import ArgumentTypeError, NotDifferentiable
from ..runtime.sparsity import Untraceable, coloured, pattern_of
from .arguments import checked_callable, name_of
from .entry import compiled, made, shared
from .gradients import grad
from .tracebacks import shortened

__all__ = ["SparseJacobian", "sparse_hessian", "sparse_jacobian"]


def sparse_jacobian(fn: Callable[..., Any], grad_position: int = 0) -> SparseJacobian:
    """Make the function that computes the Jacobian of `fn` as a sparse matrix.

    The first call for arguments of a kind and a shape runs the program that the compiler emits on index sets, which
    tells which numbers of the result may depend on which of the input, and colours the columns (or the rows) so that
    those of one colour have nothing in common.  Each call computes one tangent for each colour (or one pullback), and
    one more along a random direction, by which the matrix is checked.  The pattern is found again where the check
    fails, and at each call if the course of the program depends on values.  A function that index sets do not know (a
    product of matrices, a norm, SciPy's) makes all of its result depend on all of its arguments: right, and not sparse.

    Parameters
    ----------
    fn : callable
        A function whose result is an array or a number, without effects besides it.
    grad_position : int
        The position of the argument to differentiate with respect to, a float array or a number.

    Returns
    -------
    SparseJacobian
        Called as `fn` is, by position.  It returns a `scipy.sparse.csr_array` of shape ``(out.size, in.size)``, in
        which arrays of several axes are flat in C order.  Entries of the pattern that are 0 are stored.

    Raises
    ------
    TypeError
        If `fn` cannot be called, or its argument or its result is no float array or number.
    NotDifferentiable
        On the call, if the pattern cannot be found; also a call inside a differentiated function.

    Examples
    --------
    >>> import numpy as np
    >>> print(sparse_jacobian(lambda x: x[1:] * x[:-1])(np.array([1.0, 2.0, 3.0])).toarray())
    [[2. 1. 0.]
     [0. 3. 2.]]
    """
    require_recording()
    if isinstance(grad_position, bool) or not isinstance(grad_position, int) or grad_position < 0:
        raise ArgumentTypeError(f"grad_position of a sparse Jacobian is one position, not {grad_position!r}")
    return SparseJacobian(checked_callable(fn), grad_position)


def sparse_hessian(fn: Callable[..., Any], grad_position: int = 0) -> SparseJacobian:
    """Make the function that computes the Hessian of `fn` as a sparse matrix: the sparse Jacobian of its gradient.

    The parameters, results and errors are those of `sparse_jacobian`; a result that is not a number is summed.

    Examples
    --------
    >>> import numpy as np
    >>> print(sparse_hessian(lambda x: np.sum((x[1:] - x[:-1]) ** 2))(np.zeros(3)).toarray())
    [[ 2. -2.  0.]
     [-2.  4. -2.]
     [ 0. -2.  2.]]
    """
    return sparse_jacobian(grad(fn, grad_position), grad_position)


@dataclass
class Plan:
    """A pattern and its colours."""

    pattern: csr_array
    colours: np.ndarray
    by_columns: bool  # else the colours are those of rows


class SparseJacobian:
    """A sparse Jacobian, made by `sparse_jacobian`; called as its function is.

    Attributes
    ----------
    fn : callable
        What is differentiated.
    grad_position : int
        The position of the argument to differentiate with respect to.
    """

    def __init__(self, fn: Callable[..., Any], grad_position: int) -> None:
        self.fn, self.grad_position = fn, grad_position
        self.__name__ = name_of(fn)
        self.__doc__ = getattr(fn, "__doc__", None)
        self.plans: dict[Any, Plan] = {}

    @shortened(lambda self, *args, **kwargs: self.fn(*args, **kwargs))
    def __call__(self, *args: Any) -> csr_array:
        if self.grad_position >= len(args):
            raise ArgumentTypeError(f"grad_position is {self.grad_position}, but {len(args)} arguments were given")
        x = args[self.grad_position]
        if not isinstance(x, (np.ndarray, np.floating, float)) or np.asarray(x).dtype.kind != "f":
            raise ArgumentTypeError(f"a sparse Jacobian is with respect to an array of floats, not {type(x).__name__}")
        program = shared(PatternProgram, self.fn, ("pattern",))
        variant = program.variant(args)
        key = (variant, *[np.shape(a) for a in args if isinstance(a, np.ndarray)])
        plan = self.plans.get(key)
        if plan is not None and (found := self.matrix(plan, args)) is not None:
            return found
        plan, value_dependent = program.plan(variant, args, self.grad_position)
        found = self.matrix(plan, args)
        if found is None:
            raise NotDifferentiable(
                f"the sparsity pattern of the Jacobian of {self.__name__} was not found",
                f"use the dense Jacobian, `jacfwd({self.__name__}, {self.grad_position})`",
                code="sparsity-pattern",
            )
        if not value_dependent:
            self.plans[key] = plan
        return found

    def matrix(self, plan: Plan, args: tuple[Any, ...]) -> csr_array | None:
        """Return the Jacobian of a pattern; None where its product with a random vector is another one."""
        x = args[self.grad_position]
        push = compiled("Pushforward", self.fn, (self.grad_position,), False, "numpy")

        def tangent(direction: np.ndarray) -> np.ndarray:
            shaped = direction.astype(np.asarray(x).dtype).reshape(np.shape(x))
            return np.ravel(push.run(args, {}, (shaped if isinstance(x, np.ndarray) else type(x)(shaped),))[1])

        pattern, count = plan.pattern, int(plan.colours.max(initial=0)) + 1
        row_of_entry = np.repeat(np.arange(pattern.shape[0]), np.diff(pattern.indptr))
        if plan.by_columns:
            columns = np.stack([tangent((plan.colours == c).astype(float)) for c in range(count)], 1)
            data = columns[row_of_entry, plan.colours[pattern.indices]]
        else:
            pullback = compiled("Pullback", self.fn, (self.grad_position,), (), False, "numpy")
            value, pull = pullback.run(args, {})
            shape, dtype = np.shape(value), np.asarray(value).dtype
            seeds = [(plan.colours == c).astype(dtype).reshape(shape) for c in range(count)]
            rows = np.stack([np.ravel(pull(seed)[0][0]) for seed in seeds])
            data = rows[plan.colours[row_of_entry], pattern.indices]
        found = csr_array((data, pattern.indices.copy(), pattern.indptr.copy()), shape=pattern.shape)
        direction = np.random.default_rng(0).uniform(0.5, 1.5, pattern.shape[1])
        wanted, got = tangent(direction), found @ direction
        size = abs(found) @ direction + np.abs(wanted)
        precise = np.finfo(data.dtype).eps ** 0.75
        return found if np.all((np.abs(wanted - got) <= precise * size) | ~np.isfinite(wanted)) else None

    def __repr__(self) -> str:
        return f"<sparse Jacobian of {self.__name__}, grad_position={self.grad_position}>"


class PatternProgram:
    """The program emitted for the value of a function, run on index sets."""

    original: Any = None  # a weak reference to the function of which `fn` is a twin (see `entry`)

    def __init__(self, fn: Callable[..., Any]) -> None:
        self.fn = fn
        self.single = made("Adjoint", fn, (), (), False, False, True, "numpy")

    def variant(self, args: tuple[Any, ...]) -> Any:
        """Return the program for arguments of these kinds."""
        slots, values = self.single.bind(args, {})
        return self.single.on_arrays(self.single.variant(slots, values, args, {}))

    def plan(self, variant: Any, args: tuple[Any, ...], position: int) -> tuple[Plan, bool]:
        """Return a plan, and True if it depends on values."""
        emitted, name = variant.emitted, name_of(self.fn)
        remedy = f"use the dense Jacobian, `jacfwd({name}, {position})`"
        if emitted.effects or variant.tensors:
            raise NotDifferentiable(
                f"{name} does something besides returning an array", remedy, code="sparsity-pattern"
            )
        if not isinstance(self.single.run_carefully(args, {}, None)[0], (np.ndarray, np.generic, float)):
            raise ArgumentTypeError(f"a sparse Jacobian is of a function that returns an array or a number: {name}")
        values = [*self.single.bind(args, {})[1], *[external.read() for external in emitted.externals]]
        try:
            pattern, value_dependent = pattern_of(emitted.function, values, position)
        except (Untraceable, TypeError, ValueError, AttributeError, IndexError) as error:
            reason = f"the sparsity pattern of the Jacobian of {name} cannot be found: {error}"
            raise NotDifferentiable(reason, remedy, code="sparsity-pattern") from error
        most = [np.max(np.bincount(k, minlength=1), initial=0) for k in (pattern.indices, pattern.nonzero()[0])]
        by_columns = bool(most[1] <= most[0])
        colours = coloured(pattern if by_columns else csr_array(pattern.T))
        return Plan(pattern, colours, by_columns), value_dependent
