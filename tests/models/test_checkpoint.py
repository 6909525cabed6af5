"""Saving, loading and converting: what does not fit is named, and nothing is lost."""

import os
import pickle
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.torch
import torch
from torch import nn

from lmcourse.errors import CourseError
from lmcourse.models.checkpoint import Model
from lmcourse.models.conversion.renaming import Renaming, Rule, Tied, linear
from lmcourse.models.encoder_decoder import Transformer, TransformerConfig
from lmcourse.models.transformer import DecoderLayer, Encoder, EncoderLayer, LayerConfig
from lmcourse.models.weights import load_strictly
from tests.parity.from_torch import from_torch

pytestmark = pytest.mark.bad_input


@dataclass(frozen=True)
class SmallConfig:
    width: int = 3
    shape: tuple[int, ...] = (1, 2)


class Small(Model):
    Config = SmallConfig

    def __init__(self, config: SmallConfig) -> None:
        super().__init__(config)
        self.layer = nn.Linear(config.width, 2)


class Other(Small):
    """Another architecture with the same tensors."""


class Twice(Small):
    """With a second name, whose tensor may be that of the first."""

    def __init__(self, config: SmallConfig) -> None:
        super().__init__(config)
        self.again = nn.Parameter(torch.zeros(2, config.width))


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "small.safetensors"
    Small(SmallConfig(4, (5,))).save(path)
    return path


def rewrite(path: Path, metadata: dict[str, str] | None = None, **tensors: torch.Tensor) -> None:
    """The file with other entries; a tensor of no entries stands for one to leave out."""
    with safetensors.safe_open(path, "pt") as file:
        state = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        kept = dict(file.metadata())
    state |= {name.replace("_", ".", 1): tensor for name, tensor in tensors.items()}
    safetensors.torch.save_file(
        {name: t for name, t in state.items() if t.numel()}, path, kept | (metadata or {})
    )


def test_comes_back_with_its_configuration_and_type(saved: Path) -> None:
    model = Small.load(saved)
    assert model.config == SmallConfig(4, (5,)) and not model.training
    half = model.to(torch.bfloat16)
    half.save(saved)
    assert Small.load(saved).layer.weight.dtype == torch.bfloat16
    assert torch.equal(Small.load(saved).layer.weight, half.layer.weight)


def test_tied_and_sliced_tensors_are_saved(tmp_path: Path) -> None:
    """A file holds each name's tensor whole, even where two names share one."""
    model = Small(SmallConfig())
    model.layer.weight = nn.Parameter(torch.arange(12.0).view(3, 4).T[1:3])
    model.save(tmp_path / "m")
    assert Small.load(tmp_path / "m").layer.weight.tolist() == [[1, 5, 9], [2, 6, 10]]
    tied = Twice(SmallConfig())
    tied.again = tied.layer.weight
    tied.save(tmp_path / "tied")
    again = Twice.load(tmp_path / "tied")
    assert torch.equal(again.again, tied.layer.weight)
    assert torch.equal(again.layer.weight, tied.layer.weight)


def test_each_tensor_keeps_its_type(tmp_path: Path) -> None:
    model = Twice(SmallConfig())
    model.layer.half().weight.data = torch.ones(2, 3, dtype=torch.bfloat16)
    model.save(tmp_path / "m")
    types = [t.dtype for t in Twice.load(tmp_path / "m").state_dict().values()]
    assert types == [torch.float32, torch.bfloat16, torch.float16]


def test_a_link_is_followed_and_nothing_but_a_file_is_replaced(saved: Path) -> None:
    link = saved.with_name("link.safetensors")
    link.symlink_to(saved)
    Small(SmallConfig(2)).save(link)
    assert link.is_symlink() and Small.load(saved).config == SmallConfig(2)
    for path in (saved.parent, "/", "", ".", "a\0b"):
        with pytest.raises(CourseError, match=r"could not be written"):
            Small(SmallConfig()).save(path)
    fifo = saved.with_name("fifo")
    os.mkfifo(fifo)
    with pytest.raises(CourseError, match="not a regular file"):
        Small(SmallConfig()).save(fifo)
    assert fifo.is_fifo()


def test_only_a_model_of_the_course_is_replaced(saved: Path, tmp_path: Path) -> None:
    before = saved.read_bytes()
    safetensors.torch.save_file({"weight": torch.ones(2)}, tmp_path / "theirs", {"format": "pt"})
    (tmp_path / "thesis.md").write_text("# A thesis")
    for name in ("theirs", "thesis.md"):
        content = (tmp_path / name).read_bytes()
        with pytest.raises(CourseError, match=r"did not write.*another name"):
            Small(SmallConfig()).save(tmp_path / name)
        assert (tmp_path / name).read_bytes() == content
    Small(SmallConfig(9)).save(saved)
    assert saved.read_bytes() != before


def test_what_cannot_be_saved_is_named(tmp_path: Path) -> None:
    for width in (np.int64(3), torch.tensor(3)):
        with pytest.raises(CourseError, match=r"setting width=.*3.* cannot be saved"):
            Small(SmallConfig(width)).save(tmp_path / "m")
    with pytest.raises(CourseError, match="setting shape=inf cannot be saved"):
        Small(SmallConfig(3, float("inf"))).save(tmp_path / "m")
    assert not list(tmp_path.iterdir())


def test_a_layer_s_settings_are_a_configuration() -> None:
    with pytest.raises(CourseError, match=r"TransformerConfig's layer got \{.*LayerConfig"):
        Transformer(TransformerConfig(9, {"hidden_size": 4}))


def test_an_error_crosses_processes() -> None:
    error = pickle.loads(pickle.dumps(CourseError("It is so.", "Do this.")))
    assert (type(error), error.cause, error.remedy) == (CourseError, "It is so.", "Do this.")


def test_a_failed_save_leaves_the_old_file(saved: Path) -> None:
    before = saved.read_bytes()
    with pytest.raises(CourseError, match="another path"):
        Small(SmallConfig()).save(saved / "below_a_file")
    assert saved.read_bytes() == before
    assert [path.name for path in saved.parent.iterdir()] == [saved.name]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (pickle.dumps({"layer.weight": [1.0]}), "no safetensors file.*is a pickle"),
        (b"", "no safetensors file"),
        (b"hello, this is text", "no safetensors file"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "model.bin"
    path.write_bytes(content)
    with pytest.raises(CourseError, match=message):
        Small.load(path)


def test_a_damaged_file_is_refused(saved: Path) -> None:
    saved.write_bytes(saved.read_bytes()[:-5])
    with pytest.raises(CourseError, match="damaged"):
        Small.load(saved)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(CourseError, match=r"none\.safetensors is not there"):
        Small.load(tmp_path / "none.safetensors")
    with pytest.raises(CourseError, match="is a folder"):
        Small.load(tmp_path)


def test_another_architecture_is_named(saved: Path) -> None:
    with pytest.raises(CourseError, match=r"holds Small, not Other.*Small\.load"):
        Other.load(saved)
    safetensors.torch.save_file({"w": torch.zeros(1)}, saved)
    with pytest.raises(CourseError, match="no model of the course"):
        Small.load(saved)


@pytest.mark.parametrize("config", ["{", '{"width":4,"shape":[5],"a":1}'])
def test_another_configuration_is_refused(saved: Path, config: str) -> None:
    rewrite(saved, {"config": config})
    with pytest.raises(CourseError, match=r"configuration in .* cannot be read"):
        Small.load(saved)


def test_tensors_that_do_not_fit_are_named_with_both_shapes(saved: Path) -> None:
    rewrite(saved, layer_weight=torch.zeros(2, 5))
    with pytest.raises(
        CourseError, match=re.escape("layer.weight has the shape (2, 5) there and (2, 4) here")
    ):
        Small.load(saved)
    rewrite(saved, layer_weight=torch.zeros(0), more_layers=torch.zeros(1))
    with pytest.raises(CourseError, match=r"layer.weight is missing; more.layers is not part"):
        Small.load(saved)


class Deep(Small):
    """As many layers as the configuration says."""

    def __init__(self, config: SmallConfig) -> None:
        super().__init__(config)
        self.more = nn.ModuleList(nn.Linear(1, 1) for _ in range(config.shape[0]))


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (
            '{"width":1000000000000,"shape":[1]}',
            r"\(2, 4\) there and \(2, 1000000000000\)",
        ),
        ('{"width":4611686018427387904,"shape":[1]}', "makes no model"),
        ('{"width":4,"shape":[1000000000]}', "makes no model: it asks for many more tensors"),
    ],
)
def test_a_configuration_takes_no_memory_before_it_is_compared(
    tmp_path: Path, config: str, message: str
) -> None:
    path = tmp_path / "deep.safetensors"
    Deep(SmallConfig(4, (1,))).save(path)
    assert len(Deep.load(path).more) == 1
    rewrite(path, {"config": config})
    with pytest.raises(CourseError, match=message):
        Deep.load(path)


def test_loading_draws_no_random_numbers(saved: Path) -> None:
    before = torch.get_rng_state()
    Small.load(saved)
    assert torch.equal(torch.get_rng_state(), before)


def test_nothing_is_changed_by_weights_that_do_not_fit() -> None:
    model = Small(SmallConfig())
    before = model.layer.bias.clone()
    with pytest.raises(CourseError, match="missing"):
        load_strictly(model, {"layer.bias": torch.ones(2)}, "a test")
    assert torch.equal(model.layer.bias, before)


def test_the_configuration_must_be_its_own() -> None:
    with pytest.raises(CourseError, match=r"Small got 3 .*Give SmallConfig\(…\)"):
        Small(3)


def test_no_counterpart() -> None:
    with pytest.raises(CourseError, match="no counterpart of Small"):
        Small.from_transformers(nn.Linear(1, 1))


RENAMING = Renaming(
    (
        Rule(("blocks.{n}.a", "blocks.{n}.b"), "h.{n}.ab", transposed=True),
        *linear("head", "lm.head"),
    ),
    (Tied("again.weight", "lm.head.weight"),),
)


def test_renaming_is_one_to_one() -> None:
    ours = {
        "blocks.0.a": torch.randn(2, 3),
        "blocks.0.b": torch.randn(2, 3),
        "blocks.12.a": torch.randn(2, 3),
        "blocks.12.b": torch.randn(2, 3),
        "head.weight": torch.randn(2, 2),
        "head.bias": torch.randn(2),
    }
    theirs = RENAMING.to_theirs(ours)
    assert set(theirs) == {"h.0.ab", "h.12.ab", "lm.head.weight", "lm.head.bias", "again.weight"}
    assert theirs["h.12.ab"].shape == (3, 4)
    back = RENAMING.to_ours(theirs)
    assert back.keys() == ours.keys() and all(torch.equal(back[name], ours[name]) for name in ours)


def test_what_no_rule_covers_is_an_error() -> None:
    with pytest.raises(CourseError, match=r"blocks\.x\.a is not part of the other"):
        RENAMING.to_theirs({"blocks.x.a": torch.zeros(1)})
    with pytest.raises(CourseError, match=r"h\.0\.c is not part"):
        RENAMING.to_ours({"h.0.c": torch.zeros(1)})
    untied = {"lm.head.weight": torch.zeros(2, 2), "again.weight": torch.ones(2, 2)}
    with pytest.raises(
        CourseError, match=r"again.weight \(2, 2\) and lm.head.weight \(2, 2\) diff"
    ):
        RENAMING.to_ours(untied)


def test_torch_layers_that_ours_are_not() -> None:
    with pytest.raises(CourseError, match=r"activation .*tanh.* is not known"):
        from_torch(EncoderLayer, nn.TransformerEncoderLayer(4, 2, activation=torch.tanh))
    with pytest.raises(CourseError, match="no activation gelu_new"):
        EncoderLayer(LayerConfig(4, 2, 8, "gelu_new")).to_torch()
    with pytest.raises(CourseError, match="activation 'swish' is not known"):
        EncoderLayer(LayerConfig(4, 2, 8, hidden_act="swish"))


def test_each_setting_of_a_torch_layer_is_looked_at() -> None:
    """One ε and one dropout for all of a kind: a layer that has several is not ours."""

    def eps(layer: Any) -> None:
        layer.norm2.eps = 0.1

    def dropout(layer: Any) -> None:
        layer.dropout2.p = 0.7

    for kind, ours in (
        (nn.TransformerEncoderLayer, EncoderLayer),
        (nn.TransformerDecoderLayer, DecoderLayer),
    ):
        for change in (eps, dropout):
            reference = kind(4, 2, 8)
            change(reference)
            with pytest.raises(CourseError, match="one ε for all LayerNorms, and one dropout"):
                from_torch(ours, reference)
        config = LayerConfig(4, 2, 8, "gelu", 0.1, 0.2, 0.3, 1e-3, True)
        theirs = ours(config).to_torch()
        assert from_torch(ours, theirs).config == config
        drops = {n: m.p for n, m in theirs.named_modules() if isinstance(m, nn.Dropout)}
        assert drops.pop("dropout") == 0.3 and set(drops.values()) == {0.1}
        for activation, name in ((nn.ReLU(), "relu"), (torch.relu, "relu"), (nn.GELU(), "gelu")):
            assert from_torch(ours, kind(4, 2, 8, activation=activation)).config.hidden_act == name


def test_stacks_of_torch() -> None:
    layer = nn.TransformerEncoderLayer(4, 2, 8, batch_first=True)
    stack = nn.TransformerEncoder(layer, 3, nn.LayerNorm(4), enable_nested_tensor=False)
    ours = from_torch(Encoder, stack.eval())
    x = torch.randn(2, 5, 4)
    torch.testing.assert_close(ours(x).last_hidden_state, stack(x))
    stack.layers[1] = nn.TransformerEncoderLayer(4, 1, 8, batch_first=True)
    with pytest.raises(CourseError, match="layers of the same sizes"):
        from_torch(Encoder, stack)


def test_a_layer_keeps_its_mode_and_type() -> None:
    reference = nn.TransformerEncoderLayer(4, 2, batch_first=True).double().eval()
    ours = from_torch(EncoderLayer, reference)
    assert not ours.training and ours.attention.query.weight.dtype == torch.double
    assert ours.train().to_torch().training


def test_a_transformer_is_asked_for_what_it_can_do() -> None:
    model = Transformer(TransformerConfig(9, LayerConfig(4, 2, 8), 1, 6))
    ids = torch.ones(2, 3, dtype=torch.long)
    for inputs, message in (
        ({"input_ids": ids + 8}, "input_ids holds the number 9.*must be 0 to 8"),
        ({"input_ids": ids - 2}, "input_ids holds the number -1"),
        ({"input_ids": ids.repeat(1, 3)}, "has 9 tokens a sequence; this model has 6 positions"),
        ({"input_ids": ids.double()}, r"has the type torch\.float64"),
        ({"input_ids": ids[0]}, r"has shape \(3,\)"),
        ({"input_ids": ids[:, :0]}, r"has shape \(2, 0\)"),
        ({"input_ids": ids, "attention_mask": ids[:, :2]}, r"mask has shape \(2, 2\).*\(2, 3\)"),
        ({"input_ids": ids, "attention_mask": ids * 0.5}, "numbers other than 0 and 1"),
        ({"input_ids": ids, "labels": ids - 4}, "labels holds the number -3.*or -100"),
        (
            {"input_ids": ids, "labels": ids, "decoder_input_ids": ids[:, :2]},
            r"labels has shape \(2, 3\), the ids \(2, 2\)",
        ),
    ):
        with pytest.raises(CourseError, match=message):
            model(**inputs)


def test_parameters_of_the_paper() -> None:
    """Table 3 says 65 and 213 million: it rounds, and does not say what its vocabulary was."""
    for config, width, heads, stated in (
        (TransformerConfig.base(), 512, 8, 63_082_496),
        (TransformerConfig.big(), 1024, 16, 214_245_376),
    ):
        with torch.device("meta"):
            ours = Transformer(config)
            layers = nn.Transformer(width, heads, 6, 6, 4 * width, batch_first=True)
        count = sum(p.numel() for p in layers.parameters()) - 4 * width  # it has two more norms
        assert sum(p.numel() for p in ours.parameters()) == count + 37_000 * width == stated


def test_outputs_read_by_attribute_name_and_number() -> None:
    model = Transformer(TransformerConfig(9, LayerConfig(4, 2, 8), 1, 6)).eval()
    ids = torch.ones(2, 3, dtype=torch.long)
    result = model(input_ids=ids, labels=ids)
    assert result[0] is result.loss is result["loss"]
    assert list(result.keys()) == ["loss", "logits", "encoder_last_hidden_state"]
    assert "logits" in result and "encoder_attentions" not in result and len(result) == 3
    loss, logits, states = result
    assert result[1:][0] is logits and result[1:][1] is states and loss is result.loss
    assert dict(result.items())["logits"] is logits and result.get("attentions", 3) == 3
    assert result != model(input_ids=ids, labels=ids)
    without = model(input_ids=ids, output_attentions=True)
    assert without[0] is without.logits and without.loss is None
    with pytest.raises(KeyError, match="'loss' is not in this result, which has logits"):
        without["loss"]
