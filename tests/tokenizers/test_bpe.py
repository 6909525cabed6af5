"""BPE's segmentation: against the library, step by step, with unknown characters."""

import dataclasses
import json
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from random import Random

import pytest

from lmcourse.corpus import python_documentation
from lmcourse.errors import CourseError
from lmcourse.tokenizers.library import from_library
from lmcourse.tokenizers.models.bpe import BPE, BpeStep
from lmcourse.tokenizers.models.merging import Pair, joined
from lmcourse.tokenizers.models.trainers import BpeTrainer
from tests.tokenizers.corpora import last_of_each, library_of, library_tokens, random_word

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
    word = random_word(random, LETTERS) * 100
    assert model.tokenize(word) == library_tokens(library_of(model), word)


def test_each_step_is_the_oldest_merge_at_its_leftmost_position() -> None:
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
            assert min(found) == (step.rank, step.position)
            assert step.pair == before.pieces[step.position : step.position + 2]


def test_steps_are_json() -> None:
    model = BpeTrainer().train({"ab": 2}).model
    shown = json.loads(json.dumps(dataclasses.asdict(model.steps("ab"))))
    whole = {"pieces": ["ab"], "spans": [[0, 2]], "pair": ["a", "b"], "rank": 0, "position": 0}
    assert shown["word"] == "ab" and shown["steps"][1] == whole
    assert shown["steps"][0]["spans"] == [[0, 1], [1, 2]]


def test_steps_name_the_characters_of_an_unknown_token() -> None:
    model = BPE(vocab={"a": 0, "<unk>": 1}, unk_token="<unk>", fuse_unk=True)
    (step,) = model.steps("aé한").steps
    assert (step.pieces, step.spans) == (("a", "<unk>"), ((0, 1), (1, 3)))


def test_the_model_comes_back_from_the_library() -> None:
    model = random_bpe(Random(10), unk_token="<unk>")
    found = from_library(library_of(model))
    assert found == replace(model, merges=tuple(last_of_each(list(model.merges))))


def test_an_unknown_byte_stays_in_its_position() -> None:
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
    assert BPE().tokenize("") == []


def test_a_model_has_a_short_repr() -> None:
    model = BPE(unk_token="[UNK]", vocab={str(id_): id_ for id_ in range(5000)})
    assert repr(model) == "BPE(unk_token='[UNK]', vocab=<5,000>, merges=<0>)"
