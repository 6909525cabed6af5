"""`lmcourse real`: pip checks the wheel, we check each file, and nothing is installed by halves."""

import hashlib
import importlib.util
import re
import subprocess
import zipfile
from pathlib import Path

import pytest
from packaging.tags import platform_tags
from typer.testing import CliRunner

from coursekit import cli, course, real
from coursekit.install import Pin
from lmcourse import releases
from lmcourse.corpus import human_ratings
from lmcourse.errors import CourseError

NAME = "tiny_vectors-1.0-py3-none-any.whl"
MEMBERS = {"tiny/words.parquet": None, "tiny/vectors.npy": b"numbers"}


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@pytest.fixture
def registry(tmp_path, monkeypatch):
    """A folder as the only index, with a release in it; the cache is the test's own."""
    from arro3.core import Table
    from arro3.io import write_parquet

    (tmp_path / "index").mkdir()
    wheel = tmp_path / "index" / NAME
    table = tmp_path / "words.parquet"
    write_parquet(Table.from_pydict({"index": _strings(["the", "naïve", "end"])}), str(table))
    metadata = "Metadata-Version: 2.1\nName: tiny-vectors\nVersion: 1.0\nRequires-Dist: absent\n"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("tiny_vectors-1.0.dist-info/METADATA", metadata)
        archive.writestr(
            "tiny_vectors-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any"
        )
        archive.writestr("tiny_vectors-1.0.dist-info/RECORD", "")
        archive.write(table, "tiny/words.parquet")
        archive.writestr("tiny/vectors.npy", b"numbers")
    files = {
        "vectors.npy": ("tiny/vectors.npy", digest(b"numbers")),
        "words.txt": ("tiny/words.parquet", digest("the\nnaïve\nend\n".encode())),
    }
    for name, value in {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(wheel.parent)}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("LMCOURSE_REAL", raising=False)
    monkeypatch.setenv("LMCOURSE_CACHE", str(tmp_path / "cache"))
    release = releases.Release(
        "three words",
        "PDDL-1.0",
        "tiny-vectors==1.0",
        f"sha256:{digest(wheel.read_bytes())}",
        1000,
        files,
    )
    monkeypatch.setattr(real, "RELEASES", {"tiny": release})
    monkeypatch.setattr(releases, "RELEASES", {"tiny": release})
    monkeypatch.setattr(human_ratings, "unpacked", lambda: _ratings(tmp_path / "ratings"))
    return wheel


def _ratings(folder: Path) -> Path:
    """A folder with all files of ratings, so that none is downloaded."""
    folder.mkdir(exist_ok=True)
    for name in (*human_ratings.FILES, *human_ratings.LEE_FILES):
        (folder / name).touch()
    return folder


def _strings(values: list[str]):
    from arro3.core import Array, DataType

    return Array(values, DataType.utf8())


def left(tmp_path) -> list[str]:
    files = [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]
    return sorted(path.name for path in files if path.name != ".lock")


@pytest.mark.usefixtures("registry")
def test_it_downloads_once_and_shows_the_license(tmp_path, monkeypatch):
    shown: list[str] = []
    real.install(shown.append)
    assert "Licenses: PDDL-1.0" in shown
    home = tmp_path / "cache" / "real" / "tiny"
    assert (home / "words.txt").read_bytes() == "the\nnaïve\nend\n".encode()
    assert left(tmp_path) == ["vectors.npy", "words.txt"]
    monkeypatch.setattr(subprocess, "run", lambda *args: pytest.fail("a second download"))
    real.install(shown.append)
    assert shown[-1] == f"tiny is installed in {home}."


@pytest.mark.usefixtures("registry")
def test_a_damaged_file_is_installed_again(tmp_path):
    real.install(lambda line: None)
    damaged = tmp_path / "cache" / "real" / "tiny" / "vectors.npy"
    damaged.write_bytes(b"other")
    real.install(lambda line: None)
    assert damaged.read_bytes() == b"numbers"


def test_another_wheel_is_refused_by_pip(registry, tmp_path, capfd):
    with zipfile.ZipFile(registry, "a") as archive:
        archive.writestr("tiny/more.py", "raise SystemExit")
    with pytest.raises(CourseError, match=r"could not download tiny-vectors==1\.0") as refused:
        real.install(lambda line: None)
    assert "hash" in refused.value.remedy and "HASHES" in capfd.readouterr().err
    assert left(tmp_path) == []


def test_another_file_is_refused_by_its_own_digest(registry, tmp_path, monkeypatch):
    release = real.RELEASES["tiny"]
    files = release.files | {"words.txt": ("tiny/words.parquet", "0" * 64)}
    changed = releases.Release(*(*tuple(vars(release).values())[:-1], files))
    monkeypatch.setattr(real, "RELEASES", {"tiny": changed})
    with pytest.raises(CourseError, match=r"tiny/words\.parquet .* another digest"):
        real.install(lambda line: None)
    assert left(tmp_path) == []  # not the one that is right, either


def test_without_a_network(registry, tmp_path):
    registry.unlink()
    with pytest.raises(CourseError, match="could not download") as refused:
        real.install(lambda line: None)
    assert "all notebooks run without it" in refused.value.remedy
    assert left(tmp_path) == []


@pytest.mark.usefixtures("registry")
def test_the_command(tmp_path):
    def invoke(*arguments: str) -> str:
        return CliRunner().invoke(cli.app, ["real", *arguments], catch_exceptions=False).output

    assert "tiny  0.0 MB  not installed: `lmcourse real install`" in invoke()
    assert "tiny is installed in" in invoke("install")
    assert "tiny  0.0 MB  installed" in invoke() and "PDDL-1.0" in invoke()


def test_a_full_or_unwritable_cache(registry, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("LMCOURSE_CACHE", str(tmp_path / "file"))
    with pytest.raises(CourseError, match="is a file, but a folder is needed"):
        real.install(lambda line: None)


@pytest.mark.usefixtures("registry")
def test_the_reader_of_tables_is_installed_from_the_lock(monkeypatch):
    asked = []
    monkeypatch.setattr(real, "pip_hashed", lambda pins: asked.extend(pin.name for pin in pins))
    real.install(lambda line: None)
    assert asked == []
    monkeypatch.setattr(real, "READER", "absent_module")
    real.install(lambda line: None)
    assert "arro3-io" in asked and "gensim" not in asked


def test_the_ratings_come_from_a_wheel_for_another_python(registry, tmp_path, monkeypatch):
    """As on Python 3.14, for which gensim has no wheel."""
    names = (*human_ratings.FILES, *human_ratings.LEE_FILES)
    tag = f"cp{real.RATINGS_PYTHON.replace('.', '')}"
    wheel = registry.with_name(f"gensim-4.4.0-{tag}-{tag}-{next(platform_tags())}.whl")
    with zipfile.ZipFile(wheel, "w") as archive:
        metadata = "Metadata-Version: 2.1\nName: gensim\nVersion: 4.4.0\n"
        archive.writestr("gensim-4.4.0.dist-info/METADATA", metadata)
        archive.writestr("gensim-4.4.0.dist-info/WHEEL", f"Wheel-Version: 1.0\nTag: {tag}")
        for name in names:
            archive.writestr(f"gensim/test/test_data/{name}", f"text of {name}")
    pinned = "gensim==4.4.0 ; python_full_version < '3.4' \\\n    --hash=sha256:{}"
    good = Pin("gensim", pinned.format(digest(wheel.read_bytes())), frozenset())
    monkeypatch.setattr(human_ratings, "unpacked", lambda: tmp_path / "cache" / "ratings")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name == "arro3" or None)
    monkeypatch.setattr(human_ratings, "find_spec", lambda name: None)
    monkeypatch.setattr(real, "_lock", lambda: [replace_text(good, "0" * 64)])
    with pytest.raises(CourseError, match=r"could not download gensim==4\.4\.0\."):
        real.install(lambda line: None)
    assert left(tmp_path) == []
    monkeypatch.setattr(real, "_lock", lambda: [good])
    real.install(lambda line: None)
    for name in names:
        assert human_ratings.gensim_file(name).read_text() == f"text of {name}"
    wheel.unlink()
    real.install(lambda line: None)  # they are there


@pytest.mark.parametrize(
    "name", ["README.md", "CONTRIBUTING.md", "Makefile", "coursekit/cli.py", "lmcourse/releases.py"]
)
def test_what_is_said_of_the_downloads_size_is_true(name):
    size = sum(release.size for release in releases.RELEASES.values()) + real.RATINGS_SIZE
    size += 9_000_000  # arro3-io
    text = (course.root() / name).read_text(encoding="utf-8")
    stated = re.findall(r"(\d+) MB(?:,? once|[,;] optional| in all|; `REAL)", text)
    assert {int(each) for each in stated} == {10 * round(size / 1e7)}


def replace_text(pin: Pin, sha256: str) -> Pin:
    return Pin(pin.name, f"{pin.requirement} \\\n    --hash=sha256:{sha256}", pin.needed_by)
