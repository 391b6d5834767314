"""The examples run, small, and reach what they promise."""

import importlib
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.once

EXAMPLES = Path(__file__).parent.parent / "examples"
pytest.importorskip("matplotlib")
pytest.importorskip("scipy")
pytest.importorskip("sklearn")


@pytest.fixture
def example(monkeypatch, tmp_path):
    """Import an example by name, in a working folder of its own (they save pictures in ``out/``)."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(EXAMPLES))
    imported = []

    def load(name):
        imported.append(name)
        return importlib.import_module(name)

    yield load
    for name in imported:
        sys.modules.pop(name, None)


def is_picture(path):
    return path.read_bytes().startswith(b"\x89PNG")


def test_heat_lowers_the_misfit_a_thousand_times(example, tmp_path, capsys):
    assert example("heat").main(["--steps", "10", "--size", "16"]) >= 1000
    assert "the misfit fell" in capsys.readouterr().out
    assert is_picture(tmp_path / "out" / "heat.png")


def test_gallery_holds_a_dozen_programs_with_right_gradients(example, capsys):
    gallery = example("gallery")
    assert len(gallery.programs()) >= 12
    assert gallery.main([]) < 1e-6
    printed = capsys.readouterr().out
    for name in gallery.programs():
        assert f" {name} =" in printed


def test_gallery_shows_one_program(example, capsys):
    example("gallery").main(["branch"])
    printed = capsys.readouterr().out
    assert "def branch(x)" in printed and "def in_place" not in printed


def test_gallery_refuses_an_unknown_name(example, capsys):
    with pytest.raises(SystemExit):
        example("gallery").main(["knot"])
    assert "knot" in capsys.readouterr().err


def test_digits_are_learned_and_drawn(example, monkeypatch, tmp_path, capsys):
    digits = example("digits")
    monkeypatch.setattr(digits, "EPOCHS", 3)
    assert digits.main([]) > 0.85
    assert "held-out accuracy" in capsys.readouterr().out
    assert is_picture(tmp_path / "out" / "digits_loss.png")
    assert is_picture(tmp_path / "out" / "digits_misread.png")


def test_lynx_and_hare_are_fitted(example, tmp_path, capsys):
    assert example("lynx_hare").main(["--iterations", "25"]) < 0.25
    assert "spread around the fit" in capsys.readouterr().out
    assert is_picture(tmp_path / "out" / "lynx_hare.png")


def test_a_solar_cell_has_the_published_error(example, tmp_path, capsys):
    assert 7.72e-4 < example("solar_cell").main([]) < 7.74e-4
    assert "root mean square error" in capsys.readouterr().out
    assert is_picture(tmp_path / "out" / "solar_cell.png")


def test_a_gaussian_process_explains_held_out_patients(example, tmp_path, capsys):
    assert example("diabetes").main(["--patients", "150", "--iterations", "10"]) > 0.3
    assert "explained variance" in capsys.readouterr().out
    assert is_picture(tmp_path / "out" / "diabetes.png")


def test_a_grid_of_ten_thousand_resistors_is_recovered(example, tmp_path, capsys):
    resistors = example("resistors")
    assert resistors.main(["--iterations", "12"]) > 0.9
    assert "10,000 nodes" in capsys.readouterr().out
    assert is_picture(tmp_path / "out" / "resistors.png")


def test_lenet_reads_digits_and_keeps_its_weights(example, tmp_path, capsys):
    assert example("lenet").main(["--epochs", "4"]) > 0.9
    assert "held-out accuracy" in capsys.readouterr().out
    assert is_picture(tmp_path / "out" / "lenet.png")
    assert (tmp_path / "out" / "lenet.ckpt").stat().st_size > 100_000


def test_an_lstm_learns_to_write(example, tmp_path, capsys):
    assert example("char_lstm").main(["--epochs", "6"]) > 0.3
    assert "characters foreseen" in capsys.readouterr().out
    assert is_picture(tmp_path / "out" / "char_lstm.png")


def test_a_network_solves_burgers_equation(example, tmp_path, capsys):
    assert example("burgers").main(["--iterations", "80", "--places", "200"]) < 0.4
    assert "relative error of the solution" in capsys.readouterr().out
    assert is_picture(tmp_path / "out" / "burgers.png")
