"""Download data once: whole, verified, into the user's cache folder.

pooch keeps the cache and holds digests against files; here is what it lacks: a download that goes
on where it broke, and one process at a time.
"""

import logging
import os
import re
import sys
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lmcourse import files
from lmcourse.corpus import streams
from lmcourse.corpus.datasets import DataSet, find
from lmcourse.errors import CourseError

_ELSEWHERE = "Set LMCOURSE_CACHE to a folder of your own with enough space, and run this again."


def cache_folder() -> Path:
    """Where downloads are kept: ``LMCOURSE_CACHE``, or the user's cache folder."""
    import pooch

    chosen = os.environ.get("LMCOURSE_CACHE")
    return Path(chosen).expanduser() if chosen else Path(pooch.os_cache("lmcourse"))


def fetch(
    name_or_url: str,
    sha256: str | None = None,
    *,
    folder: str | Path | None = None,
    progress: bool = True,
) -> Path:
    """The path of a file that is downloaded when it is first asked for, and verified.

    A download that breaks is taken up where it stopped, now or at the next call, if the server
    can do so and the file there is still the same; else it starts over. The file is in its place
    only when it is whole and its digest is right; it is held against the digest at every call (a
    file taken out of an archive: when it is taken out). Two processes do not download it twice.

    Args:
        name_or_url: a name in `lmcourse.corpus.datasets.DATASETS`, or an address. Nobody has
            published a digest of ``goodreads-spoilers``.
        sha256: the digest that the file must have. Without one, known or given, that of the
            first download is recorded beside it and every later one is held against it.
        folder: where to keep it; None: see `cache_folder`.
        progress: show a bar, on a terminal or in a notebook.

    Raises:
        CourseError: the name is not known, the server cannot be reached or has no such file, it
            sends another file than expected, or the disk is full.
    """
    data = find(name_or_url, sha256)
    place = Path(folder).expanduser() if folder is not None else cache_folder()
    try:
        place.mkdir(parents=True, exist_ok=True)
        with _alone(place / f".{data.file}.lock", data.file):
            wanted = place / (data.member or data.file)
            if data.member is None or not wanted.is_file():
                archive = _download(data, place, progress)
                if data.member is not None:
                    _extract(archive, data.member, wanted, progress)
    except OSError as error:
        raise files.trouble(error, place / data.file, _ELSEWHERE) from error
    return wanted


@contextmanager
def _alone(path: Path, what: str) -> Iterator[None]:
    """Wait until no other process downloads the same file."""
    from filelock import FileLock, Timeout

    lock = FileLock(path)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        print(f"Another process is downloading {what}: waiting for it.", file=sys.stderr)
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


def _download(data: DataSet, folder: Path, progress: bool) -> Path:
    """The file in the folder, verified; downloaded if it is not there or not right."""
    import pooch

    from lmcourse.corpus.transfer import Transfer

    path = folder / data.file
    record = folder / f"{data.file}.sha256"
    recorded = _recorded(record) if data.sha256 is None else None
    digest = data.sha256 or recorded
    transfer = Transfer(path, verified=digest is not None, progress=progress)
    for second in (False, True):
        transfer.resumed = False
        try:
            with _quiet():
                pooch.retrieve(
                    data.url,
                    known_hash=digest and f"sha256:{digest}",
                    fname=path.name,
                    path=folder,
                    downloader=transfer,
                )
            break
        except ValueError as error:
            # What was pieced together from two downloads gets a second chance as one.
            if second or not transfer.resumed:
                raise _another(data.url, str(digest), str(error), record, recorded) from None
    if digest is None:
        with files.replacing(record) as file:
            file.write(f"{pooch.file_hash(str(path))}  {path.name}\n".encode())
    return path


def _recorded(record: Path) -> str | None:
    """The digest of the first download, if there was one."""
    if not record.is_file():
        return None
    digest = record.read_text(encoding="utf-8", errors="replace").split(" ")[0]
    if not re.fullmatch(r"[0-9a-f]{64}", digest):
        raise CourseError(
            f"{record} has no SHA-256 digest.",
            "Delete it; the digest is then recorded anew.",
        )
    return digest


def _another(
    url: str, digest: str, message: str, record: Path, recorded: str | None
) -> CourseError:
    """Say that a server sent another file than expected."""
    got = re.search(r"but got (\w+)", message)
    remedy = (
        "Try again. If it stays so, the file was changed there, or something on the way (a proxy, "
        "a page that asks you to log in) sends another one: open the address in a browser."
    )
    if recorded:
        remedy += f" If you trust the new file, delete {record}, which has the first one's digest."
    return CourseError(
        f"{url} sent another file than expected, which was removed: SHA-256 "
        f"{got[1] if got else 'unknown'} instead of {digest}.",
        remedy,
    )


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep pooch from writing what a reader need not know."""
    import pooch

    logger = pooch.get_logger()
    level = logger.level
    logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.setLevel(level)


def _extract(archive: Path, member: str, path: Path, progress: bool) -> None:
    """Take a file out of a zip archive, whole or not at all.

    Raises:
        CourseError: it is no archive, lacks the file or is damaged.
    """
    try:
        with zipfile.ZipFile(archive) as opened:
            total = opened.getinfo(member).file_size
            with (
                opened.open(member) as source,
                files.replacing(path) as out,
                streams.bar(member, total, progress) as show,
            ):
                while chunk := source.read(streams.CHUNK):
                    out.write(chunk)
                    show(out.tell())
    except (zipfile.BadZipFile, KeyError) as error:
        raise CourseError(
            f"{member} cannot be taken out of {archive}: {error}.",
            "Delete the archive and run this again: it is then downloaded anew.",
        ) from None
