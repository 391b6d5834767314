"""The pages of the site that are generated: home, tutorials, the API reference, the gallery.  A hook of MkDocs.

``mkdocs build --strict`` calls `on_files`.  Home is README.md; the reference names what the package exports; the
gallery shows the programs of ``examples/gallery.py`` beside their adjoints, with the explorer's page of each.
"""

from __future__ import annotations

import importlib.util
import inspect
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT)]

import autodiff_sct as ad  # noqa: E402
from tools import tutorials  # noqa: E402

REFERENCE = {
    "Derivatives": (
        "grad value_and_grad vjp jvp jacrev jacfwd hessian hvp linearize vmap per_example_grad labelled "
        "sparse_jacobian sparse_hessian implicit_root stop_gradient get_grad GradFunction"
    ),
    "Looking at derivatives": "adjoint_source show debug_nans profile check_grads from_source",
    "Rules": "rule constant check_rule",
    "Memory": "checkpoint segments",
    "Tensors and settings": (
        "Tensor tensor from_numpy Parameter ParameterTuple initializer set_seed get_seed set_context get_context "
        "set_device jit mutable save_checkpoint load_checkpoint load_param_into_net"
    ),
}
MODULES = {
    "Errors": (ad.errors, "Each refusal, with a rewrite, is on the page [Errors](../errors.md)."),
    "nn": (ad.nn, "MindSpore's names; see [Migrating](../migrating.md#from-mindspore)."),
    "ops": (ad.ops, "MindSpore's names; see [Migrating](../migrating.md#from-mindspore)."),
    "parallel": (ad.parallel, "With examples on the page [Several workers](../scaling.md)."),
    "train": (ad.train, "MindSpore's names; see [Migrating](../migrating.md#from-mindspore)."),
    "tape": (ad.tape, "Define by run; see [Migrating](../migrating.md#on-the-tape)."),
}
ALIASES = {"jacobian": "jacrev", "ms_function": "jit", "jit_class": "jit"}
CONSTANTS = (
    "The dtypes {dtypes} are MindSpore's; each equals NumPy's of its name.  `GRAPH_MODE` and `PYNATIVE_MODE` are "
    "accepted by `set_context`."
)
WIDE = "---\nhide: [navigation]\n---\n\n"
# Of classes with methods for the package's own use, those that users call.
MEMBERS = {"GradFunction": "source source_for compiled", "Rule": "linear reverse forward"}


def on_files(files: Any, config: Any) -> Any:
    """Add the generated pages to those of ``docs/``."""
    from mkdocs.structure.files import File

    for name, content in pages().items():
        files.append(File.generated(config, name, content=content))
    return files


def on_page_markdown(markdown: str, **settings: Any) -> str:
    """Let links to notebooks lead to their pages."""
    return re.sub(r"\((tutorials/\w+)\.ipynb\)", r"(\1.md)", markdown)


def pages() -> dict[str, str | bytes]:
    """All generated pages and pictures by their names."""
    return {"index.md": home(), **tutorials.pages(), **reference(), **gallery()}


def home() -> str:
    """README.md, with its links as those of the site; what is not on the site is left without a link."""
    text = (ROOT / "README.md").read_text(encoding="utf-8").replace("](docs/", "](")
    on_site = {path.name for path in (ROOT / "docs").iterdir() if path.is_file()}
    linked = re.sub(r"\[([^]]*)\]\((?!#)([^)#]*)(#[^)]*)?\)", lambda m: m[0] if m[2] in on_site else m[1], text)
    return f"{WIDE}{linked}"


def reference() -> dict[str, str]:
    """The pages of the API reference."""
    found = {}
    for title, names in REFERENCE.items():
        entries = [entry(name) for name in names.split()]
        entries += [
            f"`{other}` is another name of `{name}`." for other, name in ALIASES.items() if name in names.split()
        ]
        if title == "Tensors and settings":
            entries.append(CONSTANTS.format(dtypes=", ".join(f"`{name}`" for name in dtypes())))
        found[f"api/{slug(title)}.md"] = f"# {title}\n\n" + "\n\n".join(entries) + "\n"
    for title, (module, remark) in MODULES.items():
        found[f"api/{slug(title)}.md"] = f"# `{module.__name__}`\n\n{remark}\n\n{table_of(module)}"
    return found


def dtypes() -> list[str]:
    """The names of the dtypes that the package exports."""
    return [name for name in ad.__all__ if isinstance(getattr(ad, name), ad.dtypes.DType)]


def entry(name: str) -> str:
    """The entry of an exported name: its docstring is where it is defined; that of `rule` is its class's."""
    thing = getattr(ad, name)
    thing = thing if hasattr(thing, "__qualname__") else type(thing)
    lines = [f"::: {thing.__module__}.{thing.__qualname__}"]
    if name == "rule":
        lines.insert(0, "`autodiff_sct.rule` is the one object of this class:\n")
    if thing.__name__ in MEMBERS:
        lines.append(f"    options: {{members: [{', '.join(MEMBERS[thing.__name__].split())}]}}")
    return "\n".join(lines)


def table_of(module: ModuleType) -> str:
    """The public names of a module, and the first line of what each says of itself."""
    rows = ["| name | what it is |", "|---|---|"]
    for name in module.__all__:
        said = (inspect.getdoc(getattr(module, name)) or "").split("\n")[0].replace("|", "\\|")
        rows.append(f"| `{name}` | {said} |")
    return "\n".join(rows) + "\n"


def slug(title: str) -> str:
    """The file name of a page."""
    return title.lower().replace(" ", "-")


def gallery() -> dict[str, str]:
    """The page of the gallery, and the explorer's page of each of its programs."""
    examples = module_at(ROOT / "examples" / "gallery.py")
    found, parts = {}, [f"{WIDE}# Gallery", "Small programs, and what the compiler writes for each."]
    for name, (fn, args) in examples.programs().items():
        found[f"gallery/{name}.html"] = ad.show(fn, *args).html
        sides = examples.primal_source(fn), ad.adjoint_source(fn, *args).rstrip()
        listings = "\n\n".join(f"```python\n{side}\n```" for side in sides)
        parts.append(f"## {name.replace('_', ' ').capitalize()}\n\n[Line by line](gallery/{name}.html)")
        parts.append(f'<div class="grid" markdown>\n\n{listings}\n\n</div>')
    return {"gallery.md": "\n\n".join(parts) + "\n", **found}


def module_at(path: Path) -> Any:
    """The module of a file."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module
