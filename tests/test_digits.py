"""The main job: a network trained on handwritten digits through compiled gradients."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

pytestmark = pytest.mark.once

pytest.importorskip("matplotlib")
pytest.importorskip("sklearn")
pytest.importorskip("tqdm")


def load_example():
    path = Path(__file__).parent.parent / "examples" / "digits.py"
    spec = importlib.util.spec_from_file_location("digits_example", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_digits_are_read(tmp_path, capsys):
    accuracy = load_example().main([str(tmp_path)])
    assert accuracy >= 0.97
    assert f"held-out accuracy: {accuracy:.4f}" in capsys.readouterr().out
    for name in ("digits_loss.png", "digits_misread.png"):
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")
