"""The release checklist: what it can say without building anything."""

import os
import sys
from pathlib import Path

import pytest

import autodiff_sct
from tools import interpreters, release

pytestmark = pytest.mark.once


def test_it_runs_every_example():
    assert set(release.EXAMPLES) == {path.stem for path in (release.ROOT / "examples").glob("*.py")}


def test_all_files_state_one_version(monkeypatch, tmp_path):
    assert release.version_everywhere() == autodiff_sct.__version__
    for name in ("pyproject.toml", "autodiff_sct/__init__.py", "CITATION.cff", "CHANGELOG.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text((release.ROOT / name).read_text())
    monkeypatch.setattr(release, "ROOT", tmp_path)
    citation = (tmp_path / "CITATION.cff").read_text()
    (tmp_path / "CITATION.cff").write_text(citation.replace(f"version: {autodiff_sct.__version__}", "version: 9.9"))
    with pytest.raises(AssertionError, match=r"CITATION.cff is not of version"):
        release.version_everywhere()


def test_a_command_that_fails_ends_it():
    with pytest.raises(SystemExit, match="failed: .*\n.*no such thing"):
        release.run([sys.executable, "-c", "raise SystemExit('no such thing')"])


def test_interpreters_are_found_and_tried(monkeypatch, tmp_path):
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    assert interpreters.works(interpreters.interpreter(version), version)
    shim = tmp_path / "python2.0"
    shim.write_text("#!/bin/sh\nexit 127\n")
    shim.chmod(0o755)
    monkeypatch.setenv("PATH", os.pathsep.join([str(tmp_path), os.environ["PATH"]]))
    assert str(shim) in interpreters.candidates("2.0") and interpreters.interpreter("2.0") is None
    assert all(Path(path).exists() for path in interpreters.candidates(version))
