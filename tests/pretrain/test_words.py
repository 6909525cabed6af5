"""The tokenizer of BookWorld's words: the ids of a text are those of its review."""

import numpy as np

from lmcourse import hub
from lmcourse.hub import checkpoints
from lmcourse.tokenizers import words
from research.pretrain import RECIPES
from research.pretrain.shipping import ship


def test_a_reviews_text_has_the_ids_of_its_tokens(world):
    tokenizer, ids = words.words(world), words.ids(world)
    tokenizer.no_padding()
    reviews = world.sample(2000, seed=41)
    encodings = tokenizer.encode_batch([review.text for review in reviews])
    for review, found, example in zip(reviews, encodings, words.examples(reviews), strict=True):
        assert found.ids == example["input_ids"].tolist()
        assert found.ids == [words.CLS, *(ids[token] for token in review.tokens), words.SEP]
    for review, found in zip(reviews[:20], encodings, strict=False):
        assert tokenizer.encode(review.tokens, is_pretokenized=True).ids == found.ids


def test_special_tokens_come_first_and_words_in_the_worlds_order(world):
    tokens = list(words.ids(world))
    assert tokens[:5] == ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    assert tokens[5:] == [word for word in world.vocabulary if word != "<end>"]
    assert words.words(world).get_vocab() == words.ids(world)
    assert len(tokens) == words.size(world) == len(world.vocabulary) + 4


def test_marks_are_tokens_of_their_own_and_other_words_unknown(world):
    read = words.words(world).encode('The "Flurbish book."').tokens
    assert read == ["[CLS]", "the", "[UNK]", "[UNK]", "book", ".", "[UNK]", "[SEP]"]


def test_a_mask_is_read_and_two_texts_are_framed(world):
    encoding = words.words(world).encode("the [MASK]", "a book")
    assert encoding.ids[2] == words.MASK
    assert encoding.tokens == ["[CLS]", "the", "[MASK]", "[SEP]", "a", "book", "[SEP]"]


def test_it_is_shipped_and_loaded(world, tmp_path, monkeypatch):
    tokenizer = words.words(world)
    monkeypatch.setattr(checkpoints, "home", lambda: tmp_path)
    model = RECIPES["bookworld-albert"].built(world)
    ship("bookworld-words", model, tokenizer, "words")
    assert hub.load("bookworld-words").tokenizer.to_str() == tokenizer.to_str()


def test_examples_say_what_is_special_and_which_word_each_token_is(world):
    (example,) = words.examples(world.sample(1))
    count = len(example["input_ids"])
    assert example["special_tokens_mask"].tolist() == [1] + [0] * (count - 2) + [1]
    assert example["word_ids"].tolist() == [-1, *range(count - 2), -1]
    assert all(value.dtype == np.int64 for value in example.values())
    assert words.examples([]) == []
