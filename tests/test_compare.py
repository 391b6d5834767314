"""``compare``: numbers, reasons, JSON and the table, with whatever systems are installed."""

import json
import math
import sys
import types

import numpy as np
import pytest

from autodiff_sct.cli import compare as comparing
from autodiff_sct.cli import opponents
from autodiff_sct.cli.compare import Comparison, Row, as_json, as_text, compare, distance, first_lines
from autodiff_sct.cli.main import main
from autodiff_sct.cli.opponents import Cannot, Runner, Target, numbers_in, replaced, run_again
from tests.test_cli import ESCAPES

PROGRAMS = """\
import numpy as np
import numpy.linalg
from numpy.linalg import norm

CALLS = []


def loss(w, b, x):
    return np.mean(np.tanh(x @ w + b) ** 2)


def product(x, y):
    return x * x * y + y


def written(x):
    x[1:] *= x[0]
    return np.sum(x**2)


def settings(config, n):
    return config["a"] ** n, [config["b"].sum()]


def generated(x):
    yield x


class Scale:
    @staticmethod
    def twice(x):
        return numpy.linalg.norm(2 * x) + norm(x)
"""


@pytest.fixture
def programs(tmp_path, monkeypatch):
    """The target's file, and quick timing."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(comparing, "BATCH", 1e-5)
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "programs_to_compare.py").write_text(PROGRAMS)
    yield "programs_to_compare.py"
    sys.modules.pop("programs_to_compare", None)


def printed(capsys, *argv):
    assert main(["compare", *argv, "--rounds", "3"]) == 0
    output = capsys.readouterr()
    assert output.err == ""
    return output.out


def systems(capsys, *argv):
    found = json.loads(printed(capsys, *argv, "--json"))
    return found, {row["system"]: row for row in found["systems"]}


def test_both_systems_of_the_package_agree(programs, capsys):
    found, rows = systems(
        capsys, f"{programs}:loss", "--args", "np.ones((3, 2)), np.zeros(2), np.eye(3)", "--wrt", "0,1"
    )
    assert list(rows) == ["source transformation", "tape", "HIPS autograd", "torch"]
    for name in ("source transformation", "tape"):
        row = rows[name]
        assert row["ran"] and row["agrees"] and row["reason"] is None
        assert row["median_seconds"] > 0 and row["peak_bytes"] > 0
    assert rows["source transformation"]["ratio"] == 1.0
    assert rows["tape"]["gradient_difference"] < 1e-14
    assert "def d_loss" in found["adjoint"] and found["function_seconds"] > 0


def test_other_systems_run_it_or_say_why_not(programs, capsys):
    _, rows = systems(capsys, f"{programs}:product", "--args", "2.0, 3.0")
    for name, package in (("HIPS autograd", "autograd"), ("torch", "torch")):
        try:
            __import__(package)
        except ImportError:
            assert rows[name]["reason"] == "not installed"
        else:
            assert rows[name]["agrees"]


def test_a_system_that_cannot_run_the_function_says_why(programs, capsys):
    found, rows = systems(capsys, f"{programs}:written", "--args", "np.array([1.0, 2.0])")
    assert rows["source transformation"]["ran"] and not rows["tape"]["ran"]
    assert "leaf" in rows["tape"]["reason"]
    assert rows["tape"]["median_seconds"] is None
    text = printed(capsys, f"{programs}:written", "--args", "np.array([1.0, 2.0])")
    assert any(line.startswith("tape") and "cannot: " in line for line in text.splitlines())


def test_where_the_compiler_refuses_the_others_are_still_shown(programs, capsys):
    text = printed(capsys, f"{programs}:generated", "--args", "2.0")
    assert "cannot: programs_to_compare.py:26: generators are not differentiated." in text
    assert "function alone" in text


def test_containers_and_several_results(programs, capsys):
    _, rows = systems(capsys, f"{programs}:settings", "--args", "{'a': 1.5, 'b': np.ones(2)}, 3")
    assert rows["tape"]["agrees"] and rows["source transformation"]["agrees"]


def test_the_table_is_aligned_and_colour_changes_no_letter(programs, capsys):
    target = (f"{programs}:Scale.twice", "--args", "np.array([3.0, 4.0])")
    lines = printed(capsys, *target).splitlines()
    assert lines[0] == "programs_to_compare:Scale.twice, by argument 0"
    header = next(line for line in lines if "ratio" in line)
    for name in ("source transformation", "tape"):
        line = next(line for line in lines if line.startswith(name))
        for column in ("ratio", "  time", "first call", "memory", "value", "gradient"):
            end = header.index(column) + len(column)
            assert line[end - 1] != " " and line[end : end + 1] in ("", " ")
    assert any("def d_twice" in line for line in lines)
    found = compare(target_of(lambda x: x * x, 3.0), rounds=3)
    assert ESCAPES.sub("", as_text(found, color=True)) == as_text(found)


def test_arguments_are_needed(programs, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["compare", f"{programs}:loss"])
    assert stopped.value.code == 2


def test_a_position_beyond_the_arguments(programs, capsys):
    assert main(["compare", f"{programs}:square", "--args", "2.0"]) == 2
    assert main(["compare", f"{programs}:product", "--args", "2.0, 3.0", "--wrt", "0,2"]) == 2
    assert "--wrt 2 names an argument beyond the 2 of --args" in capsys.readouterr().err


def test_the_arguments_are_not_changed(programs):
    x = np.array([1.0, 2.0])

    def written(x):
        x *= 2
        return np.sum(x)

    compare(target_of(written, x), rounds=3)
    assert x.tolist() == [1.0, 2.0]


def target_of(function, *args):
    return Target(types.ModuleType("nowhere"), function.__name__, function, args, (0,))


def test_a_wrong_number_is_seen(monkeypatch):
    def doubled(target):
        runner = opponents.source_transformation(target)
        return Runner(runner.run, lambda result: (runner.read(result)[0], [2 * g for g in runner.read(result)[1]]))

    monkeypatch.setattr(
        comparing, "SYSTEMS", {"source transformation": opponents.source_transformation, "other": doubled}
    )
    monkeypatch.setattr(comparing, "BATCH", 1e-5)
    found = compare(target_of(square, 3.0), rounds=3)
    assert [found.agrees(row) for row in found.rows] == [True, False]
    assert "DIFFERS: 1" in as_text(found)
    assert json.loads(as_json(found))["systems"][1]["gradient_difference"] == 1.0


def square(x):
    return x * x


def test_distances():
    one = [np.array([1.0, -4.0])]
    assert distance(one, one) == 0
    assert distance([np.array([1.0, -3.0])], one) == 0.25
    assert distance([np.array([1.0])], one) == math.inf
    assert distance([], one) == math.inf
    nan = [np.array([np.nan, 1.0])]
    assert distance(nan, nan) == 0
    assert distance(one, nan) == math.inf


def test_nothing_ran():
    found = Comparison("f", [Row("tape", reason="no")], "# refused", 3, 0.0, 1e-6)
    assert "cannot: no" in as_text(found)
    assert json.loads(as_json(found))["systems"][0]["ran"] is False


def test_the_first_lines_start_at_the_function():
    assert first_lines("import numpy as np\n\n\ndef d_f(x):\n    a\n    b\n", 2) == (
        "def d_f(x):\n    a",
        "    ... 1 more line",
    )
    assert first_lines("def d_f(x):\n    a\n", 2) == ("def d_f(x):\n    a", "")


def test_numbers_are_found_and_replaced_in_containers_and_objects():
    thing = types.SimpleNamespace(a=1.5, n=3, inner=[np.ones(2), (2.0, "text")])
    assert len(numbers_in({"thing": thing, "k": 4})) == 3
    other = replaced(thing, lambda number: number * 2)
    assert (other.a, other.n, other.inner[1], thing.a) == (3.0, 3, (4.0, "text"), 1.5)


def test_a_module_is_run_again_with_another_numpy(programs):
    other = types.ModuleType("other_numpy")
    other.linalg = types.SimpleNamespace(norm=lambda x: -1.0)
    other.mean = other.tanh = abs
    assert main(["show", f"{programs}:product"]) == 0
    module = sys.modules["programs_to_compare"]
    names = run_again(module, other)
    assert names["np"] is other and names["norm"](0) == -1.0 and names["numpy"] is other
    assert names["Scale"].twice(1.0) == -2.0 and names["CALLS"] is not module.CALLS
    assert module.np is np


def test_what_cannot_run_is_an_error_of_ours():
    with pytest.raises(Cannot, match="not installed"):
        opponents.installed("a_package_that_is_not_there")
