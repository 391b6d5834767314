"""`show`: a page with a function beside its adjoint, line by line, and the compiler's stages between them.

The page is one file that needs no other one.  Its listings are complete HTML; the script lights up counterparts.

Lines of programs are lists that the page's script and screen readers know.  Every line is an option of a listbox;
``data-at`` names the user's line behind it, which links it to its counterparts.
"""

from __future__ import annotations

import ast
import html
import linecache
import re
import webbrowser
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..api.arguments import name_of
from ..api.entry import made
from ..compiler.analysis.remarks import place_of
from ..compiler.codegen.emit import AGAIN, FORWARD, REVERSE
from ..compiler.driver.dump import lines_of_stages
from ..compiler.driver.pipeline import STAGES
from ..core.highlight import highlighted_lines, stylesheet
from ..errors import Origin, Refused
from ..notebook_cells import in_cells
from .profile import Cost, Profile, amount, duration, measured, percent
from .watched import Program, Watched

__all__ = [
    "ADJOINT",
    "TAGS",
    "TANGENT",
    "Explorer",
    "Line",
    "Source",
    "View",
    "derived_listing",
    "element",
    "primal_listing",
    "show",
    "totals",
]

ADJOINT, TANGENT = "unparse", "tangent"  # names of views
TITLES = {FORWARD: "forward sweep", REVERSE: "reverse sweep"}
TAGS = ("saved", "kept", "put back", "computed again")  # beginnings of notes
WORTH_SHOWING = 1024  # bytes


@dataclass
class Line:
    """A line of a listing: its text as HTML, the user's line behind it, and what there is to say of it."""

    text: str
    origin: Origin | None = None
    sweep: str = ""
    notes: tuple[str, ...] = ()
    cost: Cost | None = None


@dataclass
class View:
    """A listing of the right side: a stage, the adjoint, the tangent program."""

    name: str
    label: str
    about: str
    lines: list[Line] = field(default_factory=list)


@dataclass
class Source:
    """A function of the user's: its file, its name, and its lines."""

    file: str
    name: str
    first: int
    last: int

    def place(self, line: int) -> str:
        """A line of it, as one writes it."""
        return in_cells(place_of(Origin(self.file, line, 0, 0, "", self.name)), [self.file])


def element(tag: str, inside: str, **attributes: Any) -> str:
    """An element of a page; attributes that are None or "" are left out, ``class_`` and ``data_at`` are what they say.

    >>> element("li", "x &lt; y", class_="on", data_at="0:7", hidden=None)
    '<li class="on" data-at="0:7">x &lt; y</li>'
    """
    names = {name.rstrip("_").replace("_", "-"): value for name, value in attributes.items()}
    given = [f' {name}="{html.escape(str(value))}"' for name, value in names.items() if value not in (None, "")]
    return f"<{tag}{''.join(given)}>{inside}</{tag}>"


def primal_listing(k: int, source: Source, table: Profile | None) -> str:
    """A function of the user's."""
    costs = {} if table is None else {(row.file, row.line): row for row in table.rows}
    numbers = range(source.first, source.last + 1)
    text = [linecache.getline(source.file, n).rstrip("\n") for n in numbers]
    margin = min((len(line) - len(line.lstrip()) for line in text if line.strip()), default=0)
    items = []
    for number, shown in zip(numbers, highlighted_lines("\n".join(line[margin:] for line in text))):
        row = costs.get((source.file, number))
        sweeps = [] if row is None else [(FORWARD, row.forward), (REVERSE, row.reverse)]
        data = {f"data_{sweep}": cost_text(cost) for sweep, cost in sweeps if cost.hits}
        place = {"data_at": f"{k}:{number}", "data_place": source.place(number)}
        items.append(item(f"p{k}-{number}", number, shown, cost_bars(sweeps, table), **place, **data))
    return listing(source.name, source.place(source.first), f"{source.name}, your function", items)


def derived_listing(view: View, sources: list[Source], table: Profile | None) -> str:
    """A listing of the right side."""
    items, sweep, adjoint = [], "", view.name == ADJOINT
    for number, line in enumerate(view.lines, 1):
        if adjoint and begins(line.sweep, sweep):
            sweep = line.sweep
            title = element("span", TITLES[sweep])
            items.append(element("li", title, class_=f"sweep {sweep}", role="presentation"))
        tags = [element("span", tag, class_="tag") for tag in TAGS if any(n.startswith(tag) for n in line.notes)]
        shown = element("span", "".join(tags), class_="tags") if tags else ""
        cost = cost_bars([] if line.cost is None else [(line.sweep, line.cost)], table if adjoint else None)
        notes = in_cells("\n".join(line.notes), [source.file for source in sources])
        data = {"data_sweep": line.sweep, "data_notes": notes}
        data["data_cost"] = "" if line.cost is None else cost_text(line.cost)
        at = "" if line.origin is None else place_in(sources, line.origin)
        name = f"{view.name}-{number}"
        items.append(item(name, number, line.text, shown + cost, class_=line.sweep, data_at=at, **data))
    inside = listing(view.label, f"{len(view.lines)} lines", view.about, items)
    return element("div", inside, class_="view", data_stage=view.name, hidden=None if adjoint else "hidden")


def begins(sweep: str, before: str) -> bool:
    """True if a line is the first of a sweep."""
    return sweep in TITLES and sweep != before and (not before or sweep == REVERSE)


def place_in(sources: list[Source], origin: Origin) -> str:
    """The mark that links a line to that of the user's."""
    found = [k for k, s in enumerate(sources) if s.file == origin.file and s.first <= origin.line <= s.last]
    return f"{found[0]}:{origin.line}" if found else ""


def listing(title: str, remark: str, label: str, items: list[str]) -> str:
    """A listbox under its title."""
    head = element("h2", f"{html.escape(title)} {element('small', html.escape(remark))}")
    box = element("ol", "".join(items), class_="code", role="listbox", tabindex=0, aria_label=label)
    return element("div", head + box, class_="listing")


def item(name: str, number: int, text: str, more: str, **attributes: Any) -> str:
    """A line of a listing."""
    inside = element("span", str(number), class_="no", aria_hidden="true") + element("code", text or " ") + more
    return element("li", inside, id=name, role="option", aria_selected="false", data_no=number, **attributes)


# -- costs


def cost_bars(sweeps: list[tuple[str, Cost]], table: Profile | None) -> str:
    """The cost of a line as numbers and bars, as long as its part of the most expensive line."""
    if table is None:
        return ""
    most = max((c.seconds for row in table.rows for c in (row.forward, row.reverse)), default=0.0) or 1.0
    parts = [(sweep, 100 * cost.seconds / most) for sweep, cost in sweeps]
    bars = [element("span", "", class_=f"bar {s}", style=f"width: {w:.1f}%") for s, w in parts if w >= 0.5]
    kept = sum(cost.kept for sweep, cost in sweeps if sweep == FORWARD)
    share = percent(sum(cost.seconds for _, cost in sweeps) / (table.seconds or 1.0))
    cells = {"kept": amount(kept) if kept >= WORTH_SHOWING else "", "time": f"{share} %" if share else ""}
    inside = [element("span", text, class_=name) for name, text in [*cells.items(), ("bars", "".join(bars))]]
    return element("span", "".join(inside), class_="cost")


def cost_text(cost: Cost) -> str:
    """The cost of a line in words."""
    parts = [f"{cost.hits} times" if cost.hits != 1 else "once", duration(cost.seconds)]
    parts += [f"keeps {amount(cost.kept)}"] if cost.kept >= WORTH_SHOWING else []
    parts += [f"needs {amount(cost.peak)} meanwhile"] if cost.peak >= WORTH_SHOWING else []
    return ", ".join(filter(None, parts))


def totals(table: Profile | None) -> str:
    """The costs of one call, summed."""
    if table is None:
        return ""
    forward = sum(row.forward.seconds for row in table.rows)
    kept = amount(sum(max(row.forward.kept, 0) for row in table.rows)) or "0 B"
    shown = [
        (FORWARD, TITLES[FORWARD], duration(forward)),
        (REVERSE, TITLES[REVERSE], duration(table.seconds - forward)),
    ]
    cells = [
        element("div", element("dt", label) + element("dd", value), class_=name)
        for name, label, value in [*shown, ("kept", "kept for the reverse sweep", kept)]
    ]
    return element("dl", "".join(cells), class_="totals")


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
