"""The split holds out whole texts of all genres, and the kinds of tokens are those of the words."""

import pytest

from lmcourse.errors import CourseError
from research.tagging.text import AMBIGUOUS, EVERY, FICTION, KINDS, UNSEEN, WITHOUT, size, texts_of
from tests.tagging.conftest import TEXTS, WORDS


def names(sentences):
    return {sentence.text for sentence in sentences}


def test_every_twentieth_text_of_a_genre_validates_and_every_tenth_tests(texts):
    for text in texts.values():
        assert names(text.validation) == {f"c{letter}03" for letter in TEXTS}
        assert names(text.test) == {"ca16", *(f"c{letter}06" for letter in TEXTS)}


def test_training_texts_are_whole_and_held_out_from_nothing_else(texts, sentences):
    for task, text in texts.items():
        train = names(text.train)
        assert not train & (names(text.validation) | names(text.test))
        assert sorted(text.train) == sorted(it for it in sentences if it.text in train)
        assert size(text.train) >= WORDS > size(it for it in text.train if it.text != last(text))
        genres = {it.genre for it in text.train}
        assert (task == WITHOUT) == (not genres & set(FICTION))
        counts = [[len(names(part)), len(part), size(part)] for part in (text.train, text.test)]
        assert [text.counts()["training"], text.counts()["test"]] == counts


def last(text):
    """The name of the text that was drawn last."""
    return text.train[-1].text


def test_right_tags_are_counted_by_kind_and_text(texts):
    text = texts[WITHOUT]
    predicted = [["NOUN"] * len(sentence.words) for sentence in text.test]
    wanted = {kind: [0] * len(text.genres) for kind in KINDS}
    for sentence in text.test:
        at = list(text.genres).index(sentence.text)
        for word, tag in zip(sentence.words, sentence.tags, strict=True):
            tags = {
                b for it in text.train for a, b in zip(it.words, it.tags, strict=True) if a == word
            }
            for kind, counts in (("all", True), (UNSEEN, not tags), (AMBIGUOUS, len(tags) > 1)):
                wanted[kind][at] += counts and tag == "NOUN"
    assert text.right(predicted) == wanted
    assert all(map(sum, wanted.values()))


def test_another_split_has_another_digest(texts, sentences):
    assert texts_of(sentences, WORDS)[EVERY].digest == texts[EVERY].digest
    assert texts_of(sentences, WORDS // 2)[EVERY].digest != texts[EVERY].digest
    assert texts[WITHOUT].digest != texts[EVERY].digest


def test_a_corpus_that_is_too_small_is_refused(sentences):
    with pytest.raises(CourseError, match=r"words to train on \(without fiction\)[\s\S]*install"):
        texts_of(sentences, 900)
    with pytest.raises(CourseError, match=r"0 to validate"):
        texts_of([it for it in sentences if it.text.endswith("01")], 10)
