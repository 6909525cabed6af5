"""Mails: near-copies, splits, views, and what single fields decide."""

import random
from itertools import combinations

import numpy as np
import pytest

from lmcourse.corpus.mails import Mail
from research.real_text import spam
from research.real_text.classifiers import unpacked
from research.real_text.spam import LATER, RANDOM, SAME_SIZES, TOGETHER, VIEWS

pytestmark = pytest.mark.usefixtures("small_texts")
MAIL = Mail(
    (
        ("From", "someone"),
        (
            "Received",
            "from one.example (alias) by two.example id 3; Thu, 22 Aug 2002 12:36:23 +0100",
        ),
        ("Received", "from three.example by four.example; Thu, 22 Aug 2001 12:36:23 +0100"),
        ("Date", "Fri, 1 Feb 2002 10:00:00 +0000"),
        ("List-Id", "talk"),
        ("X-Mailing-List", "chat"),
        ("X-Status", ""),
    ),
    "One two  three",
    "easy-ham-1",
)


def test_near_copies_by_brute_force():
    draw = random.Random(0)
    texts = []
    for _ in range(12):
        words = [str(draw.randrange(50)) for _ in range(draw.randrange(2, 40))]
        texts.append(" ".join(words))
        for cut in (1, 6, 15):
            texts.append(" ".join([*words[cut:], "end", "of", "it"]))
    texts += ["", "  ", "Hello, there", "hello there!"]
    sets = []
    for text in texts:
        words = "".join(it if it.isalnum() else " " for it in text.lower()).split()
        sets.append({tuple(words[at : at + 5]) for at in range(max(1, len(words) - 4))})
    parent = list(range(len(texts)))
    pairs = [
        (one, two)
        for one, two in combinations(range(len(texts)), 2)
        if len(sets[one] & sets[two]) >= 0.5 * len(sets[one] | sets[two])
    ]
    for _ in texts:  # until nothing changes
        for one, two in pairs:
            parent[one] = parent[two] = min(parent[one], parent[two])
    found = spam.near_copies(texts)
    assert len(pairs) > 10 and len(set(parent)) < len(texts)
    for one, two in combinations(range(len(texts)), 2):
        assert (found[one] == found[two]) == (parent[one] == parent[two])


@pytest.fixture(scope="module")
def copies(sources):
    return spam.near_copies([mail.body for mail in sources.mails])


def test_the_copies_of_the_small_corpus(sources, copies):
    for at, mail in enumerate(sources.mails):
        if " more" in mail.body:
            assert copies[at] == copies[at - 1]


def test_folds_keep_copies_together_or_not(sources, copies):
    divided = {}
    for name in (RANDOM, TOGETHER):
        splits = spam.split(name, sources.mails, copies)
        assert sorted(np.concatenate([test for _, test in splits])) == list(range(180))
        divided[name] = sum(bool(set(copies[a]) & set(copies[b])) for a, b in splits)
    assert divided[RANDOM] > 0 and divided[TOGETHER] == 0


def test_collections_and_a_random_split_of_the_same_sizes(sources, copies):
    mails = sources.mails
    ((train, test),) = spam.split(LATER, mails, copies)
    assert {mails[it].group for it in train} == set(spam.FIRST)
    assert {mails[it].group for it in test} == set(spam.SECOND)
    ((other, rest),) = spam.split(SAME_SIZES, mails, copies)
    for one, two in ((train, other), (test, rest)):
        assert len(one) == len(two)
        assert sum(mails[it].spam for it in one) == sum(mails[it].spam for it in two)
    assert sorted([*other, *rest]) == sorted([*train, *test])
    assert {mails[it].group for it in rest} == {*spam.FIRST, *spam.SECOND}
    # At most one set of each class is at the border.
    assert len(set(copies[other]) & set(copies[rest])) <= 2
    (again,) = spam.split(SAME_SIZES, mails, copies)
    np.testing.assert_array_equal(again[0], other)


def test_views_read_their_part_of_a_mail(monkeypatch):
    monkeypatch.setattr(spam, "WORDS", 2)
    assert VIEWS[spam.FIRST_WORDS](MAIL) == "One two"
    assert VIEWS["body"](MAIL) == MAIL.body
    assert VIEWS["header"](MAIL).startswith("From someone Received from one")
    assert "three" not in VIEWS["header"](MAIL).split()
    assert VIEWS["header and body"](MAIL) == f"{VIEWS['header'](MAIL)}\n{MAIL.body}"
    names = VIEWS["names of the header's fields"](MAIL).split()
    assert names == [
        "from",
        "received",
        "received",
        "date",
        "list_id",
        "x_mailing_list",
        "x_status",
    ]
    assert VIEWS["month it was sent (Date)"](MAIL) == "m200202"
    assert VIEWS["month it arrived (first Received)"](MAIL) == "m200208"
    hosts = VIEWS["hosts (Received: from, by)"](MAIL)
    assert hosts == "one.example two.example three.example four.example"
    assert VIEWS["mailing list's fields"](MAIL) == "talk chat"
    assert VIEWS["field From"](MAIL) == "here someone"
    assert VIEWS["field X-Status"](MAIL) == "here " and VIEWS["field Sender"](MAIL) == "absent"
    empty = Mail((("Date", "soon"),), "", "spam-1")
    assert VIEWS["month it was sent (Date)"](empty) == "none"
    assert VIEWS["month it arrived (first Received)"](empty) == "none"


def test_what_the_presence_of_a_field_decides(sources):
    found = spam.presence(sources)
    lists = found["fields"]["list-id"]
    assert lists == [0.4, 0.0, pytest.approx(54 / 90), pytest.approx(56 / 80)]  # absent: spam
    assert found["fields"]["from"] == [1.0, 1.0, pytest.approx(60 / 90), 0.5]
    assert found["majority"] == pytest.approx(60 / 90)
    assert set(found["fields"]) == {"from", "received", "date", "list-id"}


def test_the_scores_of_a_split_by_brute_force(sources, copies):
    name = "names of the header's fields"
    found = spam.measured(name, "words", LATER, sources)
    mails = sources.mails
    ((_, test),) = spam.split(LATER, mails, copies)
    right = unpacked(found["right"], len(test))
    # Ham of lists is recognized, all else is alike: it is called ham or spam as a whole.
    listed = np.array([any(name == "List-Id" for name, _ in mails[it].headers) for it in test])
    truth = np.array([mails[it].spam for it in test])
    assert right[listed].all() and found["accuracy"].value == pytest.approx(right.mean())
    usual = np.array([len(mails[it].headers) == 3 for it in test])
    assert len({*(right == truth)[usual]}) == 1 and usual.sum() > 40
    assert found["ham called spam"] == pytest.approx(1 - right[~truth].mean())
    assert found["area"] == pytest.approx(0.7, abs=0.03)  # 40 % of the ham are known, others tied


def test_the_month_misleads_in_other_collections(sources):
    scores = {
        name: spam.measured("month it arrived (first Received)", "words", name, sources)
        for name in (LATER, SAME_SIZES)
    }
    assert scores[LATER]["accuracy"].value == 0.5


def test_copies_do_not_make_a_score_of_words_worse(sources):
    found = spam.measured(spam.FIRST_WORDS, "words", TOGETHER, sources)
    assert found["accuracy"].value > 0.95
    assert found["area"] > 0.95 and len(found["C"]) == 5
