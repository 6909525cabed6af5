"""The course's own files: its sources, the text it reads, the student's folder and records."""

import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from lmcourse import course
from lmcourse.doctor.finding import Finding


def sources() -> Iterator[Finding]:
    """Look at the chapters and labs."""
    everything = course.sources()
    chapters = sum(source.kind == "chapter" for source in everything)
    found = f"{chapters} chapters and {len(everything) - chapters} labs in {course.root()}"
    yield Finding("course", "ok", found)


def text() -> Iterator[Finding]:
    """Look at the text that the language models learn from."""
    from lmcourse.corpus.documentation import python_documentation

    size = sum(map(len, python_documentation()))
    source = os.environ.get("LMCOURSE_TEXT") or "the documentation that this Python carries"
    yield Finding("text", "ok", f"{size:,} characters of {source}")


def workbook() -> Iterator[Finding]:
    """Look at whether the folder of the student's notebooks can be written."""
    folder = course.workbook()
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
    for name, what in (("manifest", "what was laid out"), ("progress", "what you solved")):
        path = private / f"{name}.json"
        try:
            if not isinstance(json.loads(path.read_text(encoding="utf-8")), dict):
                raise ValueError("it is no record")
        except FileNotFoundError:
            yield Finding(f"{name} file", "ok", "none yet")
        except (OSError, ValueError) as error:
            yield Finding(
                f"{name} file",
                "warning",
                f"{path} ({what}) cannot be read: {error}.",
                "The course puts it aside and starts a new one; nothing in your notebooks is lost.",
            )
        else:
            yield Finding(f"{name} file", "ok", str(path))


def existing(folder: Path) -> Path:
    """Return the folder, or the nearest one above it that exists."""
    return next(each for each in (folder, *folder.parents) if each.is_dir())
