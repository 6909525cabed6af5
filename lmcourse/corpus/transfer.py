"""One file over HTTP, through broken connections."""

import json
import re
import time
from pathlib import Path
from typing import Any

import requests
import urllib3

from lmcourse.corpus import streams
from lmcourse.errors import CourseError

TRIES = 5  # without a byte more than before
PAUSE = 0.25  # seconds; twice as long after each failure
TIMEOUT = (10, 30)  # seconds: to connect, and between two pieces

_COME_BACK = {408, 425, 429, 500, 502, 503, 504}  # answers that may be others in a moment


class _Broken(Exception):
    """A try failed, and another one may not."""


class Transfer:
    """A downloader for pooch that goes on where an earlier try, or process, stopped.

    What has come stands in a file ``.part`` beside the wanted one, and what tells whether the
    server still has the same file in ``.part.json``.

    Args:
        path: the wanted file.
        verified: whether a digest tells in the end if the pieces fit together.
        progress: show a bar.

    Attributes:
        resumed: whether the last download was put together from several.
    """

    def __init__(self, path: Path, verified: bool, progress: bool) -> None:
        self.path = path
        self.part = path.with_name(f"{path.name}.part")
        self.state = path.with_name(f"{path.name}.part.json")
        self.verified = verified
        self.progress = progress
        self.resumed = False

    def __call__(self, url: str, output_file: str, pooch: Any = None) -> None:
        """Download a file; pooch calls this with the path of a temporary file."""
        failures, furthest = 0, self._size()
        while True:
            try:
                self._attempt(url)
                break
            except (_Broken, requests.RequestException, urllib3.exceptions.HTTPError) as error:
                failures = 0 if self._size() > furthest else failures + 1
                furthest = max(furthest, self._size())
                if failures == TRIES or isinstance(error, _HOPELESS):
                    raise self._given_up(url, error) from None
                time.sleep(PAUSE * 2**failures)
        self.part.replace(output_file)
        self.state.unlink(missing_ok=True)

    def _size(self) -> int:
        return self.part.stat().st_size if self.part.exists() else 0

    def _attempt(self, url: str) -> None:
        """Ask for what is missing, and write down what comes.

        Raises:
            _Broken: it did not end well.
        """
        have, known = self._size(), self._known(url)
        if have and have == known.get("total"):
            self.resumed = True
            return
        headers = {"Accept-Encoding": "identity", "User-Agent": "lmcourse"}
        validator = known.get("validator")
        if have and (validator or (self.verified and known)):
            headers["Range"] = f"bytes={have}-"
            if validator:
                headers["If-Range"] = validator
        with requests.get(url, headers=headers, stream=True, timeout=TIMEOUT) as response:
            start = self._start(url, response, have if "Range" in headers else 0, validator)
            total = self._note(url, response, start, validator)
            self._write(response, start, total)

    def _start(
        self, url: str, response: requests.Response, asked: int, validator: str | None
    ) -> int:
        """The byte at which the answer begins, or what there is instead of one."""
        status = response.status_code
        if status in _COME_BACK:
            raise _Broken(f"it answered {status} ({response.reason})")
        if status == 200:
            return 0
        sent = re.match(r"bytes (\d+)-", response.headers.get("Content-Range", ""))
        same = validator is None or _validator(response) in (None, validator)
        if status == 206 and asked and sent and int(sent[1]) == asked and same:
            return asked
        if status in (206, 416):
            # The rest of another file, or of none: what was there is of no use.
            self._forget()
            raise _Broken("it could not go on where the download stopped")
        raise CourseError(
            f"{url} cannot be downloaded: the server answered {status} ({response.reason}).",
            "Check the address in a browser; the file may have moved. Put it under the name "
            f"{self.path.name} into the folder {self.path.parent} if you find it elsewhere.",
        )

    def _note(
        self, url: str, response: requests.Response, start: int, validator: str | None
    ) -> int | None:
        """Write down what the answer says of the file, and return its size in bytes."""
        length = response.headers.get("Content-Length", "")
        total = start + int(length) if length.isdigit() else None
        validator = _validator(response) or (validator if start else None)
        note = {"url": url, "validator": validator, "total": total}
        if not start:
            self.part.unlink(missing_ok=True)  # what came before belongs to another download
        self.state.write_text(json.dumps(note), encoding="utf-8")
        return total

    def _write(self, response: requests.Response, start: int, total: int | None) -> None:
        self.resumed = self.resumed or start > 0
        with (
            self.part.open("ab") as file,
            streams.bar(self.path.name, total, self.progress) as show,
        ):
            # The raw bytes, since some servers call a .gz file an encoding of another file.
            # urllib3 raises if fewer come than the answer announced.
            for chunk in response.raw.stream(streams.CHUNK, decode_content=False):
                file.write(chunk)
                show(file.tell())

    def _known(self, url: str) -> dict[str, Any]:
        """What an earlier try wrote down of this address's file."""
        try:
            known = json.loads(self.state.read_text(encoding="utf-8"))
            return known if known["url"] == url else {}
        except (OSError, ValueError, TypeError, KeyError):
            return {}

    def _forget(self) -> None:
        self.part.unlink(missing_ok=True)
        self.state.unlink(missing_ok=True)
        self.resumed = False

    def _given_up(self, url: str, error: Exception) -> CourseError:
        kept = f" ({self._size():,} bytes are kept)" if self._size() else ""
        return CourseError(
            f"{url} could not be downloaded: {_reason(error)}{kept}.",
            "Check the network and run this again; it goes on where it stopped. Or download the "
            f"file in a browser and put it under the name {self.path.name} into the folder "
            f"{self.path.parent}.",
        )


_HOPELESS = (
    requests.exceptions.InvalidURL,
    requests.exceptions.InvalidSchema,
    requests.exceptions.TooManyRedirects,
)


def _validator(response: requests.Response) -> str | None:
    """What tells whether a file is still the same: a strong ETag, or the time of its last change.

    RFC 9110, section 13.1.5: a weak ETag may not be used to put pieces together.
    """
    tag: str | None = response.headers.get("ETag")
    if tag is not None and not tag.startswith("W/"):
        return tag
    return response.headers.get("Last-Modified")


def _reason(error: Exception) -> str:
    """Why a try failed, in words."""
    if isinstance(error, _Broken):
        return str(error)
    if isinstance(error, requests.exceptions.SSLError):
        return "the server's certificate could not be verified"
    if isinstance(error, requests.Timeout | urllib3.exceptions.TimeoutError):
        return "the server did not answer in time"
    if isinstance(error, requests.ConnectionError):
        return "the server cannot be reached"
    if isinstance(error, urllib3.exceptions.HTTPError):
        return "the connection broke"
    return f"{type(error).__name__}: {error}"
