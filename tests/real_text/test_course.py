"""The course's own tables: the page, and that they hold nothing of a mail."""

import json

from lmcourse import checkout
from research.real_text import command
from research.real_text.command import PAGE, RESULTS
from research.real_text.tables import TABLES


def test_the_page_of_the_course_is_that_of_its_results():
    folder = checkout.root() / "data" / "real_text"
    record = command.read(folder)
    assert (folder / PAGE).read_text(encoding="utf-8") == command.page(record)
    assert list(record.tables) == list(TABLES)


def test_the_course_records_nothing_of_a_mail():
    """Addresses, hosts and words would be strings with these characters."""
    folder = checkout.root() / "data" / "real_text"
    spam = json.loads((folder / RESULTS).read_text(encoding="utf-8"))["tables"]["spam"]
    for unit in spam["units"].values():
        del unit["machine"]
    content = json.dumps(spam["units"])
    assert "@" not in content
    assert set(spam["units"]["presence"]["values"]["fields"]) <= FIELD_NAMES


FIELD_NAMES = {
    *("date", "delivered-to", "from", "message-id", "received", "return-path", "subject", "to"),
}
