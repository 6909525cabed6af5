"""SpanBERT and its pre-training, and what is wrongly done in the span-boundary objective."""

import dataclasses
import math
from functools import wraps
from typing import Any
from unittest.mock import patch

import torch
from torch import Tensor, nn
from torch.nn import functional

from lmcourse.models import spanbert
from lmcourse.models.inputs import IGNORED
from lmcourse.models.spanbert import SpanBertConfig, SpanBertForPreTraining, SpanBoundaryHead
from tests.models.broken import Broken
from tests.models.subject import Batch
from tests.models.subjects import bert
from tests.models.subjects.transformer import replaced

CONFIG = SpanBertConfig(
    bert.VOCAB, 12, 2, 3, 20, max_position_embeddings=16, max_span_length=3, span_position_size=5
)


def masked_spans() -> Batch:
    """Of four places, one more than are told apart; of at most two; none in the last sequence."""
    given = bert.batch()
    labels = torch.full((3, 7), IGNORED)
    labels[0, 1:5] = torch.randint(bert.VOCAB, (4,))
    last = int(given["attention_mask"][1].sum()) - 1
    labels[1, 1 : min(last, 3)] = 7
    return given | {"labels": labels}


SUBJECTS = (
    bert.subject(
        "SpanBERT", spanbert.SpanBert, bert.batch, config=CONFIG, pooled=("pooler_output",)
    ),
    bert.subject(
        "SpanBERT for pre-training",
        SpanBertForPreTraining,
        masked_spans,
        config=CONFIG,
        output="logits",
        pooled=("loss", "boundary_logits"),
        chance=2 * math.log(bert.VOCAB),
    ),
)


def read_otherwise(change: Any) -> Any:
    """Other boundaries, or another step: ``change(left, right, step)``."""

    def make(around: Any) -> Any:
        def wrong(self: Any, hidden: Tensor, row: Tensor, *places: Tensor) -> Tensor:
            left, right, step = change(*places)
            step = step % self.position.num_embeddings
            return around(self, hidden, row, left, right % hidden.shape[1], step)

        return wrong

    return make


def inside(left: Tensor, right: Tensor, step: Tensor) -> Any:
    return left + 1, right - 1, step


def swapped(left: Tensor, right: Tensor, step: Tensor) -> Any:
    return right, left, step


def from_the_right(left: Tensor, right: Tensor, step: Tensor) -> Any:
    return left, right, right - left - 2 - step


def one_on(left: Tensor, right: Tensor, step: Tensor) -> Any:
    return left, right, step + 1


def counted_in_the_text(left: Tensor, right: Tensor, step: Tensor) -> Any:
    """The token's place in the sequence for its place in the span."""
    return left, right, left + 1 + step


def losses(make: Any) -> Any:
    """Another sum of the two tasks' losses."""

    def around(forward: Any) -> Any:
        @wraps(forward)
        def wrong(self: Any, *given: Any, **more: Any) -> Any:
            done = forward(self, *given, **more)
            if done.loss is None:
                return done
            return dataclasses.replace(done, loss=make(done))

        return wrong

    return around


def mean_of_spans(forward: Any) -> Any:
    """Each span counts as much as every other, whatever its length."""

    def wrong(
        self: Any, hidden: Tensor, words: Tensor, labels: Tensor, mask: Tensor | None = None
    ) -> Any:
        logits, _ = forward(self, hidden, words, labels, mask)
        masked = labels != IGNORED
        left, _ = spanbert.boundaries(masked)
        step = torch.arange(labels.shape[1]) - left - 1
        row, place = (masked & (step < self.position.num_embeddings)).nonzero(as_tuple=True)
        costs = functional.cross_entropy(logits, labels[row, place], reduction="none")
        names = row * labels.shape[1] + left[row, place]
        means = [costs[names == name].mean() for name in names.unique()]
        return logits, torch.stack(means).mean() if means else costs.sum()

    return wrong


def without(name: str) -> Any:
    """The first layer without one of its parts."""

    def make(forward: Any) -> Any:
        def wrong(self: Any, *given: Any, **more: Any) -> Any:
            module = isinstance(getattr(self, name), nn.Module)
            with patch.object(self, name, nn.Identity() if module else lambda x: x):
                return forward(self, *given, **more)

        return wrong

    return make


def untied(forward: Any) -> Any:
    """The output has weights of its own (a copy, as good as the embeddings at the start)."""
    return lambda self, hidden, words, *more: forward(self, hidden, words.detach(), *more)


def one_head(forward: Any) -> Any:
    """The masked tokens' own head for the second layer of the boundaries' head."""

    @wraps(forward)
    def wrong(self: Any, *given: Any, **more: Any) -> Any:
        with patch.object(self.span_boundary, "predictions", self.predictions):
            return forward(self, *given, **more)

    return wrong


def all_steps(forward: Any) -> Any:
    """What stands beyond the places told apart counts as the last of them."""

    def wrong(
        self: Any, hidden: Tensor, words: Tensor, labels: Tensor, mask: Tensor | None = None
    ) -> Any:
        known = self.position

        class Clamped(nn.Module):
            num_embeddings = 10**6

            def forward(self, step: Tensor) -> Tensor:
                return known(step.clamp(max=known.num_embeddings - 1))

        with patch.object(self, "position", Clamped()):
            return forward(self, hidden, words, labels, mask)

    return wrong


ROW = ("SpanBERT for pre-training",)
AROUND = {
    "boundaries inside the span": inside,
    "left and right boundary swapped": swapped,
    "positions counted from the right": from_the_right,
    "positions off by one": one_on,
    "positions in the sequence for those in the span": counted_in_the_text,
}
BROKEN = (
    *(
        Broken(f"SpanBERT: {name}",
               replaced(SpanBoundaryHead, "boundary_states", read_otherwise(change)),
               ROW)
        for name, change in AROUND.items()
    ),
    Broken("SpanBERT: boundaries' loss forgotten",
           replaced(SpanBertForPreTraining, "forward", losses(lambda done: done.masked_lm_loss)),
           ROW, ROW),
    Broken("SpanBERT: masked tokens' loss forgotten",
           replaced(SpanBertForPreTraining, "forward", losses(lambda done: done.boundary_loss)),
           ROW, ROW),
    Broken("SpanBERT: mean of the two losses for their sum",
           replaced(SpanBertForPreTraining, "forward", losses(lambda done: done.loss / 2)),
           ROW, ROW),
    Broken("SpanBERT: mean over spans for that over tokens",
           replaced(SpanBoundaryHead, "forward", mean_of_spans), ROW),
    Broken("SpanBERT: first layer without LayerNorm",
           replaced(SpanBoundaryHead, "forward", without("norm")), ROW, ROW),
    Broken("SpanBERT: first layer without GELU",
           replaced(SpanBoundaryHead, "forward", without("activation")), ROW),
    Broken("SpanBERT: boundaries' output untied",
           replaced(SpanBoundaryHead, "forward", untied), ROW),
    Broken("SpanBERT: both tasks through one head",
           replaced(SpanBertForPreTraining, "forward", one_head), ROW, ROW),
    Broken("SpanBERT: places beyond the longest span counted as its last",
           replaced(SpanBoundaryHead, "forward", all_steps), ROW),
)  # fmt: skip
