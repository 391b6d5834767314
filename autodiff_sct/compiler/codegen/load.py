"""Loading: from text to a function, with its import lines.

Loading: from text to a function.

An emitted function has no file, but its text is where a debugger and a traceback look for it: in `linecache`, under a
name such as ``<adjoint of model.loss>``. The entry lives as long as the code does. With a folder in the environment
variable ``AUTODIFF_SCT_DUMP`` it has a file there, in which breakpoints, profilers and coverage tools work.
"""

from __future__ import annotations

import json
import linecache
import os
import re
import sys
import types
import weakref
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, cast

from autodiff_sct.compiler.frontend.source_text import Text, register
from autodiff_sct.core.deep_stack import deeply
from autodiff_sct.core.process_state import Lock
from autodiff_sct.errors import Origin
from autodiff_sct.notebook_cells import cell_of

from ..domain.identifiers import is_identifier

__all__ = ["load", "load_parts", "move_to_file", "note_origin"]

# How many live code objects use the text that is registered under a file name.
_users: dict[str, int] = {}
_lock = Lock()


def load(
    source: str,
    name: str,
    namespace: dict[str, Any],
    filename_hint: str,
    path: str | os.PathLike[str] | None = None,
) -> Callable[..., Any]:
    """Compile `source` and return the function `name` that it defines.

    Parameters
    ----------
    source : str
        The text of one or more functions.
    name : str
        The function to return.
    namespace : dict
        The globals of the function. Nothing is put into it if `source` defines one function; if it defines more, they
        are put there, since they call each other by name.
    filename_hint : str
        What the text is, for tracebacks: ``adjoint of model.loss`` becomes the file name ``<adjoint of model.loss>``,
        with a number if another text has that name already.
    path : path, optional
        A real file to write the text to, which then is its file name.

    Returns
    -------
    function
        Its text is known to `parse`.
    """
    filename = _write(source, path) if path is not None else _enter(source, filename_hint.strip("<>"))
    try:
        code = deeply(compile, source, filename, "exec", dont_inherit=True)
        function = _execute(code, name, namespace)
    except BaseException:
        _leave(filename)
        raise
    register(function.__code__, Text(filename, source))
    if path is None:
        # The code outlives the function where a traceback or a nested function still refers to it.
        weakref.finalize(function.__code__, _leave, filename).atexit = False
    return function


def load_parts(parts: Iterable[tuple[str, str, str]], namespace: dict[str, Any]) -> Callable[..., Any]:
    """Load a function by its name, what it is and its text; the second of two is the backward function of the first."""
    function, *backward = [load(text, name, namespace, hint, file_for(text, hint)) for name, hint, text in parts]
    if backward:
        function.__autodiff_backward__ = backward[0]  # type: ignore[attr-defined]
    return function


def move_to_file(function: Callable[..., Any], path: str | os.PathLike[str]) -> None:
    """Write the text of an emitted function to a file, from which it runs from then on."""
    emitted = cast(FunctionType, function)
    source = "".join(linecache.getlines(emitted.__code__.co_filename)).rstrip("\n") + "\n"
    emitted.__code__ = load(source, emitted.__name__, emitted.__globals__, "", path).__code__


def file_for(source: str, hint: str) -> Path | None:
    """The file that a text is written to where the user wants files: one for each text, called after what it is."""
    if not (folder := os.environ.get("AUTODIFF_SCT_DUMP")):
        return None
    Path(folder).mkdir(parents=True, exist_ok=True)
    stem, number = re.sub(r"\W+", "_", hint).strip("_"), 1
    path = Path(folder, f"{stem}.py")
    while path.exists() and path.read_text(encoding="utf-8") != source:
        number += 1
        path = Path(folder, f"{stem}_{number}.py")
    return path.resolve()


def _execute(code: CodeType, name: str, namespace: dict[str, Any]) -> FunctionType:
    defined: dict[str, Any] = {}
    exec(code, namespace, defined)
    if len(defined) > 1:
        namespace.update(defined)
    function: FunctionType = defined[name]
    return function


def _write(source: str, path: str | os.PathLike[str]) -> str:
    filename = os.fspath(path)
    with open(filename, "w", encoding="utf-8", newline="\n") as file:
        file.write(source)
    linecache.checkcache(filename)
    return filename


def _enter(source: str, hint: str) -> str:
    """Register `source` in `linecache` and return the file name that stands for it."""
    lines = [line + "\n" for line in source.split("\n")]
    with _lock:
        number, filename = 1, f"<{hint}>"
        while filename in _users and linecache.getlines(filename) != lines:
            number += 1
            filename = f"<{hint} ({number})>"
        _users[filename] = _users.get(filename, 0) + 1
        # Without a modification time an entry is never checked against a file, and so stays.
        linecache.cache[filename] = (len(source), None, lines, filename)
    return filename


def _leave(filename: str) -> None:
    with _lock:
        if filename in _users:
            _users[filename] -= 1
            if not _users[filename]:
                del _users[filename]
                linecache.cache.pop(filename, None)


def note_origin(error: BaseException, origins: Mapping[int, Origin], filename: str) -> None:
    """Add a note to an exception out of emitted code that names the user's line behind the emitted one.

    Python 3.12 and earlier show no lines of texts that are no files: there the note has the emitted line, too.

    Parameters
    ----------
    error : BaseException
        The exception, as it was caught.
    origins : mapping
        For lines of the emitted text, the user's lines that they come from. A line that is missing comes from the
        nearest line above it.
    filename : str
        The file name of the emitted code.
    """
    line = _emitted_line(error, filename)
    known = [each for each in origins if line is not None and each <= line]
    if known:
        origin = origins[max(known)]
        note = f"From {cell_of(origin.file) or origin.file}:{origin.line}, in {origin.function}: {origin.text.strip()}"
        if sys.version_info < (3, 13) and filename.startswith("<") and line is not None:
            note += f"\nIn {filename}: {linecache.getline(filename, line).strip()}"
        if note not in getattr(error, "__notes__", ()):
            error.add_note(note)


def _emitted_line(error: BaseException, filename: str) -> int | None:
    """Return the innermost line of the emitted code in a traceback."""
    line = None
    step = error.__traceback__
    while step is not None:
        if step.tb_frame.f_code.co_filename == filename:
            line = step.tb_lineno
        step = step.tb_next
    return line


COMMENT = re.compile(r"^ *#.*$", re.MULTILINE)


def words(text: str) -> set[str]:
    """The words of a text without its comments and its attributes: every name that it uses is among them."""
    return set(re.findall(r"(?<!\.)\b\w+", COMMENT.sub("", text)))


def imports_of(namespace: dict[str, Any], module: str, text: str) -> list[str]:
    """The lines that make an emitted text run where its primal, of `module`, does: imports, and named tuples."""
    modules, classes = list[str](), list[str]()
    names: dict[str, list[str]] = defaultdict(list)
    used = words(text)
    for name, value in sorted(item for item in namespace.items() if item[0] in used):
        home, own = str(getattr(value, "__module__", "")), str(getattr(value, "__qualname__", ""))
        if isinstance(value, types.ModuleType) and is_path(value.__name__):
            modules.append(f"import {value.__name__}" + (f" as {name}" if value.__name__ != name else ""))
        elif is_made_inside(value):
            names["collections"] += [] if "namedtuple" in names["collections"] else ["namedtuple"]
            classes.append(f"{name} = namedtuple({quoted(value.__name__)}, {quoted(' '.join(value._fields))})")
        elif is_imported(home, own, module) and callable(value):
            names[home].append(own + (f" as {name}" if own != name else ""))
    lines = [f"from {home} import {', '.join(own)}" for home, own in sorted(names.items())]
    return [*sorted(modules), *lines, *classes]


def is_imported(home: str, own: str, module: str) -> bool:
    """True if a name of a module can be imported: ``__main__`` and the primal's module are there already."""
    return home not in ("builtins", "__main__", module) and is_path(home) and is_identifier(own)


def is_path(text: str) -> bool:
    """True if a text is a dotted name of a module."""
    return all(map(is_identifier, text.split(".")))


def quoted(text: str) -> str:
    return json.dumps(text)


def is_made_inside(value: Any) -> bool:
    """True if a value is a class of named tuples that the program makes, which stands in no module."""
    if not isinstance(value, type) or not issubclass(value, tuple) or not hasattr(value, "_fields"):
        return False
    return vars(sys.modules.get(value.__module__, types)).get(value.__name__) is not value
