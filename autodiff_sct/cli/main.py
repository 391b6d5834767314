"""The command line: ``python -m autodiff_sct show package.module:function`` prints the emitted adjoint.

``compare`` runs the same function by other systems, too (see `autodiff_sct.cli.compare`); ``cache`` looks at what is
kept on disk (see `autodiff_sct.core.storage`); ``coverage`` lists which functions of NumPy and SciPy have derivatives.

A target is ``package.module:name`` or ``path/to/file.py:name``; the name may be dotted (``Class.method``).  The
working folder is importable, as it is for ``python -m``.  Exit codes: 0 printed, 2 a wrong command line or one of our
own errors (its message, without a traceback).  What the user's own module raises comes out as it is.
"""

from __future__ import annotations

import argparse
import difflib
import importlib
import importlib.util
import inspect
import os
import sys
from collections.abc import Callable, Collection, Sequence
from contextlib import nullcontext
from pathlib import Path
from types import ModuleType
from typing import Any, TextIO

from autodiff_sct import __version__
from autodiff_sct.errors import AutodiffError

__all__ = ["main"]


class UsageError(Exception):
    """A command line that names nothing that is there."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments after the program's name; those of the process by default.

    Returns
    -------
    int
        The exit code: 0, or 2 for a wrong command line and for our own errors.
    """
    options = build_parser().parse_args(argv)
    try:
        text = options.command(options)
    except (AutodiffError, UsageError) as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 2
    return write(text, sys.stdout)


def write(text: str, stream: TextIO) -> int:
    """Print `text`, quietly stopping where the reader of a pipe has gone (``... | head``)."""
    try:
        print(text.rstrip("\n"), file=stream, flush=True)
    except BrokenPipeError:
        # Python flushes standard output again at exit, which must not fail a second time.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def build_parser() -> argparse.ArgumentParser:
    """The command line's grammar."""
    parser = argparse.ArgumentParser(prog="python -m autodiff_sct", description="Look at what the compiler writes.")
    parser.add_argument("--version", action="version", version=f"autodiff_sct {__version__}")
    commands = parser.add_subparsers(required=True, metavar="command")

    show = commands.add_parser("show", help="print the adjoint of a function", description="Print an emitted adjoint.")
    show.add_argument("target", help="package.module:function, package.module:Class.method or path/to/file.py:function")
    wrt = "positions or names of the arguments to differentiate with respect to"
    show.add_argument("--wrt", type=positions, metavar="0,1", help=wrt)
    show.add_argument("--args", metavar="EXPRESSION", help="example arguments to specialise on: 'np.ones(3), 2.0'")
    show.add_argument("--stage", metavar="NAME", help="print this stage of the pipeline instead (see 'stages')")
    show.add_argument("--without", metavar="NAME[,NAME]", help="compile without these passes (see 'passes')")
    after = show.add_mutually_exclusive_group()
    after.add_argument("--print-after", metavar="PASS", help="print the program as it is after this pass")
    after.add_argument("--print-changed", action="store_true", help="print it after each pass that changes it")
    show.add_argument("--verify-each", action="store_true", help="check the intermediate form after each pass")
    show.add_argument("--explain", action="store_true", help="say what is saved, computed again or put back, and why")
    show.add_argument("--html", metavar="FILE", help="write a page that shows it beside the function, line by line")
    show.add_argument("--profile", action="store_true", help="run it, for the page: time and memory of each line")
    show.add_argument("--no-color", dest="color", action="store_false", help="never colour (so does NO_COLOR)")
    show.set_defaults(command=show_adjoint)

    compare = commands.add_parser(
        "compare",
        help="run a function by source transformation, by the tape and by other systems",
        description="Differentiate one function by every system that is there; compare numbers, times and memory.",
    )
    compare.add_argument("target", help="as for show")
    compare.add_argument("--args", metavar="EXPRESSION", required=True, help="the arguments: 'np.ones(3), 2.0'")
    compare.add_argument("--wrt", type=positions, metavar="0,1", default=(0,), help=wrt)
    compare.add_argument("--rounds", type=int, metavar="N", default=15, help="how often each system is timed")
    compare.add_argument("--json", action="store_true", help="print JSON")
    compare.add_argument("--no-color", dest="color", action="store_false", help="never colour (so does NO_COLOR)")
    compare.set_defaults(command=compare_systems)

    kept = commands.add_parser(
        "cache",
        help="look at what is kept on disk, or remove it",
        description="Emitted and native programs that are kept from one process to the next.",
    )
    what = kept.add_mutually_exclusive_group()
    what.add_argument("--show", action="store_true", help="where they are and how many (what it does anyway)")
    what.add_argument("--clear", action="store_true", help="remove them")
    kept.set_defaults(command=clear_cache_or_show)

    covered = commands.add_parser(
        "coverage",
        help="list which functions of NumPy and SciPy have derivatives",
        description="What becomes of each public function of NumPy and SciPy that a derivative has to pass through.",
    )
    covered.add_argument("--page", action="store_true", help="print it as a page in Markdown")
    covered.add_argument(
        "--mindspore", action="store_true", help="print which of MindSpore's names are here, as a page"
    )
    covered.set_defaults(command=list_coverage)

    passes = commands.add_parser("passes", help="list the passes", description="List the passes in running order.")
    passes.set_defaults(command=list_passes)

    stages = commands.add_parser("stages", help="list the stages of the pipeline", description="List the stages.")
    stages.set_defaults(command=list_stages)
    return parser


def positions(text: str) -> tuple[int | str, ...]:
    """Read ``--wrt``.

    >>> positions("1"), positions("0,rod")
    ((1,), (0, 'rod'))
    """
    parts = tuple(part.strip() for part in text.split(",") if part.strip())
    if not parts or not all(part.isdecimal() or part.isidentifier() for part in parts):
        raise ValueError("neither positions nor names")
    return tuple(int(part) if part.isdecimal() else part for part in parts)


def positions_in(fn: Callable[..., Any], wrt: tuple[int | str, ...]) -> tuple[int, ...]:
    """The positions of the arguments that ``--wrt`` names."""
    named = [name for name in wrt if isinstance(name, str)]
    names = list(inspect.signature(fn).parameters) if named else []
    for name in named:
        if name not in names:
            raise UsageError(f"--wrt {name} names no parameter; there are {', '.join(names)}")
    return tuple(names.index(name) if isinstance(name, str) else name for name in wrt)


def show_adjoint(options: argparse.Namespace) -> str:
    """The text that ``show`` prints."""
    from autodiff_sct.api import adjoint_source
    from autodiff_sct.compiler.domain.pass_registry import without
    from autodiff_sct.compiler.driver.dump import CHANGES
    from autodiff_sct.compiler.driver.pass_order import NAMES
    from autodiff_sct.compiler.ir.verifier import verifying
    from autodiff_sct.core.highlight import highlight, wants_color

    check_stage(options.stage)
    check_pass(options.print_after, NAMES)
    stage = CHANGES if options.print_changed else options.print_after or options.stage
    off = passes_off(options.without)
    module, fn = resolve_target(options.target)
    args = () if options.args is None else evaluate_arguments(options.args, module)
    wrt = (0,) if options.wrt is None else positions_in(fn, options.wrt)
    settings: dict[str, Any] = {} if options.wrt is None else {"grad_position": wrt if len(wrt) > 1 else wrt[0]}
    if options.profile and (options.args is None or options.html is None):
        raise UsageError("--profile runs the adjoint for a page: it takes --html FILE and --args")
    if options.html is not None:
        from autodiff_sct.inspection.explorer import show

        with without(*off):
            return f"{show(fn, *args, **settings, profile=options.profile).save(options.html)} is written"
    with without(*off), verifying() if options.verify_each else nullcontext():
        source = adjoint_source(fn, *args, **settings, stage=stage, explain=options.explain)
    return highlight(source) if options.color and wants_color(sys.stdout) else source


def compare_systems(options: argparse.Namespace) -> str:
    """The text that ``compare`` prints."""
    from autodiff_sct.cli.compare import as_json, as_text, compare
    from autodiff_sct.cli.opponents import Target
    from autodiff_sct.core.highlight import wants_color

    module, fn = resolve_target(options.target)
    wrt = positions_in(fn, options.wrt)
    args = evaluate_arguments(options.args, module)
    if max(wrt) >= len(args):
        raise UsageError(f"--wrt {max(wrt)} names an argument beyond the {len(args)} of --args")
    found = compare(Target(module, options.target.rpartition(":")[2], fn, args, wrt), options.rounds)
    return as_json(found) if options.json else as_text(found, options.color and wants_color(sys.stdout))


def clear_cache_or_show(options: argparse.Namespace) -> str:
    """The text that ``cache`` prints."""
    from autodiff_sct.core import storage

    if options.clear:
        removed = storage.clear()
        left = sum(len(storage.files(kind)) for kind in storage.KINDS)
        return f"{removed} files removed from {storage.base()}{f', {left} could not be' if left else ''}"
    unused = storage.reason_unused()
    lines = [f"{storage.base()}{f' ({unused})' if unused else ''}"]
    for kind in storage.KINDS:
        sizes = [file.stat().st_size for file in storage.files(kind)]
        lines.append(f"{kind:8}  {len(sizes)} files, {sum(sizes) / 1024:.0f} KiB")
    return "\n".join(lines)


def list_coverage(options: argparse.Namespace) -> str:
    """The text that ``coverage`` prints: by namespace and by outcome, the names."""
    from autodiff_sct.cli import coverage
    from autodiff_sct.cli.coverage import as_page, as_text

    if options.mindspore:
        return coverage.mindspore_page()
    return as_page() if options.page else as_text()


def list_passes(options: argparse.Namespace) -> str:
    """The text that ``passes`` prints: phase by phase, a pass a line, in the order in which they run."""
    from autodiff_sct.compiler.driver.pass_order import PIPELINE

    width = max(len(each.name) for phase in PIPELINE for each in phase.passes)
    return "\n\n".join(
        "\n".join([f"{phase.name}: {phase.purpose}", *(f"  {p.name:{width}}  {p.purpose}" for p in phase.passes)])
        for phase in PIPELINE
    )


def list_stages(options: argparse.Namespace) -> str:
    """The text that ``stages`` prints: a stage a line."""
    from autodiff_sct.compiler.driver.pipeline import STAGES

    width = max(len(name) for name, _ in STAGES)
    return "\n".join(f"{name:{width}}  {description}" for name, description in STAGES)


def check_stage(name: str | None) -> None:
    """Refuse a stage that the pipeline does not have, before anything is imported."""
    from autodiff_sct.compiler.driver.pipeline import STAGES

    known = [stage for stage, _ in STAGES]
    if name is not None and name not in known:
        raise UsageError(f"there is no stage {name!r}; the stages are {', '.join(known)}")


def passes_off(names: str | None) -> list[str]:
    """Read ``--without``, refusing what is no pass before anything is imported."""
    from autodiff_sct.compiler.domain.pass_registry import PASSES

    found = [name.strip() for name in (names or "").split(",") if name.strip()]
    for name in found:
        check_pass(name, PASSES)
    return found


def check_pass(name: str | None, known: Collection[str]) -> None:
    """Refuse the name of a pass that there is not."""
    if name is not None and name not in known:
        near = "".join(f", is it {other!r}?" for other in difflib.get_close_matches(name, known, 1))
        raise UsageError(f"there is no pass {name!r}{near or ': `python -m autodiff_sct passes` lists them'}")


def resolve_target(target: str) -> tuple[ModuleType, Callable[..., Any]]:
    """Return the module and the callable that ``where:name`` names."""
    where, colon, name = target.rpartition(":")
    if not colon or not where or not name:
        raise UsageError(f"{target!r} is not of the form package.module:function or path/to/file.py:function")
    module = module_from_file(Path(where)) if where.endswith(".py") else module_from_name(where)
    found: Any = module
    for part in name.split("."):
        if not hasattr(found, part):
            raise UsageError(f"{where} has no {name!r}")
        found = getattr(found, part)
    if not callable(found):
        raise UsageError(f"{target} is a {type(found).__name__}, which cannot be called")
    return module, found


def module_from_name(name: str) -> ModuleType:
    """Import ``package.module``, looking in the working folder first."""
    make_importable(Path.cwd())
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        # A module that the user's own module fails to import is the user's error and keeps its traceback.
        if error.name is None or not (name == error.name or name.startswith(f"{error.name}.")):
            raise
        raise UsageError(f"there is no module {name!r}") from error


def module_from_file(path: Path) -> ModuleType:
    """Import a file as ``python path/to/file.py`` would: its own folder is importable, its name is the file's."""
    if not path.is_file():
        raise UsageError(f"there is no file {str(path)!r}")
    make_importable(path.resolve().parent)
    spec = importlib.util.spec_from_file_location(path.stem, path.resolve())
    if spec is None or spec.loader is None:
        raise UsageError(f"{str(path)!r} cannot be imported")
    module = importlib.util.module_from_spec(spec)
    # Registered first: dataclasses and pickles look their module up by name.
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def make_importable(folder: Path) -> None:
    """Put `folder` in front of the module search path, once."""
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))


def evaluate_arguments(expression: str, module: ModuleType) -> tuple[Any, ...]:
    """Evaluate ``--args`` with ``np`` and the module's own names; one argument needs no comma.

    The expression is the user's own and runs with the user's own rights, like the module that was just imported.
    """
    import numpy as np

    try:
        value = eval(expression, {"np": np, **vars(module)})
    except Exception as error:
        raise UsageError(f"--args {expression!r}: {type(error).__name__}: {error}") from error
    return value if isinstance(value, tuple) else (value,)
