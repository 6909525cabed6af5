"""Citations in a notebook: MyST's ``{cite}`` roles, written out as links.

JupyterLab renders the roles but has no bibliography, so a laid-out notebook carries the author, the
year and a link instead. The book resolves the same roles from the same ``references.bib``.
"""

import re
from collections.abc import Mapping

from lmcourse.errors import CourseError
from lmcourse.references import authors_of

_ROLE = re.compile(r"\{cite:(?P<form>[tp])\}`(?P<keys>[^`]+)`")


def write_out(text: str, references: Mapping[str, dict[str, str]], cell: str) -> str:
    """Replace the ``{cite:t}`` and ``{cite:p}`` roles of a cell's Markdown.

    Args:
        cell: its name, for the error.

    Raises:
        CourseError: a key is not in the references.
    """

    def citation(role: re.Match[str]) -> str:
        keys = [key.strip() for key in role["keys"].split(",")]
        unknown = [key for key in keys if key not in references]
        if unknown:
            raise CourseError(
                f"{cell} cites {unknown[0]!r}, which references.bib does not have.",
                "Add the entry there, or fix the key.",
            )
        parts = [_link(references[key], textual=role["form"] == "t") for key in keys]
        return ", ".join(parts) if role["form"] == "t" else f"({'; '.join(parts)})"

    return _ROLE.sub(citation, text)


def _link(entry: dict[str, str], textual: bool) -> str:
    short = authors_of(entry)
    label = f"{short} ({entry['year']})" if textual else f"{short}, {entry['year']}"
    url = f"https://doi.org/{entry['doi']}" if "doi" in entry else entry.get("url")
    return f"[{label}]({url})" if url else label
