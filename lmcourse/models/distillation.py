"""Distillation: a small model learns from what a large one says (chapter 17).

A label says which class is right. A teacher says besides how likely all the others are, and that
is most of what it knows. A temperature T makes its probabilities softer, so that the small ones
count (Hinton, Vinyals and Dean 2015, eq. 1). With z_T for the teacher's logits and z_S for the
student's, which are v and z there:

    t = softmax(z_T / T)        s = softmax(z_S / T)        softmax(z)_i = exp(z_i) / Σ_j exp(z_j)
    L_d = T² KL(t ‖ s) = T² (−Σ_i t_i log s_i + Σ_i t_i log t_i)

The last sum is a constant of the teacher's: without it, L_d is the cross-entropy −Σ t log s, which
has the same gradient, and does not end at 0. Its gradient by z_S is (s − t) / T, in which
s − t itself shrinks as 1 / T (eq. 2 to 4). Times T², the loss weighs about the same whatever T is,
beside the loss of the labels, which has no temperature.

A softmax asks which *one* class is right. Of logits that say something else (each yes or no by
itself, a number) it makes no sense, and they are refused.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from inspect import signature

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn import functional

from lmcourse.errors import CourseError
from lmcourse.models.bert_tasks import BertForSequenceClassification, problem_of
from lmcourse.models.checkpoint import Model
from lmcourse.models.inputs import positive_number
from lmcourse.models.outputs import ModelOutput

HEAD = (
    "Give student and teacher one head that predicts a class of each token or sequence: "
    "…ForMaskedLM, …ForTokenClassification, …ForSequenceClassification."
)
NO_CLASS = (
    "Let the student learn it from its labels (student(…).loss), as TinyBERT's published code does "
    "with numbers."
)


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
            f"A number is no class. {NO_CLASS}",
        )
    return both_at(student, teacher, counted, "logits")


def check_pair(student: Model, teacher: Model) -> None:
    """See that both are models of the course, and that the teacher has weights of its own.

    Raises:
        CourseError: one is no such model, or the two share a parameter.
    """
    for role, model in (("student", student), ("teacher", teacher)):
        if not isinstance(model, Model):
            raise CourseError(
                f"The {role} is no model of the course, but of the class {type(model).__name__}.",
                "Give one of the course; one of the transformers library comes in by "
                "from_transformers of our class of the same name.",
            )
    own = {id(parameter) for parameter in student.parameters()}
    shared = [name for name, parameter in teacher.named_parameters() if id(parameter) in own]
    if shared:
        raise CourseError(
            f"Student and teacher share {len(shared)} parameters; one of them is {shared[0]}.",
            "The teacher would change while it teaches. Give the student weights of its own, as "
            "copy.deepcopy(teacher), DistilBert.from_teacher and …on_top_of do.",
        )


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

    A model that tells no segments apart, such as DistilBERT, RoBERTa or GPT, is not given any.

    Args:
        options: what besides it is called with (labels); None is left out.

    Raises:
        CourseError: an input does not fit; there are labels, and no head that takes them.
    """
    segments = token_type_ids if getattr(model.config, "type_vocab_size", 0) > 1 else None
    given = {"attention_mask": attention_mask, "token_type_ids": segments, **options}
    given = {name: value for name, value in given.items() if value is not None}
    if "labels" in given and "labels" not in signature(model.forward).parameters:
        raise CourseError(f"{type(model).__name__} takes no labels.", HEAD)
    result: ModelOutput = model(input_ids, output_hidden_states=True, **given)
    return result


def logits_of(
    result: ModelOutput, model: Model, labels: Tensor | None = None
) -> Float[Tensor, "*places classes"]:
    """A result's logits, which must be scores of classes, one of which is right.

    Args:
        labels: what the model was given, where it was given any: those of sequences may say what
            the logits are.

    Raises:
        CourseError: it has none, or has them by other names; or they are other scores.
    """
    name = type(model).__name__
    if "logits" not in result:
        raise CourseError(
            f"{name} gives {', '.join(result.keys())}, and no logits to learn from.", HEAD
        )
    if not result.softmax:
        raise CourseError(f"The logits of {name} score no classes along their last axis.", HEAD)
    if isinstance(model, BertForSequenceClassification):
        problem = problem_of(model.config, labels)
        if problem != "single_label_classification":
            raise CourseError(
                f"The problem of {name} is {problem!r}, and not which one class is right.",
                f"Only of such classes' scores a softmax makes probabilities. {NO_CLASS}",
            )
    logits: Tensor = result["logits"]
    return logits


def _checked(temperature: float) -> float:
    return positive_number(temperature, "temperature", "distillation")
