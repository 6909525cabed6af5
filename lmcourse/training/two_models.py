"""Objectives of two models: a generator and a discriminator, a student and its teacher.

Their losses are in `lmcourse.models`: `electra_pair`, `triple_loss` and `tinybert`.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from lmcourse.models.bert_tasks import BertForSequenceClassification
from lmcourse.models.electra_pair import ElectraPair
from lmcourse.models.tinybert import STAGES, TinyBertDistiller, position_pairs
from lmcourse.models.triple_loss import Distiller
from lmcourse.training.examples import Batch
from lmcourse.training.masking import Masking, StaticMasking
from lmcourse.training.objectives import (
    Labelled,
    MaskedLM,
    Objective,
    predictions,
    real_positions,
    terms_of,
)


class ReplacedTokens(MaskedLM):
    """ELECTRA: a generator predicts masked tokens, a discriminator which ones were replaced.

    Args:
        model: an `ElectraPair`.
        masking: ELECTRA masks 15 % (25 % in its large size), with [MASK] alone: ``masked=1.0,
            random=0.0``.
    """

    def sample(self, batch: Batch, generator: torch.Generator | None) -> Batch:
        """The batch with masked tokens, and the numbers from which the generator's are drawn."""
        masked = super().sample(batch, generator)
        return masked | {"draws": torch.rand(batch["input_ids"].shape, generator=generator)}

    def means(self, batch: Batch) -> Sequence[Tensor]:
        """See `Objective.means`: of the masked tokens, and of all tokens."""
        inputs = self.model_inputs(batch, "labels", "draws")
        draws = inputs.pop("draws")[:, : inputs["labels"].shape[1]]  # a part may be shorter
        return terms_of(self.model(**inputs, draws=draws))

    def counts(self, batch: Batch) -> list[int]:
        return [*super().counts(batch), int(real_positions(batch).sum())]

    @property
    def pad_token_id(self) -> int:
        """See `Objective.pad_token_id`."""
        assert isinstance(self.module, ElectraPair)
        return self.module.config.discriminator.pad_token_id or 0


class Distilled(Objective):
    """A student learns from its teacher, and from masked tokens or labels.

    Args:
        model: a `Distiller` or a `TinyBertDistiller`, which contain student and teacher.
        masking: of the text that both read (Sanh et al. 2019, section 3); None: it is not masked,
            and the labels are those of the examples, if they have any.
        options: further arguments of the distiller, such as TinyBERT's ``stage``.
    """

    def __init__(
        self, model: nn.Module, masking: Masking | StaticMasking | None = None, **options: Any
    ) -> None:
        super().__init__(model)
        self.masking, self.options = masking, options

    def sample(self, batch: Batch, generator: torch.Generator | None) -> Batch:
        """The batch, masked if there is a masking."""
        if self.masking is None:
            return batch
        return MaskedLM(self.model, self.masking).sample(batch, generator)

    def means(self, batch: Batch) -> Sequence[Tensor]:
        inputs = self.model_inputs(batch, *self._names(batch))
        return terms_of(self.model(**inputs, **self.options))

    def counts(self, batch: Batch) -> list[int]:
        """See `Objective.counts`: as in the distiller's ``terms``."""
        real = real_positions(batch)
        tokens = int(real.sum())
        of_sequences = isinstance(self.student, BertForSequenceClassification)
        outputs = len(batch["input_ids"]) if of_sequences else tokens
        if isinstance(self.module, TinyBertDistiller):
            by_layers, by_prediction = STAGES[self.options.get("stage", "all")]
            pairs = position_pairs(batch.get("attention_mask", real), real)
            assert pairs is not None
            return [tokens, int(pairs.sum())] * by_layers + [outputs] * by_prediction
        assert isinstance(self.module, Distiller)
        config, labels = self.module.config, predictions(self.student, batch, *self._names(batch))
        soft = labels[0] if config.restrict_ce_to_mask and labels else outputs
        return [soft, *labels] + [tokens] * (config.alpha_cos > 0)

    def _names(self, batch: Batch) -> tuple[str, ...]:
        """The labels that the student learns from, too."""
        return ("labels",) if isinstance(self.module, Distiller) and "labels" in batch else ()

    @property
    def student(self) -> nn.Module:
        """The model that is trained."""
        assert isinstance(self.module, Distiller | TinyBertDistiller)
        return self.module.student

    @property
    def config(self) -> dict[str, str]:
        return super().config | {"masking": repr(self.masking), "options": repr(self.options)}

    @property
    def pad_token_id(self) -> int:
        """See `Objective.pad_token_id`."""
        return Labelled(self.student).pad_token_id
