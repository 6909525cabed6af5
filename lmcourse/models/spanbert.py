"""SpanBERT: whole spans are masked, and told from their boundaries (Joshi et al. 2020; chapter 14).

The body is BERT's, over one sequence at a time: all of it is segment 0. What is new is a second
task, the span-boundary objective (section 3.2). Each token of a masked span x_s … x_e is predicted
from the states of the two places just outside it, and from how far it stands from the left one:

    h₀ = [x_{s−1}; x_{e+1}; p_{i−s+1}]
    h₁ = LayerNorm(GELU(W₁ h₀))
    y_i = LayerNorm(GELU(W₂ h₁))
    p(token | y_i) = softmax(E y_i + c)        E: the tokens' embeddings, as in BERT's own head

    loss = mean of −log p(x_i | x_i's state) − log p(x_i | y_i) over the masked tokens

So a boundary learns what lies behind it, as an answer is found by its start and its end.

A span is a run of labels: the published code makes one of two that touch or overlap, too
(``merge_intervals`` in its ``masking.py``). So the labels say what the spans are.
"""

from dataclasses import dataclass
from typing import ClassVar, Unpack

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional

from lmcourse.errors import CourseError
from lmcourse.models.activations import activation_of
from lmcourse.models.bert import Bert, BertConfig, BertHead, BertInputs, with_pooler
from lmcourse.models.bert_heads import prediction_head
from lmcourse.models.bert_tasks import (
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
)
from lmcourse.models.initialization import draw_weights
from lmcourse.models.inputs import IGNORED, check_settings, real_places
from lmcourse.models.losses import label_loss
from lmcourse.models.outputs import Layers, ModelOutput


@dataclass(frozen=True)
class SpanBertConfig(BertConfig):
    """BERT's settings, and those of the second task, as the published code has them.

    With the pooler, ``base()`` has 108,310,272 parameters and ``large()`` 333,579,264; the second
    task adds 1,960,676 and 3,389,668 to those of the masked tokens' task.

    Attributes:
        vocab_size: that of BERT's cased vocabulary.
        max_span_length: how many places of a span are told apart. What stands beyond is left to
            the masked tokens' task alone.
        span_position_size: width of a place's embedding p.
    """

    vocab_size: int = 28996
    max_span_length: int = 20
    span_position_size: int = 200

    def __post_init__(self) -> None:
        super().__post_init__()
        check_settings(self, ("max_span_length", "span_position_size"))


class SpanBert(Bert):
    """BERT, as it is."""

    Config = SpanBertConfig
    same_weights: ClassVar[tuple[type[Bert], ...]] = (Bert,)


@dataclass(frozen=True, eq=False)
class SpanBertOutput(ModelOutput):
    """What the two tasks of pre-training return; ``loss`` is the sum of both losses.

    Attributes:
        logits: each place's scores from its own state.
        boundary_logits: the scores of the masked places from their spans' boundaries, row by row.
        masked_lm_loss, boundary_loss: the means of both tasks.
    """

    loss: Float[Tensor, ""] | None
    logits: Float[Tensor, "batch time vocab"]
    boundary_logits: Float[Tensor, "masked vocab"] | None = None
    masked_lm_loss: Float[Tensor, ""] | None = None
    boundary_loss: Float[Tensor, ""] | None = None
    hidden_states: Layers | None = None
    attentions: Layers | None = None


def boundaries(
    masked: Bool[Tensor, "batch time"],
) -> tuple[Int[Tensor, "batch time"], Int[Tensor, "batch time"]]:
    """The nearest places to the left and to the right of each that are not masked.

    Of a place in a masked span s … e, these are s − 1 and e + 1. Where there is none, they are −1
    and ``time``.
    """
    time = masked.shape[1]
    place = torch.arange(time, device=masked.device).expand_as(masked)
    left = place.masked_fill(masked, -1).cummax(1).values
    right = place.masked_fill(masked, time).flip(1).cummin(1).values.flip(1)
    return left, right


def between_tokens(
    left: Int[Tensor, "batch time"],
    right: Int[Tensor, "batch time"],
    masked: Bool[Tensor, "batch time"],
    real: Bool[Tensor, "batch time"] | None,
) -> Bool[Tensor, "batch time"]:
    """The masked places whose spans have a token on both sides: all of them, or it is an error.

    Compiled, where no number can be looked at, the others are left out.

    Raises:
        CourseError: a span touches the sequence's edge, or its padding.
    """
    there = torch.ones_like(masked) if real is None else real
    # One more place at each end: there −1 and ``time`` are looked up.
    there = functional.pad(there, (1, 1))
    between = masked & there.gather(1, left + 1) & there.gather(1, right + 1)
    if masked.is_meta or torch.compiler.is_compiling():
        return between
    alone = masked & ~between
    if bool(alone.any()):
        row, place = (int(number) for number in alone.nonzero()[0])
        span = int(left[row, place]) + 1, int(right[row, place]) - 1
        raise CourseError(
            f"The labels of sequence {row} have a span at places {span[0]} to {span[1]}, which "
            "has no token on both sides.",
            "A span is predicted from the tokens around it: leave the first and the last of a "
            "sequence, [CLS] and [SEP], and all padding without a label.",
        )
    return between


class SpanBoundaryHead(nn.Module):
    """The scores of masked tokens from the two states around their span (section 3.2).

    (The published code differs from the paper in two small things: it divides the sum of the costs
    by their number and one, and leaves out spans next to [CLS] and [SEP]. This is the paper's.)
    """

    def __init__(self, config: SpanBertConfig) -> None:
        super().__init__()
        width, size = config.hidden_size, config.span_position_size
        self.position = nn.Embedding(config.max_span_length, size)
        self.dense = nn.Linear(2 * width + size, width)
        self.activation = activation_of(config.hidden_act)
        self.norm = nn.LayerNorm(width, eps=config.layer_norm_eps)
        draw_weights(self, config.initializer_range, truncated=True)
        self.predictions = prediction_head(config)  # the second layer, and the scores

    def forward(
        self,
        hidden: Float[Tensor, "batch time width"],
        embeddings: Float[Tensor, "vocab embedding_width"],
        labels: Int[Tensor, "batch time"],
        attention_mask: Tensor | None = None,
    ) -> tuple[Float[Tensor, "masked vocab"], Float[Tensor, ""]]:
        """The scores of the masked tokens, and the loss.

        Args:
            embeddings: of all tokens; see `PredictionHead.forward`.
            labels: the token of each masked place, ``IGNORED`` at the others.
            attention_mask: says what is padding, and so no boundary.

        Raises:
            CourseError: a span touches the sequence's edge, or its padding.
        """
        masked = labels != IGNORED
        left, right = boundaries(masked)
        between = between_tokens(left, right, masked, real_places(attention_mask, hidden))
        step = torch.arange(labels.shape[1], device=labels.device) - left - 1  # i − s, from 0
        row, place = (between & (step < self.position.num_embeddings)).nonzero(as_tuple=True)
        x = self.around(hidden, row, left[row, place], right[row, place], step[row, place])
        x = self.norm(self.activation(self.dense(x)))
        (logits,), _ = self.predictions(x[None], embeddings)  # as a batch of one
        return logits, label_loss(logits, labels[row, place])

    def around(
        self,
        hidden: Float[Tensor, "batch time width"],
        row: Int[Tensor, " masked"],
        left: Int[Tensor, " masked"],
        right: Int[Tensor, " masked"],
        step: Int[Tensor, " masked"],
    ) -> Float[Tensor, "masked read"]:
        """h₀: the states of both boundaries, and the embedding of the step from the left one."""
        return torch.cat([hidden[row, left], hidden[row, right], self.position(step)], -1)


class SpanBertForPreTraining(BertHead):
    """SpanBERT as it is pre-trained: masked tokens, from their places and from the boundaries."""

    Config = SpanBertConfig
    Base = SpanBert
    config: SpanBertConfig
    pretrained_heads = ("predictions", "span_boundary")

    def __init__(self, config: SpanBertConfig) -> None:
        super().__init__(config)
        self.bert = self.Base(with_pooler(config, False))
        self.predictions = prediction_head(config)
        self.span_boundary = SpanBoundaryHead(config)

    def forward(
        self,
        input_ids: Int[Tensor, "batch time"] | None = None,
        *,
        labels: Int[Tensor, "batch time"] | None = None,
        **inputs: Unpack[BertInputs],
    ) -> SpanBertOutput:
        """Predict the masked tokens, in both ways.

        Args:
            labels: the token of each masked place, ``IGNORED`` at the others. Each run of labels
                is a span, and has a token on both sides.
            inputs: the rest of what `Bert.forward` takes.

        Raises:
            CourseError: an input does not fit, or a span touches an edge.
        """
        states = self.bert(input_ids, **inputs)
        hidden, words = states.last_hidden_state, self.bert.embeddings.word.weight
        logits, loss = self.predictions(hidden, words, labels)
        if labels is None or loss is None:
            return SpanBertOutput(
                None, logits, hidden_states=states.hidden_states, attentions=states.attentions
            )
        boundary_logits, boundary_loss = self.span_boundary(
            hidden, words, labels, inputs.get("attention_mask")
        )
        return SpanBertOutput(
            loss + boundary_loss,
            logits,
            boundary_logits,
            loss,
            boundary_loss,
            states.hidden_states,
            states.attentions,
        )


class SpanBertForSequenceClassification(BertForSequenceClassification):
    """Classes of sequences, as BERT's."""

    Config = SpanBertConfig
    Base = SpanBert


class SpanBertForQuestionAnswering(BertForQuestionAnswering):
    """Answers in a text, as BERT's."""

    Config = SpanBertConfig
    Base = SpanBert


class SpanBertForTokenClassification(BertForTokenClassification):
    """Classes of tokens, as BERT's."""

    Config = SpanBertConfig
    Base = SpanBert
