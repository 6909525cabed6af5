"""Soft targets, their losses, and a teacher that stays as it is; the parity table has the rest."""

from copy import deepcopy
from dataclasses import replace

import pytest
import torch
from safetensors import safe_open
from torch import nn
from torch.nn import functional

from lmcourse.errors import CourseError
from lmcourse.models.bert import Bert
from lmcourse.models.bert_heads import BertForMaskedLM
from lmcourse.models.bert_tasks import (
    BertForSequenceClassification,
    BertForTokenClassification,
)
from lmcourse.models.distilbert import DistilBertForMaskedLM
from lmcourse.models.distillation import (
    FrozenTeacher,
    cosine_loss,
    distillation_loss,
    soft_cross_entropy,
    soft_targets,
)
from lmcourse.models.gpt import GPTForCausalLM
from lmcourse.models.inputs import IGNORED, padding_mask
from lmcourse.models.triple_loss import DistillationConfig, Distiller
from tests.models.small import BERT as SMALL
from tests.models.small import GPT
from tests.parity.comparing import gradients, shaken

LARGER = replace(SMALL, num_hidden_layers=3)


def pair(kind=BertForMaskedLM, config=None, **changes):
    return Distiller(shaken(kind(replace(SMALL, **changes))), shaken(kind(LARGER)), config)


def batch():
    mask = torch.tensor([[1] * 6, [1] * 4 + [0] * 2])
    labels = torch.full((2, 6), IGNORED)
    labels[0, 2], labels[1, 1] = 5, 9
    segments = torch.tensor([[0, 0, 0, 1, 1, 1]]).expand(2, 6)
    return {
        "input_ids": torch.randint(1, 23, (2, 6)),
        "attention_mask": mask,
        "token_type_ids": segments,
        "labels": labels,
    }


def test_a_temperature_makes_targets_soft():
    logits = torch.tensor([2.0, 1.0, -1.0])
    torch.testing.assert_close(soft_targets(logits), logits.softmax(0))
    ratios = [float(p[0] / p[1]) for p in (soft_targets(logits, T) for T in (1.0, 2.0, 1e6))]
    assert ratios == pytest.approx([2.71828, 1.64872, 1.0], rel=1e-4)


@pytest.mark.parametrize("T", [1.0, 2.0, 7.0])
def test_the_loss_is_the_one_that_distilbert_was_trained_with(T):
    """KLDivLoss over what the mask selects, ``batchmean``, times T²."""
    student, teacher = torch.randn(2, 3, 5, 11)
    mask = torch.rand(3, 5) < 0.6
    kl = nn.KLDivLoss(reduction="batchmean")
    s, t = (student[mask] / T).log_softmax(-1), (teacher[mask] / T).softmax(-1)
    torch.testing.assert_close(distillation_loss(student, teacher, T, mask), kl(s, t) * T**2)


def test_the_two_losses_differ_by_the_teachers_entropy_and_have_one_gradient():
    student, teacher = torch.randn(2, 4, 7, dtype=torch.float64)
    one, other = (student.clone().requires_grad_() for _ in range(2))
    T = 3.0
    divergence, entropy = distillation_loss(one, teacher, T), soft_cross_entropy(other, teacher, T)
    own = soft_cross_entropy(teacher, teacher, T)
    torch.testing.assert_close(divergence, T**2 * (entropy - own))
    divergence.backward()
    entropy.backward()
    torch.testing.assert_close(one.grad, T**2 * other.grad)
    s, t = (student / T).softmax(-1), (teacher / T).softmax(-1)
    torch.testing.assert_close(other.grad, (s - t) / T / 4)  # eq. 2, in the mean over 4 places


def test_the_square_of_the_temperature_keeps_the_gradients_size():
    """For a high T and logits of mean 0, it is (z_S − z_T) / (N T²), times T² (eq. 4)."""
    student, teacher = torch.randn(2, 1, 7, dtype=torch.float64)
    student, teacher = student - student.mean(), teacher - teacher.mean()
    limit = (student - teacher) / 7
    for T in (1e3, 1e4):
        z_S = student.clone().requires_grad_()
        distillation_loss(z_S, teacher, T).backward()
        torch.testing.assert_close(z_S.grad, limit, rtol=1e-2, atol=1e-3)


def test_a_student_that_says_what_its_teacher_says_has_no_loss_left():
    logits, states = torch.randn(2, 5, 7, dtype=torch.float64)
    assert abs(distillation_loss(logits, logits + 3, 4.0)) < 1e-12
    assert soft_cross_entropy(logits, logits) > 0.1
    assert abs(cosine_loss(states, 2.5 * states)) < 1e-12
    assert cosine_loss(states, -states) == pytest.approx(2)


def test_a_class_that_the_teacher_excludes_adds_nothing():
    student = torch.tensor([[1.0, 2.0, 0.0]], requires_grad=True)
    excluded = torch.tensor([[1.0, -torch.inf, 0.0]])
    loss = distillation_loss(student, excluded, 2.0)
    (gradient,) = torch.autograd.grad(loss, student)
    assert loss.isfinite() and gradient.isfinite().all()
    t, log_s = torch.softmax(excluded / 2, -1), torch.log_softmax(student / 2, -1)
    assert torch.allclose(loss, 4 * torch.special.xlogy(t, t).sum() - 4 * (t * log_s).sum())


def test_the_cosine_loss_is_pytorchs_with_the_target_1():
    student, teacher = torch.randn(2, 3, 5, 8)
    mask = torch.rand(3, 5) < 0.6
    ones = torch.ones(int(mask.sum()))
    expected = nn.CosineEmbeddingLoss()(student[mask], teacher[mask], ones)
    torch.testing.assert_close(cosine_loss(student, teacher, mask), expected)


def test_where_no_place_counts_every_loss_is_a_zero_that_can_be_differentiated():
    none = torch.zeros(2, 3, dtype=torch.bool)
    for loss in (distillation_loss, soft_cross_entropy, cosine_loss):
        student = torch.randn(2, 3, 5, requires_grad=True)
        found = loss(student, torch.randn(2, 3, 5), counted=none)
        found.backward()
        assert found == 0 and not student.grad.any()


def test_the_teacher_is_no_part_of_what_is_trained_moved_and_saved(tmp_path):
    distiller = pair()
    own = [f"student.{name}" for name, _ in distiller.student.named_parameters()]
    assert [name for name, _ in distiller.named_parameters()] == own
    assert {name.split(".")[0] for name in distiller.state_dict()} == {"student"}
    assert all(part is not distiller.teacher.model for part in distiller.modules())
    path = tmp_path / "student.safetensors"
    distiller.student.save(path)
    with safe_open(path, "pt") as file:
        assert set(file.keys()) == set(distiller.student.state_dict())
    given = batch()
    again = Distiller(BertForMaskedLM.load(path), distiller.teacher.model)
    assert again(**given).loss == distiller.eval()(**given).loss


def test_a_teacher_stays_as_it_is():
    distiller, given = pair(), batch()
    teacher = distiller.teacher.model
    before = deepcopy(teacher.state_dict())
    optimizer = torch.optim.AdamW(distiller.parameters(), lr=1e-2)
    said = []
    for _ in range(4):
        distiller.train()
        teacher.train()  # someone means well
        result = distiller(**given)
        result.loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        said.append(result.teacher_logits)
    assert all(torch.equal(one, said[0]) for one in said)
    assert not said[0].requires_grad and not teacher.training
    assert all(p.grad is None and p.requires_grad for p in teacher.parameters())
    after = teacher.state_dict()
    assert all(torch.equal(before[name], after[name]) for name in before)
    assert distiller.student.training


def test_it_learns():
    distiller, given = pair(), batch()
    optimizer = torch.optim.AdamW(distiller.parameters(), lr=3e-3)
    losses = []
    for _ in range(40):
        loss = distiller(**given).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.5 * losses[0]


def test_the_three_losses_are_those_of_the_published_code():
    distiller, given = pair(), batch()
    result = distiller(**given)
    asked = {name: given[name] for name in ("input_ids", "attention_mask", "token_type_ids")}
    with torch.no_grad():
        taught = distiller.teacher.model(**asked, output_hidden_states=True)
    own, mask = distiller.student(**asked, output_hidden_states=True), given["attention_mask"] == 1
    label = functional.cross_entropy(own.logits.flatten(0, 1), given["labels"].flatten())
    kl = functional.kl_div(
        (own.logits[mask] / 2).log_softmax(-1),
        (taught.logits[mask] / 2).softmax(-1),
        reduction="batchmean",
    )
    states = own.hidden_states[-1][mask], taught.hidden_states[-1][mask]
    cosine = functional.cosine_embedding_loss(*states, torch.ones(10))
    torch.testing.assert_close(result.distillation_loss, 4 * kl)
    torch.testing.assert_close(result.label_loss, label)
    torch.testing.assert_close(result.cosine_loss, cosine)
    torch.testing.assert_close(result.loss, 5 * 4 * kl + 2 * label + cosine)


def test_distilbert_learns_from_bert_as_in_the_library():
    """The published code's losses, of the `transformers` library's models with the same weights."""
    teacher = shaken(BertForMaskedLM(replace(SMALL, num_hidden_layers=4)))
    student = shaken(DistilBertForMaskedLM.from_teacher(teacher)).train()
    distiller, given = Distiller(student, teacher), batch()
    library = student.to_transformers().eval(), teacher.to_transformers().eval()
    student.eval()
    del given["token_type_ids"]
    result = distiller(**given)
    labels, mask = given.pop("labels"), given["attention_mask"] == 1
    own, taught = (model(**given, output_hidden_states=True) for model in library)
    kl = nn.KLDivLoss(reduction="batchmean")(
        (own.logits[mask] / 2).log_softmax(-1), (taught.logits[mask] / 2).softmax(-1)
    )
    label = nn.CrossEntropyLoss()(own.logits.flatten(0, 1), labels.flatten())
    states = own.hidden_states[-1][mask], taught.hidden_states[-1][mask]
    cosine = nn.CosineEmbeddingLoss()(*states, torch.ones(10))
    torch.testing.assert_close(result.loss, 5 * 4 * kl + 2 * label + cosine)


def test_without_labels_the_teacher_teaches_alone():
    distiller, given = pair(), batch()
    labels = given.pop("labels")
    result = distiller(**given)
    assert result.label_loss is None
    torch.testing.assert_close(result.loss, 5 * result.distillation_loss + result.cosine_loss)
    none = distiller(**given, labels=torch.full_like(labels, IGNORED))
    torch.testing.assert_close(none.loss, result.loss)


def test_a_loss_may_be_left_out():
    given = batch()
    soft = pair(config=DistillationConfig(alpha_mlm=0.0, alpha_cos=0.0))(**given)
    assert soft.cosine_loss is None
    torch.testing.assert_close(soft.loss, 5 * soft.distillation_loss)
    narrow = pair(config=DistillationConfig(alpha_cos=0.0), hidden_size=6)
    assert narrow(**given).loss.isfinite()


def test_the_teacher_may_be_heard_at_the_labelled_places_alone():
    given = batch()
    distiller = pair(config=DistillationConfig(restrict_ce_to_mask=True))
    result = distiller(**given)
    places = given["labels"] != IGNORED
    expected = distillation_loss(result.logits[places], result.teacher_logits[places], 2.0)
    torch.testing.assert_close(result.distillation_loss, expected)


@pytest.mark.parametrize("segments", [0, 1])
def test_segments_go_to_the_teacher_alone_where_the_student_has_none(segments):
    distiller, given = pair(type_vocab_size=segments), batch()
    result = distiller(**given)
    asked = {name: given[name] for name in ("input_ids", "attention_mask")}
    told = distiller.teacher.model(**asked, token_type_ids=given["token_type_ids"])
    torch.testing.assert_close(result.teacher_logits, told.logits)
    torch.testing.assert_close(result.logits, distiller.student(**asked).logits)
    assert not torch.allclose(told.logits, distiller.teacher.model(**asked).logits)


def test_sequences_are_distilled_as_words_are():
    given = batch() | {"labels": torch.tensor([0, 2])}
    result = pair(BertForSequenceClassification)(**given)
    expected = distillation_loss(result.logits, result.teacher_logits, 2.0)
    torch.testing.assert_close(result.distillation_loss, expected)
    label = functional.cross_entropy(result.logits, given["labels"])
    torch.testing.assert_close(result.label_loss, label)
    tags = batch()
    tags["labels"] = tags["labels"].where(tags["labels"] == IGNORED, tags["labels"] % 3)
    assert pair(BertForTokenClassification)(**tags).loss.isfinite()


def test_a_place_is_real_if_any_may_look_at_it():
    hidden = torch.randn(2, 3, 4)
    rows = torch.tensor([[1, 1, 1], [1, 1, 0]])
    seen = rows[:, None] * torch.eye(3, dtype=torch.long)
    for mask in (rows, seen):
        assert torch.equal(padding_mask(mask, hidden), rows == 1)
    assert padding_mask(None, hidden) is None


def test_a_teacher_keeps_no_graph_of_what_it_computes():
    teacher = FrozenTeacher(Bert(SMALL))
    with teacher.on(torch.device("cpu")) as model:
        states = model(torch.randint(1, 23, (1, 4))).last_hidden_state
        assert not model.training
    assert not states.requires_grad
    assert torch.ones(1, requires_grad=True).mul(2).requires_grad  # again, behind the block


def test_the_teacher_follows_its_student_to_another_device():
    distiller = pair().to("meta")
    result = distiller(torch.zeros(2, 6, dtype=torch.long, device="meta"))
    assert result.loss.is_meta and result.teacher_logits.is_meta


def test_a_step_gives_every_parameter_of_the_student_a_gradient():
    distiller = pair()
    distiller(**batch()).loss.backward()
    assert all(gradient.any() for gradient in gradients(distiller).values())


@pytest.mark.bad_input
def test_what_cannot_be_compared_is_named():
    given = batch()
    with pytest.raises(CourseError, match=r"logits have shape \(2, 6, 19\).*\(2, 6, 23\)"):
        pair(vocab_size=19)(**given | {"input_ids": given["input_ids"] % 19, "labels": None})
    with pytest.raises(CourseError, match=r"hidden states have shape \(2, 6, 6\)"):
        pair(hidden_size=6)(**given)
    with pytest.raises(CourseError, match="temperature is -1"):
        soft_targets(torch.randn(3), -1.0)


GPT_TEACHER = replace(GPT, num_hidden_layers=3)


def test_gpt_learns_and_teaches_whatever_segments_there_are():
    given, own = batch(), shaken(GPTForCausalLM(GPT))
    taught_by = shaken(GPTForCausalLM(GPT_TEACHER)), shaken(BertForMaskedLM(LARGER))
    for teacher in taught_by:
        result = Distiller(own, teacher)(**given)
        asked = {name: given[name] for name in ("input_ids", "attention_mask")}
        label = own(**asked, labels=given["labels"]).loss
        torch.testing.assert_close(result.label_loss, label)
        segments = {"token_type_ids": given["token_type_ids"]} if teacher is taught_by[1] else {}
        torch.testing.assert_close(result.teacher_logits, teacher(**asked, **segments).logits)


def test_gpts_place_predicts_the_next_label():
    restricted, given = DistillationConfig(restrict_ce_to_mask=True), batch()
    students = shaken(GPTForCausalLM(GPT)), shaken(GPTForCausalLM(GPT_TEACHER))
    result = Distiller(*students, restricted)(**given)
    places = torch.zeros(2, 6, dtype=torch.bool)
    places[0, 1] = places[1, 0] = True  # before the labels of `batch`
    expected = distillation_loss(result.logits, result.teacher_logits, 2.0, places)
    torch.testing.assert_close(result.distillation_loss, expected)


@pytest.mark.parametrize("problem", ["regression", "multi_label_classification"])
def test_what_is_no_choice_of_one_class_is_refused(problem):
    words = f"is '{problem}', without exclusive classes.*on the labels"
    kind, given = BertForSequenceClassification, batch() | {"labels": None}
    for own, theirs in ((problem, None), (None, problem)):
        student = kind(replace(SMALL, problem_type=own))
        teacher = kind(replace(LARGER, problem_type=theirs))
        with pytest.raises(CourseError, match=words):
            Distiller(student, teacher)(**given)
    words_of_it = BertForMaskedLM(replace(SMALL, problem_type=problem))
    assert Distiller(words_of_it, BertForMaskedLM(LARGER))(**batch()).loss.isfinite()


def test_floats_as_labels_are_several_yes_or_no():
    one_hot = torch.tensor([[0.0, 1.0, 1.0], [1.0, 0.0, 0.0]])
    with pytest.raises(CourseError, match="is 'multi_label_classification'"):
        pair(BertForSequenceClassification)(**batch() | {"labels": one_hot})


def test_a_teacher_with_its_students_weights_is_refused():
    model = BertForMaskedLM(SMALL)
    with pytest.raises(CourseError, match=r"share \d+ parameters; one of them is bert.embeddings"):
        Distiller(model, model)
    teacher = BertForMaskedLM(LARGER)
    model.bert.encoder.layers[0] = teacher.bert.encoder.layers[2]
    with pytest.raises(CourseError, match=r"16 parameters; one of them is bert.encoder.layers.2"):
        Distiller(model, teacher)
    Distiller(deepcopy(teacher), teacher)


@pytest.mark.bad_input
def test_what_is_no_model_of_the_course_is_named():
    model = BertForMaskedLM(SMALL)
    for pair_of, role in (((model.to_transformers(), model), "student"),
                          ((model, model.to_transformers()), "teacher")):  # fmt: skip
        with pytest.raises(CourseError, match=f"The {role} is no model .*from_transformers"):
            Distiller(*pair_of)


@pytest.mark.bad_input
def test_lists_for_ids_are_named():
    ids = [[1, 2, 3], [4, 5, 6]]
    for call in (pair(), BertForMaskedLM(SMALL)):
        with pytest.raises(CourseError, match="input_ids is of the class list"):
            call(ids)


def test_a_number_is_no_class():
    student = BertForSequenceClassification(replace(SMALL, num_labels=1))
    distiller = Distiller(student, BertForSequenceClassification(replace(LARGER, num_labels=1)))
    for labels in (None, torch.tensor([1.0, 2.0])):
        with pytest.raises(CourseError, match="is 'regression', without exclusive classes"):
            distiller(**batch() | {"labels": labels})
    with pytest.raises(CourseError, match="one class, whose probability is 1"):
        distillation_loss(torch.randn(2, 3, 1), torch.randn(2, 3, 1))
