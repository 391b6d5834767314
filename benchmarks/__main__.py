"""``python -m benchmarks``: see the package's docstring."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path

from . import environment

PAGE = Path(__file__).parent.parent / "docs" / "performance.md"


def options(arguments: list[str], names: list[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="Gradients timed side by side on one core."
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"workloads, all unless named: {', '.join(names)}")
    parser.add_argument("--quick", action="store_true", help="small inputs and few rounds: are the gradients right?")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything measured")
    parser.add_argument("--picture", type=Path, metavar="FILE", help="draw gradient over primal (needs matplotlib)")
    parser.add_argument("--page", action="store_true", help="write tables and picture into docs/performance.md")
    chosen = parser.parse_args(arguments)
    if chosen.page and (chosen.quick or chosen.names):
        parser.error("--page writes the figures of all workloads at full size")
    unknown = sorted(set(chosen.names) - set(names))
    if unknown:
        parser.error(f"no workload is called {', '.join(unknown)}; there are {', '.join(names)}")
    chosen.names = chosen.names or names
    return chosen


def main(arguments: list[str]) -> None:
    """Measure, print, and write what was asked for."""
    from . import compile_time, measure, page, picture, report, timing, workload

    chosen = options(arguments, workload.names())
    timing.settle_allocator()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["AUTODIFF_SCT_CACHE_DIR"] = folder  # what is compiled here has not been compiled before
        measure.load_compiler()
        results = []
        for name in chosen.names:
            print(name, file=sys.stderr, flush=True)
            results.append(measure.measure(name, chosen.quick))
    tables = {
        "versions": f"{environment.processor()}; "
        + ", ".join(f"{package} {version}" for package, version in environment.versions().items()),
        "times": report.times(results),
        "reach": report.reach(results),
        "memory": report.memory(results),
    }
    if not chosen.quick:
        tables["compiling"] = compile_time.compiling()
    for title, text in tables.items():
        print(f"\n{title}\n\n{text}")
    for path in filter(None, (chosen.json, chosen.picture)):
        path.parent.mkdir(parents=True, exist_ok=True)
    if chosen.json:
        chosen.json.write_text(
            json.dumps(report.as_json(results, environment.versions(), environment.processor()), indent=1)
        )
    if chosen.picture:
        picture.draw(results, chosen.picture)
    if chosen.page:
        PAGE.write_text(page.fill(PAGE.read_text(), tables))
        picture.draw(results, PAGE.with_suffix(".png"))


if __name__ == "__main__":
    environment.restart_on_one_core()
    if sys.argv[1:2] == ["growth"]:
        from . import growth

        growth.main(sys.argv[2:])
    else:
        main(sys.argv[1:])
