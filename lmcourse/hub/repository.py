"""Repositories on the Hugging Face hub: what they hold, and a file of them.

Questions and downloads are the `huggingface_hub` library's: it knows the user's token, follows
redirects, goes on where a connection broke, and two processes download a file once. What it leaves
open is done here and in `lmcourse.hub.cached`: whether what came is what was announced, and what
to tell the reader.
"""

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from logging import CRITICAL
from pathlib import Path
from typing import Any

from lmcourse import files
from lmcourse.corpus import streams
from lmcourse.errors import CourseError
from lmcourse.hub.verified import Entry, Listing, named

HUB = "https://huggingface.co"
COMMIT = re.compile(r"[0-9a-f]{40}")
REVISION = re.compile(r"\w[\w.-]*(/[\w.-]+)*")
BUSY = (408, 429)  # and 500 and more: the server may answer in a while


class Unreachable(Exception):
    """The hub did not answer, or not now."""


@dataclass(frozen=True)
class Address:
    """A repository and one of its revisions: a branch, a tag, a pull request, a commit."""

    repository: str
    revision: str = "main"

    @classmethod
    def of(cls, name: str, revision: str | None = None) -> "Address":
        """The address of ``name``, ``organization/name`` or either with ``@revision``.

        Raises:
            CourseError: it is none.
        """
        from huggingface_hub.errors import HFValidationError
        from huggingface_hub.utils import validate_repo_id  # type: ignore[attr-defined]

        repository, at, behind = name.partition("@")
        if at and revision is not None:
            raise CourseError(
                f"{name!r} names a revision, and {revision!r} is another.", "Give one."
            )
        revision = behind if at else "main" if revision is None else revision
        try:
            validate_repo_id(repository)
        except HFValidationError:
            raise CourseError(
                f"{name!r} is no name of a model, and there is no such file or folder.",
                "Give a name as bert-base-uncased or organization/name, or a path that is there.",
            ) from None
        if ".." in revision or not REVISION.fullmatch(revision):
            raise CourseError(
                f"{revision!r} is no revision of {repository}.",
                'Give a branch, a tag, a commit or a pull request ("refs/pr/1").',
            )
        return cls(repository, revision)

    def __str__(self) -> str:
        return self.repository + (f"@{self.revision}" if self.revision != "main" else "")


def endpoint() -> str:
    """The hub's address: ``HF_ENDPOINT``, or huggingface.co."""
    return os.environ.get("HF_ENDPOINT", "").rstrip("/") or HUB


def ask(address: Address) -> Listing:
    """The files of a repository, with sizes and digests, and the commit that they are of.

    Raises:
        Unreachable: the hub does not answer.
        CourseError: it has no such repository or revision, or does not let this user in.
    """
    from huggingface_hub import HfApi

    with _told(address):
        info = HfApi(endpoint=endpoint(), library_name="lmcourse").model_info(
            address.repository, revision=address.revision, files_metadata=True, timeout=10
        )
    found = {}
    for one in info.siblings or []:
        digest = named(str(one.lfs.sha256 if one.lfs else one.blob_id))
        if digest is not None and isinstance(one.size, int):
            found[one.rfilename] = Entry(one.size, digest)
    if not COMMIT.fullmatch(str(info.sha)) or not found:
        raise CourseError(
            f"{endpoint()} names no commit of {address}, or no digests of its files.",
            "Set HF_ENDPOINT to a server that speaks as huggingface.co does, or remove it.",
        )
    return Listing(str(info.sha), found)


def download(
    address: Address,
    listing: Listing,
    name: str,
    place: Path,
    *,
    again: bool = False,
    progress: bool = True,
) -> Path:
    """Download a file into a cache that has the `huggingface_hub` library's layout.

    Args:
        again: even though it is there.

    Raises:
        Unreachable: the hub does not answer, or the connection broke for good.
        CourseError: more came than was announced, the file is gone, or the disk is full.
    """
    from huggingface_hub import hf_hub_download

    size = listing.files[name].size
    with _told(address, place), streams.bar(name, size, progress) as show:
        return Path(
            hf_hub_download(
                address.repository,
                name,
                revision=listing.commit,
                cache_dir=place,
                endpoint=endpoint(),
                force_download=again,
                library_name="lmcourse",
                tqdm_class=_counter(f"{name} of {address}", size, show),
            )
        )


def _counter(what: str, size: int, show: Callable[[int], None]) -> type[Any]:
    """What the library tells how far it is, in place of its own progress bar."""

    class Counter:
        def __init__(self, *_: Any, initial: int = 0, **__: Any) -> None:
            self.done = initial

        def update(self, more: int = 1) -> None:
            self.done += more
            if self.done > size:  # before it fills the disk
                raise CourseError(
                    f"{endpoint()} sends more than the {size:,} bytes that it announced of {what}.",
                    "Try again. If it stays so, something on the way (a proxy, a page that asks "
                    "you to log in) sends another file.",
                )
            show(self.done)

        def close(self, *_: Any, **__: Any) -> None:
            """There is nothing to do for this and the like: our bar is its own."""

        update_transfer = set_postfix_str = set_transfer_postfix_str = refresh = __exit__ = close

        def __enter__(self) -> "Counter":
            return self

    return Counter


@contextmanager
def _told(address: Address, place: Path | None = None) -> Iterator[None]:
    """Say in the course's words what the library raises, and nothing while it works."""
    import httpx2
    from huggingface_hub import errors, logging

    level = logging.get_verbosity()
    logging.set_verbosity(CRITICAL)
    try:
        yield
    except (httpx2.UnsupportedProtocol, httpx2.InvalidURL, httpx2.TooManyRedirects) as error:
        raise CourseError(
            f"{endpoint()} sends us on to no address of the web for {address}: {error}",
            "Set HF_ENDPOINT to the hub's address, https://huggingface.co, or remove it.",
        ) from error
    except (httpx2.RequestError, errors.OfflineModeIsEnabled) as error:
        raise Unreachable(f"{endpoint()} cannot be reached ({error})") from error
    except errors.HfHubHTTPError as error:
        raise _answered(address, error) from error
    except errors.LocalEntryNotFoundError as error:
        raise Unreachable(f"{endpoint()} cannot be reached, or sends no file") from error
    except OSError as error:
        if error.errno is None:  # the library's own, about what came
            raise Unreachable(f"what {endpoint()} sent broke off ({_short(error)})") from error
        elsewhere = "Set LMCOURSE_CACHE to a folder of your own with enough space."
        raise files.trouble(error, place or Path(), elsewhere) from error
    except (ValueError, TypeError, KeyError) as error:  # a page where an answer was expected
        raise Unreachable(f"{endpoint()} does not answer as the hub does") from error
    finally:
        logging.set_verbosity(level)


def _answered(address: Address, error: Any) -> Exception:
    """What an answer means that is no success."""
    from huggingface_hub import errors

    status, host = error.response.status_code, endpoint()
    page = f"{host}/{address.repository}"
    login = "`hf auth login`, or HF_TOKEN, says who you are"
    if isinstance(error, errors.GatedRepoError):
        return CourseError(
            f"{address} is open only to those who accepted its terms.",
            f"Read and accept them at {page}; then {login}.",
        )
    if isinstance(error, errors.RevisionNotFoundError):
        return CourseError(
            f"{address.repository} has no revision {address.revision!r}.",
            f"Its branches, tags and commits are at {page}/tree/main.",
        )
    if isinstance(error, errors.RepositoryNotFoundError):
        return CourseError(
            f"{host} has no model {address.repository!r}, or does not show it to you, and there is "
            "no such file or folder here.",
            f"Check the name at {host}/models; hub.shipped() names what comes with the course. "
            f"For a private one, {login}.",
        )
    if status >= 500 or status in BUSY:
        return Unreachable(f"{host} answers {status} ({error.response.reason_phrase})")
    return CourseError(
        f"{host} does not give {address}: it answers {status} ({_short(error)}).",
        f"Open {page} in a browser, and see whether your token is still good: {login}."
        if status in (401, 403)
        else f"Open {page} in a browser; its files may have been moved.",
    )


def _short(error: Exception) -> str:
    return str(error).strip().split("\n")[0]
