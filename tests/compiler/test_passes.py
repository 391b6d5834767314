"""Each optimisation may be switched off: the programs of the bank keep their gradients."""

from __future__ import annotations

import inspect
from pathlib import Path

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.compiler import passes
from tests.bank import checks
from tests.bank.limits import within
from tests.bank.registry import PROGRAMS, load_bank

load_bank()
# Every fifteenth program; other ones for each pass, so that together they see the bank four times.
SAMPLES = [
    pytest.param(name, program, id=f"{name}-{program.name}")
    for shift, name in enumerate(passes.PASSES)
    for program in within(PROGRAMS.values())[shift % 15 :: 15]
]


@pytest.mark.parametrize(("name", "program"), SAMPLES)
def test_bank_without_a_pass(name, program):
    with passes.without(name):
        checks.check_gradient(program)


def test_bank_without_any_pass():
    with passes.without(*passes.PASSES):
        for program in within(PROGRAMS.values())[3::15]:
            checks.check_gradient(program)


def test_a_pass_changes_what_is_written():
    def f(x):
        return np.sum(np.exp(x - np.max(x)))

    with passes.without("spell"):
        plain = ad.adjoint_source(f, np.ones(3))
    assert plain != ad.adjoint_source(f, np.ones(3))


def test_unknown_name():
    with pytest.raises(ValueError, match="no pass is called 'spel'"):
        with passes.without("spel"):
            pass


def test_every_pass_is_asked_for():
    text = "".join(path.read_text() for path in Path(inspect.getfile(passes)).parent.rglob("*.py"))
    assert [name for name in passes.PASSES if f'passes.on("{name}")' not in text] == []
