"""The record of what was laid out in a workbook, by which a student's edits are recognized."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from coursekit.notebooks import files

VERSION = 1


@dataclass
class Entry:
    """What is known of one laid-out file; digests are of its content (`contents.of_file`)."""

    laid: str | None = None  # what we last wrote under this name; None: unknown
    offered: str | None = None  # the newer version that was put beside the student's edited file
    copy: str | None = None  # under which name, relative to the workbook


class Manifest:
    """The entries by file name, relative to the workbook and with ``/``."""

    def __init__(self, private: Path) -> None:
        self.path = private / "manifest.json"
        self.entries: dict[str, Entry] = {}
        self.notice: str | None = None

    @classmethod
    def read(cls, private: Path) -> "Manifest":
        """Read ``manifest.json``; a corrupt one is moved aside, and `notice` says so.

        Raises:
            CourseError: the file is there but cannot be read or moved.
        """
        manifest = cls(private)
        try:
            text = manifest.path.read_bytes()
        except FileNotFoundError:
            return manifest
        except OSError as error:
            raise files.trouble(error, manifest.path) from error
        entries = _parse(text)
        if entries is not None:
            manifest.entries = entries
            return manifest
        aside = files.move_aside(manifest.path, "manifest.corrupt-{}.json")
        manifest.notice = (
            f"The record of written files could not be read and is now "
            f"`{private.name}/{aside.name}`; every file that differs from the course's version is "
            "therefore taken as yours and left alone."
        )
        return manifest

    def entry(self, name: str) -> Entry:
        """Return the entry of a file, a new one if there is none."""
        return self.entries.setdefault(name, Entry())

    def write(self) -> None:
        """Write ``manifest.json`` if it would change.

        Raises:
            CourseError: it cannot be written.
        """
        known = {name: asdict(entry) for name, entry in sorted(self.entries.items())}
        text = json.dumps({"version": VERSION, "files": known}, indent=1, ensure_ascii=False) + "\n"
        data = text.encode("utf-8")
        if not self.path.exists() or self.path.read_bytes() != data:
            files.write(self.path, data)


def _parse(text: bytes) -> dict[str, Entry] | None:
    """Return the entries, or None if the text is no manifest."""
    try:
        data = json.loads(text)
        if data["version"] != VERSION:
            return None
        json.dumps(data, ensure_ascii=False).encode()  # fails for half of a surrogate pair
        entries = {str(name): Entry(**fields) for name, fields in data["files"].items()}
    except (ValueError, RecursionError, TypeError, KeyError, AttributeError):
        return None
    values = [value for entry in entries.values() for value in asdict(entry).values()]
    return entries if all(value is None or isinstance(value, str) for value in values) else None
