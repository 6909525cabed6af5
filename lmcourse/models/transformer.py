"""The Transformer: attention and a small network at each place, stacked (chapter 09).

After Vaswani et al. (2017, "Attention is all you need"); section numbers below are theirs. The
parts are shared: BERT is this encoder, GPT the same one with a causal mask.

Each sublayer stands in a residual connection with a LayerNorm, which the paper puts behind
(post-norm), as BERT and its family do; GPT-2 and most large models since have it in front
(pre-norm; Xiong et al. 2020 say why):

    post-norm   x ← LayerNorm(x + Dropout(sublayer(x)))
    pre-norm    x ← x + Dropout(sublayer(LayerNorm(x)))
"""

from dataclasses import dataclass

from jaxtyping import Bool, Float
from torch import Tensor, nn

from lmcourse.models.activations import activation_of
from lmcourse.models.attention import MultiHeadAttention, check_heads
from lmcourse.models.checkpoint import TorchCounterpart
from lmcourse.models.inputs import check_settings
from lmcourse.models.outputs import EncoderOutput


@dataclass(frozen=True)
class LayerConfig:
    """The sizes of one layer.

    Attributes:
        hidden_size: width of what each place holds.
        num_attention_heads: how many; they divide the width.
        intermediate_size: width of the feed-forward network's hidden layer.
        hidden_act: its activation, one of `lmcourse.models.activations`.
        hidden_dropout_prob: dropout of what each sublayer adds.
        attention_probs_dropout_prob: dropout of the attention's weights.
        activation_dropout_prob: dropout between the two steps of the feed-forward network.
        layer_norm_eps: what LayerNorm adds to the variance.
        norm_first: pre-norm in place of post-norm.
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

    def __post_init__(self) -> None:
        sizes = ("hidden_size", "num_attention_heads", "intermediate_size")
        dropouts = ("hidden_dropout_prob", "attention_probs_dropout_prob")
        check_settings(self, sizes, (*dropouts, "activation_dropout_prob"), ("layer_norm_eps",))
        check_heads(self.hidden_size, self.num_attention_heads)
        activation_of(self.hidden_act)


class Residual(nn.Module):
    """What stands around a sublayer: residual connection, dropout and LayerNorm."""

    def __init__(self, config: LayerConfig) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        self.norm_first = config.norm_first

    def before(self, x: Float[Tensor, "batch time width"]) -> Float[Tensor, "batch time width"]:
        """What the sublayer reads."""
        return self.norm(x) if self.norm_first else x

    def after(
        self, x: Float[Tensor, "batch time width"], change: Float[Tensor, "batch time width"]
    ) -> Float[Tensor, "batch time width"]:
        """What goes on, from what came in and what the sublayer made of it."""
        x = x + self.dropout(change)
        return x if self.norm_first else self.norm(x)


class FeedForward(nn.Module):
    """A network of two layers, the same at each place (section 3.3)."""

    def __init__(self, config: LayerConfig) -> None:
        super().__init__()
        self.intermediate = nn.Linear(config.hidden_size, config.intermediate_size)
        self.output = nn.Linear(config.intermediate_size, config.hidden_size)
        self.activation = activation_of(config.hidden_act)
        self.dropout = nn.Dropout(config.activation_dropout_prob)

    def forward(self, x: Float[Tensor, "batch time width"]) -> Float[Tensor, "batch time width"]:
        return self.output(self.dropout(self.activation(self.intermediate(x))))


class EncoderLayer(TorchCounterpart):
    """Self-attention, then the feed-forward network (section 3.1)."""

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
        """One step of every place, and the attention's weights (see `attend`) or None."""
        found, weights = self.attention(
            self.attention_residual.before(x),
            visible=visible,
            causal=causal,
            need_weights=need_weights,
        )
        x = self.attention_residual.after(x, found)
        change = self.feed_forward(self.feed_forward_residual.before(x))
        return self.feed_forward_residual.after(x, change), weights


class Encoder(TorchCounterpart):
    """A stack of layers.

    Args:
        layer: the sizes of each.
        num_layers: how many.
        causal: whether a place may look only at itself and what stands before it.
        final_norm: whether a LayerNorm stands behind the last layer, as pre-norm needs it.
    """

    def __init__(
        self, layer: LayerConfig, num_layers: int, *, causal: bool = False, final_norm: bool = False
    ) -> None:
        super().__init__()
        self.config = layer
        self.causal = causal
        self.layers = nn.ModuleList(EncoderLayer(layer) for _ in range(num_layers))
        self.norm = (
            nn.LayerNorm(layer.hidden_size, eps=layer.layer_norm_eps) if final_norm else None
        )

    def forward(
        self,
        x: Float[Tensor, "batch time width"],
        visible: Bool[Tensor, "..."] | None = None,
        *,
        output_attentions: bool = False,
        output_hidden_states: bool = False,
    ) -> EncoderOutput:
        """All layers in turn.

        Args:
            x: the embedded sequence.
            visible: True where a place may look; broadcasts to (batch, head, time, time).
            output_attentions: whether each layer's weights are returned.
            output_hidden_states: whether what went into each layer is returned, and what came out
                of all.
        """
        hidden_states, attentions = [], []
        for layer in self.layers:
            if output_hidden_states:
                hidden_states.append(x)
            x, weights = layer(x, visible, causal=self.causal, need_weights=output_attentions)
            attentions.append(weights)
        x = x if self.norm is None else self.norm(x)
        return EncoderOutput(
            x,
            hidden_states=(*hidden_states, x) if output_hidden_states else None,
            attentions=tuple(attentions) if output_attentions else None,
        )


class DecoderLayer(TorchCounterpart):
    """Causal self-attention, attention to the encoder's states, the feed-forward network."""

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
        """One step of every place, and the weights of both attentions or None twice."""
        found, weights = self.attention(
            self.attention_residual.before(x),
            visible=visible,
            causal=True,
            need_weights=need_weights,
        )
        x = self.attention_residual.after(x, found)
        found, cross_weights = self.cross_attention(
            self.cross_attention_residual.before(x),
            context,
            context_visible,
            need_weights=need_weights,
        )
        x = self.cross_attention_residual.after(x, found)
        change = self.feed_forward(self.feed_forward_residual.before(x))
        return self.feed_forward_residual.after(x, change), weights, cross_weights


class Decoder(TorchCounterpart):
    """A stack of decoder layers; its arguments are those of `Encoder`, which is causal here."""

    def __init__(self, layer: LayerConfig, num_layers: int, *, final_norm: bool = False) -> None:
        super().__init__()
        self.config = layer
        self.layers = nn.ModuleList(DecoderLayer(layer) for _ in range(num_layers))
        self.norm = (
            nn.LayerNorm(layer.hidden_size, eps=layer.layer_norm_eps) if final_norm else None
        )

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
        """All layers in turn.

        Args:
            x: the embedded target, as far as it is known.
            context: the encoder's last hidden state.
            visible, context_visible: True where a place may look, in the target (besides the
                causal mask) and in the context.
            output_attentions, output_hidden_states: as in `Encoder.forward`.
        """
        hidden_states, attentions, cross_attentions = [], [], []
        for layer in self.layers:
            if output_hidden_states:
                hidden_states.append(x)
            x, weights, cross_weights = layer(
                x, context, visible, context_visible, need_weights=output_attentions
            )
            attentions.append(weights)
            cross_attentions.append(cross_weights)
        x = x if self.norm is None else self.norm(x)
        return EncoderOutput(
            x,
            hidden_states=(*hidden_states, x) if output_hidden_states else None,
            attentions=tuple(attentions) if output_attentions else None,
            cross_attentions=tuple(cross_attentions) if output_attentions else None,
        )


def _attention(config: LayerConfig) -> MultiHeadAttention:
    return MultiHeadAttention(
        config.hidden_size, config.num_attention_heads, config.attention_probs_dropout_prob
    )
