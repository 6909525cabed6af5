"""From a sequence to a sequence with recurrent networks, with attention or without (chapter 08).

Without attention all that the decoder knows of the source is the state in which the encoder ended,
however long the source was (Sutskever et al. 2014, "Sequence to sequence learning with neural
networks"). With attention it looks back at every state of the encoder, at every step (Luong et al.
2015, "Effective approaches to attention-based neural machine translation", eq. 5 to 7):

    α_t = softmax_s φ(h_t, h̄_s)          where to look, from the decoder's state h_t
    c_t = Σ_s α_ts h̄_s                   what is found there
    h̃_t = tanh(W_c [c_t ; h_t])
    p(y_t | y_1 … y_{t-1}, x) = softmax(W_s h̃_t)        (without attention h̃_t is h_t)

φ is one of the scores of `lmcourse.models.attention`; Bahdanau et al. (2015) use the additive one,
and the decoder's state before the step in place of the one behind it.
"""

from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from lmcourse.errors import CourseError
from lmcourse.models.attention import AdditiveAttention, DotAttention
from lmcourse.models.checkpoint import Model
from lmcourse.models.inputs import check_settings, visible
from lmcourse.models.losses import label_loss
from lmcourse.models.outputs import Layers, ModelOutput, Seq2SeqOutput
from lmcourse.models.recurrence import lengths_of
from lmcourse.models.recurrent import Recurrent
from lmcourse.models.source_and_target import check_encoded, check_source, what_is_read

Score = Literal["dot", "general", "additive", "none"]
SCORES: tuple[Score, ...] = ("dot", "general", "additive", "none")


@dataclass(frozen=True)
class Seq2SeqConfig:
    """The sizes of a `Seq2Seq`.

    Attributes:
        vocab_size: tokens of source and target together.
        embedding_size: width of a token's vector.
        hidden_size: width of the states of encoder and decoder.
        num_layers: how many LSTMs stand on top of each other, in each.
        bidirectional: whether the encoder reads in both directions, each in half the width.
        attention: φ: ``"dot"``, ``"general"`` or ``"additive"``; ``"none"``: no attention.
        dropout: of what goes into each layer, and of h̃_t.
        decoder_start_token_id: what the decoder reads first.
        pad_token_id: what it reads where a label is ignored.
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

    def __post_init__(self) -> None:
        sizes = ("vocab_size", "embedding_size", "hidden_size", "num_layers")
        ids = ("decoder_start_token_id", "pad_token_id")
        check_settings(self, sizes, ("dropout",), ids=ids)
        if self.attention not in SCORES:
            raise CourseError(
                f"The attention {self.attention!r} is not known.",
                f"Choose one of {', '.join(SCORES)}.",
            )
        if self.bidirectional and self.hidden_size % 2:
            raise CourseError(
                f"Two directions cannot share a width of {self.hidden_size} evenly.",
                "Make hidden_size even, or set bidirectional=False.",
            )


@dataclass(frozen=True)
class SourceOutput(ModelOutput):
    """What `Seq2Seq.encode` returns.

    Attributes:
        last_hidden_state: h̄_s for every place of the source; zero where it is padded.
        state: (h, c), where the decoder starts: (layers, batch, width) each.
        hidden_states: what went into the first layer, then what each layer gave.
    """

    last_hidden_state: Float[Tensor, "batch source width"]
    state: tuple[Float[Tensor, "layers batch width"], Float[Tensor, "layers batch width"]]
    hidden_states: Layers | None = None


class Seq2Seq(Model):
    """An LSTM reads the source, another one writes the target."""

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
        """Read the source, and predict each token of the target from those before it.

        Args:
            input_ids: the source; not needed beside ``encoder_outputs``.
            attention_mask: 1 where the source has a token, 0 where it is padded, on the right,
                (batch, source); needed beside ``encoder_outputs``, too.
            decoder_input_ids: what the decoder reads; if it is not given, the labels one place to
                the right, behind the start token.
            decoder_attention_mask: the same for what the decoder reads, (batch, target).
            labels: the target; ``IGNORED`` where there is none.
            encoder_outputs: what an earlier call of `encode` gave, so that decoding token by token
                reads the source once.
            output_attentions: whether α is returned, as ``cross_attentions``: one tensor,
                (batch, 1, target, source), since there is one layer of one head; None of a model
                without attention.
            output_hidden_states: whether what went into each first layer is returned, and what
                each layer gave.

        Raises:
            CourseError: an input does not fit.
        """
        encoded = encoder_outputs
        if encoded is None:
            encoded = self.encode(input_ids, attention_mask, output_hidden_states)
        else:
            width = self.config.hidden_size
            check_encoded(encoded, SourceOutput, width, input_ids, attention_mask)
        states = encoded.last_hidden_state
        read = what_is_read(self.config, states, decoder_input_ids, labels)
        lengths = lengths_of(decoder_attention_mask, read, "decoder_attention_mask")
        embedded = self._embed(read)
        layers, _ = self.decoder.read(embedded, encoded.state, lengths)
        top, weights = layers[-1], None
        if self.attention is not None and self.combine is not None:
            (batch, target), source = read.shape, states.shape[1]
            seen = visible(attention_mask, batch, target, source)
            found, weights = self.attention(top, states, None if seen is None else seen[:, 0])
            top = torch.tanh(self.combine(torch.cat([found, top], -1)))
        logits = self.output(self.dropout(top))
        looked = (weights.unsqueeze(1),) if output_attentions and weights is not None else None
        return Seq2SeqOutput(
            None if labels is None else label_loss(logits, labels),
            logits,
            decoder_hidden_states=(embedded, *layers) if output_hidden_states else None,
            cross_attentions=looked,
            encoder_last_hidden_state=states,
            encoder_hidden_states=encoded.hidden_states,
        )

    def encode(
        self,
        input_ids: Int[Tensor, "batch source"] | None,
        attention_mask: Tensor | None = None,
        output_hidden_states: bool = False,
    ) -> SourceOutput:
        """The source's states, and where the decoder starts; arguments as in `forward`."""
        ids = check_source(input_ids, attention_mask, self.config.vocab_size)
        embedded = self._embed(ids)
        layers, state = self.encoder.read(embedded, lengths=lengths_of(attention_mask, ids))
        assert isinstance(state, tuple)
        hidden_states = (embedded, *layers) if output_hidden_states else None
        return SourceOutput(layers[-1], self._first_state(state), hidden_states)

    def _embed(self, ids: Int[Tensor, "batch time"]) -> Float[Tensor, "batch time width"]:
        return self.dropout(self.embedding(ids))

    def _first_state(self, state: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        """Where the decoder starts: each layer's last states, both directions side by side."""
        if not self.config.bidirectional:
            return state
        h, c = (
            part.unflatten(0, (-1, 2)).transpose(1, 2).flatten(2).contiguous() for part in state
        )
        return h, c
