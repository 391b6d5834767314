"""Listings of a page: lines of programs as lists that the page's script and screen readers know.

Every line is an option of a listbox; ``data-at`` names the user's line behind it, which links it to its counterparts.
"""

from __future__ import annotations

import html
import linecache
from dataclasses import dataclass, field
from typing import Any

from ..compiler.analysis.remarks import place_of
from ..compiler.codegen.emit import FORWARD, REVERSE
from ..core.highlight import highlighted_lines
from ..errors import Origin
from ..notebook_cells import in_cells
from .profile import Cost, Profile, amount, duration, percent

__all__ = [
    "ADJOINT",
    "TAGS",
    "TANGENT",
    "Line",
    "Source",
    "View",
    "derived_listing",
    "element",
    "primal_listing",
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
