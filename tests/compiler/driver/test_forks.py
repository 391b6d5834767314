"""A process that is forked while another thread compiles differentiates in the child."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.api import entry

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork"),
    pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning"),
]


def long_program(x):
    y = x
    for k in range(3):
        for j in range(4):
            y = np.where(y > k, np.sin(y) * x + j, np.cos(y) - np.tanh(x * y) / (1 + y * y))
            if j % 2:
                y = y * 0.5 + np.sum(y) * 1e-3
    return np.sum(y)


def short_program(x):
    return np.sum(x * x)


def child(call):
    """True if `call` ends in a forked child within ten seconds, without an exception and with the collector on."""
    pid = os.fork()
    if pid == 0:
        try:
            call()
            os._exit(0 if gc.isenabled() else 2)
        except BaseException:
            os._exit(1)
    until = time.monotonic() + 10
    while time.monotonic() < until:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status) == 0
        time.sleep(0.01)
    os.kill(pid, 9)
    os.waitpid(pid, 0)
    return False


@pytest.mark.parametrize("other", [False, True], ids=["the same function", "another function"])
def test_forked_while_another_thread_compiles(other, monkeypatch):
    monkeypatch.setenv("AUTODIFF_SCT_CACHE", "0")
    ad.grad(short_program)(np.ones(2))  # the compiler is read
    monkeypatch.setattr(entry, "PRODUCTS", {})  # and both functions are compiled anew
    gradient = ad.grad(long_program)
    asked = threading.Event()

    def compile_it():
        asked.set()
        gradient(np.ones(3))

    thread = threading.Thread(target=compile_it)
    thread.start()
    asked.wait()
    ended = []
    while thread.is_alive() and len(ended) < 5:
        time.sleep(0.005)
        ended.append(child(lambda: (ad.grad(short_program) if other else gradient)(np.ones(3))))
    thread.join()
    assert ended and all(ended)


def test_forked_while_another_thread_imports_the_compiler():
    text = (
        "import os, threading, time\n"
        "import numpy as np\n"
        "import autodiff_sct as ad\n"
        "import autodiff_sct.api.entry\n"
        "from tests.compiler.driver.test_forks import child, short_program\n"
        "gradient = ad.grad(short_program)\n"
        "other = threading.Thread(target=lambda: gradient(np.ones(2)))\n"
        "other.start()\n"
        "time.sleep(0.02)\n"
        "print(child(lambda: gradient(np.ones(2))))\n"
        "other.join()\n"
    )
    environment = {**os.environ, "AUTODIFF_SCT_CACHE": "0"}
    command = [sys.executable, "-W", "ignore", "-c", text]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)  # it may hang
    assert done.stdout == "True\n"
