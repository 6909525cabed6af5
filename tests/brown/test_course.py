"""The course's own table: its models, and its page."""

from lmcourse import checkout
from research.brown import entries, page, recorded


def test_the_page_of_the_course_is_that_of_its_results():
    folder = checkout.root() / "data" / "brown"
    record = recorded.read(folder)
    if record is not None:
        assert (folder / recorded.PAGE).read_text(encoding="utf-8") == page.page(record)


def test_the_real_table_names_each_model_once():
    names = [entry.name for entry in (*entries.NGRAMS, *entries.LEARNERS)]
    assert list(entries.ENTRIES) == names and len(set(names)) == len(names)
    vocabulary = 40
    for learner in entries.LEARNERS:
        for setting in learner.trials():
            network, budget = learner.built(vocabulary, setting)
            assert network.weight.shape[0] == vocabulary == len(network.bias)
            words = budget.rows * budget.time
            assert words == (1024 if learner.name == "bert" else 256)
