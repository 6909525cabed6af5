"""Real English without a download: the language reference that every CPython includes.

``pydoc_data.topics`` is what ``help("assert")`` prints, about 0.4 million characters of technical
English. It differs from one Python version to the next, and a distribution may leave it out, so no
expected number may depend on it.
"""

import importlib
import os
import re
from collections.abc import Iterator
from pathlib import Path

from lmcourse.errors import CourseError
from lmcourse.files import expanded

_TABLE = re.compile(r"^\s*[+|].*[+|]\s*$")  # a row or a rule of an ASCII table
_UNDERLINE = re.compile(r"^\s*([*=\-~^\"'])\1{3,}\s*$")  # what underlines a heading

_ENOUGH = 50_000  # characters


def python_documentation(path: str | Path | None = None) -> list[str]:
    """Return the texts of the Python documentation, one per topic, without tables and repetitions.

    Many topics quote others. Only the first copy of a paragraph is kept, since text in both the
    training and the held-out part would make a model look better than it is.

    Args:
        path: a UTF-8 text file to read instead, cut into some 60 documents, at blank lines if
            possible; default: ``LMCOURSE_TEXT``.

    Raises:
        CourseError: this Python carries no documentation, or the file cannot be read.
    """
    path = path or os.environ.get("LMCOURSE_TEXT")
    texts = _read_file(expanded(path)) if path else _read_topics()
    seen: set[str] = set()
    documents = ["\n\n".join(_new_paragraphs(text, seen)) for text in texts]
    documents = [document for document in documents if document]
    if sum(map(len, documents)) < _ENOUGH:
        raise CourseError(
            f"{path or 'The documentation'} has less than {_ENOUGH:,} characters, repeated "
            "paragraphs counted once.",
            "That is too little to learn from: set LMCOURSE_TEXT to a longer UTF-8 text file.",
        )
    return documents


def _read_topics() -> list[str]:
    try:
        topics = importlib.import_module("pydoc_data.topics").topics
    except (ImportError, AttributeError):
        raise CourseError(
            "This Python carries no documentation text (the module pydoc_data.topics is missing).",
            "Set LMCOURSE_TEXT to the path of any longer UTF-8 text file, or use a Python that has "
            "it: python.org's, conda's, or Debian's package python3 (not python3-minimal).",
        ) from None
    return [topics[name] for name in sorted(topics)]


def _read_file(path: Path, parts: int = 60) -> list[str]:
    """A file's paragraphs, gathered to some 60 documents of about the same length."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CourseError(
            f"The text file {str(path)!r} cannot be read ({error}).",
            "Give the path of a plain text file in UTF-8, or remove LMCOURSE_TEXT.",
        ) from None
    documents = [""]
    for piece in _pieces(text, longest=max(1, len(text) // (2 * parts))):
        documents[-1] += piece
        if len(documents[-1]) * parts >= len(text):
            documents.append("")
    return documents


def _pieces(text: str, longest: int) -> Iterator[str]:
    """Cut a text after its blank lines; after line ends, or anywhere, where none comes in time."""
    for paragraph in re.findall(r"(?s).+?(?:\n\s*\n|\Z)", text):
        if len(paragraph) <= longest:
            yield paragraph
            continue
        for line in paragraph.splitlines(keepends=True):
            for start in range(0, len(line), longest):
                yield line[start : start + longest]


def _new_paragraphs(text: str, seen: set[str]) -> list[str]:
    """The paragraphs of a text that are not in ``seen``, and add them to it."""
    lines = [
        line.rstrip()
        for line in text.replace("\t", "    ").splitlines()
        if not _TABLE.match(line) and not _UNDERLINE.match(line)
    ]
    paragraphs = []
    for paragraph in re.split(r"\n{2,}", "\n".join(lines)):
        key = " ".join(paragraph.split())
        if key and key not in seen:
            seen.add(key)
            paragraphs.append(paragraph.strip("\n"))
    return paragraphs
