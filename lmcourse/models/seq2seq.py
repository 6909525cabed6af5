"""Sequence to sequence with recurrent networks, with or without attention (chapter 08).

Without attention the decoder gets only the encoder's last state, however long the source is
(Sutskever et al. 2014, "Sequence to sequence learning with neural networks"). With attention it
attends to all of the encoder's states at every step (Luong et al. 2015, "Effective approaches to
attention-based neural machine translation", eq. 5 to 7):

    α_t = softmax_s score(h_t, h̄_s)      the weights, from the decoder's state h_t
    c_t = Σ_s α_ts h̄_s                   the attention output
    h̃_t = tanh(W_c [c_t ; h_t])
    p(y_t | y_1 … y_{t-1}, x) = softmax(W_s h̃_t)        (without attention h̃_t is h_t)

The scores are those of `lmcourse.models.attention`; Bahdanau et al. (2015) use the additive one and
the decoder's state before the step, not after it.
"""

from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from lmcourse.models.attention import AdditiveAttention, DotAttention
from lmcourse.models.checkpoint import Model
from lmcourse.models.inputs import visible
from lmcourse.models.losses import label_loss
from lmcourse.models.outputs import Layers, ModelOutput, Seq2SeqOutput
from lmcourse.models.recurrence import lengths_from_mask
from lmcourse.models.recurrent import Recurrent
from lmcourse.models.source_and_target import check_source, decoder_inputs

Score = Literal["dot", "general", "additive", "none"]
SCORES: tuple[Score, ...] = ("dot", "general", "additive", "none")


@dataclass(frozen=True)
class Seq2SeqConfig:
    """The sizes of a `Seq2Seq`.

    Attributes:
        vocab_size: tokens of source and target together.
        embedding_size: width of a token's vector.
        hidden_size: width of the states of encoder and decoder.
        num_layers: number of LSTM layers in each.
        bidirectional: use a bidirectional encoder, each direction with half the width.
        attention: the score: ``"dot"``, ``"general"`` or ``"additive"``; ``"none"``: no attention.
        dropout: dropout of each layer's input and of h̃_t.
        decoder_start_token_id: the decoder's first input.
        pad_token_id: replaces ignored labels in the decoder's input.
    """

    vocab_size: int
    embedding_size: int = 64
    hidden_size: int = 128
    num_layers: int = 1
    bidirectional: bool = True
    attention: Score = "dot"
    dropout: float = 0.1
    decoder_start_token_id: int = 1
    pad_token_id: int = 0


@dataclass(frozen=True)
class SourceOutput(ModelOutput):
    """Output of `Seq2Seq.encode`.

    Attributes:
        last_hidden_state: h̄_s for every position of the source; zero at padding.
        state: the decoder's first state (h, c), (layers, batch, width) each.
        hidden_states: the first layer's input and each layer's output.
    """

    last_hidden_state: Float[Tensor, "batch source width"]
    state: tuple[Float[Tensor, "layers batch width"], Float[Tensor, "layers batch width"]]
    hidden_states: Layers | None = None


class Seq2Seq(Model):
    """An LSTM encodes the source, another LSTM decodes the target."""

    Config = Seq2SeqConfig
    config: Seq2SeqConfig

    def __init__(self, config: Seq2SeqConfig) -> None:
        super().__init__(config)
        width, layers = config.hidden_size, config.num_layers
        self.embedding = nn.Embedding(config.vocab_size, config.embedding_size)
        self.dropout = nn.Dropout(config.dropout)
        self.encoder = Recurrent(
            "lstm",
            config.embedding_size,
            width // 2 if config.bidirectional else width,
            layers,
            config.bidirectional,
            config.dropout,
        )
        self.decoder = Recurrent(
            "lstm", config.embedding_size, width, layers, dropout=config.dropout
        )
        self.attention: AdditiveAttention | DotAttention | None = None
        if config.attention == "additive":
            self.attention = AdditiveAttention(width, width, width)
        elif config.attention != "none":
            self.attention = DotAttention(width, width, general=config.attention == "general")
        self.combine = nn.Linear(2 * width, width, bias=False) if self.attention else None
        self.output = nn.Linear(width, config.vocab_size, bias=False)

    def forward(
        self,
        input_ids: Int[Tensor, "batch source"] | None = None,
        attention_mask: Tensor | None = None,
        decoder_input_ids: Int[Tensor, "batch target"] | None = None,
        decoder_attention_mask: Tensor | None = None,
        labels: Int[Tensor, "batch target"] | None = None,
        encoder_outputs: SourceOutput | None = None,
        output_attentions: bool = False,
        output_hidden_states: bool = False,
    ) -> Seq2SeqOutput:
        """Predict each token of the target from the source and the previous tokens.

        Args:
            input_ids: the source; optional with ``encoder_outputs``.
            attention_mask: 1 for a source token and 0 for padding on the right, (batch, source);
                also needed with ``encoder_outputs``.
            decoder_input_ids: the decoder's input; by default the labels, shifted right after the
                start token.
            decoder_attention_mask: the mask of the decoder's input, (batch, target).
            labels: the target; ``IGNORED`` where there is none.
            encoder_outputs: an output of `encode` to reuse.
            output_attentions: return α as ``cross_attentions``: one tensor for the one layer with
                one head, (batch, 1, target, source), or None without attention.
            output_hidden_states: return the first layer's input and each layer's output, of encoder
                and decoder.
        """
        encoded = encoder_outputs
        if encoded is None:
            encoded = self.encode(input_ids, attention_mask, output_hidden_states)
        states = encoded.last_hidden_state
        ids = decoder_inputs(self.config, states, decoder_input_ids, labels)
        lengths = lengths_from_mask(decoder_attention_mask, ids, "decoder_attention_mask")
        embedded = self._embed(ids)  # [batch, target, embedding]
        layers, _ = self.decoder.read(embedded, encoded.state, lengths)
        top, weights = layers[-1], None
        if self.attention is not None and self.combine is not None:
            (batch, target), source = ids.shape, states.shape[1]
            mask = visible(attention_mask, batch, target, source)
            context, weights = self.attention(top, states, None if mask is None else mask[:, 0])
            top = torch.tanh(self.combine(torch.cat([context, top], -1)))  # [batch, target, width]
        logits = self.output(self.dropout(top))
        attentions = (weights.unsqueeze(1),) if output_attentions and weights is not None else None
        return Seq2SeqOutput(
            None if labels is None else label_loss(logits, labels),
            logits,
            decoder_hidden_states=(embedded, *layers) if output_hidden_states else None,
            cross_attentions=attentions,
            encoder_last_hidden_state=states,
            encoder_hidden_states=encoded.hidden_states,
        )

    def encode(
        self,
        input_ids: Int[Tensor, "batch source"] | None,
        attention_mask: Tensor | None = None,
        output_hidden_states: bool = False,
    ) -> SourceOutput:
        """Return the source's states and the decoder's first state; arguments as in `forward`."""
        ids = check_source(input_ids, attention_mask, self.config.vocab_size)
        embedded = self._embed(ids)
        layers, state = self.encoder.read(embedded, lengths=lengths_from_mask(attention_mask, ids))
        assert isinstance(state, tuple)
        hidden_states = (embedded, *layers) if output_hidden_states else None
        return SourceOutput(layers[-1], self._first_state(state), hidden_states)

    def _embed(self, ids: Int[Tensor, "batch time"]) -> Float[Tensor, "batch time width"]:
        return self.dropout(self.embedding(ids))

    def _first_state(self, state: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        """Return each layer's last state, with both directions concatenated."""
        if not self.config.bidirectional:
            return state
        h, c = (
            part.unflatten(0, (-1, 2)).transpose(1, 2).flatten(2).contiguous() for part in state
        )
        return h, c
