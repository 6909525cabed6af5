"""Repositories on the Hugging Face hub, downloaded once.

Files are where `huggingface_hub` keeps them, so `transformers` and the course share them. A note
of the course's own, per repository and revision, has the commit and each file's size and digest:
a model that was loaded once needs no network, and stays the same version.
"""

import hashlib
import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, unquote

import msgspec

from lmcourse import files
from lmcourse.errors import CourseError
from lmcourse.files import cache_folder
from lmcourse.hub.client import COMMIT, DIGEST, ELSEWHERE, Unreachable, checked, endpoint
from lmcourse.hub.contents import CONFIG, needed

LARGEST_TEXT = 2**26  # bytes; the largest tokenizer.json in use has half of that


class Listing(msgspec.Struct, frozen=True):
    """A commit, and the size and digest (git's SHA-1, or SHA-256) of each file."""

    commit: str
    files: dict[str, tuple[int, str]]


@dataclass(frozen=True)
class Address:
    """A repository and one of its revisions: a branch, a tag, a pull request, a commit."""

    repository: str
    revision: str = "main"

    @classmethod
    def of(cls, name: str, revision: str | None = None) -> "Address":
        """The address of ``name``, ``organization/name``, or either with ``@revision``."""
        from huggingface_hub.errors import HFValidationError
        from huggingface_hub.utils import validate_repo_id  # type: ignore[attr-defined]

        repository, at, after = name.partition("@")
        if at and revision is not None:
            raise CourseError(f"{name!r} names a revision besides {revision!r}.", "Give one.")
        revision = after if at else "main" if revision is None else revision
        try:
            validate_repo_id(repository)
        except HFValidationError:
            cause = f"{name!r} is not the name of a model, and there is no such file or folder."
            remedy = "Give a name as bert-base-uncased or organization/name, or an existing path."
            raise CourseError(cause, remedy) from None
        if ".." in revision or not re.fullmatch(r"\w[\w./-]*", revision, re.ASCII):
            remedy = 'Give a branch, a tag, a commit or a pull request ("refs/pr/1").'
            raise CourseError(f"{revision!r} is not a revision of {repository}.", remedy)
        return cls(repository, revision)

    def __str__(self) -> str:
        return self.repository + (f"@{self.revision}" if self.revision != "main" else "")


def snapshot(
    address: Address, *, offline: bool = False, update: bool = False, progress: bool = True
) -> tuple[Path, str]:
    """The folder with a model's files, each checked against its digest, and their commit.

    Args:
        offline: make no request.
        update: ask the hub for a newer commit.
        progress: show a progress bar.

    Raises:
        CourseError: the model is not in the cache and cannot be downloaded.
    """
    known = _read(_note(address))
    found = _cached(address, known) if known else None
    if known and found and not update:
        return found, known.commit
    reason = "no request was to be made"
    if not offline:
        try:
            return _download(address, progress)
        except Unreachable as error:
            reason = str(error)
    if not known:
        found = _of_other_programs(address)
    if found:
        print(f"{address}: {reason}; the cached version is used.", file=sys.stderr)
        return found, found.name
    why = "is damaged or incomplete in the cache" if known else "was never downloaded here"
    raise CourseError(
        f"{address} {why}, and {reason}. There is no such file or folder here either.",
        "Connect to a network and run this again: once it is here, none is needed. Or download the "
        f"files of {endpoint()}/{address.repository} elsewhere (config.json, model.safetensors, "
        "tokenizer.json), put them into a folder here, and load that folder by its path.",
    )


def _download(address: Address, progress: bool) -> tuple[Path, str]:
    """Ask the hub for a repository's files, and download those that are needed."""
    from huggingface_hub import HfApi

    with checked(address):
        info = HfApi(endpoint=endpoint(), library_name="lmcourse").model_info(
            address.repository, revision=address.revision, files_metadata=True, timeout=10
        )
        found = {
            each.rfilename: (
                int(each.size or 0),
                str(each.lfs.sha256 if each.lfs else each.blob_id),
            )
            for each in info.siblings or []
        }
    if not COMMIT.fullmatch(str(info.sha)):
        remedy = "Set HF_ENDPOINT to a mirror of huggingface.co, or remove it."
        raise CourseError(f"{endpoint()} names no commit of {address}.", remedy)
    listing = Listing(str(info.sha), {name: found[name] for name in needed(found, str(address))})
    for name, (size, digest) in listing.files.items():
        small = size <= LARGEST_TEXT or name.endswith(".safetensors")
        if not small or not DIGEST.fullmatch(digest):
            cause = f"{endpoint()} announces {size:,} bytes and digest {digest!r:.70} of {name}."
            raise CourseError(cause, "No such file is a model's. Load another repository.")
    folder = _cached(address, listing) or _folder(_caches()[0], address, listing.commit)
    for name in listing.files:
        _fetch(address, listing, folder / name, progress)
    try:
        with files.replacing(_note(address)) as file:
            file.write(msgspec.json.encode(listing))
    except OSError as error:  # the files are in the cache all the same
        trouble = files.trouble(error, _note(address), ELSEWHERE)
        print(f"{trouble} Until then the hub is queried again at each load.", file=sys.stderr)
    return folder, listing.commit


def _fetch(address: Address, listing: Listing, path: Path, progress: bool) -> None:
    """Download one file into the cache, unless it is there."""
    from huggingface_hub import hf_hub_download
    from huggingface_hub.utils.tqdm import silent_tqdm

    size, digest = listing.files[path.name]
    if _is_whole(path, size, digest):
        return
    with checked(address, 2 * size + 2**20):
        hf_hub_download(
            address.repository,
            path.name,
            revision=listing.commit,
            cache_dir=_caches()[0],
            endpoint=endpoint(),
            force_download=path.exists(),
            library_name="lmcourse",
            tqdm_class=None if progress else silent_tqdm,
        )
    if not _is_whole(path, size, digest):
        for each in (path.resolve(), path):
            if each.parent.resolve().is_relative_to(_caches()[0]):
                each.unlink(missing_ok=True)
        raise CourseError(
            f"{endpoint()} sent another {path.name} of {address} than announced; it was removed.",
            "Try again. If it happens again, a proxy or a login page sends other data.",
        )


def _caches() -> list[Path]:
    """The caches; the first is the one that new files go to."""
    from huggingface_hub import constants

    own = [cache_folder() / "hub"] if os.environ.get("LMCOURSE_CACHE") else []
    return [path.expanduser().resolve() for path in (*own, Path(constants.HF_HUB_CACHE))]


def _folder(cache: Path, address: Address, commit: str) -> Path:
    from huggingface_hub.file_download import repo_folder_name

    name = repo_folder_name(repo_id=address.repository, repo_type="model")
    return cache / name / "snapshots" / commit


def _cached(address: Address, listing: Listing) -> Path | None:
    """The folder in a cache that has each file with its size and digest."""
    for folder in (_folder(cache, address, listing.commit) for cache in _caches()):
        if all(_is_whole(folder / name, *entry) for name, entry in listing.files.items()):
            return folder
    return None


def _of_other_programs(address: Address) -> Path | None:
    """The folder in which another program's download is, which has no note."""
    from huggingface_hub import try_to_load_from_cache

    name, at = address.repository, address.revision
    found = (try_to_load_from_cache(name, CONFIG, cache, at) for cache in _caches())
    return next((Path(path).parent for path in found if isinstance(path, str)), None)


def _is_whole(path: Path, size: int, digest: str) -> bool:
    """Whether a file is there and has its size and digest."""
    if not path.is_file() or path.stat().st_size != size:
        return False
    git = hashlib.sha1(b"blob %d\0" % size)
    with path.open("rb") as file:
        read = hashlib.file_digest(file, "sha256" if len(digest) == 64 else git.copy)
    return read.hexdigest() == digest


def downloaded() -> dict[str, Listing]:
    """The models that `lmcourse.hub` downloaded from the hub, by the name to load each by."""
    found = {}
    for path in sorted((cache_folder() / "models").glob("*.json")):
        if listing := _read(path):
            repository, _, revision = unquote(path.stem).rpartition("@")
            found[str(Address(repository, revision))] = listing
    return found


def _note(address: Address) -> Path:
    name = quote(f"{address.repository}@{address.revision}", safe="@")
    return cache_folder() / "models" / f"{name}.json"


def _read(path: Path) -> Listing | None:
    """A note; a damaged one is written again at the next download."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Listing)
    except (OSError, msgspec.DecodeError, RecursionError):
        return None
