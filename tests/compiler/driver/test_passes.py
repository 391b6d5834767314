"""Optimisations may be switched off, any of them: the programs of the bank keep their gradients.

A random half is off for each program, so that each pair of passes meets in all four ways on some two hundred.
"""

from __future__ import annotations

import inspect
import random
import re
import textwrap
from pathlib import Path

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.compiler.domain import pass_registry
from autodiff_sct.compiler.driver.pass_order import PIPELINE
from tests.bank import checks
from tests.bank.limits import within
from tests.bank.registry import PROGRAMS, load_bank

pytestmark = pytest.mark.once

load_bank()
EVERY = [pytest.param(program, id=program.name) for program in within(PROGRAMS.values())]


@pytest.mark.parametrize("program", EVERY)
def test_bank_without_half_of_the_passes(program):
    chance = random.Random(program.name)
    names = sorted(pass_registry.PASSES)
    with pass_registry.without(*chance.sample(names, len(names) // 2)):
        checks.check_gradient(program)


def test_bank_without_any_pass():
    with pass_registry.without(*pass_registry.PASSES):
        for program in within(PROGRAMS.values())[3::15]:
            checks.check_gradient(program)


def test_a_pass_changes_what_is_written():
    def f(x):
        return np.sum(np.exp(x - np.max(x)))

    with pass_registry.without("canonicalize"):
        plain = ad.adjoint_source(f, np.ones(3))
    assert plain != ad.adjoint_source(f, np.ones(3))


def test_unknown_name():
    with pytest.raises(ValueError, match="no pass is called 'spel'"):
        with pass_registry.without("spel"):
            pass


def test_pipeline_names_each_pass_in_the_order_of_the_list():
    names = [
        each.name
        for phase in PIPELINE
        for each in phase.passes
        if not each.required or each.name in pass_registry.PASSES
    ]
    assert [*dict.fromkeys(names)] == [*pass_registry.PASSES]


def test_a_pass_inside_another_step_is_asked_for_there():
    text = "".join(path.read_text() for path in Path(inspect.getfile(ad)).parent.rglob("*.py"))
    inside = [each.name for phase in PIPELINE for each in phase.passes if each.run is None]
    assert [name for name in inside if f'pass_registry.on("{name}")' not in text] == []


def test_a_pass_without_its_kind_of_statement_does_not_run():
    with pytest.raises(ValueError, match="the pass 'licm' does not run on this program"):
        ad.adjoint_source(lambda x: x * x, 2.0, stage="licm")


def test_the_program_after_a_pass_and_after_all_that_change_it():
    def f(x):
        return np.sum(np.exp(x - np.max(x)))

    after = ad.adjoint_source(f, np.ones(3), stage="forward_substitute")
    changes = ad.adjoint_source(f, np.ones(3), stage="changes").split("# after ")[1:]
    assert after.strip() in [text.split("\n", 1)[1].strip() for text in changes]
    assert changes[-1].split("\n", 1)[1].strip() in textwrap.dedent(ad.adjoint_source(f, np.ones(3)).split(":\n", 1)[1])


def test_the_page_of_passes_names_all_of_them_in_their_order():
    text = (Path(__file__).parents[3] / "docs" / "passes.md").read_text()
    named = re.findall(r"^\| `(\w+)` \| ([^|]*) \|", text, re.MULTILINE)
    assert named == [(each.name, each.purpose) for phase in PIPELINE for each in phase.passes]
