"""Native programs in files: kept, verified, and never run if they are not ours."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("numba")

import autodiff_sct as ad
from autodiff_sct.compiler.numba import bailout
from autodiff_sct.core import storage
from benchmarks.workloads import lstm

TEXT = """from numba import njit


@njit(cache=True, error_model="numpy")
def double(x):
    return 2 * x
"""


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setenv("AUTODIFF_SCT_CACHE_DIR", str(tmp_path))
    monkeypatch.delenv("AUTODIFF_SCT_CACHE", raising=False)
    for name in [n for n in sys.modules if n.startswith(bailout.PREFIX)]:
        monkeypatch.delitem(sys.modules, name)
    found = storage.folder(bailout.KIND)
    assert found is not None
    return found


def forgotten(monkeypatch):
    """As in a new process."""
    for name in [n for n in sys.modules if n.startswith(bailout.PREFIX)]:
        monkeypatch.delitem(sys.modules, name)


def only(place, pattern):
    (found,) = place.glob(pattern)
    return found


def test_machine_code_is_kept(place, monkeypatch):
    kernel = bailout.program(TEXT, "double")
    assert kernel(2.0) == 4.0
    bailout.note(kernel.__module__)
    before = only(place, "*.py").stat().st_mtime_ns
    forgotten(monkeypatch)
    again = bailout.program(TEXT, "double")
    assert again(2.0) == 4.0
    assert sum(again.stats.cache_hits.values()) == 1
    assert only(place, "*.py").stat().st_mtime_ns == before


def test_numbas_advice_on_our_files_is_not_given(place):
    """Warnings are errors here: advice on how to write the emitted program is for us, not for whoever runs it."""
    args = lstm.inputs(True)
    native = ad.grad(lstm.primal, lstm.WRT, backend="numba")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = native(*args)
    for mine, expected in zip(found, ad.grad(lstm.primal, lstm.WRT)(*args)):
        np.testing.assert_allclose(mine, expected, rtol=1e-12)


def test_another_text_in_the_file_is_not_run(place, monkeypatch):
    bailout.program(TEXT, "double")
    path = only(place, "*.py")
    path.write_text("raise SystemExit('foreign')")
    forgotten(monkeypatch)
    assert bailout.program(TEXT, "double")(2.0) == 4.0
    assert path.read_text() == TEXT


def test_corrupt_machine_code_is_thrown_away(place, monkeypatch):
    kernel = bailout.program(TEXT, "double")
    kernel(2.0)
    bailout.note(kernel.__module__)
    for path in (place / "__pycache__").glob("*.nb*"):
        path.write_bytes(b"garbage")
    forgotten(monkeypatch)
    again = bailout.program(TEXT, "double")
    assert again(2.0) == 4.0
    assert sum(again.stats.cache_hits.values()) == 0


def test_machine_code_without_a_note_is_not_used(place, monkeypatch):
    kernel = bailout.program(TEXT, "double")
    kernel(2.0)
    forgotten(monkeypatch)
    again = bailout.program(TEXT, "double")
    again(2.0)
    assert sum(again.stats.cache_hits.values()) == 0


def test_switched_off(place, monkeypatch):
    monkeypatch.setenv("AUTODIFF_SCT_CACHE", "0")
    assert bailout.program(TEXT, "double")(2.0) == 4.0
    assert not list(place.iterdir())


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="permissions are POSIX")
def test_a_folder_that_others_may_write_to_is_not_used(place):
    place.chmod(0o777)
    assert storage.folder(bailout.KIND) is None
    assert bailout.program(TEXT, "double")(2.0) == 4.0
    assert not list(place.iterdir())


def test_the_name_changes_with_the_text(place):
    bailout.program(TEXT, "double")
    bailout.program(TEXT.replace("2 * x", "x + x"), "double")
    assert len(list(place.glob("*.py"))) == 2


def test_a_second_process_takes_machine_code_from_the_cache(place):
    root = Path(__file__).parents[2]
    code = (
        "import autodiff_sct as ad\n"
        "from tests.native.programs import newton\n"
        "g = ad.grad(newton, backend='numba')\n"
        "g(2.0)\n"
        "(variant,) = [v for vs in g.prepared().variants.by_kinds.values() for v in vs]\n"
        "print(sum(variant.function.kernel.stats.cache_hits.values()))\n"
    )
    runs = [
        subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    ]
    assert runs == ["0\n", "1\n"]
