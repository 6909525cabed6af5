"""Pretrained weights and vectors on real English: equal to the published ones, and never others."""

import os
from pathlib import Path

import numpy as np
import pytest
import torch

from lmcourse import files, hub, releases
from lmcourse.errors import CourseError
from lmcourse.releases import RELEASES

INSTALLED = files.cache_folder() / "real"  # before a fixture gives each test a cache of its own
TEXTS = (
    "Hypatia of Alexandria taught mathematics.",
    "He sat on the bank of the river, and she went to the bank to withdraw her savings.",
    "No.",
)
real = pytest.mark.skipif(
    os.environ.get("LMCOURSE_REAL") == "off", reason="LMCOURSE_REAL=off hides what is tested"
)


@pytest.fixture
def here(monkeypatch):
    """The releases that `make test` installed."""
    monkeypatch.setattr(releases, "home", lambda name: INSTALLED / name)


@real
@pytest.mark.usefixtures("here")
class TestMiniLM:
    def test_hidden_states_and_attentions_equal_those_of_transformers_padding_included(self):
        from transformers import AutoModel

        reference = AutoModel.from_pretrained(
            INSTALLED / "minilm", local_files_only=True, attn_implementation="eager"
        ).eval()
        found = hub.load("minilm")
        inputs = found.inputs(TEXTS)
        assert 0 in inputs["attention_mask"]
        with torch.inference_mode():
            ours = found.model(**inputs, output_hidden_states=True, output_attentions=True)
            theirs = reference(**inputs, output_hidden_states=True, output_attentions=True)
        kept = inputs["attention_mask"].bool()
        assert len(ours.hidden_states) == len(theirs.hidden_states) == 7
        for a, b in zip(ours.hidden_states, theirs.hidden_states, strict=True):
            torch.testing.assert_close(a[kept], b[kept], atol=1e-5, rtol=0)
        for a, b in zip(ours.attentions, theirs.attentions, strict=True):
            a, b = a.transpose(1, 2)[kept], b.transpose(1, 2)[kept]
            torch.testing.assert_close(a, b, atol=1e-5, rtol=0)

    def test_its_parameters_and_its_tokens(self):
        found = hub.load("minilm")
        assert sum(parameter.numel() for parameter in found.model.parameters()) == 22_713_216
        tokens = found.tokenizer.encode("Hypatia").tokens
        assert tokens == ["[CLS]", "h", "##yp", "##ati", "##a", "[SEP]"]
        assert found.inputs(["a", "a b"])["input_ids"].shape == (2, 4)  # not padded to 128

    def test_the_tokenizer_equals_that_of_transformers(self):
        from transformers import AutoTokenizer

        theirs = AutoTokenizer.from_pretrained(INSTALLED / "minilm", local_files_only=True)
        for text in (*TEXTS, "Café naïve ﬁn 東京 🙂", "[MASK] it", " ".join(["long"] * 300)):
            assert hub.load("minilm").tokenizer.encode(text).ids == theirs(text)["input_ids"]


@real
@pytest.mark.usefixtures("here")
def test_the_vectors_are_those_of_glove():
    found = hub.vectors("glove-6b-50d")
    assert len(found) == 400_000 and found.vectors.shape == (400_000, 50)
    assert isinstance(found.vectors, np.memmap)
    # The first line of glove.6B.50d.txt.
    assert found.words[:3] == ["the", ",", "."]
    expected = np.float32([0.418, 0.24968, -0.41242, 0.1217, 0.34527])
    np.testing.assert_array_equal(found.vector("the")[:5], expected)
    assert found.analogy(["king", "woman"], ["man"], 1)[0][0] == "queen"


@pytest.fixture
def small(monkeypatch, tmp_path):
    """A release of two files, installed in the test's own cache."""
    home = files.cache_folder() / "real" / "small"
    home.mkdir(parents=True)
    (home / "words.txt").write_bytes(b"a\nb\n")
    np.save(home / "vectors.npy", np.float32([[1, 0], [0, 1]]))
    named = {name: ("x", releases.sha256(home / name)) for name in ("words.txt", "vectors.npy")}
    release = releases.Release("two words", "none", "small==1", "sha256:0", 1, named)
    monkeypatch.setitem(RELEASES, "small", release)
    monkeypatch.delenv("LMCOURSE_REAL", raising=False)
    return home


def test_a_changed_file_is_refused(small):
    assert hub.vectors("small").words == ["a", "b"]
    (small / "words.txt").write_bytes(b"a\nc\n")
    with pytest.raises(CourseError, match="is not the file that was installed") as refused:
        hub.vectors("small")
    assert "lmcourse real install" in refused.value.remedy


def test_what_is_not_there_or_hidden_is_left_out_in_a_line(small, monkeypatch, capsys):
    assert hub.real("two words", "small").words == ["a", "b"]
    assert capsys.readouterr().out == ""
    monkeypatch.setenv("LMCOURSE_REAL", "off")
    assert hub.real("two words", "small") is None
    assert capsys.readouterr().out.startswith("Left out: two words. `lmcourse real install`")
    with pytest.raises(CourseError, match="small is hidden"):
        hub.vectors("small")
    monkeypatch.delenv("LMCOURSE_REAL")
    (small / "words.txt").unlink()  # an installation that was interrupted
    assert hub.real("two words", "small") is None
    with pytest.raises(CourseError, match="small is not installed"):
        hub.vectors("small")


def test_the_encoder_is_the_one_that_a_variable_names(monkeypatch, original):
    monkeypatch.setenv("LMCOURSE_MODEL", str(original))
    monkeypatch.delenv("LMCOURSE_REAL", raising=False)
    assert hub.real("anything").source == str(original)
    monkeypatch.setenv("LMCOURSE_REAL", "off")
    assert hub.real("anything") is None


@pytest.mark.parametrize("name", ["brown", "glove-6b-50d"])
def test_what_is_no_model(name):
    with pytest.raises(
        CourseError, match=rf"{name} is no model, but .*hub\.real\(.*, \"{name}\"\)"
    ):
        hub.load(name)


def test_unknown_vectors():
    with pytest.raises(CourseError, match="no word vectors called 'minilm'") as refused:
        hub.vectors("minilm")
    assert "glove-6b-50d" in refused.value.remedy


def test_a_folder_of_the_readers_comes_first(monkeypatch, original, tmp_path):
    Path(tmp_path / "minilm").symlink_to(original)
    monkeypatch.chdir(tmp_path)
    assert type(hub.load("minilm").model).__name__ != "Bert"
