"""Distillation: a small model learns from what a large one says (chapter 17).

A label says which class is right. A teacher says besides how likely all the others are, and that
is most of what it knows. A temperature T makes its probabilities softer, so that the small ones
count (Hinton, Vinyals and Dean 2015, eq. 1; z and v are the teacher's and the student's logits):

    t_i = exp(z_i / T) / Σ_j exp(z_j / T)        s_i = exp(v_i / T) / Σ_j exp(v_j / T)
    L_d = T² KL(t ‖ s) = T² (−Σ_i t_i log s_i + Σ_i t_i log t_i)

The last sum is a constant of the teacher's: without it, L_d is the cross-entropy −Σ t log s, which
has the same gradient, and does not end at 0. Its gradient by v_i is (s_i − t_i) / T, in which
s_i − t_i itself shrinks as 1 / T (eq. 2 to 4). Times T², the loss weighs about the same whatever T
is, beside the loss of the labels, which has no temperature.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn import functional

from lmcourse.errors import CourseError
from lmcourse.models.checkpoint import Model
from lmcourse.models.inputs import positive_number
from lmcourse.models.outputs import ModelOutput


def soft_targets(
    logits: Float[Tensor, "*places classes"], temperature: float = 1.0
) -> Float[Tensor, "*places classes"]:
    """The softmax at a temperature: 1 is the usual one, and the higher, the more even.

    Raises:
        CourseError: the temperature is not above 0.
    """
    return (logits / _checked(temperature)).softmax(-1)


def soft_cross_entropy(
    student_logits: Float[Tensor, "*places classes"],
    teacher_logits: Float[Tensor, "*places classes"],
    temperature: float = 1.0,
    counted: Bool[Tensor, "*places"] | None = None,
) -> Float[Tensor, ""]:
    """The mean of −Σ t log s over the places that count (Sanh et al. 2019 print it without −).

    Args:
        temperature: of both sides.
        counted: True where a place counts; None: all do. Where none does, the loss is 0.

    Raises:
        CourseError: a shape does not fit, or the temperature is not above 0.
    """
    student, teacher = predicted(student_logits, teacher_logits, counted)
    log_s = (student / _checked(temperature)).log_softmax(-1)
    losses = -(soft_targets(teacher, temperature) * log_s).sum(-1)
    return losses.sum() / max(len(losses), 1)


def distillation_loss(
    student_logits: Float[Tensor, "*places classes"],
    teacher_logits: Float[Tensor, "*places classes"],
    temperature: float = 2.0,
    counted: Bool[Tensor, "*places"] | None = None,
) -> Float[Tensor, ""]:
    """The mean of T² KL(t ‖ s) over the places that count; arguments as `soft_cross_entropy` has.

    It is what DistilBERT's published code computes: ``KLDivLoss(reduction="batchmean")``, which
    sums over the classes and takes the mean over the places that were chosen before.
    """
    student, teacher = predicted(student_logits, teacher_logits, counted)
    log_s = (student / _checked(temperature)).log_softmax(-1)
    log_t = (teacher / temperature).log_softmax(-1)
    divergence = functional.kl_div(log_s, log_t, reduction="sum", log_target=True)
    return temperature**2 * divergence / max(len(student), 1)


def cosine_loss(
    student: Float[Tensor, "*places width"],
    teacher: Float[Tensor, "*places width"],
    counted: Bool[Tensor, "*places"] | None = None,
) -> Float[Tensor, ""]:
    """The mean of 1 − cos(student, teacher): hidden states are to point the same way.

    PyTorch's ``CosineEmbeddingLoss`` with the target 1; with −1 it would drive them apart.

    Args:
        counted: as `soft_cross_entropy` has it.

    Raises:
        CourseError: a shape does not fit.
    """
    student, teacher = both_at(student, teacher, counted, "hidden states")
    losses = 1 - functional.cosine_similarity(student, teacher, dim=-1)
    return losses.sum() / max(len(losses), 1)


def both_at(
    student: Tensor, teacher: Tensor, counted: Tensor | None, what: str
) -> tuple[Float[Tensor, "count width"], Float[Tensor, "count width"]]:
    """The student's and the teacher's numbers at the places that count.

    Args:
        what: what they are, for the error.

    Raises:
        CourseError: they differ in shape, or ``counted`` has not one number for each place.
    """
    if student.shape != teacher.shape:
        raise CourseError(
            f"The student's {what} have shape {tuple(student.shape)}, the teacher's "
            f"{tuple(teacher.shape)}.",
            "They are compared number by number: give both models the same batch, and build the "
            "student with the teacher's vocabulary, classes and width (TinyBERT's losses put a "
            "matrix between two widths).",
        )
    if counted is None:
        return student.flatten(0, -2), teacher.flatten(0, -2)
    if counted.shape != student.shape[:-1]:
        raise CourseError(
            f"counted has shape {tuple(counted.shape)}, the {what} {tuple(student.shape)}.",
            f"Give one truth value for each place, {tuple(student.shape[:-1])}.",
        )
    return student[counted.bool()], teacher[counted.bool()]


def predicted(
    student: Tensor, teacher: Tensor, counted: Tensor | None
) -> tuple[Float[Tensor, "count classes"], Float[Tensor, "count classes"]]:
    """The same of logits, of which there must be two or more a place.

    Raises:
        CourseError: as `both_at`; or there is one class, whose probability is 1 whatever it scores.
    """
    if student.shape[-1] < 2:
        raise CourseError(
            f"The logits have shape {tuple(student.shape)}: one class, whose probability is 1.",
            "A number is no class: let the student learn it from its labels (student(…).loss), as "
            "TinyBERT's published code does.",
        )
    return both_at(student, teacher, counted, "logits")


class FrozenTeacher:
    """A model that is asked, and learns nothing.

    It is no `torch.nn.Module`, on purpose. A module trains, hands to the optimizer and saves what
    modules it holds; of a `FrozenTeacher` it knows nothing.

    Args:
        model: the teacher. From now on it is in evaluation mode whenever it is asked.
    """

    def __init__(self, model: Model) -> None:
        self.model = model.eval()

    @contextmanager
    def asked(self, device: torch.device) -> Iterator[Model]:
        """The teacher in evaluation mode on a device; what it computes keeps no gradients."""
        with torch.no_grad():
            yield self.model.to(device).eval()


def read(
    model: Model,
    input_ids: Tensor,
    attention_mask: Tensor | None = None,
    token_type_ids: Tensor | None = None,
    **options: Tensor | None,
) -> ModelOutput:
    """What a model of BERT's family makes of a batch, with its hidden states.

    A model that tells no segments apart, such as DistilBERT or RoBERTa, is not given any.

    Args:
        options: what besides it is called with (labels); None is left out.
    """
    segments = token_type_ids if getattr(model.config, "type_vocab_size", 0) > 1 else None
    given = {name: value for name, value in options.items() if value is not None}
    result: ModelOutput = model(
        input_ids,
        attention_mask=attention_mask,
        token_type_ids=segments,
        output_hidden_states=True,
        **given,
    )
    return result


def logits_of(result: ModelOutput, model: Model) -> Float[Tensor, "*places classes"]:
    """A result's logits.

    Raises:
        CourseError: it has none, or has them by other names.
    """
    if "logits" not in result:
        raise CourseError(
            f"{type(model).__name__} gives {', '.join(result.keys())}, and no logits to learn "
            "from.",
            "Give student and teacher one head that predicts a class of each token or sequence: "
            "…ForMaskedLM, …ForTokenClassification, …ForSequenceClassification.",
        )
    logits: Tensor = result["logits"]
    return logits


def _checked(temperature: float) -> float:
    return positive_number(temperature, "temperature", "distillation")
