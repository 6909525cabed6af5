"""BERT: an encoder that reads both ways (Devlin et al. 2019; chapter 10).

It is the Transformer's encoder (`lmcourse.models.transformer`), post-norm and with GELU, over the
sum of three embeddings, and a small layer on top that makes one vector of a sequence:

    x_t = Dropout(LayerNorm(word[token_t] + position[t] + segment[segment_t]))      figure 2
    h_1 … h_T = Encoder(x_1 … x_T)             every place sees every other
    pooled = tanh(W h_1 + b)                   h_1 stands over [CLS]

Nothing is new in it but how it is trained: `lmcourse.models.bert_heads` has what stands on top.
"""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, TypedDict, TypeVar, get_args

from jaxtyping import Float, Int
from torch import Tensor, nn

from lmcourse.errors import CourseError
from lmcourse.models import inputs
from lmcourse.models.attention import heads_of_64
from lmcourse.models.checkpoint import Model
from lmcourse.models.embeddings import Embeddings
from lmcourse.models.initialization import draw_weights
from lmcourse.models.outputs import EncoderOutput
from lmcourse.models.reuse import on_top_of
from lmcourse.models.transformer import Encoder, LayerConfig

C = TypeVar("C", bound="BertConfig")
H = TypeVar("H", bound="BertHead")
Problem = Literal["regression", "single_label_classification", "multi_label_classification"]


@dataclass(frozen=True)
class BertConfig:
    """The settings of a BERT, named as in the `transformers` library; those of BERT base.

    Attributes:
        vocab_size: how many tokens there are.
        hidden_size: width of a hidden state.
        num_hidden_layers: how many layers.
        num_attention_heads: how many heads in each; they divide the width.
        intermediate_size: width of the feed-forward network's hidden layer.
        hidden_act: its activation.
        hidden_dropout_prob: dropout of the embeddings and of what each sublayer adds.
        attention_probs_dropout_prob: dropout of the attention's weights.
        max_position_embeddings: the longest sequence.
        type_vocab_size: how many segments are told apart; 0: none.
        initializer_range: standard deviation of the weights at the start.
        layer_norm_eps: what each LayerNorm adds to the variance.
        pad_token_id: the token that fills sequences up.
        add_pooling_layer: whether there is a pooler; heads that need one, or none, see to it.
        num_labels: how many classes a classifying head knows.
        classifier_dropout: dropout below a classifying head; None: ``hidden_dropout_prob``.
        problem_type: what a sequence's label is; None: it is read off ``num_labels`` and the
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
        inputs.check_settings(
            self,
            (
                *("vocab_size", "hidden_size", "num_hidden_layers", "intermediate_size"),
                *("max_position_embeddings", "num_labels"),
            ),
            ("hidden_dropout_prob", "attention_probs_dropout_prob", "classifier_dropout"),
            ("initializer_range", "layer_norm_eps"),
            ("pad_token_id",),
        )
        segments = inputs.whole_number(
            self.type_vocab_size, "type_vocab_size", type(self).__name__, 0
        )
        object.__setattr__(self, "type_vocab_size", segments)
        if self.problem_type not in (None, *get_args(Problem)):
            raise CourseError(
                f"problem_type is {self.problem_type!r} in this {type(self).__name__}.",
                f"Choose one of {', '.join(get_args(Problem))}; or None, and it is read off.",
            )
        _ = self.layer  # which looks at the rest

    @property
    def embedding_size(self) -> int:
        """Width of a token's embedding; some variants have a smaller one than of a state."""
        return self.hidden_size

    @property
    def embeddings(self) -> dict[str, Any]:
        """What `Embeddings` is made of."""
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
        """The published sizes' rule: heads of 64 numbers, and four times the width between.

        ``changes`` come after the rule, and it does not follow them: ``base(hidden_size=384)``
        keeps base's 12 heads and 3072 numbers between; ``sized(12, 384)`` has 6 and 1536.

        Raises:
            CourseError: the width is no multiple of 64.
        """
        sizes = {
            "hidden_size": width,
            "num_hidden_layers": layers,
            "num_attention_heads": heads_of_64(width),
            "intermediate_size": 4 * width,
        }
        return cls(**(sizes | changes))

    @classmethod
    def base(cls: type[C], **changes: Any) -> C:
        """BERT base's size: as a `Bert`, 109,482,240 parameters with the pooler.

        The paper rounds them to 110 M.
        """
        return cls.sized(12, 768, **changes)

    @classmethod
    def large(cls: type[C], **changes: Any) -> C:
        """BERT large's size: as a `Bert`, 335,141,888 parameters with the pooler.

        The paper says 340 M (section 3), which no count of the published weights gives: with the
        heads of the pre-training there are 336,226,108, as the output matrix is the embeddings'.
        """
        return cls.sized(24, 1024, **changes)

    @classmethod
    def tiny(cls: type[C], **changes: Any) -> C:
        """BERT tiny's size: as a `Bert`, 4,385,920 parameters with the pooler.

        It is the smallest of Turc et al. (2019, "Well-read students learn better").
        """
        return cls.sized(2, 128, **changes)

    @classmethod
    def mini(cls: type[C], **changes: Any) -> C:
        """BERT mini's size (Turc et al. 2019): as a `Bert`, 11,170,560 parameters."""
        return cls.sized(4, 256, **changes)


class Pooler(nn.Module):
    """One vector a sequence: a layer with tanh over the first place, where [CLS] stands."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.dense = nn.Linear(width, width)

    def forward(self, hidden: Float[Tensor, "batch time width"]) -> Float[Tensor, "batch width"]:
        return self.dense(hidden[:, 0]).tanh()


class Bert(Model):
    """Hidden states of a sequence, each of which has seen all of it.

    Weights start from N(0, 0.02²) cut off at two standard deviations, as in the published code
    (the `transformers` library does not cut); biases and [PAD]'s embedding at zero.

    What a variant may change: the configuration's class, `make_embeddings`, `make_encoder`, and

    Attributes:
        same_weights: other classes that compute the same with the same weights: heads of each
            stand on all of them.
    """

    Config: ClassVar[type[BertConfig]] = BertConfig
    config: BertConfig
    same_weights: ClassVar[tuple[type["Bert"], ...]] = ()

    def __init__(self, config: BertConfig) -> None:
        super().__init__(config)
        self.embeddings = self.make_embeddings(config)
        self.encoder = self.make_encoder(config)
        self.pooler = Pooler(config.hidden_size) if config.add_pooling_layer else None
        draw_weights(self, config.initializer_range, truncated=True)

    @staticmethod
    def make_embeddings(config: BertConfig) -> Embeddings:
        """What comes below the encoder."""
        return Embeddings(**config.embeddings)

    @staticmethod
    def make_encoder(config: BertConfig) -> nn.Module:
        """The layers: what is called as an `Encoder` is, and returns the same."""
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
        """Read a batch.

        Args:
            input_ids, token_type_ids, position_ids, inputs_embeds: as `Embeddings.forward` has
                them.
            attention_mask: 1 for a token and 0 for padding, (batch, time); or which places each
                one sees, (batch, query, key). None: there is no padding.
            output_attentions: whether each layer's weights are returned, (batch, head, query,
                key). They are what the fused attention need not hold: asking for them costs time.
            output_hidden_states: whether the embedded sequence and what each layer made of it are
                returned.

        Raises:
            CourseError: a shape does not fit, or a number is out of range.
        """
        x = self.embeddings(input_ids, token_type_ids, position_ids, inputs_embeds)
        batch, time, _ = x.shape
        result = self.encoder(
            x,
            inputs.visible(attention_mask, batch, time, time),
            output_attentions=output_attentions,
            output_hidden_states=output_hidden_states,
        )
        return EncoderOutput(
            result.last_hidden_state,
            self.pooler(result.last_hidden_state) if self.pooler is not None else None,
            result.hidden_states,
            result.attentions,
        )


class BertInputs(TypedDict, total=False):
    """What a model with a head on a `Bert` hands on to it: see `Bert.forward`."""

    attention_mask: Tensor | None
    token_type_ids: Tensor | None
    position_ids: Tensor | None
    inputs_embeds: Tensor | None
    output_attentions: bool
    output_hidden_states: bool


class BertHead(Model):
    """What stands on a `Bert`, which it holds as ``bert``.

    What a variant may change, for its head is BERT's else:

    Attributes:
        Config, Base: the classes of the configuration and of what is below.
        pretrained_heads: what is trained before, and copied where both models have it.
        prediction_act: the activation of the masked tokens' head; None: the layers'.
        pooled: whether a sequence's vector C is the pooler's, or else [CLS]'s hidden state.
        Classifier: the class of what scores C, in the heads of sequences and choices; it is made
            of the configuration and the number of scores.
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
        """This head on a copy of a pretrained BERT (Devlin et al. 2019, figure 1).

            tagger = BertForTokenClassification.on_top_of(pretrained, num_labels=9)

        The two heads of pre-training are copied where both models have them; every other head's
        weights are drawn anew. A pooler that this head does not read is dropped. One that it reads
        and the pretrained model lacks is drawn anew, too.

        Args:
            pretrained: the base model, or one with any head on it.
            changes: settings that are to differ from the pretrained model's.

        Raises:
            CourseError: it is no such model; a setting is unknown; a tensor does not fit.
        """
        return on_top_of(cls, pretrained, cls.Base, "bert", changes, cls.pretrained_heads)

    def vector(self, states: EncoderOutput) -> Float[Tensor, "batch width"]:
        """C, what stands for a sequence."""
        pooled = states.pooler_output if self.pooled else states.last_hidden_state[:, 0]
        assert pooled is not None  # a head that reads the pooler's has one below
        return pooled


def with_pooler(config: BertConfig, pooler: bool) -> BertConfig:
    """The configuration of the `Bert` below a head that needs a pooler, or has no use for one."""
    return replace(config, add_pooling_layer=pooler)
