"""DistilBERT's sizes, its start from a teacher, heads and refusals; parity has the rest."""

from dataclasses import replace

import pytest
import torch
import transformers
from torch.nn import functional

from lmcourse.errors import CourseError
from lmcourse.models.bert import Bert, BertConfig
from lmcourse.models.bert_heads import BertForMaskedLM, BertForPreTraining
from lmcourse.models.bert_tasks import BertForTokenClassification
from lmcourse.models.distilbert import (
    DistilBert,
    DistilBertConfig,
    DistilBertForMaskedLM,
    DistilBertForQuestionAnswering,
    DistilBertForSequenceClassification,
    DistilBertForTokenClassification,
    evenly,
)
from lmcourse.models.roberta import RobertaConfig, RobertaForMaskedLM
from tests.models.small import BERT, ids, parameters
from tests.parity.comparing import shaken

SMALL = DistilBertConfig(23, 12, 2, 3, 20, max_position_embeddings=9, num_labels=3)
DEEP = replace(BERT, num_hidden_layers=5)
HEADS = (
    DistilBertForMaskedLM,
    DistilBertForSequenceClassification,
    DistilBertForQuestionAnswering,
    DistilBertForTokenClassification,
)


def same(one, other):
    """Whether two modules hold the same numbers."""
    ours, theirs = one.state_dict(), other.state_dict()
    return ours.keys() == theirs.keys() and all(torch.equal(ours[n], theirs[n]) for n in ours)


def test_paper_scale_counts_are_the_references():
    """The paper's 66 M, which is 40 % less than BERT base (section 1)."""
    config, theirs = DistilBertConfig.base(), transformers.DistilBertConfig()
    with torch.device("meta"):
        model = DistilBert(config)
        assert parameters(model) == 66_362_880 == parameters(transformers.DistilBertModel(theirs))
        assert parameters(DistilBertForMaskedLM(config)) == 66_985_530
        assert parameters(transformers.DistilBertForMaskedLM(theirs)) == 66_985_530
        teacher = Bert(BertConfig.base())
        assert parameters(DistilBert.from_teacher(teacher)) == 66_362_880
        assert round(1 - parameters(model) / parameters(teacher), 1) == 0.4
    assert config == DistilBertConfig()


def test_only_the_presets_that_are_named_after_a_bert_have_half_its_layers():
    assert DistilBertConfig.large().num_hidden_layers == 12
    assert DistilBertConfig.large(num_hidden_layers=6).hidden_size == 1024
    assert DistilBertConfig.sized(6, 768).num_hidden_layers == 6


@pytest.mark.parametrize(
    ("student", "teacher", "layers"),
    [
        (6, 12, [0, 2, 4, 7, 9, 11]),  # as in the published code
        (1, 2, [0]),
        (2, 4, [0, 3]),
        (3, 6, [0, 3, 5]),
        (4, 12, [0, 4, 7, 11]),
        (3, 3, [0, 1, 2]),
    ],
)
def test_layers_are_chosen_evenly_from_the_first_to_the_last(student, teacher, layers):
    assert evenly(student, teacher) == layers


@pytest.mark.parametrize("kind", [Bert, BertForPreTraining, BertForTokenClassification])
def test_a_student_starts_from_a_copy_of_the_teachers_layers(kind):
    teacher = shaken(kind(replace(DEEP, classifier_dropout=0.3, hidden_act="relu")).double())
    body = teacher if kind is Bert else teacher.bert
    before = {name: tensor.clone() for name, tensor in teacher.state_dict().items()}
    student = DistilBert.from_teacher(teacher, hidden_dropout_prob=0.0)
    assert student.training and student.embeddings.word.weight.dtype == torch.float64
    assert [same(one, body.encoder.layers[0]) for one in student.encoder.layers] == [True, False]
    assert same(student.encoder.layers[1], body.encoder.layers[4])
    for name in ("word", "position", "norm"):
        assert same(getattr(student.embeddings, name), getattr(body.embeddings, name))
    assert student.embeddings.segment is None and student.pooler is None
    kept = {"hidden_act": "relu", "num_labels": 3, "max_position_embeddings": 9}
    assert student.config == replace(SMALL, num_hidden_layers=2, hidden_dropout_prob=0.0, **kept)
    for parameter in student.parameters():
        parameter.data.add_(1)
    assert all(torch.equal(before[name], t) for name, t in teacher.state_dict().items())


def test_the_layers_may_be_named_or_counted():
    teacher = shaken(Bert(DEEP))
    named = DistilBert.from_teacher(teacher, layers=[3, 1, 1])
    for one, number in zip(named.encoder.layers, (3, 1, 1), strict=True):
        assert same(one, teacher.encoder.layers[number])
    counted = DistilBert.from_teacher(teacher, num_hidden_layers=3)
    for one, number in zip(counted.encoder.layers, (0, 2, 4), strict=True):
        assert same(one, teacher.encoder.layers[number])
    assert named.config.num_hidden_layers == counted.config.num_hidden_layers == 3


def test_with_all_layers_and_no_segment_it_computes_what_its_teacher_does():
    teacher = shaken(BertForMaskedLM(DEEP).double())
    teacher.bert.embeddings.segment.weight.data.zero_()
    student = DistilBertForMaskedLM.from_teacher(teacher, layers=range(5)).eval()
    given = ids(2, 6)
    torch.testing.assert_close(student(given).logits, teacher(given).logits)


@pytest.mark.parametrize("kind", [BertForMaskedLM, BertForPreTraining])
def test_the_masked_words_head_is_copied(kind):
    teacher = shaken(kind(DEEP))
    student = DistilBertForMaskedLM.from_teacher(teacher)
    assert same(student.predictions, teacher.predictions) and student.training
    student.predictions.bias.data.add_(1)
    assert not same(student.predictions, teacher.predictions)


def test_a_teacher_that_is_none_is_named():
    roberta = RobertaForMaskedLM(RobertaConfig(23, 12, 2, 3, 20, max_position_embeddings=9))
    for other in (roberta, roberta.bert, DistilBert(SMALL)):
        with pytest.raises(CourseError, match=f"needs Bert, but got {type(other).__name__}"):
            DistilBert.from_teacher(other)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"layers": [0, 5]}, r"of 2 layers .* from layers \[0, 5\] of 5.*from 0 to 4"),
        ({"layers": [-1]}, r"from layers \[-1\] of 5"),
        ({"layers": [0, 1], "num_hidden_layers": 3}, "of 3 layers cannot start from layers"),
        ({"num_hidden_layers": 6}, "of 6 layers cannot start from a teacher of 5"),
        ({"hidden_size": 6}, r"word\.weight has the shape \(23, 12\) there and \(23, 6\) here"),
    ],
    ids=str,
)
def test_a_start_that_makes_no_sense_is_named(given, words):
    with pytest.raises(CourseError, match=words):
        DistilBert.from_teacher(Bert(DEEP), **given)


def test_segments_are_refused_with_the_remedy():
    given, words = ids(2, 5), r"no segments, but got token_type_ids.*Leave them out"
    for kind in (DistilBert, *HEADS):
        with pytest.raises(CourseError, match=words):
            kind(SMALL)(given, token_type_ids=torch.zeros_like(given))


@pytest.mark.parametrize("kind", HEADS, ids=lambda kind: kind.__name__)
def test_every_head_converts_whatever_the_number_of_labels(kind):
    """And each dropout that the counterpart has of its head is ours."""
    for number in (1, 2, 3):
        model = kind(replace(SMALL, num_labels=number, qa_dropout=0.3, seq_classif_dropout=0.4))
        theirs = model.to_transformers()
        again = kind.from_transformers(theirs)
        assert same(again, model)
        assert {p.p for p in theirs.children() if isinstance(p, torch.nn.Dropout)} == {
            part.dropout.p
            for name, part in again.named_children()
            if name in ("classifier", "qa_outputs")
        }
        if kind is not DistilBertForQuestionAnswering:
            assert again.config == model.config


def test_what_the_counterpart_has_one_value_of_is_named():
    for settings in ({"layer_norm_eps": 1e-5}, {"classifier_dropout": 0.3}):
        with pytest.raises(CourseError, match=f"has {next(iter(settings))}="):
            DistilBertForTokenClassification(replace(SMALL, **settings)).to_transformers()


def test_sinusoids_are_how_the_librarys_places_start_and_they_learn():
    config = transformers.DistilBertConfig(
        vocab_size=23, dim=12, n_layers=1, n_heads=3, hidden_dim=20, sinusoidal_pos_embds=True
    )
    theirs = transformers.DistilBertModel(config)
    places = theirs.embeddings.position_embeddings.weight
    assert places.requires_grad and torch.equal(places[0, :4], torch.tensor([0.0, 1, 0, 1]))
    ours = DistilBert.from_transformers(theirs)
    assert torch.equal(ours.embeddings.position.weight, places)
    assert ours.embeddings.position.weight.requires_grad


@pytest.mark.parametrize("kind", HEADS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("source", [DistilBert, DistilBertForMaskedLM])
def test_a_head_stands_on_a_copy_of_what_is_pretrained(kind, source, tmp_path):
    pretrained, given = shaken(source(SMALL).double()), ids(2, 5)
    body = pretrained if source is DistilBert else pretrained.bert
    model = kind.on_top_of(pretrained, num_labels=4)
    own, known = model.bert(given).last_hidden_state, body(given).last_hidden_state
    assert torch.equal(own, known)
    model.save(tmp_path / "model.safetensors")
    again = kind.load(tmp_path / "model.safetensors")
    assert type(again.config) is DistilBertConfig and again.config == model.config
    assert same(again, model)
    with pytest.raises(CourseError, match=r"needs DistilBert, but got Bert"):
        kind.on_top_of(Bert(BERT))


def test_a_sequence_is_classified_by_its_first_token():
    given = ids(2, 5)
    model = shaken(DistilBertForSequenceClassification(SMALL))
    head, first = model.classifier, model.bert(given).last_hidden_state[:, 0]
    expected = head.dense(functional.relu(head.first(first)))
    torch.testing.assert_close(model(given).logits, expected)
