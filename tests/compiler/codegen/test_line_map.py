"""The line map of emitted texts: the user's line, the sweep and the notes of each line."""

import inspect

import numpy as np

import autodiff_sct as ad
from autodiff_sct.compiler.codegen.emit import FORWARD, REVERSE
from tests.bank.registry import load_bank


def lines_of(fn, *args, wrt=0):
    function = ad.grad(fn, wrt).compiled(*args)
    return function, function.__autodiff_lines__


def of_text(function, lines, text):
    numbers = [n for n, line in enumerate(source_of(function), 1) if text in line]
    return [lines[n] for n in numbers if n in lines]


def test_sweeps_and_origins():
    def f(x, k):
        for _ in range(3):
            x = np.sin(x) * k
        return np.sum(x)

    function, lines = lines_of(f, np.ones(3), 2.0, wrt=(0, 1))
    first = f.__code__.co_firstlineno
    (sine,) = of_text(function, lines, "= np.sin(x)")
    assert sine.sweep == FORWARD and sine.origin.line == first + 2
    reverse = of_text(function, lines, "d_k += ") + of_text(function, lines, "d_x, d_k = ")
    assert len(reverse) == 2 and all(line.sweep == REVERSE for line in reverse)
    forward, backward = of_text(function, lines, "in range(")
    assert (forward.sweep, backward.sweep) == (FORWARD, REVERSE)
    assert forward.origin.line == backward.origin.line == first + 1
    assert [*lines] == sorted(lines)


def test_assignments_that_are_joined_stay_in_their_sweep():
    def f(x, w, g):
        y = np.tanh(x @ w)
        return np.sum(y * g)

    function, lines = lines_of(f, np.ones((4, 3)), np.ones((3, 2)), np.ones(2), wrt=(1, 2))
    found = of_text(function, lines, "d_y, d_g = ") + of_text(function, lines, "d_g =")
    assert found and all(line.sweep == REVERSE for line in found)


def test_every_assignment_to_a_cotangent_is_in_the_reverse_sweep():
    programs, _ = load_bank()
    for name in ("damp_edges", "heat", "drag", "newton_sqrt", "append_and_pop"):
        program = programs[name]
        function, lines = lines_of(program.function, *program.args(), wrt=program.wrt)
        reverse = [n for n, line in lines.items() if line.sweep == REVERSE]
        assert reverse, name
        for n, text in enumerate(source_of(function), 1):
            if text.lstrip().startswith("d_") and " = " in text and n in lines:
                assert lines[n].sweep == REVERSE, (name, text)


def source_of(function):
    return inspect.getsource(function).splitlines()
