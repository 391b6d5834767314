"""How compile time grows with the program: ``python -m benchmarks.compile_growth [SHAPE ...]``.

Each shape is a family of programs of one size parameter.  A row gives the CPU seconds of the first gradient at the
smallest and the largest size, and the exponent of the growth between, fitted on the sizes from the middle on.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import autodiff_sct as ad

from .compile_time import program
from .report import table
from .timing import seconds

LIMIT = 10.0  # seconds of one compilation, after which larger sizes are not tried


@dataclass(frozen=True)
class Shape:
    """A family of programs: the text of the member of each size, and the arguments of all."""

    text: Callable[[int], str]
    sizes: Sequence[int]
    arguments: Callable[[int], tuple[Any, ...]] = lambda n: (np.ones(5), np.ones(5))


def function(body: str, before: str = "", parameters: str = "x, y") -> str:
    """The text of a module with one function of that body."""
    return f"import math\nimport numpy as np\n{before}\n\ndef function({parameters}):\n{body}"


def repeated(block: str, start: str = "", end: str = "    return np.sum(x * y)\n") -> Callable[[int], str]:
    """A function that holds a block of lines as often as the size says."""
    return lambda n: function(start + "".join(block.replace("$", str(k)) for k in range(n)) + end)


def nested(head: str, inside: str, after: str = "", start: str = "    t = 0.0\n") -> Callable[[int], str]:
    """A function of statements inside each other: `head` opens each, `after` ends each."""

    def text(n: int) -> str:
        opening = "".join(indented(head.replace("$", str(k)), k + 1) for k in range(n))
        closing = "".join(indented(after.replace("$", str(k)), k + 2) for k in reversed(range(n))) if after else ""
        return function(start + opening + indented(inside, n + 1) + closing + "    return t * np.sum(x * y)\n")

    return text


def indented(lines: str, depth: int) -> str:
    return "".join("    " * depth + line + "\n" for line in lines.splitlines())


def helpers(line: str, first: str, before: str = "", result: str = "np.sum(f$(x)) * np.sum(y)") -> Callable[[int], str]:
    """Functions of which each calls the one before, twice mostly: `#` is the function before."""

    def text(n: int) -> str:
        made = f"def f0(x):\n{first}\n"
        for k in range(1, n + 1):
            made += f"\ndef f{k}(x):\n" + line.replace("#", f"f{k - 1}").replace("$", str(k))
        return function(f"    return {result.replace('$', str(n))}\n", before + made)

    return text


def elifs(n: int) -> str:
    branches = "".join(
        f"    {'if' if k == 0 else 'elif'} t > {n - k}.0:\n        t = t * np.sin(t) + {k}.0\n" for k in range(n)
    )
    return function("    t = np.sum(x)\n" + branches + "    return t * np.sum(y)\n")


def deep_expression(n: int) -> str:
    text = "x"
    for k in range(n):
        text = f"np.sin({text} * {k}.5 + y)" if k % 2 else f"({text} + x * {k}.0)"
    return function(f"    return np.sum({text})\n")


def matches(n: int) -> str:
    cases = "".join(f"            case {k}:\n                t = t * {k}.5 + np.sin(t)\n" for k in range(n))
    head = "    t = np.sum(x)\n    for k in range(4):\n        match k:\n"
    return function(head + cases + "    return t * np.sum(y)\n")


def closures(n: int) -> str:
    made = "".join(
        f"    def g{k}(v):\n        return np.sin(v * {k}.5) + a{k}\n    a{k} = x * {k}.0\n" for k in range(n)
    )
    calls = "".join(f"    x = g{k}(x)\n" for k in range(n))
    return function(made + calls + "    return np.sum(x * y)\n")


def short_vectors(n: int) -> str:
    body = "    t = 0.0\n    for i in range(3):\n        p = np.array([x[0], x[1], x[2]])\n        q = np.zeros(3)\n"
    for k in range(n):
        body += f"        v{k} = np.array([p[0] * {k}.5, p[1] + q[0], p[2] - q[2]])\n"
        body += f"        p = p + v{k} * y[0]\n        q = np.array([v{k}[1], np.sin(v{k}[2]), p[0]])\n"
    return function(body + "        t = t + p @ q\n    return t\n")


def parameters(n: int) -> tuple[Any, ...]:
    return {f"w{k}": np.ones(3) for k in range(n)}, np.ones(3)


def mlp(n: int) -> str:
    layers = "".join(f"    h = np.tanh(h @ p['w{k}'] + p['b{k}'])\n" for k in range(n))
    return function(f"    h = x\n{layers}    return np.sum(h ** 2)\n", parameters="p, x")


def layers(n: int) -> tuple[Any, ...]:
    weights = {f"w{k}": np.full((3, 3), 0.1) for k in range(n)}
    return weights | {f"b{k}": np.zeros(3) for k in range(n)}, np.ones((4, 3))


LINES = (30, 100, 300, 1000)
TENS = (3, 10, 30, 100)
DEPTHS = (2, 4, 6, 8, 10, 12, 14, 16, 18)
LEVELS = (2, 4, 6, 8, 10, 12, 15, 20)

SHAPES: dict[str, Shape] = {
    "mixed lines": Shape(program, LINES),
    "straight lines": Shape(repeated("    x = np.sin(x) * y + $.5\n"), LINES),
    "expression depth": Shape(deep_expression, (10, 20, 50, 90)),
    "branches": Shape(
        repeated("    if t > $.5:\n        t = t * 0.5 + $.0\n", "    t = np.sum(x)\n", "    return t\n"), TENS
    ),
    "branches of arrays": Shape(
        repeated("    if np.sum(x) > $.5:\n        x = x * 0.5\n    else:\n        x = np.sin(x)\n"), TENS
    ),
    "early returns": Shape(
        repeated("    x = x * $.5\n    if np.sum(x) > $.5:\n        return np.sum(np.sin(x))\n"), TENS
    ),
    "elif": Shape(elifs, TENS),
    "match": Shape(matches, TENS),
    "loops": Shape(repeated("    for i in range(3):\n        x = x * $.5 + np.sin(x)\n"), TENS),
    "item loops": Shape(
        repeated("    for i in range(3):\n        x[i] = x[i + 1] * $.5 + y[i]\n", "    x = x * 1.0\n"), TENS
    ),
    "branches in a loop": Shape(
        lambda n: repeated(
            "        if t > $.5:\n            t = t * 0.5 + $.0\n",
            "    t = 0.0\n    for i in range(5):\n        t = t + x[i]\n",
            "    return t * np.sum(y)\n",
        )(n),
        TENS,
    ),
    "breaks in a loop": Shape(
        repeated(
            "        if t > $.5:\n            break\n        t = t * 1.5\n",
            "    t = 0.0\n    for i in range(5):\n        t = t + x[i]\n",
            "    return t * np.sum(y)\n",
        ),
        TENS,
    ),
    "stores": Shape(repeated("    x[$ % 5] = np.sin(x[($ + 1) % 5]) * y[2]\n", "    x = x * 1.0\n"), TENS),
    "stores in a loop": Shape(
        repeated(
            "        a[i] = np.sin(a[i + 1]) * y[$ % 5]\n",
            "    a = x * 1.0\n    for i in range(4):\n",
            "    return np.sum(a)\n",
        ),
        TENS,
    ),
    "array stores in a loop": Shape(
        repeated(
            "        a[i:] = np.sin(a[i:]) * y[$ % 5]\n",
            "    a = x * 1.0\n    for i in range(4):\n",
            "    return np.sum(a)\n",
        ),
        TENS,
    ),
    "in place": Shape(repeated("    x += y * $.5\n    x *= np.sin(y)\n", "    x = x * 1.0\n"), TENS),
    "try": Shape(
        repeated(
            "    try:\n        x = x / (t - $.0)\n    except ZeroDivisionError:\n        x = x * 2.0\n",
            "    t = float(y[0])\n",
        ),
        TENS,
    ),
    "appends": Shape(
        repeated("    kept.append(np.sin(x * $.5))\n", "    kept = []\n", "    return np.sum(sum(kept) * y)\n"), TENS
    ),
    "short vectors": Shape(short_vectors, (2, 5, 10, 20, 40)),
    "closures": Shape(closures, TENS),
    "values of a dict": Shape(
        lambda n: function("    return sum(np.sum(v ** 2) for v in p.values())\n", parameters="p, x"),
        (30, 100, 300, 1000),
        parameters,
    ),
    "items of a dict in a loop": Shape(
        lambda n: function(
            "    t = 0.0\n    for k, v in p.items():\n        t = t + np.sum(v * x)\n    return t\n", parameters="p, x"
        ),
        (10, 30, 60),
        parameters,
    ),
    "layers": Shape(mlp, (3, 10, 30, 100), layers),
    "nested if": Shape(nested("if x[$ % 5] > 0.0:", "t = t + x[0]", "t = t + x[1]"), DEPTHS),
    "nested for": Shape(nested("for i$ in range(2):", "t = t + x[i0]"), DEPTHS),
    "nested for, lines": Shape(
        nested("for i$ in range(2):\n    t = t * x[i$]", "t = t + x[i0]", "t = np.sin(t)"), DEPTHS
    ),
    "nested for, arrays": Shape(
        nested("for i$ in range(2):\n    x = x * np.sin(y)", "t = t + np.sum(x)", "x = x + t"), DEPTHS
    ),
    "nested for, break": Shape(nested("for i$ in range(2):\n    if t > $.5:\n        break", "t = t + x[i0]"), DEPTHS),
    "nested while": Shape(nested("n$ = 0\nwhile n$ < 2:\n    n$ += 1\n    t = t + x[n$]", "t = t * 1.5"), DEPTHS),
    "nested while, break": Shape(
        nested("while t < $9.5:\n    t = t * 1.5 + x[0]\n    if t > $7.5:\n        break", "t = t * 1.5 + x[1]"), DEPTHS
    ),
    "helper chain": Shape(helpers("    return #(np.sin(x) * $.5)\n", "    return x * 2.0"), TENS),
    "helpers twice": Shape(helpers("    return #(#(x))\n", "    return np.sin(x) * 2.0"), LEVELS),
    "helpers twice, sum": Shape(helpers("    return #(x) + #(2.0 * x)\n", "    return np.sin(x) * 2.0"), LEVELS),
    "helpers twice, numbers": Shape(
        helpers("    return #(#(x))\n", "    return math.sin(x) * 2.0", result="f$(float(x[0])) * np.sum(y)"), LEVELS
    ),
    "helpers twice, sum of numbers": Shape(
        helpers("    return #(x) + #(2.0 * x)\n", "    return math.sin(x) * 2.0", result="f$(x[0]) * np.sum(y)"), LEVELS
    ),
    "helpers twice, stores": Shape(
        helpers(
            "    a = #(x)\n    a[0] = np.sum(#(a * 0.5))\n    return a\n",
            "    a = x * 1.0\n    a[1] = a[0] * 2.0\n    return a",
        ),
        LEVELS,
    ),
    "helpers twice, stores into arguments": Shape(
        helpers(
            "    #(x)\n    #(x)\n    return x[0]\n",
            "    x[1] = np.sin(x[0]) * 2.0\n    x[0] = x[2]",
            result="f$(x * 1.0) * np.sum(y)",
        ),
        LEVELS,
    ),
    "helpers twice, reads outside": Shape(
        helpers("    return #(#(x) * C)\n", "    return np.sin(x) * W", "C = 0.5\nW = np.ones(5)\n"), LEVELS
    ),
    "helpers twice, tuples": Shape(
        helpers(
            "    a, b = #(x)\n    c, d = #(a + b)\n    return c, d\n",
            "    return np.sin(x), x * 2.0",
            result="np.sum(f$(x)[0]) * np.sum(y)",
        ),
        LEVELS,
    ),
    "helpers twice, branches": Shape(
        helpers("    if x[0] > 0.0:\n        return #(x * 0.5)\n    return #(np.sin(x))\n", "    return x * 2.0"),
        LEVELS,
    ),
    "helpers twice, in a loop": Shape(
        helpers("    for i in range(2):\n        x = #(x) + #(x * 0.5)\n    return x\n", "    return np.sin(x)"), LEVELS
    ),
}


def compiling(shape: Shape, size: int) -> float:
    """Processor seconds of compiling the gradient of a member."""
    arguments = shape.arguments(size)
    function = ad.from_source(shape.text(size))

    def once() -> float:
        return seconds(lambda: ad.adjoint_source(function, *arguments))

    least = once()
    return min(least, *(once() for _ in range(2))) if least < 0.3 else least


def exponent(sizes: Sequence[int], taken: Sequence[float]) -> float:
    """Slope of the logarithms, fitted on the sizes above the middle one."""
    half = max(2, (len(sizes) + 2) // 2)
    logs = np.log([sizes[-half:], np.maximum(taken[-half:], 1e-4)])
    return float(np.polyfit(logs[0], logs[1], 1)[0]) if len(sizes) > 1 else math.nan


def row(name: str) -> list[str]:
    """One row of the table: a shape, its sizes, times and exponent."""
    shape = SHAPES[name]
    sizes, taken = [], []
    reason = ""
    for size in shape.sizes:
        try:
            taken.append(compiling(shape, size))
        except Exception as error:
            reason = type(error).__name__
            print(name, size, str(error)[:300], file=sys.stderr)
            break
        sizes.append(size)
        if taken[-1] > LIMIT:
            break
    if not sizes:
        return [name, "", "", "", reason]
    times = ", ".join(f"{n}: {1e3 * t:.0f}" for n, t in zip(sizes, taken))
    return [name, times, f"{exponent(sizes, taken):.2f}", reason]


def main(arguments: list[str]) -> None:
    """Measure and print the shapes that are named, or all."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.compile_growth", description=__doc__.splitlines()[0])
    parser.add_argument("shapes", nargs="*", metavar="SHAPE", help="part of a shape's name")
    chosen = parser.parse_args(arguments).shapes
    os.environ["AUTODIFF_SCT_CACHE"] = "0"
    rows = []
    ad.adjoint_source(ad.from_source(program(10)), np.ones(5), np.ones(5))  # loads the compiler
    for name in SHAPES:
        if not chosen or any(part in name for part in chosen):
            rows.append(row(name))
            print(rows[-1], file=sys.stderr, flush=True)
    print(table(["shape", "size: milliseconds", "exponent", "stopped by"], rows))


if __name__ == "__main__":
    main(sys.argv[1:])
