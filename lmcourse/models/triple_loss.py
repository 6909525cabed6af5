"""DistilBERT's triple loss: distillation, masked language modeling, and cosine loss.

After Sanh et al. (2019, sections 2 and 3; chapter 17). With L_d of `lmcourse.models.distillation`
over all tokens, L_mlm of the masked tokens, and the last hidden states h of both models:

    L = α_ce L_d + α_mlm L_mlm + α_cos mean(1 − cos(h_student, h_teacher))

The paper gives no weights; the published code's command uses 5, 2 and 1, and a temperature of 2.
Both models read the same input, and the teacher is frozen.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional

from lmcourse.models import distillation, inputs
from lmcourse.models.checkpoint import Model
from lmcourse.models.gpt import GPTForCausalLM
from lmcourse.models.inputs import IGNORED
from lmcourse.models.outputs import ModelOutput, Terms


@dataclass(frozen=True)
class DistillationConfig:
    """The weights of the three losses, named as in DistilBERT's published code.

    Attributes:
        temperature: of the soft targets.
        alpha_ce: weight of the distillation loss.
        alpha_mlm: weight of the student's loss on its labels.
        alpha_cos: weight of the cosine loss; with 0, student and teacher may differ in width.
        restrict_ce_to_mask: distil at the labelled positions only.
    """

    temperature: float = 2.0
    alpha_ce: float = 5.0
    alpha_mlm: float = 2.0
    alpha_cos: float = 1.0
    restrict_ce_to_mask: bool = False


@dataclass(frozen=True, eq=False)
class DistillationOutput(ModelOutput):
    """The loss, its three unweighted parts, both models' logits, and the weighted ``terms``."""

    loss: Float[Tensor, ""]
    distillation_loss: Float[Tensor, ""]
    label_loss: Float[Tensor, ""] | None
    cosine_loss: Float[Tensor, ""] | None
    logits: Float[Tensor, "*positions classes"]
    teacher_logits: Float[Tensor, "*positions classes"]
    terms: Terms | None = None


class Distiller(nn.Module):
    """A student and its teacher.

    Its parameters are the student's (see `FrozenTeacher`):

        distiller = Distiller(student, teacher)
        optimizer = torch.optim.AdamW(distiller.parameters())
        distiller(**batch).loss.backward()
        distiller.student.save(path)

    Args:
        student: a model with a head that returns logits.
        teacher: a model with the same head, and perhaps more layers or segments.
        config: the weights of the losses.
    """

    def __init__(
        self, student: Model, teacher: Model, config: DistillationConfig | None = None
    ) -> None:
        super().__init__()
        distillation.check_pair(student, teacher)
        self.student = student
        self.teacher = distillation.FrozenTeacher(teacher)
        self.config = DistillationConfig() if config is None else config

    def forward(
        self,
        input_ids: Int[Tensor, "*batch time"],
        attention_mask: Tensor | None = None,
        token_type_ids: Int[Tensor, "*batch time"] | None = None,
        labels: Tensor | None = None,
    ) -> DistillationOutput:
        """Compute the losses of a batch.

        Args:
            input_ids, attention_mask, token_type_ids: as in `Bert.forward`. A student without
                segments ignores them.
            labels: as in the student's head; None: learn from the teacher only.
        """
        model_inputs = (input_ids, attention_mask, token_type_ids)
        own = distillation.run(self.student, *model_inputs, labels=labels)
        logits = distillation.class_logits(own, self.student, labels)
        with self.teacher.on(logits.device) as teacher:
            taught = distillation.run(teacher, *model_inputs)
            teacher_logits = distillation.class_logits(taught, teacher)
        hidden, teacher_hidden = own["hidden_states"][-1], taught["hidden_states"][-1]
        real = inputs.padding_mask(attention_mask, hidden)
        counted = self._counted(labels, real if logits.ndim == 3 else None)
        soft = distillation.distillation_loss(
            logits, teacher_logits, self.config.temperature, counted
        )
        terms, cosine = [self.config.alpha_ce * soft], None
        if labels is not None:
            terms += [self.config.alpha_mlm * part for part in own.get("terms", (own["loss"],))]
        if self.config.alpha_cos:
            cosine = distillation.cosine_loss(hidden, teacher_hidden, real)
            terms.append(self.config.alpha_cos * cosine)
        return DistillationOutput(
            torch.stack(terms).sum(),
            soft,
            own.get("loss"),
            cosine,
            logits,
            teacher_logits,
            tuple(terms),
        )

    def _counted(self, labels: Tensor | None, real: Tensor | None) -> Tensor | None:
        """Return the positions of the distillation loss."""
        if not self.config.restrict_ce_to_mask:
            return real
        assert labels is not None  # restrict_ce_to_mask needs them
        if isinstance(self.student, GPTForCausalLM):  # position t predicts label t + 1
            labels = functional.pad(labels[:, 1:], (0, 1), value=IGNORED)
        return labels != IGNORED
