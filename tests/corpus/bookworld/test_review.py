"""One review: labels stand at their tokens, the text is printed as it should be."""

import json
import re

import pytest

from lmcourse.corpus import read_reviews
from lmcourse.corpus.bookworld import Agreement, BookWorld, Fact, Grammar, Review
from tests.corpus.bookworld.grammars import SMALL, world_of
from tests.corpus.writing import write_reviews


@pytest.fixture(scope="module")
def small() -> list[Review]:
    """Reviews of the small grammar."""
    return world_of(SMALL).sample(400, seed=1)


@pytest.fixture(scope="module")
def course(world: BookWorld) -> list[Review]:
    """Reviews of the course's own grammar."""
    return world.sample(60, seed=12)


def first_with(reviews: list[Review], text: str) -> Review:
    """The first review in whose tokens this stands."""
    return next(review for review in reviews if f" {text} " in f" {' '.join(review.tokens)} ")


def labels(review: Review, text: str, values: list) -> list:
    """The labels of these tokens, where they stand first."""
    wanted = text.split()
    start = next(
        at for at in range(len(review.tokens)) if review.tokens[at : at + len(wanted)] == wanted
    )
    return values[start : start + len(wanted)]


def test_every_token_has_a_label_of_each_kind(small, course):
    for review in [*small, *course]:
        for each in (review.parts_of_speech, review.senses, review.antecedents, review.tags):
            assert len(each) == len(review.tokens)
        assert all(kind.isupper() for kind in review.parts_of_speech)
    lexicon = world_of(SMALL).grammar.lexicon
    for review in small:  # whose grammar has no words that the lexicon does not know
        for token, tag in zip(review.tokens, review.tags, strict=True):
            named = tag.register is not None or token in ("a", "an")
            assert named or tag.part_of_speech in lexicon[token]


def test_parts_of_speech_and_senses(small):
    text = "moored the canoe at the bank"
    review = first_with(small, text)
    kinds = ["VERB", "DET", "NOUN", "ADP", "DET", "NOUN"]
    assert labels(review, text, review.parts_of_speech) == kinds
    assert labels(review, text, review.senses) == [None] * 5 + ["river"]
    other = "check at the bank"
    review = first_with(small, other)
    assert labels(review, other, review.senses)[-1] == "money"
    text = "the glass door by stone"
    review = first_with(small, text)
    kinds = ["DET", "ADJ", "NOUN", "ADP", "PROPN"]
    assert labels(review, text, review.parts_of_speech) == kinds
    text = "was an awful"
    review = first_with(small, text)
    assert labels(review, text, review.parts_of_speech) == ["AUX", "DET", "ADJ"]


def test_pronouns_have_the_antecedent_that_was_meant(small, course):
    pronouns = {"he": "male", "him": "male", "his": "male", "she": "female", "her": "female"}
    people = world_of(SMALL).grammar.tables["people"].rows
    gender = {row["name"]: row["gender"] for row in people}
    meant = set()
    for review in small:
        for token, who in zip(review.tokens, review.antecedents, strict=True):
            if who is not None:
                assert gender[who] == pronouns[token]
                meant.add(who == review.hero)
                assert who in (review.hero, review.second)
            else:
                assert token not in pronouns
    assert meant == {True, False}
    for review in course:
        assert set(review.antecedents) <= {None, review.hero, review.second}
    # "his" and "her" of the meeting are always the hero's.
    review = first_with(small, "and her")
    assert labels(review, "and her", review.antecedents) == [None, review.hero]


def test_agreements_point_to_subject_and_verb(small, course):
    seen = set()
    for review in small:
        for subject, verb, number, attractors in review.agreements:
            assert review.tokens[subject] in ("scene", "letter", "scenes", "letters")
            assert review.tokens[subject].endswith("s") == (number == "plural")
            assert review.tokens[verb] == {"singular": "was", "plural": "were"}[number]
            assert attractors == review.tokens[subject:verb].count("near")
            seen.add((number, attractors))
    assert {("singular", 0), ("plural", 0), ("singular", 2), ("plural", 2)} <= seen
    for review in course:
        for each in review.agreements:
            assert isinstance(each, Agreement) and each.subject < each.verb
            assert review.tags[each.subject].agreement == ("subject", each.number)
            assert review.tags[each.verb].agreement == ("verb", each.number)


def test_sentences_hold_every_token_and_know_their_stage(small, course):
    for review in [*small, *course]:
        ends = [0, *(sentence.end for sentence in review.sentences)]
        assert [sentence.start for sentence in review.sentences] == ends[:-1]
        assert ends[-1] == len(review.tokens)
        for sentence in review.sentences:
            assert review.tokens[sentence.end - 1] in (".", "?", "!")
            inside = review.tokens[sentence.start : sentence.end - 1]
            assert inside and not {".", "?", "!"} & set(inside)
    review = first_with(small, "of france met")
    stages = {
        " ".join(review.tokens[sentence.start : sentence.end]): (sentence.stage, sentence.spoiler)
        for sentence in review.sentences
    }
    meeting = next(text for text in stages if "of france met" in text)
    assert stages[meeting] == ("meeting", True) and review.has_spoiler
    opening = first_with(small, "i read").sentences[0]
    assert (opening.stage, opening.spoiler) == ("opening", False)
    assert not first_with(small, "in paris .").has_spoiler


def test_closing_sentences_can_be_cut_off(small):
    closed = first_with(small, "three stars .")
    assert closed.tokens[-3:] == ["three", "stars", "."] and closed.rating == 3
    assert closed.before_closing == closed.tokens[:-3]
    other = next(review for review in small if review.tokens[-2:] != ["stars", "."])
    assert other.before_closing == other.tokens


def test_facts_are_those_of_the_registers(small):
    review = first_with(small, ", from rome .")
    assert review.facts == [Fact(review.title, "lives_in", "rome")]
    assert review.title == "the kind wolf" and review.author == "hill"
    assert review.sentences[0].facts == tuple(review.facts)
    assert all(not sentence.facts for sentence in review.sentences[1:])
    assert first_with(small, "i read").facts == []


def test_latents_are_those_that_it_was_drawn_with(small):
    assert {review.genre for review in small} == {"mystery", "romance"}
    assert {review.rating for review in small} == {1, 2, 3}
    for review in small:
        assert review.hero != review.second
        assert review.rating == 3 or "three stars ." not in " ".join(review.tokens)
    shares = [review.rating for review in small].count(3) / len(small)
    assert abs(shares - 0.5) < 0.1


def test_text_has_capitals_and_spaces_where_they_belong(small, course):
    text = first_with(small, "i read the glass door by stone .").text
    assert "I read The Glass Door by Stone." in text
    text = first_with(small, ", from paris .").text
    assert re.search(r" of Stone, from Paris\.", text)
    for review in [*small, *course]:
        text = review.text
        assert "  " not in text and not re.search(r"\s[.,?!;:]", text)
        assert re.sub(r"\s", "", text).lower() == "".join(review.tokens)
        for sentence in review.sentence_texts:
            assert sentence[0].isupper()
        assert " ".join(review.sentence_texts) == text
    for review in course:
        assert not re.search(r"\bi\b", review.text)
        named = review.title.title().replace("The ", "")
        if review.title in " ".join(review.tokens):
            assert f"The {named}" in review.text


def test_records_have_the_layout_of_goodreads(course):
    for review in course:
        record = json.loads(json.dumps(review.record()))
        assert record == review.record()
        assert {name: type(value) for name, value in record.items()} == {
            "user_id": str,
            "timestamp": str,
            "review_sentences": list,
            "rating": int,
            "has_spoiler": bool,
            "book_id": str,
            "review_id": str,
        }
        assert re.fullmatch(r"2020-(0[1-9]|1[0-2])-(0[1-9]|1\d|2[0-8])", record["timestamp"])
        assert record["rating"] == review.rating and " " not in record["book_id"]
        spoilers = [spoiler for spoiler, _ in record["review_sentences"]]
        assert set(spoilers) <= {0, 1} and record["has_spoiler"] == any(spoilers)
        assert " ".join(text for _, text in record["review_sentences"]) == review.text
    assert len({review.record()["review_id"] for review in course}) == len(course)


def test_it_says_briefly_what_it_is(small):
    review = first_with(small, "three stars .")
    assert repr(review).startswith(f"Review({review.genre}, 3 stars: '{review.text[:20]}")


def test_the_same_review_is_equal_whoever_drew_it(small):
    again = BookWorld(Grammar([("again.grammar", SMALL)])).sample(5, seed=9)
    assert again == world_of(SMALL).sample(5, seed=9) != world_of(SMALL).sample(5, seed=8)


def test_records_go_through_the_reader_of_goodreads(course, tmp_path):
    path = tmp_path / "bookworld.json.gz"
    write_reviews(path, (review.record() for review in course))
    read = list(read_reviews(path))
    assert [record.as_dict() for record in read] == [review.record() for review in course]
    assert [record.text for record in read] == [review.text for review in course]
