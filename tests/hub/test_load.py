"""One call for all: what comes with the course, files and folders, devices and bad names."""

import hashlib
import json

import msgspec
import pytest
import torch

from lmcourse import devices, hub
from lmcourse.errors import CourseError
from lmcourse.hub.checkpoints import home
from lmcourse.models.bert_heads import BertForMaskedLM
from lmcourse.models.bert_tasks import BertForTokenClassification
from lmcourse.models.rnn_lm import RNNConfig, RNNLanguageModel
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
    saved.tokenizer().save(tmp_path / "mine" / "tokenizer.json")
    monkeypatch.chdir(tmp_path)
    found = hub.load("mine")
    assert found.tokenizer == saved.tokenizer() and same(found.model, small())
    monkeypatch.setenv("HOME", str(tmp_path))
    assert same(hub.load("~/mine").model, small())
    with pytest.raises(CourseError, match="only repositories on the hub have a revision"):
        hub.load("mine", revision="main")


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
    with pytest.raises(CourseError, match="is no name and no path"):
        hub.load(name)


# --- what comes with the course ---


def test_a_shipped_model_loads_by_its_name(checkpoints):
    assert hub.shipped() == {}
    one = hub.ship("bookworld-mlm", small(), saved.tokenizer(), "BERT tiny, masked language model")
    assert hub.shipped() == {"bookworld-mlm": one} and "BERT tiny" in one.about
    content = (checkpoints / one.model.file).read_bytes()
    assert one.model.sha256 == hashlib.sha256(content).hexdigest()
    assert one.model.size == len(content)
    found = hub.load("bookworld-mlm")
    assert same(found.model, small()) and found.tokenizer == saved.tokenizer()
    assert found.source == "bookworld-mlm" and found.commit is None
    hub.ship("a-lstm", RNNLanguageModel(RNNConfig(vocab_size=5)), None, "an LSTM")
    hub.ship("bookworld-mlm", small(3), None, "another one")
    assert list(hub.shipped()) == ["a-lstm", "bookworld-mlm"]
    assert same(hub.load("bookworld-mlm").model, small(3))
    assert hub.load("bookworld-mlm").tokenizer is None


def test_names_of_ours_are_not_looked_for_elsewhere(checkpoints):
    with pytest.raises(CourseError, match="No model 'bookworld-mlm' comes") as error:
        hub.load("bookworld-mlm")
    assert "none yet" in error.value.remedy
    hub.ship("bookworld-clm", small(), None, "")
    with pytest.raises(CourseError, match="No model 'bookworld-mlm' comes") as error:
        hub.load("bookworld-mlm")
    assert "bookworld-clm" in error.value.remedy


def test_a_shipped_file_that_is_missing_or_another_is_told(checkpoints):
    one = hub.ship("bookworld-mlm", small(), saved.tokenizer(), "")
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
    one = msgspec.to_builtins(hub.ship("bookworld-mlm", small(), None, ""))
    one["model"] |= change
    (checkpoints / "index.json").write_text(json.dumps({"bookworld-mlm": one}))
    with pytest.raises(CourseError, match=r"index\.json is damaged") as error:
        hub.load("anything")
    assert "git checkout" in error.value.remedy
    for bad in ("", "[", "{}x", "[" * 100_000):
        (checkpoints / "index.json").write_text(bad)
        with pytest.raises(CourseError, match="is damaged"):
            hub.shipped()


def test_only_a_plain_name_is_shipped(checkpoints):
    for name in ("../evil", "Upper", "a/b", "", ".hidden"):
        with pytest.raises(CourseError, match="cannot be shipped"):
            hub.ship(name, small(), None, "")
    assert not list(checkpoints.iterdir())


def test_outside_of_a_checkout_nothing_is_shipped(tmp_path, monkeypatch):
    monkeypatch.setenv("LMCOURSE_ROOT", str(tmp_path))
    assert hub.shipped() == {} and home() is None


def test_many_names_are_told_in_a_line():
    found = hub.Loaded(small(), None, "here", unused=tuple("abcdefgh"))
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
