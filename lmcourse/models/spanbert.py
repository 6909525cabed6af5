"""SpanBERT: spans are masked and predicted from their boundaries (Joshi et al. 2020; chapter 14).

The encoder is BERT's, over single sequences: all tokens are in segment 0. The second task is the
span-boundary objective (section 3.2). Each token of a masked span x_s … x_e is predicted from the
states of the two positions just outside it and from its position relative to the left one:

    h₀ = [x_{s−1}; x_{e+1}; p_{i−s+1}]
    h₁ = LayerNorm(GELU(W₁ h₀))
    y_i = LayerNorm(GELU(W₂ h₁))
    p(token | y_i) = softmax(E y_i + c)        E: the token embeddings, as in BERT's head

    loss = mean of −log p(x_i | x_i's state) − log p(x_i | y_i) over the masked tokens

So boundary states represent the span inside, which helps to extract answers.

A span is a run of labels; adjacent or overlapping spans are merged, as in the published code
(``merge_intervals`` in ``masking.py``).
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
from lmcourse.models.initialization import init_weights
from lmcourse.models.inputs import IGNORED, padding_mask
from lmcourse.models.losses import label_loss
from lmcourse.models.outputs import Layers, ModelOutput, Terms


@dataclass(frozen=True)
class SpanBertConfig(BertConfig):
    """Settings of a SpanBERT; those of the second task are the published code's.

    With the pooler, ``base()`` has 108,310,272 parameters and ``large()`` 333,579,264; the second
    task adds 1,960,676 and 3,389,668 to those of the masked tokens' task.

    Attributes:
        vocab_size: that of BERT's cased vocabulary.
        max_span_length: number of embedded positions in a span; the second task ignores the rest.
        span_position_size: width of a position embedding p.
    """

    vocab_size: int = 28996
    max_span_length: int = 20
    span_position_size: int = 200


class SpanBert(Bert):
    """BERT, unchanged."""

    Config = SpanBertConfig
    same_weights: ClassVar[tuple[type[Bert], ...]] = (Bert,)


@dataclass(frozen=True, eq=False)
class SpanBertOutput(ModelOutput):
    """Output of pre-training; ``loss`` is the sum of both losses, the ``terms``.

    Attributes:
        logits: each position's logits from its own state.
        boundary_logits: the masked positions' logits from the boundaries, row by row.
        masked_lm_loss, boundary_loss: the losses of both tasks.
    """

    loss: Float[Tensor, ""] | None
    logits: Float[Tensor, "batch time vocab"]
    boundary_logits: Float[Tensor, "masked vocab"] | None = None
    masked_lm_loss: Float[Tensor, ""] | None = None
    boundary_loss: Float[Tensor, ""] | None = None
    hidden_states: Layers | None = None
    attentions: Layers | None = None
    terms: Terms | None = None


def boundaries(
    masked: Bool[Tensor, "batch time"],
) -> tuple[Int[Tensor, "batch time"], Int[Tensor, "batch time"]]:
    """Return the nearest positions to the left and the right that are not masked.

    For a position in a masked span s … e, these are s − 1 and e + 1; −1 and ``time`` if there is
    none.
    """
    time = masked.shape[1]
    position = torch.arange(time, device=masked.device).expand_as(masked)
    left = position.masked_fill(masked, -1).cummax(1).values
    right = position.masked_fill(masked, time).flip(1).cummin(1).values.flip(1)
    return left, right


def span_offsets(left: Int[Tensor, "batch time"]) -> Int[Tensor, "batch time"]:
    """Return i − s at position i of a masked span that starts at s = ``left`` + 1."""
    return torch.arange(left.shape[1], device=left.device) - left - 1


def complete_spans(
    left: Int[Tensor, "batch time"],
    right: Int[Tensor, "batch time"],
    masked: Bool[Tensor, "batch time"],
    real: Bool[Tensor, "batch time"] | None,
) -> Bool[Tensor, "batch time"]:
    """Return the masked positions whose spans have a token on both sides.

    Others raise `CourseError`, or are left out in compiled code, where values are unknown.
    """
    tokens = torch.ones_like(masked) if real is None else real
    tokens = functional.pad(tokens, (1, 1))  # one more position at each end, for −1 and ``time``
    between = masked & tokens.gather(1, left + 1) & tokens.gather(1, right + 1)
    if masked.is_meta or torch.compiler.is_compiling():
        return between
    alone = masked & ~between
    if bool(alone.any()):
        row, column = (int(number) for number in alone.nonzero()[0])
        span = int(left[row, column]) + 1, int(right[row, column]) - 1
        raise CourseError(
            f"The labels of sequence {row} have a span at positions {span[0]} to {span[1]}, which "
            "has no token on both sides.",
            "A span is predicted from the tokens around it: do not label the first and the last "
            "token, [CLS] and [SEP], or padding.",
        )
    return between


class SpanBoundaryHead(nn.Module):
    """Predict masked tokens from the two states around their span (section 3.2).

    This follows the paper; the published code divides the sum of the losses by their number plus
    one, and skips spans next to [CLS] and [SEP].
    """

    def __init__(self, config: SpanBertConfig) -> None:
        super().__init__()
        width, size = config.hidden_size, config.span_position_size
        self.position = nn.Embedding(config.max_span_length, size)
        self.dense = nn.Linear(2 * width + size, width)
        self.activation = activation_of(config.hidden_act)
        self.norm = nn.LayerNorm(width, eps=config.layer_norm_eps)
        init_weights(self, config.initializer_range, truncated=True)
        self.predictions = prediction_head(config)  # the second layer, and the scores

    def forward(
        self,
        hidden: Float[Tensor, "batch time width"],
        embeddings: Float[Tensor, "vocab embedding_width"],
        labels: Int[Tensor, "batch time"],
        attention_mask: Tensor | None = None,
    ) -> tuple[Float[Tensor, "masked vocab"], Float[Tensor, ""]]:
        """Return the logits of the masked tokens, and the loss.

        Args:
            embeddings: the token embeddings; see `PredictionHead.forward`.
            labels: the masked tokens, ``IGNORED`` at the other positions.
            attention_mask: marks padding, which is no boundary.
        """
        masked = labels != IGNORED
        left, right = boundaries(masked)
        between = complete_spans(left, right, masked, padding_mask(attention_mask, hidden))
        step = span_offsets(left)
        row, column = (between & (step < self.position.num_embeddings)).nonzero(as_tuple=True)
        x = self.boundary_states(
            hidden, row, left[row, column], right[row, column], step[row, column]
        )
        x = self.norm(self.activation(self.dense(x)))
        (logits,), _ = self.predictions(x[None], embeddings)  # as a batch of one
        return logits, label_loss(logits, labels[row, column])

    def boundary_states(
        self,
        hidden: Float[Tensor, "batch time width"],
        row: Int[Tensor, " masked"],
        left: Int[Tensor, " masked"],
        right: Int[Tensor, " masked"],
        step: Int[Tensor, " masked"],
    ) -> Float[Tensor, "masked read"]:
        """Return h₀: both boundary states and the embedding of the relative position."""
        return torch.cat([hidden[row, left], hidden[row, right], self.position(step)], -1)


class SpanBertForPreTraining(BertHead):
    """SpanBERT with both pre-training tasks."""

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
        **model_inputs: Unpack[BertInputs],
    ) -> SpanBertOutput:
        """Predict the masked tokens from their own states and from the boundaries.

        Args:
            labels: the masked tokens, ``IGNORED`` at the other positions. Each run of labels is a
                span, with a token on both sides.
            model_inputs: further arguments of `Bert.forward`.
        """
        states = self.bert(input_ids, **model_inputs)
        hidden, words = states.last_hidden_state, self.bert.embeddings.word.weight
        logits, loss = self.predictions(hidden, words, labels)
        if labels is None or loss is None:
            return SpanBertOutput(
                None, logits, hidden_states=states.hidden_states, attentions=states.attentions
            )
        boundary_logits, boundary_loss = self.span_boundary(
            hidden, words, labels, model_inputs.get("attention_mask")
        )
        return SpanBertOutput(
            loss + boundary_loss,
            logits,
            boundary_logits,
            loss,
            boundary_loss,
            states.hidden_states,
            states.attentions,
            (loss, boundary_loss),
        )


class SpanBertForSequenceClassification(BertForSequenceClassification):
    """BERT's head for sequences on SpanBERT."""

    Config = SpanBertConfig
    Base = SpanBert


class SpanBertForQuestionAnswering(BertForQuestionAnswering):
    """BERT's head for questions on SpanBERT."""

    Config = SpanBertConfig
    Base = SpanBert


class SpanBertForTokenClassification(BertForTokenClassification):
    """BERT's head for tokens on SpanBERT."""

    Config = SpanBertConfig
    Base = SpanBert
