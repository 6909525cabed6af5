"""DeBERTa: attention by content and by relative position (He et al. 2021, ICLR; chapter 16).

DeBERTa differs from BERT as follows:

- No position embedding is added to a token's embedding. The layers share a table of *relative*
  positions, used by disentangled attention (`lmcourse.models.disentangled_attention`).
- There are no segments and no pooler; the sequence classifier has its own, with GELU.
- Absolute positions are added at the end, to predict masked tokens
  (`lmcourse.models.enhanced_mask_decoder`). Fine-tuning may use SiFT (`lmcourse.models.sift`).

Its vocabulary is the byte-level BPE of GPT-2 and RoBERTa, with 50,265 tokens.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any

from jaxtyping import Bool, Float
from torch import Tensor, nn

from lmcourse.errors import CourseError
from lmcourse.models.activations import activation_of
from lmcourse.models.bert import Bert, BertConfig, C
from lmcourse.models.bert_heads import BertForMaskedLM
from lmcourse.models.bert_tasks import (
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
    ClassificationHead,
)
from lmcourse.models.disentangled_attention import TERMS, DisentangledAttention, checked_terms
from lmcourse.models.embeddings import Embeddings
from lmcourse.models.initialization import init_weights
from lmcourse.models.outputs import EncoderOutput
from lmcourse.models.transformer import FeedForward, Residual, run_layers


@dataclass(frozen=True)
class DebertaConfig(BertConfig):
    """Settings of a DeBERTa; the defaults are DeBERTa base.

    Attributes:
        relative_attention: use relative positions. Without them and without
            ``position_biased_input``, a text is a bag of words.
        pos_att_type: the terms added to the scores, ``"c2p"`` and ``"p2c"``; with neither, the
            table of relative positions exists but is unused, as in the `transformers` library.
        max_relative_positions: k, beyond which distances are clipped; below 1:
            ``max_position_embeddings``.
        position_biased_input: add position embeddings to the tokens', as BERT does.
        p2c_as_in_paper: use δ(j, i) for position to content, as the paper's eq. 4 does, instead of
            δ(i, j), as its code does (see `DisentangledAttention`). Weights fit only the variant
            that they were trained with.
        pooler_dropout: dropout of the first token's state in the sequence classifier.
        pooler_hidden_act: the activation of the classifier's pooler.
    """

    vocab_size: int = 50265
    type_vocab_size: int = 0
    layer_norm_eps: float = 1e-7
    add_pooling_layer: bool = False
    relative_attention: bool = True
    pos_att_type: tuple[str, ...] = TERMS
    max_relative_positions: int = -1
    position_biased_input: bool = False
    p2c_as_in_paper: bool = False
    pooler_dropout: float = 0.0
    pooler_hidden_act: str = "gelu"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "pos_att_type", checked_terms(self.pos_att_type))

    @property
    def span(self) -> int:
        """k, beyond which distances are clipped."""
        k = self.max_relative_positions
        return k if k > 0 else self.max_position_embeddings

    @classmethod
    def base(cls: type[C], **changes: Any) -> C:
        """DeBERTa base: 138,601,728 parameters, 100 M without the word embeddings."""
        return cls.sized(12, 768, **changes)

    @classmethod
    def large(cls: type[C], **changes: Any) -> C:
        """DeBERTa large: 405,163,008 parameters, 354 M without the word embeddings."""
        return cls.sized(24, 1024, **changes)


class TokenEmbeddings(Embeddings):
    """Embeddings of tokens, and of segments if there are any, without positions."""

    def __init__(self, vocab_size: int, width: int, positions: int, **more: Any) -> None:
        super().__init__(vocab_size, width, positions, **more)
        del self.position
        self.positions = positions

    @property
    def max_length(self) -> int:
        """The maximal length of a sequence."""
        return self.positions

    def _position_embeddings(self, position_ids: Tensor | None, like: Tensor) -> Tensor:
        if position_ids is not None:
            raise CourseError(
                "This model has no position embeddings, but got position_ids.",
                "Leave them out: DeBERTa uses relative positions.",
            )
        return like.new_zeros(())


class DebertaLayer(nn.Module):
    """Disentangled attention, then the feed-forward network."""

    def __init__(self, config: DebertaConfig) -> None:
        super().__init__()
        self.attention = DisentangledAttention(
            config.hidden_size,
            config.num_attention_heads,
            config.pos_att_type,
            relative=config.relative_attention,
            dropout=config.attention_probs_dropout_prob,
            position_dropout=config.hidden_dropout_prob,
            as_in_paper=config.p2c_as_in_paper,
        )
        self.attention_residual = Residual(config.layer)
        self.feed_forward = FeedForward(config.layer)
        self.feed_forward_residual = Residual(config.layer)

    def forward(
        self,
        x: Float[Tensor, "batch time width"],
        positions: Float[Tensor, "row width"] | None = None,
        visible: Bool[Tensor, "..."] | None = None,
        *,
        query: Float[Tensor, "batch time width"] | None = None,
        need_weights: bool = False,
    ) -> tuple[Float[Tensor, "batch time width"], Float[Tensor, "batch head time time"] | None]:
        """Return the new hidden states, and the attention weights or None.

        Args:
            x, positions, visible, query, need_weights: as in `DisentangledAttention.forward`. The
                residual connection starts from the query.
        """
        attention_output, weights = self.attention(
            x, positions, visible, query=query, need_weights=need_weights
        )
        x = self.attention_residual.post_norm(x if query is None else query, attention_output)
        return self.feed_forward_residual.post_norm(x, self.feed_forward(x)), weights


class DebertaEncoder(nn.Module):
    """A stack of layers that share P, the table of relative positions."""

    def __init__(self, config: DebertaConfig) -> None:
        super().__init__()
        relative = config.relative_attention
        self.distance = nn.Embedding(2 * config.span, config.hidden_size) if relative else None
        self.layers = nn.ModuleList(DebertaLayer(config) for _ in range(config.num_hidden_layers))

    @property
    def positions(self) -> Float[Tensor, "row width"] | None:
        """P, one vector for each relative position."""
        return None if self.distance is None else self.distance.weight

    def forward(
        self,
        x: Float[Tensor, "batch time width"],
        visible: Bool[Tensor, "..."] | None = None,
        *,
        output_attentions: bool = False,
        output_hidden_states: bool = False,
        depth: int | None = None,
    ) -> EncoderOutput:
        """Apply the layers, as `Encoder.forward` does.

        Args:
            depth: number of layers; None: all.
        """
        layers = (
            partial(
                layer,
                positions=self.positions,
                visible=visible,
                need_weights=output_attentions,
            )
            for layer in self.layers[:depth]
        )
        return run_layers(layers, x, output_attentions, output_hidden_states)


class Deberta(Bert):
    """A `Bert` with relative instead of absolute positions."""

    Config = DebertaConfig

    @staticmethod
    def make_embeddings(config: BertConfig) -> Embeddings:
        """Build embeddings, with positions only if ``position_biased_input`` is set."""
        assert isinstance(config, DebertaConfig)
        kind = Embeddings if config.position_biased_input else TokenEmbeddings
        return kind(**config.embeddings)

    @staticmethod
    def make_encoder(config: BertConfig) -> nn.Module:
        """Build the layers and the table of relative positions."""
        assert isinstance(config, DebertaConfig)
        return DebertaEncoder(config)


class ContextClassifier(ClassificationHead):
    """A pooler over the first token's hidden state, then a linear layer."""

    def __init__(self, config: DebertaConfig, classes: int) -> None:
        super().__init__(config, classes)
        self.pooler_dropout = nn.Dropout(config.pooler_dropout)
        self.pooler = nn.Linear(config.hidden_size, config.hidden_size)
        self.activation = activation_of(config.pooler_hidden_act)
        init_weights(self.pooler, config.initializer_range, truncated=True)

    def forward(self, x: Float[Tensor, "*positions width"]) -> Float[Tensor, "*positions classes"]:
        return super().forward(self.activation(self.pooler(self.pooler_dropout(x))))


class DebertaForMaskedLM(BertForMaskedLM):
    """DeBERTa with BERT's masked language modeling head."""

    Config = DebertaConfig
    Base = Deberta


class DebertaForSequenceClassification(BertForSequenceClassification):
    """DeBERTa that classifies sentences or pairs."""

    Config = DebertaConfig
    Base = Deberta
    Classifier = ContextClassifier
    pooled = False


class DebertaForTokenClassification(BertForTokenClassification):
    """DeBERTa that classifies tokens."""

    Config = DebertaConfig
    Base = Deberta


class DebertaForQuestionAnswering(BertForQuestionAnswering):
    """DeBERTa that finds the answer to a question in a text."""

    Config = DebertaConfig
    Base = Deberta
