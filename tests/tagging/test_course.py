"""The course's own table: its taggers, and its page."""

from lmcourse import checkout
from research import recorded
from research.tagging import page
from research.tagging.entries import ENTRIES, Record, rows
from research.tagging.text import EVERY

FOLDER = checkout.root() / "data" / "tagging"


def test_the_page_of_the_course_is_that_of_its_results():
    record = recorded.read(FOLDER / recorded.RESULTS, Record)
    assert (FOLDER / recorded.PAGE).read_text(encoding="utf-8") == page.page(record)


def test_each_tagger_has_all_its_seeds():
    record = recorded.read(FOLDER / recorded.RESULTS, Record)
    for entry in ENTRIES.values():
        assert len(rows(entry, record)) == entry.seeds


def test_networks_have_as_many_parameters():
    record = recorded.read(FOLDER / recorded.RESULTS, Record)
    networks = [it for it in ENTRIES.values() if it.setting == "learning rate"]
    counts = [rows(entry, record, EVERY)[0].parameters for entry in networks]
    assert len(counts) == 4 and max(counts) < 1.01 * min(counts)
