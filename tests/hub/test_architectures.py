"""Every architecture, as the `transformers` library saves it, comes in and computes the same."""

import json

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

from lmcourse import hub
from lmcourse.errors import CourseError
from lmcourse.models.bert_heads import BertForMaskedLM, BertForPreTraining
from lmcourse.models.bert_tasks import BertForTokenClassification
from lmcourse.models.checkpoint import Model
from lmcourse.models.conversion import MODULES, conversions
from lmcourse.models.conversion.published import class_named
from lmcourse.models.elmo import ElmoModel
from lmcourse.models.gpt import GPT
from lmcourse.models.kbert import KBert
from lmcourse.models.spanbert import SpanBert
from tests.hub import saved

transformers.logging.set_verbosity_error()
CASES = saved.cases()
OUTPUTS = ("logits", "last_hidden_state", "start_logits", "end_logits", "prediction_logits")
OUTPUTS += ("pooler_output", "seq_relationship_logits", "sop_logits")


def batch(name):
    torch.manual_seed(1)
    shape = (2, 7)
    mask = torch.ones(shape, dtype=torch.long)
    mask[0, ..., 5:] = 0
    return {"input_ids": torch.randint(5, 40, shape), "attention_mask": mask}


def outputs(model, name):
    with torch.no_grad():
        result = model(**batch(name))
    found = {key: getattr(result, key, None) for key in OUTPUTS}
    real = batch(name)["attention_mask"].bool()  # what stands where nothing was read is open
    return {
        key: value[real] if value.shape[: real.dim()] == real.shape else value
        for key, value in found.items()
        if isinstance(value, torch.Tensor)
    }


def edit(path, **changes):
    config = json.loads(path.read_text())
    path.write_text(json.dumps({k: v for k, v in (config | changes).items() if v is not ...}))


@pytest.mark.parametrize(("name", "conversion"), CASES, ids=lambda it: getattr(it, "config", it))
def test_a_saved_model_computes_the_same_in_our_class(name, conversion, tmp_path):
    reference = saved.reference(name, conversion)
    reference.save_pretrained(tmp_path)
    found = hub.load(tmp_path)
    # What SpanBERT and K-BERT saved is BERT's there, under BERT's name.
    assert type(found.model).__name__ == name.removeprefix("Span").removeprefix("K")
    if type(found.model).__name__ != name:
        found = hub.load(tmp_path, class_named(name))
    assert type(found.model).__name__ == name and not found.model.training
    assert found.tokenizer is None and found.unused == ()
    theirs = outputs(reference, name)
    ours = outputs(found.model, name)
    assert theirs and theirs.keys() <= ours.keys()
    for key, value in theirs.items():
        torch.testing.assert_close(ours[key], value, atol=1e-5, rtol=1e-5)


def test_every_conversion_belongs_to_a_class_and_every_architecture_has_one():
    for name in conversions():
        kind = class_named(name)
        assert kind is not None and kind.__name__ == name and issubclass(kind, Model)
    assert set(MODULES) <= set(conversions())
    for name in ("ElmoModel", "RNNLanguageModel", "Word2Vec", "ElectraPair"):
        assert class_named(name).__name__ == name
    assert class_named("Linear") is class_named("BertConfig") is class_named("torch") is None


def test_without_a_named_class_the_base_model_is_taken(tmp_path):
    folder = saved.save(tmp_path)
    edit(folder / "config.json", architectures=...)
    found = hub.load(folder)
    assert type(found.model).__name__ == "Bert" and found.model.pooler is None
    assert all(name.startswith("cls.") for name in found.unused) and found.unused
    edit(folder / "config.json", architectures=None, model_type="gpt2")
    with pytest.raises(CourseError, match=r"makes no model|has no weights"):
        hub.load(folder)


def test_a_base_model_without_a_pooler_stays_without(tmp_path):
    saved.reference("Bert", conversions()["Bert"][0], add_pooling_layer=False).save_pretrained(
        tmp_path
    )
    assert hub.load(tmp_path).model.pooler is None


def test_another_class_takes_what_it_knows_and_says_what_it_leaves(tmp_path):
    folder = saved.save(tmp_path, "BertForPreTraining")
    found = hub.load(folder, BertForMaskedLM)
    assert isinstance(found.model, BertForMaskedLM)
    assert "cls.seq_relationship.weight" in found.unused and "seq_relationship" in repr(found)
    assert hub.load(folder, SpanBert).model.config.max_span_length
    assert type(hub.load(folder, KBert).model) is KBert


def test_weights_that_are_not_there_are_not_made_up(tmp_path):
    folder = saved.save(tmp_path)
    with pytest.raises(CourseError, match=r"no weights for classifier\.bias") as error:
        hub.load(folder, BertForTokenClassification)
    assert "BertForTokenClassification.on_top_of(" in error.value.remedy
    with pytest.raises(CourseError, match=r"no weights for bert\.pooler.*cls\.seq_relationship"):
        hub.load(folder, BertForPreTraining)
    with pytest.raises(CourseError, match="GPT cannot load"):
        hub.load(folder, GPT)
    with pytest.raises(CourseError, match="ElmoModel cannot load"):
        hub.load(folder, ElmoModel)


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("name", "setting"),
    [
        ("GPT", "n_layer"),
        ("GPTForCausalLM", "n_layer"),
        ("Deberta", "num_hidden_layers"),
        ("DistilBertForMaskedLM", "n_layers"),
        ("Albert", "num_hidden_groups"),
    ],
)
def test_half_a_model_is_not_loaded(name, setting, tmp_path):
    changes = {"num_hidden_groups": 2} if name == "Albert" else {}
    folder = saved.save(tmp_path, name, **changes)
    assert hub.load(folder).unused == ()
    edit(folder / "config.json", **{setting: 1})
    with pytest.raises(CourseError, match=r"left over.*\.1\."):
        hub.load(folder)
    if name == "GPT":  # and with the base model's names in another class
        with pytest.raises(CourseError, match=r"left over.*h\.1\."):
            hub.load(folder, class_named("GPTForCausalLM"))


@pytest.mark.bad_input
def test_a_configuration_that_asks_for_more_than_there_is_says_so(tmp_path):
    folder = saved.save(tmp_path)
    edit(folder / "config.json", architectures=["BertForPreTraining"])
    with pytest.raises(CourseError, match=r"no weights for bert\.pooler") as error:
        hub.load(folder)
    assert "without a class" not in error.value.remedy
    assert "BertForPreTraining" in error.value.remedy and "config.json" in error.value.remedy


def test_names_of_older_versions_and_halves_are_read(tmp_path):
    folder = saved.save(tmp_path)
    state = load_file(folder / "model.safetensors")
    wanted = outputs(hub.load(folder).model, "")["logits"]
    renamed = {}
    for name, tensor in state.items():
        older = name.replace("LayerNorm.weight", "LayerNorm.gamma")
        renamed[older.replace("LayerNorm.bias", "LayerNorm.beta")] = tensor
    assert renamed.keys() != state.keys()
    renamed["bert.embeddings.position_ids"] = torch.arange(24)[None]
    save_file(renamed, folder / "model.safetensors", {"format": "pt"})
    found = hub.load(folder)
    assert torch.equal(outputs(found.model, "")["logits"], wanted) and found.unused == ()
    halves = {name: tensor.half() for name, tensor in state.items()}
    save_file(halves, folder / "model.safetensors", {"format": "pt"})
    model = hub.load(folder).model
    assert next(model.parameters()).dtype == torch.float32
    torch.testing.assert_close(outputs(model, "")["logits"], wanted, atol=0.05, rtol=0.05)


@pytest.mark.parametrize("conversion", conversions()["GPT"], ids=lambda it: it.config)
def test_a_base_model_with_tied_scores_is_a_language_model(conversion, tmp_path):
    """As gpt2 was published: the base model's names, and the causal mask among the weights."""
    reference = saved.reference("GPT", conversion)
    reference.save_pretrained(tmp_path)
    state = load_file(tmp_path / "model.safetensors")
    state |= {f"h.{at}.attn.bias": torch.ones(1, 1, 24, 24).tril() for at in range(2)}
    save_file(state, tmp_path / "model.safetensors", {"format": "pt"})
    heads = {"GPT2Model": "GPT2LMHeadModel", "OpenAIGPTModel": "OpenAIGPTLMHeadModel"}
    name = heads[conversion.architecture]
    edit(tmp_path / "config.json", architectures=[name])
    theirs = getattr(transformers, name).from_pretrained(tmp_path)
    found = hub.load(tmp_path)
    assert type(found.model).__name__ == "GPTForCausalLM"
    assert all(left.endswith("attn.bias") for left in found.unused)
    ours = outputs(found.model, "")["logits"]
    torch.testing.assert_close(ours, outputs(theirs, "")["logits"], atol=1e-5, rtol=1e-5)


def test_shards_are_read_as_one(tmp_path):
    reference = saved.reference("BertForMaskedLM", conversions()["BertForMaskedLM"][0])
    reference.save_pretrained(tmp_path, max_shard_size="4KB")
    shards = sorted(tmp_path.glob("model-*.safetensors"))
    assert len(shards) > 1
    ours = outputs(hub.load(tmp_path).model, "")["logits"]
    torch.testing.assert_close(ours, outputs(reference, "")["logits"], atol=1e-5, rtol=1e-5)
    moved = shards[1].rename(tmp_path / "elsewhere.safetensors")
    with pytest.raises(CourseError, match=rf"has {len(shards) - 1} of {len(shards)} files"):
        hub.load(tmp_path)
    save_file(load_file(shards[0]), shards[1], {"format": "pt"})
    with pytest.raises(CourseError, match="a tensor in two files"):
        hub.load(tmp_path)
    moved.rename(shards[1])
    (tmp_path / "model.safetensors.index.json").write_text('{"weight_map": {"a": "../x"}}')
    assert type(hub.load(tmp_path).model) is BertForMaskedLM  # the index is of no use


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"num_hidden_layers": 10**9}, "makes no model: it asks for many more tensors"),
        ({"num_hidden_layers": -1}, "num_hidden_layers=-1, as no model has"),
        ({"num_labels": 10**12}, "num_labels=1000000000000"),
        ({"hidden_size": 10**7}, r"has [\d,]+ parameters, and its weights"),
        ({"hidden_size": 10**12}, "makes no model"),
        ({"vocab_size": 2 * 10**6}, r"has [\d,]+ parameters, and its weights"),
        ({"vocab_size": 10**9}, r"has [\d,]+ parameters, and its weights"),
        ({"hidden_size": 16}, r"has shape \(8,\), and its configuration \(16,\)"),
        ({"num_hidden_layers": 3}, "no weights for bert.encoder.layer.2"),
        ({"num_hidden_layers": 1}, r"left over.*bert\.encoder\.layer\.1\."),
        ({"hidden_size": "many"}, "makes no model"),
        ({"num_attention_heads": 0}, "makes no model"),
        ({"num_attention_heads": 3}, "makes no model"),
        ({"id2label": [1]}, "makes no model"),
        ({"quantization_config": {"quant_method": "fp8"}}, "are quantized"),
        ({"is_decoder": True}, "is_decoder=True"),
        ({"model_type": "llama", "architectures": ["LlamaForCausalLM"]}, "none of the course's"),
        ({"architectures": ["BertLMHeadModel"]}, "none of the course's"),
        ({"model_type": ..., "architectures": {}}, "none of the course's"),
    ],
)
def test_a_configuration_that_does_not_fit_is_told(changes, says, tmp_path):
    folder = saved.save(tmp_path)
    edit(folder / "config.json", **changes)
    with pytest.raises(CourseError, match=says):
        hub.load(folder)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"[" * 200_000, "cannot be read"),
        (b'{"a": ' * 150_000, "cannot be read"),
        (b" " * (1 << 20) + b"{}", "more than 1,048,576 bytes"),
        (b'{"hidden_size": ' + b"9" * 5000 + b"}", "cannot be read|makes no model"),
        (b"\xff\xfe", "cannot be read"),
        (b"[]", "cannot be read"),
    ],
)
def test_a_configuration_that_is_a_bomb_is_refused(content, says, tmp_path):
    folder = saved.save(tmp_path)
    (folder / "config.json").write_bytes(content)
    with pytest.raises(CourseError, match=says):
        hub.load(folder)


def test_a_setting_that_names_code_is_not_passed_on(tmp_path):
    folder = saved.save(tmp_path)
    wanted = outputs(hub.load(folder).model, "")["logits"]
    edit(
        folder / "config.json",
        auto_map={"AutoModel": "evil/repo--modeling.Evil"},
        attn_implementation="evil/kernels",
        _attn_implementation="evil/kernels",
        transformers_weights="pytorch_model.bin",
    )
    (folder / "adapter_config.json").write_text('{"base_model_name_or_path": "evil/base"}')
    (folder / "pytorch_model.bin").write_bytes(b"\x80\x04cposix\nsystem\n")
    assert torch.equal(outputs(hub.load(folder).model, "")["logits"], wanted)


def test_pickles_are_refused_with_a_way_out(tmp_path):
    folder = saved.save(tmp_path)
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(CourseError, match=r"pickle only \(pytorch_model.bin\)") as error:
        hub.load(folder)
    assert "refs/pr/1" in error.value.remedy and "save_pretrained" in error.value.remedy
    (folder / "pytorch_model.bin").unlink()
    with pytest.raises(CourseError, match=r"has no model\.safetensors"):
        hub.load(folder)
    torch.save({"a": torch.ones(1)}, folder / "model.safetensors")  # in sheep's clothing
    with pytest.raises(CourseError, match="is no safetensors file"):
        hub.load(folder)
    (folder / "config.json").unlink()
    (folder / "model.safetensors").unlink()
    with pytest.raises(CourseError, match=r"has no config.json"):
        hub.load(folder)


def test_a_flipped_header_or_a_cut_file_is_refused(tmp_path):
    folder = saved.save(tmp_path)
    content = (folder / "model.safetensors").read_bytes()
    for bad in (content[:-1], content[:50], b"", b"\xff" * 8 + content[8:]):
        (folder / "model.safetensors").write_bytes(bad)
        with pytest.raises(CourseError, match="is no safetensors file"):
            hub.load(folder)


def test_classes_have_their_names(tmp_path):
    folder = saved.save(tmp_path, "BertForSequenceClassification")
    assert hub.load(folder).labels == ()
    edit(folder / "config.json", id2label={"1": "good", "0": "bad"})
    found = hub.load(folder)
    assert found.labels == ("bad", "good") and "classes: bad, good" in repr(found)


def test_the_library_logs_as_before(tmp_path):
    transformers.logging.set_verbosity_warning()
    hub.load(saved.save(tmp_path))
    assert transformers.logging.get_verbosity() == transformers.logging.WARNING
    assert transformers.utils.logging.is_progress_bar_enabled()
    transformers.logging.set_verbosity_error()
