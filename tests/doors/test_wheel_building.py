"""The wheel is there whole or not at all: interrupted, at once, on a full disk, without rights."""

import os
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from coursekit import wheel
from lmcourse.errors import CourseError

NAME = "lmcourse-0.1.0-py3-none-any.whl"


@pytest.fixture
def builds(tmp_path, monkeypatch):
    """The builds that were begun, in a checkout of one file; each takes a moment."""
    begun: list[Path] = []

    def build(folder: Path) -> None:
        begun.append(folder)
        (folder / NAME).write_bytes(b"ha")
        time.sleep(0.01)
        (folder / NAME).write_bytes(b"half and half")

    (tmp_path / "README.md").write_text("A course.")
    monkeypatch.setattr(wheel, "ROOT", tmp_path)
    monkeypatch.setattr(wheel, "_build", build)
    return begun


def left(tmp_path: Path) -> list[str]:
    """The names in the folder of wheels."""
    return sorted(path.name for path in (tmp_path / "_build" / "wheel").iterdir())


def test_a_wheel_is_built_anew_when_a_source_changed(builds, tmp_path):
    first = wheel.build_wheel()
    assert wheel.build_wheel() == first and len(builds) == 1
    assert first.read_bytes() == b"half and half"
    (tmp_path / "README.md").write_text("Another course.")
    second = wheel.build_wheel()
    assert second != first and left(tmp_path) == [second.parent.name]


def test_a_build_that_was_interrupted_is_not_taken_for_done(builds, tmp_path, monkeypatch):
    complete = wheel._build

    def interrupted(folder: Path) -> None:
        (folder / NAME).write_bytes(b"ha")
        raise KeyboardInterrupt

    monkeypatch.setattr(wheel, "_build", interrupted)
    with pytest.raises(KeyboardInterrupt):
        wheel.build_wheel()
    assert left(tmp_path) == []
    monkeypatch.setattr(wheel, "_build", complete)
    assert wheel.build_wheel().read_bytes() == b"half and half"


def test_what_a_killed_build_left_is_removed_after_an_hour(builds, tmp_path):
    folder = tmp_path / "_build" / "wheel"
    for name, age in (("building-old", 7200), ("building-new", 60)):
        (folder / name).mkdir(parents=True)
        (folder / name / NAME).write_bytes(b"ha")
        os.utime(folder / name, (time.time() - age,) * 2)
    kept = wheel.build_wheel().parent.name
    assert left(tmp_path) == sorted([kept, "building-new"])


def test_an_empty_folder_is_no_wheel(builds, tmp_path):
    built = wheel.build_wheel()
    built.unlink()
    assert wheel.build_wheel() == built and built.is_file()


def test_four_first_builds_at_once(builds, tmp_path, monkeypatch):
    together, build = threading.Barrier(4), wheel._build

    def at_once(folder: Path) -> None:
        together.wait(timeout=60)
        build(folder)

    monkeypatch.setattr(wheel, "_build", at_once)
    with ThreadPoolExecutor(4) as pool:
        found = [each.result() for each in [pool.submit(wheel.build_wheel) for _ in range(4)]]
    assert len(set(found)) == 1 and found[0].read_bytes() == b"half and half"
    assert left(tmp_path) == [found[0].parent.name] and len(builds) == 4


def test_a_full_disk_is_named_and_nothing_is_left(builds, tmp_path, monkeypatch):
    monkeypatch.undo()
    monkeypatch.setattr(wheel, "ROOT", tmp_path)

    def pip(command, **_):
        (Path(command[command.index("--wheel-dir") + 1]) / NAME).write_bytes(b"ha")
        said = "ERROR: Could not install: [Errno 28] No space left on device"
        return subprocess.CompletedProcess(command, 1, "", said)

    monkeypatch.setattr(wheel.subprocess, "run", pip)
    with pytest.raises(CourseError, match=r"disk is full.*Free some space"):
        wheel.build_wheel()
    assert left(tmp_path) == []


@pytest.mark.parametrize("parts", [[], ["_build"], ["_build", "wheel"]])
def test_a_folder_that_may_not_be_written(builds, tmp_path, unprivileged, parts):
    folder = tmp_path.joinpath(*parts)
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o555)
    try:
        with pytest.raises(CourseError, match=r"may not write .*wheel\. Make it writable"):
            wheel.build_wheel()
    finally:
        folder.chmod(0o755)


def test_a_file_where_the_folder_should_be(builds, tmp_path):
    (tmp_path / "_build").write_text("")
    with pytest.raises(CourseError, match=r"_build is a file, but a folder is needed"):
        wheel.build_wheel()
