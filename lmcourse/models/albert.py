"""ALBERT: BERT with fewer weights (Lan et al. 2020; chapter 13).

ALBERT differs from BERT in three ways. Embeddings are narrower than hidden states
(`lmcourse.models.factorized_embeddings`). Layers share their weights, so twelve layers are computed
and one is stored:

    a_l = LayerNorm(h_{l-1} + attention(h_{l-1}))     with the same weights for all l, or its own
    h_l = LayerNorm(a_l + FFN(a_l))                   with the same weights for all l, or its own

The second pre-training task is harder: the two segments are always adjacent, and the model predicts
whether they are in order.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, Unpack, get_args

from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from lmcourse.errors import CourseError
from lmcourse.models.attention import MultiHeadAttention
from lmcourse.models.bert import Bert, BertConfig, BertInputs, C
from lmcourse.models.bert_heads import BertForMaskedLM, NextSentenceHead, PreTrainingHeads
from lmcourse.models.bert_tasks import (
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
)
from lmcourse.models.embeddings import Embeddings
from lmcourse.models.factorized_embeddings import FactorizedEmbeddings
from lmcourse.models.outputs import EncoderOutput, Layers, ModelOutput, Terms
from lmcourse.models.transformer import FeedForward, Residual, run_layers

Sharing = Literal["all", "attention", "ffn", "none"]


@dataclass(frozen=True)
class AlbertConfig(BertConfig):
    """Settings of an ALBERT; the defaults are ALBERT base (transformers' are xxlarge).

    Attributes:
        embedding_size: width of a token's embedding.
        sharing: the weights that layers share: all, the attention's, the feed-forward network's
            ("ffn"), or none. A LayerNorm belongs to its sublayer.
        num_hidden_groups: number of groups of layers; only layers of the same group share.
        classifier_dropout: dropout of every classification head but the one for questions.
    """

    vocab_size: int = 30000
    embedding_size: int = 128
    hidden_act: str = "gelu_new"
    hidden_dropout_prob: float = 0.0
    attention_probs_dropout_prob: float = 0.0
    classifier_dropout: float = 0.1
    sharing: Sharing = "all"
    num_hidden_groups: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.sharing not in get_args(Sharing):
            raise CourseError(
                f"sharing is {self.sharing!r}.", f"Choose one of {', '.join(get_args(Sharing))}."
            )

    @property
    def groups(self) -> list[int]:
        """The group of each layer, counted from 0."""
        size = self.num_hidden_layers / self.num_hidden_groups  # rounded as the library rounds it
        return [int(layer / size) for layer in range(self.num_hidden_layers)]

    @classmethod
    def base(cls: type[C], **changes: Any) -> C:
        """ALBERT base: 11,683,584 parameters with the pooler, which the paper rounds to 12 M."""
        return cls.sized(12, 768, **changes)

    @classmethod
    def large(cls: type[C], **changes: Any) -> C:
        """ALBERT large: 17,683,968 parameters with the pooler, 18 M in the paper."""
        return cls.sized(24, 1024, **changes)

    @classmethod
    def xlarge(cls: type[C], **changes: Any) -> C:
        """ALBERT xlarge: 58,724,864 parameters with the pooler, 60 M in the paper.

        The published weights have 16 heads of width 128; the paper's rule (section 3.1) gives 32.
        """
        return cls.sized(24, 2048, **({"num_attention_heads": 16} | changes))

    @classmethod
    def xxlarge(cls: type[C], **changes: Any) -> C:
        """ALBERT xxlarge: 222,595,584 parameters with the pooler, 235 M in the paper."""
        return cls.sized(12, 4096, **changes)


class SharedEncoder(nn.Module):
    """An `Encoder` whose layers share sublayers.

    Each sublayer is stored once, so its tensors are saved, counted and trained once, and its
    gradient is the sum over the layers. A LayerNorm belongs to the sublayer that it follows.
    """

    def __init__(self, config: AlbertConfig) -> None:
        super().__init__()
        alone = list(range(config.num_hidden_layers))
        self.attention_of = config.groups if config.sharing in ("all", "attention") else alone
        self.feed_forward_of = config.groups if config.sharing in ("all", "ffn") else alone
        layer = config.layer
        attentions, networks = max(self.attention_of) + 1, max(self.feed_forward_of) + 1
        self.attention = nn.ModuleList(
            MultiHeadAttention(
                layer.hidden_size, layer.num_attention_heads, layer.attention_probs_dropout_prob
            )
            for _ in range(attentions)
        )
        self.attention_residual = nn.ModuleList(Residual(layer) for _ in range(attentions))
        self.feed_forward = nn.ModuleList(FeedForward(layer) for _ in range(networks))
        self.feed_forward_residual = nn.ModuleList(Residual(layer) for _ in range(networks))

    def forward(
        self,
        x: Float[Tensor, "batch time width"],
        visible: Bool[Tensor, "..."] | None = None,
        *,
        output_attentions: bool = False,
        output_hidden_states: bool = False,
    ) -> EncoderOutput:
        """All layers in turn, as in `Encoder.forward`."""
        layers = (
            partial(self._layer, a, f, visible, output_attentions)
            for a, f in zip(self.attention_of, self.feed_forward_of, strict=True)
        )
        return run_layers(layers, x, output_attentions, output_hidden_states)

    def _layer(
        self, a: int, f: int, visible: Tensor | None, need_weights: bool, x: Tensor
    ) -> tuple[Tensor, Tensor | None]:
        """Apply the attention number a and the feed-forward network number f."""
        residual: Any = self.attention_residual[a]
        attention_output, weights = self.attention[a](x, visible=visible, need_weights=need_weights)
        x = residual.post_norm(x, attention_output)  # [batch, time, width]
        residual = self.feed_forward_residual[f]
        return residual.post_norm(x, self.feed_forward[f](x)), weights


class Albert(Bert):
    """A `Bert` with narrow embeddings and shared layers.

    The feed-forward network's output goes through dropout, as in BERT and the published code; the
    `transformers` library omits it.
    """

    Config = AlbertConfig

    @staticmethod
    def make_embeddings(config: BertConfig) -> Embeddings:
        """Build narrow embeddings with a projection to the encoder's width."""
        return FactorizedEmbeddings(**config.embeddings, hidden_size=config.hidden_size)

    @staticmethod
    def make_encoder(config: BertConfig) -> nn.Module:
        """Build the layers that share weights."""
        assert isinstance(config, AlbertConfig)
        return SharedEncoder(config)


@dataclass(frozen=True, eq=False)
class AlbertPreTrainingOutput(ModelOutput):
    """Output of pre-training; ``loss`` is the sum over the tasks with labels, the ``terms``."""

    loss: Float[Tensor, ""] | None
    prediction_logits: Float[Tensor, "batch time vocab"]
    sop_logits: Float[Tensor, "batch 2"]
    hidden_states: Layers | None = None
    attentions: Layers | None = None
    terms: Terms | None = None


class SentenceOrderHead(NextSentenceHead):
    """Predict whether two adjacent segments are in order (0) or swapped (1)."""

    def __init__(self, config: AlbertConfig) -> None:
        super().__init__(config)
        self.dropout = nn.Dropout(config.classifier_dropout)

    def forward(
        self,
        pooled: Float[Tensor, "batch width"],
        labels: Int[Tensor, " batch"] | None = None,
        name: str = "labels",
    ) -> tuple[Float[Tensor, "batch 2"], Float[Tensor, ""] | None]:
        """Return the logits, and the loss if there are labels, as `NextSentenceHead` does."""
        return super().forward(self.dropout(pooled), labels, name)


class AlbertForPreTraining(PreTrainingHeads):
    """ALBERT with both pre-training tasks: masked tokens and sentence order (section 3.1)."""

    Config = AlbertConfig
    Base = Albert
    PairHead = SentenceOrderHead

    def forward(
        self,
        input_ids: Int[Tensor, "batch time"] | None = None,
        *,
        labels: Int[Tensor, "batch time"] | None = None,
        sentence_order_label: Int[Tensor, " batch"] | None = None,
        **model_inputs: Unpack[BertInputs],
    ) -> AlbertPreTrainingOutput:
        """Predict the masked tokens, and whether the segments are in order.

        Args:
            labels: as in `PredictionHead.forward`.
            sentence_order_label: 0 where the segments are in order, 1 where they are swapped.
            model_inputs: further arguments of `Bert.forward`.
        """
        states = self.bert(input_ids, **model_inputs)
        outputs = self.both(states, labels, sentence_order_label, "sentence_order_label")
        return AlbertPreTrainingOutput(*outputs)


class AlbertForMaskedLM(BertForMaskedLM):
    """ALBERT with the masked language modeling head."""

    Config = AlbertConfig
    Base = Albert


class AlbertForSequenceClassification(BertForSequenceClassification):
    """ALBERT that classifies sentences or pairs."""

    Config = AlbertConfig
    Base = Albert


class AlbertForQuestionAnswering(BertForQuestionAnswering):
    """ALBERT that finds the answer to a question in a text."""

    Config = AlbertConfig
    Base = Albert


class AlbertForTokenClassification(BertForTokenClassification):
    """ALBERT that classifies tokens."""

    Config = AlbertConfig
    Base = Albert
