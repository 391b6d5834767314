"""Where files are kept."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from autodiff_sct import storage

NAMES = ("AUTODIFF_SCT_CACHE", "AUTODIFF_SCT_CACHE_DIR", "XDG_CACHE_HOME", "LOCALAPPDATA")


@pytest.fixture(autouse=True)
def bare(monkeypatch, tmp_path):
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))


@pytest.mark.parametrize(
    ("platform", "variables", "expected"),
    [
        ("linux", {}, ".cache/autodiff_sct"),
        ("linux", {"XDG_CACHE_HOME": "relative"}, ".cache/autodiff_sct"),
        ("darwin", {}, "Library/Caches/autodiff_sct"),
        ("win32", {}, "AppData/Local/autodiff_sct"),
    ],
)
def test_the_platforms_folder(monkeypatch, tmp_path, platform, variables, expected):
    monkeypatch.setattr(sys, "platform", platform)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert storage.base() == tmp_path / expected


def test_chosen_folders(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert storage.base() == tmp_path / "xdg" / "autodiff_sct"
    monkeypatch.setenv("AUTODIFF_SCT_CACHE_DIR", str(tmp_path / "mine"))
    assert storage.base() == tmp_path / "mine"


def test_without_a_home_nothing_is_kept_in_the_working_folder(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    assert storage.folder("programs") is None
    assert not list(tmp_path.iterdir())


def test_a_write_that_fails_leaves_nothing(monkeypatch, tmp_path):
    def full(source, target):
        raise OSError("no space")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="no space"):
        storage.write(tmp_path / "file", b"content")
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="ownership is POSIX")
def test_what_belongs_to_somebody_else_is_not_read(monkeypatch, tmp_path):
    path = tmp_path / "file"
    storage.write(path, b"content")
    assert storage.read_own(path) == b"content"
    monkeypatch.setattr(os, "getuid", lambda: path.stat().st_uid + 1)
    assert storage.read_own(path) is None
    monkeypatch.setenv("AUTODIFF_SCT_CACHE_DIR", str(tmp_path))
    assert storage.folder("programs") is None


def test_clear_leaves_what_is_not_ours(monkeypatch, tmp_path):
    monkeypatch.setenv("AUTODIFF_SCT_CACHE_DIR", str(tmp_path))
    for name in ("programs/a.json", "programs/.b.tmp", "native/autodiff_sct_native_c.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    others = [tmp_path / "letter.json", tmp_path / "programs" / "letter.txt", tmp_path / "native" / "letter.py"]
    for path in others:
        path.write_text("")
    assert storage.clear() == 3
    assert sorted(p for p in tmp_path.rglob("*") if p.is_file()) == sorted(others)
    assert Path(storage.base()).is_dir()
