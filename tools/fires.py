"""Where each optimisation changes the emitted text, and by how many lines: what docs/passes.md is made of.

    python -m tools.fires                       a sixth of the bank, the benchmarks and the examples
    python -m tools.fires --programs FILE ...   other programs too: `programs()` of a file gives them, as in examples
    python -m tools.fires --page                write docs/passes.md

A pass *fires* on a program if the text without it is another one.  Groups of passes are switched off together, and
split only where that changes the text.  Lines are those of the text without the pass minus those with it.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("AUTODIFF_SCT_CACHE", "0")

from autodiff_sct import adjoint_source
from autodiff_sct.cli.main import module_from_file
from autodiff_sct.compiler.domain.pass_registry import PASSES, without
from autodiff_sct.compiler.driver.pass_order import PIPELINE
from benchmarks.workload import load, names
from tests.bank.limits import within
from tests.bank.registry import load_bank

Found = dict[str, list[tuple[str, str, int]]]  # by pass: the group, the name and the lines of programs
ROOT = Path(__file__).parents[1]
PAGE_HEAD = """# The passes

In the order in which they run, as `python -m autodiff_sct passes` prints them; a pass may consist of several steps.
Beside each: on how many programs of the benchmarks, of every {every}th of the bank and of the examples the text is
another one without the pass, and how many lines it saves there. `python -m tools.fires --page` writes this page;
`show --without NAME` leaves a pass out.
"""


class Case(NamedTuple):
    """A program, where it is from, its arguments, and the positions that are differentiated."""

    group: str
    name: str
    function: Any
    args: Sequence[Any]
    wrt: tuple[int, ...]

    def text(self, off: Iterable[str] = ()) -> str:
        """The adjoint without some passes, or why there is none."""
        try:
            with without(*off):
                return adjoint_source(self.function, *self.args, grad_position=self.wrt)
        except Exception as error:
            return f"{type(error).__name__}: {error}"


def bank(every: int) -> Iterator[Case]:
    """Every so many programs of the bank."""
    for program in within(load_bank()[0].values())[::every]:
        yield Case("bank", program.name, program.function, program.args(), program.wrt)


def workloads() -> Iterator[Case]:
    """The benchmark programs, with their small inputs."""
    for name in names():
        module = load(name)
        yield Case("benchmarks", name, module.primal, module.inputs(True), module.WRT)


def programs_of(path: Path, group: str) -> Iterator[Case]:
    """The programs that `programs()` of a file gives: by name a function, its arguments, and positions if not 0."""
    for name, (function, args, *wrt) in module_from_file(path).programs().items():
        yield Case(group, f"{path.stem}:{name}", function, args, wrt[0] if wrt else (0,))


def firing(case: Case, text: str, candidates: list[str]) -> Iterator[tuple[str, int]]:
    """The passes among some that change the text of a program, each with the lines that it saves."""
    other = case.text(candidates) if candidates else text
    if other == text:
        return
    if len(candidates) == 1:
        yield candidates[0], len(other.splitlines()) - len(text.splitlines())
        return
    half = len(candidates) // 2
    yield from firing(case, text, candidates[:half])
    yield from firing(case, text, candidates[half:])


def measure(
    cases: Iterable[Case], passes: Collection[str]
) -> tuple[dict[str, list[tuple[str, str, int]]], Counter[str]]:
    """By pass the group, the name and the lines of each program where it fires, and how many programs there are."""
    found: Found = defaultdict(list)
    tried: Counter[str] = Counter()
    for case in cases:
        text = case.text()
        if "\ndef " not in f"\n{text}":
            print(f"{case.name}: {text.splitlines()[0]}", file=sys.stderr)
            continue
        tried[case.group] += 1
        rare_first = sorted(passes, key=lambda name: len(found[name]))
        for name, lines in firing(case, text, rare_first):
            found[name].append((case.group, case.name, lines))
    return found, tried


def table(found: Found, tried: Counter[str], passes: Collection[str]) -> str:
    """A row a pass: for each group the programs where it fires, and the lines that it saves there."""
    rows = [f"{'pass':20}" + "".join(f"{f'{group} ({count})':>18}{'lines':>7}" for group, count in tried.items())]
    for name in sorted(passes, key=lambda name: len(found[name])):
        row = f"{name:20}"
        for group in tried:
            lines = [saved for where, _, saved in found[name] if where == group]
            row += f"{len(lines):18}{sum(lines):+7}"
        rows.append(row)
    return "\n".join(rows)


def page(found: Found, tried: Counter[str], every: int) -> str:
    """The page of all passes in running order, phase by phase, with where each fires and the lines that it saves."""
    heads = [f"{group} ({count})" for group, count in tried.items()]
    lines = [PAGE_HEAD.format(every=every)]
    for phase in PIPELINE:
        lines += [f"## {phase.name}", "", f"{phase.purpose[0].upper()}{phase.purpose[1:]}.", ""]
        lines += [f"| pass | what it does | {' | '.join(heads)} |", f"|---|---|{'---|' * len(heads)}"]
        for each in phase.passes:
            row = [f"`{each.name}`", each.purpose]
            for group in tried:
                saved = [lines for where, _, lines in found.get(each.name, ()) if where == group]
                row.append("always" if each.required else f"{len(saved)} ({sum(saved):+})" if saved else "0")
            lines.append(f"| {' | '.join(row)} |")
        lines.append("")
    return "\n".join(lines)


def main(argv: list[str] | None = None) -> None:
    """Print the table; with ``--json`` write the programs by pass into a file."""
    parser = argparse.ArgumentParser(prog="python -m tools.fires", description=__doc__.splitlines()[0])
    parser.add_argument("--every", type=int, default=6, help="take every so many programs of the bank")
    parser.add_argument("--passes", nargs="*", default=list(PASSES), help="look at these only")
    parser.add_argument("--programs", type=Path, nargs="*", default=[], help="files with other programs")
    parser.add_argument("--json", type=Path, help="where to write the programs by pass")
    parser.add_argument("--page", action="store_true", help="write docs/passes.md")
    chosen = parser.parse_args(argv)
    gallery = programs_of(ROOT / "examples" / "gallery.py", "examples")
    others = (case for path in chosen.programs for case in programs_of(path, "others"))
    cases = [*workloads(), *bank(chosen.every), *gallery, *others]
    found, tried = measure(cases, chosen.passes)
    if chosen.json:
        chosen.json.write_text(json.dumps({"tried": tried, "fires": found}, indent=1))
    if chosen.page:
        (ROOT / "docs" / "passes.md").write_text(page(found, tried, chosen.every))
    print(table(found, tried, chosen.passes))


if __name__ == "__main__":
    main()
