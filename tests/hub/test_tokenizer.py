"""Tokenizers of published folders: with every setting beside the vocabulary, or refused by name."""

import json
import re

import pytest
import torch
import transformers
from tokenizers import Tokenizer

from lmcourse import hub
from lmcourse.errors import CourseError
from tests.hub import saved

TEXTS = ["Why CAFÉ?", "漢字 [MASK] cafe\u0301", "A ?.", "[CLS]  x"]
VOCAB = [
    *("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "why", "Why", "cafe", "café", "CAFÉ", "?", "x"),
    *("漢", "字", "漢字", "<pad>", "a", "."),
]


def vocabulary(folder, **config):
    """A folder with a BERT, its vocab.txt, and these settings beside it."""
    saved.save(folder, tokens=False)
    (folder / "vocab.txt").write_text("".join(f"{token}\n" for token in VOCAB))
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    return folder


def same_as_the_library(folder):
    """What was loaded, which makes of every text and pair what AutoTokenizer makes."""
    found, theirs = hub.load(folder), transformers.AutoTokenizer.from_pretrained(folder)
    assert type(found.tokenizer) is Tokenizer
    for pairs in (None, TEXTS[::-1]):
        wanted = theirs(TEXTS, pairs, padding=True, return_tensors="pt")
        ours = found.inputs(TEXTS, pairs)
        if found.model.config.type_vocab_size == 0:
            wanted.pop("token_type_ids")
        assert ours.keys() == wanted.keys()
        assert all(torch.equal(ours[name], wanted[name]) for name in ours)
    found.model(**ours)
    return found


@pytest.mark.parametrize(
    "config",
    [
        {},
        {"do_lower_case": True, "strip_accents": False},
        {"do_lower_case": False},
        {"do_lower_case": False, "strip_accents": True},
        {"do_lower_case": True, "tokenize_chinese_chars": False},
        {"model_input_names": ["input_ids", "attention_mask"]},
        {"padding_side": "left"},
        {"pad_token": "<pad>", "unk_token": "x"},
        {"model_max_length": 3},
        {"split_special_tokens": True},
        {"extra_special_tokens": ["why", "<x>"]},
        {"additional_special_tokens": ["why"]},
        {"added_tokens_decoder": {"6": {"content": "Why", "special": False, "normalized": False}}},
        {"pad_token_type_id": 1},
        {"cls_token": "x", "sep_token": "?"},
        {"mask_token": "a"},
        {"tokenizer_class": "DistilBertTokenizer"},
        {"do_basic_tokenize": True, "never_split": None},
    ],
    ids=str,
)
def test_each_setting_beside_a_vocabulary_counts(config, tmp_path):
    same_as_the_library(vocabulary(tmp_path, **config))


def test_accents_stay_where_the_settings_say_so(tmp_path):
    folder = vocabulary(tmp_path, do_lower_case=True, strip_accents=False)
    assert "café" in hub.load(folder).tokenizer.encode("CAFÉ").tokens


@pytest.mark.parametrize(
    "config",
    [{"do_lower_case": False}, {"model_input_names": ["input_ids", "attention_mask"]}],
    ids=str,
)
def test_settings_count_beside_a_whole_tokenizer_too(config, tmp_path):
    folder = saved.save(tmp_path)
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    same_as_the_library(folder)


@pytest.mark.parametrize(
    "config",
    [
        {"do_basic_tokenize": False},
        {"never_split": ["CAFÉ"]},
        {"clean_text": False},
        {"wordpieces_prefix": "@@"},
        {"remove_space": False},
        {"sp_model_kwargs": {"enable_sampling": True}},
    ],
    ids=str,
)
def test_a_setting_that_no_library_reads_is_refused_by_name(config, tmp_path):
    ((name, value),) = config.items()
    with pytest.raises(CourseError, match=re.escape(f"{name}={value!r} has no effect")):
        hub.load(vocabulary(tmp_path, **config))


def test_settings_count_beside_a_model_of_ours(tmp_path):
    saved.small().save(tmp_path / "model.safetensors")
    saved.tokenizer().save(str(tmp_path / "tokenizer.json"))
    settings = tmp_path / "tokenizer_config.json"
    settings.write_text(json.dumps({"tokenizer_class": "BertTokenizer", "do_lower_case": False}))
    same_as_the_library(tmp_path)
    assert "[UNK]" in hub.load(tmp_path).tokenizer.encode("Why").tokens
    settings.write_text(json.dumps({"do_lower_case": False}))
    with pytest.raises(CourseError, match="names no tokenizer_class"):
        hub.load(tmp_path)


def test_a_bpe_vocabulary_gets_the_special_tokens_of_its_model(tmp_path):
    folder = saved.save(tmp_path, "Deberta", tokens=False)
    vocab = ["[PAD]", "[CLS]", "[SEP]", "[UNK]", "[MASK]", "a", "b", "ab"]
    (folder / "vocab.json").write_text(json.dumps({token: at for at, token in enumerate(vocab)}))
    (folder / "merges.txt").write_text("#version: 0.2\na b\n")
    assert same_as_the_library(folder).tokenizer.encode("ab").tokens == ["[CLS]", "ab", "[SEP]"]


def test_the_inputs_are_those_that_the_model_takes(tmp_path):
    folder = saved.save(tmp_path)
    tokenizer = saved.tokenizer()
    tokenizer.no_padding()
    tokenizer.save(str(folder / "tokenizer.json"))
    found = hub.load(folder)
    made = found.inputs(["Why?", "A lighthouse keeper smiled."])
    assert made["input_ids"][1].tolist() == tokenizer.encode("A lighthouse keeper smiled.").ids
    assert made["attention_mask"][0].sum() < made["attention_mask"][1].sum()
    assert found.model(**made).logits.shape[:2] == made["input_ids"].shape
    pair = found.inputs(["Why?"], ["A lighthouse."])["token_type_ids"]
    assert pair.tolist() == [tokenizer.encode("Why?", "A lighthouse.").type_ids]
    found = hub.load(saved.save(tmp_path / "other", "DistilBertForMaskedLM"))
    made = found.inputs(["Why?"])
    assert set(made) == {"input_ids", "attention_mask"}
    found.model(**made)


def test_inputs_that_cannot_be_made_are_refused(tmp_path):
    folder = saved.save(tmp_path / "a", tokens=False)
    with pytest.raises(CourseError, match="has no tokenizer"):
        hub.load(folder).inputs(["Why?"])
    assert "without a tokenizer" in repr(hub.load(folder))
    tokenizer = Tokenizer.from_str(saved.tokenizer().to_str().replace("[PAD]", "[BLANK]"))
    tokenizer.no_padding()
    tokenizer.save(str(folder / "tokenizer.json"))
    with pytest.raises(CourseError, match="no padding token"):
        hub.load(folder).inputs(["Why?", "A lighthouse keeper smiled."])
    folder = vocabulary(tmp_path / "b", model_input_names=["input_ids", "position_ids"])
    with pytest.raises(CourseError, match="makes the input position_ids"):
        hub.load(folder)


def test_a_tokenizer_of_another_model_is_refused(tmp_path):
    folder = saved.save(tmp_path, vocab_size=12)
    with pytest.raises(CourseError, match="knows 12 tokens"):
        hub.load(folder)
    for content in ("{}", "", "[1]", "\udcff"):
        (folder / "tokenizer.json").write_text(content, errors="surrogateescape")
        with pytest.raises(CourseError, match=r"tokenizer\.json cannot be read"):
            hub.load(folder)
    (folder / "tokenizer_config.json").write_text("[1]")
    with pytest.raises(CourseError, match=r"tokenizer of .* cannot be read"):
        hub.load(folder)


@pytest.mark.parametrize(
    ("file", "config", "says"),
    [
        ("spiece.model", {}, "cannot be read"),
        ("vocab.txt", {"tokenizer_class": "BertJapaneseTokenizer"}, "BertJapaneseTokenizer"),
        ("vocab.json", {"tokenizer_class": "CTRLTokenizer"}, "CTRLTokenizer"),
    ],
)
def test_what_only_python_reads_is_refused_by_name(file, config, says, tmp_path):
    folder = saved.save(tmp_path, tokens=False)
    (folder / file).write_text('{"<unk>": 0}')
    (folder / "merges.txt").write_text("#version: 0.2\n\n")
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    with pytest.raises(CourseError, match=says) as error:
        hub.load(folder)
    assert "a copy of the folder" in error.value.remedy


def test_a_tokenizer_that_names_code_runs_none_and_asks_nobody(tmp_path, monkeypatch):
    def connect(*_):
        raise AssertionError("a connection")

    monkeypatch.setattr("socket.socket.connect", connect)
    folder = vocabulary(
        tmp_path,
        tokenizer_class="EvilTokenizer",
        auto_map={"AutoTokenizer": ["evil.EvilTokenizer", None]},
        tokenizer_file="/etc/passwd",
        name_or_path="evil/repo",
    )
    (folder / "evil.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\nEvilTokenizer = dict\n")
    try:
        found = hub.load(folder)
    except CourseError as error:
        assert "EvilTokenizer" in error.cause
    else:
        assert "root" not in found.tokenizer.to_str()
    assert not (tmp_path / "ran").exists()
