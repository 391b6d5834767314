"""Dump the adjoints of all programs of the bank, the benchmarks and the gallery, or compare them with an earlier dump.

``python tools/emitted.py --write DIR`` writes one text a program, ``--check DIR`` names the programs whose text is no
longer the same byte for byte, ``--every N`` takes every N-th program.  A change that only moves code passes the check.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
os.environ["AUTODIFF_SCT_CACHE"] = "0"

import autodiff_sct as ad  # noqa: E402
from benchmarks import workload  # noqa: E402
from examples import gallery  # noqa: E402
from tests.bank.checks import source_of  # noqa: E402
from tests.bank.registry import load_bank  # noqa: E402

Emit = Callable[[], str]


def emitted() -> Iterator[tuple[str, Emit]]:
    """Each program by its name, with the call that compiles it."""
    for name, program in load_bank()[0].items():
        yield f"bank/{name}", lambda program=program: source_of(program)
    for name in workload.names():
        yield f"benchmarks/{name}", lambda name=name: of_workload(name, "numpy")
        yield f"benchmarks_numba/{name}", lambda name=name: of_workload(name, "numba")
    for name, (fn, args) in gallery.programs().items():
        yield f"gallery/{name}", lambda fn=fn, args=args: ad.adjoint_source(fn, *args)


def of_workload(name: str, backend: str) -> str:
    module = workload.load(name)
    return ad.adjoint_source(module.primal, *module.inputs(True), grad_position=module.WRT, backend=backend)


def text_of(emit: Emit) -> str:
    """The text of one program, or the error that it raises, without the folder of this checkout."""
    try:
        text = emit()
    except Exception as error:  # one refused program must not hide the others
        text = f"{type(error).__name__}: {error}"
    return text.rstrip().replace(f"{ROOT}/", "") + "\n"


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--write", type=Path, metavar="DIR", help="write the texts there")
    action.add_argument("--check", type=Path, metavar="DIR", help="compare the texts with those written there")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="take every N-th program only")
    options = parser.parse_args(argv)
    programs = [*emitted()][:: options.every]
    changed = []
    for name, emit in programs:
        text, path = text_of(emit), (options.write or options.check) / f"{name}.txt"
        if options.write:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            changed.append(name)
            print(f"changed: {name}")
    print(f"{len(programs)} programs{'' if options.write else f', {len(changed)} changed'}")
    return 1 if changed else 0


if __name__ == "__main__":
    sys.exit(main())
