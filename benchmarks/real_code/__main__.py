"""``python -m benchmarks.real_code PACKAGE...``: see the package's docstring."""

from __future__ import annotations

import argparse
import json
import os
import selectors
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from .inputs import LENGTH
from .judge import class_of

HANG = 200  # seconds without a word
HEAD = ("package", "system", "no floats", "functions")
COLUMNS = ("right", "wrong", "NaN", "crash", "slow", "refused", "unclear")


class Package:
    """The outcomes of a package's functions by one system: `outcomes[name]` is a verdict and a reason."""

    def __init__(self, name: str, system: str, most: int, given: list[list[Any]]) -> None:
        self.name, self.system, self.most, self.given = name, system, most, given
        self.targets: dict[str, list[Any]] = {}
        self.outcomes: dict[str, tuple[str, str]] = {}
        self.looked: set[str] = set()
        self.public = 0
        while not self.run():
            pass

    def run(self) -> bool:
        """One process; False if another has to go on where it ended."""
        asked = {
            "package": self.name,
            "most": self.most - len(self.outcomes),
            "system": self.system,
            "given": [item for item in self.given if item[0] not in self.looked],
            "skip": sorted(self.looked),
        }
        if (self.given and not asked["given"]) or asked["most"] <= 0:
            return True
        command = [sys.executable, "-m", f"{__package__}.child", json.dumps(asked)]
        environment = os.environ | {"MPLBACKEND": "Agg", "AUTODIFF_SCT_CACHE": "0"}
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, env=environment)
        assert process.stdout is not None
        name, ended = "", False
        with selectors.DefaultSelector() as selector, process.stdout:
            selector.register(process.stdout, selectors.EVENT_READ)
            while selector.select(HANG) and (line := process.stdout.readline()):
                if not line.startswith(b'["'):  # a package's own print, from a process that it forked
                    continue
                word, *rest = json.loads(line)
                if word == "end":
                    self.public, ended = rest[0], True
                    continue
                name = rest[0]
                self.looked.add(name)
                if word == "start":
                    self.targets[name] = rest
                    self.outcomes[name] = ("crash", "the process ended or hung")
                elif word == "done":
                    self.outcomes[name] = (rest[1], rest[2])
            process.kill()
        process.wait()
        return ended or not name

    def row(self) -> list[str]:
        """A row of the table."""
        counts = Counter(verdict for verdict, _ in self.outcomes.values())
        numbers = [len(self.looked) - len(self.outcomes), len(self.outcomes), *(counts[column] for column in COLUMNS)]
        return [self.name, self.system, *map(str, numbers)]


def table(rows: list[list[str]]) -> str:
    """Rows in columns, with totals by system below."""
    head = [*HEAD, *COLUMNS]
    for system in sorted({row[1] for row in rows}, reverse=True):
        of = [row for row in rows if row[1] == system and row[0] != "all"]
        rows = [*rows, ["all", system, *(str(sum(int(row[i]) for row in of)) for i in range(2, len(head)))]]
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in [head, *rows]
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.real_code", description=__doc__)
    parser.add_argument("packages", nargs="+", metavar="PACKAGE", help="names as one imports them")
    parser.add_argument("--most", type=int, default=40, help="functions for each package")
    parser.add_argument("--no-autograd", action="store_true", help="leave the baseline out")
    parser.add_argument("--json", type=Path, help="read the targets from there if it exists, write all outcomes there")
    parser.add_argument("--length", type=int, default=LENGTH, help="of vectors, for the targets in the file of --json")
    parser.add_argument("--only", help="functions whose name contains this")
    chosen = parser.parse_args()
    known = json.loads(chosen.json.read_text()) if chosen.json and chosen.json.exists() else {}
    rows, reasons = [], Counter[str]()
    for name in chosen.packages:
        before = known.get(name, {})
        targets = [item for item in before.get("targets", {}).values() if (chosen.only or "") in item[0]]
        given = [[*item[:3], chosen.length] for item in targets]
        ours = Package(name, "ours", chosen.most, given)
        rows.append(ours.row())
        reasons.update(
            class_of(reason) for verdict, reason in ours.outcomes.values() if verdict in ("refused", "crash")
        )
        autograd = before.get("autograd", {})
        if not chosen.no_autograd and not autograd and ours.targets:
            theirs = Package(name, "autograd", chosen.most, list(ours.targets.values()))
            autograd = theirs.outcomes
            rows.append(theirs.row())
        print(table(rows[-2:]), flush=True)
        for target, (verdict, reason) in sorted(ours.outcomes.items(), key=lambda item: item[1]):
            if verdict not in ("right", "unclear") or chosen.only:
                print(
                    f"  {verdict:8}{target} {ours.targets[target][1]}\n          {reason.strip()}".replace(
                        "\n", "\n          "
                    )
                )
        if chosen.json and not chosen.only:
            targets = {**before.get("targets", {}), **ours.targets}
            known[name] = {"targets": targets, "ours": ours.outcomes, "autograd": autograd, "public": ours.public}
            chosen.json.write_text(json.dumps(known, indent=1))
    print("\n" + table(rows) + "\n")
    for reason, count in reasons.most_common(40):
        print(f"{count:4}  {reason}")


if __name__ == "__main__":
    main()
