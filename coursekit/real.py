"""Install the pretrained weights and vectors of `lmcourse.hub.releases`: `lmcourse real install`.

They are in packages of the Python registry. pip downloads exactly the wheels whose digests are
known; the files that notebooks need are taken from them, checked one by one, and kept in the cache.
These packages are not installed into the environment: none of their code runs. So are the human
ratings of similarity in gensim's wheel, which is the lock's. One package that the lock names is
installed: arro3-io, which reads a table of words.
"""

import importlib.util
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

from coursekit import course
from coursekit.install import LOCK, Pin, pip_hashed, read, select
from lmcourse import files
from lmcourse.corpus import human_ratings
from lmcourse.errors import CourseError
from lmcourse.hub import releases
from lmcourse.hub.releases import RELEASES, Release

READER = "arro3"  # the module of arro3-io
RATINGS = "gensim/test/test_data"  # a folder in gensim's wheel
RATINGS_PYTHON = "3.13"  # for which gensim has a wheel
AGAIN = (
    "The lines above explain why. Without a network, connect and run `lmcourse real install` "
    "again; all notebooks run without it, too. If a hash does not match, report the file's source."
)
ELSEWHERE = "Set LMCOURSE_CACHE to a folder of yours with 400 MB free."


def overview() -> str:
    """The releases, their licenses, and which are installed."""
    lines = []
    for name, release in RELEASES.items():
        here = releases.installed(name)
        state = "installed" if here else "not installed: `lmcourse real install`"
        lines += [f"{name}  {release.size / 1e6:.1f} MB  {state}"]
        lines += [f"    {release.about}", f"    {release.licenses}"]
    return "\n".join(lines)


def install(report: Callable[[str], None] = print) -> None:
    """Download what is not installed or is damaged, and check it.

    Raises:
        CourseError: the registry cannot be reached or sends another file; the disk is full.
    """
    _install_reader()
    _install_ratings(report)
    for name, release in RELEASES.items():
        home = releases.home(name)
        if all(releases.sha256(home / file) == sha for file, (_, sha) in release.files.items()):
            report(f"{name} is installed in {home}.")
            continue
        report(f"{name}: {release.about} ({release.size / 1e6:.0f} MB)")
        report(f"Licenses: {release.licenses}")
        try:
            home.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=home.parent) as folder:
                _unpack(_download(release, Path(folder)), release, home)
        except OSError as error:
            raise files.trouble(error, home, ELSEWHERE) from error
        report(f"{name} is installed in {home}.")


def _download(release: Release, folder: Path) -> Path:
    """The wheel, which pip has checked against its digest."""
    return _download_wheel(f"{release.package} --hash=sha256:{release.sha256}", folder)


def _download_wheel(requirement: str, folder: Path, *options: str) -> Path:
    wanted = folder / "wanted.txt"
    wanted.write_text(f"{requirement}\n", encoding="utf-8")
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", *options]
    command += ["--no-deps", "--require-hashes", "--only-binary", ":all:", "--dest", str(folder)]
    if subprocess.run([*command, "--requirement", str(wanted)]).returncode:
        raise CourseError(f"pip could not download {requirement.split()[0]}.", AGAIN)
    return next(folder.glob("*.whl"))


def _unpack(wheel: Path, release: Release, home: Path) -> None:
    """Write a release's files, each of which has its digest."""
    with zipfile.ZipFile(wheel) as archive:
        for name, (member, digest) in release.files.items():
            new = wheel.with_name(name)
            source = Path(archive.extract(member, wheel.parent))
            if member.endswith(".parquet"):
                new.write_bytes("".join(f"{word}\n" for word in _words(source)).encode())
            else:
                source.replace(new)
            if releases.sha256(new) != digest:
                raise CourseError(f"{member} of {release.package} has another digest.", AGAIN)
            new.replace(home / name)


def _install_reader() -> None:
    """Install the reader of tables, unless it is there."""
    if not importlib.util.find_spec(READER):
        try:
            pip_hashed(select(_lock(), ["arro3-io"], cuda=False))
        except subprocess.CalledProcessError as error:
            raise CourseError("pip could not install arro3-io.", AGAIN) from error
        importlib.invalidate_caches()


def _install_ratings(report: Callable[[str], None]) -> None:
    """Unpack the human ratings from gensim's wheel, unless they are there or gensim is installed.

    gensim need not have a wheel for this Python, since nothing of it runs.
    """
    home, names = human_ratings.unpacked(), (*human_ratings.FILES, *human_ratings.LEE_FILES)
    if importlib.util.find_spec("gensim") or all((home / name).is_file() for name in names):
        return
    (pin,) = (pin for pin in _lock() if pin.name == "gensim")
    requirement = pin.text.replace(pin.requirement, pin.requirement.split(" ;")[0])
    report("gensim: human ratings of similarity, and analogies (28 MB)")
    try:
        home.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=home.parent) as folder:
            wheel = _download_wheel(requirement, Path(folder), "--python-version", RATINGS_PYTHON)
            with zipfile.ZipFile(wheel) as archive:
                for name in names:
                    Path(archive.extract(f"{RATINGS}/{name}", folder)).replace(home / name)
    except OSError as error:
        raise files.trouble(error, home, ELSEWHERE) from error


def _lock() -> list[Pin]:
    return read((course.root() / LOCK).read_text(encoding="utf-8"))


def _words(table: Path) -> list[str]:
    """The only column of a Parquet table."""
    from arro3.io import read_parquet

    (column,) = read_parquet(str(table)).read_all().columns
    return [str(word) for word in column.to_pylist()]
