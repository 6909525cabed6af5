"""Distillation: a small model learns from a large one's predictions (chapter 17).

A label gives the correct class; a teacher also gives the probabilities of the others. A temperature
T softens them, so that small ones matter (Hinton, Vinyals and Dean 2015, eq. 1). With z_T the
teacher's logits and z_S the student's (v and z in the paper):

    t = softmax(z_T / T)        s = softmax(z_S / T)        softmax(z)_i = exp(z_i) / Σ_j exp(z_j)
    L_d = T² KL(t ‖ s) = T² (−Σ_i t_i log s_i + Σ_i t_i log t_i)

The last sum does not depend on the student: without it, L_d is the cross-entropy −Σ t log s, with
the same gradient, but a minimum above 0. Its gradient by z_S is (s − t) / T, in which s − t also
shrinks as 1 / T (eq. 2 to 4). The factor T² makes the loss's scale independent of T.

A softmax needs exclusive classes, so binary labels and regression are refused.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn import functional

from lmcourse.errors import CourseError
from lmcourse.models.bert_tasks import BertForSequenceClassification, problem_type_of
from lmcourse.models.checkpoint import Model
from lmcourse.models.outputs import ModelOutput

NO_CLASS = (
    "Train the student on the labels (student(…).loss), as TinyBERT's published code does for "
    "regression."
)


def soft_targets(
    logits: Float[Tensor, "*positions classes"], temperature: float = 1.0
) -> Float[Tensor, "*positions classes"]:
    """Return the softmax at a temperature."""
    return (logits / _checked(temperature)).softmax(-1)


def soft_cross_entropy(
    student_logits: Float[Tensor, "*positions classes"],
    teacher_logits: Float[Tensor, "*positions classes"],
    temperature: float = 1.0,
    counted: Bool[Tensor, "*positions"] | None = None,
) -> Float[Tensor, ""]:
    """Return the mean of −Σ t log s (Sanh et al. 2019 print it without the minus sign).

    Args:
        temperature: of both models.
        counted: True where a position counts; None: everywhere. If none counts, the loss is 0.
    """
    student, teacher = predicted(student_logits, teacher_logits, counted)
    log_s = (student / _checked(temperature)).log_softmax(-1)
    losses = -(soft_targets(teacher, temperature) * log_s).sum(-1)
    return losses.sum() / max(len(losses), 1)


def distillation_loss(
    student_logits: Float[Tensor, "*positions classes"],
    teacher_logits: Float[Tensor, "*positions classes"],
    temperature: float = 2.0,
    counted: Bool[Tensor, "*positions"] | None = None,
) -> Float[Tensor, ""]:
    """Return the mean of T² KL(t ‖ s); arguments as for `soft_cross_entropy`.

    DistilBERT's published code computes the same with ``KLDivLoss(reduction="batchmean")``.
    """
    student, teacher = predicted(student_logits, teacher_logits, counted)
    log_s = (student / _checked(temperature)).log_softmax(-1)
    divergence = functional.kl_div(log_s, soft_targets(teacher, temperature), reduction="sum")
    return temperature**2 * divergence / max(len(student), 1)


def cosine_loss(
    student: Float[Tensor, "*positions width"],
    teacher: Float[Tensor, "*positions width"],
    counted: Bool[Tensor, "*positions"] | None = None,
) -> Float[Tensor, ""]:
    """Return the mean of 1 − cos(student, teacher), the ``CosineEmbeddingLoss`` with target 1.

    Args:
        counted: as in `soft_cross_entropy`.
    """
    student, teacher = select_positions(student, teacher, counted, "hidden states")
    losses = 1 - functional.cosine_similarity(student, teacher, dim=-1)
    return losses.sum() / max(len(losses), 1)


_REMEDIES = {  # where the last axis differs, by what it is of
    "logits": "Build the student with the teacher's vocab_size, or its number of classes.",
    "hidden states": "Build the student with the teacher's hidden_size (only TinyBERT's losses "
    "project the width).",
    "embeddings": "Build the student with the teacher's hidden_size.",
    "attention scores": "The last axis is the head: build the student with the teacher's "
    "num_attention_heads, since TinyBERT compares the scores head by head. Its width may differ.",
}


def select_positions(
    student: Tensor, teacher: Tensor, counted: Tensor | None, what: str
) -> tuple[Float[Tensor, "count width"], Float[Tensor, "count width"]]:
    """Return the student's and the teacher's values at the positions that count.

    Args:
        what: their name, for the error: one of ``_REMEDIES``.
    """
    if student.shape != teacher.shape:
        same_batch = student.shape[:-1] == teacher.shape[:-1]
        raise CourseError(
            f"The student's {what} have shape {tuple(student.shape)}, the teacher's "
            f"{tuple(teacher.shape)}.",
            _REMEDIES[what] if same_batch else "Give both models the same batch.",
        )
    if counted is None:
        return student.flatten(0, -2), teacher.flatten(0, -2)
    return student[counted.bool()], teacher[counted.bool()]


def predicted(
    student: Tensor, teacher: Tensor, counted: Tensor | None
) -> tuple[Float[Tensor, "count classes"], Float[Tensor, "count classes"]]:
    """Select logits as `select_positions` does; there must be at least two classes."""
    if student.shape[-1] < 2:
        raise CourseError(
            f"The logits have shape {tuple(student.shape)}: one class, whose probability is 1.",
            f"This is a regression. {NO_CLASS}",
        )
    return select_positions(student, teacher, counted, "logits")


def check_pair(student: Model, teacher: Model) -> None:
    """Check that both are models of the course, without shared parameters."""
    for role, model in (("student", student), ("teacher", teacher)):
        if not isinstance(model, Model):
            raise CourseError(
                f"The {role} is no model of the course, but of the class {type(model).__name__}.",
                "Give a model of the course; convert one of the transformers library with "
                "from_transformers first.",
            )
    own = {id(parameter) for parameter in student.parameters()}
    shared = [name for name, parameter in teacher.named_parameters() if id(parameter) in own]
    if shared:
        raise CourseError(
            f"Student and teacher share {len(shared)} parameters; one of them is {shared[0]}.",
            "Give the student its own weights, as copy.deepcopy(teacher), DistilBert.from_teacher "
            "and …on_top_of do.",
        )


class FrozenTeacher:
    """A teacher in evaluation mode, without gradients.

    It is deliberately not a `torch.nn.Module`, so that a module that holds it does not train,
    optimize or save it.
    """

    def __init__(self, model: Model) -> None:
        self.model = model.eval()

    @contextmanager
    def on(self, device: torch.device) -> Iterator[Model]:
        """Yield the teacher in evaluation mode on a device, without gradients."""
        with torch.no_grad():
            yield self.model.to(device).eval()


def run(
    model: Model,
    input_ids: Tensor,
    attention_mask: Tensor | None = None,
    token_type_ids: Tensor | None = None,
    **options: Tensor | None,
) -> ModelOutput:
    """Apply a model to a batch, and return its output with hidden states.

    Segments are dropped for models without them, such as DistilBERT, RoBERTa or GPT.

    Args:
        options: further arguments (labels); None is left out.
    """
    segments = token_type_ids if getattr(model.config, "type_vocab_size", 0) > 1 else None
    named = {"attention_mask": attention_mask, "token_type_ids": segments, **options}
    named = {name: value for name, value in named.items() if value is not None}
    result: ModelOutput = model(input_ids, output_hidden_states=True, **named)
    return result


def class_logits(
    result: ModelOutput, model: Model, labels: Tensor | None = None
) -> Float[Tensor, "*positions classes"]:
    """Return an output's logits, which must be of exclusive classes.

    Args:
        labels: the model's labels, if any, from which a sequence's kind of problem may be inferred.
    """
    if isinstance(model, BertForSequenceClassification):
        problem = problem_type_of(model.config, labels)
        if problem != "single_label_classification":
            raise CourseError(
                f"The problem of {type(model).__name__} is {problem!r}, without exclusive classes.",
                f"Distillation needs the softmax over exclusive classes. {NO_CLASS}",
            )
    logits: Tensor = result["logits"]
    return logits


def _checked(temperature: float) -> float:
    if not temperature > 0:
        raise CourseError(f"The temperature is {temperature}.", "Give a number above 0.")
    return temperature
