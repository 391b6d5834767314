"""The kinds of refusals: each has a program that is refused with its code, and a rewrite with a right gradient."""

from __future__ import annotations

import copy
import re
import traceback

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.errors import REMEDIES
from tools import error_page
from tools.error_entries import ENTRIES

pytestmark = [pytest.mark.once, pytest.mark.filterwarnings("ignore::RuntimeWarning")]
VERBS = re.compile(
    r"\b(is|are|has|have|was|were|may|can|cannot|does|holds|carry|carries|cuts|decides|goes|increase|stand|writes|lies|changes|"
    r"returns|gives|asks|tells|depends|"
    r"stands|shows|takes|raises|meets|come|comes|needs?|keeps|gets|leaves|reaches|makes|would|lives|calls|skips)\b"
)
EACH = pytest.mark.parametrize("code", REMEDIES)


def test_every_kind_has_an_entry_and_a_remedy():
    assert ENTRIES.keys() == REMEDIES.keys() and all(REMEDIES.values())
    assert all(entry.title and entry.why for entry in ENTRIES.values())


def test_every_refusal_of_the_package_has_a_code_of_the_table():
    found = [(place, code) for place, code, _ in error_page.reasons()]
    assert len(found) > 450
    assert [each for each in found if each[1] not in REMEDIES] == []
    assert {code for _, code in found} == REMEDIES.keys()


def test_every_reason_is_a_sentence():
    """A rule's message names its remedy behind a colon, and may leave out the verb."""
    said = [reason for _, _, reason in error_page.reasons() if reason and ":" not in reason]
    assert [reason for reason in said if not VERBS.search(reason)] == []


@EACH
def test_the_program_is_refused_with_its_code_in_twelve_lines(code, monkeypatch):
    monkeypatch.delenv("AUTODIFF_SCT_TRACEBACK", raising=False)
    error = error_page.refusal(ENTRIES[code])
    assert error.code == code and error.remedy
    printed = "".join(traceback.format_exception(error)).splitlines()
    own = [line for line in printed if line.startswith("  File") and "autodiff_sct" in line]
    assert len(own) <= 1 and len(str(error).splitlines()) <= 6


@EACH
def test_the_rewrite_has_a_right_gradient(code):
    entry = ENTRIES[code]
    arguments = copy.deepcopy(entry.after_args)
    found = ad.grad(lambda *args: np.sum(entry.after(*args)))(*arguments)
    x = np.asarray(entry.after_args[0])
    direction = np.cos(np.arange(x.size, dtype=float)).reshape(x.shape)
    h = 1e-6
    ends = [np.sum(entry.after(*copy.deepcopy((x + k * h * direction, *entry.after_args[1:])))) for k in (-1, 1)]
    assert np.isclose(np.vdot(found, direction), (ends[1] - ends[0]) / (2 * h), rtol=1e-6, atol=1e-8)


def test_the_page_is_what_the_table_says():
    assert error_page.PAGE.read_text(encoding="utf-8") == error_page.page(), "run `python -m tools.error_page`"
