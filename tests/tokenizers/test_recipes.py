"""Whole tokenizers, trained and read by our own parts alone, beside the library's."""

from functools import cache
from itertools import pairwise
from typing import Any

import msgspec
import pytest

from lmcourse.corpus import BookWorld, python_documentation
from lmcourse.errors import CourseError
from lmcourse.tokenizers import (
    BPE,
    BpeTrainer,
    Tokenizer,
    Vocabulary,
    normalizers,
    pre_tokenizers,
    recipes,
)
from tests.tokenizers.random_text import random_texts

CORPORA = ("BookWorld", "documentation")
RECIPES: dict[str, dict[str, Any]] = {
    "char_bpe": {},
    "gpt2": {},
    "roberta": {},
    "bert": {"score": "frequency"},
    "albert": {},
}
SIZE = 2000


@cache
def corpus(name: str) -> list[str]:
    if name == "documentation":
        return python_documentation()
    return [review.text for review in BookWorld().split("train", at_most=1000)]


@cache
def trained(recipe: str, corpus_name: str) -> recipes.Recipe:
    """Also trained on random texts, so that there are pieces of every script."""
    strange = random_texts(seed=11, n=1000) if corpus_name == "documentation" else []
    size = SIZE if corpus_name == "BookWorld" else 3 * SIZE
    return getattr(recipes, recipe)([*corpus(corpus_name), *strange], size, **RECIPES[recipe])


def parts(encoding: Any) -> tuple[Any, ...]:
    return encoding.ids, encoding.tokens, encoding.offsets, encoding.type_ids, encoding.word_ids


@pytest.mark.parametrize("corpus_name", CORPORA)
@pytest.mark.parametrize("recipe", RECIPES)
def test_a_corpus_is_cut_as_the_library_cuts_it(recipe: str, corpus_name: str) -> None:
    tokenizer = trained(recipe, corpus_name).tokenizer
    library = tokenizer.to_library()
    texts = corpus(corpus_name)[:150]
    for text in texts:
        assert parts(tokenizer.encode(text)) == parts(library.encode(text))
    for first, second in pairwise(texts):
        assert parts(tokenizer.encode(first, second)) == parts(library.encode(first, second))


@pytest.mark.parametrize("recipe", RECIPES)
def test_random_unicode_is_cut_as_the_library_cuts_it(recipe: str) -> None:
    tokenizer = trained(recipe, "documentation").tokenizer
    library = tokenizer.to_library()
    texts = random_texts(seed=12, n=10_000)
    pieces = set()
    for text in texts:
        ours, theirs = tokenizer.encode(text), library.encode(text)
        assert parts(ours) == parts(theirs), ascii(text)
        assert tokenizer.decode(ours.ids) == library.decode(theirs.ids), ascii(text)
        pieces.update(ours.tokens)
    assert len(pieces) > 1000


@pytest.mark.parametrize("recipe", ["gpt2", "roberta"])
def test_every_text_comes_back_from_its_bytes(recipe: str) -> None:
    tokenizer = trained(recipe, "BookWorld").tokenizer
    for text in [*random_texts(seed=13, n=10_000), *corpus("documentation")]:
        ids = tokenizer.encode(text, add_special_tokens=False).ids
        assert tokenizer.decode(ids, skip_special_tokens=False) == text, ascii(text)


@pytest.mark.parametrize("corpus_name", CORPORA)
@pytest.mark.parametrize("kind", ["characters", "bytes"])
def test_our_pipeline_learns_the_library_s_merges(kind: str, corpus_name: str) -> None:
    def learn(backend: str) -> tuple[Tokenizer, Any]:
        if kind == "bytes":
            return recipes.gpt2(corpus(corpus_name), SIZE, backend=backend)
        tokenizer = Tokenizer(
            BPE(unk_token="?"), normalizers.NFKC(), pre_tokenizers.BertPreTokenizer()
        )
        trainer = BpeTrainer(SIZE, special_tokens=["?"])
        return tokenizer, tokenizer.train_from_iterator(corpus(corpus_name), trainer, backend)

    (ours, record), (theirs, nothing) = learn("course"), learn("tokenizers")
    assert ours.to_str() == theirs.to_str()
    assert [step.pair for step in record.steps] == list(theirs.model.merges)
    assert len(record.steps) > 1500 and list(nothing.steps) == []


def test_a_subword_vocabulary_does_not_depend_on_the_backend() -> None:
    """(The library numbers pieces with ## or </w> in an order that differs from run to run.)"""
    few = corpus("BookWorld")[:100]
    bert = [recipes.bert(few, 300, score="frequency", backend=b) for b in ("course", "tokenizers")]
    assert [recipe.tokenizer.get_vocab_size() for recipe in bert] == [300, 300]
    ours, theirs = (dict(recipes.albert(few, 300, backend=b).tokenizer.model.vocab)
                    for b in ("course", "tokenizers"))  # fmt: skip
    assert ours.keys() == theirs.keys()
    assert all(ours[piece] == pytest.approx(theirs[piece], abs=1e-9) for piece in ours)


@pytest.mark.parametrize("recipe", RECIPES)
def test_a_training_can_be_kept_as_json(recipe: str) -> None:
    training = trained(recipe, "BookWorld").training
    kept = msgspec.json.decode(msgspec.json.encode(training))
    assert len(kept["steps"]) == len(training.steps) > 5
    last = (
        {"size", "removed", "added", "kind"} if recipe == "albert" else {"pair", "token", "count"}
    )
    assert last <= set(kept["steps"][-1])


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
    tokenizer = trained(recipe, "BookWorld").tokenizer
    assert tokenizer.encode("The").tokens == first
    both = tokenizer.encode("The", "The")
    assert " ".join(both.tokens) == pair
    segments = [0, 0, 0, 1, 1] if recipe in ("bert", "albert") else [0] * len(both)
    assert both.type_ids == (segments if recipe not in ("gpt2", "char_bpe") else [0, 1])


@pytest.mark.parametrize("recipe", ["bert", "albert", "roberta"])
def test_a_batch_is_what_a_model_wants(recipe: str) -> None:
    tokenizer = trained(recipe, "BookWorld").tokenizer
    batch = tokenizer(["I read it.", "No."])
    assert set(batch) == {"input_ids", "token_type_ids", "attention_mask"}
    mask = batch["attention_mask"]
    pad = tokenizer.token_to_id("<pad>" if recipe != "bert" else "[PAD]")
    assert mask[0].all() and not mask[1].all()
    assert ((batch["input_ids"] == pad) == (mask == 0)).all()


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
    with pytest.raises(CourseError, match="no unknown token"):
        recipes.words(without, special_tokens=["[PAD]", "[CLS]", "[SEP]"])
