"""The course's own tables: the page, and that they hold nothing of a mail."""

import json
import re

from lmcourse import checkout
from research.real_text import command
from research.real_text.spam import COMMON
from research.real_text.tables import TABLES
from research.recorded import PAGE, RESULTS


def test_the_page_of_the_course_is_that_of_its_results():
    folder = checkout.root() / "data" / "real_text"
    record = command.read(folder)
    assert (folder / PAGE).read_text(encoding="utf-8") == command.page(record)
    assert set(record.tables) == set(TABLES)


def strings(value):
    """All strings in a value, but not the keys."""
    if isinstance(value, dict):
        return [it for each in value.values() for it in strings(each)]
    if isinstance(value, list):
        return [it for each in value for it in strings(each)]
    return [value] if isinstance(value, str) else []


def test_the_course_records_nothing_of_a_mail():
    """All that is recorded are numbers; and names of fields that many mails have."""
    folder = checkout.root() / "data" / "real_text"
    spam = json.loads((folder / RESULTS).read_text(encoding="utf-8"))["tables"]["spam"]
    for name, unit in spam["units"].items():
        assert all(re.fullmatch("[0-9a-f ]*", it) for it in strings(unit["values"])), name
    shares = spam["units"]["presence"]["values"]["fields"]
    assert all(re.fullmatch("[a-z-]+", name) for name in shares)
    assert all(max(it[:2]) >= COMMON for it in shares.values())
