"""Where files are kept."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from autodiff_sct.core import storage

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


OURS = "programs/a.json", "programs/.autodiff_sct_b.tmp", "native/autodiff_sct_native_c.py"
OTHERS = "letter.json", "programs/results.json", "programs/.b.tmp", "programs/letter.txt", "native/letter.py"


def fill(folder):
    """Files of ours and of others, as they stand in one folder."""
    for name in (*OURS, *OTHERS):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("autodiff_sct program a" if name in OURS else "{}")


def names_in(folder):
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())


def test_clear_leaves_what_is_not_ours(monkeypatch, tmp_path):
    monkeypatch.setenv("AUTODIFF_SCT_CACHE_DIR", str(tmp_path))
    assert storage.folder("programs") == tmp_path / "programs"
    fill(tmp_path)
    assert storage.clear() == 3
    assert names_in(tmp_path) == sorted([storage.TAG, *OTHERS])
    assert Path(storage.base()).is_dir()


def test_a_folder_with_something_else_in_it_is_neither_used_nor_cleared(monkeypatch, tmp_path):
    fill(tmp_path)
    monkeypatch.setenv("AUTODIFF_SCT_CACHE_DIR", str(tmp_path))
    assert storage.folder("programs") is None
    assert "something else in it" in storage.reason_unused()
    assert storage.clear() == 0
    storage.prune()
    assert names_in(tmp_path) == sorted([*OURS, *OTHERS])


def test_the_least_recently_used_files_go_first(monkeypatch, tmp_path):
    monkeypatch.setenv("AUTODIFF_SCT_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(storage, "MOST", 3 * len(b"autodiff_sct program a"))
    monkeypatch.setattr(storage, "_written", 0)
    place = storage.folder("programs")
    for k in range(6):
        (place / f"{k}.json").write_bytes(b"autodiff_sct program a")
        os.utime(place / f"{k}.json", (k, k))
    storage.use(place / "1.json")
    for name, used in (("old", 0), ("new", None)):
        storage.write(place / f"{name}.json", b"")
        os.replace(place / f"{name}.json", temporary := place / f"{storage.TEMPORARY}{name}.tmp")
        if used is not None:
            os.utime(temporary, (used, used))
    storage.prune()
    kept = sorted(path.name for path in place.iterdir())
    assert kept == [f"{storage.TEMPORARY}new.tmp", "1.json", "4.json", "5.json"]


@pytest.mark.parametrize("value", ["0", "off", "No", "FALSE", "/some/path"])
def test_switched_off(monkeypatch, tmp_path, value):
    monkeypatch.setenv("AUTODIFF_SCT_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("AUTODIFF_SCT_CACHE", value)
    assert storage.folder("programs") is None
    assert f"AUTODIFF_SCT_CACHE={value}" in storage.reason_unused()
    assert ("AUTODIFF_SCT_CACHE_DIR" in storage.reason_unused()) is (value == "/some/path")
    assert not list(tmp_path.iterdir())


def test_the_users_home_is_found(monkeypatch, tmp_path):
    monkeypatch.setenv("AUTODIFF_SCT_CACHE_DIR", "~/mine")
    assert storage.base() == tmp_path / "mine"


def test_a_folder_under_a_files_name(monkeypatch, tmp_path):
    (tmp_path / "file").mkdir()
    assert storage.read_own(tmp_path / "file") is None


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="permissions are POSIX")
def test_what_others_may_write_to_is_not_used(monkeypatch, tmp_path):
    place = tmp_path / "open"
    place.mkdir()
    place.chmod(0o775)
    monkeypatch.setenv("AUTODIFF_SCT_CACHE_DIR", str(place))
    assert storage.folder("programs") is None
    assert "chmod 700" in storage.reason_unused()
