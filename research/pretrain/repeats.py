"""A warm-up phase for copying: rare words that a text repeats count more at first.

Names occur in the same contexts, so that their vectors become alike in the first hundreds of steps.
Then no head can distinguish which of them to copy, and a name that the text has shown is predicted
no better than any other. If copying is learned first, the vectors stay apart. In the end the plain
objective is learned, since the extra weight falls to zero.
"""

from collections.abc import Sequence
from typing import Any

import torch
from jaxtyping import Bool, Int
from torch import Tensor, nn

from lmcourse.errors import CourseError
from lmcourse.models.inputs import IGNORED
from lmcourse.training import BatchLosses
from lmcourse.training.examples import Batch, Example
from lmcourse.training.objectives import CausalLM, MaskedLM, Objective

RARE = (
    0.003  # of all tokens; the course's names and topic nouns are rarer, its common words are not
)


def rare_tokens(
    examples: Sequence[Example], vocab_size: int, share: float = RARE
) -> Bool[Tensor, " vocab"]:
    """Which tokens are less than such a share of all, among those that these examples have."""
    ids = torch.tensor([token for example in examples for token in example["input_ids"]])
    counts = torch.bincount(ids, minlength=vocab_size)
    return (counts > 0) & (counts < share * len(ids))


class RepeatsFirst(Objective):
    """Masked tokens, or each token from those before it, where some count more.

    These are rare tokens that the text shows at another position: to a masked model anywhere, to
    a causal one before. The loss is the weighted mean; with ``extra`` 0, the plain objective's.

    Args:
        plain: `MaskedLM` or `CausalLM`, of a model whose ``logits`` cover every position.
        rare: of the vocabulary, see `rare_tokens`.
        most: how much more they count at the start of the phase; see `CopyWarmUp`.

    Raises:
        CourseError: the objective is another one.
    """

    def __init__(self, plain: Objective, rare: Bool[Tensor, " vocab"], most: float = 10.0) -> None:
        if type(plain) not in (MaskedLM, CausalLM):
            raise CourseError(
                f"A {type(plain).__name__} does not say from which tokens each is predicted.",
                "Give MaskedLM or CausalLM, or leave the phase out: Budget(repeats=0).",
            )
        super().__init__(plain.model)
        self.plain, self.rare, self.most, self.extra = plain, rare, most, most

    def sample(self, batch: Batch, generator: torch.Generator | None) -> Batch:
        """See `Objective.sample`: as the plain objective does."""
        return self.plain.sample(batch, generator)

    def means(self, batch: Batch) -> list[Tensor]:
        """See `Objective.means`: the weighted mean."""
        logits = self.model(**self.model_inputs(batch)).logits
        labels, repeated = self._asked(batch)
        labels, repeated = labels.to(logits.device), repeated.to(logits.device)
        if isinstance(self.plain, CausalLM):
            logits = logits[:, :-1]
        nats = nn.functional.cross_entropy(logits.transpose(1, 2), labels, reduction="none")
        weights = (labels != IGNORED) + self.extra * repeated
        return [(nats * weights).sum() / weights.sum().clamp(min=1)]

    def counts(self, batch: Batch) -> list[float]:
        """See `Objective.counts`: the sum of the weights."""
        labels, repeated = self._asked(batch)
        return [float(((labels != IGNORED) + self.extra * repeated).sum())]

    def _asked(self, batch: Batch) -> tuple[Int[Tensor, "batch time"], Bool[Tensor, "batch time"]]:
        """The labels, and which of them are rare tokens that are also seen elsewhere."""
        ids = batch["input_ids"]
        if isinstance(self.plain, CausalLM):
            labels = ids.masked_fill(batch["attention_mask"] == 0, IGNORED)[:, 1:]
            seen = ids[:, None, :-1] == labels[:, :, None]
            seen = seen.tril()  # the label at position t is token t + 1, predicted from 0 … t
        else:
            labels = batch["labels"]
            seen = ids[:, None, :] == labels[:, :, None]
        rare = self.rare[labels.clamp(min=0)] & (labels != IGNORED)
        return labels, seen.any(-1) & rare

    @property
    def config(self) -> dict[str, str]:
        """See `Objective.config`."""
        return super().config | self.plain.config | {"most": str(self.most)}


class CopyWarmUp(BatchLosses):
    """Losses of batches; the first ones have an objective of their own.

    The extra weight of rare words is constant for half of the phase, then falls linearly to zero.

    Args:
        first: the objective of the phase.
        warmup: its steps.
        objective, examples, settings: as of `BatchLosses`.
    """

    def __init__(
        self,
        first: RepeatsFirst,
        warmup: int,
        objective: Objective,
        examples: Sequence[Example],
        **settings: Any,
    ) -> None:
        super().__init__(objective, examples, **settings)
        self.first, self.then, self.warmup = first, objective, warmup
        self.config |= {"first": first.config, "lead_in": warmup}

    def _next_part(self) -> tuple[Batch, Sequence[int | float]]:
        left = 1 - self.step / self.warmup
        self.first.extra = self.first.most * min(1.0, 2 * left)
        self.objective = self.first if left > 0 else self.then
        return super()._next_part()
