"""The page on which JupyterLab opens: ``START.md`` in the workbook."""

import hashlib
from collections.abc import Sequence
from urllib.parse import quote

from coursekit import course
from coursekit.notebooks import files
from coursekit.notebooks.glossary import QUESTION, TITLE
from coursekit.notebooks.workbook import GLOSSARY, Report, product_name
from lmcourse.errors import CourseError

NAME = "START.md"
_SEAL = "\n<!-- lmcourse {} -->\n"  # not shown; by its digest we know the page from an edited one

_TOP = """\
# Neural language models

Open a chapter below and run its cells from top to bottom with **Shift + Enter**; then do its lab.
"""

_GLOSSARY = f"""\
## Terms

- **[{TITLE}]({GLOSSARY})** · *{QUESTION}*
"""

_BOTTOM = """\
## Good to know

- **Your edits are yours.** What you changed is never overwritten. If the course has a newer
  version of a notebook that you changed, it is saved next to yours, and this page links to it. A
  notebook that you only ran is updated; the old one, with its outputs, is kept in the workbook's
  hidden folder `.lmcourse/replaced`.
- **A fresh copy:** rename or delete the notebook, then start the course again the way you started
  it before (`make lab`, or `lmcourse workbook` for another editor).
- **Will it run here?** Type `make doctor` where you typed `make lab`, or run `!lmcourse doctor` in
  a notebook's cell. It reports problems, and how to fix them.
- **What you have solved** is counted on this page: at each start and, while `make lab` runs, at
  each solved exercise. Reload the browser page to see the latest count.
"""


def write(report: Report) -> bool:
    """Write ``START.md`` into a workbook just laid out; return whether it changed.

    A page that the student edited is first moved to ``START.yours-1.md``.

    Raises:
        CourseError: the page cannot be written.
    """
    path = report.folder / NAME
    data = _sealed(page(report)).encode("utf-8")
    try:
        found = path.read_bytes() if path.exists() else None
    except OSError as error:
        raise files.trouble(error, path) from error
    if found == data:
        return False
    if found is not None and not _is_ours(found):
        files.move_aside(path, "START.yours-{}.md")
    files.write(path, data)
    return True


def page(report: Report) -> str:
    """Write the page's text, in CommonMark: chapters, progress, widgets, notices, help."""
    solved = _solved(report)
    notices = _notices(report)
    everything = course.sources()
    numbers = sorted({source.number for source in everything if source.number})
    widgets = [source for source in everything if source.kind == "widget"]
    parts = [
        _TOP,
        "\n".join(["## Please note", "", *(f"- {notice}" for notice in notices), ""])
        if notices
        else "",
        *(_section(number, solved) for number in numbers),
        _gallery(widgets) if widgets else "",
        _GLOSSARY if (report.folder / GLOSSARY).exists() else "",
        _BOTTOM,
    ]
    return "\n".join(part for part in parts if part)


def _section(number: str, solved: set[str]) -> str:
    """Write one chapter's lines: title, question, links, minutes, progress."""
    chosen = {source.kind: source for source in course.select(number)}
    first = chosen.get("chapter") or chosen["lab"]
    lines = [f"## {number} · {first.title}", ""]
    if first.question:
        lines += [f"*{first.question}*", ""]
    for source in chosen.values():
        link = _link(product_name(source), source.label)
        facts = [source.duration] if source.duration else []
        if source.kind == "lab":
            facts += _progress(number, solved)
        lines.append(f"- **{link}**" + "".join(f" · {fact}" for fact in facts))
    return "\n".join([*lines, ""])


def _gallery(pages: Sequence[course.Source]) -> str:
    """Write the list of the widgets' pages in the book's order, each with its question."""
    from coursekit import outline

    try:
        listed = [page.slug for part in outline.read() for page in part.gallery]
    except CourseError:  # to mend it is not the student's task
        listed = []
    lines = ["## Widgets", "", "Interactive figures, each on its own page.", ""]
    for page in sorted(pages, key=lambda it: [*listed, it.slug].index(it.slug)):
        question = f" · *{page.question}*" if page.question else ""
        lines.append(f"- **{_link(product_name(page), page.title)}**{question}")
    return "\n".join([*lines, ""])


def _progress(number: str, solved: set[str]) -> list[str]:
    """Say how many of a lab's exercises are solved; nothing if the lab has none yet."""
    from lmcourse import labs

    try:
        names = [exercise.slug for exercise in labs.exercises(number)]
    except CourseError:  # a lab that has no checks yet
        return []
    if not names:
        return []
    done = len(solved.intersection(names))
    return [f"{done} of {len(names)} exercises solved" + (" ✓" if done == len(names) else "")]


def _solved(report: Report) -> set[str]:
    """Return the slugs of the exercises that are solved; what is wrong goes to the notices."""
    from lmcourse.labs import progress

    records = progress.read(report.folder, tell=report.notices.append)
    return {slug for slug, record in records.items() if record.solved}


def _notices(report: Report) -> list[str]:
    """Say what became of files that the student edited or that cannot be read."""
    notices = list(report.notices)
    for name in report.broken:
        fresh = (
            f"A fresh copy is next to it: {_link(report.updates[name])}."
            if name in report.updates
            else "To get a fresh copy, delete or rename it and start the course again."
        )
        notices.append(f"{_link(name)} cannot be read and was not changed. {fresh}")
    for name, copy in report.updates.items():
        if name not in report.broken:
            notices.append(
                f"{_link(name)} contains your edits and was not changed. The course has a newer "
                f"version, {_link(copy)}: copy what you need from it, or delete one of the two."
            )
    return notices


def _link(name: str, text: str | None = None) -> str:
    return f"[{text or name}]({quote(name)})"


def _sealed(text: str) -> str:
    return text + _SEAL.format(_digest(text))


def _is_ours(data: bytes) -> bool:
    """Whether a page on disk is as we wrote it, whenever that was."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    seal = text.rfind(_SEAL.split("{")[0])
    return seal >= 0 and _sealed(text[:seal]) == text


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
