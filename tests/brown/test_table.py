"""The table that chapters read: its rows are the results, and it shows them."""

from statistics import mean, stdev

import msgspec
import pytest

from lmcourse import checkout
from lmcourse.errors import CourseError
from lmcourse.findings import language_models
from lmcourse.findings.language_models import FILE
from research.brown import entries, recorded
from research.brown.results import found_of, untuned
from research.brown.table import setting_said, table


@pytest.fixture(scope="module")
def rows():
    """The course's own table, as far as it is done, by names."""
    record = recorded.read(checkout.root() / "data" / "brown")
    return {row.name: row for row in table(record).rows}, record


def test_the_table_of_the_course_is_that_of_its_results(rows):
    _, record = rows
    kept = (checkout.root() / FILE).read_bytes()
    assert msgspec.json.decode(kept) == msgspec.to_builtins(table(record))


def test_a_row_has_the_scores_of_each_seed(rows):
    found, record = rows
    for name, row in found.items():
        results = found_of(entries.ENTRIES[name], record)
        assert row.test == [result.test for result in results]
        assert row.seeds == [result.seed for result in results]
        assert row.setting == setting_said(results[0].setting)
        if isinstance(entries.ENTRIES[name], entries.NGram) or len(row.seeds) > 1:
            assert row.tuned
    assert found["2-gram"].tuned and found["2-gram"].mixed == []


def test_a_network_is_tuned_when_all_was_tried(rows):
    _, record = rows
    (lstm,) = (it for it in entries.LEARNERS if it.name == "lstm")
    first = untuned(lstm).digest(record.text)
    only = msgspec.structs.replace(
        record,
        runs={
            digest: result
            for digest, result in record.runs.items()
            if digest == first or result.name != "lstm"
        },
    )
    (row,) = (row for row in table(only).rows if row.name == "lstm")
    assert not row.tuned
    assert row.setting == "learning rate 0.006, dropout 0.1, tied output weights"


def test_the_shown_table_has_the_rows_in_the_order_that_was_asked():
    shown = language_models("5-gram", "lstm", "2-gram")
    assert [row.name for row in shown.rows] == ["5-gram", "lstm", "2-gram"]
    page, text = shown._repr_html_(), repr(shown)
    for row in shown.rows:
        score = f"{mean(row.test):.1f}"
        score += f" ± {stdev(row.test):.1f}" if len(row.test) > 1 else ""
        assert f">{score}</td>" in page and score in text
        assert row.setting in page and row.setting in text
    assert page.index("5-gram") < page.index("LSTM") < page.index("2-gram")
    assert 'data-kind="recorded"' in page
    assert [line.split(": ")[1] for line in shown.setup() if "2-gram" in line] == [
        "modified discounts."
    ]


def test_what_is_not_there_is_named(tmp_path):
    with pytest.raises(CourseError, match=r"no model 'bigram'[\s\S]*2-gram, 3-gram"):
        language_models("bigram")
    damaged = tmp_path / "table.json"
    damaged.write_text('{"text": "Brown"}')
    for path in (damaged, tmp_path / "none.json"):
        with pytest.raises(CourseError, match=r"cannot be read[\s\S]*git checkout"):
            language_models("2-gram", path=path)
