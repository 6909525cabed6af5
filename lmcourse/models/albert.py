"""ALBERT: BERT with fewer weights (Lan et al. 2020; chapter 13).

Three things differ from BERT. Embeddings are narrower than hidden states
(`lmcourse.models.factorized_embeddings`). The layers share their weights: layer l is

    a_l = LayerNorm(h_{l-1} + attention(h_{l-1}))     with the same weights for all l, or its own
    h_l = LayerNorm(a_l + FFN(a_l))                   with the same weights for all l, or its own

so there are twelve layers to compute and one to store. And the second task of pre-training is
harder: both sentences are neighbors, and the model says whether they stand in their order.
"""

from dataclasses import dataclass
from typing import Any, Literal, Unpack, get_args

from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from lmcourse.errors import CourseError
from lmcourse.models import inputs
from lmcourse.models.attention import MultiHeadAttention
from lmcourse.models.bert import Bert, BertConfig, BertInputs, C
from lmcourse.models.bert_heads import BertForMaskedLM, BothTasks, NextSentenceHead
from lmcourse.models.bert_tasks import (
    BertForMultipleChoice,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
)
from lmcourse.models.embeddings import Embeddings
from lmcourse.models.factorized_embeddings import FactorizedEmbeddings
from lmcourse.models.outputs import EncoderOutput, Layers, ModelOutput
from lmcourse.models.transformer import FeedForward, Residual

Sharing = Literal["all", "attention", "ffn", "none"]


@dataclass(frozen=True)
class AlbertConfig(BertConfig):
    """BERT's settings and ALBERT's own; those of ALBERT base (the library's are xxlarge's).

    Attributes:
        embedding_size: width of a token's embedding.
        sharing: what layers share: all their weights, those of the attention, those of the
            feed-forward network ("ffn"), or none. A LayerNorm goes with its sublayer.
        num_hidden_groups: into how many groups the layers fall; only those of one group share.
        classifier_dropout: dropout in the heads of sequences, tokens, choices and the sentences'
            order; that of answers has none.
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
        inputs.check_settings(self, ("embedding_size", "num_hidden_groups"))
        if self.sharing not in get_args(Sharing):
            raise CourseError(
                f"sharing is {self.sharing!r}.", f"Choose one of {', '.join(get_args(Sharing))}."
            )
        if self.num_hidden_groups > self.num_hidden_layers:
            raise CourseError(
                f"num_hidden_groups is {self.num_hidden_groups} in this {type(self).__name__}.",
                f"Give at most one for each of the {self.num_hidden_layers} layers.",
            )

    @property
    def groups(self) -> list[int]:
        """Each layer's group: the first layers' is 0."""
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

        The published weights have 16 heads, of 128 numbers each; by the paper's rule (section 3.1)
        there would be 32.
        """
        return cls.sized(24, 2048, **({"num_attention_heads": 16} | changes))

    @classmethod
    def xxlarge(cls: type[C], **changes: Any) -> C:
        """ALBERT xxlarge: 222,595,584 parameters with the pooler, 235 M in the paper."""
        return cls.sized(12, 4096, **changes)


class SharedEncoder(nn.Module):
    """An `Encoder` whose layers take their sublayers from two lists, several the same one.

    Each list holds a sublayer once, however many layers use it: so its tensors are saved, counted
    and trained once, and its gradient is the sum over the layers. The published code shares all of
    a layer. Which LayerNorm belongs to which half, it leaves open: here each goes with the
    sublayer that it stands behind.
    """

    def __init__(self, config: AlbertConfig) -> None:
        super().__init__()
        alone = list(range(config.num_hidden_layers))
        self.attention_of = config.groups if config.sharing in ("all", "attention") else alone
        self.feed_forward_of = config.groups if config.sharing in ("all", "ffn") else alone
        layer, attentions, networks = (
            config.layer,
            max(self.attention_of),
            max(self.feed_forward_of),
        )
        self.attention = nn.ModuleList(
            MultiHeadAttention(
                layer.hidden_size, layer.num_attention_heads, layer.attention_probs_dropout_prob
            )
            for _ in range(attentions + 1)
        )
        self.attention_residual = nn.ModuleList(Residual(layer) for _ in range(attentions + 1))
        self.feed_forward = nn.ModuleList(FeedForward(layer) for _ in range(networks + 1))
        self.feed_forward_residual = nn.ModuleList(Residual(layer) for _ in range(networks + 1))

    def forward(
        self,
        x: Float[Tensor, "batch time width"],
        visible: Bool[Tensor, "..."] | None = None,
        *,
        output_attentions: bool = False,
        output_hidden_states: bool = False,
    ) -> EncoderOutput:
        """All layers in turn, as in `Encoder.forward`."""
        after_attention: Any = self.attention_residual  # two lists of `Residual`s
        after_network: Any = self.feed_forward_residual
        hidden_states, attentions = [], []
        for a, f in zip(self.attention_of, self.feed_forward_of, strict=True):
            if output_hidden_states:
                hidden_states.append(x)
            found, weights = self.attention[a](x, visible=visible, need_weights=output_attentions)
            x = after_attention[a].after(x, found)
            x = after_network[f].after(x, self.feed_forward[f](x))
            attentions.append(weights)
        return EncoderOutput(
            x,
            hidden_states=(*hidden_states, x) if output_hidden_states else None,
            attentions=tuple(attentions) if output_attentions else None,
        )


class Albert(Bert):
    """A `Bert` with narrow embeddings and shared layers.

    Like BERT's, its feed-forward network's result goes through dropout before it is added, as in
    the published code; the `transformers` library leaves that one out.
    """

    Config = AlbertConfig

    @staticmethod
    def make_embeddings(config: BertConfig) -> Embeddings:
        """Below the encoder: the narrow embeddings, and the matrix from their width to its."""
        return FactorizedEmbeddings(**config.embeddings, hidden_size=config.hidden_size)

    @staticmethod
    def make_encoder(config: BertConfig) -> nn.Module:
        """The layers that share their weights."""
        assert isinstance(config, AlbertConfig)
        return SharedEncoder(config)


@dataclass(frozen=True, eq=False)
class AlbertPreTrainingOutput(ModelOutput):
    """What the two tasks of pre-training return; ``loss`` is the sum of those with labels."""

    loss: Float[Tensor, ""] | None
    prediction_logits: Float[Tensor, "batch time vocab"]
    sop_logits: Float[Tensor, "batch 2"]
    hidden_states: Layers | None = None
    attentions: Layers | None = None


class SentenceOrderHead(NextSentenceHead):
    """Whether two neighboring segments stand in order: 0 if so, 1 if they were swapped."""

    def __init__(self, config: AlbertConfig) -> None:
        super().__init__(config)
        self.dropout = nn.Dropout(config.classifier_dropout)

    def forward(
        self,
        pooled: Float[Tensor, "batch width"],
        labels: Int[Tensor, " batch"] | None = None,
        name: str = "labels",
    ) -> tuple[Float[Tensor, "batch 2"], Float[Tensor, ""] | None]:
        """Both answers' scores, and the loss if there are labels, as in `NextSentenceHead`."""
        return super().forward(self.dropout(pooled), labels, name)


class AlbertForPreTraining(BothTasks):
    """ALBERT as it is pre-trained: masked tokens, and the sentences' order (section 3.1)."""

    Config = AlbertConfig
    Base = Albert
    PairHead = SentenceOrderHead

    def forward(
        self,
        input_ids: Int[Tensor, "batch time"] | None = None,
        *,
        labels: Int[Tensor, "batch time"] | None = None,
        sentence_order_label: Int[Tensor, " batch"] | None = None,
        **given: Unpack[BertInputs],
    ) -> AlbertPreTrainingOutput:
        """Predict the masked tokens, and whether the segments are in order.

        Args:
            labels: as `PredictionHead.forward` has them.
            sentence_order_label: 0 where A comes before B in the text, 1 where they were swapped.
            given: the rest of what `Bert.forward` takes.
        """
        states = self.bert(input_ids, **given)
        found = self.both(states, labels, sentence_order_label, "sentence_order_label")
        return AlbertPreTrainingOutput(*found)


class AlbertForMaskedLM(BertForMaskedLM):
    """ALBERT with the masked tokens' task alone."""

    Config = AlbertConfig
    Base = Albert


class AlbertForSequenceClassification(BertForSequenceClassification):
    """A class, or a number, of a sentence or a pair."""

    Config = AlbertConfig
    Base = Albert


class AlbertForQuestionAnswering(BertForQuestionAnswering):
    """Where in a text the answer to a question starts and ends."""

    Config = AlbertConfig
    Base = Albert


class AlbertForTokenClassification(BertForTokenClassification):
    """A class of each token."""

    Config = AlbertConfig
    Base = Albert


class AlbertForMultipleChoice(BertForMultipleChoice):
    """Which of some endings goes with a beginning."""

    Config = AlbertConfig
    Base = Albert
