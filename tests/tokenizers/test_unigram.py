"""The unigram model: equal to the library, and to brute force over all segmentations."""

import dataclasses
import json
import math
import random
from itertools import combinations, pairwise

import pytest
from tokenizers import Tokenizer, models

from lmcourse.errors import CourseError
from lmcourse.tokenizers.library import from_library
from lmcourse.tokenizers.models.lattice import (
    UNKNOWN,
    Lattice,
    backward,
    expected_counts,
    forward,
    log_likelihood,
)
from lmcourse.tokenizers.models.unigram import Unigram
from tests.tokenizers.random_text import random_texts

Vocab = tuple[tuple[str, float], ...]
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]


def random_vocab(rng: random.Random, alphabet: str) -> Vocab:
    """Pieces of up to four characters, often with equal scores, perhaps with bytes."""
    pieces = {
        "".join(rng.choices(alphabet, k=rng.randint(1, 4))) for _ in range(rng.randint(1, 15))
    }
    known = ["<unk>", *sorted(pieces), *rng.choice([[], BYTES, BYTES[:100]])]
    few = rng.random() < 0.5  # many ties
    return tuple(
        (piece, rng.choice([0.0, -1.0, -2.0, -0.5]) if few else -10 * rng.random())
        for piece in known
    )


def library_tokens(library: models.Unigram, word: str) -> list[tuple[int, str, tuple[int, int]]]:
    """The library's tokens, with offsets in characters."""
    characters = {0: 0}
    for index, character in enumerate(word):
        characters[max(characters) + len(character.encode())] = index + 1
    return [
        (token.id, token.value, (characters[token.offsets[0]], characters[token.offsets[1]]))
        for token in library.tokenize(word)
    ]


def segmentations(word: str, scores: dict[str, float], unknown: float | None) -> list[list[str]]:
    """All ways to cut a word into pieces, one after another: the definition."""
    found = []
    for size in range(len(word)):
        for cuts in combinations(range(1, len(word)), size):
            bounds = [0, *cuts, len(word)]
            parts = [word[a:b] for a, b in pairwise(bounds)]
            if all(p in scores or (len(p) == 1 and unknown is not None) for p in parts):
                found.append(parts)
    return found


def score_of(parts: list[str], scores: dict[str, float], unknown: float | None) -> float:
    return sum(scores.get(part, unknown or 0.0) for part in parts)


def random_cases(seed: int, n: int) -> list[tuple[str, dict[str, float], float, list[list[str]]]]:
    """A word, scores, the unknown's score, and all segmentations by brute force."""
    rng, cases = random.Random(seed), []
    while len(cases) < n:
        alphabet = rng.choice(["ab", "abc", "aé▁🙂"])
        scores = dict(random_vocab(rng, alphabet))
        word = "".join(rng.choices(alphabet, k=rng.randint(1, 9)))
        unknown = min(scores.values()) - 10
        cases.append((word, scores, unknown, segmentations(word, scores, unknown)))
    return cases


def test_random_vocabularies_as_the_library():
    rng = random.Random(0)
    compared = refused = 0
    for _ in range(1200):
        alphabet = rng.choice(["ab", "abc", "aé▁🙂", "abcdefgh"])
        vocab = random_vocab(rng, alphabet)
        unk_id = rng.choice([0, 0, None, 1])
        fallback = rng.random() < 0.5
        ours, library = Unigram(unk_id, vocab, fallback), models.Unigram([*vocab], unk_id, fallback)
        letters = [*alphabet, "x", "é", *rng.choice([["<unk>"], []])]
        for _ in range(6):
            word = "".join(rng.choices(letters, k=rng.randint(0, 12)))
            try:
                expected = library_tokens(library, word)
            except Exception:
                refused += 1
                continue
            assert ours.tokenize(word) == expected, (vocab, unk_id, word)
            compared += 1
    assert compared > 4000 and refused > 500


@pytest.mark.parametrize(("fallback", "size"), [(False, 3_000), (True, 2_000)])
def test_random_unicode_as_the_library(fallback, size):
    rng = random.Random(1)
    texts = random_texts(2, size)
    pieces = {text[i : i + rng.randint(1, 4)] for text in texts[:600] for i in range(len(text))}
    vocab = (("<unk>", 0.0), *((piece, -12 * rng.random()) for piece in sorted(pieces - {"<unk>"})))
    known = {piece for piece, _ in vocab}
    vocab += tuple((byte, -20.0) for byte in BYTES if byte not in known)
    ours, library = Unigram(0, vocab, fallback), models.Unigram([*vocab], 0, fallback)
    for text in texts:
        assert ours.tokenize(text) == library_tokens(library, text)


def test_the_librarys_own_example():
    scores = {"<unk>": 0.0, "a": 0.0, "b": 0.0, "c": 0.0, "d": 0.0}
    scores |= {"cd": 1.0, "ab": 2.0, "abc": 5.0, "abcd": 10.0}
    tokens = Unigram(0, tuple(scores.items())).tokenize("abcdacdxx")
    assert [token.value for token in tokens] == ["abcd", "a", "cd", "xx"]
    assert tokens[-1] == (0, "xx", (7, 9))


def test_of_equal_segmentations_the_longest_last_piece_wins():
    model = Unigram(None, (("a", -1.0), ("aa", -1.0)))
    assert [token.value for token in model.tokenize("aaa")] == ["a", "aa"]


def test_unknown_neighbors_are_one_token_and_bytes_have_its_offsets():
    vocab = (("<unk>", 0.0), ("a", -1.0))
    assert Unigram(0, vocab).tokenize("aééa")[1] == (0, "éé", (1, 3))
    spelled = Unigram(0, (*vocab, ("<0xC3>", -5.0), ("<0xA9>", -5.0)), byte_fallback=True)
    assert spelled.tokenize("aé") == [
        (1, "a", (0, 1)),
        (2, "<0xC3>", (1, 2)),
        (3, "<0xA9>", (1, 2)),
    ]


def test_without_unknown_token_a_word_that_can_be_cut_is_cut():
    """The library wants every character to be a piece; we want a segmentation."""
    vocab = (("ab", -1.0),)
    assert [token.value for token in Unigram(None, vocab).tokenize("abab")] == ["ab", "ab"]
    with pytest.raises(Exception, match="unk_id"):
        models.Unigram([*vocab], None, False).tokenize("abab")


@pytest.mark.parametrize("method", ["tokenize", "steps", "lattice"])
def test_an_unknown_character_without_unknown_token_is_named(method):
    with pytest.raises(CourseError, match="'é' at position 2") as error:
        getattr(Unigram(None, (("a", -1.0), ("b", -1.0))), method)("abéa")
    assert "unk_id" in error.value.remedy


def test_the_model_comes_back_from_the_library():
    vocab = (("<unk>", 0.0), ("a", -1.5), ("▁b", -0.1))
    for ours in (Unigram(0, vocab), Unigram(None, vocab, True)):
        assert from_library(Tokenizer(ours.to_library())) == ours
    assert ours.ids == {"<unk>": 0, "a": 1, "▁b": 2}
    assert repr(ours) == "Unigram(vocab=<3>, byte_fallback=True)"


def test_steps_replay_the_best_segmentation():
    for word, scores, _, _ in random_cases(3, 150):
        shown = Unigram(0, tuple(scores.items())).steps(word)
        replay = json.loads(json.dumps(dataclasses.asdict(shown), allow_nan=False))
        best, path, end = {0: 0.0}, [], len(word)
        for number, step in enumerate(replay["steps"], start=1):
            assert step["position"] == number
            winner = step["candidates"][step["winner"]]
            for candidate in step["candidates"]:
                assert candidate["total"] == best[candidate["start"]] + candidate["score"]
                assert candidate["piece"] == word[candidate["start"] : number]
                assert candidate["unknown"] == (candidate["piece"] not in scores)
                assert candidate["total"] <= winner["total"]
            best[number] = winner["total"]
        while end:
            step = replay["steps"][end - 1]
            start = step["candidates"][step["winner"]]["start"]
            path.insert(0, [start, end])
            end = start
        assert replay["path"] == path


def test_steps_without_unknown_token_show_only_what_can_be_reached():
    steps = Unigram(None, (("ab", -1.0), ("b", -1.0))).steps("ab").steps
    assert steps[0].candidates == () and steps[0].winner is None
    assert [candidate.piece for candidate in steps[1].candidates] == ["ab"]
    json.dumps([dataclasses.asdict(step) for step in steps], allow_nan=False)


def test_likelihood_and_expected_counts_as_brute_force():
    for word, scores, unknown, ways in random_cases(4, 300):
        lattice = Lattice.of(word, scores, 4, unknown)
        weights = [math.exp(score_of(parts, scores, unknown)) for parts in ways]
        total = math.fsum(weights)
        assert log_likelihood(lattice) == pytest.approx(math.log(total), rel=1e-12, abs=1e-12)
        counts: dict[str, float] = {}
        for parts, weight in zip(ways, weights, strict=True):
            for part in parts:
                key = part if part in scores else UNKNOWN
                counts[key] = counts.get(key, 0.0) + weight / total
        assert expected_counts(lattice) == pytest.approx(counts, rel=1e-12, abs=1e-12)
        assert backward(lattice)[0] == pytest.approx(forward(lattice)[-1], rel=1e-12)


def test_extreme_scores_neither_overflow_nor_vanish():
    scores = {"a": -2000.0, "aa": -3999.0}
    counts = expected_counts(Lattice.of("aa", scores, 2, None))
    likelihood = log_likelihood(Lattice.of("aa", scores, 2, None))
    assert likelihood == pytest.approx(-3999 + math.log1p(math.exp(-1)), rel=1e-15)
    assert counts["aa"] == pytest.approx(1 / (1 + math.exp(-1)), rel=1e-12)


def test_a_word_without_segmentation_has_no_probability():
    lattice = Lattice.of("ab", {"a": -1.0}, 1, None)
    assert log_likelihood(lattice) == -math.inf
    assert expected_counts(lattice) == {}


def test_n_best_as_brute_force():
    for word, scores, unknown, ways in random_cases(5, 200):
        best = sorted((score_of(parts, scores, unknown) for parts in ways), reverse=True)
        model = Unigram(0, tuple(scores.items()))
        for n in (1, 3, 1000):
            found = model.nbest(word, n)
            assert [way.score for way in found] == pytest.approx(best[:n], rel=1e-12, abs=1e-12)
            assert found[0].tokens == model.tokenize(word)


def test_all_of_n_best_differ():
    model = Unigram(None, (("a", -1.0), ("aa", -1.5), ("aaa", -2.5)))
    ways = {tuple(token.value for token in way.tokens) for way in model.nbest("aaaa", 100)}
    assert len(ways) == len(model.nbest("aaaa", 100)) == 7
