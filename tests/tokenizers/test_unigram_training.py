"""The unigram trainer: equal to the library, and to its formulas."""

import dataclasses
import json
import math
import random
from collections import Counter

import pytest
from scipy import special
from tokenizers import Tokenizer, models, pre_tokenizers

from lmcourse.corpus import BookWorld, python_documentation
from lmcourse.errors import CourseError
from lmcourse.tokenizers.models.lattice import UNKNOWN, Lattice, n_best
from lmcourse.tokenizers.models.unigram import Unigram
from lmcourse.tokenizers.models.unigram_em import Corpus, loss, maximize, unknown_score
from lmcourse.tokenizers.models.unigram_training import (
    UnigramTrainer,
    branching_substrings,
    seed_scores,
)

ALPHABETS = ("ab", "abcd", "aé▁🙂xyz", "abcdefgh")


def random_words(rng: random.Random, most: int = 40, alphabets=ALPHABETS) -> dict[str, int]:
    alphabet = rng.choice(alphabets)
    words = (
        "".join(rng.choices(alphabet, k=rng.randint(1, 10))) for _ in range(rng.randint(2, most))
    )
    return {word: rng.randint(1, 30) for word in words}


def random_scores(rng: random.Random, words: dict[str, int]) -> dict[str, float]:
    """Seeds without some of them, some of the characters among those, with random scores."""
    seeds = seed_scores(words, 16, 10**6)
    return {piece: -8 * rng.random() for piece in seeds if rng.random() < 0.8} or seeds


def library_model(trainer: UnigramTrainer, words: dict[str, int]) -> dict:
    tokenizer = Tokenizer(models.Unigram())
    repeated = (word for word, count in words.items() for _ in range(count))
    tokenizer.train_from_iterator(repeated, trainer.to_library())
    return json.loads(tokenizer.to_str())["model"]


def lost_characters(training) -> set[str]:
    """The library puts them back in the order of an unordered set, ours in alphabetical order."""
    return {piece for piece, _ in training.steps[-1].added}


def assert_as_the_library(trainer: UnigramTrainer, words: dict[str, int]) -> None:
    training, library = trainer.train(words), library_model(trainer, words)
    theirs, lost = dict(library["vocab"]), lost_characters(training)
    assert set(training.model.ids) == set(theirs)
    assert training.model.unk_id == library["unk_id"]
    ours = training.model.scores
    kept = [piece for piece in ours if piece not in lost]
    assert [ours[p] for p in kept] == pytest.approx([theirs[p] for p in kept], rel=1e-9, abs=1e-9)
    assert sorted(ours[p] for p in lost) == pytest.approx(sorted(theirs[p] for p in lost), abs=1e-9)


def metaspace_words(texts) -> dict[str, int]:
    cut = pre_tokenizers.Metaspace().pre_tokenize_str
    return dict(Counter(word for text in texts for word, _ in cut(text)))


@pytest.fixture(scope="module")
def bookworld_words():
    return metaspace_words(review.text for review in BookWorld().split("train", 200))


# Seeds


def test_branching_substrings_by_their_definition():
    rng = random.Random(0)
    for _ in range(100):
        words, longest = [*random_words(rng, 15)], rng.randint(1, 6)
        followers: dict[str, list[str]] = {}
        for word in words:
            for start in range(len(word)):
                for end in range(start + 2, min(len(word), start + longest) + 1):
                    followers.setdefault(word[start:end], []).append((word + "\0")[end])
        expected = {p: len(after) for p, after in followers.items() if len(set(after)) > 1}
        assert branching_substrings(words, longest) == expected


def test_seeds_are_exactly_the_librarys():
    """Without EM and with room for all, the library's vocabulary is its seeds."""
    rng = random.Random(1)
    for _ in range(120):
        words = random_words(rng, alphabets=(*ALPHABETS, "ab\0"))
        trainer = UnigramTrainer(
            vocab_size=20_000,
            n_sub_iterations=0,
            max_piece_length=rng.choice([1, 3, 16]),
            seed_size=rng.choice([1, 20, 10**6]),
        )
        theirs = dict(library_model(trainer, words)["vocab"])
        theirs.pop("\0", None)  # added in the end: a required character
        assert seed_scores(words, trainer.max_piece_length, trainer.seed_size) == theirs


# EM


def test_expected_counts_are_the_gradient_of_the_likelihood():
    """d log P / d score = expected count: checked by finite differences."""
    rng = random.Random(2)
    for _ in range(10):
        words = random_words(rng, 8)
        scores = {piece: -4 * rng.random() for piece in seed_scores(words, 16, 10**6)}
        corpus = Corpus(words, scores)
        _, counts = corpus.expected_counts(scores)
        for piece in rng.sample([*scores], 3):
            up, down = (
                corpus.expected_counts(scores | {piece: scores[piece] + step})[0]
                for step in (1e-5, -1e-5)
            )
            assert counts[piece] == pytest.approx((up - down) / 2e-5, rel=1e-4, abs=1e-4)


def test_of_equal_alternatives_the_one_with_the_shortest_last_piece_is_taken():
    flat = {"a": -1.0, "aa": -2.0, "aaa": -3.0}  # all segmentations are equal
    assert Corpus({"aaa": 1}, flat).alternatives(flat, ["aaa"])["aaa"].pieces[-1] == "a"


def test_alternatives_are_second_best():
    rng, looked = random.Random(4), 0
    for _ in range(40):
        words = random_words(rng)
        scores = random_scores(rng, words)
        corpus, unknown = Corpus(words, scores), unknown_score(scores)
        for piece in (piece for piece in scores if len(piece) > 1):
            paths = n_best(Lattice.of(piece, scores, 16, unknown), 3)
            second, *third = [path for path in paths if len(path.nodes) > 1][:2]
            found = corpus.alternatives(scores, [piece])[piece]
            assert found.score == pytest.approx(second.score, rel=1e-12)
            if not third or third[0].score < second.score - 1e-9:
                assert found.pieces == tuple(node.piece(piece) for node in second.nodes)
                looked += 1
    assert looked > 100


def test_plain_em_never_lowers_the_likelihood():
    rng = random.Random(5)
    for _ in range(60):
        words = random_words(rng)
        seeds = seed_scores(words, 16, 10**6)
        corpus, scores, before = Corpus(words, seeds), seeds, -math.inf
        for _ in range(12):
            likelihood, counts = corpus.expected_counts(scores)
            assert likelihood >= before - 1e-9 * abs(likelihood)
            before = likelihood
            total = sum(counts.values())
            scores = {it: math.log(counts[it] / total) for it in scores if counts.get(it)}
            assert sum(map(math.exp, scores.values())) == pytest.approx(1, abs=1e-12)


def test_the_bayesian_m_step_is_its_formula():
    counts = {"a": 7.25, "b": 0.49, "c": 0.5, "ab": 130.0}
    total = special.digamma(7.25 + 0.5 + 130)
    expected = {p: special.digamma(counts[p]) - total for p in ("a", "c", "ab")}
    assert maximize(counts) == pytest.approx(expected, rel=1e-10)
    assert list(maximize(counts)) == ["a", "c", "ab"]


def test_one_em_step_as_the_library():
    rng = random.Random(6)
    for _ in range(60):
        trainer = UnigramTrainer(vocab_size=20_000, n_sub_iterations=1)
        assert_as_the_library(trainer, random_words(rng))


# Pruning


def test_the_loss_by_hand():
    """Words ba (1), babcac (1), … as cut by their seeds: ba occurs twice, b 4 times, a once."""
    exact = 2 / 8 * (math.log(2 / 17) - math.log(6 / 19) - math.log(3 / 19))
    assert loss(2, [4, 1], 17, 8, growth=1) == pytest.approx(exact)
    library = 2 / 8 * (math.log(2 / 17) - math.log(6 / 29) - math.log(3 / 29))
    assert loss(2, [4, 1], 17, 8, growth=6) == pytest.approx(library)


def test_a_round_of_pruning_by_hand():
    """Cut as cc, bc c b, ba bc a c, cc b, ba: c 3, b 4, a 1, cc 4, bc 3, ba 2; 8 words."""
    words = {"cc": 2, "bccb": 2, "babcac": 1, "ccb": 2, "ba": 1}
    trainer = UnigramTrainer(vocab_size=6, n_sub_iterations=0, shrinking_factor=0.01)
    step = trainer.train(words).steps[1]
    bc = 3 / 8 * (math.log(3 / 17) - math.log(7 / (17 + 3 * 6)) - math.log(6 / (17 + 3 * 6)))
    ba = 2 / 8 * (math.log(2 / 17) - math.log(6 / (17 + 2 * 6)) - math.log(3 / (17 + 2 * 6)))
    assert step.spared == ("bc", pytest.approx(bc))
    assert step.removed == (("ba", pytest.approx(ba)),)


def test_a_piece_in_use_that_is_as_good_as_its_parts_stays():
    words, scores = {"ab": 2, "cd": 2}, {"a": -1.0, "b": -1.0, "ab": -2.0, "c": -1.0, "d": -1.0}
    kept, step = UnigramTrainer(vocab_size=4)._prune(Corpus(words, scores), scores, 4)
    assert "ab" in kept and step.removed == () and step.spared is None


def test_one_round_of_pruning_as_the_library():
    rng, pruned = random.Random(7), 0
    for _ in range(150):
        words = random_words(rng)
        size = len(set("".join(words))) + rng.randint(2, 12)
        trainer = UnigramTrainer(vocab_size=size, n_sub_iterations=0, shrinking_factor=0.05)
        assert_as_the_library(trainer, words)
        pruned += any(step.kind == "prune" for step in trainer.train(words).steps)
    assert pruned > 50


# Training


def test_random_training_as_the_library():
    rng, compared = random.Random(8), 0
    while compared < 120:
        words = random_words(rng, 60)
        special_tokens = rng.choice([(), ("<s>", "</s>"), ("<s>", "<unk>")])
        trainer = UnigramTrainer(
            vocab_size=len(set("".join(words)) | {"q", "z"}) + rng.randint(4, 40),
            special_tokens=special_tokens,
            unk_token=rng.choice([None, "<unk>"]),
            initial_alphabet=rng.choice([(), ("q", "z")]),
            max_piece_length=rng.choice([16, 3]),
            shrinking_factor=rng.choice([0.75, 0.5]),
            n_sub_iterations=rng.choice([1, 2, 3]),
            seed_size=rng.choice([10**6, 40]),
        )
        assert_as_the_library(trainer, words)
        compared += 1


@pytest.mark.parametrize("size", [200, 1000])
def test_bookworld_as_the_library(bookworld_words, size):
    assert_as_the_library(UnigramTrainer(vocab_size=size, unk_token="<unk>"), bookworld_words)


def test_the_documentation_as_the_library():
    words = metaspace_words(python_documentation()[:40])
    assert_as_the_library(UnigramTrainer(vocab_size=2000), words)


def test_steps_replay_the_training(bookworld_words):
    training = UnigramTrainer(vocab_size=300, special_tokens=["<s>"]).train(bookworld_words)
    steps = json.loads(json.dumps([dataclasses.asdict(step) for step in training.steps]))
    seeds, *rounds, finish = steps
    assert seeds["kind"] == "seed" and finish["kind"] == "finish"
    known = {piece for piece, _ in seeds["pieces"]}
    for step in [*rounds, finish]:
        assert step["size"] == len(known)
        removed = {piece for piece, _ in step["removed"]}
        assert removed <= known
        known -= removed
        if step["kind"] == "prune":
            assert all(len(piece) > 1 for piece in removed)
            used = [value for _, value in step["removed"] if value]
            assert used == sorted(used) and used[-1:] <= [step["spared"][1]]
            spared = step["spared"][0]
            assert spared in known
            if used:  # the pieces and the library's unknown one, times the shrinking factor
                assert len(known) == max(int(0.75 * (step["size"] + 1)), 330) - 1
    known |= {piece for piece, _ in finish["added"]} | {"<s>"}
    assert known == set(training.model.ids)
    assert [step["kind"] for step in rounds[:3]] == ["em", "em", "prune"]


def test_steps_record_the_likelihood_of_each_round():
    words = {"abab": 3, "ab": 2, "abc": 1}
    first = UnigramTrainer().train(words).steps[1]
    seeds = seed_scores(words, 16, 10**6)
    likelihood, counts = Corpus(words, seeds).expected_counts(seeds)
    assert first.log_likelihood == pytest.approx(likelihood / 6)
    assert first.tokens == pytest.approx(sum(counts.values()))


def test_the_order_of_words_changes_nothing(bookworld_words):
    shuffled = random.Random(10).sample([*bookworld_words.items()], len(bookworld_words))
    trainer = UnigramTrainer(vocab_size=400)
    assert trainer.train(dict(shuffled)) == trainer.train(bookworld_words)


def test_characters_always_stay_and_the_size_is_kept():
    """The library goes beyond vocab_size where the characters alone fill it."""
    words = {"abcabc": 30, "abd": 1, "xab": 1, "bcab": 9}
    trainer = UnigramTrainer(vocab_size=8, unk_token="<unk>", special_tokens=["<s>"])
    with pytest.raises(CourseError):
        UnigramTrainer(vocab_size=6, unk_token="<unk>", special_tokens=["<s>"]).train(words)
    assert set("abcdx") <= set(trainer.train(words).model.ids)
    full = dataclasses.replace(trainer, vocab_size=7)
    assert set(full.train(words).model.ids) == {"<unk>", "<s>", *"abcdx"}
    assert len(library_model(full, words)["vocab"]) > 7


def test_lost_characters_come_back_below_all_others():
    rng, found = random.Random(11), 0
    for _ in range(60):
        words = random_words(rng, alphabets=["abcd"])
        always = {word.replace("a", "qu"): count for word, count in words.items()}
        training = UnigramTrainer().train(always)
        added = dict(training.steps[-1].added)
        lowest = min(score for piece, score in training.model.vocab if piece not in added)
        expected = [lowest + 0.0001 * number for number in range(len(added))]
        assert [*added.values()] == expected
        assert added.items() <= training.model.scores.items()
        found += bool(added)
    assert found > 3


def test_special_tokens_come_first_and_once():
    words = {"ab": 5, "abc": 3, "<s>": 4}
    model = UnigramTrainer(special_tokens=["<s>"], unk_token="?").train(words).model
    assert model.vocab[:2] == (("?", 0.0), ("<s>", 0.0)) and model.unk_id == 0
    model = UnigramTrainer(special_tokens=["a", "?"], unk_token="?").train(words).model
    assert model.vocab[:2] == (("a", 0.0), ("?", 0.0)) and model.unk_id == 1
    assert [piece for piece, _ in model.vocab].count("a") == 1
    trainer = UnigramTrainer(special_tokens=["a"])
    for _, scores in trainer.rounds(words):  # on the way it is a piece as well
        assert [piece for piece, _ in trainer.model(scores).vocab].count("a") == 1


def test_a_trained_model_cuts_as_the_librarys(bookworld_words):
    model = UnigramTrainer(vocab_size=500, unk_token="<unk>").train(bookworld_words).model
    library = models.Unigram([*model.vocab], model.unk_id, False)
    for word in bookworld_words:
        assert [t.id for t in model.tokenize(word)] == [t.id for t in library.tokenize(word)]


def test_a_corpus_that_leaves_nothing_but_characters_ends():
    """Here the library prunes for ever: with its unknown piece the vocabulary stays too large."""
    for size in (1, 2, 3):
        words = {"".join("abc"[:size]): 9}
        assert len(UnigramTrainer(vocab_size=size).train(words).model.ids) == size


def test_words_of_the_boundary_alone_have_no_seeds():
    training = UnigramTrainer().train({"\0": 3, "\0\0": 1})
    assert training.model == Unigram(None, (("\0", 0.0),))


def test_unknown_characters_are_counted_but_are_no_piece():
    corpus = Corpus({"ab": 3}, ["a", "b"])
    assert corpus.expected_counts({"a": -1.0})[1][UNKNOWN] == pytest.approx(3)
    assert UNKNOWN not in UnigramTrainer().train({"\0ab": 3, "ab": 1}).model.ids


# Options and errors


def test_to_library_carries_every_option():
    trainer = UnigramTrainer(50, ["<s>"], ["q"], "<unk>", 5, 0.5, 3, 99)
    state = json.loads(trainer.to_library().__getstate__())["UnigramTrainer"]
    assert [token["content"] for token in state.pop("special_tokens")] == ["<s>"]
    assert not state.pop("show_progress") and not state.pop("words")
    fields = dataclasses.asdict(trainer)
    assert {name: fields[name] for name in state} == state
    defaults = json.loads(UnigramTrainer().to_library().__getstate__())["UnigramTrainer"]
    assert defaults["vocab_size"] == 8000 and defaults["seed_size"] == 1_000_000
    assert defaults["shrinking_factor"] == 0.75 and defaults["max_piece_length"] == 16


def test_a_vocabulary_without_room_names_the_size_it_needs():
    with pytest.raises(CourseError, match="A vocabulary of 3 tokens is too small") as error:
        UnigramTrainer(vocab_size=3, special_tokens=["<s>"], unk_token="?").train({"abcd": 2})
    assert "6 or more" in error.value.remedy


# Replay


def test_rounds_are_the_training_with_the_scores_after_each():
    rng = random.Random(13)
    for _ in range(10):
        words = random_words(rng)
        trainer = UnigramTrainer(30, ["<s>"], unk_token="?")
        training, rounds = trainer.train(words), list(trainer.rounds(words))
        assert [type(step) for step, _ in rounds] == [type(step) for step in training.steps]
        before = dict(training.steps[0].pieces)
        assert rounds[0][1] == before
        for step, scores in rounds[1:]:
            removed = {piece for piece, _ in step.removed}
            added = dict(step.added) if step.kind == "finish" else {}
            assert set(scores) == (set(before) - removed) | set(added)
            if step.kind == "em":
                assert all(scores[piece] <= 0 for piece in scores)
            else:  # pruning leaves the scores alone
                assert all(scores[piece] == before[piece] for piece in set(scores) - set(added))
            before = scores
        assert trainer.model(before).ids == training.model.ids
        assert training.trainer == trainer and training.word_counts == words


def test_a_word_can_be_cut_anew_after_each_round(bookworld_words):
    """By the end, in pieces that the model has; in the middle, some that it has not."""
    trainer = UnigramTrainer(vocab_size=300, unk_token="<unk>")
    models_ = [trainer.model(scores) for _, scores in trainer.rounds(bookworld_words)]
    final = trainer.train(bookworld_words).model
    assert models_[-1] == final
    words = list(bookworld_words)[:50]
    cuts = [[model.tokenize(word) for word in words] for model in models_]
    assert cuts[0] != cuts[1] != cuts[-1]
    assert all(model.vocab[0] == ("<unk>", 0.0) for model in models_)
