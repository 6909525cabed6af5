"""What is recorded of the runs, in ``data/brown``: the results; a page and a table made of them."""

from pathlib import Path

from lmcourse import checkout
from lmcourse.findings.language_models import FILE
from research import record_files
from research.brown.page import page
from research.brown.results import Record
from research.brown.table import table
from research.brown.text import Text
from research.record_files import as_json

RESULTS, PAGE, TABLE = "results.json", "README.md", Path(FILE).name


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
    return record_files.read(folder / RESULTS, Record)


def write(record: Record, folder: Path) -> None:
    """Write the record, its page and its table, each at once or not at all.

    Raises:
        CourseError: they cannot be written.
    """
    contents = {
        RESULTS: as_json(record),
        PAGE: page(record).encode(),
        TABLE: as_json(table(record)),
    }
    record_files.write(contents, folder)
