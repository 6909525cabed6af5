"""Install what `lmcourse.releases` names: `lmcourse real install`.

Weights, vectors and corpora are in packages of the Python registry and of npm. pip and npm download
exactly those whose digests are known; the files that notebooks need are taken from them, checked
one by one, and kept in the cache. These packages are not installed into the environment: none of
their code runs. So are the human ratings of similarity in gensim's wheel, which is the lock's. One
package that the lock names is installed: arro3-io, which reads a table of words.
"""

import importlib.util
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from coursekit import course
from coursekit.install import LOCK, Pin, pip_hashed, read, select
from coursekit.packages import AGAIN, download, download_wheel, unpack
from lmcourse import files, releases
from lmcourse.corpus import human_ratings
from lmcourse.errors import CourseError
from lmcourse.releases import RELEASES, Release

READER = "arro3"  # the module of arro3-io
RATINGS = "gensim/test/test_data"  # a folder in gensim's wheel
RATINGS_PYTHON = "3.13"  # for which gensim has a wheel
RATINGS_SIZE = 28_000_000  # bytes of that wheel
ELSEWHERE = "Set LMCOURSE_CACHE to a folder of yours with 400 MB free."
TEMPORARY = ".new-"  # how the names of temporary folders begin


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
        CourseError: a registry cannot be reached or sends another file; the disk is full.
    """
    folder = files.cache_folder() / "real"
    with _writing(folder), _alone(folder):
        _install_reader()
        _install_ratings(report)
        for name, release in RELEASES.items():
            _install(name, release, report)


@contextmanager
def _writing(folder: Path) -> Iterator[None]:
    """Explain why a folder could not be written."""
    try:
        yield
    except OSError as error:
        raise files.trouble(error, folder, ELSEWHERE) from error


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Wait until no other process installs into a folder; remove what interrupted ones left."""
    from filelock import FileLock, Timeout

    folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / ".lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        print(f"Another process installs into {folder}: waiting for it.", file=sys.stderr)
        lock.acquire()
    try:
        for left in folder.glob(f"{TEMPORARY}*"):
            shutil.rmtree(left, ignore_errors=True)
        yield
    finally:
        lock.release()


def _install(name: str, release: Release, report: Callable[[str], None]) -> None:
    """Install a release, unless it is there and undamaged."""
    home = releases.home(name)
    if any(releases.sha256(home / file) != sha for file, (_, sha) in release.files.items()):
        report(f"{name}: {release.about} ({release.size / 1e6:.0f} MB)")
        report(f"Licenses: {release.licenses}")
        with _writing(home), _temporary(home) as folder:
            package = download(release, folder)
            for file, (member, digest) in release.files.items():
                unpack(package, member, folder / file)
                if releases.sha256(folder / file) != digest:
                    cause = f"{member} of {release.package} has another digest."
                    raise CourseError(cause, AGAIN)
            for file in release.files:
                _replace(folder / file, home / file)
    report(f"{name} is installed in {home}.")


@contextmanager
def _temporary(home: Path) -> Iterator[Path]:
    """Make a folder, and a temporary one beside it from which files can be moved."""
    home.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=home.parent, prefix=TEMPORARY) as folder:
        yield Path(folder)


def _replace(new: Path, old: Path) -> None:
    """Replace a file or folder by another; an interruption leaves a whole one or none."""
    if (new.is_dir() or old.is_dir()) and (old.exists() or old.is_symlink()):
        old.replace(new.with_name(f"old-{new.name}"))
    new.replace(old)


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
    report(f"gensim: human ratings of similarity, and analogies ({RATINGS_SIZE / 1e6:.0f} MB)")
    with _writing(home), _temporary(home) as folder:
        options = ("--python-version", RATINGS_PYTHON)
        wheel = download_wheel(requirement, RATINGS_SIZE, folder, *options)
        with zipfile.ZipFile(wheel) as archive:
            for name in names:
                Path(archive.extract(f"{RATINGS}/{name}", folder)).replace(home / name)


def _lock() -> list[Pin]:
    return read((course.root() / LOCK).read_text(encoding="utf-8"))
