"""What is recorded of the runs, in ``data/brown``: the results; a page and a table made of them."""

from pathlib import Path

import msgspec

from lmcourse import checkout, files
from lmcourse.errors import CourseError
from lmcourse.findings.language_models import FILE
from research.brown.page import page
from research.brown.results import Record
from research.brown.table import table
from research.brown.text import Text

RESULTS, PAGE, TABLE = "results.json", "README.md", Path(FILE).name
ELSEWHERE = "Make the checkout writable, or work in a checkout of your own."


def home() -> Path:
    """Where runs are: ``_build/brown``."""
    return checkout.products() / "brown"


def shelf() -> Path:
    """Where results are: ``data/brown``."""
    return checkout.root() / "data" / "brown"


def record_of(text: Text, folder: Path) -> Record:
    """The results on a text; those on another text do not count.

    Raises:
        CourseError: the file cannot be read.
    """
    found = read(folder)
    return found if found is not None and found.text == text.digest else Record.of(text)


def read(folder: Path) -> Record | None:
    """The record in a folder, if there is one.

    Raises:
        CourseError: the file cannot be read.
    """
    path = folder / RESULTS
    try:
        return msgspec.json.decode(path.read_bytes(), type=Record)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.DecodeError) as error:
        raise CourseError(
            f"The results {path} cannot be read: {error}.",
            f"Restore the file (git checkout -- {path}), or move it away.",
        ) from error


def write(record: Record, folder: Path) -> None:
    """Write the record, its page and its table, each at once or not at all.

    Raises:
        CourseError: they cannot be written.
    """
    contents = {RESULTS: _json(record), PAGE: page(record).encode(), TABLE: _json(table(record))}
    for name, data in contents.items():
        try:
            with files.replacing(folder / name) as file:
                file.write(data)
        except OSError as error:
            raise files.trouble(error, folder / name, ELSEWHERE) from error


def _json(content: msgspec.Struct) -> bytes:
    return msgspec.json.format(msgspec.json.encode(content), indent=1) + b"\n"
