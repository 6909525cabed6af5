"""The course's own files: its sources, the text it reads, the student's folder and records."""

import json
import os
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from coursekit import course
from coursekit.doctor.finding import Finding, Status
from coursekit.notebooks.workbook import refuse_taken


def sources() -> Iterator[Finding]:
    """Look at the chapters, labs and widgets."""
    kinds = Counter(source.kind for source in course.sources())
    chapters, labs, widgets = (_count(kinds[kind], kind) for kind in course.FOLDERS)
    found = f"{chapters}, {labs} and {widgets} in {course.root()}"
    yield Finding("course", "ok", found)


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def text() -> Iterator[Finding]:
    """Look at the text that the language models learn from."""
    from lmcourse.corpus.documentation import python_documentation

    size = sum(map(len, python_documentation()))
    source = os.environ.get("LMCOURSE_TEXT") or "the documentation that this Python carries"
    yield Finding("text", "ok", f"{size:,} characters of {source}")


def workbook() -> Iterator[Finding]:
    """Look at whether the folder of the student's notebooks may be there and can be written."""
    folder = course.workbook()
    refuse_taken(folder)
    try:
        if folder.exists() and not folder.is_dir():
            raise NotADirectoryError("it is a file")
        # To try is the only answer that holds: permissions say little as root and on Windows.
        with tempfile.TemporaryFile(dir=existing(folder)):
            pass
    except OSError as error:
        yield Finding(
            "workbook",
            "problem",
            f"The folder of your notebooks, {folder}, cannot be written "
            f"({error.strerror or error}).",
            "Give yourself the right to write there, or name another folder with "
            "LMCOURSE_WORKBOOK=path.",
        )
        return
    state = "" if folder.is_dir() else ", which `make lab` will make"
    yield Finding("workbook", "ok", f"{folder}{state}")


def records() -> Iterator[Finding]:
    """Look at the files in which the course keeps its notes about the workbook."""
    private = course.workbook() / ".lmcourse"
    for name, what, judge in (
        ("manifest", "what was laid out", _manifest),
        ("progress", "what you solved", _progress),
    ):
        path = private / f"{name}.json"
        try:
            status, found, remedy = judge(path.read_bytes())
        except FileNotFoundError:
            yield Finding(f"{name} file", "ok", "none yet")
        except OSError as error:
            yield Finding(
                f"{name} file",
                "warning",
                f"{path} ({what}) cannot be read ({error.strerror or error}).",
                "Give yourself the right to read and write it.",
            )
        else:
            said = f"{path} ({what}) {found}" if found else str(path)
            yield Finding(f"{name} file", status, said, remedy)


_Judgement = tuple[Status, str, str]  # the status, what is wrong, and the remedy
_WELL: _Judgement = ("ok", "", "")
_NEWER: _Judgement = (
    "warning",
    "was written by a newer version of the course.",
    "Update the course, or take the newer one for this workbook.",
)
_DAMAGED: _Judgement = (
    "warning",
    "is damaged.",
    "The course keeps it under another name and starts a new one; your notebooks are unaffected.",
)


def _progress(data: bytes) -> _Judgement:
    from lmcourse.labs import progress

    try:
        progress.parse(data)
    except progress.Newer:
        return _NEWER
    except progress.Damaged:
        return _DAMAGED
    return _WELL


def _manifest(data: bytes) -> _Judgement:
    from coursekit.notebooks import manifest

    if manifest._parse(data) is not None:
        return _WELL
    try:  # to the course, a later version's manifest is a damaged one
        version = json.loads(data)["version"]
    except (ValueError, RecursionError, TypeError, KeyError):
        return _DAMAGED
    return _NEWER if type(version) is int and version > manifest.VERSION else _DAMAGED


def existing(folder: Path) -> Path:
    """Return the folder, or the nearest one above it that exists."""
    return next(each for each in (folder, *folder.parents) if each.is_dir())
