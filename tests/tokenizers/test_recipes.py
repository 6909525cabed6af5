"""Whole tokenizers, trained and read by our own parts alone, beside the library's."""

from functools import cache, partial
from itertools import pairwise
from pathlib import Path
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
    from_vocab_json,
    from_vocab_txt,
    normalizers,
    pre_tokenizers,
    recipes,
)
from tests.tokenizers.corpora import last_of_each, learned
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
    ours, theirs = (dict(recipes.albert(few, 300, backend=b).tokenizer.model.vocab)
                    for b in ("course", "tokenizers"))  # fmt: skip
    assert ours.keys() == theirs.keys()
    for piece in ours:  # the library puts lost characters back in an order that differs too
        within = 1e-9 if len(piece) > 1 else 1e-3
        assert ours[piece] == pytest.approx(theirs[piece], abs=within)


@pytest.mark.parametrize("corpus_name", CORPORA)
@pytest.mark.parametrize(
    ("recipe", "settings"), [("char_bpe", {}), ("bert", {"score": "frequency"})]
)
def test_pieces_with_a_mark_are_the_library_s(
    recipe: str, settings: dict[str, Any], corpus_name: str
) -> None:
    """All of them, in order, once ours start from the library's numbers of the first pieces."""
    train = partial(getattr(recipes, recipe), corpus(corpus_name), 1000, **settings)
    ours, theirs = train(), train(backend="tokenizers").tokenizer.model
    steps, tokens = learned(ours.training.trainer, dict(ours.training.word_counts), theirs.vocab)
    assert {token: id_ for id_, token in enumerate(tokens)} == theirs.vocab
    assert len(steps) > 500 and steps[0] == ours.training.steps[0]
    if recipe == "char_bpe":
        assert last_of_each([step.pair for step in steps]) == list(theirs.merges)
        assert any(right.endswith("</w>") for _, right in theirs.merges)


@pytest.mark.parametrize(
    ("recipe", "texts", "empty"),
    [
        ("gpt2", ["   "], False),
        ("gpt2", [""], True),
        ("bert", ["\x00\x01"], True),
        ("bert", ["\x00", "low"], False),
        ("albert", ["\u0301"], True),
        ("char_bpe", [" ", ""], True),
    ],
)
def test_backends_agree_on_what_is_empty(recipe: str, texts: list[str], empty: bool) -> None:
    """What counts is whether normalizer and pre-tokenizer leave a word."""
    options = {"score": "frequency"} if recipe == "bert" else {}
    for backend in ("course", "tokenizers"):
        if empty:
            with pytest.raises(CourseError, match="The corpus is empty"):
                getattr(recipes, recipe)(texts, 300, backend=backend, **options)
        else:
            made = getattr(recipes, recipe)(texts, 300, backend=backend, **options)
            assert made.tokenizer.encode("low" if recipe == "bert" else " ").ids


@pytest.mark.parametrize("recipe", RECIPES)
def test_a_string_is_no_corpus(recipe: str) -> None:
    with pytest.raises(CourseError, match="A corpus is a list of texts, not str"):
        getattr(recipes, recipe)("The cat")


def test_the_mask_of_roberta_takes_the_space_before_it() -> None:
    encoding = trained("roberta", "BookWorld").tokenizer.encode("I <mask> it")
    assert encoding.tokens[:3] == ["<s>", "I", " <mask>"]


def test_published_vocabularies_are_framed_alike(tmp_path: Path) -> None:
    """The same model, read from the files that were published with BERT, RoBERTa and GPT-2."""
    for recipe in ("bert", "roberta", "gpt2"):
        made = trained(recipe, "BookWorld").tokenizer
        vocab, merges = tmp_path / "vocab", tmp_path / "merges.txt"
        if recipe == "bert":
            vocab.write_text("\n".join(made.model.vocab), encoding="utf-8")
            read = from_vocab_txt(vocab)
        else:
            vocab.write_bytes(msgspec.json.encode(made.model.vocab))
            merges.write_text("\n".join(map(" ".join, made.model.merges)), encoding="utf-8")
            read = from_vocab_json(vocab, merges)
        assert read == made


def test_char_bpe_without_an_unknown_token() -> None:
    tokenizer = recipes.char_bpe(["low low"], special_tokens=[]).tokenizer
    with pytest.raises(CourseError, match="'x'"):
        tokenizer.encode("x")
    for bad in (None, "<unk>"):
        with pytest.raises(CourseError):
            recipes.char_bpe(["low"], special_tokens=bad)  # type: ignore[arg-type]


def test_short_repr() -> None:
    """It does not list vocabularies, merges or steps."""
    for recipe in RECIPES:
        assert len(repr(trained(recipe, "BookWorld"))) < 900


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
    segments = {"token_type_ids"} if recipe != "roberta" else set()
    assert set(batch) == {"input_ids", "attention_mask"} | segments
    mask = batch["attention_mask"]
    pad_token = "<pad>" if recipe != "bert" else "[PAD]"
    pad = tokenizer.token_to_id(pad_token)
    assert tokenizer.padding and tokenizer.padding["pad_token"] == pad_token
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


def test_bad_words() -> None:
    """Words that lower case can never give, special tokens that are missing, no vocabulary."""
    cased = Vocabulary(["<unk>", "The", "the"])
    with pytest.raises(CourseError, match="has the word 'The', which no text in lower case has"):
        recipes.words(cased)
    assert recipes.words(cased, lowercase=False).encode("The").tokens[1] == "The"
    assert recipes.words(Vocabulary(["UNK", "the"], "UNK")).encode("The a").tokens[2] == "UNK"
    small: Any = Vocabulary(["<unk>", "the"])
    for vocabulary, special_tokens, cause in (
        (small, ["[PAD]"], r"lacks the special token '\[CLS\]'"),
        (small, ["[CLS]", "[SEP]"], r"lacks the special token '\[PAD\]'"),
        (small, "[PAD]", "Special tokens are a list of texts, not str"),
        (small, None, "Special tokens are a list of texts, not NoneType"),
        (["the"], ["[PAD]"], "of the type list, not a Vocabulary"),
    ):
        with pytest.raises(CourseError, match=cause):
            recipes.words(vocabulary, special_tokens=special_tokens)
