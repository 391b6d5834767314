"""What becomes of each public function of NumPy and of ``math``: the table at the end of ``docs/rules.md``.

``python -m tests.laws.coverage`` writes it anew.
"""

from __future__ import annotations

import inspect
import math
import pkgutil
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from autodiff_sct.compiler import derivatives_inside, interp
from autodiff_sct.compiler.analysis.missing_rules import full_name
from autodiff_sct.compiler.derivatives_inside.scipy import MODULES as FOLLOWED
from autodiff_sct.compiler.derivatives_inside.scipy import load_libraries
from autodiff_sct.compiler.interp.calls.dispatch import HANDLERS
from autodiff_sct.compiler.interp.numpy import methods
from autodiff_sct.rules.optional import MODULES, load_optional
from autodiff_sct.rules.scipy import discrete
from autodiff_sct.rules.scipy import stats as continuous
from autodiff_sct.rules.table import NONDIFFERENTIABLE, TABLE

PAGE = Path(__file__).parents[2] / "docs" / "rules.md"
START, END = "<!-- functions -->\n", "<!-- end of functions -->"
NAMESPACES: dict[str, ModuleType] = {"np": np, "np.linalg": np.linalg, "np.fft": np.fft, "math": math}
KINDS = {
    "row": "has a derivative",
    "composed": "followed into what it does",
    "step": "derivative 0, or results that are no real numbers",
}

# Functions that are refused where a derivative would have to pass through them.
REFUSED = {
    "the numbers decide how long the result is, or what type it has": """
        unique unique_all unique_counts unique_inverse unique_values union1d intersect1d setdiff1d setxor1d trim_zeros
        real_if_close roots polydiv polymul poly""",
    "no rule yet": "histogram2d histogramdd kaiser sort_complex row_stack frompyfunc",
    "matrices, and memory shared with what is no array": "asmatrix bmat frombuffer from_dlpack require",
    "input, output and text": """
        array2string array_repr array_str base_repr binary_repr format_float_positional format_float_scientific
        fromfile fromregex fromstring genfromtxt load loadtxt save savetxt savez savez_compressed info typename
        mintypecode datetime_as_string datetime_data busday_count busday_offset is_busday""",
    "settings": """
        get_printoptions set_printoptions printoptions getbufsize setbufsize geterr seterr geterrcall seterrcall
        get_include show_config show_runtime test nested_iters""",
}
WRITING = {"fill", "sort", "put"}
ALIASES = {"compress": np.compress, "reshape": np.reshape, "transpose": np.transpose, "tolist": np.ndarray.tolist}


def load_handlers() -> None:
    for package in (interp, derivatives_inside):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            import_module(module.name)


def functions(namespace: ModuleType) -> Iterator[tuple[str, Callable[..., Any]]]:
    """The public functions; types and modules are none."""
    for name in sorted(dir(namespace)):
        value = getattr(namespace, name)
        if not name.startswith("_") and callable(value) and not inspect.isclass(value) and not inspect.ismodule(value):
            if type(value).__hash__ is not None:
                yield name, value


def kind_of(fn: Callable[..., Any]) -> str | None:
    """The key of `KINDS` that holds for a function; None where it is refused."""
    if fn in TABLE:
        return "row"
    if fn in NONDIFFERENTIABLE:
        return "step"
    return "composed" if fn in HANDLERS else None


def reason_of(name: str) -> str:
    """Why a function is refused."""
    return next(reason for reason, names in REFUSED.items() if name in names.split())


def kind_of_method(name: str) -> str | None:
    if name in WRITING:
        return "composed"
    fn = ALIASES.get(name) or methods.FUNCTIONS.get(name)
    return None if fn is None else kind_of(fn)


def rows() -> dict[str, dict[str, list[str]]]:
    """The names by namespace and by what becomes of them."""
    load_handlers()
    found: dict[str, dict[str, list[str]]] = {}
    for title, namespace in NAMESPACES.items():
        for name, fn in functions(namespace):
            kind = kind_of(fn)
            found.setdefault(title, {}).setdefault(KINDS.get(kind or "") or f"refused: {reason_of(name)}", []).append(
                name
            )
    for name, method in inspect.getmembers(np.ndarray, callable):
        if not name.startswith("_") and name not in ("ctypes",):
            kind = kind_of_method(name)
            found.setdefault("methods of arrays", {}).setdefault(KINDS.get(kind or "") or "refused", []).append(name)
    return found


def of_scipy() -> dict[str, list[str]]:
    """The functions of SciPy that have rules, by module."""
    for library in [name for name in (*MODULES, *FOLLOWED) if name.startswith("scipy")]:
        import_module(library)
    load_optional()
    load_libraries()
    found: dict[str, list[str]] = {}
    rows = [row.fn for row in TABLE.values() if row.home not in (continuous.__name__, discrete.__name__)]
    for fn in [*rows, *HANDLERS]:
        parts = full_name(fn).split(".")
        homes = [k for k in range(2, len(parts)) if ".".join(parts[:k]) in sys.modules]
        if parts[0] == "scipy" and homes and not parts[-1].startswith("_"):
            found.setdefault(".".join(parts[: homes[-1]]), []).append(".".join(parts[homes[-1] :]))
    return {module: sorted(set(names)) for module, names in found.items()}


def text() -> str:
    """The section, in Markdown."""
    found = rows()
    scipys = of_scipy()
    number = sum(len(kinds.get(KINDS["row"], [])) for title, kinds in found.items() if title != "methods of arrays")
    homes = [row.home for row in TABLE.values()]
    apart = ("autodiff_sct.rules.scipy", "autodiff_sct.rules.bottleneck")  # made when their libraries are loaded
    own = sum(home.startswith("autodiff_sct.rules.") and not home.startswith(apart) for home in homes)
    lines = [
        f"The table has {own} rows, with those of operators, methods and ufuncs' methods. Of NumPy {np.__version__}'s",
        f"public functions and those of `math`, {number} have a derivative. What is refused is refused only where a",
        "derivative would have to pass through it.",
        "",
        "| | what becomes of it | |",
        "|---|---|---|",
    ]
    for title, kinds in found.items():
        for kind in sorted(kinds, key=lambda k: ([*KINDS.values()].index(k) if k in KINDS.values() else 9, k)):
            names = " ".join(f"`{name}`" for name in kinds[kind])
            lines.append(f"| {title} | {kind} ({len(kinds[kind])}) | {names} |")
    for rules, methods_of in ((continuous, "logpdf pdf cdf logcdf sf logsf ppf isf"), (discrete, "logpmf pmf cdf sf")):
        names = " ".join(f"`{name}`" for name in sorted(rules.SLOPES))
        lines.append(f"| scipy.stats | {methods_of} of these distributions ({len(rules.SLOPES)}) | {names} |")
    for module in sorted(scipys):
        names = " ".join(f"`{name}`" for name in sorted(scipys[module]))
        lines.append(f"| {module} | {KINDS['row']} ({len(scipys[module])}) | {names} |")
    return "\n".join(lines) + "\n"


def with_section(page: str) -> str:
    """`page` with the section written anew."""
    before, _, rest = page.partition(START)
    return before + START + text() + END + rest.partition(END)[2]


if __name__ == "__main__":
    PAGE.write_text(with_section(PAGE.read_text()))
