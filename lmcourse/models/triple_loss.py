"""DistilBERT's triple loss: the teacher's words, the labels', and the teacher's directions.

After Sanh et al. (2019, section 2 and 3; chapter 17). With L_d of `lmcourse.models.distillation`
over all places that are no padding, the loss L_mlm of the masked tokens, and the hidden states h of
both models' last layers:

    L = α_ce L_d + α_mlm L_mlm + α_cos mean(1 − cos(h_student, h_teacher))

The paper does not say how much each counts; the command of the published code has 5, 2 and 1, and
a temperature of 2. The student reads what the teacher reads, and the teacher never changes.
"""

from dataclasses import dataclass

from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional

from lmcourse.errors import CourseError
from lmcourse.models import distillation, inputs
from lmcourse.models.checkpoint import Model
from lmcourse.models.gpt import GPTForCausalLM
from lmcourse.models.inputs import IGNORED, not_negative, positive_number
from lmcourse.models.outputs import ModelOutput


@dataclass(frozen=True)
class DistillationConfig:
    """How the three losses are added up, named as in DistilBERT's published code.

    Attributes:
        temperature: of the soft targets.
        alpha_ce: weight of the distillation loss.
        alpha_mlm: weight of the student's loss of its labels, be they masked tokens or others.
        alpha_cos: weight of the cosine loss; with 0, student and teacher may differ in width.
        restrict_ce_to_mask: whether the teacher is listened to at the labelled places alone.
    """

    temperature: float = 2.0
    alpha_ce: float = 5.0
    alpha_mlm: float = 2.0
    alpha_cos: float = 1.0
    restrict_ce_to_mask: bool = False

    def __post_init__(self) -> None:
        for name in ("temperature", "alpha_ce", "alpha_mlm", "alpha_cos"):
            number = positive_number if name == "temperature" else not_negative
            settled = number(getattr(self, name), name, type(self).__name__)
            object.__setattr__(self, name, settled)


@dataclass(frozen=True, eq=False)
class DistillationOutput(ModelOutput):
    """The loss, its three parts before they are weighted, and what both models predict."""

    loss: Float[Tensor, ""]
    distillation_loss: Float[Tensor, ""]
    label_loss: Float[Tensor, ""] | None
    cosine_loss: Float[Tensor, ""] | None
    logits: Float[Tensor, "*places classes"]
    teacher_logits: Float[Tensor, "*places classes"]


class Distiller(nn.Module):
    """A student and its teacher.

    What it trains, hands to the optimizer and saves is the student's (see `FrozenTeacher`):

        distiller = Distiller(student, teacher)
        optimizer = torch.optim.AdamW(distiller.parameters())
        distiller(**batch).loss.backward()
        distiller.student.save(path)

    Args:
        student: a model with a head that gives logits.
        teacher: one with the same head; its layers may be more, and its segments.
        config: how the losses are added up.

    Raises:
        CourseError: one is no model of the course, or they share weights; or the configuration is
            another.
    """

    def __init__(
        self, student: Model, teacher: Model, config: DistillationConfig | None = None
    ) -> None:
        super().__init__()
        distillation.check_pair(student, teacher)
        self.student = student
        self.teacher = distillation.FrozenTeacher(teacher)
        self.config = DistillationConfig() if config is None else config
        if not isinstance(self.config, DistillationConfig):
            raise CourseError(
                f"config is {config!r:.80} in this Distiller.",
                "Give a DistillationConfig: it looks at each number, and takes them by name.",
            )

    def forward(
        self,
        input_ids: Int[Tensor, "*batch time"],
        attention_mask: Tensor | None = None,
        token_type_ids: Int[Tensor, "*batch time"] | None = None,
        labels: Tensor | None = None,
    ) -> DistillationOutput:
        """The losses of a batch.

        Args:
            input_ids, attention_mask, token_type_ids: as `Bert.forward` has them. Segments go to
                the teacher alone where the student tells none apart.
            labels: as the student's head has them; None: only the teacher teaches.

        Raises:
            CourseError: an input does not fit, or what the two models give cannot be compared.
        """
        given = (input_ids, attention_mask, token_type_ids)
        own = distillation.read(self.student, *given, labels=labels)
        logits = distillation.logits_of(own, self.student, labels)
        with self.teacher.asked(logits.device) as teacher:
            taught = distillation.read(teacher, *given)
            teacher_logits = distillation.logits_of(taught, teacher)
        hidden, teacher_hidden = own["hidden_states"][-1], taught["hidden_states"][-1]
        real = inputs.real_places(attention_mask, hidden)
        counted = self._counted(labels, real if logits.ndim == 3 else None)
        soft = distillation.distillation_loss(
            logits, teacher_logits, self.config.temperature, counted
        )
        total, cosine = self.config.alpha_ce * soft, None
        if labels is not None:
            total = total + self.config.alpha_mlm * own["loss"]
        if self.config.alpha_cos:
            cosine = distillation.cosine_loss(hidden, teacher_hidden, real)
            total = total + self.config.alpha_cos * cosine
        return DistillationOutput(total, soft, own.get("loss"), cosine, logits, teacher_logits)

    def _counted(self, labels: Tensor | None, real: Tensor | None) -> Tensor | None:
        """Where the teacher is listened to."""
        if not self.config.restrict_ce_to_mask:
            return real
        if labels is None:
            raise CourseError(
                "restrict_ce_to_mask is set, and there are no labels.",
                "Give labels, or distil at all places.",
            )
        if isinstance(self.student, GPTForCausalLM):  # place t predicts what label t + 1 says
            labels = functional.pad(labels[:, 1:], (0, 1), value=IGNORED)
        return labels != IGNORED
