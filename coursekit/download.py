"""Downloads by pooch: once, verified, in the user's cache folder, continued where they broke."""

import sys
import threading
import time
import zipfile
from concurrent.futures import Future
from logging import WARNING
from pathlib import Path
from typing import Any

from coursekit.datasets import DataSet, find
from lmcourse import files
from lmcourse.corpus import streams
from lmcourse.errors import CourseError

TRIES, PAUSE, TIMEOUT = 5, 0.25, 30  # attempts without a new byte; seconds between, and to wait
SLOWEST = 1000  # bytes per second, on average after TIMEOUT
AGAIN = (408, 425, 429, 500, 502, 503, 504)  # statuses after which a request may succeed later


def fetch(
    name_or_url: str,
    sha256: str | None = None,
    *,
    folder: str | Path | None = None,
    progress: bool = True,
) -> Path:
    """The path of a file, which is downloaded at the first call, and verified at every call.

    A download that breaks continues where it stopped, now or at the next call, if the server sends
    the rest of the same file. A file extracted from an archive is verified once.

    Args:
        name_or_url: a name in `coursekit.datasets.DATASETS`, or an address.
        sha256: the digest that the file must have. Without one, known or given, that of the first
            download is recorded beside it, and later ones must have it.
        folder: where to keep it; None: `lmcourse.files.cache_folder`.
        progress: show a progress bar, on a terminal or in a notebook.

    Raises:
        CourseError: the name is unknown, the server cannot be reached or has no such file, it sends
            another file than expected, or the disk is full.
    """
    from filelock import FileLock, Timeout

    data = find(name_or_url, sha256)
    where = files.expanded(folder) if folder is not None else files.cache_folder()
    wanted, lock = where / (data.member or data.file), FileLock(where / f".{data.file}.lock")
    try:
        where.mkdir(parents=True, exist_ok=True)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            print(f"Another process is downloading {data.file}: waiting for it.", file=sys.stderr)
            lock.acquire()
        if data.member is None:
            _download(data, where, progress)
        elif not wanted.is_file():
            _extract(_download(data, where, progress), data.member, wanted, progress)
    except OSError as error:
        elsewhere = (
            "Set LMCOURSE_CACHE to a folder of your own with enough space, and run this again."
        )
        raise files.trouble(error, where / data.file, elsewhere) from error
    finally:
        lock.release()
    return wanted


def _download(data: DataSet, folder: Path, progress: bool) -> Path:
    """The file in the folder, verified; downloaded if it is not there or has another digest."""
    import pooch

    path, record = folder / data.file, folder / f"{data.file}.sha256"
    recorded = record.read_text(errors="replace").split(" ")[0] if record.is_file() else None
    digest = data.sha256 or recorded
    pooch.get_logger().setLevel(WARNING)
    try:
        pooch.retrieve(data.url, digest, path.name, folder, downloader=_Resuming(path, progress))
    except ValueError as error:
        remedy = (
            "Try again. If it happens again, the file has changed, or something on the way (a "
            "proxy, a page that asks you to log in) sends another one: open it in a browser."
        )
        if not data.sha256:
            remedy += f" If you trust the new file, delete {record}, which has the first digest."
        raise CourseError(f"{data.url} sent another file than expected: {error}.", remedy) from None
    if digest is None:
        with files.replacing(record) as file:
            file.write(f"{pooch.file_hash(str(path))}  {path.name}\n".encode())
    return path


class _Resuming:
    """A downloader for pooch that keeps in ``.part`` what came, and continues it."""

    def __init__(self, path: Path, progress: bool) -> None:
        self.path, self.progress = path, progress
        self.part, self.tag = (path.with_name(f"{path.name}.{end}") for end in ("part", "tag"))

    def __call__(self, url: str, output_file: str, _: Any) -> None:
        import requests
        import urllib3

        tries, size = 0, self._size()
        while True:
            try:
                self._continue(url)
                break
            except (requests.RequestException, urllib3.exceptions.HTTPError) as error:
                tries = tries + 1 if self._size() <= size else 1
                size = self._size()
                response = getattr(error, "response", None)
                if tries >= TRIES or (response is not None and response.status_code not in AGAIN):
                    raise self._given_up(url, _reason(error)) from None
                time.sleep(PAUSE * 2**tries)
        self.part.replace(output_file)
        self.tag.unlink()

    def _given_up(self, url: str, why: str) -> CourseError:
        return CourseError(
            f"{url} could not be downloaded: {why}.",
            "Check the network, and the address in a browser, and run this again: it continues "
            "where it stopped. Or download the file elsewhere, and put it under the name "
            f"{self.path.name} into the folder {self.path.parent}.",
        )

    def _size(self) -> int:
        return self.part.stat().st_size if self.part.exists() else 0

    def _continue(self, url: str) -> None:
        """Request what is missing of the file, or all of it if the server has another one."""
        import requests

        headers = {"Accept-Encoding": "identity", "User-Agent": "lmcourse"}
        known = self.tag.read_text().split("\n") if self.tag.exists() and self._size() else []
        if known[:1] == [url] and known[1]:
            headers |= {"Range": f"bytes={self._size()}-", "If-Range": known[1]}
        with _answer(url, headers) as response:
            tag = _validator(response.headers)
            rest = response.status_code == 206 and tag in ("", known[1])
            if response.status_code in (206, 416) and not rest:
                self.part.unlink()
                raise requests.exceptions.ChunkedEncodingError("the rest of another file came")
            response.raise_for_status()
            self.tag.write_text(f"{url}\n{tag or (known[1] if rest else '')}")
            self._write(response, "ab" if rest else "wb")

    def _write(self, response: Any, mode: str) -> None:
        start, length = time.monotonic(), response.headers.get("Content-Length")
        with self.part.open(mode) as file:
            first = file.tell()
            total = first + int(length) if length else None
            with streams.bar(self.path.name, total, self.progress) as show:
                # The raw bytes: some servers call a .gz file an encoding of another file.
                while chunk := response.raw.read1(streams.CHUNK, decode_content=False):
                    file.write(chunk)
                    show(file.tell())
                    seconds = time.monotonic() - start
                    if seconds > TIMEOUT and file.tell() - first < SLOWEST * seconds:
                        raise self._given_up(
                            response.url,
                            f"only {file.tell() - first:,} bytes came in {seconds:.0f} s",
                        )


def _answer(url: str, headers: dict[str, str]) -> Any:
    """The response to a request, whose head comes within twice the time that a byte may take.

    The timeout of requests begins anew with each byte, also in the head.
    """
    import requests

    options: Any = {"stream": True, "timeout": TIMEOUT, "hooks": {"response": _leave_redirect}}
    future: Future[Any] = Future()

    def request() -> None:
        try:
            future.set_result(requests.get(url, headers=headers, **options))
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=request, daemon=True).start()
    try:
        return future.result(2 * TIMEOUT)
    except TimeoutError:
        raise requests.Timeout from None


def _leave_redirect(response: Any, **_: Any) -> None:
    """Close a redirect's response: requests would read its body, however slowly it comes."""
    if response.is_redirect:
        response.close()


def _reason(error: Exception) -> str:
    """Why an attempt failed, in words."""
    import requests

    if isinstance(error, requests.HTTPError) and error.response is not None:
        return f"the server answered {error.response.status_code} ({error.response.reason})"
    if isinstance(error, requests.Timeout):
        return "the server did not answer in time"
    if isinstance(error, requests.ConnectionError):
        return "the server cannot be reached"
    return f"{type(error).__name__}: {error}"


def _validator(headers: Any) -> str:
    """A strong ETag, or the time of the last change (RFC 9110, section 13.1.5)."""
    tag = headers.get("ETag", "W/")
    return str(headers.get("Last-Modified", "") if tag.startswith("W/") else tag)


def _extract(archive: Path, member: str, path: Path, progress: bool) -> None:
    """Extract a file from a zip archive, completely or not at all."""
    try:
        with (
            zipfile.ZipFile(archive) as opened,
            opened.open(member) as source,
            files.replacing(path) as out,
            streams.bar(member, opened.getinfo(member).file_size, progress) as show,
        ):
            while chunk := source.read(streams.CHUNK):
                out.write(chunk)
                show(out.tell())
    except (zipfile.BadZipFile, KeyError) as error:
        remedy = "Delete the archive and run this again: it is then downloaded again."
        raise CourseError(
            f"{member} cannot be extracted from {archive}: {error}.", remedy
        ) from None
