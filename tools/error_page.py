"""The page of errors, docs/errors.md: ``python -m tools.error_page`` writes it.

Each entry of `tools.error_entries` with its programs, what the refused one prints, and the reasons that the package
gives under that code, read out of its source.
"""

from __future__ import annotations

import ast
import copy
import inspect
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from autodiff_sct import errors
from autodiff_sct.errors import REMEDIES, Refused
from tools.error_entries import ENTRIES, Entry

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "errors.md"
DEFAULT = {
    cls.__name__: cls.code for cls in vars(errors).values() if isinstance(cls, type) and issubclass(cls, Refused)
}
HEAD = """# Errors

A program that cannot be differentiated rightly is refused: the message names the line, why it cannot be done, what to
write instead, and one of the codes below. Each has a program that is refused and one that is not; both are run by the
tests, and the derivative of the second is compared with central differences.

If a function need not be differentiated at all (a look-up, a logger), declare it with `ad.constant(fn)`, and nothing
looks into it. If its derivative is known, give it a rule: `@ad.rule(fn)`, see [Rules](rules.md).
"""


def refusal(entry: Entry) -> Refused:
    """The refusal of an entry's first program."""
    try:
        entry.call(entry.before)(*copy.deepcopy(entry.args))
    except Refused as error:
        return error
    raise AssertionError(f"{entry.code}: the program is not refused")


def reasons() -> Iterator[tuple[str, str, str]]:
    """Each refusal in the source of the package: its place, its code, its reason with ... for what varies."""
    for path in sorted((ROOT / "autodiff_sct").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and (found := of_call(node)) is not None:
                code, reason = found
                yield f"{path.relative_to(ROOT)}:{node.lineno}", code, text_of(reason)


def of_call(node: ast.Call) -> tuple[str, Any] | None:
    """The code and the reason of a call that makes a refusal."""
    name = getattr(node.func, "attr", getattr(node.func, "id", ""))
    given = node.args
    if name in ("refuse", "alias_error") and len(given) > 1 and isinstance(given[0], ast.Constant):
        return str(given[0].value), given[1]
    named = {keyword.arg: keyword.value for keyword in node.keywords}
    if name == "Poison" and given:
        return "different-kinds", given[0]
    if name == "refused" and len(given) == 3:
        return "segments", given[2]
    if name == "refuse" and len(given) == 3:  # of syntax
        return ast.literal_eval(named["code"]) if "code" in named else DEFAULT["UnsupportedSyntax"], given[1]
    if name in DEFAULT and given:
        code = given[3] if len(given) > 3 else named.get("code", ast.Constant(DEFAULT[name]))
        return (str(code.value), given[0]) if isinstance(code, ast.Constant) else None
    return None


def text_of(reason: Any) -> str:
    """A reason as it is written in the source, or "" where that is no text."""
    if isinstance(reason, ast.Constant):
        return str(reason.value)
    if isinstance(reason, ast.JoinedStr):
        return "".join(part.value if isinstance(part, ast.Constant) else "..." for part in reason.values)
    return ""


def shown(entry: Entry, program: Any) -> str:
    """The text of a program, as one writes it in a module."""
    try:
        lines = textwrap.dedent(inspect.getsource(program))
    except OSError:
        return 'f = eval("lambda x: x[0] ** 2")'
    return lines.rstrip().replace("def before(", "def f(").replace("def after(", "def f(")


def section(entry: Entry, listed: list[str]) -> str:
    error = refusal(entry)
    place = error.origin.show().splitlines()[1:] if error.origin is not None else []
    printed = [*(line[4:] for line in place), error.reason, f"What to do: {error.remedy}"]
    call = "" if entry.call.__name__ == "grad" else f" by `{entry.call.__name__}`"
    told = "\n".join(f"- {reason}" for reason in listed)
    return f"""
## {entry.code}

**{entry.title}.** {entry.why}

Refused{call}:

```python
{shown(entry, entry.before)}
```

```text
{chr(10).join(printed)}
```

Accepted:

```python
{shown(entry, entry.after)}
```

<details><summary>All messages with this code</summary>

{told}

</details>
"""


def page() -> str:
    """The text of the whole page."""
    listed: dict[str, set[str]] = {code: set() for code in REMEDIES}
    for _, code, reason in reasons():
        if reason:
            listed[code].add(" ".join(reason.split()).replace("<", "&lt;").replace("*", "\\*").replace("_", "\\_"))
    return HEAD + "".join(section(ENTRIES[code], sorted(listed[code])) for code in sorted(REMEDIES))


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
