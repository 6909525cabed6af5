"""The whole Transformer, an encoder and a decoder (chapter 09).

After Vaswani et al. (2017): one embedding matrix for source, target and softmax, multiplied by
√width as an input (section 3.4); sinusoidal positions (3.5); dropout on the sum of both (5.4); and
label smoothing (5.4), which spreads a share ε of each target's probability over the vocabulary:

    loss = −(1 − ε) log p(target) − ε/V Σ_v log p(v)
"""

import math
from dataclasses import dataclass, field, replace

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional

from lmcourse.models.checkpoint import Model
from lmcourse.models.inputs import check_ids, visible
from lmcourse.models.losses import label_loss
from lmcourse.models.outputs import EncoderOutput, Seq2SeqOutput
from lmcourse.models.source_and_target import check_source, decoder_inputs
from lmcourse.models.transformer import Decoder, Encoder, LayerConfig


@dataclass(frozen=True)
class TransformerConfig:
    """Settings of a `Transformer`.

    Attributes:
        vocab_size: number of tokens of source and target together.
        layer: the sizes of each layer.
        num_hidden_layers: number of layers in the encoder and in the decoder.
        max_position_embeddings: maximal length of a sequence.
        label_smoothing: ε.
        decoder_start_token_id: the decoder's first input.
        pad_token_id: replaces ignored labels in the decoder's input.
    """

    vocab_size: int = 37_000
    layer: LayerConfig = field(default_factory=LayerConfig)
    num_hidden_layers: int = 6
    max_position_embeddings: int = 512
    label_smoothing: float = 0.1
    decoder_start_token_id: int = 1
    pad_token_id: int = 0

    @classmethod
    def base(cls) -> "TransformerConfig":
        """The base model (table 3): 63.1 M parameters; the paper says 65 · 10⁶."""
        return cls()

    @classmethod
    def big(cls) -> "TransformerConfig":
        """The big model (table 3): 214 M parameters; the paper says 213 · 10⁶."""
        layer = LayerConfig(
            hidden_size=1024,
            num_attention_heads=16,
            intermediate_size=4096,
            hidden_dropout_prob=0.3,
        )
        return replace(cls(), layer=layer)


class Transformer(Model):
    """p(y_t | y_1 … y_{t-1}, x) for every position t of the target at once."""

    Config = TransformerConfig
    config: TransformerConfig

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__(config)
        width, final_norm = config.layer.hidden_size, config.layer.norm_first
        self.embedding = nn.Embedding(config.vocab_size, width)
        self.dropout = nn.Dropout(config.layer.hidden_dropout_prob)
        self.encoder = Encoder(config.layer, config.num_hidden_layers, final_norm=final_norm)
        self.decoder = Decoder(config.layer, config.num_hidden_layers, final_norm=final_norm)
        for parameter in self.parameters():
            if parameter.ndim > 1:
                nn.init.xavier_uniform_(parameter)
        nn.init.normal_(self.embedding.weight, std=width**-0.5)  # so that logits start near N(0, 1)

    def forward(
        self,
        input_ids: Int[Tensor, "batch source"] | None = None,
        attention_mask: Tensor | None = None,
        decoder_input_ids: Int[Tensor, "batch target"] | None = None,
        decoder_attention_mask: Tensor | None = None,
        labels: Int[Tensor, "batch target"] | None = None,
        encoder_outputs: EncoderOutput | None = None,
        output_attentions: bool = False,
        output_hidden_states: bool = False,
    ) -> Seq2SeqOutput:
        """Predict each token of the target from the source and the previous tokens.

        Args:
            input_ids: the source; optional with ``encoder_outputs``.
            attention_mask: 1 for a source token and 0 for padding, (batch, source); also needed
                with ``encoder_outputs``.
            decoder_input_ids: the decoder's input; by default the labels, shifted right after the
                start token.
            decoder_attention_mask: the mask of the decoder's input, seldom needed, since the causal
                mask hides padding on the right.
            labels: the target; ``IGNORED`` where there is none.
            encoder_outputs: an output of `encode` to reuse.
            output_attentions, output_hidden_states: as in `Encoder.forward`.
        """
        options = {
            "output_attentions": output_attentions,
            "output_hidden_states": output_hidden_states,
        }
        encoded = encoder_outputs
        if encoded is None:
            encoded = self.encode(input_ids, attention_mask, **options)
        states, positions = encoded.last_hidden_state, self.config.max_position_embeddings
        ids = decoder_inputs(self.config, states, decoder_input_ids, labels, positions)
        (batch, target), source = ids.shape, states.shape[1]
        decoded = self.decoder(
            self.embed(ids),  # [batch, target, width]
            states,  # [batch, source, width]
            visible(decoder_attention_mask, batch, target, target, "decoder_attention_mask"),
            visible(attention_mask, batch, target, source),
            **options,
        )
        logits = functional.linear(
            decoded.last_hidden_state, self.embedding.weight
        )  # [batch, target, vocab]
        loss = None
        if labels is not None:
            loss = label_loss(logits, labels, self.config.label_smoothing)
        return Seq2SeqOutput(
            loss,
            logits,
            decoder_hidden_states=decoded.hidden_states,
            decoder_attentions=decoded.attentions,
            cross_attentions=decoded.cross_attentions,
            encoder_last_hidden_state=states,
            encoder_hidden_states=encoded.hidden_states,
            encoder_attentions=encoded.attentions,
        )

    def encode(
        self,
        input_ids: Int[Tensor, "batch source"] | None,
        attention_mask: Tensor | None = None,
        output_attentions: bool = False,
        output_hidden_states: bool = False,
    ) -> EncoderOutput:
        """Return the source's states for the decoder; arguments as in `forward`."""
        vocab, positions = self.config.vocab_size, self.config.max_position_embeddings
        ids = check_source(input_ids, attention_mask, vocab, positions)
        batch, source = ids.shape
        return self.encoder(
            self.embed(ids),
            visible(attention_mask, batch, source, source),
            output_attentions=output_attentions,
            output_hidden_states=output_hidden_states,
        )

    def embed(self, ids: Int[Tensor, "batch time"]) -> Float[Tensor, "batch time width"]:
        """Embed tokens and positions (sections 3.4 and 3.5)."""
        width = self.config.layer.hidden_size
        check_ids(ids, self.config.vocab_size, self.config.max_position_embeddings, "ids")
        scaled = self.embedding(ids) * math.sqrt(width)
        return self.dropout(scaled + sinusoids(ids.shape[1], width).to(scaled))


def sinusoids(positions: int, width: int) -> Float[Tensor, "positions width"]:
    """Return the position encodings of section 3.5: sines and cosines of falling frequency.

    PE(pos, 2i) = sin(pos / 10000^(2i/width))      PE(pos, 2i+1) = cos(the same)

    They are in float64; models convert them to their own type.
    """
    position = torch.arange(positions, dtype=torch.float64).unsqueeze(1)
    even = torch.arange(0, width, 2, dtype=torch.float64)
    angles = position * torch.exp(-math.log(10_000.0) * even / width)
    table = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)
    return table[:, :width]
