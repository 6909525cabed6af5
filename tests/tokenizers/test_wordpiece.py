"""WordPiece: longest match first against the library, its look-ups, and its training."""

from collections import Counter
from random import Random

import pytest

from lmcourse.corpus import python_documentation
from lmcourse.errors import CourseError
from lmcourse.tokenizers.library import from_library
from lmcourse.tokenizers.models.trainers import WordPieceTrainer
from lmcourse.tokenizers.models.wordpiece import Lookup, WordPiece
from tests.tokenizers.corpora import (
    learned,
    library_of,
    library_tokens,
    library_trained,
    random_counts,
    random_word,
)

LETTERS = "abcé한👍"


def random_wordpiece(random: Random) -> WordPiece:
    prefix = random.choice(["##", "##", "", "@@"])
    tokens = dict.fromkeys(["[UNK]", *random.sample(LETTERS, random.randint(2, 6))])
    for _ in range(random.randint(3, 40)):
        tokens[random.choice(["", prefix]) + random_word(random, LETTERS, 4)] = None
    vocab = {token: id_ for id_, token in enumerate(random.sample(list(tokens), len(tokens)))}
    limit = random.choice([100, 100, 6])
    return WordPiece(continuing_subword_prefix=prefix, max_input_chars_per_word=limit, vocab=vocab)


def test_random_vocabularies_cut_words_as_the_library_does() -> None:
    random = Random(1)
    cut = 0
    for _ in range(200):
        model = random_wordpiece(random)
        library = library_of(model)
        for _ in range(25):
            word = random_word(random, LETTERS)
            tokens = model.tokenize(word)
            assert tokens == library_tokens(library, word)
            shown = model.steps(word)
            assert [*shown.tokens] == tokens
            if tokens[0].value != "[UNK]":
                cut += 1
                hits = [step for step in shown.steps if step.found]
                found = [(token.value, token.offsets) for token in tokens]
                assert [(hit.piece, hit.span) for hit in hits] == found
    assert cut > 300


def test_a_trained_vocabulary_cuts_a_corpus_as_the_library_does() -> None:
    counts = Counter(" ".join(python_documentation()[:20]).split())
    model = WordPieceTrainer(vocab_size=1500, special_tokens=["[UNK]"]).train(counts).model
    library = library_of(model)
    for word in counts:
        assert model.tokenize(word) == library_tokens(library, word)


def test_steps_try_the_longest_piece_first() -> None:
    vocab = {token: id_ for id_, token in enumerate(["[UNK]", "un", "una", "##able", "##ff"])}
    model = WordPiece(vocab=vocab)
    assert [token.value for token in model.tokenize("unaffably")] == ["[UNK]"]
    tried = model.steps("unaff").steps
    assert tried == (
        Lookup("unaff", (0, 5), False),
        Lookup("unaf", (0, 4), False),
        Lookup("una", (0, 3), True),
        Lookup("##ff", (3, 5), True),
    )
    shown = model.steps("unaffably")
    assert shown.steps[-1] == Lookup("##a", (5, 6), False)  # no piece starts here, …
    assert shown.tokens == ((0, "[UNK]", (0, 9)),)  # … so all is unknown


def test_a_word_of_too_many_characters_is_not_looked_up() -> None:
    model = WordPiece(max_input_chars_per_word=3, vocab={"[UNK]": 0, "low": 1, "##er": 2})
    assert model.steps("lower").steps == ()
    assert model.steps("lower").tokens == ((0, "[UNK]", (0, 5)),)
    assert model.steps("low").tokens == ((1, "low", (0, 3)),)
    assert model.steps("").tokens == ()


def test_the_longest_token_of_all_is_found() -> None:
    model = WordPiece(vocab={"[UNK]": 0, "newest": 1, "##s": 2})
    assert [token.value for token in model.tokenize("newests")] == ["newest", "##s"]


def test_the_model_comes_back_from_the_library() -> None:
    model = random_wordpiece(Random(2))
    assert from_library(library_of(model)) == model


def test_training_by_frequency_is_the_library_s() -> None:
    random = Random(3)
    for trial in range(100):
        counts = random_counts(random, "abcde"[: random.randint(2, 5)], random.randint(1, 20), 9)
        prefix, suffix = random.choice(["##", "@"]), random.choice([None, "</w>"])
        trainer = WordPieceTrainer(
            vocab_size=60,
            special_tokens=["[UNK]"],
            continuing_subword_prefix=prefix,
            end_of_word_suffix=suffix,
            min_frequency=random.choice([0, 3]),
            score="frequency",
        )
        model = library_trained(counts, trainer)
        assert model["continuing_subword_prefix"] == prefix
        # The library numbers the first pieces in an order that differs from run to run.
        assert learned(trainer, counts, model["vocab"])[1] == model["vocab"], trial
        trained = trainer.train(counts)
        tokens = [*trainer.first_tokens(counts), *(step.token for step in trained.steps)]
        assert list(trained.model.vocab) == list(dict.fromkeys(tokens)), trial


def test_training_by_likelihood_is_not_the_library_s() -> None:
    trainer = WordPieceTrainer(special_tokens=["[UNK]"])
    with pytest.raises(CourseError, match="cannot train WordPiece by likelihood"):
        trainer.to_library()


def test_training_by_pmi_joins_what_is_seldom_apart() -> None:
    training = WordPieceTrainer(special_tokens=["[UNK]"], score="pmi").train(
        {"low": 5, "lower": 2, "newest": 6, "widest": 3}
    )
    assert [step.token for step in training.steps[:4]] == ["wi", "wid", "lo", "##st"]
    assert [step.score for step in training.steps[:4]] == [1 / 3, 1 / 3, 1 / 7, 1 / 9]
    assert training.model.tokenize("lowest")[0].value == "low"
