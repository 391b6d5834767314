"""The tutorials: notebooks of ``docs/tutorials``, stored with their outputs, and their pages on the site.

``python -m tools.tutorials`` runs them and stores what they show, so that a change is reviewed as a diff.
"""

from __future__ import annotations

import base64
import html
import json
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
BOOKS = sorted((ROOT / "docs" / "tutorials").glob("*.ipynb"))
ESCAPE = re.compile(r"\x1b\[[\d;]*m")
SHOWN = "{ .text .output }"  # the language and class of a block of output


def run(path: Path) -> Any:
    """Run a notebook in a kernel of its own and return it, without what differs from run to run."""
    import nbclient
    import nbformat

    book = nbformat.read(path, 4)
    with tempfile.TemporaryDirectory() as folder:
        search = os.pathsep.join([str(ROOT), *filter(None, sys.path)])
        env = {**os.environ, "PYTHONPATH": search, "IPYTHONDIR": folder, "AUTODIFF_SCT_CACHE": "0"}
        client = nbclient.NotebookClient(
            book, timeout=300, kernel_name="python3", record_timing=False, resources={"metadata": {"path": folder}}
        )
        client.execute(env=env)
    book.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    return book


def cells_of_code(path: Path) -> list[str]:
    """The code of a notebook's cells, without magics."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [re.sub("^%.*", "", joined(cell["source"]), flags=re.M) for cell in cells if cell["cell_type"] == "code"]


def texts(book: Any) -> list[str]:
    """The text that each cell shows: pictures and pages count by their kinds only."""
    found = []
    for cell in book["cells"]:
        shown = [text for output in cell.get("outputs", []) for text in texts_of(output)]
        found.append("\n".join(line.rstrip() for line in "\n".join(shown).splitlines()))
    return found


def texts_of(output: Any) -> list[str]:
    """The text of one output."""
    if output["output_type"] == "stream":
        return [joined(output["text"])]
    if output["output_type"] == "error":
        return [traceback_of(output)]
    data = output["data"]
    listing = re.search(r"<pre[^>]*>(.*)</pre>", joined(data.get("text/html", "")), re.S)
    shown = html.unescape(re.sub("<[^>]*>", "", listing[1])) if listing else joined(data["text/plain"])
    return [*sorted(data), shown]


def joined(text: str | list[str]) -> str:
    """A text of a notebook, whose file may hold it as a list of lines."""
    return text if isinstance(text, str) else "".join(text)


def traceback_of(output: Any) -> str:
    """The traceback of an error, without colours."""
    return ESCAPE.sub("", "\n".join(output["traceback"])).strip()


def pages() -> dict[str, str | bytes]:
    """The pages of the tutorials and their pictures, by their names on the site."""
    found: dict[str, str | bytes] = {}
    for path in BOOKS:
        book = json.loads(path.read_text(encoding="utf-8"))
        parts = []
        for number, cell in enumerate(book["cells"]):
            source = joined(cell["source"])
            parts.append(fenced(source, "python") if cell["cell_type"] == "code" else source)
            for output in cell.get("outputs", []):
                picture = output.get("data", {}).get("image/png")
                if picture:
                    name = f"{path.stem}-{number}.png"
                    found[f"tutorials/{name}"] = base64.b64decode(joined(picture))
                    parts.append(f"![What the cell draws]({name})")
                else:
                    parts.append(as_markdown(output))
        parts.insert(1, f"[Download the notebook]({path.name}){{: download }}")
        found[f"tutorials/{path.stem}.md"] = "\n\n".join(parts) + "\n"
    return found


def as_markdown(output: Any) -> str:
    """The output of a cell, other than a picture."""
    if output["output_type"] == "stream":
        return fenced(joined(output["text"]), SHOWN)
    if output["output_type"] == "error":
        return fenced(traceback_of(output), SHOWN)
    data = output["data"]
    if "text/html" in data:
        return f'<div class="output">{joined(data["text/html"])}</div>'
    return fenced(joined(data["text/plain"]), SHOWN)


def fenced(text: str, language: str) -> str:
    """A block of code."""
    return f"```{language}\n{text.rstrip()}\n```"


if __name__ == "__main__":
    import nbformat

    for book_path in [Path(name).resolve() for name in sys.argv[1:]] or BOOKS:
        nbformat.write(run(book_path), book_path)
