"""A dozen small programs, each with the adjoint that the compiler writes for it and its gradient, checked.

    python examples/gallery.py [name ...]

Every adjoint differentiates its program's first argument.  The check compares the gradient along a random direction
with a central difference of the program itself.
"""

from __future__ import annotations

import argparse
import dataclasses
import inspect
import sys
import textwrap
from collections.abc import Callable
from typing import Any

import numpy as np

from autodiff_sct import Parameter, Tensor, adjoint_source, grad, nn
from autodiff_sct.core.highlight import highlight, wants_color

# --- the programs -----------------------------------------------------------------------------------------------------


def branch(x):
    if x > 1:
        y = np.log(x)
    else:
        y = x * x
    return 3 * y


def early_return(x):
    for i in range(10):
        if x > 5:
            return x * i
        x = x * x + 0.5
    return x


def babylonian_root(x):
    guess = x
    while abs(guess * guess - x) > 1e-12:
        guess = 0.5 * (guess + x / guess)
    return guess


def in_place(signal, strength):
    signal[1:] -= strength * signal[:-1]
    signal[signal < 0] *= 0.1
    return np.sum(signal**2)


def view(matrix):
    work = matrix * 1.0
    diagonal = work.reshape(-1)[:: work.shape[1] + 1]
    diagonal *= diagonal
    return np.sum(np.sin(work))


def recursion(x, n):
    if n == 0:
        return np.sum(x)
    return recursion(np.sin(x) * x, n - 1) + n


def closure(x):
    def scaled(y, power):
        return factor * y**power

    factor = np.sum(x)
    return np.sum(scaled(x, 2) + scaled(x, 3))


def soft_max(x):
    weights = np.exp(x - np.max(x))
    return weights / np.sum(weights)


def helper_function(x):
    return np.sum(soft_max(x) * x)


def list_of_arrays(x):
    orbit = [x]
    for i in range(4):
        orbit.append(np.cos(orbit[-1]) + 0.1 * i)
    return np.sum(orbit[1] * orbit[-1])


def comprehension(coefficients, x):
    return np.sum(sum([c * x**k for k, c in enumerate(coefficients)]))


@dataclasses.dataclass
class Spring:
    stiffness: float
    rest: float


def data_class(spring, positions):
    stretch = np.diff(positions) - spring.rest
    return 0.5 * spring.stiffness * np.sum(stretch**2)


class Layer(nn.Cell):
    def __init__(self):
        super().__init__()
        self.weight = Parameter(Tensor(np.linspace(-1.0, 1.0, 12).reshape(4, 3)), name="weight")
        self.slope = 0.1

    def construct(self, x):
        h = x @ self.weight
        return np.sum(np.where(h > 0, h, self.slope * h))


def programs() -> dict[str, tuple[Callable[..., Any], tuple[Any, ...]]]:
    """Each program by its name, with example arguments."""
    x = np.array([0.3, -0.7, 1.1, 0.5])
    return {
        "branch": (branch, (2.0,)),
        "early_return": (early_return, (1.1,)),
        "while": (babylonian_root, (2.0,)),
        "in_place": (in_place, (x, 0.5)),
        "view": (view, (np.outer(x[:3], x[1:]),)),
        "recursion": (recursion, (x, 3)),
        "closure": (closure, (x,)),
        "helper_function": (helper_function, (x,)),
        "list": (list_of_arrays, (x,)),
        "comprehension": (comprehension, (x, 0.5 + x**2)),
        "dataclass": (data_class, (Spring(2.0, 0.4), np.array([0.0, 0.5, 1.3]))),
        "cell": (Layer(), (Tensor(np.outer(x, x)),)),
    }


# --- showing and checking ---------------------------------------------------------------------------------------------


def primal_source(fn: Callable[..., Any]) -> str:
    """The program as it stands above."""
    return textwrap.dedent(inspect.getsource(fn.construct if isinstance(fn, nn.Cell) else fn)).rstrip()


def combine(operation: Callable[..., Any], *trees: Any) -> Any:
    """Apply `operation` to the corresponding numbers and arrays of containers of one shape."""
    first = trees[0]
    if isinstance(first, Tensor):
        return Tensor(operation(*(tree.asnumpy() for tree in trees)))
    if dataclasses.is_dataclass(first):
        names = [field.name for field in dataclasses.fields(first)]
        return type(first)(*(combine(operation, *(getattr(tree, name) for tree in trees)) for name in names))
    return operation(*trees)


def total(tree: Any) -> float:
    """The sum of all the numbers in a container."""
    found = []
    combine(lambda leaf: found.append(np.sum(leaf)) or leaf, tree)
    return float(sum(found))


def error_along_a_direction(fn: Callable[..., Any], args: tuple[Any, ...], gradient: Any, step: float = 1e-6) -> float:
    """The relative difference between the gradient and a central difference, along a random direction."""
    rng = np.random.default_rng(0)
    direction = combine(lambda leaf: rng.normal(size=np.shape(leaf)), args[0])
    ahead, behind = (
        # A fresh copy for each call: the in-place programs write into their argument.
        total(fn(combine(lambda a, d, s=sign: a + s * step * d, args[0], direction), *args[1:]))
        for sign in (1, -1)
    )
    measured = (ahead - behind) / (2 * step)
    computed = total(combine(np.multiply, gradient, direction))
    return abs(computed - measured) / max(abs(measured), 1.0)


def show(name: str, fn: Callable[..., Any], args: tuple[Any, ...]) -> float:
    """Print one program, its adjoint and its gradient; return the gradient's error."""
    paint = highlight if wants_color(sys.stdout) else str
    gradient = grad(fn)(*args)
    error = error_along_a_direction(fn, args, gradient)
    print(f"# {f' {name} ':=^100}\n")
    print(paint(primal_source(fn)), "\n")
    print(paint(adjoint_source(fn, *args).rstrip()), "\n")
    print(f"gradient: {gradient}\nagainst a central difference: {error:.1e}\n")
    return error


def main(argv: list[str] | None = None) -> float:
    """Show the programs named on the command line, or all; return the largest error."""
    gallery = programs()
    parser = argparse.ArgumentParser(description="Small programs and their adjoints.")
    parser.add_argument("names", nargs="*", metavar="name", help=", ".join(gallery))
    names = parser.parse_args(argv).names or list(gallery)
    if unknown := [name for name in names if name not in gallery]:
        parser.error(f"no program named {', '.join(unknown)}; there are {', '.join(gallery)}")
    worst = max(show(name, *gallery[name]) for name in names)
    assert worst < 1e-6, f"a gradient is off by {worst:.1e}"
    print(f"{len(names)} gradients agree with central differences; the largest error is {worst:.1e}")
    return worst


if __name__ == "__main__":
    main()
