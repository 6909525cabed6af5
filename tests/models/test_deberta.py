"""DeBERTa's distances, its attention beside the naive one, its decoder, sizes and refusals."""

import math
from dataclasses import replace

import pytest
import torch
import transformers
from torch.utils._python_dispatch import TorchDispatchMode

from lmcourse.errors import CourseError
from lmcourse.models.bert import Bert
from lmcourse.models.deberta import (
    Deberta,
    DebertaConfig,
    DebertaForMaskedLM,
    DebertaForQuestionAnswering,
    DebertaForSequenceClassification,
    DebertaForTokenClassification,
)
from lmcourse.models.disentangled_attention import (
    DisentangledAttention,
    clipped_distances,
    diagonals,
    relative_scores,
)
from lmcourse.models.enhanced_mask_decoder import DebertaForPreTraining
from lmcourse.models.inputs import IGNORED
from tests.models.small import BERT, ids, parameters
from tests.parity.comparing import shaken

SMALL = DebertaConfig(
    23, 12, 2, 3, 20, max_position_embeddings=9, max_relative_positions=4, num_labels=3
)
HEADS = (
    DebertaForMaskedLM,
    DebertaForSequenceClassification,
    DebertaForQuestionAnswering,
    DebertaForTokenClassification,
)


def test_distances_are_clipped_as_in_equation_3():
    assert clipped_distances(6, 2, torch.zeros(1)).tolist() == [
        [2, 1, 0, 0, 0, 0],
        [3, 2, 1, 0, 0, 0],
        [3, 3, 2, 1, 0, 0],
        [3, 3, 3, 2, 1, 0],
        [3, 3, 3, 3, 2, 1],
        [3, 3, 3, 3, 3, 2],
    ]


def test_diagonals_are_rows_that_start_one_to_the_left_each_and_share_their_memory():
    products = torch.arange(18.0).view(3, 6)
    found = diagonals(products, 2)
    assert found.tolist() == [[2, 3, 4], [7, 8, 9], [12, 13, 14]]
    assert found.untyped_storage().data_ptr() == products.untyped_storage().data_ptr()


@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize(("time", "span"), [(1, 1), (1, 3), (5, 5), (5, 8), (5, 4), (5, 1)])
def test_a_pairs_number_is_the_same_looked_up_seen_and_computed_for_itself(time, span, mirrored):
    content = torch.randn(2, 3, time, 4, dtype=torch.float64, requires_grad=True)
    table = torch.randn(3, 2 * span, 4, dtype=torch.float64, requires_grad=True)
    pairs = clipped_distances(time, span, content)
    vectors = table[:, pairs.mT if mirrored else pairs]  # the naive form: (head, a, b, width)
    naive = torch.einsum("nhad,habd->nhab", content, vectors)
    weights = torch.randn_like(naive)
    expected = torch.autograd.grad((naive * weights).sum(), (content, table))
    for gather in (False, True):
        found = relative_scores(content, table, mirrored=mirrored, gather=gather)
        torch.testing.assert_close(found, naive)
        slopes = torch.autograd.grad((found * weights).sum(), (content, table))
        torch.testing.assert_close(slopes, expected)


class Largest(TorchDispatchMode):
    """The most numbers that a tensor has which is made meanwhile."""

    def __init__(self):
        super().__init__()
        self.numbers = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        made = function(*args, **(kwargs or {}))
        for tensor in made if isinstance(made, tuple | list) else (made,):
            if isinstance(tensor, torch.Tensor):
                self.numbers = max(self.numbers, tensor.numel())
        return made


@pytest.mark.parametrize("need_weights", [False, True])
@pytest.mark.parametrize("span", [5, 40])
def test_no_tensor_has_a_vector_for_each_pair(span, need_weights):
    heads, time, size = 2, 30, 16
    layer = DisentangledAttention(heads * size, heads)
    hidden, positions = torch.randn(1, time, heads * size), torch.randn(2 * span, heads * size)
    with Largest() as most:
        layer(hidden, positions, need_weights=need_weights)[0].sum().backward()
    assert most.numbers <= heads * time * max(2 * span, 2 * time)
    assert most.numbers < heads * time * time * size / 4


def attentions(**changes):
    settings = {"hidden_size": 12, "heads": 3, "terms": ("c2p", "p2c")} | changes
    return shaken(DisentangledAttention(**settings).double())


@pytest.mark.parametrize("relative", [True, False])
@pytest.mark.parametrize("terms", [(), ("c2p",), ("p2c",), ("p2c", "c2p")])
@pytest.mark.parametrize("span", [2, 9])
def test_the_fused_attention_equals_the_readable_one_with_every_gradient(terms, relative, span):
    layer = attentions(terms=terms, relative=relative)
    assert (layer.position_key is None) == (not relative or "c2p" not in terms)
    assert (layer.position_query is None) == (not relative or "p2c" not in terms)
    hidden = torch.randn(2, 6, 12, dtype=torch.float64, requires_grad=True)
    positions = torch.randn(2 * span, 12, dtype=torch.float64, requires_grad=True)
    visible = torch.rand(2, 1, 6, 6) < 0.6
    visible[1, 0, 2] = False  # a place that sees nothing
    wanted = torch.randn(2, 6, 12, dtype=torch.float64)
    leaves = [hidden, positions, *layer.parameters()]
    results = []
    for need_weights in (True, False):
        found, weights = layer(hidden, positions, visible, need_weights=need_weights)
        assert torch.equal(found[1, 2], layer.output.bias)
        slopes = torch.autograd.grad((found * wanted).sum(), leaves, allow_unused=True)
        results.append((found, [s if s is not None else torch.zeros(()) for s in slopes]))
        if weights is not None:
            assert not weights[1, :, 2].any()
            assert not weights.masked_select(~visible).any()
    torch.testing.assert_close(*results)


def test_the_scale_counts_the_terms():
    x = torch.randn(1, 4, 12, dtype=torch.float64)
    for terms in ((), ("c2p",), ("p2c", "c2p")):
        layer = attentions(terms=terms)
        weights = layer(x, torch.zeros(8, 12, dtype=torch.float64), need_weights=True)[1]
        q, k = (layer.split(part(x)) for part in (layer.query, layer.key))
        extra = 0.0
        if "p2c" in terms:  # of a row of zeros, the bias is left
            extra = k @ layer.position_query.bias.view(3, 4, 1)
            extra = extra.mT
        expected = ((q @ k.mT + extra) / math.sqrt((1 + len(terms)) * 4)).softmax(-1)
        torch.testing.assert_close(weights, expected)


def test_the_paper_counts_the_keys_distance_from_itself_and_its_code_from_the_query():
    """The same numbers, where the table is turned round (its row 0 has no counterpart)."""
    paper, code = (attentions(terms=("p2c",), as_in_paper=flag) for flag in (True, False))
    code.load_state_dict(paper.state_dict())
    x, table = (torch.randn(*shape, 12, dtype=torch.float64) for shape in ((1, 5), (16,)))
    turned = table.flip(0).roll(1, 0)
    one, other = paper(x, table)[0], code(x, table)[0]
    assert not torch.allclose(one, other)
    torch.testing.assert_close(one, code(x, turned)[0])


def test_a_text_means_the_same_wherever_it_stands():
    model, given = shaken(Deberta(SMALL).double()), ids(1, 5)
    alone = model(given).last_hidden_state
    shifted = torch.cat([ids(1, 4), given], 1)
    mask = torch.tensor([[0] * 4 + [1] * 5])
    torch.testing.assert_close(model(shifted, attention_mask=mask).last_hidden_state[:, 4:], alone)


def test_without_relative_attention_it_is_a_bag_of_words():
    order = torch.randperm(6)
    given = ids(2, 6)
    for relative in (True, False):
        model = shaken(Deberta(replace(SMALL, relative_attention=relative)).double())
        one = model(given).last_hidden_state[:, order]
        other = model(given[:, order]).last_hidden_state
        assert torch.allclose(one, other) != relative
    assert model.encoder.positions is None


def test_the_mask_decoder_knows_where_a_text_stands():
    model, given = shaken(DebertaForPreTraining(SMALL).double()), ids(1, 5)
    counted, later = torch.arange(5)[None], torch.arange(4, 9)[None]
    one, other = model(given).logits, model(given, position_ids=later).logits
    assert not torch.isclose(one, other).all(-1).any()
    torch.testing.assert_close(one, model(given, position_ids=counted).logits)
    with torch.no_grad():
        model.decoder.position.weight.zero_()
    one, other = model(given).logits, model(given, position_ids=later).logits
    torch.testing.assert_close(one, other)


def test_a_text_padded_on_the_left_is_decoded_alike_where_its_places_are_given():
    model, given = shaken(DebertaForPreTraining(SMALL).double()), ids(1, 5)
    padded = torch.cat([torch.zeros(1, 4, dtype=torch.long), given], 1)
    mask = torch.tensor([[0] * 4 + [1] * 5])
    alone = model(given).logits
    assert not torch.allclose(model(padded, attention_mask=mask).logits[:, 4:], alone)
    places = (mask.cumsum(1) - 1).clamp(min=0)
    found = model(padded, attention_mask=mask, position_ids=places).logits[:, 4:]
    torch.testing.assert_close(found, alone)


def test_an_argument_that_no_model_has_is_refused():
    for kind in (*HEADS, DebertaForPreTraining):
        with pytest.raises(TypeError, match="attention_masks"):
            kind(SMALL)(ids(2, 5), attention_masks=torch.ones(2, 5))


def test_the_mask_decoder_is_the_last_layer_twice_and_adds_places_alone():
    plain, model = DebertaForMaskedLM(SMALL), DebertaForPreTraining(SMALL)
    assert parameters(model) - parameters(plain) == 9 * 12
    told = model(ids(2, 5), output_attentions=True, output_hidden_states=True)
    assert len(told.attentions) == 3 and len(told.hidden_states) == 4
    calls = []
    model.bert.encoder.layers[1].register_forward_hook(lambda *_: calls.append(1))
    model(ids(2, 5))
    assert len(calls) == 2


def test_what_was_pretrained_is_tuned_without_its_decoder():
    pretrained = shaken(DebertaForPreTraining(SMALL))
    for kind in HEADS:
        model = kind.on_top_of(pretrained, num_labels=4)
        for name, tensor in pretrained.bert.state_dict().items():
            assert torch.equal(model.bert.state_dict()[name], tensor)
        assert not hasattr(model, "decoder")
    again = DebertaForPreTraining.on_top_of(pretrained)
    assert torch.equal(again.decoder.position.weight, pretrained.decoder.position.weight)
    masked = DebertaForMaskedLM.on_top_of(pretrained)
    assert torch.equal(masked.predictions.dense.weight, pretrained.predictions.dense.weight)
    with pytest.raises(CourseError, match="needs Deberta, but got Bert"):
        DebertaForMaskedLM.on_top_of(Bert(BERT))


@pytest.mark.parametrize(
    ("size", "count"), [("base", 138_601_728), ("large", 405_163_008)], ids=["base", "large"]
)
def test_paper_scale_counts_are_the_references(size, count):
    config = getattr(DebertaConfig, size)()
    names = ("hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size")
    theirs = transformers.DebertaConfig(
        **{name: getattr(config, name) for name in names},
        relative_attention=True,
        pos_att_type="c2p|p2c",
        position_biased_input=False,
    )
    with torch.device("meta"):
        assert parameters(Deberta(config)) == count == parameters(transformers.DebertaModel(theirs))
        head, reference = DebertaForMaskedLM(config), transformers.DebertaForMaskedLM(theirs)
        assert parameters(head) == parameters(reference)


@pytest.mark.parametrize("kind", [*HEADS, DebertaForPreTraining], ids=lambda kind: kind.__name__)
def test_every_head_is_saved_and_loaded(kind, tmp_path):
    model = shaken(kind(replace(SMALL, pos_att_type=("p2c",), pooler_hidden_act="relu")))
    model.save(tmp_path / "model.safetensors")
    again = kind.load(tmp_path / "model.safetensors")
    given = ids(2, 5)
    assert again.config == model.config and again.config.pos_att_type == ("p2c",)
    assert torch.equal(again(given)[0], model(given)[0])


@pytest.mark.parametrize("kind", HEADS, ids=lambda kind: kind.__name__)
def test_every_head_converts_whatever_the_number_of_labels(kind):
    for number in (1, 2, 3):
        model = kind(replace(SMALL, num_labels=number))
        state = kind.from_transformers(model.to_transformers()).state_dict()
        assert all(torch.equal(state[name], own) for name, own in model.state_dict().items())


def test_queries_keys_and_values_lie_head_by_head_in_the_reference():
    model = Deberta(SMALL)
    attention = model.encoder.layers[0].attention
    stacked = model.to_transformers().encoder.layer[0].attention.self.in_proj.weight
    for head in range(3):
        for number, name in enumerate(("query", "key", "value")):
            own = getattr(attention, name).weight[4 * head : 4 * head + 4]
            assert torch.equal(stacked[4 * (3 * head + number) :][:4], own)


@pytest.mark.parametrize(
    "kind", [Deberta, *(head for head in HEADS if head is not DebertaForTokenClassification)]
)
def test_a_classifiers_dropout_comes_back_from_under_every_head(kind):
    model = kind(replace(SMALL, classifier_dropout=0.3))
    assert kind.from_transformers(model.to_transformers()).config.classifier_dropout == 0.3


@pytest.mark.parametrize("problem", [None, "multi_label_classification"])
def test_several_labels_have_one_loss_here_and_two_in_the_reference(problem):
    """As `conversion.deberta` says."""
    torch.manual_seed(0)
    ours = shaken(DebertaForSequenceClassification(replace(SMALL, problem_type=problem))).eval()
    theirs = ours.to_transformers().eval()
    labels = torch.randint(2, (4, 3)).float()
    given = {"input_ids": ids(4, 7), "labels": labels}
    here, there = ours(**given), theirs(**given)
    torch.testing.assert_close(here.logits, there.logits)
    p = here.logits.sigmoid()
    binary = -(labels * p.log() + (1 - labels) * (1 - p).log()).mean()
    softmax = -(labels * here.logits.softmax(-1).log()).sum(1).mean()
    torch.testing.assert_close(here.loss, binary)
    torch.testing.assert_close(there.loss, binary if problem else softmax)
    assert not torch.isclose(binary, softmax, rtol=0.1)


CHANGES = [
    ({"talking_head": True}, "talking_head=True"),
    ({"embedding_size": 6}, "not part of this architecture"),
    ({"hidden_act": "silu"}, "'silu' is not known"),
]


@pytest.mark.parametrize(("settings", "words"), CHANGES, ids=[words for _, words in CHANGES])
def test_a_reference_with_what_ours_lacks_is_refused(settings, words):
    sizes = {"vocab_size": 23, "hidden_size": 12, "num_hidden_layers": 1}
    sizes |= {"num_attention_heads": 3, "intermediate_size": 8}
    theirs = transformers.DebertaConfig(**sizes, **settings)
    with pytest.raises(CourseError, match=words):
        Deberta.from_transformers(transformers.DebertaModel(theirs))


def test_another_prediction_head_is_refused():
    theirs = DebertaForMaskedLM(SMALL).to_transformers().config
    theirs.legacy = False
    with pytest.raises(CourseError, match=r"legacy=False.*Give one with legacy=True"):
        DebertaForMaskedLM.from_transformers(transformers.DebertaForMaskedLM(theirs))


@pytest.mark.parametrize(
    ("kind", "settings", "words"),
    [
        (Deberta, {"p2c_as_in_paper": True}, "has p2c_as_in_paper=True"),
        (Deberta, {"add_pooling_layer": True}, "has add_pooling_layer=True"),
        (DebertaForTokenClassification, {"classifier_dropout": 0.2}, r"classifier_dropout=0\.2"),
        (DebertaForPreTraining, {}, "no counterpart of DebertaForPreTraining"),
    ],
)
def test_what_the_reference_lacks_is_not_converted(kind, settings, words):
    with pytest.raises(CourseError, match=words):
        kind(replace(SMALL, **settings)).to_transformers()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"pos_att_type": ("c2p", "p2p")}, r"p2p.*not depend on the text"),
        ({"pos_att_type": ("c2c",)}, r"pos_att_type, are \('c2c',\)"),
        ({"pos_att_type": ("c2p", "c2p")}, "pos_att_type"),
    ],
    ids=str,
)
def test_a_setting_that_makes_no_sense_is_named(settings, words):
    with pytest.raises(CourseError, match=words):
        replace(SMALL, **settings)


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"pos_att_type": None}, "pos_att_type, are None"),
        ({"pos_att_type": {"c2p"}}, "pos_att_type, are {'c2p'}"),
    ],
    ids=str,
)
def test_a_setting_of_another_kind_is_named(settings, words):
    with pytest.raises(CourseError, match=words):
        replace(SMALL, **settings)


@pytest.mark.bad_input
def test_a_list_of_terms_becomes_a_tuple():
    config = replace(SMALL, pos_att_type=["c2p"])
    assert config == replace(SMALL, pos_att_type=("c2p",)) and hash(config)


FIVE = torch.ones(2, 5, dtype=torch.long)


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"input_ids": FIVE, "token_type_ids": FIVE}, "no segments, but got token_type_ids"),
        ({"input_ids": FIVE * 23}, "input_ids holds the number 23"),
    ],
)
def test_bad_inputs_are_named(given, words):
    for kind in (Deberta, DebertaForPreTraining):
        with pytest.raises(CourseError, match=words):
            kind(SMALL)(**given)


@pytest.mark.bad_input
def test_places_that_do_not_fit_are_named():
    with pytest.raises(CourseError, match="no position embeddings, but got position_ids"):
        Deberta(SMALL)(FIVE, position_ids=FIVE)
    model = DebertaForPreTraining(SMALL)
    with pytest.raises(CourseError, match="position_ids holds the number 9"):
        model(FIVE, position_ids=9 * FIVE)
    with pytest.raises(CourseError, match=r"position_ids has shape \(2, 4\)"):
        model(FIVE, position_ids=FIVE[:, :4])


def test_places_are_told_apart_where_the_setting_says_so():
    model = shaken(Deberta(replace(SMALL, position_biased_input=True)))
    given = ids(1, 5)
    one, other = model(given), model(given, position_ids=torch.arange(4, 9)[None])
    assert not torch.isclose(one.last_hidden_state, other.last_hidden_state).all()
    assert "embeddings.position.weight" in model.state_dict()
    assert "embeddings.position.weight" not in Deberta(SMALL).state_dict()


def test_a_mask_a_query_is_what_each_place_sees():
    model = shaken(Deberta(replace(SMALL, num_hidden_layers=1)).double())
    seen = (torch.rand(2, 6, 6) < 0.4) | torch.eye(6, dtype=torch.bool)
    x = torch.randn(2, 6, 12, dtype=torch.float64, requires_grad=True)
    for place in range(6):
        hidden = model(inputs_embeds=x, attention_mask=seen).last_hidden_state
        (gradient,) = torch.autograd.grad(hidden[:, place].cos().sum(), x)
        assert torch.equal(gradient.abs().sum(-1) > 1e-12, seen[:, place])


def test_what_is_new_starts_as_bert_does():
    wide = replace(SMALL, hidden_size=60, num_attention_heads=4, max_position_embeddings=300)
    decoder = DebertaForPreTraining(replace(wide, max_relative_positions=-1))
    weights = [decoder.decoder.position.weight, decoder.bert.encoder.distance.weight]
    weights += [DebertaForSequenceClassification(wide).classifier.pooler.weight]
    attention = decoder.bert.encoder.layers[0].attention
    weights += [attention.position_key.weight, attention.position_query.weight]
    for weight in weights:  # N(0, 0.02²) cut off at two standard deviations
        assert weight.abs().max() <= 0.04 + 1e-6
        assert weight.std().item() == pytest.approx(0.88 * 0.02, rel=0.05)
    assert not attention.position_query.bias.any()


@pytest.mark.parametrize("kind", [DebertaForMaskedLM, DebertaForPreTraining])
def test_the_first_loss_is_log_v(kind):
    model = kind(replace(SMALL, vocab_size=500)).eval()
    given = torch.randint(500, (8, 9))
    assert model(given, labels=given).loss.item() == pytest.approx(math.log(500), rel=0.05)
    none = model(given, labels=torch.full_like(given, IGNORED)).loss
    assert none == 0
