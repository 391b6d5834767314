"""The command line, in the process and as a process of its own."""

import os
import re
import subprocess
import sys

import pytest

from autodiff_sct import __version__, adjoint_source
from autodiff_sct.cli.main import main, module_from_file, positions
from autodiff_sct.compiler.domain.pass_registry import PASSES
from autodiff_sct.compiler.driver.pipeline import STAGES
from autodiff_sct.core import process_state
from autodiff_sct.core.highlight import highlight, wants_color

SHAPES = """\
import numpy as np

HEIGHT = np.ones(3)


def volume(r, h):
    area = np.pi * r ** 2
    return area * h


def power(x, n=3):
    y = x
    for i in range(n - 1):
        y = y * x
    return y


def lazy(x):
    yield x


class Ring:
    @staticmethod
    def area(r):
        return np.pi * r ** 2


RADIUS = 2.0


def inside(x):
    return x * x if 0 < x and x < 2 else x
"""
ESCAPES = re.compile(r"\x1b\[\d+m")


@pytest.fixture
def shapes(tmp_path, monkeypatch):
    """A working folder with the user's module ``shapes_for_cli`` in a package ``parts``, not yet imported."""
    folder = tmp_path / "parts"
    folder.mkdir()
    (folder / "shapes_for_cli.py").write_text(SHAPES)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    yield folder / "shapes_for_cli.py"
    for name in ("parts", "parts.shapes_for_cli", "shapes_for_cli"):
        sys.modules.pop(name, None)


def shown(capsys, *argv):
    assert main(["show", *argv]) == 0
    output = capsys.readouterr()
    assert output.err == ""
    return output.out


def failed(capsys, *argv):
    assert main(["show", *argv]) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert "Traceback" not in output.err
    return output.err


def test_shows_what_adjoint_source_returns(shapes, capsys):
    text = shown(capsys, "parts.shapes_for_cli:volume", "--args", "1.5, 2.0")
    volume = sys.modules["parts.shapes_for_cli"].volume
    assert text.rstrip() == adjoint_source(volume, 1.5, 2.0).rstrip()
    assert "return d_area * np.pi" in text and "d_h" not in text


def test_wrt_names_the_differentiated_arguments(shapes, capsys):
    text = shown(capsys, "parts.shapes_for_cli:volume", "--wrt", "0,1", "--args", "1.5, 2.0")
    assert "return d_area * np.pi * (2 * r), d_h" in text


def test_arguments_see_numpy_and_the_modules_names(shapes, capsys):
    text = shown(capsys, "parts.shapes_for_cli:volume", "--wrt", "1", "--args", "np.float64(1.5), HEIGHT")
    assert "np.full_like(h, d_out * area)" in text


def test_a_single_argument_needs_no_comma(shapes, capsys):
    assert "d_x" in shown(capsys, "parts.shapes_for_cli:power", "--args", "RADIUS")


def test_without_arguments_the_general_version(shapes, capsys):
    assert "* d_area * r\n" in shown(capsys, "parts.shapes_for_cli:volume")


def test_a_file_by_its_path(shapes, capsys):
    by_path = shown(capsys, "parts/shapes_for_cli.py:volume", "--args", "1.5, 2.0")
    assert "return d_area * np.pi" in by_path
    assert shown(capsys, f"{shapes}:volume", "--args", "1.5, 2.0") == by_path


def test_a_dotted_name(shapes, capsys):
    assert "return d_out * np.pi" in shown(capsys, "parts.shapes_for_cli:Ring.area", "--args", "1.5")


def test_explains(shapes, capsys):
    text = shown(capsys, "parts.shapes_for_cli:volume", "--wrt", "0,1", "--args", "1.5, 2.0", "--explain")
    assert "# kept: the reverse of shapes_for_cli.py" in text


@pytest.mark.parametrize("stage", [name for name, _ in STAGES])
def test_every_stage_prints(shapes, capsys, stage):
    assert shown(capsys, "parts.shapes_for_cli:power", "--args", "RADIUS", "--stage", stage).strip()


def test_stages_lists_the_pipeline(capsys):
    assert main(["stages"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == [name for name, _ in STAGES]
    assert all(description in line for line, (_, description) in zip(lines, STAGES))


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["shapes_for_cli"], "not of the form"),
        (["parts.nothing_here:volume"], "no module 'parts.nothing_here'"),
        (["parts.shapes_for_cli:surface"], "no 'surface'"),
        (["parts.shapes_for_cli:Ring.perimeter"], "no 'Ring.perimeter'"),
        (["parts/absent.py:volume"], "no file"),
        (["parts.shapes_for_cli:RADIUS"], "cannot be called"),
        (["parts.shapes_for_cli:volume", "--stage", "guess"], "no stage 'guess'"),
        (["parts.shapes_for_cli:volume", "--args", "1.5, missing"], "NameError"),
        (["parts.shapes_for_cli:volume", "--args", "1.5,, 2"], "SyntaxError"),
    ],
)
def test_a_wrong_command_line_says_so(shapes, capsys, argv, message):
    assert message in failed(capsys, *argv)


def test_our_errors_show_the_users_line_without_a_traceback(shapes, capsys):
    text = failed(capsys, "parts.shapes_for_cli:lazy", "--args", "1.5")
    assert "yield x" in text and "^" in text
    assert "shapes_for_cli.py:19" in text


def test_the_users_own_import_error_keeps_its_traceback(shapes):
    shapes.with_name("broken_for_cli.py").write_text("import a_module_that_is_not_there\n")
    with pytest.raises(ModuleNotFoundError, match="a_module_that_is_not_there"):
        main(["show", "parts.broken_for_cli:f"])


def test_arguments_are_chosen_by_position_and_by_name(shapes, capsys):
    assert positions("0,1") == (0, 1) and positions("2") == positions("2,") == (2,) and positions("r, 1") == ("r", 1)
    target = "parts.shapes_for_cli:volume", "--args", "1.5, 2.0"
    assert shown(capsys, *target, "--wrt", "h") == shown(capsys, *target, "--wrt", "1")
    assert shown(capsys, *target, "--wrt", "h,r") == shown(capsys, *target, "--wrt", "1,0")
    assert main(["show", *target, "--wrt", "radius"]) == 2
    assert "--wrt radius names no parameter; there are r, h" in capsys.readouterr().err
    with pytest.raises(SystemExit) as stopped:
        main(["show", *target, "--wrt", "r h"])
    assert stopped.value.code == 2


def test_the_version_is_printed(capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["--version"])
    assert stopped.value.code == 0 and capsys.readouterr().out == f"autodiff_sct {__version__}\n"


def test_a_file_is_imported_under_its_own_name(shapes):
    module = module_from_file(shapes)
    assert module.__name__ == "shapes_for_cli"
    assert sys.modules["shapes_for_cli"] is module


def run(*argv, **environment):
    command = [sys.executable, "-m", "autodiff_sct", *argv]
    variables = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "FORCE_COLOR")}
    return subprocess.run(command, env={**variables, **environment}, capture_output=True, text=True)


def test_as_a_process(shapes):
    # The repository's folder stays importable although the process starts in the user's.
    path = os.pathsep.join(entry or os.getcwd() for entry in sys.path)
    target = ("show", "parts.shapes_for_cli:volume", "--args", "1.5, 2.0")
    plain = run(*target, PYTHONPATH=path)
    assert plain.returncode == 0, plain.stderr
    assert "\x1b" not in plain.stdout and "return d_area * np.pi" in plain.stdout
    colored = run(*target, PYTHONPATH=path, FORCE_COLOR="1")
    assert "\x1b[" in colored.stdout
    assert ESCAPES.sub("", colored.stdout) == plain.stdout
    assert run(*target, "--no-color", PYTHONPATH=path, FORCE_COLOR="1").stdout == plain.stdout
    assert run("show", "parts.absent:volume", PYTHONPATH=path).returncode == 2


@pytest.mark.parametrize("stage", ["specialise", "optimise"])
def test_a_stage_is_the_first_thing_that_a_process_shows(shapes, stage):
    path = os.pathsep.join(entry or os.getcwd() for entry in sys.path)
    shown = run("show", "parts.shapes_for_cli:inside", "--args", "1.5", "--stage", stage, PYTHONPATH=path)
    assert shown.returncode == 0, shown.stderr
    assert "if " in shown.stdout


class Terminal:
    def isatty(self):
        return True


def test_colour_only_where_it_is_wanted(monkeypatch):
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert wants_color(Terminal())
    monkeypatch.setenv("TERM", "dumb")
    assert not wants_color(Terminal())
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert wants_color(Terminal())
    monkeypatch.setenv("NO_COLOR", "1")
    assert not wants_color(Terminal())


@pytest.mark.parametrize(
    "source",
    [
        SHAPES,
        "",
        "x = 1",
        'text = f"{{{x!r:>{width}}}} and {y:.3f}"  # formatted\n',
        'def f():\n    """Two\n    lines."""\n    return "ä", b"b", 1e-3j\n',
        "\tindented = 'out of nowhere'\n",
        "a = (1,\n",
        "%1 = call tanh %0  ?? not Python",
    ],
)
def test_highlighting_changes_no_letter(source):
    assert ESCAPES.sub("", highlight(source)) == source


def test_passes_may_be_switched_off(shapes, capsys):
    target = ["show", "parts.shapes_for_cli:power", "--args", "1.5", "--no-color"]
    assert main(target) == 0
    plain = capsys.readouterr().out
    assert main([*target, "--without", ",".join(PASSES)]) == 0
    assert capsys.readouterr().out != plain
    assert main([*target, "--without", "canonicalize,nothing"]) == 2
    assert "there is no pass 'nothing'" in capsys.readouterr().err
    assert main(target) == 0
    assert capsys.readouterr().out == plain


def test_passes_are_listed(capsys):
    assert main(["passes"]) == 0
    lines = capsys.readouterr().out.splitlines()
    names = [line.split()[0] for line in lines if line.startswith("  ")]
    assert [name for name in dict.fromkeys(names) if name in PASSES] == list(PASSES)


def test_the_program_is_printed_after_passes(shapes, capsys):
    target = ["parts.shapes_for_cli:power", "--args", "1.5"]
    nested = shown(capsys, *target, "--print-after", "canonicalize")
    assert "# after forward_substitute\n" in shown(capsys, *target, "--print-changed")
    assert nested.strip() and not nested.startswith("#")
    assert main(["show", *target, "--print-after", "nothing"]) == 2
    assert "there is no pass 'nothing'" in capsys.readouterr().err
    assert main(["show", *target, "--print-after", "cannonicalize"]) == 2
    assert "there is no pass 'cannonicalize', is it 'canonicalize'?" in capsys.readouterr().err


def test_the_cache_is_shown_and_cleared(shapes, capsys, tmp_path, monkeypatch):
    place = tmp_path / "kept"
    monkeypatch.setenv("AUTODIFF_SCT_CACHE_DIR", str(place))
    monkeypatch.delenv("AUTODIFF_SCT_CACHE")
    monkeypatch.setattr(process_state, "REGISTERED", [])  # by other tests
    assert main(["show", "parts.shapes_for_cli:volume", "--args", "1.5, 2.0"]) == 0
    capsys.readouterr()
    (place / "programs" / "notes.txt").write_text("mine")
    assert main(["cache", "--show"]) == 0
    shown = capsys.readouterr().out
    assert str(place) in shown and re.search(r"programs +1 files", shown)
    assert main(["cache", "--clear"]) == 0
    assert capsys.readouterr().out.startswith("1 files removed")
    assert [path.name for path in (place / "programs").iterdir()] == ["notes.txt"]
    monkeypatch.setenv("AUTODIFF_SCT_CACHE", "0")
    assert main(["cache"]) == 0
    assert "off: AUTODIFF_SCT_CACHE=0" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["cache", "--show", "--clear"])
