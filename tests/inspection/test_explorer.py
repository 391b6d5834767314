"""The page that `show` makes: its structure without a browser, its script in Chromium where that is installed."""

import re
import shutil
import subprocess
from collections import Counter
from html.parser import HTMLParser

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.compiler.driver.pipeline import STAGES
from autodiff_sct.inspection.explorer import FOLDER

VOID = {"meta", "input", "br", "path"}
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def helper(a, k):
    b = np.exp(a)
    return b / (1 + k * b)


def heat(rod, steps, c):
    for _ in range(steps):
        flux = np.tanh(rod[1:] - rod[:-1])
        rod[1:-1] += c * (flux[1:] - flux[:-1])
    return np.sum(helper(rod, c) ** 2)


ARGS = np.linspace(0.0, 1.0, 200), 3, 0.1


class Page(HTMLParser):
    """The elements of a page: (tag, attributes, text inside), and whether tags are balanced."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.open = [], []
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        element = {"tag": tag, "text": "", **dict(attrs)}
        self.elements.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_endtag(self, tag):
        assert self.open and self.open.pop()["tag"] == tag

    def handle_data(self, data):
        for element in self.open:
            element["text"] += data

    def all(self, **wanted):
        return [e for e in self.elements if all(e.get(k.rstrip("_").replace("_", "-")) == v for k, v in wanted.items())]


@pytest.fixture(scope="module")
def profiled():
    return ad.show(heat, *ARGS, grad_position=(0, 2), profile=True)


@pytest.fixture(scope="module")
def page(profiled):
    return Page(profiled.html)


def test_lines_and_their_counterparts(page):
    lines = page.all(role="option")
    names = Counter(line["id"] for line in lines)
    assert max(names.values()) == 1
    primal = {line["data-at"]: line["text"] for line in lines if line["id"].startswith("p")}
    assert any("flux = np.tanh" in text for text in primal.values()) and any(
        "b = np.exp(a)" in t for t in primal.values()
    )
    derived = [line for line in lines if line["id"].startswith("unparse-")]
    assert {line.get("data-at") for line in derived} - {None} <= set(primal)
    of_flux = [line for line in derived if "flux = np.tanh" in primal.get(line.get("data-at"), "")]
    assert {line["data-sweep"] for line in of_flux} == {"forward", "reverse"}
    assert not any("#" in line["text"] for line in derived)


def test_every_stage_is_there(page):
    stages = [element["value"] for element in page.all(type="radio")]
    assert stages == [*(name for name, _ in STAGES), "tangent"]
    views = page.all(class_="view")
    assert [view["data-stage"] for view in views] == stages
    assert [view["data-stage"] for view in views if "hidden" not in view] == ["unparse"]
    assert all("tanh" in view["text"] for view in views)
    for name in ("specialise", "record", "tangent", "desugar"):
        linked = [e for e in page.all(role="option") if e["id"].startswith(f"{name}-") and "data-at" in e]
        assert len(linked) > 4, name


def test_notes_and_costs(page):
    lines = page.all(role="option")
    assert any(line.get("data-notes", "").startswith("saved: the reverse of test_explorer.py:") for line in lines)
    assert any("saved" in element["text"] for element in page.all(class_="tag"))
    assert any("keeps" in line.get("data-forward", "") for line in lines)
    assert page.all(class_="totals") and page.all(class_="bar reverse")


def test_nothing_comes_from_elsewhere(profiled, page):
    assert not re.search(r"(src|href)=|@import|url\(|https?://(?!www\.w3\.org/2000/svg)", profiled.html)
    (policy,) = page.all(http_equiv="Content-Security-Policy")
    assert policy["content"].startswith("default-src 'none'")


def test_what_a_screen_reader_needs(page):
    assert page.all(tag="html")[0]["lang"] == "en" and page.all(tag="h1")[0]["text"] == "heat"
    lists = page.all(role="listbox")
    assert lists and all(box["tabindex"] == "0" and box["aria-label"] for box in lists)
    assert all(button.get("aria-label") for button in page.all(tag="button"))
    assert page.all(tag="legend") and page.all(aria_live="polite")


def contrast(one, other):
    lights = []
    for color in (one, other):
        parts = [int(color[k : k + 2], 16) / 255 for k in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        lights.append(0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2])
    return (max(lights) + 0.05) / (min(lights) + 0.05)


def test_colours_are_readable():
    from autodiff_sct.core.highlight import stylesheet

    own = (FOLDER / "explorer.css").read_text()
    dark = re.search(r'data-theme="dark"\] \{(.*?)\n\}', own, re.S)[1]
    for text in (own.split("@media")[0] + stylesheet().split("@media")[0], dark):
        colors = dict(re.findall(r"--([\w-]+): (#\w{6})", text))
        for name in ("comment", "keyword", "string", "number", "adjoint"):
            assert contrast(colors[name], colors["pane"]) >= 4.5, name
        for name in ("text", "quiet", "forward", "reverse", "again"):
            assert min(contrast(colors[name], colors[ground]) for ground in ("pane", "page")) >= 4.5, name
        for name in ("forward", "reverse", "again"):
            assert contrast(colors["text"], colors[f"{name}-wash"]) >= 7, name


def test_text_is_escaped():
    def f(x):
        note = "<b>&amp;</script>"
        return np.sum(x * len(note))

    html = ad.show(f, np.ones(3)).html
    assert "<b>&amp;</script>" not in html
    Page(html)


def test_other_callables():
    Page(ad.show(ad.value_and_grad(lambda x: x * x), 2.0).html)
    shown = ad.show(heat, np.ones(5), 2, 0.1)
    assert "heat" in repr(shown) and "srcdoc" in shown._repr_html_()
    Page(ad.show(lambda x: np.sum(x)).html)  # for arguments of any kind
    with pytest.raises(ad.AutodiffError):
        ad.show(3)


def test_the_command_line(tmp_path, capsys):
    from autodiff_sct.cli.main import main

    (tmp_path / "cubes.py").write_text("import numpy as np\n\n\ndef cubes(x):\n    return np.sum(x**3)\n")
    target, out = f"{tmp_path / 'cubes.py'}:cubes", tmp_path / "out.html"
    assert main(["show", target, "--args", "np.ones(3)", "--html", str(out), "--profile"]) == 0
    assert "out.html is written" in capsys.readouterr().out and "<h1>cubes</h1>" in out.read_text()
    assert main(["show", target, "--profile"]) == 2


@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
@pytest.mark.parametrize(
    ("keys", "found"),
    [(("ArrowDown", "ArrowDown"), 4), (("ArrowDown", "ArrowDown", "Enter"), 4), (("End", "Escape"), 0)],
)
def test_the_keyboard_lights_up_counterparts(profiled, tmp_path, keys, found):
    press = """for (const key of KEYS)
        document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));"""
    script = f'document.querySelector("#primal .code").focus(); {press.replace("KEYS", str(list(keys)))}'
    file = tmp_path / "page.html"
    file.write_text(profiled.html.replace("</body>", f"<script>{script}</script></body>"))
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--window-size=1400,900", "--virtual-time-budget=1000"]
    command = [CHROMIUM, *options, f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom", file.as_uri()]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120)
    dumped = run.stdout
    assert "</html>" in dumped, run.stderr
    lit = re.findall(r'<li id="([\w-]+)"[^>]* class="[^"]*\bon\b', dumped)
    assert len(lit) >= found and (found or not lit), lit
    assert dumped.count("aria-activedescendant") == (1 if found else 0) + profiled.html.count("aria-activedescendant")
