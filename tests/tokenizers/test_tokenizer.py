"""The whole tokenizer against the library: random parts, random texts, every field."""

import pickle
import random
import subprocess
import sys
from contextlib import suppress
from copy import copy, deepcopy
from typing import Any

import msgspec
import numpy as np
import pytest
import torch

from lmcourse.errors import CourseError
from lmcourse.tokenizers import decoders, processors
from lmcourse.tokenizers.added_tokens import AddedToken
from lmcourse.tokenizers.models.bpe import BPE
from lmcourse.tokenizers.models.trainers import BpeTrainer, WordPieceTrainer
from lmcourse.tokenizers.models.unigram import Unigram
from lmcourse.tokenizers.models.unigram_training import UnigramTrainer
from lmcourse.tokenizers.models.word_level import WordLevel
from lmcourse.tokenizers.models.wordpiece import WordPiece
from lmcourse.tokenizers.padding import Truncation
from lmcourse.tokenizers.processors import BertProcessing
from lmcourse.tokenizers.template import TemplateProcessing
from lmcourse.tokenizers.text import normalizers, pre_tokenizers
from lmcourse.tokenizers.text.byte_characters import CHARACTER_TO_BYTE
from lmcourse.tokenizers.text.normalizers import NFC
from lmcourse.tokenizers.tokenizer import Tokenizer
from tests.tokenizers.random_text import random_texts
from tests.tokenizers.random_tokenizer import both, columns, random_tokenizer, text_with_tokens

CORPUS = ["low lower newest widest", "low, low: the newest!", "wide new est"]
WORDS = {token: id_ for id_, token in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "b"])}
REFUSED = {  # what the library does where ours says what is wrong
    "Only the second text may be truncated": "Second sequence not provided",
    "would have to go: none would be left": "too short to respect",
    "The stride is": "must be strictly less",
}


def words(processor: bool = True) -> Tokenizer:
    """Words a and b, as BERT reads them."""
    bert = BertProcessing(("[SEP]", 3), ("[CLS]", 2)) if processor else None
    split = pre_tokenizers.WhitespaceSplit()
    return Tokenizer(WordLevel(WORDS, "[UNK]"), pre_tokenizer=split, post_processor=bert)


def expect_refusal(error: CourseError, library: Any, texts: list[str], special: bool) -> None:
    """The library must refuse too, or (special tokens beyond max_length) leave the text uncut."""
    for cause, message in REFUSED.items():
        if cause in error.cause:
            with pytest.raises(BaseException, match=message):
                library.encode(*texts, add_special_tokens=special)
            return
    assert "The post-processor adds" in error.cause
    longest = library.truncation["max_length"]
    assert len(library.encode(*texts, add_special_tokens=special)) > longest


@pytest.mark.parametrize("seed", range(20))
def test_encode_and_decode_equal_the_library(seed: int) -> None:
    """Every field, every overflowing part, and the text that comes back."""
    rng = random.Random(seed)
    compared = 0
    for _ in range(10):
        ours, library = both(random_tokenizer(rng))
        for _ in range(10):
            texts = [text_with_tokens(rng) for _ in range(rng.randrange(1, 3))]
            special = rng.random() < 0.8
            try:
                found = ours.encode(*texts, add_special_tokens=special)
            except CourseError as error:
                expect_refusal(error, library, texts, special)
                continue
            assert columns(found) == columns(library.encode(*texts, add_special_tokens=special))
            for skip in (True, False):
                text = library.decode(found.ids, skip_special_tokens=skip)
                assert ours.decode(found.ids, skip_special_tokens=skip) == text
            compared += 1
    assert compared > 60


def test_batches_equal_the_library() -> None:
    """Texts and pairs of texts together, padded to one length."""
    rng = random.Random(11)
    for _ in range(60):
        value = random_tokenizer(rng) | {"truncation": None}
        ours, library = both(value)
        batch = [text_with_tokens(rng) for _ in range(rng.randrange(6))]
        pairs: list[Any] = [(text, rng.choice(batch)) for text in batch if rng.random() < 0.5]
        found = ours.encode_batch(batch + pairs)
        expected = library.encode_batch(batch + pairs)
        assert [columns(each) for each in found] == [columns(each) for each in expected]
        ids = [each.ids for each in found]
        assert ours.decode_batch(ids) == library.decode_batch(ids)


def test_words_equal_the_library() -> None:
    """Texts that are already cut into words, in pairs and in batches."""
    rng = random.Random(12)
    for _ in range(60):
        ours, library = both(random_tokenizer(rng) | {"truncation": None})
        first, second = [text_with_tokens(rng).split() for _ in range(2)]
        for texts in ([first], [first, second]):
            found = ours.encode(*texts, is_pretokenized=True)
            assert columns(found) == columns(library.encode(*texts, is_pretokenized=True))
        batch: list[Any] = [first, (first, second)]
        found_batch = ours.encode_batch(batch, is_pretokenized=True)
        expected = library.encode_batch(batch, is_pretokenized=True)
        assert [columns(each) for each in found_batch] == [columns(each) for each in expected]


@pytest.mark.parametrize("direction", ["left", "right"])
def test_truncation_by_hand(direction: str) -> None:
    """Parts of four tokens, two of them special, that share one with the part before."""
    tokenizer = words()
    tokenizer.enable_truncation(5, stride=1, direction=direction)
    encoding = tokenizer.encode("a b a a b b b")
    parts = [part.tokens[1:-1] for part in (encoding, *encoding.overflowing)]
    right = [["a", "b", "a"], ["a", "a", "b"], ["b", "b", "b"]]
    left = [["b", "b", "b"], ["a", "a", "b"], ["a", "b", "a"]]
    assert parts == (right if direction == "right" else left)


def test_longest_first_by_hand() -> None:
    """The longer text is cut to the shorter one, then both."""
    tokenizer = words(processor=False)
    for length, kept in ((9, (6, 3)), (7, (4, 3)), (6, (3, 3)), (5, (3, 2)), (3, (2, 1))):
        tokenizer.enable_truncation(length)
        types = tokenizer.encode("a b a b a b", "b b b").type_ids
        assert (types.count(0), types.count(1)) == kept


def test_settings_are_those_of_the_library() -> None:
    """What is enabled can be read back, and goes."""
    ours = words()
    library = ours.to_library()
    assert ours.truncation is library.truncation is None
    assert ours.padding is library.padding is None
    for tokenizer in (ours, library):
        tokenizer.enable_truncation(9, stride=2, strategy="only_first", direction="left")
        tokenizer.enable_padding("left", 0, 1, "[PAD]", 12, 4) if tokenizer is ours else (
            tokenizer.enable_padding(
                direction="left", pad_type_id=1, length=12, pad_to_multiple_of=4
            )
        )
    assert ours.truncation == library.truncation
    assert ours.padding == library.padding
    assert Tokenizer.from_library(library).to_str() == ours.to_str()
    ours.no_truncation()
    ours.no_padding()
    assert ours.to_str() == words().to_str()


@pytest.mark.parametrize(
    ("arguments", "cause"),
    [
        ({"max_length": -1}, "The max_length of Truncation cannot be -1."),
        ({"max_length": "9"}, "The max_length of Truncation cannot be '9'."),
        ({"max_length": 9, "stride": True}, "The stride of Truncation cannot be True."),
        ({"max_length": 9, "strategy": "first"}, "There is no strategy 'first'."),
        ({"max_length": 9, "direction": "Left"}, "There is no direction 'Left'."),
        ({"max_length": 9, "stride": 9}, "The stride is 9, but a part has room for only 9 tokens"),
        ({"max_length": 1}, "The post-processor adds 2 special tokens, but max_length is 1."),
        ({"max_length": 9, "stride": 7}, "The stride is 7, but a part has room for only 7 tokens"),
    ],
)
def test_bad_truncation(arguments: dict[str, Any], cause: str) -> None:
    """It says what is wrong when it is enabled, not at the first long text."""
    tokenizer = words()
    with pytest.raises(CourseError) as error:
        tokenizer.enable_truncation(**arguments)
    assert error.value.cause.startswith(cause)
    assert tokenizer.truncation is None


def test_truncation_that_leaves_nothing() -> None:
    """A pair has more special tokens than a text; and the one text that may be cut is too short."""
    tokenizer = words()
    tokenizer.enable_truncation(2)
    assert tokenizer.encode("a b").tokens == ["[CLS]", "[SEP]"]
    with pytest.raises(CourseError, match="adds 3 special tokens, but max_length is 2"):
        tokenizer.encode("a", "b")
    tokenizer.enable_truncation(5, strategy="only_second")
    with pytest.raises(CourseError, match="there is no second text, and the first is 1 tokens too"):
        tokenizer.encode("a b a b")
    with pytest.raises(CourseError, match="The second text has 1 tokens, of which 2 would have to"):
        tokenizer.encode("a b a", "b")
    assert Truncation.of(5, 0, "only_second", "right").strategy == "OnlySecond"


@pytest.mark.parametrize(
    ("arguments", "cause"),
    [
        ({"pad_id": -1}, "The pad_id of Padding cannot be -1."),
        ({"pad_type_id": 2**32}, "The pad_type_id of Padding cannot be 4294967296."),
        ({"length": 1.5}, "The length of Fixed cannot be 1.5."),
        ({"length": 0}, "The length of Fixed cannot be 0."),
        ({"length": False}, "The length of Fixed cannot be False."),
        ({"pad_to_multiple_of": False}, "The pad_to_multiple_of of Padding cannot be False."),
        ({"pad_to_multiple_of": -8}, "The pad_to_multiple_of of Padding cannot be -8."),
        ({"direction": ["left"]}, "There is no direction ['left']."),
        ({"direction": "up"}, "There is no direction 'up'."),
        ({"pad_token": b"[PAD]"}, "A text must be a string, not bytes."),
    ],
)
def test_bad_padding(arguments: dict[str, Any], cause: str) -> None:
    """It says what is wrong when it is enabled."""
    tokenizer = words()
    with pytest.raises(CourseError) as error:
        tokenizer.enable_padding(**arguments)
    assert error.value.cause == cause
    assert tokenizer.padding is None


def test_tensors() -> None:
    """A batch as a model of transformers takes it."""
    tokenizer = words()
    tokenizer.enable_padding()
    batch = tokenizer(["a b b", "b"], ["b", "a"])
    assert batch["input_ids"].tolist() == [[2, 4, 5, 5, 3, 5, 3], [2, 5, 3, 4, 3, 0, 0]]
    assert batch["token_type_ids"].tolist() == [[0, 0, 0, 0, 0, 1, 1], [0, 0, 0, 1, 1, 0, 0]]
    assert batch["attention_mask"].tolist() == [[1] * 7, [1, 1, 1, 1, 1, 0, 0]]
    assert all(column.dtype == torch.int64 for column in batch.values())
    assert tokenizer("a")["input_ids"].tolist() == [[2, 4, 3]]
    assert tokenizer("a", "b")["input_ids"].tolist() == [[2, 4, 3, 5, 3]]
    assert tokenizer([("a", "b")])["input_ids"].tolist() == [[2, 4, 3, 5, 3]]
    assert tokenizer([])["input_ids"].shape == (0, 0)
    assert tokenizer([""], add_special_tokens=False)["input_ids"].shape == (1, 0)


SEGMENTS: list[tuple[Any, bool]] = [
    (None, False),
    (processors.ByteLevel(), False),
    (processors.RobertaProcessing(("[SEP]", 3), ("[CLS]", 2)), False),
    (BertProcessing(("[SEP]", 3), ("[CLS]", 2)), True),
    (TemplateProcessing.of("$A", "$A $B"), False),
    (TemplateProcessing.of("$A", "$A $B:1"), True),
    (processors.Sequence((processors.ByteLevel(), TemplateProcessing.of("$A", "$B:2 $A"))), True),
]


@pytest.mark.parametrize(("processor", "segments"), SEGMENTS)
def test_segments_only_for_a_model_that_has_them(processor: Any, segments: bool) -> None:
    """GPT-2 of transformers would add them to its input as if they were tokens."""
    tokenizer = words()
    tokenizer.post_processor = processor
    names = ["input_ids", *["token_type_ids"] * segments, "attention_mask"]
    assert list(tokenizer("a")) == list(tokenizer.model_input_names) == names


def test_inputs_can_be_chosen() -> None:
    """DistilBERT reads BERT's texts, but has no segments."""
    tokenizer = words()
    tokenizer.model_input_names = ["input_ids", "attention_mask"]
    assert list(tokenizer("a")) == ["input_ids", "attention_mask"]
    for bad, cause in ((["ids"], "There is no input 'ids'."), ("input_ids", "The names of a")):
        with pytest.raises(CourseError, match=cause):
            tokenizer.model_input_names = bad
    assert list(tokenizer("a")) == ["input_ids", "attention_mask"]
    tokenizer.model_input_names = None  # type: ignore[assignment]
    assert "token_type_ids" in tokenizer("a")


def test_more_columns() -> None:
    """What masking and the way back into the text need."""
    tokenizer = words()
    tokenizer.enable_padding()
    asked = {"return_special_tokens_mask": True, "return_offsets_mapping": True}
    batch = tokenizer([["a", "b"], ["b"]], is_pretokenized=True, **asked)
    assert batch["special_tokens_mask"].tolist() == [[1, 0, 0, 1], [1, 0, 1, 1]]
    assert batch["offset_mapping"].tolist()[0] == [[0, 0], [0, 1], [0, 1], [0, 0]]
    assert tokenizer(["a b"], ["b"], **asked)["offset_mapping"].shape == (1, 6, 2)
    assert tokenizer([], **asked)["offset_mapping"].shape == (0, 0, 2)
    assert tokenizer((text for text in "ab"), (text for text in "ba"))["input_ids"].shape == (2, 5)


def test_what_overflows_can_be_rows() -> None:
    """As transformers gives it: each part is a row, and names its text."""
    tokenizer = words()
    tokenizer.enable_truncation(4)
    tokenizer.enable_padding()
    texts = ["a b a b a", "b"]
    assert tokenizer(texts)["input_ids"].tolist() == [[2, 4, 5, 3], [2, 5, 3, 0]]
    batch = tokenizer(texts, return_overflowing_tokens=True)
    rows = [[2, 4, 5, 3], [2, 4, 5, 3], [2, 4, 3, 0], [2, 5, 3, 0]]
    assert batch["input_ids"].tolist() == rows
    assert batch["overflow_to_sample_mapping"].tolist() == [0, 0, 0, 1]


@pytest.mark.parametrize("arguments", [{"pad_id": 4}, {"pad_token": "b"}, {"pad_token": "<pad>"}])
def test_padding_must_be_in_the_vocabulary(arguments: dict[str, Any]) -> None:
    """Otherwise texts would be filled up with a word."""
    tokenizer = words()
    tokenizer.enable_padding(**arguments)
    pad = {"pad_id": 0, "pad_token": "[PAD]"} | arguments
    for call in (lambda: tokenizer.encode("a"), lambda: tokenizer(["a", "a b"])):
        with pytest.raises(CourseError) as error:
            call()
        assert f"{pad['pad_token']!r} as the id {pad['pad_id']}" in error.value.cause


def test_padding_after_a_new_training() -> None:
    """The padding token has moved: its old id is another token's."""
    tokenizer = Tokenizer(BPE(), pre_tokenizer=pre_tokenizers.WhitespaceSplit())
    tokenizer.train_from_iterator(CORPUS, BpeTrainer(40, special_tokens=["<pad>"]))
    tokenizer.enable_padding(pad_token="<pad>")
    assert tokenizer(["low", "low low"])["input_ids"][0, 1] == 0
    tokenizer.train_from_iterator(CORPUS, BpeTrainer(40, special_tokens=["<s>", "<pad>"]))
    with pytest.raises(CourseError, match="'<pad>' as the id 0, but the vocabulary gives it the"):
        tokenizer(["low", "low low"])


def test_tensors_that_are_no_rectangle() -> None:
    """Other lengths without padding, or other numbers of texts."""
    tokenizer = words()
    with pytest.raises(
        CourseError, match="have from 3 to 4 tokens, which is no rectangle"
    ) as error:
        tokenizer(["a", "a b"])
    assert error.value.remedy == "First call enable_padding(pad_id=0, pad_token='[PAD]')."
    with pytest.raises(CourseError, match="There are 2 texts, but 1 texts to pair them with"):
        tokenizer(["a", "b"], ["a"])
    tokenizer.enable_padding(length=3)
    with pytest.raises(CourseError, match="no rectangle") as error:
        tokenizer(["a", "a b"])
    assert "enable_truncation" in error.value.remedy
    other = Tokenizer(WordLevel({"[UNK]": 0, "a": 1}), pre_tokenizer=pre_tokenizers.Whitespace())
    with pytest.raises(CourseError, match="no rectangle") as error:
        other(["a", "a a"])
    assert "add_special_tokens" in error.value.remedy


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        (b"a", "A text must be a string, not bytes."),
        (None, "A text must be a string, not NoneType."),
        (["a"], "A text must be a string, not list."),
        ("ab\ud83d", "Character 2 of the text is a lone surrogate, U+D83D"),
    ],
)
def test_text_that_is_none(text: Any, cause: str) -> None:
    """Wherever texts go in: alone, as a pair, in a batch, in training."""
    tokenizer = words()
    bpe = Tokenizer(BPE())
    for call in (
        lambda: tokenizer.encode(text),
        lambda: tokenizer.encode("a", 5 if text is None else text),
        lambda: tokenizer.encode_batch([("a", text)]),
        lambda: tokenizer.encode(["a", text], is_pretokenized=True),
        lambda: bpe.train_from_iterator(["a", text], BpeTrainer()),
        lambda: bpe.train_from_iterator(["a", text], BpeTrainer(), backend="tokenizers"),
    ):
        with pytest.raises(CourseError) as error:
            call()
        assert error.value.cause.startswith(cause.replace("NoneType", type(text).__name__)[:23])
    with pytest.raises(CourseError) as error:
        tokenizer.encode(text)
    assert error.value.cause.startswith(cause)
    assert ("encode_batch" in error.value.remedy) == (text is None or isinstance(text, list))
    with pytest.raises(CourseError) as error:
        bpe.train_from_iterator(["a", text], BpeTrainer())
    assert "encode_batch" not in error.value.remedy


def test_batch_that_is_none() -> None:
    """One text, a number, or an entry of three texts."""
    tokenizer = words()
    for batch in ("a b", b"a", 3, None, {"a": 1}):
        with pytest.raises(CourseError, match="A batch is a list of texts, not"):
            tokenizer.encode_batch(batch)  # type: ignore[arg-type]
    for pairs in (b"a", 3, {"a": 1}):
        with pytest.raises(CourseError, match="A batch is a list of texts, not"):
            tokenizer(["a"], pairs)  # type: ignore[arg-type]
    for batch in (None, 5, b"a"):
        with pytest.raises(CourseError, match="is the list of its words, not"):
            tokenizer.encode(batch, is_pretokenized=True)  # type: ignore[arg-type]
        with pytest.raises(CourseError, match="is the list of its words, not"):
            tokenizer.encode_batch([batch], is_pretokenized=True)  # type: ignore[list-item]
    with pytest.raises(CourseError, match="An entry of the batch has 3 texts"):
        tokenizer.encode_batch([["a", "b", "a"]])
    with pytest.raises(CourseError, match="a text is the list of its words, not str"):
        tokenizer.encode("a b", is_pretokenized=True)


def test_decode() -> None:
    """Ids as a list or a tensor; unknown ones are left out, others are no ids."""
    tokenizer = words()
    ids = tokenizer.encode("a b").ids
    assert tokenizer.decode(ids) == "[CLS] a b [SEP]"  # not added as special tokens
    tokenizer.add_special_tokens(["[CLS]", "[SEP]"])
    assert tokenizer.decode(ids) == "a b"
    assert tokenizer.decode(torch.tensor(ids), skip_special_tokens=False) == "[CLS] a b [SEP]"  # type: ignore[arg-type]
    assert tokenizer.decode_batch(torch.tensor([[4, 5], [5, 9]])) == ["a b", "b"]  # type: ignore[arg-type]
    assert tokenizer.decode([np.int64(4), torch.tensor(5)]) == "a b"  # type: ignore[list-item]
    assert tokenizer.decode(np.array([4, 5])) == "a b"
    for bad in ([-1], ["a"], [[4]], [1.0], [True], [None], torch.tensor([True])):
        with pytest.raises(CourseError, match=r"is no token's id"):
            tokenizer.decode(bad)  # type: ignore[arg-type]
    for bad in (5, None, "ab", b"ab", {4: 5}, torch.tensor(3)):
        with pytest.raises(CourseError, match=r"Ids are a list of whole numbers, not"):
            tokenizer.decode(bad)  # type: ignore[arg-type]
        with pytest.raises(CourseError, match=r"are a list of"):
            tokenizer.decode_batch([[4], bad])  # type: ignore[list-item]
    with pytest.raises(CourseError, match=r"A batch is a list of lists of ids, not int"):
        tokenizer.decode_batch(5)  # type: ignore[arg-type]
    with pytest.raises(CourseError, match=r"Ids are a list of whole numbers, not int"):
        tokenizer.decode_batch([4, 5])  # type: ignore[list-item]


TRAINERS = (
    (BPE(unk_token="[UNK]"), BpeTrainer(vocab_size=40, special_tokens=("[UNK]", "<s>"))),
    (WordPiece(), WordPieceTrainer(60, special_tokens=("[UNK]",), score="frequency")),
    (Unigram(), UnigramTrainer(vocab_size=40, special_tokens=("<s>",), unk_token="<unk>")),
)


@pytest.mark.parametrize(("model", "trainer"), TRAINERS, ids=lambda part: type(part).__name__)
def test_train(model: Any, trainer: Any) -> None:
    """Here and in the library: the same tokens; only here with the steps."""
    course, library = (Tokenizer(model, pre_tokenizer=pre_tokenizers.Metaspace()) for _ in range(2))
    training = course.train_from_iterator(CORPUS * 5, trainer)
    record = library.train_from_iterator(CORPUS * 5, trainer, backend="tokenizers")
    assert len(training.steps) > 0
    assert len(record.steps) == 0
    assert training.model is course.model
    assert set(course.get_vocab()) == set(library.get_vocab())
    for special in trainer.special_tokens:
        assert course.encode(f"low{special}est").ids.count(course.token_to_id(special) or 0) == 1
    text = "lower newest"
    assert course.encode(text).tokens == library.encode(text).tokens


def test_added_tokens_survive_training() -> None:
    """They get new ids behind the trained vocabulary, so that no two tokens share one."""
    tokenizer = Tokenizer(BPE(unk_token=None), pre_tokenizer=pre_tokenizers.WhitespaceSplit())
    tokenizer.add_tokens(["<x>"])
    assert tokenizer.token_to_id("<x>") == 0
    tokenizer.train_from_iterator(["low lower <x>"], BpeTrainer(vocab_size=12))
    vocabulary = tokenizer.get_vocab()
    assert len(set(vocabulary.values())) == len(vocabulary)
    assert tokenizer.encode("low<x>").tokens == ["low", "<x>"]
    assert Tokenizer.from_str(tokenizer.to_str()).get_vocab() == vocabulary


@pytest.mark.parametrize("backend", ["course", "tokenizers"])
@pytest.mark.parametrize("texts", ["The cat", b"The cat", {"low": 5}, None, 5], ids=repr)
def test_corpus_that_is_none(texts: Any, backend: Any) -> None:
    """A string has characters, a dict has keys: nobody means to train on those."""
    tokenizer = Tokenizer(BPE())
    with pytest.raises(CourseError, match="A corpus is a list of texts, not") as error:
        tokenizer.train_from_iterator(texts, BpeTrainer(), backend)
    assert "list: [text]" in error.value.remedy
    assert tokenizer.get_vocab_size() == 0


@pytest.mark.parametrize("backend", ["course", "tokenizers"])
def test_special_tokens_keep_their_options(backend: Any) -> None:
    """A trainer takes added tokens too."""
    tokenizer = Tokenizer(BPE(), pre_tokenizer=pre_tokenizers.WhitespaceSplit())
    mask = AddedToken("<mask>", lstrip=True)
    tokenizer.train_from_iterator(CORPUS, BpeTrainer(40, special_tokens=["<s>", mask]), backend)
    assert tokenizer.encode("low <mask>").offsets[-1] == (3, 10)
    assert (tokenizer.token_to_id("<s>"), tokenizer.token_to_id("<mask>")) == (0, 1)


def test_dropout_can_be_seeded() -> None:
    """The tokenizer hands its generator on to the model."""
    tokenizer = Tokenizer(BPE(), pre_tokenizer=pre_tokenizers.WhitespaceSplit())
    tokenizer.train_from_iterator(CORPUS, BpeTrainer(60))
    tokenizer.model = msgspec.structs.replace(tokenizer.model, dropout=0.5)

    def drawn(seed: int) -> list[list[str]]:
        tokenizer.generator = random.Random(seed)
        return [tokenizer.encode("lower newest widest").tokens for _ in range(20)]

    assert drawn(1) == drawn(1) != drawn(2)
    assert len(set(map(tuple, drawn(1)))) > 5


def test_copies_and_equality() -> None:
    """A copy, also one that was pickled for another process, is equal and goes its own way."""
    rng = random.Random(21)
    for _ in range(30):
        tokenizer, _ = both(random_tokenizer(rng))
        text = "The fox [CLS]"
        with suppress(CourseError):
            tokenizer.encode(text)  # fills the caches, which must not hinder
        for copied in (copy(tokenizer), deepcopy(tokenizer), pickle.loads(pickle.dumps(tokenizer))):
            assert copied == tokenizer
            copied.no_truncation()
            assert copied.encode(text).tokens[-1]
            copied.add_tokens(["another one"])
            assert copied != tokenizer
            assert tokenizer.token_to_id("another one") is None
    assert words() == words() != words(processor=False)
    assert words() != "words"
    other = words()
    other.encode_special_tokens = True
    assert other != words()


def test_short_repr() -> None:
    """It names the parts, and does not list the vocabulary."""
    assert repr(words()) == (
        "Tokenizer(WordLevel of 6 tokens, pre_tokenizer=WhitespaceSplit, "
        "post_processor=BertProcessing)"
    )


@pytest.mark.parametrize(
    ("parts", "name"),
    [
        ({"model": "BPE"}, "model"),
        ({"normalizer": "NFC"}, "normalizer"),
        ({"normalizer": NFC}, "normalizer"),
        ({"pre_tokenizer": NFC()}, "pre_tokenizer"),
        ({"post_processor": pre_tokenizers.ByteLevel()}, "post_processor"),
        ({"decoder": 3}, "decoder"),
    ],
)
def test_parts_of_another_kind(parts: dict[str, Any], name: str) -> None:
    """They are refused at once, not at the first text."""
    with pytest.raises(CourseError, match=f"The {name} of a tokenizer cannot be"):
        Tokenizer(**{"model": BPE(), **parts})


def test_bad_training() -> None:
    """A trainer of another model, another backend, an empty corpus, too small a vocabulary."""
    with pytest.raises(CourseError, match=r"BpeTrainer cannot train .* WordPiece") as error:
        Tokenizer(WordPiece()).train_from_iterator(CORPUS, BpeTrainer())
    assert error.value.remedy == "Use WordPieceTrainer."
    with pytest.raises(CourseError, match="list cannot train"):
        words().train_from_iterator(CORPUS, [])  # type: ignore[arg-type]
    with pytest.raises(CourseError, match="There is no backend 'rust'"):
        Tokenizer(BPE()).train_from_iterator(CORPUS, BpeTrainer(), backend="rust")  # type: ignore[arg-type]
    for model, trainer in TRAINERS:
        for backend in ("course", "tokenizers"):
            tokenizer = Tokenizer(model)
            for texts in ([], ["", ""]):
                with pytest.raises(CourseError, match=r"The corpus (is empty|has no words)"):
                    tokenizer.train_from_iterator(texts, trainer, backend)  # type: ignore[arg-type]
            small = type(trainer)(vocab_size=2, special_tokens=trainer.special_tokens)
            if isinstance(trainer, WordPieceTrainer):
                small = WordPieceTrainer(2, special_tokens=("[UNK]",), score="frequency")
            with pytest.raises(CourseError, match=r"too small|no room|not large enough"):
                tokenizer.train_from_iterator(CORPUS, small, backend)  # type: ignore[arg-type]


def test_byte_level_round_trip() -> None:
    """Byte-level BPE gives every text back."""
    tokenizer = Tokenizer(
        BPE(),
        pre_tokenizer=pre_tokenizers.ByteLevel(add_prefix_space=False),
        decoder=decoders.ByteLevel(),
    )
    alphabet = list(CHARACTER_TO_BYTE)
    trainer = BpeTrainer(vocab_size=400, initial_alphabet=alphabet)
    tokenizer.train_from_iterator(random_texts(4, 200), trainer)
    for text in random_texts(5, 2000):
        assert tokenizer.decode(tokenizer.encode(text).ids) == text


def test_no_torch_until_a_batch_is_made() -> None:
    """Tokenizers are usable, and quick to import, without torch."""
    code = (
        "import sys\n"
        "from lmcourse.tokenizers.published_files import from_vocab_txt\n"
        "from lmcourse.tokenizers.tokenizer import Tokenizer\n"
        "sys.exit('torch' in sys.modules or 'tokenizers' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_an_added_token_in_a_corpus_is_a_word() -> None:
    """So its characters are learned, whatever the normalizer and the pre-tokenizer do to others."""
    trained = []
    for backend in ("course", "tokenizers"):
        tokenizer = Tokenizer(BPE(), normalizers.Lowercase(), pre_tokenizers.Whitespace())
        tokenizer.add_special_tokens(["[CLS]"])
        trainer = BpeTrainer(40, special_tokens=["[CLS]"])
        tokenizer.train_from_iterator(["[CLS] CLOSE [CLS] CLUE", "[CLS]"], trainer, backend)
        trained.append(tokenizer.to_str())
        assert {"[CL", "cl"} < set(tokenizer.get_vocab())
    assert trained[0] == trained[1]
