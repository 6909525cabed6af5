"""A small language whose masked answers are exact, and a model that keeps what it is asked."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

TIME, VOCAB = 6, 5
MASK = VOCAB
MOST = 200  # questions: six holes need six
Ask = Callable[[Tensor], Tensor]


class KnownModel:
    """The exact masked answers of a small language of 5⁶ texts, each with a random probability.

    Args:
        seed: of the probabilities.
        sharpness: the larger, the fewer texts have nearly all of the probability.
    """

    def __init__(self, seed: int, sharpness: float) -> None:
        generator = torch.Generator().manual_seed(seed)
        noise = torch.randn((VOCAB,) * TIME, generator=generator, dtype=torch.float64)
        self.joint = (sharpness * noise).flatten().softmax(0).view(noise.shape)

    def __call__(self, input_ids: Tensor) -> Tensor:
        """Of each place the distribution of its word, given the words that are visible: [6, 5]."""
        ids = input_ids.tolist()
        if len(ids) != TIME or not all(0 <= i <= MASK for i in ids):
            raise ValueError(f"the model reads {TIME} ids from 0 to {MASK}, and was given {ids}")
        rows = []
        for place in range(TIME):
            p = self.joint
            for other in reversed(range(TIME)):
                if other != place:
                    seen = ids[other]
                    p = p.sum(other) if seen == MASK else p.select(other, seen)
            rows.append(p / p.sum())
        return torch.stack(rows)


class Asked:
    """A model that keeps the texts that it is asked, for the judge to look at."""

    def __init__(self, model: KnownModel) -> None:
        self.model = model
        self.texts: list[list[int]] = []

    def __deepcopy__(self, memo: Any) -> "Asked":
        return self  # an answer is called with copies, and the judge reads this one

    def __call__(self, input_ids: Tensor) -> Tensor:
        if self.endless:
            raise RuntimeError(f"the model was asked {MOST} times, and holes are still open")
        p = self.model(input_ids)
        self.texts.append(input_ids.tolist())
        return p

    @property
    def endless(self) -> bool:
        """Whether it was asked more often than any right answer asks."""
        return len(self.texts) >= MOST

    @property
    def steps(self) -> list[list[int]]:
        """The texts, each as long as it stays the same once."""
        return [text for i, text in enumerate(self.texts) if i == 0 or text != self.texts[i - 1]]
