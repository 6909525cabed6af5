"""The course's bibliography, ``references.bib``."""

import re
from pathlib import Path

from lmcourse.checkout import read_text, shared
from lmcourse.errors import CourseError

_ENTRY = re.compile(r"@\w+\{(?P<key>[^,\s]+),(?P<fields>.*?)\n\}", re.DOTALL)
_FIELD = re.compile(r"(?P<name>\w+)\s*=\s*\{(?P<value>[^{}]*)\}")


def read_references(path: Path) -> dict[str, dict[str, str]]:
    """Read ``references.bib``: by key, the fields of each entry."""
    entries = {}
    for entry in _ENTRY.finditer(read_text(path)):
        fields = {
            field["name"].lower(): field["value"] for field in _FIELD.finditer(entry["fields"])
        }
        missing = [name for name in ("author", "title", "year") if not fields.get(name)]
        if missing:
            raise CourseError(
                f"The entry {entry['key']} of {path.name} has no {' and no '.join(missing)}.",
                "Write each field as `name = {value}`, with no braces inside.",
            )
        entries[entry["key"]] = fields
    return entries


def authors_of(entry: dict[str, str]) -> str:
    """Who wrote it, as in a text: one or two family names, or the first of more."""
    names = [author.split(",")[0].strip() for author in entry["author"].split(" and ")]
    return f"{names[0]} et al." if len(names) > 2 else " and ".join(names)


def named(key: str) -> str:
    """Return authors and year of an entry, as in a caption.

    Raises:
        CourseError: ``references.bib`` has no such entry.
    """
    entries = read_references(shared("references.bib"))
    if key not in entries:
        raise CourseError(
            f"references.bib has no entry {key!r}.", "Add it, or use the key of another entry."
        )
    return f"{authors_of(entries[key])}, {entries[key]['year']}"
