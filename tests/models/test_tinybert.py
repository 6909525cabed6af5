"""TinyBERT's sizes, maps, scores, stages and refusals; the parity table has its losses."""

import math
from copy import deepcopy
from dataclasses import replace

import pytest
import torch
import transformers
from torch import nn
from torch.nn import functional

from lmcourse.compression.head_pruning import prune_heads
from lmcourse.errors import CourseError
from lmcourse.models.bert import Bert
from lmcourse.models.bert_heads import BertForMaskedLM, BertForPreTraining
from lmcourse.models.bert_tasks import BertForSequenceClassification
from lmcourse.models.distilbert import DistilBert
from lmcourse.models.layer_map import layer_map
from lmcourse.models.roberta import Roberta, RobertaConfig
from lmcourse.models.tinybert import (
    TinyBertDistiller,
    attention_scores,
    tinybert_4,
    tinybert_6,
)
from tests.models.small import BERT as SMALL
from tests.models.small import parameters
from tests.parity.comparing import shaken

TEACHER = replace(SMALL, hidden_size=18, num_hidden_layers=4)


def pair(kind=BertForSequenceClassification, teacher=TEACHER, **options):
    return TinyBertDistiller(shaken(kind(SMALL)), shaken(kind(teacher)), **options)


def batch(padded=True):
    mask = torch.ones(2, 6, dtype=torch.long)
    if padded:
        mask[1, 4:] = 0
    return {
        "input_ids": torch.randint(1, 23, (2, 6)),
        "attention_mask": mask,
        "token_type_ids": torch.tensor([[0, 0, 0, 1, 1, 1]]).expand(2, 6),
    }


@pytest.mark.parametrize(
    ("make", "count", "with_heads"),
    [(tinybert_4, 14_350_248, 14_479_676), (tinybert_6, 66_955_008, 67_579_196)],
)
def test_paper_scale_counts_are_the_references(make, count, with_heads):
    """The paper's 14.5 M are there with the heads of pre-training, its 67.0 M without."""
    config = make()
    names = ("hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size")
    theirs = transformers.BertConfig(**{name: getattr(config, name) for name in names})
    with torch.device("meta"):
        assert parameters(Bert(config)) == count == parameters(transformers.BertModel(theirs))
        assert parameters(BertForPreTraining(config)) == with_heads
        assert parameters(transformers.BertForPreTraining(theirs)) == with_heads


def test_a_published_tinybert_comes_in_as_the_bert_that_it_is():
    sizes = {"num_hidden_layers": 1, "vocab_size": 23, "max_position_embeddings": 9}
    config = tinybert_4(**sizes)
    theirs = transformers.BertConfig(
        hidden_size=312, num_attention_heads=12, intermediate_size=1200, **sizes
    )
    assert BertForPreTraining.from_transformers(
        transformers.BertForPreTraining(theirs)
    ).config == replace(config, pad_token_id=0)


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ((4, 12, "uniform"), (0, 3, 6, 9, 12, 13)),
        ((6, 12, "uniform"), (0, 2, 4, 6, 8, 10, 12, 13)),
        ((4, 12, "top"), (0, 9, 10, 11, 12, 13)),
        ((4, 12, "bottom"), (0, 1, 2, 3, 4, 13)),
        ((5, 12, "top"), (0, 8, 9, 10, 11, 12, 13)),
        ((3, 3, "uniform"), (0, 1, 2, 3, 4)),
        ((1, 5, "uniform"), (0, 5, 6)),
    ],
)
def test_the_maps(sizes, expected):
    assert layer_map(*sizes) == expected


@pytest.mark.parametrize(
    ("sizes", "words"),
    [
        ((5, 12), "12 is no multiple of 5"),
        ((4, 3, "top"), "student of 4 layers cannot copy a teacher of 3"),
    ],
)
def test_a_map_that_there_is_not_is_refused(sizes, words):
    with pytest.raises(CourseError, match=words):
        layer_map(*sizes)


@pytest.mark.bad_input
def test_an_unknown_strategy_is_refused():
    with pytest.raises(CourseError, match="no strategy 'middle'"):
        layer_map(4, 12, "middle")


@pytest.mark.parametrize("kind", [Bert, BertForMaskedLM])
def test_the_softmax_of_the_scores_is_what_the_model_attends_with(kind):
    model, given = shaken(kind(SMALL).double()), batch()
    result = model(**given, output_attentions=True, output_hidden_states=True)
    hidden = (given["attention_mask"] == 0)[:, None, None, :]
    for layer in (1, 2):
        scores = attention_scores(model, result.hidden_states, layer)
        weights = scores.masked_fill(hidden, -math.inf).softmax(-1)
        torch.testing.assert_close(weights, result.attentions[layer - 1])


def published(distiller, given, classes=3):
    """The losses as in `general_distill.py` and `task_distill.py`, up to their linear layer."""
    own, taught = (
        model(**given, output_hidden_states=True, output_attentions=True)
        for model in (distiller.student, distiller.teacher.model)
    )
    padded = (given["attention_mask"] == 0)[:, None, None, :]
    mse = nn.MSELoss()
    states = [distiller.embedding_projection(own.hidden_states[0])]
    states += [distiller.hidden_projection(state) for state in own.hidden_states[1:]]
    hidden = [mse(a, taught.hidden_states[2 * i]) for i, a in enumerate(states)]
    attention = []
    for i in range(2):
        a = attention_scores(distiller.student, own.hidden_states, i + 1).masked_fill(padded, 0)
        b = attention_scores(distiller.teacher.model, taught.hidden_states, 2 * i + 2)
        attention.append(mse(a, b.masked_fill(padded, 0)))
    log_s, t = own.logits.log_softmax(-1), taught.logits.softmax(-1)
    return hidden, attention, classes * (-t * log_s).mean()


def test_without_padding_the_losses_are_those_of_the_published_code():
    distiller, given = pair(), batch(padded=False)
    result, (hidden, attention, prediction) = distiller(**given), published(distiller, given)
    torch.testing.assert_close(result.embedding_loss, hidden[0])
    torch.testing.assert_close(result.hidden_losses, torch.stack(hidden[1:]))
    torch.testing.assert_close(result.attention_losses, torch.stack(attention))
    torch.testing.assert_close(result.prediction_loss, prediction)
    torch.testing.assert_close(result.loss, sum(hidden) + sum(attention) + prediction)


def test_padding_changes_the_published_losses_and_not_ours():
    distiller, given = pair(), batch()
    wider = {
        name: torch.cat([tensor, torch.zeros(2, 3, dtype=torch.long)], 1)
        for name, tensor in given.items()
    }
    torch.testing.assert_close(distiller(**given).loss, distiller(**wider).loss)
    one, other = (published(distiller, each) for each in (given, wider))
    for before, after in zip(one[0] + one[1], other[0] + other[1], strict=True):
        assert abs(before - after) > 1e-4 * before
    alone = {name: tensor[:1] for name, tensor in given.items()}
    unmasked = {name: alone[name] for name in ("input_ids", "token_type_ids")}
    torch.testing.assert_close(distiller(**alone).loss, distiller(**unmasked).loss)


def test_a_student_that_is_its_teacher_has_no_loss_in_its_layers():
    teacher = shaken(Bert(SMALL))
    distiller = TinyBertDistiller(deepcopy(teacher), teacher)
    for projection in (distiller.embedding_projection, distiller.hidden_projection):
        nn.init.eye_(projection.weight)
    result = distiller(**batch(), stage="general")
    assert result.loss < 1e-10
    assert len(result.hidden_losses) == len(result.attention_losses) == 2


def test_each_stage_learns_what_it_should():
    distiller, given = pair(), batch()
    everything, layers, prediction = (
        distiller(**given, stage=stage) for stage in ("all", "intermediate", "prediction")
    )
    assert torch.equal(distiller(**given, stage="general").loss, layers.loss)
    assert "prediction_loss" not in layers and "embedding_loss" not in prediction
    assert prediction.keys() == ["loss", "prediction_loss", "logits", "hidden_states", "terms"]
    torch.testing.assert_close(everything.loss, layers.loss + prediction.loss)
    assert "logits" not in layers
    prediction.loss.backward()
    assert distiller.hidden_projection.weight.grad is None
    assert distiller.student.classifier.dense.weight.grad.any()
    distiller.zero_grad()
    layers.loss.backward()
    assert distiller.hidden_projection.weight.grad.any()
    assert distiller.student.classifier.dense.weight.grad is None


def test_each_layer_counts_as_its_weight_says():
    distiller, given = pair(weights=[0.5, 1.0, 2.0, 3.0], layers=(0, 3, 1, 5)), batch()
    result = distiller(**given)
    inner = result.hidden_losses + result.attention_losses
    expected = 0.5 * result.embedding_loss + inner[0] + 2 * inner[1] + 3 * result.prediction_loss
    torch.testing.assert_close(result.loss, expected)


def test_the_general_stage_needs_no_head():
    distiller = pair(Bert)
    assert distiller(**batch(), stage="general").logits is None
    with pytest.raises(KeyError, match="'logits' is not in this result"):
        distiller(**batch(), stage="prediction")


@pytest.mark.parametrize("stage", ["general", "intermediate"])
def test_no_word_is_scored_where_none_is_learned(stage):
    distiller, calls = pair(BertForMaskedLM), []
    for model in (distiller.student, distiller.teacher.model):
        model.predictions.register_forward_hook(lambda *seen: calls.append(seen))
    given = batch()
    layers = distiller(**given, stage=stage)
    assert not calls
    everything = distiller(**given)
    assert len(calls) == 2
    torch.testing.assert_close(everything.loss, layers.loss + everything.prediction_loss)


def test_words_are_predicted_at_real_places():
    distiller, given = pair(BertForMaskedLM), batch()
    result = distiller(**given, stage="prediction")
    told = distiller.teacher.model(**given).logits
    mask = given["attention_mask"] == 1
    expected = functional.cross_entropy(result.logits[mask], told[mask].softmax(-1))
    torch.testing.assert_close(result.prediction_loss, expected)


def test_the_student_learns_and_the_teacher_does_not(tmp_path):
    distiller, given = pair(), batch()
    teacher = distiller.teacher.model
    before = deepcopy(teacher.state_dict())
    parts = {name.split(".")[0] for name, _ in distiller.named_parameters()}
    assert parts == {"student", "embedding_projection", "hidden_projection"}
    optimizer, losses = torch.optim.AdamW(distiller.parameters(), lr=3e-3), []
    for _ in range(40):
        loss = distiller(**given).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.5 * losses[0]
    assert all(torch.equal(before[name], tensor) for name, tensor in teacher.state_dict().items())
    assert all(p.grad is None for p in teacher.parameters()) and not teacher.training
    distiller.student.save(tmp_path / "student.safetensors")
    again = BertForSequenceClassification.load(tmp_path / "student.safetensors")
    same = again.state_dict()
    assert all(torch.equal(t, same[name]) for name, t in distiller.student.state_dict().items())


def test_segments_go_to_the_teacher_alone_where_the_student_has_none():
    student = Bert(replace(SMALL, type_vocab_size=0))
    distiller, given = TinyBertDistiller(student, shaken(Bert(TEACHER))), batch()
    with_segments = distiller(**given, stage="general").hidden_losses
    del given["token_type_ids"]
    assert not torch.allclose(with_segments, distiller(**given, stage="general").hidden_losses)


def test_other_models_with_berts_layers_may_learn_and_teach():
    teacher = shaken(Roberta(RobertaConfig(23, 12, 4, 3, 20, max_position_embeddings=12)))
    student = DistilBert.from_teacher(shaken(Bert(replace(SMALL, num_hidden_layers=4))))
    result = TinyBertDistiller(student, teacher)(**batch(), stage="general")
    result.loss.backward()
    assert student.encoder.layers[0].attention.query.weight.grad.any()


def test_the_matrices_are_of_the_students_type_and_place():
    double = TinyBertDistiller(shaken(Bert(SMALL).double()), shaken(Bert(TEACHER).double()))
    assert {p.dtype for p in double.parameters()} == {torch.float64}
    assert double(**batch(), stage="general").loss.dtype == torch.float64
    with torch.device("meta"):
        student, teacher = Bert(SMALL), Bert(TEACHER)
    assert all(p.is_meta for p in TinyBertDistiller(student, teacher).parameters())


def test_a_teacher_with_its_students_weights_is_refused():
    model = Bert(SMALL)
    with pytest.raises(CourseError, match="Student and teacher share"):
        TinyBertDistiller(model, model)


@pytest.mark.bad_input
def test_a_model_of_another_library_is_named():
    with pytest.raises(CourseError, match=r"teacher is no model of the course.*BertModel"):
        TinyBertDistiller(Bert(SMALL), Bert(TEACHER).to_transformers())


def test_the_matrices_start_as_the_students_weights_do():
    distiller = TinyBertDistiller(Bert(SMALL), Bert(TEACHER))
    for projection in (distiller.embedding_projection, distiller.hidden_projection):
        assert projection.weight.shape == (18, 12) and projection.bias is None
        assert 0.01 < projection.weight.std() < 0.02 and projection.weight.abs().max() < 0.0401


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"layers": (0, 2, 4)}, "map .* does not take a student of 2 layers to a teacher of 4"),
        ({"layers": (0, 2, 5, 5)}, r"map \(0, 2, 5, 5\) does not take"),
    ],
)
def test_a_map_weights_and_a_temperature_that_do_not_fit_are_named(options, words):
    with pytest.raises(CourseError, match=words):
        pair(**options)


def test_pruned_heads_are_counted_in_the_layers_that_the_map_pairs():
    student, name = shaken(Bert(SMALL)), "encoder.layers.{}.attention"
    pruned = prune_heads(shaken(Bert(TEACHER)), {name.format(1): [0]}).model
    assert TinyBertDistiller(student, pruned, (0, 1, 4, 5))(**batch(), stage="general").loss > 0
    fewer = prune_heads(student, {name.format(0): [2]}).model
    assert TinyBertDistiller(fewer, pruned)(**batch(), stage="general").loss > 0


@pytest.mark.bad_input
def test_other_numbers_of_heads_are_refused_with_the_remedy():
    """Width 12 of either, with 3 and with 4 heads."""
    distiller = pair(teacher=replace(TEACHER, hidden_size=12, num_attention_heads=4))
    with pytest.raises(CourseError, match=r"attention scores have shape .*3\), .*4\)") as caught:
        distiller(**batch())
    assert "num_attention_heads" in caught.value.remedy
    assert "vocab" not in caught.value.remedy and "classes" not in caught.value.remedy
    assert distiller(**batch(), stage="prediction").loss.isfinite()


@pytest.mark.bad_input
def test_other_classes_are_refused_with_the_remedy():
    kinds = (SMALL, replace(TEACHER, num_labels=4))
    distiller = TinyBertDistiller(*map(BertForSequenceClassification, kinds))
    with pytest.raises(CourseError, match="logits have shape") as caught:
        distiller(**batch())
    assert "number of classes" in caught.value.remedy
    assert "heads" not in caught.value.remedy


def test_a_uniform_map_that_does_not_come_out_even_is_refused():
    with pytest.raises(CourseError, match="'top' or 'bottom'"):
        pair(teacher=replace(TEACHER, num_hidden_layers=3))


def test_a_number_is_no_class():
    distiller = TinyBertDistiller(
        *(BertForSequenceClassification(replace(c, num_labels=1)) for c in (SMALL, TEACHER))
    )
    with pytest.raises(CourseError, match="is 'regression', without exclusive classes"):
        distiller(**batch())
    assert distiller(**batch(), stage="intermediate").loss.isfinite()


@pytest.mark.parametrize("problem", ["regression", "multi_label_classification"])
def test_what_is_no_choice_of_one_class_is_copied_by_its_layers_alone(problem):
    configs = (replace(config, problem_type=problem) for config in (SMALL, TEACHER))
    distiller = TinyBertDistiller(*map(BertForSequenceClassification, configs))
    with pytest.raises(CourseError, match=f"is '{problem}'"):
        distiller(**batch())
    assert distiller(**batch(), stage="intermediate").loss.isfinite()
