"""One call for all: what comes with the course, files and folders, devices and bad names."""

import hashlib
import json

import msgspec
import pytest
import torch
from safetensors.torch import save_file

from coursekit.models import overview
from lmcourse import devices, hub
from lmcourse.errors import CourseError
from lmcourse.hub.checkpoints import home
from lmcourse.models.bert_heads import BertForMaskedLM
from lmcourse.models.bert_tasks import BertForTokenClassification
from lmcourse.models.distilbert import DistilBertForMaskedLM
from lmcourse.models.gpt import GPTForCausalLM
from lmcourse.models.rnn_lm import RNNConfig, RNNLanguageModel
from lmcourse.models.weights import read_tensors
from lmcourse.models.word2vec import SkipGram, Word2VecConfig
from research.pretrain.shipping import ship
from tests.hub import saved
from tests.hub.saved import small


def same(one, other):
    ours, theirs = one.state_dict(), other.state_dict()
    return ours.keys() == theirs.keys() and all(torch.equal(ours[k], theirs[k]) for k in ours)


# --- files and folders ---


def test_a_file_of_ours_is_known_by_what_it_says(tmp_path):
    model = small()
    model.save(tmp_path / "a.safetensors")
    for path in (tmp_path / "a.safetensors", str(tmp_path / "a.safetensors")):
        found = hub.load(path)
        assert type(found.model) is BertForMaskedLM and same(found.model, model)
        assert found.tokenizer is None and found.source == str(path) and not found.model.training
    assert same(hub.load(path, BertForMaskedLM).model, model)
    with pytest.raises(CourseError, match="holds BertForMaskedLM, not BertForTokenClass") as error:
        hub.load(path, BertForTokenClassification)
    assert "on_top_of" in error.value.remedy


def test_models_without_a_counterpart_load_too(tmp_path):
    model = RNNLanguageModel(RNNConfig(vocab_size=5))
    model.save(tmp_path / "rnn.safetensors")
    assert same(hub.load(tmp_path / "rnn.safetensors").model, model)


def test_loading_draws_no_random_numbers(tmp_path, original):
    small().save(tmp_path / "a.safetensors")
    RNNLanguageModel(RNNConfig(vocab_size=5)).save(tmp_path / "b.safetensors")
    for path in (tmp_path / "a.safetensors", tmp_path / "b.safetensors", original):
        before = torch.get_rng_state()
        hub.load(path)
        assert torch.equal(torch.get_rng_state(), before)
    assert small().bert.embeddings.word.weight.any()  # and afterwards all is as before


def test_a_folder_of_ours_has_a_tokenizer(tmp_path, monkeypatch):
    small().save(tmp_path / "mine" / "model.safetensors")
    assert hub.load(tmp_path / "mine").tokenizer is None
    saved.tokenizer().save(str(tmp_path / "mine" / "tokenizer.json"))
    monkeypatch.chdir(tmp_path)
    found = hub.load("mine")
    assert found.tokenizer.to_str() == saved.tokenizer().to_str() and same(found.model, small())
    monkeypatch.setenv("HOME", str(tmp_path))
    assert same(hub.load("~/mine").model, small())
    with pytest.raises(CourseError, match="only repositories on the hub have a revision"):
        hub.load("mine", revision="main")


@pytest.mark.parametrize(
    ("setting", "says"),
    [
        (
            {"vocab_size": 10**12},
            r"word.* has the shape \(48, 8\) there and \(1000000000000, 8\) here",
        ),
        ({"num_hidden_layers": 10**9}, "asks for many more tensors than the file's"),
    ],
    ids=str,
)
def test_a_configuration_in_a_file_takes_no_memory_before_it_is_compared(tmp_path, setting, says):
    """No memory holds 10**12 embeddings: only the meta device has such a model."""
    path = tmp_path / "model.safetensors"
    small().save(path)
    metadata, tensors = read_tensors(path)
    metadata["config"] = json.dumps(json.loads(metadata["config"]) | setting)
    save_file(tensors, path, metadata)
    for load in (hub.load, BertForMaskedLM.load):
        with pytest.raises(CourseError, match=says):
            load(path)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "no safetensors file"),
        (b"\x80\x04\x95.", "no safetensors file"),
        (b"\xff" * 100, "no safetensors file"),
        (b"\x02\0\0\0\0\0\0\0{}", "no model of the course"),
    ],
)
def test_a_file_of_another_kind_is_refused(content, says, tmp_path):
    path = tmp_path / "model.safetensors"
    path.write_bytes(content)
    with pytest.raises(CourseError, match=says):
        hub.load(path)


def test_a_pickle_is_refused(tmp_path):
    torch.save(small().state_dict(), tmp_path / "model.pt")
    with pytest.raises(CourseError, match="no safetensors file"):
        hub.load(tmp_path / "model.pt")


@pytest.mark.parametrize(
    "name", ["Linear", "Model", "os", "BertHead", "../Bert", "BertForMaskedLM"]
)
def test_a_file_names_no_class_but_ours(name, tmp_path):
    from safetensors.torch import save_file

    metadata = {"architecture": name, "config": "{}", "format": "pt"}
    save_file({"a": torch.ones(1)}, tmp_path / "a.safetensors", metadata)
    with pytest.raises(CourseError):
        hub.load(tmp_path / "a.safetensors")


@pytest.mark.parametrize("name", ["no.safetensors", "./no", "/no/where", "~/no-such-thing"])
def test_a_path_that_is_not_there_asks_no_hub(name):
    with pytest.raises(CourseError, match="is not there"):
        hub.load(name)


@pytest.mark.bad_input
@pytest.mark.parametrize("name", ["", None, 3, b"bytes"])
def test_what_is_no_name_is_told(name):
    with pytest.raises(CourseError, match="is neither a name nor a path"):
        hub.load(name)


# --- what comes with the course ---


def test_a_shipped_model_loads_by_its_name(checkpoints):
    assert hub.shipped() == {}
    one = ship("bookworld-mlm", small(), saved.tokenizer(), "BERT tiny, masked language model")
    assert hub.shipped() == {"bookworld-mlm": one} and "BERT tiny" in one.about
    content = (checkpoints / one.model.file).read_bytes()
    assert one.model.sha256 == hashlib.sha256(content).hexdigest()
    assert one.model.size == len(content)
    found = hub.load("bookworld-mlm")
    assert same(found.model, small()) and found.tokenizer.to_str() == saved.tokenizer().to_str()
    assert found.source == "bookworld-mlm" and found.commit is None
    ship("a-lstm", RNNLanguageModel(RNNConfig(vocab_size=5)), None, "an LSTM")
    ship("bookworld-mlm", small(3), None, "another one")
    assert list(hub.shipped()) == ["a-lstm", "bookworld-mlm"]
    assert same(hub.load("bookworld-mlm").model, small(3))
    assert hub.load("bookworld-mlm").tokenizer is None


def test_names_of_ours_are_not_looked_for_elsewhere(checkpoints):
    with pytest.raises(CourseError, match="No model 'bookworld-mlm' comes") as error:
        hub.load("bookworld-mlm")
    assert "none yet" in error.value.remedy
    ship("bookworld-clm", small(), None, "")
    with pytest.raises(CourseError, match="No model 'bookworld-mlm' comes") as error:
        hub.load("bookworld-mlm")
    assert "bookworld-clm" in error.value.remedy


def test_a_shipped_file_that_is_missing_or_another_is_told(checkpoints):
    one = ship("bookworld-mlm", small(), saved.tokenizer(), "")
    path = checkpoints / one.model.file
    content = path.read_bytes()
    path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(CourseError, match="is not the file that came with the course"):
        hub.load("bookworld-mlm")
    path.write_text("version https://git-lfs.github.com/spec/v1\n")
    with pytest.raises(CourseError, match="is not the file that came with the course"):
        hub.load("bookworld-mlm")
    path.unlink()
    with pytest.raises(CourseError, match="is not there") as error:
        hub.load("bookworld-mlm")
    assert f"git checkout -- {path}" in error.value.remedy
    path.write_bytes(content)
    (checkpoints / one.tokenizer.file).unlink()
    with pytest.raises(CourseError, match=r"bookworld-mlm\.tokenizer\.json"):
        hub.load("bookworld-mlm")


@pytest.mark.parametrize(
    "change",
    [
        {"file": "../a.safetensors"},
        {"file": "/etc/passwd"},
        {"file": "a/b"},
        {"file": ""},
        {"sha256": "abc"},
        {"size": "large"},
    ],
)
def test_a_wrong_index_is_refused(checkpoints, change):
    one = msgspec.to_builtins(ship("bookworld-mlm", small(), None, ""))
    one["model"] |= change
    (checkpoints / "index.json").write_text(json.dumps({"bookworld-mlm": one}))
    with pytest.raises(CourseError, match=r"index\.json is damaged") as error:
        hub.load("bookworld-mlm")
    assert "git checkout" in error.value.remedy
    for bad in ("", "[", "{}x", "[" * 100_000):
        (checkpoints / "index.json").write_text(bad)
        with pytest.raises(CourseError, match="is damaged"):
            hub.shipped()


def test_only_a_plain_name_is_shipped(checkpoints):
    for name in ("../evil", "Upper", "a/b", "", ".hidden"):
        with pytest.raises(CourseError, match="cannot be shipped"):
            ship(name, small(), None, "")
    assert not list(checkpoints.iterdir())


def test_outside_of_a_checkout_nothing_is_shipped(tmp_path, monkeypatch):
    monkeypatch.setenv("LMCOURSE_ROOT", str(tmp_path))
    assert hub.shipped() == {} and home() is None


def test_many_names_are_told_in_a_line():
    found = hub.Loaded(small(), None, (), "here", unused=tuple("abcdefgh"))
    assert repr(found).endswith("left in the file: a, b, c, d, e, and 3 more")


# --- devices ---


def test_a_model_goes_where_it_is_wanted(tmp_path):
    small().save(tmp_path / "a.safetensors")
    assert hub.load(
        tmp_path / "a.safetensors", device="meta"
    ).model.bert.embeddings.word.weight.is_meta
    for device in devices.available():
        model = hub.load(tmp_path / "a.safetensors", device=device).model
        assert next(model.parameters()).device.type == device


@pytest.mark.bad_input
@pytest.mark.parametrize("device", ["fridge", "xpu", 3.5])
def test_a_device_that_is_not_there_is_told_first(device):
    with pytest.raises(CourseError, match="no device"):
        hub.load("org/none", device=device)


# --- a tokenizer and its model ---


def three_ways(tmp_path, model, tokenizer):
    """The same pair as the course ships it, as a folder of ours, and as `transformers` saves it."""
    ship("bookworld-pair", model, tokenizer, "")
    yield hub.load("bookworld-pair")
    model.save(tmp_path / "mine" / "model.safetensors")
    tokenizer.save(str(tmp_path / "mine" / "tokenizer.json"))
    yield hub.load(tmp_path / "mine")
    model.to_transformers().save_pretrained(tmp_path / "theirs")
    tokenizer.save(str(tmp_path / "theirs" / "tokenizer.json"))
    yield hub.load(tmp_path / "theirs")


@pytest.mark.parametrize("kind", [DistilBertForMaskedLM, GPTForCausalLM])
def test_what_a_tokenizer_makes_a_model_takes_wherever_both_come_from(kind, tmp_path, checkpoints):
    torch.manual_seed(0)
    sizes = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2}
    model = kind(kind.Config(48, **sizes, max_position_embeddings=24)).eval()
    tokenizer = saved.tokenizer()
    tokenizer.no_padding()
    found = list(three_ways(tmp_path, model, tokenizer))
    for one in found:
        made = one.inputs(["Why?", "A lighthouse keeper smiled."])
        assert "token_type_ids" not in made and made["attention_mask"][0].sum() < 9
        logits = one.model(**made).logits
        torch.testing.assert_close(logits, model(**made).logits)
    assert len(found) == 3


@pytest.mark.bad_input
def test_a_tokenizer_with_more_tokens_than_its_model_is_refused(tmp_path, checkpoints):
    few = RNNLanguageModel(RNNConfig(vocab_size=12))
    with pytest.raises(CourseError, match="RNNLanguageModel knows 12 tokens"):
        ship("bookworld-rnn", few, saved.tokenizer(), "")
    assert not list(checkpoints.iterdir())  # nothing was written
    few.save(tmp_path / "mine" / "model.safetensors")
    saved.tokenizer().save(str(tmp_path / "mine" / "tokenizer.json"))
    with pytest.raises(CourseError, match=r"tokenizer\.json gives .* knows 12 tokens"):
        hub.load(tmp_path / "mine")
    ship("bookworld-rnn", few, None, "")
    ship("bookworld-other", small(), saved.tokenizer(), "")
    index = json.loads((checkpoints / "index.json").read_text())
    index["bookworld-rnn"]["tokenizer"] = index["bookworld-other"]["tokenizer"]
    (checkpoints / "index.json").write_text(json.dumps(index))
    with pytest.raises(CourseError, match="knows 12 tokens"):
        hub.load("bookworld-rnn")


def test_a_model_that_reads_no_ids_keeps_its_tokenizer(checkpoints):
    model = SkipGram(Word2VecConfig(vocab_size=48, hidden_size=4))
    ship("bookworld-vectors", model, saved.tokenizer(), "")
    found = hub.load("bookworld-vectors")
    assert found.tokenizer.to_str() == saved.tokenizer().to_str() and found.model_input_names == ()


@pytest.mark.bad_input
def test_a_damaged_index_is_no_matter_to_others(checkpoints, tmp_path, monkeypatch):
    (checkpoints / "index.json").write_text("[")
    small().save(tmp_path / "mine" / "model.safetensors")
    monkeypatch.chdir(tmp_path)
    assert same(hub.load("mine").model, small())
    with pytest.raises(CourseError, match="org/none was never downloaded here"):
        hub.load("org/none")
    shown = overview()
    assert "index.json is damaged" in shown and "From the Hugging Face hub" in shown


@pytest.mark.bad_input
def test_a_folder_that_hides_a_model_of_the_hub_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bert-base-uncased").mkdir()
    with pytest.raises(CourseError, match=r"has no config\.json") as error:
        hub.load("bert-base-uncased")
    assert "hides a model of the hub" in error.value.remedy


@pytest.mark.bad_input
def test_a_mistyped_path_is_thought_of_where_no_hub_is_reached():
    with pytest.raises(CourseError, match="There is no such file or folder here"):
        hub.load("models/mine")


@pytest.mark.bad_input
@pytest.mark.parametrize("kind", ["LSTM", torch.nn.Linear, 3, small()])
def test_a_class_that_is_none_of_ours_is_told(kind, tmp_path, original):
    small().save(tmp_path / "a.safetensors")
    for name in (tmp_path / "a.safetensors", original, "org/none", "bookworld-none"):
        with pytest.raises(CourseError, match=r"is not a class of.*BertForMaskedLM"):
            hub.load(name, kind)


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16])
def test_half_precision_on_disk_is_single_precision_in_memory(kind, tmp_path):
    model = small().to(kind)
    model.save(tmp_path / "model.safetensors")
    found = hub.load(tmp_path / "model.safetensors").model
    assert {it.dtype for it in found.parameters()} == {torch.float32}
    assert same(found, model.float())
    assert found(torch.tensor([[1, 2, 3]])).logits.dtype == torch.float32
