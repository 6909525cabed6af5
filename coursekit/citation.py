"""How the course is cited, read from CITATION.cff."""

import re
from typing import TYPE_CHECKING, Any

from coursekit import course
from lmcourse.errors import CourseError

if TYPE_CHECKING:
    from coursekit.repository import Repository

FILE = "CITATION.cff"
_FIELDS = ("title", "authors", "version", "date-released")


def read() -> dict[str, Any]:
    """Read CITATION.cff.

    Raises:
        CourseError: it cannot be read, or a field is missing.
    """
    import yaml

    try:
        found = yaml.safe_load(course.read_text(course.root() / FILE))
        missing = [name for name in _FIELDS if not found.get(name)]
    except (yaml.YAMLError, AttributeError) as error:
        raise CourseError(
            f"{FILE} is not a citation file: {' '.join(str(error).split())}.",
            f"Restore it, for example with `git checkout {FILE}`, or fix the line.",
        ) from error
    if missing:
        raise CourseError(
            f"{FILE} has no {' and no '.join(missing)}.", "Write it as `name: value`."
        )
    return found


def authors() -> list[str]:
    """Return the names of the authors, as a title page has them."""
    return [
        each.get("name") or f"{each['given-names']} {each['family-names']}"
        for each in read()["authors"]
    ]


def bibtex(repository: "Repository | None") -> str:
    """Return the course's entry for a BibTeX file."""
    cited = read()
    authors = " and ".join(
        f"{{{each['name']}}}"
        if "name" in each
        else f"{each['family-names']}, {each['given-names']}"
        for each in cited["authors"]
    )
    fields = {
        "author": authors,
        "title": re.sub(r"\b([A-Z]\w*[A-Z]\w*)", r"{\1}", cited["title"]),
        "year": str(cited["date-released"])[:4],
        "version": str(cited["version"]),
        **({"url": repository.url} if repository else {}),
    }
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items()]
    return "\n".join(["@software{lmcourse,", *lines, "}"])
