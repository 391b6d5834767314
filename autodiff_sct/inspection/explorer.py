"""`show`: a page with a function beside its adjoint, line by line, and the compiler's stages between them.

The page is one file that needs no other one.  Its listings are complete HTML; the script lights up counterparts.
"""

from __future__ import annotations

import ast
import html
import linecache
import re
import webbrowser
from pathlib import Path
from typing import Any

from ..api.arguments import name_of
from ..api.entry import made
from ..compiler.codegen.emit import AGAIN
from ..compiler.driver.dump import lines_of_stages
from ..compiler.driver.pipeline import STAGES
from ..core.highlight import highlighted_lines, stylesheet
from ..errors import Origin, Refused
from .listings import (
    ADJOINT,
    TAGS,
    TANGENT,
    Line,
    Source,
    View,
    derived_listing,
    element,
    primal_listing,
    totals,
)
from .profile import Profile, measured
from .watched import Program, Watched

__all__ = ["Explorer", "show"]

ROUNDS = 7  # calls that are timed
FOLDER = Path(__file__).parent / "page"
NUMBERED = re.compile(r'(?<=[\w>])<span class="n">(\.\d+)</span>')  # of variables of the intermediate form
ABOUT = {
    ADJOINT: "the text of the adjoint, as it runs: the forward sweep, then the reverse sweep",
    TANGENT: "forward mode: beside each line the line that computes its tangent",
}


class Explorer:
    """A page about the adjoint of one function.

    Attributes
    ----------
    name : str
        The function.
    html : str
        The page: one file, which loads nothing else.
    """

    def __init__(self, name: str, page: str) -> None:
        self.name, self.html = name, page

    def save(self, path: str | Path) -> Path:
        """Write the page to a file and return its path."""
        file = Path(path)
        file.write_text(self.html, encoding="utf-8")
        return file

    def open(self, path: str | Path | None = None) -> None:
        """Write the page to a file, ``NAME_adjoint.html`` unless a path is given, and open it in a browser."""
        file = self.save(f"{self.name}_adjoint.html" if path is None else path)
        webbrowser.open(file.resolve().as_uri())

    def __repr__(self) -> str:
        return f"<page about the adjoint of {self.name}: .open(), .save('{self.name}.html'), .html>"

    def _repr_html_(self) -> str:
        title = f"The adjoint of {self.name}"
        return element("iframe", "", title=title, srcdoc=self.html, style="width: 100%; height: 46rem; border: 0")


def show(
    fn: Any,
    /,
    *args: Any,
    grad_position: int | tuple[int, ...] | None = 0,
    weights: Any = None,
    has_aux: bool = False,
    profile: bool = False,
    **kwargs: Any,
) -> Explorer:
    """Make a page that shows `fn` beside its adjoint, line by line.

    Parameters
    ----------
    fn : callable, Cell or GradFunction
        What is differentiated, or its gradient function, whose settings then hold.
    *args, **kwargs
        Example arguments, for whose kinds, dtypes and ranks the program is specialised.  Without any: the program that
        is right for all.
    grad_position, weights, has_aux
        As for `grad`.
    profile : bool
        Whether the gradient is run with these arguments, for the time and the memory of each line (see `profile`).

    Returns
    -------
    Explorer
        In a notebook it shows itself.  ``.open()`` opens it in a browser, ``.save(path)`` writes it.

    Raises
    ------
    TypeError, ValueError
        As `grad`.
    """
    gradient = Watched.of(fn, grad_position, weights, has_aux)
    adjoint = gradient.prepared()
    table = measured(gradient, args, kwargs, ROUNDS) if profile else None
    if table is not None:
        program = table.program
    else:
        program = Program(adjoint.function_for(*args, **kwargs) if args or kwargs else adjoint.general().function)
    abouts = dict(STAGES)
    stages = lines_of_stages(adjoint, args, kwargs)
    views = [View(name, name, abouts[name], plain_lines(lines)) for name, lines in stages.items()]
    views.append(View(ADJOINT, "adjoint", ABOUT[ADJOINT], program_lines(program, table)))
    if gradient.positions and not adjoint.weights:
        views.append(tangent_view(adjoint, args, kwargs))
    return Explorer(name_of(gradient.fn), page_of(gradient, views, table))


def plain_lines(lines: list[tuple[str, Origin | None]]) -> list[Line]:
    """The lines of a stage."""
    texts = highlighted_lines("\n".join(text for text, _ in lines))
    texts = [NUMBERED.sub(r'<span class="i">\1</span>', text) for text in texts]
    return [Line(text, origin) for text, (_, origin) in zip(texts, lines)]


def program_lines(program: Program, table: Profile | None) -> list[Line]:
    """The lines of an emitted program without its comments, which are notes beside them."""
    result: list[Line] = []
    notes: tuple[str, ...] = ()
    plain = program.source.rstrip("\n").split("\n")
    for number, (text, shown) in enumerate(zip(plain, highlighted_lines("\n".join(plain))), 1):
        own = program.lines.get(number)
        if text.lstrip().startswith("#"):
            continue
        if own is None:  # a head, or a line that a statement goes on in
            result.append(Line(shown, sweep=result[-1].sweep if result and text.startswith(" ") else ""))
            continue
        line, notes = program.line_of(number), own.notes
        cost = None if table is None else table.lines.get(number)
        origin = own.origin or (line.origin if is_about(notes) else None)
        again = any(note.startswith("computed again") for note in notes)
        result.append(Line(shown, origin, AGAIN if again else own.sweep, notes, cost))
    return result


def is_about(notes: tuple[str, ...]) -> bool:
    """True if a statement of the compiler's own, which has a note, stands for the user's line before it."""
    return any(note.startswith(TAGS) for note in notes)


def tangent_view(adjoint: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> View:
    """The program of forward mode, or why there is none."""
    view = View(TANGENT, "forward mode", ABOUT[TANGENT])
    push = made("Pushforward", adjoint.fn, adjoint.positions, adjoint.has_aux)
    push.explain = True
    try:
        program = Program(push.function_for(*args, **kwargs) if args or kwargs else push.general().function)
    except Refused as error:
        view.lines = [Line(html.escape(f"# {line}")) for line in str(error).split("\n")]
        return view
    view.lines = program_lines(program, None)
    numbers = [n for n, text in enumerate(program.source.split("\n"), 1) if not text.lstrip().startswith("#")]
    for number, line in zip(numbers, view.lines):
        statement = program.statements.get(number)
        if line.sweep:
            tangents = statement is not None and any(name.startswith("t_") for name in statement.writes)
            line.sweep = TANGENT if tangents else "value"
    return view


# -- the user's side


def sources_of(views: list[View]) -> list[Source]:
    """The functions that lines of the views come from, the one that is differentiated first."""
    lines: dict[tuple[str, str], list[int]] = {}
    for origin in [line.origin for view in views for line in view.lines if line.origin is not None]:
        lines.setdefault((origin.file, origin.function), []).append(origin.line)
    sources = [Source(file, name, *extent(file, min(known), max(known))) for (file, name), known in lines.items()]
    merged: list[Source] = []
    for source in sources:
        outer = next((s for s in merged if s.file == source.file and s.first <= source.first <= s.last), None)
        if outer is None:
            merged.append(source)
        else:
            outer.last = max(outer.last, source.last)
    return merged


def extent(file: str, first: int, last: int) -> tuple[int, int]:
    """The lines of the innermost function around some lines, with its decorators; those lines where there is none."""
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:
        return first, last
    around = [
        (min([node.lineno, *(d.lineno for d in node.decorator_list)]), node.end_lineno or node.lineno)
        for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.lineno <= first <= last <= node.end_lineno  # type: ignore[operator]
    ]
    if around:
        return min(around, key=lambda lines: lines[1] - lines[0])
    statements = [
        n for n in ast.walk(tree) if isinstance(n, ast.stmt) and n.lineno <= first <= last <= (n.end_lineno or 0)
    ]
    whole = min(statements, key=lambda n: (n.end_lineno or 0) - n.lineno, default=None)
    return (first, last) if whole is None else (whole.lineno, whole.end_lineno or last)


# -- the page


def page_of(gradient: Watched, views: list[View], table: Profile | None) -> str:
    """The whole page."""
    sources = sources_of(views)
    name = html.escape(name_of(gradient.fn))
    signature = html.escape(str(getattr(gradient, "__signature__", "")))
    inputs = element("b", html.escape(gradient.inputs_text()))
    parts = {
        "title": name,
        "subtitle": f"{element('code', name + signature)}, derivative with respect to {inputs}",
        "totals": totals(table),
        "css": stylesheet() + part("explorer.css"),
        "js": part("explorer.js"),
        "stages": "\n".join(map(choice, views)),
        "primal": "\n".join(primal_listing(k, source, table) for k, source in enumerate(sources)),
        "derived": "\n".join(derived_listing(view, sources, table) for view in views),
        "legend": "" if table is None else element("li", "bars: time, as a part of that of the slowest line"),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda m: parts[m[1]], part("explorer.html"))


def part(name: str) -> str:
    """A file of the page."""
    return (FOLDER / name).read_text(encoding="utf-8")


def choice(view: View) -> str:
    """The control that chooses a view."""
    chosen = {"checked": "checked"} if view.name == ADJOINT else {}
    button = element("input", "", type="radio", name="stage", value=view.name, data_about=view.about, **chosen)
    label = element("span", html.escape(view.label))
    return element("label", button.removesuffix("</input>") + label, class_="apart" if view.name == TANGENT else "")
