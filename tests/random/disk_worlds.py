"""Programs that one process keeps on disk and another finds, whose world is another one by then.

``python -m tests.random.disk_worlds FOLDER`` runs the programs of a folder: modules with a function, and with each the
statement that changes its world.  It prints as JSON what the cache gives and what a fresh program gives.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import autodiff_sct as ad
from tests.random.worlds import SITES, USES, at_site, outcome


def write_programs(folder: Path, random: Random, count: int) -> list[dict[str, str]]:
    """Write modules at random, with the statements that put other values into their places."""
    programs = []
    for k in range(count):
        site, use = random.choice(list(SITES)), random.choice(list(USES))
        first, then = random.choice(USES[use][1]), random.choice(USES[use][1])
        text, put = at_site(site, use, first)
        name = f"kept_world_{k}"
        (folder / f"{name}.py").write_text(text.replace("{m}", name))
        programs.append({"name": name, "told": f"{site}, {use}: {first} -> {then}", "new": then, "put": put})
    (folder / "programs.json").write_text(json.dumps(programs))
    return programs


def run_programs(folder: Path, changed: bool) -> list[list[str]]:
    """What a new process gets of each program, from the cache and afresh, where its world has changed or not."""
    environment = {**os.environ, "AUTODIFF_SCT_CACHE": "1", "AUTODIFF_SCT_CACHE_DIR": str(folder / "cache")}
    command = [sys.executable, "-m", "tests.random.disk_worlds", str(folder), *(["changed"] if changed else [])]
    return json.loads(subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout)


def loaded(folder: Path, program: dict[str, str], changed: bool) -> Any:
    """The function of a program, imported anew, in the world that is asked for."""
    path = folder / f"{program['name']}.py"
    spec = importlib.util.spec_from_file_location(program["name"], path)
    assert spec is not None and spec.loader is not None
    module = sys.modules[program["name"]] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if changed:
        names = module.__dict__
        names["new"] = eval(program["new"], names)
        exec(program["put"].replace("{m}", program["name"]), names)
    return module.__dict__["f"]


def told(result: Any) -> str:
    """A result as text, bit for bit."""
    return result.__name__ if isinstance(result, type) else repr([np.asarray(part).tobytes() for part in result])


def main() -> None:
    folder, changed = Path(sys.argv[1]), "changed" in sys.argv
    x, results = np.array([0.5, 1.0, 2.0]), []
    for program in json.loads((folder / "programs.json").read_text()):
        os.environ["AUTODIFF_SCT_CACHE"] = "1"
        kept = outcome(lambda f=loaded(folder, program, changed): ad.value_and_grad(f)(x))
        os.environ["AUTODIFF_SCT_CACHE"] = "0"
        fresh = outcome(lambda f=loaded(folder, program, changed): ad.value_and_grad(f)(x))
        results.append([told(kept), told(fresh)])
    print(json.dumps(results))


if __name__ == "__main__":
    main()
