"""What was downloaded once: where it is, and whether it still is what it was.

Files lie where the `huggingface_hub` library keeps them, so `transformers` finds what we
downloaded and we find what it did. What it does not note is noted here, per repository and
revision: the commit, and each file's size and digest. So a model that was loaded once is there
without a network, and stays the same until an update is asked for.
"""

import os
import sys
from pathlib import Path
from urllib.parse import quote, unquote

import msgspec

from lmcourse import files
from lmcourse.corpus.download import cache_folder
from lmcourse.errors import CourseError
from lmcourse.hub.parts import CONFIG, LARGEST_TEXT, Parts, find_parts
from lmcourse.hub.repository import COMMIT, Address, Unreachable, ask, download, endpoint
from lmcourse.hub.verified import Entry, Listing, is_whole, named

ELSEWHERE = "Set LMCOURSE_CACHE to a folder of your own with enough space, and run this again."


class _Lacking(Exception):
    """A file is not here, or is damaged."""


def places() -> list[Path]:
    """Where downloaded files may be; the first is where new ones go."""
    from huggingface_hub import constants

    shared = Path(constants.HF_HUB_CACHE)
    return [cache_folder() / "hub", shared] if os.environ.get("LMCOURSE_CACHE") else [shared]


def parts_of(
    address: Address, *, offline: bool = False, update: bool = False, progress: bool = True
) -> tuple[Parts, str]:
    """The files of a model on the hub, each held against its digest, and their commit.

    Args:
        offline: make no request.
        update: ask whether there is a newer commit.
        progress: show a bar while something is downloaded.

    Raises:
        CourseError: it is not here and cannot be had; it is no model, or has only a pickle.
    """
    known = _noted(address)
    if known and not update:
        try:
            return _here(address, known), known.commit
        except _Lacking as error:
            if not offline:
                _say(f"{error}; it is downloaded again.")
    if not offline:
        try:
            return _from_hub(address, ask(address), progress)
        except Unreachable as error:
            reason = f"{error}"
    else:
        reason = "it was asked to do without a network"
    return _without_network(address, known, reason)


def _from_hub(address: Address, listing: Listing, progress: bool) -> tuple[Parts, str]:
    used: dict[str, Entry] = {}

    def get(name: str) -> Path:
        entry = used[name] = listing.files[name]
        if entry.size > LARGEST_TEXT and not name.endswith(".safetensors"):
            raise CourseError(
                f"{name} of {address} has {entry.size:,} bytes, as no such file has.",
                "Load another repository.",
            )
        return _fetched(address, listing, name, progress)

    found = find_parts(listing.files, get, str(address))
    _note(address, Listing(listing.commit, used))
    return found, listing.commit


def _fetched(address: Address, listing: Listing, name: str, progress: bool) -> Path:
    """A file that is here, or is downloaded now; it is what the hub said that it is."""
    entry, place, damaged = listing.files[name], places()[0], False
    for path in _candidates(address, listing.commit, name):
        if is_whole(path, entry):
            return path
        damaged = True
    path = download(address, listing, name, place, again=damaged, progress=progress)
    if not is_whole(path, entry):
        path.resolve().unlink(missing_ok=True)
        path.unlink(missing_ok=True)
        raise CourseError(
            f"{endpoint()} sent another {name} of {address} than it announced, which was removed.",
            "Try again. If it stays so, something on the way (a proxy, a page that asks you to log "
            "in) sends another file.",
        )
    return path


def _candidates(address: Address, commit: str, name: str) -> list[Path]:
    """Where a file lies, whole or not."""
    from huggingface_hub import try_to_load_from_cache

    found = (
        try_to_load_from_cache(address.repository, name, cache_dir=place, revision=commit)
        for place in places()
    )
    return [Path(path) for path in found if isinstance(path, str)]


def _here(address: Address, listing: Listing) -> Parts:
    """The files of a listing, with no request.

    Raises:
        _Lacking: one is not here, or is damaged.
    """

    def get(name: str) -> Path:
        candidates = _candidates(address, listing.commit, name)
        for path in candidates:
            if is_whole(path, listing.files[name]):
                return path
        state = "is damaged" if candidates else "is not here any more"
        raise _Lacking(f"{name} of {address} {state}")

    return find_parts(listing.files, get, str(address))


def _without_network(address: Address, known: Listing | None, reason: str) -> tuple[Parts, str]:
    """The files that an earlier call or another program downloaded.

    Raises:
        CourseError: they are not here.
    """
    listing = known or _left_by_others(address)
    why = "was never downloaded here"
    if listing is not None:
        try:
            found = _here(address, listing), listing.commit
            _say(f"{address}: {reason}; what was downloaded before is used.")
            return found
        except _Lacking as error:
            why = f"is here in part only ({error})"
    raise CourseError(
        f"{address} {why}, and {reason}. There is no such file or folder here either.",
        "Connect to a network and run this again: once it is here, none is needed. Or download the "
        f"files of {endpoint()}/{address.repository} elsewhere (config.json, model.safetensors, "
        "tokenizer.json), put them into a folder here, and load that folder by its path.",
    )


def _left_by_others(address: Address) -> Listing | None:
    """What the `transformers` library, say, downloaded of a repository.

    The name that it gives to a file's content is its digest. Where the disk knows no links, there
    is no such name, and nothing to hold a file against.
    """
    for config in _candidates(address, address.revision, CONFIG):
        found = {}
        for path in config.parent.iterdir():
            digest = named(path.readlink().name) if path.is_symlink() else None
            if digest is not None and path.is_file():
                found[path.name] = Entry(path.stat().st_size, digest)
        if COMMIT.fullmatch(config.parent.name):
            return Listing(config.parent.name, found)
    return None


def downloaded() -> dict[str, Listing]:
    """What was downloaded from the hub through `lmcourse.hub`, by what to load it as."""
    found = {}
    for path in sorted(_notes().glob("*.json")):
        listing = _read(path)
        if listing is not None:
            repository, _, revision = unquote(path.stem).rpartition("@")
            found[str(Address(repository, revision))] = listing
    return found


def _notes() -> Path:
    return cache_folder() / "models"


def _note_of(address: Address) -> Path:
    return _notes() / f"{quote(f'{address.repository}@{address.revision}', safe='@')}.json"


def _noted(address: Address) -> Listing | None:
    return _read(_note_of(address))


def _read(path: Path) -> Listing | None:
    """A note; one that is damaged is written anew when the hub is asked again."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Listing)
    except (OSError, msgspec.DecodeError, RecursionError):
        return None


def _note(address: Address, listing: Listing) -> None:
    """Write down what was downloaded; without that, the model is here all the same."""
    path = _note_of(address)
    try:
        with files.replacing(path) as file:
            file.write(msgspec.json.encode(listing))
    except OSError as error:
        told = files.trouble(error, path, ELSEWHERE)
        _say(f"{told} Until then the hub is asked again at each load of {address}.")


def _say(line: str) -> None:
    print(line, file=sys.stderr)
