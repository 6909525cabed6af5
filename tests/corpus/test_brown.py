"""The Brown corpus: what the reader makes of its lines, what it refuses, and what the corpus is."""

from collections import Counter

import pytest

from lmcourse import hub, releases
from lmcourse.corpus.brown import GENRES, Brown, universal_tag
from lmcourse.errors import CourseError

NEWS = """

\tThe/at Jury/nn-tl said/vbd it/pps was/bedz and/or/cc ``/`` on/in 1/2/cd ''/'' ./.\x20


Salary/nn-hl cut/nn-hl
\t
He's/pps+bez gonna/vbg+to not/* go/vb ?/. ?/.
"""


@pytest.fixture
def folder(tmp_path):
    """Two texts, beside other files of the package."""
    (tmp_path / "cr09").write_text("Ha/uh !/. !/.\n")
    (tmp_path / "ca01").write_text(NEWS)
    for name in ("README", "cats.txt", "categories.pickle"):
        (tmp_path / name).write_text("no/tag here")
    return tmp_path


def test_a_line_is_a_sentence_and_texts_come_in_order(folder):
    first, heading, third, last = Brown(folder).sentences()
    assert (first.text, first.genre) == ("ca01", "news")
    assert first.words == (
        "The",
        "Jury",
        "said",
        "it",
        "was",
        "and/or",
        "``",
        "on",
        "1/2",
        "''",
        ".",
    )
    expected = ("DET", "NOUN", "VERB", "PRON", "VERB", "CONJ", ".", "ADP", "NUM", ".", ".")
    assert first.tags == expected
    assert first.brown_tags[:2] == ("at", "nn-tl") and first.brown_tags[5:7] == ("cc", "``")
    assert heading.words == ("Salary", "cut") and heading.brown_tags == ("nn-hl", "nn-hl")
    assert third.words[-2:] == ("?", "?")  # as the corpus has them
    assert third.tags == ("PRT", "VERB", "ADV", "VERB", ".", ".")
    assert (last.text, last.genre, last.tags[0]) == ("cr09", "humor", "PRT")


def test_each_iteration_reads_anew(folder):
    brown = Brown(folder)
    assert list(brown.sentences()) == list(brown.sentences())
    sentences = brown.sentences()
    next(sentences)
    (folder / "cr09").write_text("Other/jj ./.\n")
    assert list(sentences)[-1].words == ("Other", ".")  # texts that come later are not read yet


@pytest.mark.parametrize(
    "tag, universal",
    [
        ("np$-tl", "NOUN"),
        ("nn-tl-hl", "NOUN"),
        ("---hl", "."),
        ("fw-in+at-tl", "X"),
        ("fw-*", "X"),
        ("*-nc", "ADV"),
        ("bedz*", "VERB"),
        ("pp$", "DET"),
        ("pp$$", "PRON"),
        ("vbg+to", "VERB"),
        ("in+in", "ADP"),
        ("pps+hvz", "PRT"),
        ("wrb+dod*", "PRT"),
        ("nil", "X"),
        # These are cut after ten characters.
        ("ppss+ber-n", "PRT"),
        ("fw-in+at-t", "X"),
        ("wdt+ber+pp", "PRT"),
    ],
)
def test_universal_tags(tag, universal):
    assert universal_tag(tag) == universal


@pytest.mark.parametrize("tag", ["", "NN", "nn-xx", "fw-xx", "fw-", "nn+", "+nn", "x", "nn-t"])
def test_other_tags_are_none(tag):
    with pytest.raises(KeyError):
        universal_tag(tag)


@pytest.mark.parametrize(
    "line, message",
    [
        (b"The/at dog", r"Line 3 of .*ca01: 'dog' is not a word with a tag"),
        (b"The/at /nn", r"Line 3 of .*ca01: '/nn' is not a word with a tag"),
        (b"The/at dog/", r"Line 3 of .*ca01: 'dog/' is not a word with a tag"),
        (b"The/at dog/noun", r"Line 3 of .*ca01: 'dog/noun' has a tag that is not one of"),
        (b"The/at caf\xe9/nn", r"Line 3 of .*ca01: byte 11 \(0xe9\) is not UTF-8"),
    ],
)
def test_odd_lines_are_refused_by_name(folder, line, message):
    (folder / "ca01").write_bytes(b"Good/jj ./.\n\n" + line + b"\n")
    sentences = Brown(folder).sentences()
    assert next(sentences).words == ("Good", ".")
    with pytest.raises(CourseError, match=message):
        next(sentences)


def test_a_genre_that_is_none(folder):
    (folder / "ci01").write_text("Good/jj ./.\n")
    with pytest.raises(
        CourseError, match=r"ci01: the Brown corpus has no genre I.* A, B, C, D, E, F"
    ):
        list(Brown(folder).sentences())


def test_a_folder_without_texts(tmp_path):
    with pytest.raises(CourseError, match=r"has no text of the Brown corpus, such as ca01"):
        Brown(tmp_path)


@pytest.mark.parametrize("name", hub.CORPORA)
def test_without_a_corpus(name, tmp_path, monkeypatch):
    monkeypatch.setenv("LMCOURSE_CACHE", str(tmp_path))
    monkeypatch.delenv("LMCOURSE_REAL", raising=False)
    with pytest.raises(CourseError, match=rf"{name} is not installed.*`lmcourse real install`"):
        hub.CORPORA[name]()
    monkeypatch.setenv("LMCOURSE_REAL", "off")
    with pytest.raises(CourseError, match=f"{name} is hidden"):
        hub.CORPORA[name]()


def test_it_is_left_out_in_a_line(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("LMCOURSE_CACHE", str(tmp_path))
    monkeypatch.delenv("LMCOURSE_REAL", raising=False)
    assert hub.real("the tags of real words", "brown") is None
    assert capsys.readouterr().out.startswith("Left out: the tags of real words. `lmcourse real in")


@pytest.fixture(scope="module")
def corpus():
    """All sentences of the corpus."""
    if not releases.installed("brown"):
        pytest.skip("the Brown corpus is not installed, or hidden")
    return list(hub.real("the corpus", "brown").sentences())


def test_the_size_of_the_corpus(corpus):
    # The figures that are published of this version, as by NLTK.
    assert len(corpus) == 57_340
    assert sum(len(sentence.words) for sentence in corpus) == 1_161_192
    assert len({word for sentence in corpus for word in sentence.words}) == 56_057
    assert corpus[0].words[:5] == ("The", "Fulton", "County", "Grand", "Jury")
    texts = {sentence.text: sentence.genre for sentence in corpus}
    assert list(texts) == sorted(texts) and list(dict.fromkeys(texts.values())) == list(GENRES)
    # The manual's table.
    manual = [44, 27, 17, 17, 36, 48, 75, 30, 80, 29, 24, 6, 29, 29, 9]
    assert [*Counter(texts.values()).values()] == manual


def test_the_tags_of_the_corpus(corpus):
    assert len({tag for sentence in corpus for tag in sentence.brown_tags}) == 472
    # By Petrov et al.'s table, but for four tokens: see `universal_tag`.
    theirs = Counter(
        {
            **{"NOUN": 275_558, "VERB": 182_750, ".": 147_565, "ADP": 144_766, "DET": 137_019},
            **{"ADJ": 83_721, "ADV": 56_239, "PRON": 49_334, "CONJ": 38_151, "PRT": 29_829},
            **{"NUM": 14_874, "X": 1_386},
        }
    )
    theirs.update({"VERB": 1, "PRT": 1, "ADV": 1, "X": -3})
    assert Counter(tag for sentence in corpus for tag in sentence.tags) == theirs


def test_the_oddities_of_the_corpus(corpus):
    tokens = Counter(
        token for each in corpus for token in zip(each.words, each.brown_tags, strict=True)
    )
    assert sum(count for (_, tag), count in tokens.items() if tag == "nil") == 157
    closed = Counter(
        each.words[-1] for each in corpus if each.words[-2:] in [(mark, mark) for mark in ";?!"]
    )
    assert closed == {";": 2783, "?": 2346, "!": 798}
    marks = Counter()
    for (word, tag), count in tokens.items():
        marks[word] += count * (word in ";?!" and tag != "nil")
    assert +marks == {mark: 2 * count for mark, count in closed.items()}
