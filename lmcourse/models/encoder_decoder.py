"""The whole Transformer: an encoder reads, a decoder writes and looks back at it (chapter 09).

Vaswani et al. (2017), with their choices: one table of embeddings for source, target and softmax,
multiplied by √width where it embeds (section 3.4); sinusoidal positions (3.5); dropout on the sums
of both (5.4); label smoothing (5.4), where a share ε of each target's probability goes evenly to
the whole vocabulary:

    loss = −(1 − ε) log p(target) − ε/V Σ_v log p(v)
"""

import math
from dataclasses import dataclass, field, replace

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional

from lmcourse.models.checkpoint import Model
from lmcourse.models.inputs import check_ids, check_settings, visible
from lmcourse.models.losses import label_loss
from lmcourse.models.outputs import EncoderOutput, Seq2SeqOutput
from lmcourse.models.source_and_target import check_encoded, check_source, what_is_read
from lmcourse.models.transformer import Decoder, Encoder, LayerConfig


@dataclass(frozen=True)
class TransformerConfig:
    """The sizes of a `Transformer`.

    Attributes:
        vocab_size: tokens of source and target together.
        layer: the sizes of each layer.
        num_hidden_layers: how many in the encoder, and how many in the decoder.
        max_position_embeddings: the longest sequence that is taken, though sinusoids have no end.
        label_smoothing: ε.
        decoder_start_token_id: what the decoder reads first.
        pad_token_id: what it reads where a label is ignored.
    """

    vocab_size: int = 37_000
    layer: LayerConfig = field(default_factory=LayerConfig)
    num_hidden_layers: int = 6
    max_position_embeddings: int = 512
    label_smoothing: float = 0.1
    decoder_start_token_id: int = 1
    pad_token_id: int = 0

    def __post_init__(self) -> None:
        sizes = ("vocab_size", "num_hidden_layers", "max_position_embeddings")
        ids = ("decoder_start_token_id", "pad_token_id")
        check_settings(self, sizes, ("label_smoothing",), ids=ids)

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
    """Source in, target out: p(y_t | y_1 … y_{t-1}, x) for every t at once."""

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
        """Read the source, and predict each token of the target from those before it.

        Args:
            input_ids: the source; not needed beside ``encoder_outputs``.
            attention_mask: 1 where the source has a token, 0 where it is padded,
                (batch, source); needed beside ``encoder_outputs``, too.
            decoder_input_ids: what the decoder reads; if it is not given, the labels one place to
                the right, behind the start token.
            decoder_attention_mask: the same for what the decoder reads. As padding stands behind
                the text, and no place looks ahead, it is seldom needed.
            labels: the target; ``IGNORED`` where there is none.
            encoder_outputs: what an earlier call of `encode` gave, so that decoding token by token
                reads the source once.
            output_attentions, output_hidden_states: whether these are returned.

        Raises:
            CourseError: an input does not fit.
        """
        wanted = {
            "output_attentions": output_attentions,
            "output_hidden_states": output_hidden_states,
        }
        encoded = encoder_outputs
        if encoded is None:
            encoded = self.encode(input_ids, attention_mask, **wanted)
        else:
            width = self.config.layer.hidden_size
            check_encoded(encoded, EncoderOutput, width, input_ids, attention_mask)
        states, positions = encoded.last_hidden_state, self.config.max_position_embeddings
        read = what_is_read(self.config, states, decoder_input_ids, labels, positions)
        (batch, target), source = read.shape, states.shape[1]
        decoded = self.decoder(
            self.embed(read),
            states,
            visible(decoder_attention_mask, batch, target, target, "decoder_attention_mask"),
            visible(attention_mask, batch, target, source),
            **wanted,
        )
        logits = functional.linear(decoded.last_hidden_state, self.embedding.weight)
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
        """The source's states, which the decoder looks at; arguments as in `forward`."""
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
        """Tokens and their positions, as numbers (sections 3.4 and 3.5)."""
        width = self.config.layer.hidden_size
        check_ids(ids, self.config.vocab_size, self.config.max_position_embeddings, "ids")
        scaled = self.embedding(ids) * math.sqrt(width)
        return self.dropout(scaled + sinusoids(ids.shape[1], width).to(scaled))


def sinusoids(positions: int, width: int) -> Float[Tensor, "positions width"]:
    """The positions' encodings of section 3.5: sines and cosines of falling frequency.

    PE(pos, 2i) = sin(pos / 10000^(2i/width))      PE(pos, 2i+1) = cos(the same)

    In double precision: a model rounds them to its own.
    """
    places = torch.arange(positions, dtype=torch.float64).unsqueeze(1)
    even = torch.arange(0, width, 2, dtype=torch.float64)
    angles = places * torch.exp(-math.log(10_000.0) * even / width)
    table = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)
    return table[:, :width]
