"""tokenizer.json: the same as the library's; older ones; and files that are something else."""

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tokenizers

from lmcourse.errors import CourseError
from lmcourse.tokenizers.files import read_text
from lmcourse.tokenizers.published_files import from_vocab_json, from_vocab_txt
from lmcourse.tokenizers.tokenizer import Tokenizer
from tests.tokenizers.random_tokenizer import (
    DECODERS,
    NORMALIZERS,
    PRE_TOKENIZERS,
    both,
    random_tokenizer,
)

Json = dict[str, Any]
LEVEL = {"type": "WordLevel", "vocab": {"[UNK]": 0, "a": 1, "b": 2}, "unk_token": "[UNK]"}
SMALL: Json = {"version": "1.0", "added_tokens": [], "model": LEVEL}
TEXT = "ab a  b"


def read(value: Any) -> Tokenizer:
    """Our tokenizer of this JSON."""
    return Tokenizer.from_str(json.dumps(value))


def refusal(value: Any) -> CourseError:
    """Why this JSON is refused."""
    with pytest.raises(CourseError) as error:
        read(value)
    return error.value


def test_same_json_as_the_library() -> None:
    """Read and written again, random tokenizers of all kinds are the library's own JSON."""
    rng = random.Random(21)
    for _ in range(150):
        ours, library = both(random_tokenizer(rng))
        written = json.loads(library.to_str())
        assert json.loads(ours.to_str()) == written
        assert json.loads(ours.to_str(pretty=True)) == written
        assert json.loads(Tokenizer.from_library(library).to_str()) == written
        assert json.loads(ours.to_library().to_str()) == written


def test_scores_keep_every_bit() -> None:
    """The library misreads the last bit of some scores in a file, so they do not go by a file."""
    rng = random.Random(22)
    vocab = [[f"piece{number}", -10 * rng.random()] for number in range(500)]
    unigram = {"type": "Unigram", "unk_id": 0, "vocab": vocab, "byte_fallback": True}
    ours, library = both(SMALL | {"model": unigram, "added_tokens": [added("x", 500)]})
    assert json.loads(library.to_str())["model"] != unigram  # else there is no need any more
    assert json.loads(ours.to_library().to_str())["model"] == unigram
    assert json.loads(Tokenizer.from_library(ours.to_library()).to_str())["model"] == unigram
    assert ours.to_library().encode("xpiece7").ids == ours.encode("xpiece7").ids


@pytest.mark.parametrize("name", ["normalizer", "pre_tokenizer", "decoder"])
def test_every_part_within_a_sequence(name: str) -> None:
    """Sequences of all parts, also within each other."""
    parts = {"normalizer": NORMALIZERS, "pre_tokenizer": PRE_TOKENIZERS, "decoder": DECODERS}[name]
    key = {"normalizer": "normalizers", "pre_tokenizer": "pretokenizers", "decoder": "decoders"}[
        name
    ]
    inner = {"type": "Sequence", key: [part for part in parts if part]}
    ours, library = both(SMALL | {name: {"type": "Sequence", key: [inner, inner]}})
    assert json.loads(ours.to_str()) == json.loads(library.to_str())


def test_save_and_load(tmp_path: Path) -> None:
    """A file is the same after a round, and is replaced as a whole."""
    ours = read(SMALL)
    path = tmp_path / "new folder" / "tokenizer.json"
    ours.save(path)
    assert Tokenizer.from_file(path).to_str() == ours.to_str()
    assert tokenizers.Tokenizer.from_file(str(path)).encode("a").ids == [1]
    ours.add_tokens(["long"])
    ours.save(str(path), pretty=False)
    assert Tokenizer.from_file(str(path)).encode("long").ids == [3]
    assert [each.name for each in path.parent.iterdir()] == ["tokenizer.json"]
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())  # what some editors put before a text
    assert Tokenizer.from_file(path).encode("long").ids == [3]


def test_save_where_nothing_can_be(tmp_path: Path) -> None:
    """A file stands where a folder is needed."""
    (tmp_path / "file").write_text("mine")
    with pytest.raises(CourseError, match="A folder is needed where the file") as error:
        read(SMALL).save(tmp_path / "file" / "tokenizer.json")
    assert "Save the tokenizer in a folder of yours." in error.value.remedy
    assert (tmp_path / "file").read_text() == "mine"


# --- what older versions of the library wrote ---

BPE: Json = {
    "type": "BPE",
    "dropout": None,
    "unk_token": None,
    "continuing_subword_prefix": None,
    "end_of_word_suffix": None,
    "fuse_unk": False,
    "vocab": {"a": 0, "b": 1, " ": 2, "ab": 3},
    "merges": [["a", "b"]],
}
WORD_PIECE: Json = {
    "unk_token": "[UNK]",
    "continuing_subword_prefix": "##",
    "max_input_chars_per_word": 100,
    "vocab": {"[UNK]": 0, "a": 1, "##b": 2},
}
OLDER_MODELS: dict[str, Json] = {
    "merges as strings": BPE | {"merges": ["#version: 0.2", "a b"]},
    "BPE without options": {"vocab": BPE["vocab"], "merges": ["a b"]},
    "WordPiece without a type": WORD_PIECE,
    "WordLevel without a type": {"vocab": LEVEL["vocab"], "unk_token": "[UNK]"},
    "Unigram without a type": {"unk_id": 0, "vocab": [["<unk>", 0.0], ["a", -1.0], ["b", -2.5]]},
    "Unigram without byte_fallback": {"type": "Unigram", "unk_id": None, "vocab": [["a", -1.5]]},
}
OLDER_PARTS: dict[str, Json] = {
    "ByteLevel without use_regex": {
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": False},
        "post_processor": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": False},
        "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True},
    },
    "Metaspace with str_rep": {
        "pre_tokenizer": {
            "type": "Metaspace",
            "replacement": "▁",
            "add_prefix_space": True,
            "str_rep": "▁",
        },
        "decoder": {"type": "Metaspace", "replacement": "▁", "add_prefix_space": True},
    },
    "Metaspace with both": {
        "pre_tokenizer": {
            "type": "Metaspace",
            "replacement": "▁",
            "add_prefix_space": False,
            "prepend_scheme": "never",
        }
    },
    "Truncation without direction": {
        "truncation": {"max_length": 4, "strategy": "LongestFirst", "stride": 0}
    },
    "no version": {},
}


@pytest.mark.parametrize("name", OLDER_MODELS)
def test_older_models(name: str) -> None:
    """Read as the library reads them, and written as it writes them now."""
    ours, library = both({"model": OLDER_MODELS[name]})
    assert json.loads(ours.to_str()) == json.loads(library.to_str())


@pytest.mark.parametrize("name", OLDER_PARTS)
def test_older_parts(name: str) -> None:
    """Read as the library reads them, and written as it writes them now."""
    ours, library = both({"model": LEVEL} | OLDER_PARTS[name])
    assert json.loads(ours.to_str()) == json.loads(library.to_str())
    assert ours.encode(TEXT).offsets == library.encode(TEXT).offsets


def test_keys_of_other_programs() -> None:
    """They are left out (the library cannot read on behind them)."""
    assert read(SMALL | {"extra": {"a": 5}}).to_str() == read(SMALL).to_str()


def test_older_metaspace_without_prefix() -> None:
    """The library refuses what it once wrote itself; it can only mean one thing."""
    older = {"type": "Metaspace", "replacement": "▁", "add_prefix_space": False, "str_rep": "▁"}
    ours = read({"model": LEVEL, "pre_tokenizer": older})
    assert json.loads(ours.to_str())["pre_tokenizer"]["prepend_scheme"] == "never"
    within = {"type": "Sequence", "pretokenizers": [older]}
    written = json.loads(read({"model": LEVEL, "pre_tokenizer": within}).to_str())
    assert written["pre_tokenizer"]["pretokenizers"][0]["prepend_scheme"] == "never"
    error = refusal({"model": LEVEL, "decoder": older | {"prepend_scheme": "always"}})
    assert error.cause == (
        "The tokenizer, decoder has add_prefix_space false, but prepend_scheme 'always'."
    )


# --- files that are something else ---


@pytest.mark.parametrize(
    ("text", "cause", "remedy"),
    [
        ("", "is empty", "tokenizer.json"),
        (" \n", "is empty", "tokenizer.json"),
        ('{"version": "1.0"', "ends too early: line 1, column 18", "download it again"),
        ('{"version":\n "1.0",,', "is no JSON: line 2, column 8", "tokenizer.json"),
        ("[PAD]\n[UNK]\nthe\n", "is a list of tokens, one a line: line 1", "from_vocab_txt"),
        ("#version: 0.2\na b\n", "is a list of merges: line 1, column 1", "from_vocab_json"),
        ('{"a": NaN}', "NaN is no number of JSON", "tokenizer.json"),
        ("[" * 100_000, "is no JSON that can be read", "tokenizer.json"),
        ("9" * 5000, "is no JSON that can be read", "tokenizer.json"),
        ('{"a": "\\ud83d"}', "holds the lone surrogate U+D83D", "knows Unicode"),
        ('{"model": {"a": 1, "a": 2}}', "lists 'a' twice", "each token has one id"),
        ("[]", "holds a list, not an object", "tokenizer.json"),
        ('"text"', "holds a string, not an object", "tokenizer.json"),
        ("null", "holds null, not an object", "tokenizer.json"),
        ("5", "holds a number, not an object", "tokenizer.json"),
        ("true", "holds true or false, not an object", "tokenizer.json"),
        ("{}", "has no model: its keys are none", "tokenizer.json"),
        ('{"b": "c"}', "has no model: its keys are b", "tokenizer.json"),
        ('{"a": 0, "b": 1}', "it looks like a vocab.json", "tokenizer.json"),
        ('{"do_lower_case": true}', "it looks like a tokenizer_config.json", "tokenizer.json"),
        ('{"model_type": "bert"}', "it looks like a model's config.json", "tokenizer.json"),
        ('{"cls_token": "<s>"}', "it looks like a special_tokens_map.json", "tokenizer.json"),
        ('{"model": {}, "version": "2.0"}', "has version '2.0'; the known one is '1.0'", "1.0"),
    ],
)
def test_another_kind_of_file(tmp_path: Path, text: str, cause: str, remedy: str) -> None:
    """The error names the file, what it is, where it ends to be JSON, and what helps."""
    path = tmp_path / "some.json"
    path.write_text(text)
    with pytest.raises(CourseError) as error:
        Tokenizer.from_file(path)
    assert error.value.cause.startswith(str(path))
    assert cause in error.value.cause
    assert remedy in error.value.remedy
    assert error.value.cause.endswith(".")
    assert "\n" not in error.value.cause


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    """None, a folder, a SentencePiece model, and weights."""
    with pytest.raises(CourseError, match=r"There is no file .*none\.json\."):
        Tokenizer.from_file(tmp_path / "none.json")
    with pytest.raises(CourseError, match=r"is a folder, not a file\.") as error:
        Tokenizer.from_file(tmp_path)
    assert error.value.remedy.startswith("Give the tokenizer.json")
    for bad in (None, "", 5):
        with pytest.raises(CourseError, match=rf"^{bad!r} is no path of a file\."):
            read_text(bad)  # type: ignore[arg-type]
        with pytest.raises(CourseError, match=rf"^{bad!r} is no path of a file\."):
            Tokenizer.from_file(bad)  # type: ignore[arg-type]
        with pytest.raises(CourseError, match=rf"^{bad!r} is no path of a file\."):
            read(SMALL).save(bad)  # type: ignore[arg-type]
    with pytest.raises(CourseError, match=r"There is no file"):
        read_text("a\0b")
    (tmp_path / "spiece.model").write_bytes(b"\n\x0e\n\x05<unk>\x15\x00\x00\x00\x00\x18\x02\xff")
    with pytest.raises(CourseError, match=r"byte 16 is no UTF-8. It may be a SentencePiece model"):
        Tokenizer.from_file(tmp_path / "spiece.model")
    (tmp_path / "model.bin").write_bytes(b"PK\x03\x04\xfe\xff")
    with pytest.raises(CourseError, match=r"model.bin is no text file: byte 4 is no UTF-8\. Give"):
        Tokenizer.from_file(tmp_path / "model.bin")
    with pytest.raises(CourseError, match="must be a string, not bytes"):
        Tokenizer.from_str(b"{}")  # type: ignore[arg-type]


def template(pair: list[Json]) -> Json:
    """A post-processor with this template for pairs."""
    return {"type": "TemplateProcessing", "single": [], "pair": pair, "special_tokens": {}}


@pytest.mark.parametrize(
    ("part", "cause"),
    [
        (
            {"normalizer": {"type": "Uppercase"}},
            "normalizer, is of the type 'Uppercase', which is not known here.",
        ),
        ({"decoder": {"prefix": "##"}}, "decoder, has no type."),
        ({"decoder": "WordPiece"}, "decoder is 'WordPiece', not an object with a type."),
        (
            {"pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "Lowercase"}]}},
            "pre_tokenizer, pretokenizers 1, is of the type 'Lowercase', which is not known here.",
        ),
        ({"model": {"type": "CharBPE"}}, "model, is of the type 'CharBPE', which is not known"),
        ({"model": {"a": 1}}, "model, has no type."),
        ({"model": {"type": "BPE", "vocab": {}}}, "model (BPE) has no merges."),
        ({"model": BPE | {"merges": [["a"]]}}, "merges: merge 1 is ['a'], which is not two tokens"),
        ({"model": BPE | {"merges": ["a b", "a  b"]}}, "merges: merge 2 is 'a  b', which is not"),
        ({"model": BPE | {"merges": "a b"}}, "does not fit: Expected `array`, got `str`"),
        (
            {"model": LEVEL | {"vocab": {"a": "0"}}},
            "`$.model.vocab[...]`, where 'a' has the id '0'.",
        ),
        ({"truncation": {"max_length": "5"}}, "Expected `int`, got `str` - at `$.truncation.max"),
        ({"padding": {"strategy": "Longest"}}, "`$.padding.strategy`"),
        (
            {"added_tokens": [{"id": 1}]},
            "missing required field `content` - at `$.added_tokens[0]`",
        ),
        ({"truncation": {"max_length": -5}}, "`int` >= 0 - at `$.truncation.max_length`"),
        ({"truncation": {"stride": -1}}, "`int` >= 0 - at `$.truncation.stride`"),
        ({"truncation": {"max_length": 4, "stride": 4}}, "The stride is 4, but a part has room"),
        ({"padding": {"strategy": {"Fixed": -3}}}, "`int` >= 1 - at `$.padding.strategy.Fixed`"),
        ({"padding": {"pad_id": -7}}, "Expected `int` >= 0 - at `$.padding.pad_id`"),
        ({"padding": {"pad_type_id": 2**32}}, "<= 4294967295 - at `$.padding.pad_type_id`"),
        (
            {"post_processor": template([{"Sequence": {"id": "C", "type_id": 0}}])},
            "A template names the text 'C'.",
        ),
        ({"post_processor": template([{}])}, "either for a text or for a special token"),
        ({"post_processor": template([])}, "does not use both texts"),
        ({"decoder": {"type": "Strip", "content": "ab"}}, "takes away one character, not 'ab'."),
    ],
)
def test_parts_that_do_not_fit(part: Json, cause: str) -> None:
    """The error says which part it is, and what is wrong with it."""
    error = refusal(SMALL | part)
    assert error.cause.startswith("The tokenizer")
    assert cause in error.cause


def test_unknown_part_lists_the_known_ones() -> None:
    """A typing mistake is found quickly so."""
    error = refusal(SMALL | {"model": {"type": "Bpe"}})
    assert error.remedy == "Known are: BPE, Unigram, WordLevel, WordPiece."


def test_vocabularies_that_do_not_hold_together() -> None:
    """Two tokens of one id, no unknown token, merges of nothing, ids with holes."""
    level = LEVEL | {"vocab": {"[UNK]": 0, "a": 1, "b": 1}}
    assert "gives the id 1 to both 'a' and 'b'" in refusal(SMALL | {"model": level}).cause
    level = LEVEL | {"vocab": {"[UNK]": 0, "a": -1}}
    assert "gives 'a' the id -1" in refusal(SMALL | {"model": level}).cause
    level = LEVEL | {"vocab": {"[UNK]": 0, "a": 10**30}}
    assert "gives 'a' the id 1000" in refusal(SMALL | {"model": level}).cause
    pieces = {"type": "WordPiece", **WORD_PIECE, "vocab": {"a": 0}}
    assert "unknown token '[UNK]' is not in" in refusal(SMALL | {"model": pieces}).cause
    assert "'x'" in refusal(SMALL | {"model": BPE | {"merges": ["a x"]}}).cause
    unigram = {"type": "Unigram", "unk_id": 3, "vocab": [["a", -1.0]]}
    assert "unknown token's id 3 is not in" in refusal(SMALL | {"model": unigram}).cause


def added(content: str, id_: int) -> Json:
    """An added token without options."""
    options = ("single_word", "lstrip", "rstrip", "normalized", "special")
    return {"id": id_, "content": content, **dict.fromkeys(options, False)}


def test_ids_of_added_tokens() -> None:
    """They follow from the order; the library gives other ids than the file, and says nothing."""
    good = [added("x", 3), added("y", 4)]
    assert read(SMALL | {"added_tokens": good}).get_vocab()["y"] == 4
    for wrong in (-1, 10**30):
        cause = refusal(SMALL | {"added_tokens": [added("x", wrong)]}).cause
        assert "at `$.added_tokens[0].id`" in cause
    for bad in (good[::-1], [added("x", 7)], [added("a", 3)]):
        cause = refusal(SMALL | {"added_tokens": bad}).cause
        assert f"The tokenizer gives the added token {bad[0]['content']!r} the id" in cause
    holes = LEVEL | {"vocab": {"[UNK]": 0, "a": 1, "b": 3}}
    error = refusal(SMALL | {"model": holes, "added_tokens": [added("x", 3)]})
    assert "would get the id 3" in error.cause
    assert "has holes" in error.cause or "ids have holes" in error.cause


def test_special_tokens_that_the_vocabulary_lacks() -> None:
    """A post-processor adds tokens that are not there."""
    bert = {"type": "BertProcessing", "sep": ["[SEP]", 102], "cls": ["[CLS]", 101]}
    error = refusal(SMALL | {"post_processor": bert})
    assert error.cause == (
        "The post-processor adds '[SEP]' with the id 102, but the vocabulary lacks it."
    )


# --- vocabularies that were published alone ---

BERT_VOCAB = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "low", "##er", "new", "\u2028", "é"]


def test_vocab_txt(tmp_path: Path) -> None:
    """BERT's tokenizer from its vocabulary, equal to what the library makes of the same file."""
    path = tmp_path / "vocab.txt"
    path.write_text("\n".join(BERT_VOCAB) + "\n", encoding="utf-8")
    ours = from_vocab_txt(path)
    library = tokenizers.BertWordPieceTokenizer(str(path))
    for pair in (None, "new é"):
        found, expected = (
            ours.encode("Lower [MASK] news", pair),
            library.encode("Lower [MASK] news", pair),
        )
        assert found.tokens == expected.tokens
        assert (found.ids, found.type_ids) == (expected.ids, expected.type_ids)
        assert found.offsets == expected.offsets
    assert ours.decode(found.ids) == library.decode(found.ids)
    assert from_vocab_txt(path, lowercase=False).encode("Low é").tokens[1:3] == ["[UNK]", "é"]


def without(token: str) -> list[str]:
    """BERT's vocabulary without a token."""
    return [each for each in BERT_VOCAB if each != token]


@pytest.mark.parametrize(
    ("tokens", "cause"),
    [
        ([*BERT_VOCAB, "low"], "line 11, has 'low', as line 6 has."),
        (["[PAD]", "", "[UNK]"], "line 2, is empty."),
        ([""], "line 1, is empty."),
        (without("[MASK]"), "lacks the special token '[MASK]'."),
    ],
)
def test_bad_vocab_txt(tmp_path: Path, tokens: list[str], cause: str) -> None:
    """The error names the line."""
    path = tmp_path / "vocab.txt"
    path.write_text("\n".join(tokens), encoding="utf-8")
    with pytest.raises(CourseError) as error:
        from_vocab_txt(path)
    assert cause in error.value.cause


@pytest.mark.parametrize(
    ("content", "cause"),
    [
        (b'{"[PAD]": 0, "low": 1}', "vocab.txt is JSON, not one token a line."),
        ("[PAD]\n[UNK]".encode("utf-16"), "byte 0 is no UTF-8. It seems to be UTF-16"),
        (b"PK\x03\x04\xfe", "byte 4 is no UTF-8."),
        (None, "is a folder, not a file."),
    ],
)
def test_another_file_as_vocab_txt(tmp_path: Path, content: bytes | None, cause: str) -> None:
    """The remedy is about a vocab.txt."""
    path = tmp_path / "vocab.txt"
    path.mkdir() if content is None else path.write_bytes(content)
    with pytest.raises(CourseError) as error:
        from_vocab_txt(path)
    assert cause in error.value.cause
    assert "vocab.txt" in error.value.remedy or "from_vocab_json" in error.value.remedy
    with pytest.raises(CourseError, match=r"^None is no path"):
        from_vocab_txt(None)  # type: ignore[arg-type]


BYTE_VOCAB = {"l": 0, "o": 1, "w": 2, "lo": 3, "low": 4, "Ġ": 5, "#": 6, "##": 7}
MERGES = "#version: 0.2\nl o\nlo w\n# #\n"


@pytest.fixture
def published(tmp_path: Path) -> Callable[[Any, str], Tokenizer]:
    """The tokenizer of a vocabulary and merges, once they are written to files."""

    def written(vocab: Any, merges: str = MERGES) -> Tokenizer:
        (tmp_path / "vocab.json").write_text(json.dumps(vocab), encoding="utf-8")
        (tmp_path / "merges.txt").write_text(merges, encoding="utf-8")
        return from_vocab_json(tmp_path / "vocab.json", tmp_path / "merges.txt")

    return written


def test_gpt2_files(published: Callable[..., Tokenizer]) -> None:
    """Byte-level, one special token; a merge may begin like a comment."""
    tokenizer = published({**BYTE_VOCAB, "<|endoftext|>": 8})
    assert tokenizer.encode("low<|endoftext|> low##").tokens == [
        "low", "<|endoftext|>", "Ġ", "low", "##",
    ]  # fmt: skip
    assert tokenizer.decode([4, 8, 5, 4]) == "low low"
    library = tokenizers.ByteLevelBPETokenizer(BYTE_VOCAB, [("l", "o"), ("lo", "w"), ("#", "#")])
    assert published(BYTE_VOCAB).encode("low low#").ids == library.encode("low low#").ids


def test_roberta_files(published: Callable[..., Tokenizer]) -> None:
    """Its special tokens are in the vocabulary, so it is RoBERTa; its mask takes the space."""
    specials = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    ids = {token: id_ for id_, token in enumerate([*BYTE_VOCAB, *specials])}
    pair = published(ids).encode("low <mask>", "low")
    assert pair.tokens == ["<s>", "low", " <mask>", "</s>", "</s>", "low", "</s>"]
    assert pair.offsets[2] == (4, 10)


def test_merges_that_are_cut_short(published: Callable[..., Tokenizer]) -> None:
    """A token that no merge makes could never be reached. Special ones, and fillers, need none."""
    names = ("<|endoftext|>", "[x]", "<mask>", "madeupword0000")
    ids = BYTE_VOCAB | {token: id_ for id_, token in enumerate(names, start=8)}
    assert published(ids).encode("low").ids == [4]
    for merges, token in (("#version: 0.2\nl o\n", "low"), ("", "lo")):
        with pytest.raises(CourseError, match=rf"no merge for \d tokens .* such as '{token}'"):
            published(ids, merges)


def test_swapped_published_files(published: Callable[..., Tokenizer], tmp_path: Path) -> None:
    """The remedy says which file comes first."""
    published(BYTE_VOCAB)
    with pytest.raises(CourseError, match=r"merges.txt is a list of merges") as error:
        from_vocab_json(tmp_path / "merges.txt", tmp_path / "vocab.json")
    assert error.value.remedy.endswith("from_vocab_json(vocab, merges).")
    with pytest.raises(CourseError, match=r"is a folder") as error:
        from_vocab_json(tmp_path, tmp_path / "merges.txt")
    assert error.value.remedy.startswith("Give the vocab.json")


def test_bad_published_files(published: Callable[..., Tokenizer], tmp_path: Path) -> None:
    """A list, ids that are none, merges that are none or unknown, a file that is not there."""
    for vocab in (["low"], {"low": "4"}, {"low": True}):
        with pytest.raises(CourseError, match=r"vocab.json is no vocabulary"):
            published(vocab)
    with pytest.raises(CourseError, match=r"merges.txt: merge 2 is 'lo w x', which is not two"):
        published(BYTE_VOCAB, "l o\nlo w x\n")
    with pytest.raises(CourseError, match=r"'x'"):
        published(BYTE_VOCAB, "l x\n")
    with pytest.raises(CourseError, match=r"There is no file"):
        from_vocab_json(tmp_path / "vocab.json", tmp_path / "other.txt")
