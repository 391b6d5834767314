"""Loops over segments that keep their states on the disk: killed runs go on, other folders stay as they are."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct import segments
from autodiff_sct.errors import ArgumentRuntimeError, ArgumentTypeError, ArgumentValueError, Refused
from autodiff_sct.runtime import snapshots
from tests.compiler.checked import V

pytestmark = pytest.mark.once


def rebound(x, n, folder):
    for i in segments(range(n), every=3, checkpoint=folder):
        x = np.sin(x) * x + 0.1 * i
    return np.sum(x)


def written(u, n, folder):
    u = u.copy()
    total, history = 0.0, np.zeros(n)
    for i in segments(range(n), every=3, checkpoint=folder):
        u[1:-1] = u[1:-1] + 0.3 * np.sin(u[:-2] - 2 * u[1:-1] + u[2:])
        total += u[1] ** 2
        history[i] = u[2] * total
    return np.sum(u**2) + np.sum(history**2)


def made_in_each_step(u, n, folder):
    for _ in segments(range(n, 0, -1), checkpoint=folder):
        v = np.empty_like(u)
        v[1:] = np.sin(u[:-1]) * u[1:]
        v[0] = u[0]
        u = v
    return np.sum(u)


def linear(u, n, folder):
    for _ in segments(range(n), every=2, checkpoint=folder):
        u = 0.5 * u.T
    return np.sum(u**2)


def inner_segments(x, n, folder):
    for _ in segments(range(n), every=4, checkpoint=folder):
        for _ in segments(range(5), every=2):
            x = x * np.sin(x) + 0.1
    return np.sum(x)


def counting(x, n, folder):
    """A Python float, an integer, and something that is None at first."""
    y, steps, last = x[0].item(), 0, None
    for _ in segments(range(n), every=2, checkpoint=folder):
        y, steps = y * np.sin(y) + 0.5, steps + 1
        if last is None:
            last = x[1] * y
    return y * steps + x[2]


FUNCTIONS = (rebound, written, made_in_each_step, linear, inner_segments, counting)


@pytest.mark.parametrize("n", (0, 1, 3, 10))
@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_same_gradient_as_in_memory_and_nothing_is_left(f, n, tmp_path):
    folder = str(tmp_path / "a" / "run")
    expected = ad.grad(f)(V, n, None)
    value, gradient = ad.value_and_grad(f)(V, n, folder)
    assert value == f(V, n, None) and np.array_equal(gradient, expected)
    assert not os.path.exists(folder) and os.path.exists(tmp_path / "a")
    ad.check_grads(lambda x: f(x, n, folder), (V,))


def test_second_order(tmp_path):
    folder = str(tmp_path / "run")
    np.testing.assert_allclose(ad.hessian(rebound)(V, 5, folder), ad.hessian(rebound)(V, 5, None), rtol=1e-13)
    assert not os.path.exists(folder)


def test_states_are_files_that_are_mapped(tmp_path, monkeypatch):
    seen = []

    def load(file: Any, **kwargs: Any) -> Any:
        found = actual(file, **kwargs)
        seen.append((type(found).__name__, found.shape))
        return found

    actual, x = np.load, np.linspace(0.1, 0.9, 20_000)
    monkeypatch.setattr(np, "load", load)
    ad.grad(rebound)(x, 6, tmp_path)
    assert seen == [("memmap", x.shape)] * 2


# -- killed runs

CHILD = """
import os, signal, sys
import numpy as np
import autodiff_sct as ad
from autodiff_sct.runtime import snapshots

method, count, folder, out = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4]
actual, calls = getattr(snapshots.Snapshots, method), []


def counted(self, *args):
    calls.append(args)
    if len(calls) == count:
        if method == "save":  # half a file
            (self.folder / ".autodiff_sct_half.tmp").write_bytes(b"NUMPY")
        os.kill(os.getpid(), signal.SIGKILL)
    return actual(self, *args)


def run(u, n, folder):
    u = u.T.copy().T
    total = 0.0
    for i in ad.segments(range(n), every=10, checkpoint=folder):
        print("step", i)
        w = np.tanh(u @ u.T / 50) + 0.01 * i
        total += w[0, 1]
        u[1:] = u[1:] + 0.1 * (w @ u)[:-1]
    return np.sum(u * u) * total


u = np.random.default_rng(0).normal(size=(50, 40))
setattr(snapshots.Snapshots, method, counted)
np.save(out, ad.grad(run)(u, 60, folder))
"""


def child(tmp_path: Path, method: str, count: int, folder: Path) -> tuple[int, int, bytes]:
    """Run the program until its `count`-th call of a method: how it ended, the steps that it ran, and the gradient."""
    out = tmp_path / "out.npy"
    out.unlink(missing_ok=True)
    program = tmp_path / "program.py"
    program.write_text(CHILD)
    root = str(Path(ad.__file__).parents[1])
    env = {**os.environ, "PYTHONPATH": root, "OPENBLAS_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"}
    command = [sys.executable, str(program), method, str(count), str(folder), str(out)]
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    assert done.returncode in (0, -9), done.stderr
    return done.returncode, done.stdout.count("step"), out.read_bytes() if out.exists() else b""


@pytest.mark.skipif(sys.platform == "win32", reason="kill -9 is POSIX")
def test_a_killed_run_goes_on_with_the_same_bits(tmp_path):
    folder = tmp_path / "run"
    code, steps, undisturbed = child(tmp_path, "save", 0, tmp_path / "other")
    assert (code, steps) == (0, 60) and undisturbed
    # In the fourth segment, between its two files; at once again; in the reverse sweep; then to the end.
    for method, count, expected in (("save", 8, 30), ("save", 1, 0), ("load", 7, 40), ("save", 0, 10)):
        code, steps, gradient = child(tmp_path, method, count, folder)
        assert steps == expected, (method, count)
    assert code == 0 and gradient == undisturbed
    assert not folder.exists()


# -- folders


def interrupted(folder: Path, x: Any = V, n: int = 10) -> None:
    """Leave the snapshots of a run that has failed."""

    def failing(x, n, folder):
        for i in segments(range(n), every=3, checkpoint=folder):
            x = np.sin(x) * x
            if i == 7:
                raise KeyError(i)
        return np.sum(x)

    with pytest.raises(KeyError):
        ad.grad(failing)(x, n, folder)


def content(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def test_another_program_is_refused(tmp_path):
    interrupted(tmp_path)
    before = content(tmp_path)
    assert {"x_at_0.array.npy", "x_at_3.array.npy", "x_at_6.array.npy"} < {*before}
    with pytest.raises(ArgumentValueError, match=r"another run: the program differs(.|\n)*Name another folder"):
        ad.grad(rebound)(V, 10, tmp_path)
    assert content(tmp_path) == before


@pytest.mark.parametrize(("x", "n", "said"), [(V + 1e-15, 10, "x had"), (V, 11, "n had")])
def test_other_arguments_are_refused(tmp_path, x, n, said):
    interrupted(tmp_path)
    with pytest.raises(ArgumentValueError, match=f"{said} another value"):
        interrupted(tmp_path, x, n)
    interrupted(tmp_path)


FACTOR = 1.0


def scaled(x):
    return x * FACTOR


def reads_globals(x, folder, ends):
    for i in segments(range(10), every=3, checkpoint=folder):
        x = scaled(np.sin(x))
        if i > ends:
            raise KeyError(i)
    return np.sum(x)


def test_other_globals_are_refused(tmp_path, monkeypatch):
    with pytest.raises(KeyError):
        ad.grad(reads_globals)(V, tmp_path, 7)
    with monkeypatch.context() as changed:
        changed.setitem(globals(), "FACTOR", 2.0)
        with pytest.raises(ArgumentValueError, match="another run: FACTOR had another value"):
            ad.grad(reads_globals)(V, tmp_path, 7)
    with pytest.raises(KeyError):
        ad.grad(reads_globals)(V, tmp_path, 7)


def test_other_files_are_never_touched(tmp_path):
    (tmp_path / "thesis.tex").write_text("mine")
    with pytest.raises(ArgumentValueError, match="holds something else"):
        ad.grad(rebound)(V, 10, tmp_path)
    assert content(tmp_path) == {"thesis.tex": b"mine"}


def test_files_that_come_later_stay(tmp_path):
    kept = snapshots.snapshots(tmp_path / "run", "x")
    kept.save(0, "x", V)
    for name in ("notes.txt", "y_at_3.array.npy"):
        (tmp_path / "run" / name).write_text("mine")
    kept.remove()
    assert {*content(tmp_path / "run")} == {"notes.txt", "y_at_3.array.npy"}


def test_a_damaged_owner_is_refused(tmp_path):
    interrupted(tmp_path)
    (tmp_path / "autodiff_sct_run.json").write_text("{}")
    before = content(tmp_path)
    with pytest.raises(ArgumentValueError, match="not of this user and this version"):
        interrupted(tmp_path)
    assert content(tmp_path) == before


def test_an_empty_folder_of_the_user_stays(tmp_path):
    ad.grad(rebound)(V, 10, tmp_path)
    assert tmp_path.exists() and not content(tmp_path)


def test_a_folder_is_used_by_one_process(tmp_path):
    fcntl = pytest.importorskip("fcntl")
    interrupted(tmp_path)
    snapshots.OPEN[tmp_path].let_go()  # the exception may still hold it
    with open(tmp_path / ".autodiff_sct_lock") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        with pytest.raises(ArgumentRuntimeError, match="another process uses the folder"):
            interrupted(tmp_path)


def test_a_pullback_runs_once(tmp_path):
    value, pullback = ad.vjp(lambda x: rebound(x, 10, tmp_path), V)
    expected = ad.vjp(lambda x: rebound(x, 10, None), V)[1](2.0)
    assert np.array_equal(pullback(2.0), expected)
    with pytest.raises(ArgumentRuntimeError, match="another call uses|is gone"):
        pullback(2.0)


# -- refused


def draws(x, rng, folder):
    for _ in segments(range(5), checkpoint=folder):
        x = x * rng.normal()
    return np.sum(x)


def lists(x, folder):
    found = []
    for _ in segments(range(5), checkpoint=folder):
        x = x * np.sin(x)
        found.append(x)
    return np.sum(np.array(found))


def inside_a_loop(x, folder):
    for _ in range(2):
        for _ in segments(range(5), checkpoint=folder):
            x = x * np.sin(x)
    return np.sum(x)


def swapped(x, folder):
    u, v = x.copy(), np.zeros_like(x)
    for _ in segments(range(5), checkpoint=folder):
        v[:] = np.sin(u) * u
        u, v = v, u
    return np.sum(u)


@pytest.mark.parametrize(
    ("f", "args", "said"),
    [
        (draws, (V, np.random.default_rng(0)), "side effect, in a loop with `checkpoint=`(.|\n)*before the loop"),
        (lists, (V,), "'found' is neither a number nor an array(.|\n)*an array that is made before"),
        (inside_a_loop, (V,), "inside another loop"),
        (swapped, (V,), "rebound and written in place(.|\n)*`v = np.empty_like"),
    ],
    ids=lambda x: getattr(x, "__name__", ""),
)
def test_refused(f, args, said, tmp_path):
    with pytest.raises(Refused, match=said):
        ad.grad(f)(*args, str(tmp_path))
    assert not content(tmp_path)


def test_no_path():
    with pytest.raises(ArgumentTypeError, match="checkpoint is the path of a folder or None"):
        ad.grad(rebound)(V, 10, 3)
