"""ALBERT's sizes, sharing, seams and refusals; that it equals the reference is in the table."""

import weakref
from dataclasses import replace

import pytest
import torch
import transformers
from safetensors import safe_open

from lmcourse.errors import CourseError
from lmcourse.models.albert import (
    Albert,
    AlbertConfig,
    AlbertForMaskedLM,
    AlbertForPreTraining,
    AlbertForQuestionAnswering,
    AlbertForSequenceClassification,
    AlbertForTokenClassification,
)
from lmcourse.models.bert import Bert
from lmcourse.models.factorized_embeddings import FactorizedEmbeddings
from tests.models.small import BERT, ids, parameters
from tests.parity.comparing import shaken

SMALL = AlbertConfig(
    23,
    12,
    num_hidden_layers=3,
    num_attention_heads=3,
    intermediate_size=20,
    max_position_embeddings=9,
    num_labels=3,
    embedding_size=5,
)
HEADS = (
    AlbertForPreTraining,
    AlbertForMaskedLM,
    AlbertForSequenceClassification,
    AlbertForQuestionAnswering,
    AlbertForTokenClassification,
)


@pytest.mark.parametrize(
    ("size", "count", "with_heads"),
    [
        ("base", 11_683_584, 11_813_810),
        ("large", 17_683_968, 17_847_474),
        ("xlarge", 58_724_864, 59_021_490),
        ("xxlarge", 222_595_584, 223_158_450),
    ],
)
def test_paper_scale_counts_are_the_references(size, count, with_heads):
    """11.7 M and 17.7 M: embeddings, one layer and the pooler; the heads are not in them."""
    config = getattr(AlbertConfig, size)()
    names = ("hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size")
    theirs = transformers.AlbertConfig(**{name: getattr(config, name) for name in names})
    with torch.device("meta"):
        assert parameters(Albert(config)) == count == parameters(transformers.AlbertModel(theirs))
        assert parameters(AlbertForPreTraining(config)) == with_heads
        assert parameters(transformers.AlbertForPreTraining(theirs)) == with_heads


@pytest.mark.parametrize(
    ("width", "millions"),
    [
        (128, {"all": 12, "attention": 64, "ffn": 38, "none": 89}),
        (768, {"all": 31, "attention": 83, "ffn": 57, "none": 108}),
    ],
)
def test_what_sharing_saves_is_the_papers_table(width, millions):
    """Lan et al. (2020, table 4), which rounds now up, now down, now without the pooler.

    With E = H, the paper's model has no projection; ours has one, as the library's.
    """
    for sharing, count in millions.items():
        config = AlbertConfig.base(sharing=sharing, embedding_size=width)
        with torch.device("meta"):
            model = Albert(config)
        spare = parameters(model.embeddings.projection) if width == 768 else 0
        least = parameters(model) - spare - parameters(model.pooler)
        assert least / 1e6 - 1 < count < (parameters(model) - spare) / 1e6 + 1


def test_narrow_embeddings_cost_v_times_e_and_e_times_h():
    narrow = FactorizedEmbeddings(1000, 8, 10, hidden_size=64, layer_norm_eps=1e-12)
    assert parameters(narrow) == 1000 * 8 + (8 * 64 + 64) + 10 * 8 + 2 * 8
    words = torch.randn(2, 5, 8)
    assert narrow(inputs_embeds=words).shape == (2, 5, 64)
    given = torch.randint(1000, (2, 5))
    torch.testing.assert_close(narrow(given), narrow(inputs_embeds=narrow.word(given)))


@pytest.mark.parametrize(
    ("sharing", "groups", "attentions", "networks"),
    [
        ("all", 1, 1, 1),
        ("all", 2, 2, 2),
        ("attention", 1, 1, 5),
        ("attention", 3, 3, 5),
        ("ffn", 1, 5, 1),
        ("ffn", 2, 5, 2),
        ("none", 1, 5, 5),
        ("none", 2, 5, 5),
    ],
)
def test_what_is_shared_is_kept_counted_and_saved_once(
    tmp_path, sharing, groups, attentions, networks
):
    config = replace(SMALL, num_hidden_layers=5, sharing=sharing, num_hidden_groups=groups)
    model = Albert(config)
    attention = 4 * (12 * 12 + 12) + 2 * 12
    network = 2 * 12 * 20 + 20 + 12 + 2 * 12
    assert parameters(model.encoder) == attentions * attention + networks * network
    model.save(tmp_path / "albert")
    with safe_open(tmp_path / "albert", "pt") as file:
        saved = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    assert saved.keys() == dict(model.named_parameters()).keys()
    assert sum(tensor.numel() for tensor in saved.values()) == parameters(model)
    result = model(ids(2, 4), output_attentions=True, output_hidden_states=True)
    assert len(result.attentions) == 5 and len(result.hidden_states) == 6


def test_layers_of_one_group_are_neighbors():
    """Published code: int(layer / layers · groups)."""
    assert replace(SMALL, num_hidden_layers=5, num_hidden_groups=2).groups == [0, 0, 0, 1, 1]
    assert replace(SMALL, num_hidden_layers=4, num_hidden_groups=2).groups == [0, 0, 1, 1]
    assert replace(SMALL, num_hidden_layers=4).groups == [0, 0, 0, 0]


def test_nothing_shared_is_a_group_for_each_layer():
    alone = shaken(Albert(replace(SMALL, sharing="none")).double())
    grouped = Albert(replace(SMALL, num_hidden_groups=3)).double().eval()
    grouped.load_state_dict(alone.state_dict())
    given = ids(2, 5)
    assert torch.equal(alone(given).pooler_output, grouped(given).pooler_output)


def test_a_shared_sublayers_gradient_is_the_sum_over_the_layers():
    """Beside the same model with a copy for each layer, whose gradients are added up."""
    shared = shaken(Albert(SMALL).double())
    alone = Albert(replace(SMALL, sharing="none")).double().eval()
    copies = {
        name: shared.state_dict()[name.replace(f".{name.split('.')[2]}.", ".0.", 1)]
        if name.startswith("encoder")
        else shared.state_dict()[name]
        for name in alone.state_dict()
    }
    alone.load_state_dict(copies)
    given = ids(2, 5)
    for model in (shared, alone):
        model(given).pooler_output.square().sum().backward()
    own = shared.encoder.feed_forward[0].output.weight.grad
    parts = [network.output.weight.grad for network in alone.encoder.feed_forward]
    torch.testing.assert_close(own, sum(parts))
    assert len(parts) == 3 and not torch.allclose(parts[0], parts[1])


def test_the_start_is_a_truncated_normal_also_of_the_projection():
    model = Albert(replace(SMALL, hidden_size=300, embedding_size=200))
    weight = model.embeddings.projection.weight
    assert weight.abs().max() <= 0.04 + 1e-6 and not model.embeddings.projection.bias.any()
    assert weight.std().item() == pytest.approx(0.88 * 0.02, rel=0.02)


def test_each_task_of_pre_training_may_be_given_alone():
    model = shaken(AlbertForPreTraining(SMALL))
    given, labels, order = ids(2, 5), ids(2, 5), torch.tensor([0, 1])
    words = model(given, labels=labels).loss
    sorted_ = model(given, sentence_order_label=order)
    both = model(given, labels=labels, sentence_order_label=order).loss
    torch.testing.assert_close(both, words + sorted_.loss)
    p = sorted_.sop_logits.softmax(-1)
    torch.testing.assert_close(sorted_.loss, -(p[0, 0].log() + p[1, 1].log()) / 2)
    assert model(given).loss is None


@pytest.mark.parametrize("kind", HEADS, ids=lambda kind: kind.__name__)
def test_a_head_stands_on_pretrained_weights(kind):
    pretrained = shaken(AlbertForPreTraining(SMALL))
    model = kind.on_top_of(pretrained, num_labels=4)
    own, known = model.state_dict(), pretrained.state_dict()
    same = {name for name in own if name in known and torch.equal(own[name], known[name])}
    copied = ("bert.", "predictions.", "seq_relationship.")
    assert same == {name for name in own if name.startswith(copied)}
    again = kind.on_top_of(pretrained.bert)
    given = ids(2, 5)
    assert torch.equal(
        again.bert(given).last_hidden_state, pretrained.bert(given).last_hidden_state
    )


def test_weights_that_are_shared_otherwise_do_not_fit():
    with pytest.raises(CourseError, match=r"encoder\.attention\.1\.query\.weight is missing"):
        AlbertForMaskedLM.on_top_of(Albert(SMALL), sharing="none")
    with pytest.raises(CourseError, match="needs Albert, but got Bert"):
        AlbertForMaskedLM.on_top_of(Bert(BERT))


@pytest.mark.parametrize("kind", HEADS, ids=lambda kind: kind.__name__)
def test_every_head_converts_whatever_the_number_of_labels(kind):
    for number in (1, 2, 3):
        model = kind(replace(SMALL, num_labels=number, num_hidden_groups=2))
        state = kind.from_transformers(model.to_transformers()).state_dict()
        assert all(torch.equal(state[name], own) for name, own in model.state_dict().items())


def test_the_settings_come_back_from_the_library():
    config = replace(SMALL, num_hidden_groups=2, classifier_dropout=0.3, hidden_dropout_prob=0.2)
    assert Albert.from_transformers(Albert(config).to_transformers()).config == config


def test_what_one_side_lacks_is_refused():
    with pytest.raises(CourseError, match=r"has sharing='ffn'.*Convert one with sharing='all'"):
        Albert(replace(SMALL, sharing="ffn")).to_transformers()
    small = {"hidden_size": 12, "num_attention_heads": 3, "intermediate_size": 8}
    twice = transformers.AlbertConfig(vocab_size=23, inner_group_num=2, **small)
    with pytest.raises(CourseError, match="inner_group_num=2"):
        Albert.from_transformers(transformers.AlbertModel(twice))
    three = transformers.AlbertConfig(vocab_size=23, num_labels=3, **small)
    with pytest.raises(CourseError, match="num_labels=3"):
        AlbertForPreTraining.from_transformers(transformers.AlbertForPreTraining(three))
    with pytest.raises(CourseError, match=r"cannot be built from BertModel.*Give AlbertModel"):
        Albert.from_transformers(Bert(BERT).to_transformers())


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        pytest.param(
            {"sharing": "both"},
            "sharing is 'both'.*all, attention, ffn, none",
            marks=pytest.mark.bad_input,
        ),
    ],
    ids=str,
)
def test_a_setting_that_makes_no_sense_is_named(settings, words):
    with pytest.raises(CourseError, match=words):
        replace(SMALL, **settings)


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"sentence_order_label": torch.tensor([0, 2])}, "sentence_order_label holds the number 2"),
    ],
)
def test_bad_inputs_are_named(given, words):
    with pytest.raises(CourseError, match=words):
        AlbertForPreTraining(SMALL)(ids(2, 5), **given)


def test_a_layers_hidden_state_is_kept_only_if_it_is_asked_for():
    model, alive = Albert(SMALL).eval(), []
    inputs = []

    def seen(attention, given):
        alive.append(sum(state() is not None for state in inputs))
        inputs.append(weakref.ref(given[0]))

    model.encoder.attention[0].register_forward_pre_hook(seen)
    with torch.no_grad():
        model(ids(2, 5))
        assert alive == [0, 1, 1]  # what is embedded, which the `Bert` holds
        inputs.clear()
        model(ids(2, 5), output_hidden_states=True)
    assert alive[3:] == [0, 1, 2]
