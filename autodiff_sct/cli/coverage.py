"""Coverage: what becomes of each public function of NumPy, `math` and SciPy that a derivative has to pass through.

All is read from the tables that the compiler uses; only the reasons of refusals are written here.
"""

from __future__ import annotations

import inspect
import pkgutil
import sys
import textwrap
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from autodiff_sct.compiler import derivatives_inside, interp
from autodiff_sct.compiler.analysis.missing_rules import full_name
from autodiff_sct.compiler.derivatives_inside.scipy import MODULES as FOLLOWED
from autodiff_sct.compiler.derivatives_inside.scipy import load_libraries
from autodiff_sct.compiler.interp.library.validation import text_of
from autodiff_sct.compiler.interp.numpy import methods
from autodiff_sct.rules.table import MODULES, NONDIFFERENTIABLE, TABLE, load_optional

from ..compiler.interp.kernel.handlers import HANDLERS

__all__ = ["as_page", "as_text"]

Found = dict[str, dict[str, list[str]]]  # by namespace and by outcome: the names

NAMESPACES = "numpy numpy.linalg numpy.fft math cmath".split()
SCIPYS = (
    "special linalg fft integrate interpolate ndimage optimize signal sparse sparse.linalg spatial.distance "
    "spatial.transform stats"
).split()
ARRAYS = "methods of arrays"
BOTH, REVERSE, COMPOSED = "derivative in both modes", "derivative in reverse mode", "followed into what it does"
STEP, TEXT = "derivative 0, or no real number", "no rule: its Python text is followed where that can be done"
OUTCOMES = (BOTH, REVERSE, COMPOSED, STEP, TEXT)

REFUSED = {
    "matrices, and memory shared with what is no array": "asmatrix bmat frombuffer from_dlpack",
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

PAGE = """# Coverage

What becomes of each public function of NumPy {numpy} and SciPy {scipy} where a derivative has to pass through it:
{supported} have one. Rules are of any order, unless a refusal says otherwise; what is refused is refused only where a
derivative would have to pass, by name and with its line. `python -m autodiff_sct coverage --page` writes this page.

| | what becomes of it | |
|---|---|---|
"""


def load_tables() -> None:
    """Import all rules and handlers, those of SciPy if it is installed."""
    for package in (interp, derivatives_inside):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if ".scipy" not in module.name or find_spec("scipy"):
                import_module(module.name)
    for library in (*MODULES, *FOLLOWED):
        if find_spec(library.partition(".")[0]):
            import_module(library)
    load_optional()
    load_libraries()


def functions(namespace: str) -> Iterator[tuple[str, Any]]:
    """The public functions of a namespace, and the classes that have a derivative."""
    module = import_module(namespace)
    for name in sorted(getattr(module, "__all__", dir(module))):
        value = getattr(module, name, None)
        if name.startswith("_") or not callable(value) or type(value).__hash__ is None:
            continue
        if not inspect.isclass(value) or value in HANDLERS or value in TABLE:
            yield name, value


def outcome_of(fn: Any, name: str) -> str:
    """The outcome of a function: supported, inactive, or refused with its reason."""
    if (row := TABLE.get(fn)) is not None:
        one_text = row.kind in ("elementwise", "linear")
        return BOTH if one_text or row.forward is not None or row.forward_anywhere is not None else REVERSE
    if fn in NONDIFFERENTIABLE:
        return STEP
    if fn in HANDLERS:
        return TEXT if getattr(HANDLERS[fn], "follows", False) else COMPOSED
    reason = next((reason for reason, names in REFUSED.items() if name in names.split()), None)
    if reason is None and text_of(fn) is not None:
        return TEXT
    return f"refused: {reason or 'no rule'}"


def outcome_of_method(name: str) -> str:
    """The outcome of a method of arrays."""
    fn = ALIASES.get(name) or methods.FUNCTIONS.get(name)
    return COMPOSED if name in WRITING else "refused: no rule" if fn is None else outcome_of(fn, name)


def distributions() -> Iterator[tuple[str, str]]:
    """The methods and the names of SciPy's distributions."""
    from autodiff_sct.rules.scipy import samples, stats

    for rules, of in ((stats, "logpdf pdf cdf logcdf sf logsf ppf isf"), (samples, "logpmf pmf cdf sf")):
        for name in sorted(rules.SLOPES):
            yield of, name


def coverage() -> Found:
    """The public names by namespace and by what becomes of them."""
    load_tables()
    found: Found = {}
    scipys = [f"scipy.{name}" for name in SCIPYS] if find_spec("scipy") else []
    for namespace in (*NAMESPACES, *scipys):
        for name, fn in functions(namespace):
            note(found, namespace, outcome_of(fn, name), name)
    for name, _ in inspect.getmembers(np.ndarray, callable):
        if not name.startswith("_") and name != "ctypes":
            note(found, ARRAYS, outcome_of_method(name), name)
    if scipys:
        for namespace, name in behind_classes():
            note(found, namespace, COMPOSED, name)
        for of, name in distributions():
            note(found, "scipy.stats", f"{BOTH}: {of} of", name)
    return found


def behind_classes() -> Iterator[tuple[str, str]]:
    """The methods of classes of SciPy's that are followed into what they do."""
    for fn in {*TABLE, *HANDLERS}:
        parts = full_name(fn).split(".")
        homes = [k for k in range(2, len(parts)) if ".".join(parts[:k]) in sys.modules]
        if parts[0] == "scipy" and homes and len(parts) > homes[-1] + 1 and not parts[-1].startswith("_"):
            yield ".".join(parts[: homes[-1]]), ".".join(parts[homes[-1] :])


def note(found: Found, namespace: str, outcome: str, name: str) -> None:
    names = found.setdefault(namespace, {}).setdefault(outcome, [])
    if name not in names:
        names.append(name)


def rows() -> Iterator[tuple[str, str, list[str]]]:
    """Namespace, outcome and names, what is supported first."""
    for namespace, outcomes in coverage().items():
        for outcome in (*filter(outcomes.get, OUTCOMES), *sorted(outcomes.keys() - {*OUTCOMES})):
            yield namespace, outcome, sorted(outcomes[outcome])


def as_text() -> str:
    """The coverage as text for a terminal."""
    lines = []
    for namespace, outcome, names in rows():
        lines.append(f"{namespace}: {outcome} ({len(names)})")
        lines += textwrap.wrap(" ".join(names), 100, initial_indent="    ", subsequent_indent="    ")
    return "\n".join(lines)


def as_page() -> str:
    """The coverage as a page in Markdown."""
    import scipy

    found = [*rows()]
    supported = sum(len(names) for _, outcome, names in found if outcome.startswith((BOTH, REVERSE, COMPOSED)))
    lines = [
        f"| {namespace} | {outcome} ({len(names)}) | {' '.join(f'`{name}`' for name in names)} |"
        for namespace, outcome, names in found
    ]
    head = PAGE.format(numpy=np.__version__, scipy=scipy.__version__, supported=supported)
    return head + "\n".join(lines) + "\n"
