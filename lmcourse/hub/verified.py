"""What a file must be: its size and digest, as the Hugging Face hub tells them.

Files that git itself holds there are named by git's digest, SHA-1 over a short header and the
content; large ones, such as weights, by their SHA-256.
"""

import hashlib
import re
from pathlib import Path

import msgspec

KINDS = {64: "sha256", 40: "git-sha1"}
"""Which digest it is, by the number of its hexadecimal digits."""
CHUNK = 1 << 20


class Entry(msgspec.Struct, frozen=True):
    """A file's size in bytes, and its digest behind what kind it is: ``sha256:…``."""

    size: int
    digest: str


class Listing(msgspec.Struct, frozen=True):
    """The files of a repository at one commit."""

    commit: str
    files: dict[str, Entry]


def named(digest: str) -> str | None:
    """A digest with its kind; None if it is none."""
    hexadecimal = re.fullmatch("[0-9a-f]+", digest) is not None
    return f"{KINDS[len(digest)]}:{digest}" if hexadecimal and len(digest) in KINDS else None


def is_whole(path: Path, entry: Entry) -> bool:
    """Whether a file is there and has its size and digest."""
    if not path.is_file() or path.stat().st_size != entry.size:
        return False
    kind, _, wanted = entry.digest.partition(":")
    found = hashlib.sha256() if kind == "sha256" else hashlib.sha1(b"blob %d\0" % entry.size)
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            found.update(chunk)
    return found.hexdigest() == wanted
