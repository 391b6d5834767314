"""The benchmarks compute what they say: gradients of every variant agree; nothing here looks at a clock's figures."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import autodiff_sct as ad
from benchmarks import growth, measure, page, report, shapes, timing, variants, workload

pytestmark = pytest.mark.once

ROOT = Path(__file__).parent.parent
ISSUE_LIST = {
    "attention",
    "cubic_spline",
    "elementwise_chain",
    "finite_volume",
    "gaussian_mixture",
    "heat",
    "logistic_regression",
    "lstm",
    "mlp",
    "n_body",
    "option_pricing",
    "rk4",
    "rosenbrock",
    "shared_cell",
    "triangular_solve",
    "while_loop",
}


def along(args, wrt, directions, step):
    """The arguments, those in `wrt` moved along their directions."""
    moved = list(args)
    for position, direction in zip(wrt, directions):
        moved[position] = args[position] + step * direction
    return moved


@pytest.mark.parametrize("name", workload.names())
def test_the_gradient_by_hand_is_that_of_the_primal(name):
    module = workload.load(name)
    args = module.inputs(quick=True)
    rng = np.random.default_rng(0)
    directions = [rng.normal(size=np.shape(args[position])) for position in module.WRT]
    gradients = variants.as_arrays(module.hand(*args))
    step = 1e-6
    ahead, behind = (module.primal(*along(args, module.WRT, directions, sign * step)) for sign in (1, -1))
    expected = sum(np.sum(gradient * direction) for gradient, direction in zip(gradients, directions))
    assert (ahead - behind) / (2 * step) == pytest.approx(expected, rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("name", workload.names())
def test_ours_and_the_tape_agree_with_the_gradient_by_hand(name):
    module = workload.load(name)
    args = module.inputs(quick=True)
    calls = {"hand": variants.hand(module, args), "ours": variants.ours(module, args)}
    calls["tape"] = variants.tape(module, args)
    measure.first_calls(name, calls)


def test_the_workloads_that_were_asked_for_are_there():
    assert set(workload.names()) >= ISSUE_LIST


def test_every_workload_says_what_it_is():
    for name in workload.names():
        module = workload.load(name)
        assert module.__doc__ and module.KIND in ("dense", "loop") and all(isinstance(at, int) for at in module.WRT)


def test_inputs_are_the_same_each_time():
    for name in workload.names():
        module = workload.load(name)
        for first, second in zip(module.inputs(quick=True), module.inputs(quick=True)):
            assert np.array_equal(first, second)


def test_a_wrong_gradient_is_not_timed():
    calls = {"hand": lambda: np.array([1.0, 2.0]), "ours": lambda: np.array([1.0, 2.1])}
    with pytest.raises(measure.Disagreement, match="ours differs"):
        measure.first_calls("two", calls)


def test_a_gradient_that_is_not_a_number_is_not_timed():
    with pytest.raises(measure.Disagreement):
        measure.first_calls("one", {"hand": lambda: 1.0, "ours": lambda: float("nan")})


def test_a_missing_package_leaves_its_variant_out():
    missing = variants.Variant("absent", "a_package_that_nobody_has", variants.hand)
    assert missing.call(workload.load("heat"), ()) is None


def test_each_call_is_timed_and_peaks_are_seen():
    times = timing.medians({"short": lambda: None, "long": lambda: sum(range(10_000))}, rounds=3, least=1e-4)
    assert 0 < times["short"] < times["long"]
    assert timing.peak_memory(lambda: np.zeros(10_000)) >= 80_000


def measured(name, kind="dense", **seconds):
    return report.Measured(name, kind, 1.0, seconds, {"hand": 10, "ours": 20}, {"ours": 10.0})


def test_tables_show_ratios_and_dashes():
    results = [measured("first", hand=2.0, ours=3.0, jax=1.0), measured("second", kind="loop", hand=1.0, ours=6.0)]
    times = report.times(results).splitlines()
    assert [cell.strip() for cell in times[2].strip("|").split("|")] == [
        "first",
        "2000.000",
        "1.50",
        "0.50",
        "3.00",
        "7000",
    ]
    assert [cell.strip() for cell in times[3].strip("|").split("|")] == [
        "second",
        "1000.000",
        "6.00",
        "-",
        "6.00",
        "4000",
    ]
    assert "3.00" in times[4]
    assert "6.00 (second)" in report.reach(results)
    assert "2.00" in report.memory(results)


def test_tables_go_to_their_places():
    text = "a\n<!-- measured: times -->\nold\n<!-- end -->\nb\n<!-- measured: memory -->\n<!-- end -->\n"
    filled = page.fill(text, {"times": "T", "memory": "M"})
    assert filled == "a\n<!-- measured: times -->\nT\n<!-- end -->\nb\n<!-- measured: memory -->\nM\n<!-- end -->\n"
    assert page.fill(filled, {"times": "T", "memory": "M"}) == filled


def test_the_command_runs_on_one_core_and_writes_json(tmp_path):
    file = tmp_path / "out.json"
    command = [sys.executable, "-m", "benchmarks", "heat", "--quick", "--json", str(file)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert "| heat" in done.stdout and "ours / primal" in done.stdout
    written = json.loads(file.read_text())
    assert written["versions"]["numpy"] == np.__version__
    assert {"hand", "ours"} <= written["workloads"][0]["seconds"].keys()


def test_the_command_refuses_an_unknown_name():
    command = [sys.executable, "-m", "benchmarks", "knot"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 2 and "knot" in done.stderr


@pytest.mark.parametrize("name", shapes.SHAPES)
def test_the_gradients_of_shapes_are_those_of_differences(name):
    shape = shapes.SHAPES[name]
    args = shape.arguments(5)
    gradients = ad.grad(shape.primal, shape.wrt)(*args)
    rng = np.random.default_rng(0)
    arrays = [np.array(args[position]) for position in shape.wrt]
    directions = [rng.normal(size=array.shape) for array in arrays]

    def moved(step):
        changed = list(args)
        for position, array, direction in zip(shape.wrt, arrays, directions):
            new = array + step * direction
            changed[position] = new.tolist() if isinstance(args[position], list) else new
        return shape.primal(*changed)

    found = gradients if isinstance(gradients, tuple) and len(shape.wrt) > 1 else (gradients,)
    expected = sum(np.sum(np.array(gradient) * direction) for gradient, direction in zip(found, directions))
    assert (moved(1e-6) - moved(-1e-6)) / 2e-6 == pytest.approx(expected, rel=1e-5, abs=1e-6)


def test_exponents_are_found_beside_what_any_call_costs():
    sizes = [10, 32, 100, 320, 1000]
    n = np.array(sizes)
    assert growth.exponent(sizes, 3e-6 * n**1.5) == pytest.approx(1.5, abs=0.02)
    assert growth.exponent(sizes, 1e-4 + 3e-6 * n**1.5) == pytest.approx(1.5, abs=0.02)


def test_growth_is_measured_for_programs_and_gradients():
    found = growth.measured(shapes.SHAPES["slope"], [10, 20], rounds=1)
    assert found.shape == (4, 2) and (found > 0).all()
    assert len(growth.row("slope", [10, 20], found)) == 9
