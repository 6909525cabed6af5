"""Learned merges: a small dictionary, the definition, the library, and the scores."""

import json
from collections import Counter
from functools import cache
from itertools import pairwise
from math import log
from random import Random

import pytest
from tokenizers import AddedToken, Tokenizer, models, pre_tokenizers

from lmcourse.corpus import BookWorld, python_documentation
from lmcourse.errors import CourseError
from lmcourse.tokenizers.models.bpe import BPE
from lmcourse.tokenizers.models.merging import (
    Counts,
    MergeStep,
    PairTable,
    Words,
    frequency,
    joined,
    largest_gain,
    learn_merges,
    likelihood,
    merge_pair,
    pmi,
    replay,
)
from lmcourse.tokenizers.models.trainers import BpeTrainer, WordPieceTrainer
from lmcourse.tokenizers.models.unigram_training import UnigramTrainer
from lmcourse.tokenizers.models.word_model import numbered
from tests.tokenizers.corpora import last_of_each, learned, library_trained, random_counts

DICTIONARY = {"low": 5, "lower": 2, "newest": 6, "widest": 3}
PRE_TOKENIZERS = {
    "words": pre_tokenizers.Whitespace(),
    "bytes": pre_tokenizers.ByteLevel(add_prefix_space=False),
    "metaspace": pre_tokenizers.Metaspace(),
}


@cache
def texts(corpus: str) -> list[str]:
    if corpus == "documentation":
        return python_documentation()
    return [review.text for review in BookWorld().split("train", at_most=1500)]


@cache
def corpus_counts(corpus: str, kind: str) -> dict[str, int]:
    return Counter(
        word for text in texts(corpus) for word, _ in PRE_TOKENIZERS[kind].pre_tokenize_str(text)
    )


def as_library(model: BPE) -> tuple[list[list[str]], dict[str, int]]:
    return [list(pair) for pair in model.merges], model.vocab


def library_bpe(
    counts: dict[str, int], trainer: BpeTrainer
) -> tuple[list[list[str]], dict[str, int]]:
    model = library_trained(counts, trainer)
    return model["merges"], model["vocab"]


def test_the_dictionary_step_for_step() -> None:
    steps = [
        ("e", "s", 9, 1),  # s t has 9 too
        ("es", "t", 9, 0),
        ("l", "o", 7, 1),  # o w
        ("lo", "w", 7, 0),
        ("e", "w", 6, 2),  # n e, w est
        ("n", "ew", 6, 1),
        ("new", "est", 6, 0),
        ("d", "est", 3, 2),  # i d, w i
        ("i", "dest", 3, 1),
        ("w", "idest", 3, 0),
        ("e", "r", 2, 1),  # low e
        ("low", "er", 2, 0),
    ]
    training = BpeTrainer().train(DICTIONARY)
    expected = [MergeStep((a, b), a + b, count, count, tied) for a, b, count, tied in steps]
    assert training.steps == expected
    assert as_library(training.model) == library_bpe(DICTIONARY, BpeTrainer())


def test_the_dictionary_with_the_paper_s_end_of_word() -> None:
    training = BpeTrainer(end_of_word_suffix="</w>").train(DICTIONARY)
    assert [(*step.pair, step.count) for step in training.steps[:5]] == [
        ("e", "s", 9),
        ("es", "t</w>", 9),
        ("l", "o", 7),
        ("e", "w", 6),
        ("n", "ew", 6),
    ]
    assert {"low</w>", "lower</w>", "newest</w>", "widest</w>"} < set(training.model.vocab)


def test_overlapping_pairs_count_and_merge_from_the_left() -> None:
    assert merge_pair(("a", "a", "a", "b"), ("a", "a"), "aa") == ["aa", "a", "b"]
    table = PairTable({("a", "a", "a", "b", "a", "a"): 2, ("b", "b", "b", "b"): 1})
    assert table.pieces == {"a": 10, "b": 6} and table.total == 16
    assert table.doubles == {"a": 4, "b": 2}
    assert table.pairs == {("a", "a"): 6, ("a", "b"): 2, ("b", "a"): 2, ("b", "b"): 3}
    assert joined(("##e", "##s"), "##") == "##es"


@pytest.mark.parametrize("score", [frequency, likelihood, pmi])
def test_each_merge_is_the_best_of_all_pairs(score) -> None:
    """With counts and scores of all pairs computed again before each merge, and the same ties."""
    random = Random(1)
    for trial in range(100):
        prefix, suffix = random.choice(["", "##", "a"]), random.choice(["", "</w>", "b"])
        counts = random_counts(random, "abcdef"[: random.randint(2, 6)], random.randint(1, 25), 9)
        least = random.choice([0, 0, 3])
        trainer = BpeTrainer(continuing_subword_prefix=prefix, end_of_word_suffix=suffix)
        words, ids = trainer.words(counts), numbered(trainer.first_tokens(counts))
        size = random.choice([40, 1000])
        steps = list(learn_merges(words, list(ids), size, least, score, prefix))
        for state, step in zip(replay(words, steps), [*steps, None], strict=True):
            table = PairTable(state)
            scores = {
                pair: score(table.counts(pair))
                for pair, count in table.pairs.items()
                if count >= max(least, 1)
            }
            best = max(scores.values(), default=0)
            if step is None:
                assert best <= 0 or len(ids) >= size, trial
                break
            tied = [pair for pair, value in scores.items() if value == best]
            chosen = min(tied, key=lambda it: (-table.pairs[it], ids[it[0]], ids[it[1]]))
            expected = MergeStep(chosen, step.token, table.pairs[chosen], best, len(tied) - 1)
            assert step == expected, trial
            ids.setdefault(step.token, len(ids))


def test_no_pair_gains_more_than_its_bound() -> None:
    """The bound is nearly reached by a rare pair whose pieces never occur apart."""
    random = Random(2)
    for _ in range(200):
        count, total = random.randint(1, 9), random.randint(1000, 100_000)
        gain = likelihood(Counts(count, count, count, count, total, False))
        assert gain <= largest_gain(count, total) <= 1.01 * gain
        more = Counts(count, count, count + random.randint(0, 9), count, total, False)
        assert likelihood(more) <= gain


def test_random_corpora_give_the_library_s_merges() -> None:
    random = Random(3)
    compared = 0
    for trial in range(400):
        counts = random_counts(random, "abcdef"[: random.randint(2, 6)], random.randint(1, 20), 9)
        trainer = BpeTrainer(
            vocab_size=random.choice([20, 30, 60, 1000]),
            min_frequency=random.choice([0, 0, 2, 5]),
            special_tokens=random.choice([(), ("[UNK]", "[PAD]"), ("a", "ab")]),
            initial_alphabet=random.choice(["", "abx"]),
            continuing_subword_prefix=random.choice([None, None, "##", "@"]),
            end_of_word_suffix=random.choice([None, None, "</w>", "$"]),
        )
        try:
            training = trainer.train(counts)
        except CourseError as error:
            assert "too small" in error.cause
            continue
        compared += 1
        merges, vocab = library_bpe(counts, trainer)
        steps, found = learned(trainer, counts, vocab)
        assert [list(step.pair) for step in steps] == merges, trial
        assert found == vocab, trial
        if not trainer.continuing_subword_prefix and not trainer.end_of_word_suffix:
            assert as_library(training.model) == (merges, vocab), trial
    assert compared > 300


@pytest.mark.parametrize("kind", PRE_TOKENIZERS)
@pytest.mark.parametrize("corpus", ["BookWorld", "documentation"])
def test_a_corpus_gives_the_library_s_merges(corpus: str, kind: str) -> None:
    trainer = BpeTrainer(vocab_size=2000, special_tokens=["[UNK]"])
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = PRE_TOKENIZERS[kind]
    tokenizer.train_from_iterator(texts(corpus), trainer.to_library())
    model = json.loads(tokenizer.to_str())["model"]
    training = trainer.train(corpus_counts(corpus, kind))
    assert [list(pair) for pair in training.model.merges] == model["merges"]
    assert training.model.vocab == model["vocab"]
    assert any(step.tied for step in training.steps)  # so the rule for ties was needed


def test_no_token_is_built_in_two_ways() -> None:
    """Which is why the library's way of counting makes no difference."""
    random = Random(4)
    for _ in range(200):
        counts = random_counts(random, "ab", random.randint(5, 40), 12)
        tokens = [step.token for step in BpeTrainer().train(counts).steps]
        assert len(tokens) == len(set(tokens))


def test_a_suffix_in_the_words_themselves_parts_us_from_the_library() -> None:
    """The smallest case: "a$$" is "a", "$" and the end, or it is "a", "$" and "$"."""
    counts = {"a$": 1, "a$$b": 2}
    trainer = BpeTrainer(end_of_word_suffix="$")
    merges, vocab = library_bpe(counts, trainer)
    steps, _ = learned(trainer, counts, vocab)
    pairs = [step.pair for step in steps]
    assert pairs == [("$", "$"), ("a", "$$"), ("a$$", "b$")]
    assert [step.count for step in steps] == [2, 3, 2]
    assert merges == [["$", "$"], ["a$$", "b$"], ["a", "$$"]]


def test_a_pair_that_is_merged_twice_keeps_its_last_rank() -> None:
    counts = {"####": 1, "aa": 1}
    training = BpeTrainer(continuing_subword_prefix="##").train(counts)
    pairs = [step.pair for step in training.steps]
    assert pairs.count(("###", "###")) == 2
    assert list(training.model.merges) == last_of_each(pairs)


def test_the_least_frequent_characters_are_left_out() -> None:
    counts = {"abcd": 4, "abc": 2, "ab": 1, "xy": 1}
    for limit in (3, 4):
        trainer = BpeTrainer(limit_alphabet=limit, special_tokens=["y"], initial_alphabet="x")
        model = trainer.train(counts).model
        assert as_library(model) == library_bpe(counts, trainer)
    assert BpeTrainer(limit_alphabet=1).alphabet({"ba": 1, "c": 1}) == ["a"]  # a tie


def test_the_last_words_of_a_replay_are_the_model_s_tokens() -> None:
    random = Random(5)
    for suffix in ("", "</w>"):
        counts = random_counts(random, "abcd", 30, 9)
        trainer = BpeTrainer(vocab_size=40, end_of_word_suffix=suffix or None)
        training = trainer.train(counts)
        states = list(replay(training.trainer.words(training.word_counts), training.steps))
        assert len(states) == len(training.steps) + 1
        assert all(sum(state.values()) == sum(counts.values()) for state in states)
        expected: Counter[tuple[str, ...]] = Counter()
        for word, count in counts.items():
            expected[tuple(token.value for token in training.model.tokenize(word))] += count
        assert states[-1] == expected


def test_the_three_scores_by_hand() -> None:
    """In "ab" × 3, "ac" × 9, "db" × 1: a has 12, b 4, c 9, d 1."""
    counts = {"ab": 3, "ac": 9, "db": 1}

    def steps(score: str) -> list[MergeStep]:
        return WordPieceTrainer(special_tokens=["[UNK]"], score=score).train(counts).steps

    first, second, third = steps("pmi")
    assert first == MergeStep(("d", "##b"), "db", 1, 1 / (1 * 4), 0)
    # The tie goes to the more frequent pair: ab has 3 / (12 · 3), now that b has lost one.
    assert second == MergeStep(("a", "##c"), "ac", 9, 9 / (12 * 9), 1)
    assert third == MergeStep(("a", "##b"), "ab", 3, 3 / (3 * 3), 0)
    assert [step.pair for step in steps("frequency")] == [("a", "##c"), ("a", "##b"), ("d", "##b")]
    before = 12 * log(12) + 4 * log(4) + 9 * log(9) - 26 * log(26)
    after = 3 * log(3) + 4 * log(4) + 9 * log(9) - 17 * log(17)
    assert steps("likelihood")[0].pair == ("a", "##c")
    assert steps("likelihood")[0].score == pytest.approx(after - before, abs=1e-12)


def log_likelihood(words: Words) -> float:
    """Of a text under its best unigram model, nats."""
    counts = PairTable(words).pieces
    return sum(count * log(count / counts.total()) for count in counts.values())


def test_the_likelihood_score_is_what_a_merge_gains() -> None:
    """For every pair of random words, also of equal pieces, which overlap in runs."""
    random = Random(6)
    alike = runs = 0
    for _ in range(20):
        words = BpeTrainer().words(random_counts(random, "abc"[: random.randint(1, 3)], 30, 9))
        table = PairTable(words)
        for (left, right), count in table.pairs.items():
            counts = table.counts((left, right))
            step = MergeStep((left, right), left + right, count, 0, 0)
            before, after = replay(words, [step])
            gain = log_likelihood(after) - log_likelihood(before)
            assert likelihood(counts) == pytest.approx(gain, abs=1e-9)
            alike += left == right
            runs += counts.merged < count
    assert alike > 30 and runs > 20


def test_no_merge_by_likelihood_lowers_it() -> None:
    """The smallest case is "abbb", where "bb" stands twice but can be merged once only."""
    assert WordPieceTrainer(special_tokens=["[UNK]"]).train({"abbb": 2}).steps[0].pair[0] == "a"
    random = Random(12)
    for _ in range(20):
        words = BpeTrainer().words(random_counts(random, "ab", 10, 9))
        steps = list(learn_merges(words, ["a", "b"], 30, 0, likelihood))
        states = [log_likelihood(state) for state in replay(words, steps)]
        gains = [after - before for before, after in pairwise(states)]
        assert [step.score for step in steps] == pytest.approx(gains, abs=1e-9)


def test_merging_ends_where_it_would_lower_the_likelihood() -> None:
    """Each of a and b is followed by either as often as chance would have it."""
    words = {tuple(pair): 1 for pair in ("aa", "ab", "ba", "bb")}
    assert list(learn_merges(words, ["a", "b"], 9, 0, likelihood)) == []
    assert len(list(learn_merges(words, ["a", "b"], 9, 0, frequency))) == 4


def test_pmi_is_the_gain_per_occurrence() -> None:
    """Of one occurrence, in nats: log p(ab) - log p(a) - log p(b), which orders pairs alike."""
    table = PairTable(BpeTrainer().words(random_counts(Random(6), "abcdef", 40, 8)))
    pieces, total = table.pieces, table.total
    for (left, right), count in table.pairs.items():
        gain = log(count / total) - log(pieces[left] / total) - log(pieces[right] / total)
        score = pmi(Counts(count, count, pieces[left], pieces[right], total, left == right))
        assert log(score * total) == pytest.approx(gain, abs=1e-12)


@pytest.mark.parametrize("trainer", [BpeTrainer, WordPieceTrainer, UnigramTrainer])
def test_a_corpus_without_words_is_refused(trainer) -> None:
    for counts in ({}, {"": 3}):
        with pytest.raises(CourseError, match="The corpus is empty: there is no word to learn"):
            trainer(special_tokens=["[UNK]"]).train(counts)


@pytest.mark.parametrize("trainer", [BpeTrainer, WordPieceTrainer, UnigramTrainer])
def test_a_special_token_may_come_with_options(trainer) -> None:
    mask = AddedToken("[MASK]", lstrip=True)
    plain, ours = ["[UNK]", "[MASK]"], trainer(special_tokens=["[UNK]", mask])
    assert ours.special_tokens == ["[UNK]", mask]
    trained = ours.train(DICTIONARY).model
    assert trained.ids == trainer(special_tokens=plain).train(DICTIONARY).model.ids
    if trainer is WordPieceTrainer:
        ours = WordPieceTrainer(special_tokens=["[UNK]", mask], score="frequency")
    state = json.loads(ours.to_library().__getstate__())[trainer.__name__]
    state = state.get("bpe_trainer", state)  # which WordPiece's is made of
    options = [(token["lstrip"], token["special"]) for token in state["special_tokens"]]
    assert options == [(False, True), (True, True)]


@pytest.mark.parametrize("trainer", [BpeTrainer, WordPieceTrainer, UnigramTrainer])
def test_an_alphabet_may_be_one_string(trainer) -> None:
    specials = {"special_tokens": ["[UNK]"]}
    assert "é" in trainer(initial_alphabet="éa", **specials).train(DICTIONARY).model.ids
    assert "é" in trainer(initial_alphabet={"é"}, **specials).train(DICTIONARY).model.ids


@pytest.mark.parametrize(
    ("options", "size"),
    [({"special_tokens": ["[UNK]"]}, 11), ({"initial_alphabet": "0123456789"}, 20)],
)
def test_a_vocabulary_that_is_too_small(options, size: int) -> None:
    with pytest.raises(CourseError, match="A vocabulary of 10 tokens is too small") as caught:
        BpeTrainer(vocab_size=10, **options).train(DICTIONARY)
    assert caught.value.remedy.startswith(f"Set vocab_size to {size} or more")
    assert BpeTrainer(vocab_size=size, **options).train(DICTIONARY).steps == []


def test_a_training_knows_what_it_came_from_and_has_a_short_repr() -> None:
    for trainer in (
        BpeTrainer(special_tokens=["[UNK]"]),
        WordPieceTrainer(special_tokens=["[UNK]"]),
    ):
        training = trainer.train(DICTIONARY)
        assert (training.trainer, training.word_counts) == (trainer, DICTIONARY)
        assert f"steps=<{len(training.steps)}>" in repr(training)
        assert len(repr(training)) < 250


def test_an_alphabet_that_just_fits_is_no_error() -> None:
    assert BpeTrainer(vocab_size=10).train(DICTIONARY).steps == []


def test_a_model_s_other_options_survive_training() -> None:
    trainer = BpeTrainer(special_tokens=["<unk>"], end_of_word_suffix="</w>")
    model = trainer.train(DICTIONARY, BPE(unk_token="<unk>", fuse_unk=True)).model
    assert (model.unk_token, model.fuse_unk, model.end_of_word_suffix) == ("<unk>", True, "</w>")
