"""Whole tokenizers: the library's, with our training or its own."""

from functools import cache, partial
from typing import Any

import pytest
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from lmcourse.corpus import BookWorld, python_documentation
from lmcourse.errors import CourseError
from lmcourse.tokenizers import BpeTrainer, Vocabulary, recipes
from lmcourse.tokenizers.library import from_library, split
from lmcourse.tokenizers.well_known import with_parts
from tests.tokenizers.corpora import last_of_each, learned
from tests.tokenizers.random_text import random_texts

RECIPES: dict[str, dict[str, Any]] = {
    "char_bpe": {},
    "gpt2": {},
    "roberta": {},
    "bert": {"score": "frequency"},
    "albert": {},
}


@cache
def corpus(name: str = "BookWorld") -> list[str]:
    if name == "documentation":
        return python_documentation()
    return [review.text for review in BookWorld().split("train", at_most=300)]


@cache
def trained(recipe: str) -> recipes.Recipe:
    """Also trained on random texts, so that there are pieces of every script."""
    texts = [*corpus(), *corpus("documentation")[:10], *random_texts(seed=11, n=300)]
    if recipe == "albert":
        texts = [*corpus()[:100], *random_texts(seed=11, n=300)]
    return getattr(recipes, recipe)(texts, 3000, **RECIPES[recipe])


@pytest.mark.parametrize("recipe", RECIPES)
def test_the_steps_end_in_the_tokens_ids_and_offsets_of_the_tokenizer(recipe: str) -> None:
    """Our model, on the words that the library finds, against the library's tokenizer."""
    tokenizer, training = trained(recipe)
    tokenizer = Tokenizer.from_str(tokenizer.to_str())
    tokenizer.encode_special_tokens = True
    for text in [*corpus()[:50], *random_texts(seed=12, n=2000)]:
        encoding = tokenizer.encode(text, add_special_tokens=False)
        words = split(tokenizer, text)
        tokens = [
            (n, token) for n, it in enumerate(words) for token in training.model.tokenize(it.text)
        ]
        assert [token.id for _, token in tokens] == encoding.ids, ascii(text)
        assert [token.value for _, token in tokens] == encoding.tokens, ascii(text)
        assert [n for n, _ in tokens] == encoding.word_ids, ascii(text)
        for (n, token), offsets in zip(tokens, encoding.offsets, strict=True):
            start, end = words[n].span
            assert start <= offsets[0] <= offsets[1] <= end
            if words[n].text == text[start:end]:  # nothing was inserted or removed
                assert offsets == (start + token.offsets[0], start + token.offsets[1]), ascii(text)


@pytest.mark.parametrize("recipe", RECIPES)
def test_the_course_s_model_is_the_library_s(recipe: str) -> None:
    tokenizer, training = trained(recipe)
    assert from_library(tokenizer) == training.model
    assert recipes.recipe_of(tokenizer).training.model == training.model
    assert from_library(Tokenizer.from_str(tokenizer.to_str())).ids == training.model.ids


def test_a_model_of_words_has_no_steps() -> None:
    with pytest.raises(CourseError, match="a WordLevel, which has no pieces"):
        from_library(Tokenizer(models.WordLevel({"a": 0}, "a")))


@pytest.mark.parametrize("recipe", ["gpt2", "roberta"])
def test_every_text_comes_back_from_its_bytes(recipe: str) -> None:
    tokenizer = trained(recipe).tokenizer
    for text in random_texts(seed=13, n=2000):
        ids = tokenizer.encode(text, add_special_tokens=False).ids
        assert tokenizer.decode(ids, skip_special_tokens=False) == text, ascii(text)


@pytest.mark.parametrize("corpus_name", ["BookWorld", "documentation"])
@pytest.mark.parametrize("kind", ["characters", "bytes"])
def test_our_trainer_learns_the_library_s_merges(kind: str, corpus_name: str) -> None:
    texts = corpus(corpus_name)[:300]

    def learn(backend: Any) -> recipes.Recipe:
        if kind == "bytes":
            return recipes.gpt2(texts, 1500, backend=backend)
        tokenizer = with_parts(
            models.BPE(unk_token="?"),
            normalizer=normalizers.NFKC(),
            pre_tokenizer=pre_tokenizers.BertPreTokenizer(),
        )
        return recipes.train(tokenizer, BpeTrainer(1000, special_tokens=["?"]), texts, backend)

    (ours, record), (theirs, nothing) = learn("course"), learn("tokenizers")
    assert ours.to_str() == theirs.to_str()
    assert [step.pair for step in record.steps] == list(nothing.model.merges)
    assert len(record.steps) > 500 and list(nothing.steps) == []


def test_a_unigram_vocabulary_does_not_depend_on_the_backend() -> None:
    ours, theirs = (
        recipes.albert(corpus()[:100], 300, backend=backend).training.model.scores
        for backend in ("course", "tokenizers")
    )
    assert ours.keys() == theirs.keys()
    for piece in ours:  # the library restores dropped characters in an order that differs
        within = 1e-9 if len(piece) > 1 else 1e-3
        assert ours[piece] == pytest.approx(theirs[piece], abs=within)


@pytest.mark.parametrize(
    ("recipe", "settings"), [("char_bpe", {}), ("bert", {"score": "frequency"})]
)
def test_pieces_with_a_mark_are_the_library_s(recipe: str, settings: dict[str, Any]) -> None:
    """All of them, in order, once ours start from the library's numbers of the first pieces."""
    train = partial(getattr(recipes, recipe), corpus(), 1000, **settings)
    ours, theirs = train().training, train(backend="tokenizers").training.model
    steps, vocab = learned(ours.trainer, dict(ours.word_counts), theirs.vocab)
    assert vocab == theirs.vocab
    assert len(steps) > 500 and steps[0] == ours.steps[0]
    if recipe == "char_bpe":
        assert last_of_each([step.pair for step in steps]) == list(theirs.merges)
        assert any(right.endswith("</w>") for _, right in theirs.merges)


@pytest.mark.parametrize("backend", ["course", "tokenizers"])
@pytest.mark.parametrize(
    ("recipe", "texts", "options"),
    [
        ("gpt2", [""], {}),
        ("bert", ["\x00\x01"], {"score": "frequency"}),
        ("albert", ["\u0301"], {}),
    ],
)
def test_texts_without_words_are_refused(recipe: str, texts: list[str], options, backend) -> None:
    with pytest.raises(CourseError, match="The corpus is empty"):
        getattr(recipes, recipe)(texts, 300, backend=backend, **options)


@pytest.mark.parametrize("backend", ["course", "tokenizers"])
def test_a_vocabulary_that_is_too_small_is_refused(backend) -> None:
    with pytest.raises(CourseError, match="A vocabulary of 20 tokens is too small"):
        recipes.char_bpe(corpus()[:20], 20, backend=backend)


def test_a_string_is_no_corpus() -> None:
    for recipe in RECIPES:
        with pytest.raises(CourseError, match="A corpus is a list of texts, not str"):
            getattr(recipes, recipe)("The cat")


def test_the_mask_of_roberta_includes_the_space_before_it() -> None:
    encoding = trained("roberta").tokenizer.encode("I <mask> it")
    assert encoding.tokens[:3] == ["<s>", "I", " <mask>"]


def test_short_repr() -> None:
    """It does not list vocabularies, merges or steps."""
    for recipe in RECIPES:
        assert len(repr(trained(recipe).training)) < 900


@pytest.mark.parametrize(
    ("recipe", "first", "pair"),
    [
        ("bert", ["[CLS]", "the", "[SEP]"], "[CLS] the [SEP] the [SEP]"),
        ("albert", ["[CLS]", "▁the", "[SEP]"], "[CLS] ▁the [SEP] ▁the [SEP]"),
        ("roberta", ["<s>", "The", "</s>"], "<s> The </s> </s> The </s>"),
        ("gpt2", ["The"], "The The"),
        ("char_bpe", ["The</w>"], "The</w> The</w>"),
    ],
)
def test_texts_are_framed_as_the_model_reads_them(recipe: str, first: list[str], pair: str) -> None:
    tokenizer = trained(recipe).tokenizer
    assert tokenizer.encode("The").tokens == first
    both = tokenizer.encode("The", "The")
    assert " ".join(both.tokens) == pair
    segments = [0, 0, 0, 1, 1] if recipe in ("bert", "albert") else [0] * len(both)
    assert both.type_ids == (segments if recipe not in ("gpt2", "char_bpe") else [0, 1])


@pytest.mark.parametrize("recipe", ["bert", "albert", "roberta"])
def test_batches_are_padded(recipe: str) -> None:
    tokenizer = trained(recipe).tokenizer
    pad_token = "[PAD]" if recipe == "bert" else "<pad>"
    first, second = tokenizer.encode_batch(["I read it.", "No."])
    assert tokenizer.padding["pad_token"] == pad_token and len(first) == len(second)
    real = sum(second.attention_mask)
    assert second.tokens[real:] == [pad_token] * (len(second) - real) and real < len(second)
    assert second.ids[-1] == tokenizer.token_to_id(pad_token)


def test_words_are_those_of_a_vocabulary() -> None:
    vocabulary = Vocabulary.of(["the", "moon", "rose", "and", "the", "moon", "fell"])
    tokenizer = recipes.words(vocabulary)
    encoding = tokenizer.encode("The moon sang.")
    assert encoding.tokens == ["[CLS]", "the", "moon", "<unk>", "<unk>", "[SEP]"]
    assert encoding.offsets == [(0, 0), (0, 3), (4, 8), (9, 13), (13, 14), (0, 0)]
    assert recipes.words(vocabulary, lowercase=False).encode("The").tokens[1] == "<unk>"
    assert tokenizer.decode(encoding.ids) == "the moon"
    without = Vocabulary.of(["a"], unknown=None)
    assert recipes.words(without).encode("b").tokens == ["[CLS]", "[UNK]", "[SEP]"]


def test_words_that_lowercase_text_never_has_and_missing_special_tokens_are_refused() -> None:
    cased = Vocabulary(["<unk>", "The", "the"])
    with pytest.raises(CourseError, match="has the word 'The', which no lowercase text has"):
        recipes.words(cased)
    assert recipes.words(cased, lowercase=False).encode("The").tokens[1] == "The"
    assert recipes.words(Vocabulary(["UNK", "the"], "UNK")).encode("The a").tokens[2] == "UNK"
    small = Vocabulary(["<unk>", "the"])
    for special_tokens, missing in ((["[PAD]"], "CLS"), (["[CLS]", "[SEP]"], "PAD")):
        with pytest.raises(CourseError, match=rf"lacks the special token '\[{missing}\]'"):
            recipes.words(small, special_tokens=special_tokens)
