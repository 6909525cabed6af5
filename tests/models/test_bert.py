"""BERT's sizes, start, seams and refusals; that it equals the reference is in the parity table."""

import math
from dataclasses import replace

import pytest
import torch
import transformers
from torch.nn import functional

from lmcourse.errors import CourseError
from lmcourse.models.bert import Bert, BertConfig
from lmcourse.models.bert_heads import (
    BertForMaskedLM,
    BertForPreTraining,
    PredictionHead,
)
from lmcourse.models.bert_tasks import (
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
)
from lmcourse.models.inputs import IGNORED
from tests.models.small import BERT as SMALL
from tests.models.small import HEADS, ids, parameters
from tests.parity.comparing import shaken


@pytest.mark.parametrize(
    ("size", "count", "with_heads"),
    [("base", 109_482_240, 110_106_428), ("large", 335_141_888, 336_226_108)],
)
def test_paper_scale_counts_are_the_references(size, count, with_heads):
    """The paper's 110 M is the first, rounded; its 340 M is no count of the published weights."""
    config = getattr(BertConfig, size)()
    names = ("hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size")
    theirs = transformers.BertConfig(**{name: getattr(config, name) for name in names})
    with torch.device("meta"):
        assert parameters(Bert(config)) == count == parameters(transformers.BertModel(theirs))
        assert parameters(BertForPreTraining(config)) == with_heads
        assert parameters(transformers.BertForPreTraining(theirs)) == with_heads


@pytest.mark.parametrize(("size", "millions"), [("tiny", 4.4), ("mini", 11.2)])
def test_the_small_published_sizes(size, millions):
    with torch.device("meta"):
        assert round(parameters(Bert(getattr(BertConfig, size)())) / 1e6, 1) == millions


def test_the_start_is_a_truncated_normal():
    model = Bert(replace(SMALL, vocab_size=4000, hidden_size=60, num_attention_heads=4))
    words = model.embeddings.word.weight
    assert words.abs().max() <= 0.04 + 1e-6
    # Cut off at two standard deviations, a normal distribution keeps 0.88 of its spread.
    assert words[1:].std().item() == pytest.approx(0.88 * 0.02, rel=0.01)
    assert not words[0].any()
    assert not model.encoder.layers[0].attention.query.bias.any()


def test_the_paddings_embedding_learns_as_an_output_only():
    model = BertForMaskedLM(SMALL)
    words = model.bert.embeddings.word.weight
    model.bert(torch.zeros(1, 4, dtype=torch.long)).last_hidden_state.square().sum().backward()
    assert not words.grad.any()
    model(ids(1, 4), labels=torch.tensor([[5, IGNORED, IGNORED, 7]])).loss.backward()
    assert words.grad[0].any()


def test_the_output_is_the_embeddings_and_kept_once():
    model = BertForMaskedLM(SMALL)
    assert [name for name in model.state_dict() if "word" in name] == [
        "bert.embeddings.word.weight"
    ]
    given = torch.randint(1, 20, (2, 5))
    before = model.eval()(given).logits
    with torch.no_grad():
        model.bert.embeddings.word.weight[20] += torch.randn(12)  # a token that is not read
    after = model(given).logits
    assert torch.equal(after[..., :20], before[..., :20])
    assert not torch.isclose(after[..., 20], before[..., 20]).any()


@pytest.mark.parametrize("kind", HEADS, ids=lambda kind: kind.__name__)
def test_a_head_has_a_pooler_only_if_it_reads_it(kind):
    reads = kind not in (BertForMaskedLM, BertForQuestionAnswering, BertForTokenClassification)
    for wish in (True, False):
        model = kind(replace(SMALL, add_pooling_layer=wish))
        assert (model.bert.pooler is not None) == reads


def test_a_mask_a_query_is_what_each_place_sees():
    """As K-BERT needs it: place t sees what row t of its mask says, found out by gradients."""
    model = shaken(Bert(SMALL).double())
    seen = (torch.rand(2, 6, 6) < 0.4) | torch.eye(6, dtype=torch.bool)
    one_layer = shaken(Bert(replace(SMALL, num_hidden_layers=1)).double())
    x = torch.randn(2, 6, 12, dtype=torch.float64, requires_grad=True)
    for place in range(6):
        hidden = one_layer(inputs_embeds=x, attention_mask=seen).last_hidden_state
        (gradient,) = torch.autograd.grad(hidden[:, place].cos().sum(), x)
        assert torch.equal(gradient.abs().sum(-1) > 1e-12, seen[:, place])
    mask = torch.tensor([[1] * 6, [1] * 4 + [0] * 2])
    rows = mask[:, None].expand(2, 6, 6)
    given = ids(2, 6)
    one, other = (model(given, attention_mask=m).last_hidden_state for m in (mask, rows))
    torch.testing.assert_close(one, other)


def test_embedded_words_in_place_of_ids():
    model, given = shaken(Bert(SMALL)), ids(2, 6)
    words = model.embeddings.word(given)
    one, other = model(given), model(inputs_embeds=words, position_ids=torch.arange(6).expand(2, 6))
    torch.testing.assert_close(one.pooler_output, other.pooler_output)


def test_segments_are_zero_where_they_are_not_given_and_may_be_none_at_all():
    model, given = shaken(Bert(SMALL)), ids(2, 6)
    one, other = model(given), model(given, token_type_ids=torch.zeros_like(given))
    torch.testing.assert_close(one.last_hidden_state, other.last_hidden_state)
    without = Bert(replace(SMALL, type_vocab_size=0))
    assert without.embeddings.segment is None
    with pytest.raises(CourseError, match="no segments"):
        without(given, token_type_ids=torch.zeros_like(given))


def test_attentions_are_a_tuple_as_bertviz_reads_them():
    result = Bert(SMALL)(ids(2, 5), output_attentions=True, output_hidden_states=True)
    assert isinstance(result.attentions, tuple) and len(result.attentions) == 2
    assert all(weights.shape == (2, 3, 5, 5) for weights in result.attentions)
    assert len(result.hidden_states) == 3 and result[-1] is result.attentions


def test_the_masked_words_loss_is_the_mean_over_the_labelled_places():
    model = shaken(BertForMaskedLM(SMALL))
    labels = torch.full((2, 6), IGNORED)
    labels[0, 1], labels[1, 4] = 7, 3
    result = model(ids(2, 6), labels=labels)
    p = result.logits.softmax(-1)
    expected = -(p[0, 1, 7].log() + p[1, 4, 3].log()) / 2
    torch.testing.assert_close(result.loss, expected)


def test_without_any_label_every_loss_is_a_zero_that_can_be_differentiated():
    none = torch.full((2, 5), IGNORED)
    for kind in (BertForMaskedLM, BertForTokenClassification):
        model = kind(SMALL)
        loss = model(ids(2, 5), labels=none).loss
        loss.backward()
        assert loss == 0
        assert all(p.grad is None or not p.grad.any() for p in model.parameters())
    behind = torch.tensor([5, 9])
    assert BertForQuestionAnswering(SMALL)(
        ids(2, 5), start_positions=behind, end_positions=behind
    ).loss == 0  # fmt: skip


def test_an_answers_place_before_the_text_is_its_first_and_behind_it_none():
    model, given = BertForQuestionAnswering(SMALL).eval(), ids(2, 5)
    start = model(given).start_logits.log_softmax(-1)
    none = torch.tensor([5, IGNORED])
    loss = model(given, start_positions=torch.tensor([-1, 3]), end_positions=none).loss
    torch.testing.assert_close(loss, -(start[0, 0] + start[1, 3]) / 4)
    loss = model(given, start_positions=torch.tensor([IGNORED, 3]), end_positions=none).loss
    torch.testing.assert_close(loss, -start[1, 3] / 2)


def test_padding_is_not_in_the_softmax_over_positions_except_in_the_librarys_loss():
    """Of its issue 25752: one example of 4 tokens, with 0 to 100 padded positions."""
    model, given = (
        shaken(BertForQuestionAnswering(replace(SMALL, max_position_embeddings=110))),
        ids(1, 4),
    )
    answer = {"start_positions": torch.tensor([1]), "end_positions": torch.tensor([2])}
    reference = model.to_transformers()
    losses = []
    for count in (0, 1, 8, 100):
        padded = torch.nn.functional.pad(given, (0, count))
        mask = torch.nn.functional.pad(torch.ones_like(given), (0, count))
        batch = {"input_ids": padded, "attention_mask": mask, **answer}
        losses.append(model(**batch).loss)
        ours, theirs = model(**batch, transformers_loss=True).loss, reference(**batch).loss
        torch.testing.assert_close(ours, theirs)
        assert (ours > losses[0] + 0.01) == (count > 0)
        beyond = {name: torch.tensor([4]) for name in answer}  # the first padded position
        assert model(**(batch | beyond)).loss == 0
    for loss in losses[1:]:
        torch.testing.assert_close(loss, losses[0])


@pytest.mark.bad_input
@pytest.mark.parametrize("bad", [float(IGNORED), math.nan])
def test_binary_labels_are_from_0_to_1(bad):
    model = BertForSequenceClassification(replace(SMALL, num_labels=3))
    labels = torch.tensor([[0.0, 1.0, 0.5], [1.0, bad, 0.0]])
    with pytest.raises(CourseError, match=r"labels holds \S+; the problem is 'multi_label_class"):
        model(ids(2, 5), labels=labels)
    assert model(ids(2, 5), labels=labels.clamp(0, 1).nan_to_num()).loss.isfinite()
    several = replace(SMALL, num_labels=3, problem_type="multi_label_classification")
    with pytest.raises(CourseError, match="cannot be ignored"):
        BertForSequenceClassification(several)(ids(2, 5), labels=torch.full((2, 3), IGNORED))


@pytest.mark.bad_input
def test_an_ignored_class_is_no_number_of_a_regression():
    model = BertForSequenceClassification(replace(SMALL, num_labels=1))
    with pytest.raises(CourseError, match="labels holds -100; the problem is 'regression'"):
        model(ids(2, 5), labels=torch.tensor([2, IGNORED]))
    assert model(ids(2, 5), labels=torch.tensor([2.0, float(IGNORED)])).loss > 1000


def test_each_task_of_pre_training_may_be_given_alone():
    model = BertForPreTraining(SMALL).eval()
    given, labels, pairs = ids(2, 5), ids(2, 5), torch.tensor([0, 1])
    words = model(given, labels=labels).loss
    follows = model(given, next_sentence_label=pairs).loss
    both = model(given, labels=labels, next_sentence_label=pairs).loss
    torch.testing.assert_close(both, words + follows)
    assert model(given).loss is None


def test_a_sequences_label_may_be_a_class_a_number_or_several_of_either():
    given = ids(2, 5)
    classes = BertForSequenceClassification(SMALL).eval()
    logits = classes(given).logits
    yes = torch.tensor([[1.0, 0.0, 1.0], [0.0, 0.0, 1.0]])
    several = functional.binary_cross_entropy_with_logits(logits, yes)
    torch.testing.assert_close(classes(given, labels=yes).loss, several)
    number = BertForSequenceClassification(replace(SMALL, num_labels=1)).eval()
    aim = torch.tensor([2.0, -1.0])
    expected = (number(given).logits.squeeze(-1) - aim).square().mean()
    torch.testing.assert_close(number(given, labels=aim).loss, expected)
    torch.testing.assert_close(number(given, labels=aim.long()).loss, expected)


CHANGES = [
    (lambda c: c.update(is_decoder=True), "is_decoder"),
    (lambda c: c.update(hidden_act="silu"), "'silu' is not known"),
    # The library ignores it from version 5 on, and computes with absolute positions.
    (lambda c: c.update(position_embedding_type="relative_key"), "has position_embedding_type"),
]


@pytest.mark.parametrize(("change", "words"), CHANGES, ids=[words for _, words in CHANGES])
def test_a_reference_with_what_ours_lacks_is_refused(change, words):
    settings = {"vocab_size": 23, "hidden_size": 12, "num_hidden_layers": 1}
    settings |= {"num_attention_heads": 3, "intermediate_size": 8}
    change(settings)
    with pytest.raises(CourseError, match=words):
        Bert.from_transformers(transformers.BertModel(transformers.BertConfig(**settings)))


def test_two_names_of_one_activation_are_the_same():
    settings = {"vocab_size": 23, "hidden_size": 12, "num_hidden_layers": 1}
    settings |= {"num_attention_heads": 3, "intermediate_size": 8}
    theirs = transformers.BertConfig(**settings, hidden_act="gelu_pytorch_tanh")
    reference = transformers.BertModel(theirs).eval()
    model, given = Bert.from_transformers(reference), ids(2, 5)
    assert model.config.hidden_act == "gelu_new"
    own, other = model(given).last_hidden_state, reference(given).last_hidden_state
    torch.testing.assert_close(own, other)


@pytest.mark.parametrize("kind", HEADS, ids=lambda kind: kind.__name__)
def test_every_head_converts_whatever_the_number_of_labels(kind):
    """Its counterpart with another number of labels has another output, or the same one."""
    for number in (1, 2, 3):
        model = kind(replace(SMALL, num_labels=number))
        state = kind.from_transformers(model.to_transformers()).state_dict()
        assert all(torch.equal(state[name], own) for name, own in model.state_dict().items())


def test_an_answers_start_and_end_are_two_scores():
    reference = BertForQuestionAnswering(SMALL).to_transformers()
    assert reference.config.num_labels == 2
    reference.config.num_labels = 3
    with pytest.raises(CourseError, match=r"num_labels=3.*Give one with num_labels=2"):
        BertForQuestionAnswering.from_transformers(reference)


def test_another_architecture_and_an_untied_output_are_refused():
    reference = BertForMaskedLM(SMALL).to_transformers()
    with pytest.raises(CourseError, match=r"cannot be built from BertForMaskedLM.*Give BertModel"):
        Bert.from_transformers(reference)
    with pytest.raises(CourseError, match=r"BertForSequenceClassification\.on_top_of"):
        BertForSequenceClassification.from_transformers(reference)
    reference.cls.predictions.decoder.weight = torch.nn.Parameter(torch.zeros(23, 12))
    with pytest.raises(CourseError, match=r"decoder.weight \(23, 12\) and .*word.*\(23, 12\)"):
        BertForMaskedLM.from_transformers(reference)


def test_a_tensor_too_many_too_few_or_of_another_shape_is_named():
    reference = Bert(SMALL).to_transformers()
    reference.extra = torch.nn.Parameter(torch.zeros(2))
    with pytest.raises(CourseError, match="The tensor extra is not part"):
        Bert.from_transformers(reference)
    del reference.extra
    reference.embeddings.LayerNorm.bias = None
    with pytest.raises(CourseError, match=r"embeddings\.norm\.bias is missing"):
        Bert.from_transformers(reference)
    reference = Bert(SMALL).to_transformers()
    reference.config.max_position_embeddings = 11
    with pytest.raises(CourseError, match=r"position\.weight .*\(9, 12\) there and \(11, 12\)"):
        Bert.from_transformers(reference)


def test_a_prediction_head_s_unknown_activation_is_named():
    with pytest.raises(CourseError, match=r"'foo' is not known.*relu"):
        PredictionHead(4, 5, "foo", 1e-5, 4)


FIVE = torch.ones(2, 5, dtype=torch.long)


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "got neither"),
        ({"input_ids": FIVE, "inputs_embeds": torch.zeros(2, 5, 12)}, "got both"),
        ({"input_ids": FIVE.tolist()}, "input_ids is of the class list"),
        ({"input_ids": FIVE[0]}, r"input_ids has shape \(5,\)"),
        ({"input_ids": FIVE * 23}, "input_ids holds the number 23"),
        ({"input_ids": torch.ones(1, 10, dtype=torch.long)}, "10 tokens a sequence.* 9 positions"),
        ({"input_ids": FIVE.float()}, "the type torch.float32"),
        ({"input_ids": FIVE, "attention_mask": FIVE[:, :4]}, r"attention_mask has shape \(2, 4\)"),
        ({"input_ids": FIVE, "attention_mask": FIVE * 2}, "numbers other than 0 and 1"),
        # What is no token does not come from a tokenizer.
        ({"input_ids": FIVE, "token_type_ids": FIVE * 2}, "0 to 1: count segments.*type_voc"),
        ({"input_ids": FIVE, "position_ids": FIVE * 9}, "0 to 8: count positions.*max_position"),
    ],
)
def test_bad_inputs_are_named(given, words):
    with pytest.raises(CourseError, match=words):
        Bert(SMALL)(**given)


TWO = torch.tensor([0, 1])


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("kind", "given", "words"),
    [
        (BertForMaskedLM, {"labels": FIVE.tolist()}, "labels is of the class list"),
        (BertForMaskedLM, {"labels": FIVE[:, :4]}, r"labels has shape \(2, 4\)"),
        (BertForTokenClassification, {"labels": FIVE * 3}, "0 to 2, .*: count classes"),
        (BertForPreTraining, {"next_sentence_label": TWO * 2}, "next_sentence_label holds the num"),
        (BertForSequenceClassification, {"labels": FIVE}, r"\(2, 5\).*\(2,\)"),
        (BertForSequenceClassification, {"labels": TWO.float()}, r"\(2,\).*\(2, 3\).*multi_label"),
        (BertForQuestionAnswering, {"start_positions": TWO, "end_positions": FIVE}, r"\(2, 5\)"),
    ],
)
def test_bad_labels_are_named(kind, given, words):
    with pytest.raises(CourseError, match=words):
        kind(SMALL)(FIVE, **given)


def test_half_precision_words_may_be_read():
    model, words = shaken(Bert(SMALL)), torch.randn(2, 5, 12).half()
    assert model(inputs_embeds=words).last_hidden_state.dtype == torch.float32


def test_the_first_loss_is_log_v():
    model = BertForMaskedLM(replace(SMALL, vocab_size=500)).eval()
    given = torch.randint(500, (8, 9))
    assert model(given, labels=given).loss.item() == pytest.approx(math.log(500), rel=0.05)


@pytest.mark.bad_input
def test_a_problem_that_there_is_not_is_named():
    with pytest.raises(CourseError, match=r"problem_type is 'Regression'.*regression, single_l"):
        replace(SMALL, problem_type="Regression")
