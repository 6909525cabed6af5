"""BERT: a bidirectional encoder (Devlin et al. 2019; chapter 10).

It is the Transformer's encoder (`lmcourse.models.transformer`), post-norm and with GELU, over the
sum of three embeddings, with a pooler on top that represents a sequence as one vector:

    x_t = Dropout(LayerNorm(word[token_t] + position[t] + segment[segment_t]))      figure 2
    h_1 … h_T = Encoder(x_1 … x_T)             all positions attend to all others
    pooled = tanh(W h_1 + b)                   h_1 is the state of [CLS]

`lmcourse.models.bert_heads` has the heads of its pre-training.
"""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, TypedDict, TypeVar, get_args

from jaxtyping import Float, Int
from torch import Tensor, nn

from lmcourse.errors import CourseError
from lmcourse.models import inputs
from lmcourse.models.attention import num_heads_for
from lmcourse.models.checkpoint import Model
from lmcourse.models.embeddings import Embeddings
from lmcourse.models.initialization import init_weights
from lmcourse.models.outputs import EncoderOutput
from lmcourse.models.reuse import on_top_of
from lmcourse.models.transformer import Encoder, LayerConfig

C = TypeVar("C", bound="BertConfig")
H = TypeVar("H", bound="BertHead")
Problem = Literal["regression", "single_label_classification", "multi_label_classification"]


@dataclass(frozen=True)
class BertConfig:
    """Settings of a BERT, named as in the `transformers` library; the defaults are BERT base.

    Attributes:
        vocab_size: number of tokens.
        hidden_size: width of a hidden state.
        num_hidden_layers: number of layers.
        num_attention_heads: number of heads in each layer, which divides the width.
        intermediate_size: width of the feed-forward network's hidden layer.
        hidden_act: its activation.
        hidden_dropout_prob: dropout of the embeddings and of each sublayer's output.
        attention_probs_dropout_prob: dropout of the attention weights.
        max_position_embeddings: maximal length of a sequence.
        type_vocab_size: number of segments; 0: no segment embeddings.
        initializer_range: standard deviation of the initial weights.
        layer_norm_eps: ε of each LayerNorm.
        pad_token_id: the padding token.
        add_pooling_layer: add a pooler; heads set this as they need it.
        num_labels: number of classes of a classification head.
        classifier_dropout: dropout of a classification head; None: ``hidden_dropout_prob``.
        problem_type: the kind of a sequence's label; None: inferred from ``num_labels`` and the
            labels' type, see `lmcourse.models.bert_tasks`.
    """

    vocab_size: int = 30522
    hidden_size: int = 768
    num_hidden_layers: int = 12
    num_attention_heads: int = 12
    intermediate_size: int = 3072
    hidden_act: str = "gelu"
    hidden_dropout_prob: float = 0.1
    attention_probs_dropout_prob: float = 0.1
    max_position_embeddings: int = 512
    type_vocab_size: int = 2
    initializer_range: float = 0.02
    layer_norm_eps: float = 1e-12
    pad_token_id: int | None = 0
    add_pooling_layer: bool = True
    num_labels: int = 2
    classifier_dropout: float | None = None
    problem_type: Problem | None = None

    def __post_init__(self) -> None:
        if self.problem_type not in (None, *get_args(Problem)):
            raise CourseError(
                f"problem_type is {self.problem_type!r} in this {type(self).__name__}.",
                f"Choose one of {', '.join(get_args(Problem))}; or None to infer it.",
            )

    @property
    def embedding_size(self) -> int:
        """Width of a token's embedding; smaller than ``hidden_size`` in some variants."""
        return self.hidden_size

    @property
    def embeddings(self) -> dict[str, Any]:
        """The arguments of `Embeddings`."""
        return {
            "vocab_size": self.vocab_size,
            "width": self.embedding_size,
            "positions": self.max_position_embeddings,
            "segments": self.type_vocab_size,
            "pad_token_id": self.pad_token_id,
            "layer_norm_eps": self.layer_norm_eps,
            "dropout": self.hidden_dropout_prob,
        }

    @property
    def layer(self) -> LayerConfig:
        """The sizes of one layer."""
        return LayerConfig(
            hidden_size=self.hidden_size,
            num_attention_heads=self.num_attention_heads,
            intermediate_size=self.intermediate_size,
            hidden_act=self.hidden_act,
            hidden_dropout_prob=self.hidden_dropout_prob,
            attention_probs_dropout_prob=self.attention_probs_dropout_prob,
            layer_norm_eps=self.layer_norm_eps,
        )

    @classmethod
    def sized(cls: type[C], layers: int, width: int, **changes: Any) -> C:
        """Return settings with one head for every 64 numbers of width, as published.

        The feed-forward network is four times as wide. Neither follows ``changes``:
        ``base(hidden_size=384)`` keeps 12 heads and 3072; ``sized(12, 384)`` has 6 and 1536.
        """
        sizes = {
            "hidden_size": width,
            "num_hidden_layers": layers,
            "num_attention_heads": num_heads_for(width),
            "intermediate_size": 4 * width,
        }
        return cls(**(sizes | changes))

    @classmethod
    def base(cls: type[C], **changes: Any) -> C:
        """BERT base: as a `Bert`, 109,482,240 parameters; 110 M in the paper."""
        return cls.sized(12, 768, **changes)

    @classmethod
    def large(cls: type[C], **changes: Any) -> C:
        """BERT large: as a `Bert`, 335,141,888 parameters; 340 M in the paper (section 3).

        With the pre-training heads there are 336,226,108, as the output matrix is tied.
        """
        return cls.sized(24, 1024, **changes)

    @classmethod
    def tiny(cls: type[C], **changes: Any) -> C:
        """BERT tiny: as a `Bert`, 4,385,920 parameters.

        The smallest of Turc et al. (2019, "Well-read students learn better").
        """
        return cls.sized(2, 128, **changes)

    @classmethod
    def mini(cls: type[C], **changes: Any) -> C:
        """BERT mini (Turc et al. 2019): as a `Bert`, 11,170,560 parameters."""
        return cls.sized(4, 256, **changes)


class Pooler(nn.Module):
    """One vector for each sequence: a layer with tanh over the state of [CLS]."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.dense = nn.Linear(width, width)

    def forward(self, hidden: Float[Tensor, "batch time width"]) -> Float[Tensor, "batch width"]:
        return self.dense(hidden[:, 0]).tanh()  # [batch, width]


class Bert(Model):
    """Hidden states of a sequence, each computed from all positions.

    Weights are initialized from N(0, 0.02²) truncated at two standard deviations, as in the
    published code (the `transformers` library does not truncate); biases and [PAD]'s embedding are
    zero. A variant overrides ``Config``, `make_embeddings` or `make_encoder`.

    Attributes:
        same_weights: other classes that compute the same with the same weights, so that their heads
            are interchangeable.
    """

    Config: ClassVar[type[BertConfig]] = BertConfig
    config: BertConfig
    same_weights: ClassVar[tuple[type["Bert"], ...]] = ()

    def __init__(self, config: BertConfig) -> None:
        super().__init__(config)
        self.embeddings = self.make_embeddings(config)
        self.encoder = self.make_encoder(config)
        self.pooler = Pooler(config.hidden_size) if config.add_pooling_layer else None
        init_weights(self, config.initializer_range, truncated=True)

    @staticmethod
    def make_embeddings(config: BertConfig) -> Embeddings:
        """Build the embeddings."""
        return Embeddings(**config.embeddings)

    @staticmethod
    def make_encoder(config: BertConfig) -> nn.Module:
        """Build the layers, with the interface of `Encoder`."""
        return Encoder(config.layer, config.num_hidden_layers)

    def forward(
        self,
        input_ids: Int[Tensor, "batch time"] | None = None,
        attention_mask: Tensor | None = None,
        token_type_ids: Int[Tensor, "batch time"] | None = None,
        position_ids: Int[Tensor, "batch time"] | None = None,
        inputs_embeds: Float[Tensor, "batch time width"] | None = None,
        *,
        output_attentions: bool = False,
        output_hidden_states: bool = False,
    ) -> EncoderOutput:
        """Compute the hidden states of a batch.

        Args:
            input_ids, token_type_ids, position_ids, inputs_embeds: as in `Embeddings.forward`.
            attention_mask: 1 for a token and 0 for padding, (batch, time), or one row for each
                query, (batch, query, key). None: no padding.
            output_attentions: return each layer's attention weights, (batch, head, query, key);
                this is slower, since PyTorch's fused attention does not compute them.
            output_hidden_states: return the embedded sequence and each layer's output.
        """
        x = self.embeddings(input_ids, token_type_ids, position_ids, inputs_embeds)
        batch, time, _ = x.shape  # [batch, time, width]
        result = self.encoder(
            x,
            inputs.visible(attention_mask, batch, time, time),  # [batch, 1, 1 or query, key]
            output_attentions=output_attentions,
            output_hidden_states=output_hidden_states,
        )
        hidden = result.last_hidden_state  # [batch, time, width]
        pooled = None if self.pooler is None else self.pooler(hidden)  # [batch, width]
        return EncoderOutput(hidden, pooled, result.hidden_states, result.attentions)


class BertInputs(TypedDict, total=False):
    """Arguments that a model with a head passes to its `Bert`: see `Bert.forward`."""

    attention_mask: Tensor | None
    token_type_ids: Tensor | None
    position_ids: Tensor | None
    inputs_embeds: Tensor | None
    output_attentions: bool
    output_hidden_states: bool


class BertHead(Model):
    """A `Bert`, its attribute ``bert``, with a head. Variants override these attributes:

    Attributes:
        Config, Base: the classes of the configuration and of the base model.
        pretrained_heads: heads of pre-training, copied where both models have them.
        prediction_act: the activation of the masked language modeling head; None: the layers'.
        pooled: represent a sequence by the pooler's output, or else by [CLS]'s state.
        Classifier: the class of the head that classifies sequences, built from the
            configuration and the number of classes.
    """

    Config: ClassVar[type[BertConfig]] = BertConfig
    config: BertConfig
    Base: ClassVar[type[Bert]] = Bert
    pretrained_heads: ClassVar[tuple[str, ...]] = ("predictions", "seq_relationship")
    prediction_act: ClassVar[str | None] = None
    pooled: ClassVar[bool] = True
    Classifier: ClassVar[type[nn.Module]]

    @classmethod
    def on_top_of(cls: type[H], pretrained: Model, **changes: Any) -> H:
        """Build this head on a copy of a pretrained BERT (Devlin et al. 2019, figure 1).

            tagger = BertForTokenClassification.on_top_of(pretrained, num_labels=9)

        The pre-training heads are copied where both models have them; all other heads, and a pooler
        that the pretrained model lacks, are initialized anew. An unused pooler is dropped.

        Args:
            pretrained: the base model, or one with any head.
            changes: settings that differ from the pretrained model's.
        """
        return on_top_of(cls, pretrained, cls.Base, "bert", changes, cls.pretrained_heads)

    def vector(self, states: EncoderOutput) -> Float[Tensor, "batch width"]:
        """Return C, the vector that represents each sequence."""
        pooled = states.pooler_output if self.pooled else states.last_hidden_state[:, 0]
        assert pooled is not None  # a head that needs a pooler adds one
        return pooled


def with_pooler(config: BertConfig, pooler: bool) -> BertConfig:
    """Return the configuration of a head's base model, with or without a pooler."""
    return replace(config, add_pooling_layer=pooler)
