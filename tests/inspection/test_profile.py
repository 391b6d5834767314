"""`profile`: what each line costs."""

import tracemalloc

import numpy as np
import pytest

import autodiff_sct as ad


def helper(u):
    return np.tanh(u)


def wave(u, steps):
    for _ in range(steps):
        u = helper(u) + u
    return np.sum(u**2)


def test_costs_by_line_and_sweep():
    u = np.linspace(0.0, 1.0, 5000)
    table = ad.profile(wave)(u, 7)
    rows = {row.text: row for row in table.rows}
    kept = rows["return np.tanh(u)"]
    assert kept.function == "helper" and kept.forward.hits == 7
    assert kept.forward.kept >= 7 * u.nbytes > kept.reverse.kept
    assert kept.forward.seconds > 0 and kept.reverse.seconds > 0 and table.seconds > 0
    assert rows["for _ in range(steps):"].forward.hits == 8
    assert kept.forward.peak >= u.nbytes
    assert not tracemalloc.is_tracing()


def test_the_table_prints_every_row():
    table = ad.profile(ad.value_and_grad(wave), rounds=1)(np.ones(10), 2)
    text = str(table)
    assert text.startswith("wave: ") and all(row.text in text for row in table.rows)
    assert "test_profile.py:" in text and "µs" in text or "ns" in text


def test_lines_of_the_emitted_program():
    table = ad.profile(wave)(np.ones(10), 3)
    lines = table.source.splitlines()
    hits = {lines[number - 1].strip(): cost.hits for number, cost in table.lines.items()}
    assert any("tanh" in text and count == 3 for text, count in hits.items())
    assert sum(row.forward.seconds + row.reverse.seconds for row in table.rows) == pytest.approx(table.seconds)


def test_arguments_and_rounds():
    u = np.ones(10)
    ad.profile(wave)(u, 3)
    np.testing.assert_array_equal(u, np.ones(10))
    with pytest.raises(ValueError, match="rounds"):
        ad.profile(wave, rounds=0)
