"""BPE's segmentation: against the library, step by step, with unknown characters and dropout."""

import dataclasses
import json
import pickle
from collections import Counter
from itertools import pairwise
from random import Random

import msgspec
import pytest
from scipy.stats import chisquare

from lmcourse.corpus import python_documentation
from lmcourse.errors import CourseError
from lmcourse.tokenizers.models.bpe import BPE, BpeStep
from lmcourse.tokenizers.models.merging import Pair, joined
from lmcourse.tokenizers.models.trainers import BpeTrainer
from lmcourse.tokenizers.models.unigram import Unigram
from lmcourse.tokenizers.models.word_level import WordLevel
from lmcourse.tokenizers.models.word_model import CACHED_LENGTH, CACHED_WORDS
from lmcourse.tokenizers.models.wordpiece import WordPiece
from tests.tokenizers.corpora import library_of, library_tokens, random_word

LETTERS = "abcdé한👍"
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]
DICTIONARY = {"low": 5, "lower": 2, "newest": 6, "widest": 3}


def random_bpe(random: Random, **options) -> BPE:
    """Some letters, and merges of tokens that are there, in any order."""
    prefix = options.get("continuing_subword_prefix") or ""
    suffix = options.get("end_of_word_suffix") or ""
    known = random.sample(LETTERS, random.randint(2, len(LETTERS)))
    first = [*known, *(prefix + letter for letter in known)]
    tokens = dict.fromkeys([*first, *(token + suffix for token in first)])
    merges: list[Pair] = []
    for _ in range(random.randint(0, 25)):
        right = [token for token in tokens if token.startswith(prefix)]
        pair = random.choice(list(tokens)), random.choice(right)
        merges.append(pair)
        tokens[joined(pair, prefix)] = None
    if options.get("unk_token"):
        tokens[options["unk_token"]] = None
    if options.get("byte_fallback"):
        tokens |= dict.fromkeys(BYTES)
        byte_tokens = [*BYTES[0xC0:], *BYTES[0x80:]]
        for _ in range(10):
            pair = random.choice(byte_tokens), random.choice([*byte_tokens, *first])
            merges.append(pair)
            tokens[joined(pair)] = None
    random.shuffle(merges)
    vocab = {token: id_ for id_, token in enumerate(random.sample(list(tokens), len(tokens)))}
    return BPE(vocab=vocab, merges=tuple(merges), **options)


@pytest.mark.parametrize(
    "options",
    [
        {"unk_token": "<unk>"},
        {"unk_token": "<unk>", "fuse_unk": True},
        {"unk_token": "a", "fuse_unk": True},
        {"unk_token": "<unk>", "ignore_merges": True},
        {"byte_fallback": True},
        {"byte_fallback": True, "unk_token": "<unk>", "fuse_unk": True},
        {"unk_token": "<unk>", "continuing_subword_prefix": "##"},
        {"unk_token": "<unk>", "end_of_word_suffix": "</w>"},
        {
            "unk_token": "<unk>",
            "continuing_subword_prefix": "##",
            "end_of_word_suffix": "</w>",
            "fuse_unk": True,
        },
    ],
    ids=str,
)
def test_random_models_cut_words_as_the_library_does(options) -> None:
    random = Random(7)
    for _ in range(60):
        model = random_bpe(random, **options)
        library = library_of(model)
        for _ in range(25):
            word = random_word(random, LETTERS + "?")
            if options.get("ignore_merges") and random.random() < 0.5:
                word = random.choice(list(model.vocab))
            tokens = model.tokenize(word)
            assert tokens == library_tokens(library, word)
            assert model.tokenize(word) == tokens  # from the cache
            shown = model.steps(word)
            assert list(shown.tokens) == tokens
            assert list(shown.steps[-1].pieces) == [token.value for token in tokens]
            assert list(shown.steps[-1].spans) == [token.offsets for token in tokens]


def test_a_trained_model_cuts_a_corpus_as_the_library_does() -> None:
    counts = Counter(" ".join(python_documentation()[:20]).split())
    model = BpeTrainer(vocab_size=1500, special_tokens=["<unk>"]).train(counts).model
    library = library_of(model)
    for word in counts:
        assert model.tokenize(word) == library_tokens(library, word)


def test_long_words_are_cut_as_the_library_does() -> None:
    random = Random(8)
    model = random_bpe(random, unk_token="<unk>")
    word = random_word(random, LETTERS) * 400
    assert len(word) > CACHED_LENGTH
    assert model.tokenize(word) == library_tokens(library_of(model), word)


def test_each_step_is_the_oldest_merge_at_its_leftmost_place() -> None:
    model = BpeTrainer().train(DICTIONARY).model
    letters = ((0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 6))
    assert model.steps("lowest").steps == (
        BpeStep(("l", "o", "w", "e", "s", "t"), letters),
        BpeStep(("l", "o", "w", "es", "t"), (*letters[:3], (3, 5), (5, 6)), ("e", "s"), 0, 3),
        BpeStep(("l", "o", "w", "est"), (*letters[:3], (3, 6)), ("es", "t"), 1, 3),
        BpeStep(("lo", "w", "est"), ((0, 2), (2, 3), (3, 6)), ("l", "o"), 2, 0),
        BpeStep(("low", "est"), ((0, 3), (3, 6)), ("lo", "w"), 3, 0),
    )
    random = Random(9)
    for _ in range(100):
        model = random_bpe(random, unk_token="<unk>")
        for before, step in pairwise(model.steps(random_word(random, LETTERS)).steps):
            ranks = {pair: rank for rank, pair in enumerate(model.merges)}
            found = [(ranks[p], i) for i, p in enumerate(pairwise(before.pieces)) if p in ranks]
            assert min(found) == (step.rank, step.place)
            assert step.pair == before.pieces[step.place : step.place + 2]


def test_steps_are_json() -> None:
    model = BpeTrainer().train({"ab": 2}).model
    shown = json.loads(json.dumps(dataclasses.asdict(model.steps("ab"))))
    whole = {"pieces": ["ab"], "spans": [[0, 2]], "pair": ["a", "b"], "rank": 0, "place": 0}
    assert shown["word"] == "ab" and shown["steps"][1] == whole
    assert shown["steps"][0]["spans"] == [[0, 1], [1, 2]]


def test_steps_name_the_characters_of_an_unknown_token() -> None:
    model = BPE(vocab={"a": 0, "<unk>": 1}, unk_token="<unk>", fuse_unk=True)
    (step,) = model.steps("aé한").steps
    assert (step.pieces, step.spans) == (("a", "<unk>"), ((0, 1), (1, 3)))


def test_the_file_s_fields_come_back() -> None:
    model = random_bpe(Random(10), unk_token="<unk>", dropout=0.1)
    assert msgspec.json.decode(msgspec.json.encode(model), type=BPE) == model
    written = json.loads(library_of(model).to_str())["model"]
    unique = [pair for i, pair in enumerate(model.merges) if pair not in model.merges[i + 1 :]]
    ours = msgspec.to_builtins(msgspec.structs.replace(model, merges=tuple(unique)))
    ours["merges"] = [list(pair) for pair in ours["merges"]]
    assert written == ours
    assert list(written)[:-2] == list(ours)[:-2]


def test_an_unknown_byte_stays_in_its_place() -> None:
    """The library puts an unknown character's token behind the bytes of those that follow it."""
    vocab = {"a": 0, "<0xC3>": 1, "<0xA9>": 2, "<unk>": 3}
    model = BPE(vocab=vocab, byte_fallback=True, unk_token="<unk>")
    assert [(token.value, token.offsets) for token in model.tokenize("xéa")] == [
        ("<unk>", (0, 1)),
        ("<0xC3>", (1, 2)),
        ("<0xA9>", (1, 2)),
        ("a", (2, 3)),
    ]
    theirs = [token.value for token in library_tokens(library_of(model), "xéa")]
    assert theirs == ["<0xC3>", "<0xA9>", "<unk>", "a"]


def test_an_unknown_character_without_an_unknown_token_is_an_error() -> None:
    model = BPE(vocab={"a": 0})
    with pytest.raises(CourseError, match=r"The character 'é' \(U\+00E9\) is not in BPE's"):
        model.tokenize("aé")
    assert [token.value for token in library_tokens(library_of(model), "aéa")] == ["a", "a"]
    with pytest.raises(CourseError, match="no vocabulary yet"):
        BPE(unk_token="<unk>").tokenize("a")
    assert BPE().tokenize("") == []


@pytest.mark.parametrize(
    ("options", "cause"),
    [
        (
            {"vocab": {"a": 0, "b": 0}},
            "The vocabulary gives the id 0 to both 'a' and 'b'.",
        ),
        ({"vocab": {"a": -1}}, "The vocabulary gives 'a' the id -1."),
        (
            {"vocab": {"a": 0}, "unk_token": "<unk>"},
            "The unknown token '<unk>' is not in BPE's vocabulary.",
        ),
        (
            {"vocab": {"a": 0, "ab": 1}, "merges": (("a", "b"),)},
            "Merge 0, 'a' + 'b', needs the token 'b', which is not in BPE's vocabulary.",
        ),
        (
            {"vocab": {"a": 0, "b": 1}, "merges": (("a", "b"),)},
            "Merge 0, 'a' + 'b', needs the token 'ab', which is not in BPE's vocabulary.",
        ),
        ({"dropout": 1.5}, "The dropout 1.5 is no probability."),
    ],
)
def test_models_that_cannot_be(options, cause: str) -> None:
    with pytest.raises(CourseError) as caught:
        BPE(**options)
    assert caught.value.cause == cause


DIGITS = {token: id_ for id_, token in enumerate([*"0123456789", "[UNK]"])}
UNIGRAM = Unigram(0, tuple((token, -1.0) for token in DIGITS))
MODELS = [BPE(vocab=DIGITS), WordPiece(vocab=DIGITS), UNIGRAM, WordLevel(DIGITS, "[UNK]")]
METHODS = [
    (model, name)
    for model in [*MODELS, BPE(dropout=0.5, vocab=DIGITS), BPE(ignore_merges=True, vocab=DIGITS)]
    for name in ("tokenize", "steps", "lattice", "cut")
    if hasattr(model, name)
]


@pytest.mark.parametrize("model", MODELS[:3], ids=lambda model: type(model).__name__)
def test_the_cache_is_bounded(model) -> None:
    model = msgspec.structs.replace(model)
    model.tokenize("1" * (CACHED_LENGTH + 1))
    assert not model._cache
    for number in range(CACHED_WORDS + 500):
        model.tokenize(str(number))
    assert len(model._cache) == CACHED_WORDS
    first = model.tokenize("7")
    model.tokenize("7").clear()  # the caller's list is the caller's
    assert model.tokenize("7") == first
    assert pickle.loads(pickle.dumps(model)) == model


@pytest.mark.parametrize("word", [None, 5, ["a"], b"a", "1\ud800"], ids=repr)
@pytest.mark.parametrize(("model", "name"), METHODS, ids=str)
def test_a_word_must_be_a_text(model, name: str, word) -> None:
    with pytest.raises(CourseError, match=r"must be a string|lone surrogate"):
        getattr(model, name)(word)


def test_a_model_has_a_short_repr() -> None:
    model = BPE(unk_token="[UNK]", vocab={**DIGITS, "12": 11}, merges=(("1", "2"),))
    assert repr(model) == "BPE(unk_token='[UNK]', vocab=<12>, merges=<1>)"
    assert repr(UNIGRAM) == "Unigram(unk_id=0, vocab=<11>)"
    assert repr(BPE(vocab={str(number): number for number in range(5000)})) == (
        "BPE(vocab=<5,000>, merges=<0>)"
    )
    for kind in (WordPiece(vocab=DIGITS), WordLevel(DIGITS, "[UNK]")):
        assert "vocab=<11>" in repr(kind)


def outcomes(
    pieces: tuple[str, ...], merges: list[Pair], dropout: float
) -> Counter[tuple[str, ...]]:
    """Every end of BPE-dropout and its probability, by the algorithm as it is published."""
    found = sorted((merges.index(p), i) for i, p in enumerate(pairwise(pieces)) if p in merges)
    ends: Counter[tuple[str, ...]] = Counter({pieces: dropout ** len(found)})
    for dropped, (_, i) in enumerate(found):
        probability = dropout**dropped * (1 - dropout)  # those before are left out, this is not
        merged = (*pieces[:i], pieces[i] + pieces[i + 1], *pieces[i + 2 :])
        for end, share in outcomes(merged, merges, dropout).items():
            ends[end] += probability * share
    return ends


def test_dropout_draws_each_segmentation_as_often_as_published() -> None:
    trained = BpeTrainer().train(DICTIONARY).model
    model = msgspec.structs.replace(trained, dropout=0.3)
    expected = outcomes(tuple("lowest"), list(model.merges), 0.3)
    assert sum(expected.values()) == pytest.approx(1)
    generator, draws = Random(11), 20_000
    seen = Counter(
        tuple(token.value for token in model.tokenize("lowest", generator)) for _ in range(draws)
    )
    assert set(seen) <= set(expected)
    often = [end for end in expected if expected[end] * draws >= 5]
    rare = 1 - sum(expected[end] for end in often)
    observed = [*(seen[end] for end in often), draws - sum(seen[end] for end in often)]
    assert chisquare(observed, [draws * p for p in (*map(expected.get, often), rare)]).pvalue > 0.01


def test_dropout_of_all_and_of_nothing() -> None:
    trained = BpeTrainer().train(DICTIONARY).model
    everything = msgspec.structs.replace(trained, dropout=1.0)
    assert [token.value for token in everything.tokenize("low")] == ["l", "o", "w"]
    nothing = msgspec.structs.replace(trained, dropout=0.0)
    assert nothing.tokenize("low") == trained.tokenize("low")


def test_dropout_repeats_with_the_same_generator() -> None:
    model = msgspec.structs.replace(BpeTrainer().train(DICTIONARY).model, dropout=0.5)
    first = [model.tokenize("newest", Random(seed)) for seed in range(20)]
    assert first == [model.tokenize("newest", Random(seed)) for seed in range(20)]
    assert len({tuple(tokens) for tokens in first}) > 3
    shown = model.steps("newest", Random(4))
    assert list(shown.tokens) == first[4]


def test_words_are_looked_up() -> None:
    model = WordLevel(vocab={"low": 0, "<unk>": 1})
    library = library_of(model)
    for word in ("low", "lower", "👍"):
        assert model.tokenize(word) == library_tokens(library, word)
    assert model.tokens == {0: "low", 1: "<unk>"}
    assert json.loads(library.to_str())["model"] == msgspec.to_builtins(model)
    with pytest.raises(CourseError, match="The word 'high' is not in the vocabulary, nor is"):
        WordLevel(vocab={"low": 0}).tokenize("high")
    with pytest.raises(CourseError, match="the id 0 to both"):
        WordLevel(vocab={"low": 0, "<unk>": 0})
