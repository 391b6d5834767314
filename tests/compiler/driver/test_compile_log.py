"""The log of compilations: what, why again, how long."""

import logging
import os
import subprocess
import sys

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.compiler.driver import compile_log

FLAG = "a"


@pytest.fixture
def log(caplog, monkeypatch):
    monkeypatch.setattr(compile_log, "HISTORIES", {})
    monkeypatch.setenv("AUTODIFF_SCT_CACHE", "0")
    caplog.set_level(logging.INFO, "autodiff_sct.compile")
    return lambda: [record.getMessage() for record in caplog.records]


def test_reasons(log, monkeypatch):
    def f(x, k):
        return np.sum(x * k) if FLAG == "a" else np.sum(x**k)

    g = ad.grad(f)
    for args in ((np.ones(3), 2), (np.ones(4), 3), (np.ones((2, 3)), 2), (np.ones(1), 2), (np.ones(3), True)):
        g(*args)
    monkeypatch.setattr(sys.modules[__name__], "FLAG", "b")
    g(np.ones(3), 2)
    lines = log()
    assert len(lines) == 5  # another length is the same program
    assert all(line.startswith("adjoint of f (") and "compiled in" in line for line in lines)
    expected = ["first call", "'x' was float64[n], is float64[n, n]", "'x' was float64[n, n], is float64[1]"]
    expected += ["'x' was float64[1], is float64[n], 'k' was int, is True", "the global 'FLAG' changed"]
    for line, reason in zip(lines, expected):
        assert f": {reason}; x: float64" in line


def test_a_hint_once(log, caplog):
    caplog.set_level(logging.WARNING, "autodiff_sct.compile")

    def make(text):
        def scaled(x):
            return x * float(text)

        return scaled

    for k in range(compile_log.OFTEN + 3):
        assert ad.grad(make(str(k)))(1.0) == k
    (hint,) = log()
    assert f"compiled {compile_log.OFTEN} times" in hint and "another function object of the same text" in hint


def test_the_environment_variable(tmp_path):
    (tmp_path / "squares.py").write_text(
        "import autodiff_sct as ad\n\n\ndef f(x):\n    return x * x\n\n\nad.grad(f)(1.0)\n"
    )
    env = {
        **os.environ,
        "AUTODIFF_SCT_LOG": "compile",
        "AUTODIFF_SCT_CACHE": "0",
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    run = subprocess.run([sys.executable, tmp_path / "squares.py"], env=env, capture_output=True, text=True, check=True)
    assert run.stderr.startswith("autodiff_sct: adjoint of f (") and "first call; x: float\n" in run.stderr
