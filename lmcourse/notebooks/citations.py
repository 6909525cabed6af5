"""Citations in a notebook: MyST's ``{cite}`` roles, written out as links.

JupyterLab renders the roles but has no bibliography, so a laid-out notebook carries the author, the
year and a link in their place. The book resolves the same roles from the same ``references.bib``.
"""

import re
from pathlib import Path

from lmcourse.course import read_text
from lmcourse.errors import CourseError

_ROLE = re.compile(r"\{cite:(?P<form>[tp])\}`(?P<keys>[^`]+)`")
_ENTRY = re.compile(r"@\w+\{(?P<key>[^,\s]+),(?P<fields>.*?)\n\}", re.DOTALL)
_FIELD = re.compile(r"(?P<name>\w+)\s*=\s*\{(?P<value>[^{}]*)\}")


def read_references(path: Path) -> dict[str, dict[str, str]]:
    """Read ``references.bib``: by key, the fields of each entry.

    Raises:
        CourseError: the file cannot be read, or an entry lacks its author or year.
    """
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


def write_out(text: str, references: dict[str, dict[str, str]], place: str) -> str:
    """Replace the ``{cite:t}`` and ``{cite:p}`` roles of a cell's Markdown.

    Args:
        place: the cell, for the error.

    Raises:
        CourseError: a key is not in the references.
    """

    def citation(role: re.Match[str]) -> str:
        keys = [key.strip() for key in role["keys"].split(",")]
        unknown = [key for key in keys if key not in references]
        if unknown:
            raise CourseError(
                f"{place} cites {unknown[0]!r}, which references.bib does not have.",
                "Add the entry there, or mend the key.",
            )
        parts = [_link(references[key], textual=role["form"] == "t") for key in keys]
        return ", ".join(parts) if role["form"] == "t" else f"({'; '.join(parts)})"

    return _ROLE.sub(citation, text)


def authors_of(entry: dict[str, str]) -> str:
    """Who wrote it, as in a text: one or two family names, or the first of more."""
    names = [author.split(",")[0].strip() for author in entry["author"].split(" and ")]
    return f"{names[0]} et al." if len(names) > 2 else " and ".join(names)


def _link(entry: dict[str, str], textual: bool) -> str:
    short = authors_of(entry)
    label = f"{short} ({entry['year']})" if textual else f"{short}, {entry['year']}"
    url = f"https://doi.org/{entry['doi']}" if "doi" in entry else entry.get("url")
    return f"[{label}]({url})" if url else label
