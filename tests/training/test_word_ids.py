"""What tokenizers return is accepted as it is: None at special tokens, and encodings themselves."""

import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from lmcourse.errors import CourseError
from lmcourse.training.examples import digest_of, example_of, padded


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    made = Tokenizer(models.WordLevel({"[CLS]": 0, "[SEP]": 1, "a": 2, "b": 3}, unk_token="a"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    made.post_processor = processors.BertProcessing(("[SEP]", 1), ("[CLS]", 0))
    return made


def test_word_ids_have_none_at_special_tokens(tokenizer):
    encodings = [tokenizer.encode(text) for text in ("a b b", "b")]
    assert encodings[1].word_ids == [None, 0, None]
    examples = [{"input_ids": each.ids, "word_ids": each.word_ids} for each in encodings]
    expected = [[-1, 0, 1, 2, -1], [-1, 0, -1, -1, -1]]
    assert padded(examples)["word_ids"].tolist() == expected
    assert digest_of(examples) == digest_of(
        [
            {**each, "word_ids": row}
            for each, row in zip(examples, ([-1, 0, 1, 2, -1], [-1, 0, -1]), strict=True)
        ]
    )


def test_transformers_gives_them_too(tokenizer):
    from transformers import PreTrainedTokenizerFast

    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer)
    one = fast("a b")
    batch = padded([{**one, "word_ids": one.word_ids()}])
    assert batch["word_ids"].tolist() == [[-1, 0, 1, -1]]


def test_encodings_are_examples(tokenizer):
    encodings = tokenizer.encode_batch(["a b", "b"])
    batch, expected = padded(encodings), padded([example_of(each) for each in encodings])
    assert batch.keys() == expected.keys()
    assert all(torch.equal(batch[name], expected[name]) for name in batch)


def test_none_elsewhere_is_named():
    with pytest.raises(CourseError, match=r"labels does not form a tensor.*numbers"):
        padded([{"input_ids": [1, 2], "labels": [None, 1]}])
