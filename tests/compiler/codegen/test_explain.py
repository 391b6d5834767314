"""Explanations beside the emitted text: what is kept, saved, computed again, put back, and for which line."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct import segments

V = np.array([0.4, 1.3, -0.7, 0.9])

STEPS = """
def steps(x, w, n):
    x = x.copy()
    h = np.tanh(x)
    for i in range(n):
        x[1:] = np.sin(x[:-1]) * w[i]
    x[0] = 3.0
    for i in segments(range(n), every=4):
        h = np.sin(h) * h
    return np.sum(x * x) + np.sum(h)
"""


PROGRAM = ad.from_source(STEPS, {"np": np, "segments": segments})


def steps() -> Any:
    return PROGRAM


def without_comments(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if not line.strip().startswith("#"))


def explained(fn: Any, *args: Any) -> str:
    return ad.adjoint_source(fn, *args, explain=True)


def test_the_program_is_the_same() -> None:
    plain, told = ad.adjoint_source(steps(), V, V, 3), explained(steps(), V, V, 3)
    assert without_comments(told) == without_comments(plain)
    assert told != plain


def test_every_line_that_saves_says_what_reads_it() -> None:
    lines = explained(steps(), V, V, 3).splitlines()
    saving = [k for k, line in enumerate(lines) if re.search(r"saved_\w+\.append", line)]
    assert saving
    loops = [
        k
        for k in saving
        if re.search(r"# saved: the reverse of <source \d+>:\d+( and <source \d+>:\d+)* reads it", lines[k - 1])
    ]
    assert loops == saving


def test_kept_state_and_the_run_again() -> None:
    text = explained(steps(), V, V, 3)
    assert "# kept: the state at the start of a segment\n        kept_h.append(" in text
    assert "# the segment again from its start, now with what its reverse reads\n        for i in range(" in text


def test_overwritten_and_not_read() -> None:
    def fixed_end(x):
        a = x * 2.0
        a[0] = 3.0
        return np.sum(a**2)

    said = "# nothing is saved of what this overwrites: the reverse sweep does not read it\n    a[0] = 3.0"
    assert said in explained(fixed_end, V)


def test_put_back_says_what_reads_it() -> None:
    def squared(x):
        a = x * 1.0
        b = np.sum(a * a)
        a[0] = 3.0
        return b + np.sum(a)

    text = explained(squared, V)
    assert re.search(r"# put back: the reverse of test_explain\.py:\d+ reads what was here\n    a\[0\] = ", text)


def test_computed_again() -> None:
    def rows(x, w):
        for i in range(len(w)):
            row = w[i]
            x = x * row
        return np.sum(x)

    assert "# computed again, not saved: row\n" in explained(rows, V, np.ones((3, 4)))


def test_straight_line_code_says_what_stays_alive() -> None:
    def two(x):
        h = np.tanh(x)
        return np.sum(h * x)

    assert re.search(
        r"# kept: the reverse of test_explain\.py:\d+ and test_explain\.py:\d+ reads h\n    h = ", explained(two, V)
    )


def test_products_out_of_the_loop() -> None:
    def recurrent(w, x):
        h = np.zeros(4)
        for i in range(len(x)):
            h = np.tanh(w @ h + x[i])
        return np.sum(h)

    text = explained(recurrent, np.eye(4), np.ones((3, 4)))
    assert "# what many steps would add up, as one product" in text


def test_the_text_is_the_same_each_time() -> None:
    assert explained(steps(), V, V, 3) == explained(steps(), V, V, 3)


@pytest.mark.parametrize("wrong", ["yes", 1, None])
def test_wrong_explain(wrong: Any) -> None:
    with pytest.raises(TypeError, match="explain"):
        ad.adjoint_source(steps(), V, V, 3, explain=wrong)
