"""The data-parallel example on real workers, small: the same bits here, on a dask cluster and under MPI."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import autodiff_sct as ad

pytestmark = pytest.mark.once
pytest.importorskip("scipy")

ROOT = Path(__file__).parent.parent
SMALL = ("--rows", "40000", "--block", "9000", "--iterations", "3")


def run(*command: str, **env: str) -> str:
    """Run a program in a process of its own, and return what it prints."""
    paths = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    given = {**os.environ, "PYTHONPATH": paths, "OPENBLAS_NUM_THREADS": "1", **env}
    done = subprocess.run(command, env=given, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def fitted(*command: str) -> str:
    """Run the example, and return the line with its loss, to the last bit."""
    return run(*command, str(ROOT / "examples" / "many_rows.py"), *SMALL).splitlines()[-1]


@pytest.fixture(scope="module")
def here() -> str:
    found = fitted(sys.executable)
    assert found.startswith("loss ")
    return found


def test_on_a_dask_cluster(here):
    pytest.importorskip("distributed")
    command = (sys.executable, str(ROOT / "examples" / "many_rows.py"), *SMALL, "--executor", "dask", "--workers", "2")
    assert run(*command).splitlines()[-1] == here


def test_under_mpi(here):
    """Two processes: one hands out, one works."""
    mpiexec = shutil.which("mpiexec") or shutil.which("mpiexec", path=str(Path(sys.executable).parent))
    if mpiexec is None:
        pytest.skip("mpiexec is not installed (extra `mpi`)")
    if importlib.util.find_spec("mpi4py") is None:
        pytest.skip("mpi4py is not installed (extra `mpi`)")
    program = (sys.executable, "-m", "mpi4py.futures", str(ROOT / "examples" / "many_rows.py"), *SMALL)
    assert run(mpiexec, "-n", "2", *program, "--executor", "mpi").splitlines()[-1] == here


WORKER = """
import pickle, sys
import numpy as np

g = pickle.load(open(sys.argv[1], "rb"))
print(g(np.ones(3), np.ones((2, 3))).sum(), g.prepared().latest.revived)
"""


def test_workers_share_what_they_compile(tmp_path):
    """What the first process compiles is read by the next, although the function has no file there."""
    text = "import numpy as np\n\ndef loss(w, x):\n    return np.sum(np.tanh(x @ w) ** 2)\n"
    names = {"__name__": "of_a_notebook"}
    import linecache
    import pickle

    linecache.cache["<cell>"] = (len(text), None, text.splitlines(True), "<cell>")
    exec(compile(text, "<cell>", "exec"), names)
    (tmp_path / "g.pickle").write_bytes(pickle.dumps(ad.grad(names["loss"])))
    command = (sys.executable, "-c", WORKER, str(tmp_path / "g.pickle"))
    env = {"AUTODIFF_SCT_CACHE": "1", "AUTODIFF_SCT_CACHE_DIR": str(tmp_path / "cache")}
    first, second = run(*command, **env).split(), run(*command, **env).split()
    assert first[1] == "False" and second == [first[0], "True"]
    assert len(list((tmp_path / "cache" / "programs").glob("*.json"))) == 1
