"""How long the first gradient takes: functions of 30 and 300 lines, and a fresh process."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import autodiff_sct as ad

from .report import table
from .timing import seconds

# Ten lines of what numerical programs are made of.
BLOCK = """\
    a{k} = np.tanh(x * {k}.5 + y)
    b{k} = a{k} * a{k} - np.sin(x)
    total = 0.0
    for i in range(3):
        total = total + np.sum(b{k} * i)
        if total > 1.0:
            total = total * 0.5
    y = np.where(b{k} > 0.0, b{k}, 0.1 * b{k})
    y[0] = total
    x = x + y / (1.0 + np.exp(-a{k}))
"""
FRESH = """
import numpy as np
import autodiff_sct as ad
import program

ad.grad(program.function)(np.ones(5), np.ones(5))
"""


def program(lines: int) -> str:
    """A module with a function of that many lines."""
    blocks = "".join(BLOCK.format(k=k) for k in range(lines // 10))
    return f"import numpy as np\n\n\ndef function(x, y):\n{blocks}    return np.sum(x * y)\n"


def first_gradient(lines: int) -> float:
    """Seconds that the first gradient takes longer than the second."""
    x = np.ones(5)

    def once() -> float:
        gradient = ad.grad(ad.from_source(program(lines)))
        return seconds(lambda: gradient(x, x)) - seconds(lambda: gradient(x, x))

    return statistics.median(once() for _ in range(9))


def fresh_process(lines: int, kept: bool) -> float:
    """Processor time of a process that imports, compiles and runs, or is not the first to compile if that is `kept`.

    The modules' byte code is there, as it is where a package has been installed.
    """
    taken = []
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    with tempfile.TemporaryDirectory() as folder:
        environment |= {
            "PYTHONPATH": str(Path(ad.__file__).parent.parent),
            "PYTHONPYCACHEPREFIX": str(Path(folder, "byte code")),
            "AUTODIFF_SCT_CACHE": str(int(kept)),
            "AUTODIFF_SCT_CACHE_DIR": str(Path(folder, "cache")),
        }
        Path(folder, "program.py").write_text(program(lines))
        Path(folder, "main.py").write_text(FRESH)
        for _ in range(6):  # the first of which writes the byte code, and what is kept
            begin = os.times()
            subprocess.run([sys.executable, "main.py"], cwd=folder, env=environment, check=True)
            end = os.times()
            taken.append(end.children_user + end.children_system - begin.children_user - begin.children_system)
    return statistics.median(taken[1:])


def compiling() -> str:
    """The table of compile times."""
    os.environ["AUTODIFF_SCT_CACHE"] = "0"
    rows = [
        ["a function of 30 lines", "under 30 ms", f"{1e3 * first_gradient(30):.0f} ms"],
        ["a function of 300 lines", "under 400 ms", f"{1e3 * first_gradient(300):.0f} ms"],
        ["first gradient in a fresh process, 30 lines", "under 500 ms", f"{1e3 * fresh_process(30, False):.0f} ms"],
        ["the same where it was compiled before", "", f"{1e3 * fresh_process(30, True):.0f} ms"],
    ]
    return table(["compile time", "reach", "measured"], rows)
