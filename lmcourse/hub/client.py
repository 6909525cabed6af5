"""Requests to the Hugging Face hub through `huggingface_hub`: which responses are accepted.

That library makes paths from two headers, a file's ETag and its commit, and reads as much and for
as long as a server sends; a server at ``HF_ENDPOINT`` may be anyone's. So headers that are not
digests are removed here, and a response that is too long or too slow is closed.
"""

import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from logging import CRITICAL
from pathlib import Path
from typing import Any

from lmcourse import files
from lmcourse.errors import CourseError

COMMIT = re.compile("[0-9a-f]{40}")
DIGEST = re.compile("[0-9a-f]{40}|[0-9a-f]{64}")  # git's SHA-1, or SHA-256
_ETAG, _NEVER = re.compile(f'(W/)?"?({DIGEST.pattern})"?'), re.compile("(?!)")
HEADERS = {
    "ETag": _ETAG,
    "X-Linked-Etag": _ETAG,
    "X-Repo-Commit": COMMIT,
    "Retry-After": re.compile("[0-9]"),  # seconds; the library waits for as long as it says
    "RateLimit": _NEVER,  # likewise
    "X-Xet-Hash": _NEVER,  # without it, files come over plain HTTP, through these checks
    "Content-Encoding": _NEVER,  # none is requested; compressed, a few bytes may be gigabytes
}
"""The headers that `huggingface_hub` relies on, and the form that each must have."""
SLOWEST, PATIENCE = 1000, 30  # bytes per second on average, measured after so many seconds
ELSEWHERE = "Set LMCOURSE_CACHE to a folder of yours with enough space."


class Unreachable(Exception):
    """The hub cannot be reached, or does not answer as it should."""


def endpoint() -> str:
    """The hub's address: ``HF_ENDPOINT``, or huggingface.co."""
    return os.environ.get("HF_ENDPOINT", "").rstrip("/") or "https://huggingface.co"


class _Limited:
    """A backend of httpcore, or a connection of it, for a server that sends too much or too slowly.

    The library's timeouts begin anew with each byte and each of its retries; here the time counts
    from the request, so that it also limits the head of a response. ``left`` is the number of bytes
    that all connections together may still receive.
    """

    def __init__(self, wrapped: Any, left: list[int]) -> None:
        self.wrapped, self.left, self.start, self.received = wrapped, left, 0.0, 0

    def __getattr__(self, name: str) -> Any:  # close, get_extra_info, sleep
        return getattr(self.wrapped, name)

    def connect_tcp(self, *args: Any, **options: Any) -> "_Limited":
        return _Limited(self._timed(self.wrapped.connect_tcp, *args, **options), self.left)

    def start_tls(self, *args: Any, **options: Any) -> "_Limited":
        return _Limited(self._timed(self.wrapped.start_tls, *args, **options), self.left)

    def write(self, *args: Any, **options: Any) -> None:
        self.start, self.received = time.monotonic(), 0
        self.wrapped.write(*args, **options)

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        data: bytes = self._timed(self.wrapped.read, max_bytes, timeout=PATIENCE)
        self.received, seconds = self.received + len(data), time.monotonic() - self.start
        self.left[0] -= len(data)
        if self.left[0] < 0:
            raise Unreachable(f"{endpoint()} sends more than it announced")
        if seconds > PATIENCE and self.received < seconds * SLOWEST:
            raise Unreachable(f"{endpoint()} sent {self.received:,} bytes in {seconds:.0f} s")
        return data

    def _timed(self, function: Any, *args: Any, **options: Any) -> Any:
        import httpcore2

        try:
            return function(*args, **options)
        except httpcore2.TimeoutException as error:
            raise Unreachable(f"{endpoint()} does not answer") from error


@contextmanager
def checked(address: Any, allowed: int = 2**26) -> Iterator[None]:
    """Check every response in the ``with`` block, and translate the library's errors.

    Args:
        address: the repository, for the messages.
        allowed: the number of bytes that all responses may have together.

    Raises:
        Unreachable: a network error; the request may succeed later.
        CourseError: the hub refuses the request, or the disk is full.
    """
    import httpx2
    from huggingface_hub import errors, logging, set_client_factory
    from huggingface_hub.utils import _http

    def check(response: Any) -> None:
        for name, form in HEADERS.items():
            if not form.fullmatch(response.headers.get(name, "")):
                response.headers.pop(name, None)

    def client() -> Any:
        made = factory()
        made.headers["Accept-Encoding"] = "identity"
        made.event_hooks["response"].append(check)
        transports: list[Any] = [made._transport, *made._mounts.values()]
        for transport in filter(None, transports):
            transport._pool._network_backend = _Limited(transport._pool._network_backend, left)
        return made

    left = [allowed]
    factory, level = _http._GLOBAL_CLIENT_FACTORY, logging.get_verbosity()
    set_client_factory(client)
    logging.set_verbosity(CRITICAL)
    try:
        yield
    except (httpx2.UnsupportedProtocol, httpx2.InvalidURL, httpx2.TooManyRedirects) as error:
        raise CourseError(
            f"{endpoint()} redirects {address} to an address that cannot be opened: {error}",
            "Set HF_ENDPOINT to the hub's address, https://huggingface.co, or remove it.",
        ) from error
    except (httpx2.RequestError, errors.OfflineModeIsEnabled) as error:
        raise Unreachable(f"{endpoint()} cannot be reached ({error})") from error
    except errors.HfHubHTTPError as error:
        raise _refusal(address, error) from error
    except OSError as error:
        if error.errno is None:  # the library's own, about metadata or bytes
            why = _line(error.__cause__ or error)
            raise Unreachable(f"{endpoint()} sends no complete file ({why})") from error
        raise files.trouble(error, Path(error.filename or "the cache"), ELSEWHERE) from error
    except (ValueError, TypeError, KeyError, AssertionError) as error:  # not the hub's JSON
        raise Unreachable(f"{endpoint()} does not answer as the hub does") from error
    finally:
        logging.set_verbosity(level)
        set_client_factory(factory)


def _refusal(address: Any, error: Any) -> Exception:
    """The exception for a response with an error status."""
    from huggingface_hub import errors

    status, page = error.response.status_code, f"{endpoint()}/{address.repository}"
    if status >= 500 or status in (408, 425, 429):
        return Unreachable(f"{endpoint()} answers {status} ({error.response.reason_phrase})")
    login = "Log in with `hf auth login`, or set HF_TOKEN."
    if isinstance(error, errors.GatedRepoError):
        cause = f"{address} is open only to those who accepted its terms."
        return CourseError(cause, f"Read and accept them at {page}. {login}")
    if isinstance(error, errors.RevisionNotFoundError):
        cause = f"{address.repository} has no revision {address.revision!r}."
        return CourseError(cause, f"Its branches, tags and commits are at {page}/tree/main.")
    if isinstance(error, errors.RepositoryNotFoundError):
        cause = f"{endpoint()} has no model {address.repository!r}, or does not show it to you, "
        return CourseError(
            f"{cause}and there is no such file or folder here.",
            f"Check the name; hub.shipped() lists the course's own. For a private model: {login}",
        )
    cause = f"{endpoint()} refuses {address}: it answers {status} ({_line(error)})."
    return CourseError(cause, f"Open {page} in a browser; your token may have expired. {login}")


def _line(error: BaseException) -> str:
    return str(error).strip().split("\n")[0]
