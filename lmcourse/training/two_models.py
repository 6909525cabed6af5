"""Objectives of two models: a generator and a discriminator, a student and its teacher.

What the two compute stands in `lmcourse.models`: `electra_pair`, `triple_loss` and `tinybert`.
"""

from typing import Any

import torch
from torch import Tensor, nn

from lmcourse.models.bert_tasks import BertForSequenceClassification
from lmcourse.models.electra_pair import ElectraPair
from lmcourse.models.tinybert import TinyBertDistiller
from lmcourse.models.triple_loss import Distiller
from lmcourse.training.examples import Batch
from lmcourse.training.masking import Masking, StaticMasking
from lmcourse.training.objectives import Labelled, MaskedLM, Objective, fitting, predictions


class ReplacedTokens(MaskedLM):
    """ELECTRA: a generator fills in masked tokens, a discriminator says which were replaced.

    The tokens that are filled in are drawn from the generator, by each process for its part.

    Args:
        model: an `ElectraPair`.
        masking: where there are gaps. ELECTRA masks 15 % (25 % in its large size), with [MASK]
            alone: ``masked=1.0, random=0.0``.
    """

    def loss(self, batch: Batch, generator: torch.Generator | None) -> tuple[Tensor, int | float]:
        """See `Objective.loss`. The weight counts the masked tokens."""
        given = self.given(batch, "labels")
        chance = on_device(generator, given["labels"].device)
        return self.model(**given, torch_generator=chance).loss, predictions(batch)

    @property
    def pad_token_id(self) -> int:
        """See `Objective.pad_token_id`."""
        assert isinstance(self.module, ElectraPair)
        return self.module.config.discriminator.pad_token_id or 0


class Distilled(Objective):
    """A student learns from its teacher, and from masked tokens or labels besides.

    Args:
        model: a `Distiller` or a `TinyBertDistiller`, which both hold student and teacher.
        masking: what both read is masked by it (Sanh et al. 2019, section 3); None: they read the
            text as it is, and the labels are those that the examples bring, if they do.
        options: what the distiller is called with, as TinyBERT's ``stage``.

    Raises:
        CourseError: the masking has tokens that student or teacher do not know.
    """

    def __init__(
        self, model: nn.Module, masking: Masking | StaticMasking | None = None, **options: Any
    ) -> None:
        super().__init__(model)
        self.masking = None if masking is None else fitting(masking, self.vocab_size)
        self.options = options

    def drawn(self, batch: Batch, generator: torch.Generator | None) -> Batch:
        """The batch, masked if it is to be."""
        if self.masking is None:
            return batch
        return MaskedLM(self.model, self.masking).drawn(batch, generator)

    def loss(self, batch: Batch, generator: torch.Generator | None) -> tuple[Tensor, int | float]:
        """See `Objective.loss`. The weight counts the tokens, at each of which there is a lesson.

        Where the student has classes of sequences, it counts these.
        """
        labelled = isinstance(self.module, Distiller) and "labels" in batch
        names = ("labels",) if labelled else ()
        loss = self.model(**self.given(batch, *names), **self.options).loss
        if isinstance(self.student, BertForSequenceClassification):
            return loss, len(batch["input_ids"])
        return loss, int(batch["attention_mask"].sum())

    @property
    def student(self) -> nn.Module:
        """What is trained."""
        assert isinstance(self.module, Distiller | TinyBertDistiller)
        return self.module.student

    @property
    def config(self) -> dict[str, str]:
        """See `Objective.config`."""
        return super().config | {"masking": repr(self.masking), "options": repr(self.options)}

    @property
    def pad_token_id(self) -> int:
        """See `Objective.pad_token_id`."""
        return Labelled(self.student).pad_token_id


def on_device(generator: torch.Generator | None, device: torch.device) -> torch.Generator | None:
    """A generator for draws on a device, started from another one's next number."""
    if generator is None or generator.device.type == device.type:
        return generator
    seed = int(torch.randint(2**62, (), generator=generator))
    return torch.Generator(device).manual_seed(seed)
