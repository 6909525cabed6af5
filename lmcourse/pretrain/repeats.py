"""A lead-in: rare words that a text repeats count more at first.

Names stand in the same places, so that their vectors grow alike in the first hundreds of steps.
Once they are, nothing tells a head which of them to copy, and a character who stood in a text is
told no better than any other. If copying is learned before, the vectors stay apart. What is learned
in the end is the plain objective, since the weight falls to nothing.
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

    These are rare tokens that the text shows at another place: to a masked model anywhere, to a
    causal one before. The loss is the weighted mean; with ``extra`` 0 it is the plain objective's.

    Args:
        plain: `MaskedLM` or `CausalLM`, of a model whose ``logits`` are those of every place.
        rare: of the vocabulary, see `rare_tokens`.
        most: how much more they count at the start of the lead-in; see `LeadIn`.

    Raises:
        CourseError: the objective is another one.
    """

    def __init__(self, plain: Objective, rare: Bool[Tensor, " vocab"], most: float = 10.0) -> None:
        if type(plain) not in (MaskedLM, CausalLM):
            raise CourseError(
                f"A {type(plain).__name__} does not say which token is told from which.",
                "Give MaskedLM or CausalLM, or leave the lead-in out: Budget(repeats=0).",
            )
        super().__init__(plain.model)
        self.plain, self.rare, self.most, self.extra = plain, rare, most, most

    def drawn(self, batch: Batch, generator: torch.Generator | None) -> Batch:
        """See `Objective.drawn`: as the plain objective does."""
        return self.plain.drawn(batch, generator)

    def loss(self, batch: Batch, generator: torch.Generator | None) -> tuple[Tensor, int | float]:
        """See `Objective.loss`. The weight counts the predictions."""
        logits = self.model(**self.given(batch)).logits
        labels, repeated = self._asked(batch)
        labels, repeated = labels.to(logits.device), repeated.to(logits.device)
        if isinstance(self.plain, CausalLM):
            logits = logits[:, :-1]
        nats = nn.functional.cross_entropy(logits.transpose(1, 2), labels, reduction="none")
        predicted = labels != IGNORED
        weights = predicted + self.extra * repeated
        return (nats * weights).sum() / weights.sum().clamp(min=1), int(predicted.sum())

    def _asked(self, batch: Batch) -> tuple[Int[Tensor, "batch time"], Bool[Tensor, "batch time"]]:
        """The labels, and which of them are rare tokens that are also seen elsewhere."""
        ids = batch["input_ids"]
        if isinstance(self.plain, CausalLM):
            labels = ids.masked_fill(batch["attention_mask"] == 0, IGNORED)[:, 1:]
            seen = ids[:, None, :-1] == labels[:, :, None]
            seen = seen.tril()  # the label at place t is token t + 1: it is told from 0 … t
        else:
            labels = batch["labels"]
            seen = ids[:, None, :] == labels[:, :, None]
        rare = self.rare[labels.clamp(min=0)] & (labels != IGNORED)
        return labels, seen.any(-1) & rare

    @property
    def config(self) -> dict[str, str]:
        """See `Objective.config`."""
        return super().config | self.plain.config | {"most": str(self.most)}


class LeadIn(BatchLosses):
    """Losses of batches, of which the first have an objective of their own.

    What rare words count more stays as it is for half of the lead-in, and falls in a line to
    nothing.

    Args:
        first: the objective of the lead-in.
        lead_in: how many steps it has.
        objective, examples, settings: as of `BatchLosses`.
    """

    def __init__(
        self,
        first: RepeatsFirst,
        lead_in: int,
        objective: Objective,
        examples: Sequence[Example],
        **settings: Any,
    ) -> None:
        super().__init__(objective, examples, **settings)
        self.first, self.then, self.lead_in = first, objective, lead_in
        self.config |= {"first": first.config, "lead_in": lead_in}

    def __next__(self) -> tuple[Tensor, int | float]:
        """See `BatchLosses`."""
        left = 1 - self.step / self.lead_in
        self.first.extra = self.first.most * min(1.0, 2 * left)
        self.objective = self.first if left > 0 else self.then
        return super().__next__()
