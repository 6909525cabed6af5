"""The Transformer: attention and a feed-forward network at each position, stacked (chapter 09).

After Vaswani et al. (2017, "Attention is all you need"), whose section numbers are cited below.
BERT uses this encoder, GPT the same one with a causal mask.

Each sublayer is inside a residual connection with a LayerNorm. The paper normalizes after the
addition (post-norm), as BERT does; GPT-2 and most later models normalize the sublayer's input
(pre-norm; Xiong et al. 2020 explain why):

    post-norm   x ← LayerNorm(x + Dropout(sublayer(x)))
    pre-norm    x ← x + Dropout(sublayer(LayerNorm(x)))
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

from jaxtyping import Bool, Float
from torch import Tensor, nn

from lmcourse.models.activations import activation_of
from lmcourse.models.attention import MultiHeadAttention
from lmcourse.models.conversion import transformer as conversion
from lmcourse.models.conversion.torch_layers import TorchCounterpart
from lmcourse.models.outputs import EncoderOutput


@dataclass(frozen=True)
class LayerConfig:
    """The sizes of one layer.

    Attributes:
        hidden_size: width of a hidden state.
        num_attention_heads: number of heads, which divides the width.
        intermediate_size: width of the feed-forward network's hidden layer.
        hidden_act: its activation, one of `lmcourse.models.activations`.
        hidden_dropout_prob: dropout of each sublayer's output.
        attention_probs_dropout_prob: dropout of the attention weights.
        activation_dropout_prob: dropout inside the feed-forward network.
        layer_norm_eps: ε of LayerNorm.
        norm_first: pre-norm instead of post-norm.
    """

    hidden_size: int = 512
    num_attention_heads: int = 8
    intermediate_size: int = 2048
    hidden_act: str = "relu"
    hidden_dropout_prob: float = 0.1
    attention_probs_dropout_prob: float = 0.1
    activation_dropout_prob: float = 0.0
    layer_norm_eps: float = 1e-5
    norm_first: bool = False


class Residual(nn.Module):
    """The residual connection around a sublayer, with dropout and LayerNorm."""

    def __init__(self, config: LayerConfig) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        self.norm_first = config.norm_first

    def pre_norm(self, x: Float[Tensor, "batch time width"]) -> Float[Tensor, "batch time width"]:
        """Return the sublayer's input."""
        return self.norm(x) if self.norm_first else x

    def post_norm(
        self, x: Float[Tensor, "batch time width"], change: Float[Tensor, "batch time width"]
    ) -> Float[Tensor, "batch time width"]:
        """Add the sublayer's output to x, and normalize if this is post-norm."""
        x = x + self.dropout(change)
        return x if self.norm_first else self.norm(x)


class FeedForward(nn.Module):
    """A network of two layers, the same at each position (section 3.3)."""

    def __init__(self, config: LayerConfig) -> None:
        super().__init__()
        self.intermediate = nn.Linear(config.hidden_size, config.intermediate_size)
        self.output = nn.Linear(config.intermediate_size, config.hidden_size)
        self.activation = activation_of(config.hidden_act)
        self.dropout = nn.Dropout(config.activation_dropout_prob)

    def forward(self, x: Float[Tensor, "batch time width"]) -> Float[Tensor, "batch time width"]:
        hidden = self.activation(self.intermediate(x))  # [batch, time, intermediate]
        return self.output(self.dropout(hidden))  # [batch, time, width]


class EncoderLayer(TorchCounterpart):
    """Self-attention, then the feed-forward network (section 3.1)."""

    torch_layer = conversion.layer(nn.TransformerEncoderLayer)

    def __init__(self, config: LayerConfig) -> None:
        super().__init__()
        self.config = config
        self.attention = _attention(config)
        self.attention_residual = Residual(config)
        self.feed_forward = FeedForward(config)
        self.feed_forward_residual = Residual(config)

    def forward(
        self,
        x: Float[Tensor, "batch time width"],
        visible: Bool[Tensor, "..."] | None = None,
        *,
        causal: bool = False,
        need_weights: bool = False,
    ) -> tuple[Float[Tensor, "batch time width"], Float[Tensor, "batch head time time"] | None]:
        """Return the new hidden states, and the attention weights (see `attend`) or None."""
        attention_output, weights = self.attention(
            self.attention_residual.pre_norm(x),
            visible=visible,
            causal=causal,
            need_weights=need_weights,
        )  # [batch, time, width], [batch, head, time, time]
        x = self.attention_residual.post_norm(x, attention_output)  # [batch, time, width]
        change = self.feed_forward(self.feed_forward_residual.pre_norm(x))  # [batch, time, width]
        return self.feed_forward_residual.post_norm(x, change), weights


class Encoder(TorchCounterpart):
    """A stack of encoder layers.

    Args:
        layer: the sizes of each layer.
        num_layers: number of layers.
        causal: hide the positions that follow the query's.
        final_norm: apply a LayerNorm after the last layer, as pre-norm needs it.
    """

    torch_layer = conversion.encoder()

    def __init__(
        self, layer: LayerConfig, num_layers: int, *, causal: bool = False, final_norm: bool = False
    ) -> None:
        super().__init__()
        self.config = layer
        self.causal = causal
        self.layers = nn.ModuleList(EncoderLayer(layer) for _ in range(num_layers))
        self.norm = _final_norm(layer) if final_norm else None

    def forward(
        self,
        x: Float[Tensor, "batch time width"],
        visible: Bool[Tensor, "..."] | None = None,
        *,
        output_attentions: bool = False,
        output_hidden_states: bool = False,
    ) -> EncoderOutput:
        """Apply all layers.

        Args:
            x: the embedded sequence.
            visible: True where a position may attend to another, broadcast to
                (batch, head, time, time).
            output_attentions: return each layer's attention weights.
            output_hidden_states: return the first layer's input and each layer's output.
        """
        layers = (
            partial(layer, visible=visible, causal=self.causal, need_weights=output_attentions)
            for layer in self.layers
        )
        return run_layers(layers, x, output_attentions, output_hidden_states, self.norm)


class DecoderLayer(TorchCounterpart):
    """Causal self-attention, attention to the encoder's states, the feed-forward network."""

    torch_layer = conversion.layer(nn.TransformerDecoderLayer)

    def __init__(self, config: LayerConfig) -> None:
        super().__init__()
        self.config = config
        self.attention = _attention(config)
        self.attention_residual = Residual(config)
        self.cross_attention = _attention(config)
        self.cross_attention_residual = Residual(config)
        self.feed_forward = FeedForward(config)
        self.feed_forward_residual = Residual(config)

    def forward(
        self,
        x: Float[Tensor, "batch query width"],
        context: Float[Tensor, "batch key width"],
        visible: Bool[Tensor, "..."] | None = None,
        context_visible: Bool[Tensor, "..."] | None = None,
        *,
        need_weights: bool = False,
    ) -> tuple[Float[Tensor, "batch query width"], Tensor | None, Tensor | None]:
        """Return the new hidden states, and the weights of both attentions or None twice."""
        attention_output, weights = self.attention(
            self.attention_residual.pre_norm(x),
            visible=visible,
            causal=True,
            need_weights=need_weights,
        )  # [batch, query, width], [batch, head, query, query]
        x = self.attention_residual.post_norm(x, attention_output)  # [batch, query, width]
        attention_output, cross_weights = self.cross_attention(
            self.cross_attention_residual.pre_norm(x),
            context,
            context_visible,
            need_weights=need_weights,
        )  # [batch, query, width], [batch, head, query, key]
        x = self.cross_attention_residual.post_norm(x, attention_output)  # [batch, query, width]
        change = self.feed_forward(self.feed_forward_residual.pre_norm(x))  # [batch, query, width]
        return self.feed_forward_residual.post_norm(x, change), weights, cross_weights


class Decoder(TorchCounterpart):
    """A stack of decoder layers; arguments as for `Encoder`, but always causal."""

    torch_layer = conversion.decoder()

    def __init__(self, layer: LayerConfig, num_layers: int, *, final_norm: bool = False) -> None:
        super().__init__()
        self.config = layer
        self.layers = nn.ModuleList(DecoderLayer(layer) for _ in range(num_layers))
        self.norm = _final_norm(layer) if final_norm else None

    def forward(
        self,
        x: Float[Tensor, "batch query width"],
        context: Float[Tensor, "batch key width"],
        visible: Bool[Tensor, "..."] | None = None,
        context_visible: Bool[Tensor, "..."] | None = None,
        *,
        output_attentions: bool = False,
        output_hidden_states: bool = False,
    ) -> EncoderOutput:
        """Apply all layers.

        Args:
            x: the embedded target prefix.
            context: the encoder's last hidden state.
            visible, context_visible: True where a position may attend to the target (in addition
                to the causal mask) and to the context.
            output_attentions, output_hidden_states: as in `Encoder.forward`.
        """
        layers = (
            partial(
                layer,
                context=context,
                visible=visible,
                context_visible=context_visible,
                need_weights=output_attentions,
            )
            for layer in self.layers
        )
        return run_layers(layers, x, output_attentions, output_hidden_states, self.norm)


def run_layers(
    layers: Iterable[Callable[[Tensor], tuple[Any, ...]]],
    x: Float[Tensor, "batch time width"],
    output_attentions: bool,
    output_hidden_states: bool,
    norm: nn.Module | None = None,
) -> EncoderOutput:
    """Apply layers one after the other, then ``norm``.

    Args:
        layers: functions of the hidden states; each returns the new ones and its attention weights.
        output_attentions, output_hidden_states: as in `Encoder.forward`.
    """
    hidden_states, attentions = [], []
    for layer in layers:
        if output_hidden_states:
            hidden_states.append(x)
        x, *weights = layer(x)  # [batch, time, width], [batch, head, query, key] each
        attentions.append(weights)
    x = x if norm is None else norm(x)
    collected = list(zip(*attentions, strict=True)) or [()] if output_attentions else []
    return EncoderOutput(
        x,
        hidden_states=(*hidden_states, x) if output_hidden_states else None,
        attentions=collected[0] if collected else None,
        cross_attentions=collected[1] if len(collected) > 1 else None,
    )


def _attention(config: LayerConfig) -> MultiHeadAttention:
    return MultiHeadAttention(
        config.hidden_size, config.num_attention_heads, config.attention_probs_dropout_prob
    )


def _final_norm(layer: LayerConfig) -> nn.LayerNorm:
    return nn.LayerNorm(layer.hidden_size, eps=layer.layer_norm_eps)
