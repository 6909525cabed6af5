"""SpanBERT's sizes, its boundaries worked by hand, and its refusals; the rest is in the table."""

import math
from dataclasses import replace

import pytest
import torch
import transformers

from lmcourse.errors import CourseError
from lmcourse.models.bert import BertConfig
from lmcourse.models.bert_heads import BertForMaskedLM
from lmcourse.models.bert_tasks import BertForQuestionAnswering
from lmcourse.models.gpt import GPT
from lmcourse.models.inputs import IGNORED
from lmcourse.models.kbert import KBert, KBertForTokenClassification
from lmcourse.models.spanbert import (
    SpanBert,
    SpanBertConfig,
    SpanBertForPreTraining,
    SpanBertForQuestionAnswering,
    SpanBertForSequenceClassification,
    SpanBertForTokenClassification,
    boundaries,
)
from tests.models.small import BERT, parameters
from tests.models.small import GPT as GPT_SMALL
from tests.parity.comparing import shaken

SMALL = SpanBertConfig(
    23, 12, 2, 3, 20, max_position_embeddings=9, num_labels=3, max_span_length=4,
    span_position_size=5,
)  # fmt: skip
HEADS = (
    SpanBertForSequenceClassification,
    SpanBertForQuestionAnswering,
    SpanBertForTokenClassification,
)
LIBRARYS = transformers.BertConfig(
    vocab_size=23, hidden_size=12, num_hidden_layers=2, num_attention_heads=3,
    intermediate_size=20, max_position_embeddings=9,
)  # fmt: skip
TEXT = torch.tensor([[2, 11, 12, 13, 14, 15, 16, 3]])


def labeled(*spans, time=8):
    labels = torch.full((1, time), IGNORED)
    for start, end in spans:
        labels[0, start : end + 1] = torch.arange(5, 6 + end - start)
    return labels


@pytest.mark.parametrize(("size", "count"), [("base", 108_310_272), ("large", 333_579_264)])
def test_the_body_is_berts_of_the_cased_vocabulary(size, count):
    config = getattr(SpanBertConfig, size)()
    names = ("vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads")
    settings = {name: getattr(config, name) for name in (*names, "intermediate_size")}
    with torch.device("meta"):
        theirs = transformers.BertModel(transformers.BertConfig(**settings))
        assert parameters(SpanBert(config)) == count == parameters(theirs)


@pytest.mark.parametrize("size", ["base", "large"])
def test_the_second_task_adds_what_its_equations_say(size):
    """A layer from two states and a place, one more, their LayerNorms, and a bias a token."""
    config = getattr(SpanBertConfig, size)()
    width, place, vocab = config.hidden_size, 200, 28996
    first = (2 * width + place) * width + width + 2 * width
    second = width * width + width + 2 * width
    added = 20 * place + first + second + vocab
    with torch.device("meta"):
        mine = parameters(SpanBertForPreTraining(config))
        masked_lm = parameters(BertForMaskedLM(getattr(BertConfig, size)(vocab_size=vocab)))
    assert mine - masked_lm == added
    assert added == {"base": 1_960_676, "large": 3_389_668}[size]


def test_the_boundaries_are_the_nearest_places_outside_a_span():
    masked = torch.tensor([[0, 1, 1, 0, 0, 1, 0], [1, 1, 0, 1, 0, 0, 1]]).bool()
    left, right = boundaries(masked)
    # By hand: of a masked place, s - 1 and e + 1; of any other, itself.
    assert left.tolist() == [[0, 0, 0, 3, 4, 4, 6], [-1, -1, 2, 2, 4, 5, 5]]
    assert right.tolist() == [[0, 3, 3, 3, 4, 6, 6], [2, 2, 2, 4, 4, 5, 7]]


def seen(model, place):
    """The states that the boundaries' score of a masked place depends on, and the steps."""
    hidden = torch.randn(1, 8, 12, requires_grad=True)
    head, words = model.span_boundary, model.bert.embeddings.word.weight
    logits, _ = head(hidden, words, labeled((2, 4), (6, 6)))
    states, steps = torch.autograd.grad(logits[place].cos().sum(), (hidden, head.position.weight))
    return states[0].any(-1).nonzero().flatten().tolist(), steps.any(
        -1
    ).nonzero().flatten().tolist()


def test_a_masked_token_is_told_from_its_boundaries_and_its_step_alone():
    model = shaken(SpanBertForPreTraining(SMALL))
    assert seen(model, 0) == ([1, 5], [0])
    assert seen(model, 1) == ([1, 5], [1])
    assert seen(model, 2) == ([1, 5], [2])
    assert seen(model, 3) == ([5, 7], [0])


def test_the_loss_is_the_sum_of_both_costs_of_each_masked_token_in_the_mean():
    model = shaken(SpanBertForPreTraining(SMALL))
    labels = labeled((1, 3), (6, 6))
    result = model(TEXT, labels=labels)
    masked = labels != IGNORED
    tokens = labels[masked][:, None]
    assert result.boundary_logits.shape == (4, 23)
    own = -result.logits[masked].log_softmax(-1).gather(1, tokens)
    told = -result.boundary_logits.log_softmax(-1).gather(1, tokens)
    torch.testing.assert_close(result.loss, (own + told).mean())
    torch.testing.assert_close(result.masked_lm_loss, own.mean())
    torch.testing.assert_close(result.boundary_loss, told.mean())


def test_what_stands_beyond_the_steps_is_left_to_the_masked_tokens_task():
    model = shaken(SpanBertForPreTraining(replace(SMALL, max_span_length=2)))
    result = model(TEXT, labels=labeled((1, 4)))
    assert result.boundary_logits.shape == (2, 23)
    expected = -result.boundary_logits.log_softmax(-1)[[0, 1], [5, 6]].mean()
    torch.testing.assert_close(result.boundary_loss, expected)


def test_without_labels_there_is_no_loss_and_without_any_span_it_is_zero():
    model = SpanBertForPreTraining(SMALL)
    result = model(TEXT)
    assert result.loss is None and result.boundary_logits is None
    result = model(TEXT, labels=torch.full_like(TEXT, IGNORED))
    result.loss.backward()
    assert result.loss == 0 and result.boundary_logits.shape == (0, 23)


@pytest.mark.parametrize(
    ("labels", "mask", "span"),
    [
        (labeled((0, 2)), None, "0 to 2"),
        (labeled((1, 2), (4, 5)), [1] * 6 + [0] * 2, "4 to 5"),
        (labeled((2, 3)), [0] * 2 + [1] * 6, "2 to 3"),
        (labeled((0, 7)), None, "0 to 7"),
    ],
    ids=str,
)
def test_a_span_without_a_token_on_both_sides_is_named(labels, mask, span):
    model = SpanBertForPreTraining(SMALL)
    mask = torch.tensor([mask]) if mask else None
    for each in (mask, None if mask is None else mask[:, None].expand(1, 8, 8)):
        with pytest.raises(CourseError, match=f"sequence 0 have a span at positions {span}, .*SEP"):
            model(TEXT, labels=labels, attention_mask=each)


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("labels", "words"),
    [
        (labeled((1, 2), time=7), r"labels has shape \(1, 7\)"),
        (labeled((1, 2)).float(), "the type torch.float32"),
    ],
    ids=["shape", "type"],
)
def test_bad_labels_are_named(labels, words):
    with pytest.raises(CourseError, match=words):
        SpanBertForPreTraining(SMALL)(TEXT, labels=labels)


@pytest.mark.parametrize("kind", HEADS, ids=lambda kind: kind.__name__)
def test_its_heads_stand_on_what_was_pretrained(kind, tmp_path):
    pretrained = shaken(SpanBertForPreTraining(SMALL))
    model = kind.on_top_of(pretrained, num_labels=2)
    for name, tensor in pretrained.bert.state_dict().items():
        assert torch.equal(model.bert.state_dict()[name], tensor)
    model.save(tmp_path / "model.safetensors")
    again = kind.load(tmp_path / "model.safetensors")
    assert again.config == model.config
    one, other = (each.eval()(TEXT).to_tuple() for each in (model, again))
    assert all(map(torch.equal, one, other))
    with pytest.raises(CourseError, match="needs SpanBert, but got GPT"):
        kind.on_top_of(GPT(GPT_SMALL))


def test_berts_heads_and_spanberts_stand_on_each_others_weights():
    bert, span = shaken(BertForMaskedLM(BERT)), shaken(SpanBertForPreTraining(SMALL))
    model = SpanBertForPreTraining.on_top_of(bert, max_span_length=3)
    assert model.config.max_span_length == 3 and model.config.span_position_size == 200
    assert torch.equal(model(TEXT).logits, bert(TEXT).logits)
    masked = BertForMaskedLM.on_top_of(span)
    assert type(masked.config) is BertConfig
    assert torch.equal(masked(TEXT).logits, span(TEXT).logits)
    for kind, pretrained in (
        (SpanBertForQuestionAnswering, bert.bert),
        (BertForQuestionAnswering, SpanBertForQuestionAnswering(SMALL).eval()),
        (KBertForTokenClassification, span),
        (SpanBertForTokenClassification, KBert(BERT).eval()),
    ):
        body = getattr(pretrained, "bert", pretrained)
        model = kind.on_top_of(pretrained, num_labels=4)
        assert type(model.bert) is kind.Base and type(model.config) is kind.Config
        assert torch.equal(model.bert(TEXT).last_hidden_state, body(TEXT).last_hidden_state)


class Halved(SpanBert):
    """It could compute something else with the same weights."""


def test_what_is_made_of_it_does_not_inherit_that_its_weights_are_berts():
    with pytest.raises(CourseError, match="needs Bert, but got Halved"):
        BertForMaskedLM.on_top_of(Halved(SMALL))


def test_pre_training_goes_on_with_both_its_heads():
    pretrained = shaken(SpanBertForPreTraining(SMALL))
    model = SpanBertForPreTraining.on_top_of(pretrained)
    one, other = (each(TEXT, labels=labeled((2, 4))) for each in (pretrained, model))
    assert torch.equal(one.boundary_logits, other.boundary_logits)
    assert torch.equal(one.logits, other.logits)


def test_the_library_has_the_body_and_not_the_second_task():
    model = shaken(SpanBert(SMALL))
    again = SpanBert.from_transformers(model.to_transformers())
    assert torch.equal(again(TEXT).last_hidden_state, model(TEXT).last_hidden_state)
    assert SpanBert.from_transformers(transformers.BertModel(LIBRARYS)).config == replace(
        SMALL, num_labels=2, max_span_length=20, span_position_size=200
    )
    with pytest.raises(CourseError, match="no counterpart of SpanBertForPreTraining"):
        SpanBertForPreTraining(SMALL).to_transformers()


@pytest.mark.parametrize("kind", [SpanBert, *HEADS], ids=lambda kind: kind.__name__)
def test_the_second_tasks_settings_come_back_from_the_library_and_its_files(kind, tmp_path):
    model = kind(replace(SMALL, num_labels=2))
    reference = model.to_transformers()
    reference.save_pretrained(tmp_path)
    for each in (reference, type(reference).from_pretrained(tmp_path)):
        again = kind.from_transformers(each)
        assert again.config == model.config
        assert again.config.max_span_length == 4 and again.config.span_position_size == 5


@pytest.mark.parametrize(
    ("good", "bad", "mask"),
    [
        ((3, 3), (0, 1), None),
        ((3, 3), (6, 7), None),
        ((2, 2), (4, 5), [1] * 6 + [0] * 2),
        ((4, 4), (2, 2), [0] * 2 + [1] * 6),
    ],
    ids=["first", "last", "before padding", "behind padding"],
)
def test_compiled_a_span_without_a_token_on_both_sides_is_left_out(good, bad, mask, monkeypatch):
    model = shaken(SpanBertForPreTraining(SMALL))
    mask = None if mask is None else torch.tensor([mask])
    expected = model(TEXT, labels=labeled(good), attention_mask=mask)
    monkeypatch.setattr(torch.compiler, "is_compiling", lambda: True)
    result = model(TEXT, labels=labeled(*sorted((good, bad))), attention_mask=mask)
    torch.testing.assert_close(result.boundary_logits, expected.boundary_logits)
    torch.testing.assert_close(result.boundary_loss, expected.boundary_loss)
    assert not result.masked_lm_loss.isclose(expected.masked_lm_loss)


def test_the_first_loss_is_twice_log_v():
    model = SpanBertForPreTraining(replace(SMALL, vocab_size=500)).eval()
    labels = labeled((1, 3), (5, 6))
    result = model(TEXT, labels=labels)
    assert result.masked_lm_loss.item() == pytest.approx(math.log(500), rel=0.05)
    assert result.boundary_loss.item() == pytest.approx(math.log(500), rel=0.05)


def test_the_second_tasks_weights_start_as_all_others():
    head = SpanBertForPreTraining(replace(SMALL, hidden_size=60, span_position_size=50))
    for weight in (head.span_boundary.dense.weight, head.span_boundary.position.weight):
        # Cut off at two standard deviations, a normal distribution keeps 0.88 of its spread.
        assert weight.abs().max() <= 0.04 + 1e-6
        assert weight.std().item() == pytest.approx(0.88 * 0.02, rel=0.1)
    assert not head.span_boundary.dense.bias.any()
