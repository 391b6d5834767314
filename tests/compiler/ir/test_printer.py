"""The intermediate form as text: what is printed is read as the program that was printed."""

import textwrap

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.compiler import ir
from autodiff_sct.compiler.domain.facts import Dim, Listed, Num
from autodiff_sct.compiler.ir.parser import parse
from autodiff_sct.compiler.ir.printer import printed

TEXT = """
    x.2: float64[n > 1, 3] @ 2 = x.1.copy()
    saved_s.3: list @ 4 = []  # saves
    s.4: float = 0.0
    for i.5 in range(len(x.2)):  # trips n.20
        s.6: float = phi(s.4, s.11)
        condition.7: bool = x.2[i.5, 0] > 0.0
        if condition.7:
            saved_s.3.append(s.6)  # kind save
            x.2[i.5, 0] += s.6  # old t.30
            t.8: float = s.6 * 2.0  # may raise
        else:
            pass
        s.9: float = phi(t.8, None)
        try:
            t.10: float = f(s.9)  # effect, may raise
        except (ValueError, KeyError) as error.12:
            raise RuntimeError("x.1") from error.12
        s.11: float = phi(t.10, None)
        if s.11 > 3.0:
            break
    s.13: float = phi(s.6)
    while t.14 > 0:
        with head:
            t.14: int = count(s.13)
        print(s.13)
    with np.errstate(all="ignore") as state.15:
        q.16, r.17 = np.linalg.qr(x.2)
        q.16: float64[n, 3] @ 7
    return s.13, x.2[:, ::2]
"""


def test_what_is_printed_is_read_again():
    read = parse(TEXT)
    text = printed(read.block, read.s.facts)
    assert text == textwrap.dedent(TEXT).lstrip("\n").replace("    else:\n        pass\n", "")
    again = parse(text)
    assert printed(again.block, again.s.facts) == text


def test_without_facts_the_text_is_the_program_alone():
    assert printed(parse("t.2: float = x.1 * x.1  # may raise").block) == "t.2 = x.1 * x.1\n"


def test_the_tables_are_filled():
    s = parse("x.1: float64[n > 1, m - 1] @ 3\nitems.2: list @ 4\nelements[4]: float64\nt.3: int = len(x.1)").s
    assert s.facts["x.1"] == Num("array", np.dtype("f8"), (Dim("n", 0, True), Dim("m", -1)), frozenset([3]))
    assert s.facts["items.2"] == Listed(frozenset([4])) and s.elements[4].dtype == np.float64
    assert s.hints == {"x.1": "x", "items.2": "items", "t.3": "t"} and s.named == {"x.1", "items.2"}
    assert s.fresh("t", s.facts["t.3"]) == "t.4"


def test_operations_have_the_rows_of_the_table():
    block = parse("t.2 = np.sin(x.1)\nt.3 = t.2 @ x.1\nt.4 = anything(t.3)").block
    assert [stmt.op and stmt.op.fn for stmt in block] == [np.sin, __import__("operator").matmul, None]


@pytest.mark.parametrize("stage", ["specialise", "record", "optimise"])
def test_stages_are_shown_in_this_form(stage):
    def f(x):
        s = 0.0
        for v in x:
            if v > 0:
                s = s + v * s
        return s

    text = ad.adjoint_source(f, np.ones(3), stage=stage)
    read = parse(text)
    assert printed(read.block) == text and any(isinstance(stmt, ir.Loop) and stmt.carries for stmt in read.block)


def test_what_is_active_has_a_comment():
    assert "t.3 = 2.0 * x.2  # active\n" in ad.adjoint_source(lambda x: 2.0 * x, 1.0, stage="activity")
