"""DeBERTa: attention by content and by relative position (He et al. 2021, ICLR; chapter 16).

What differs from BERT:

- no vector of a place is added to a token's. The layers share a table of *distances*, and their
  attention is disentangled (`lmcourse.models.disentangled_attention`);
- no segments, and no pooler: a classifier has one of its own, with GELU;
- to predict masked tokens, absolute places come in at the end
  (`lmcourse.models.enhanced_mask_decoder`); for tuning there is SiFT (`lmcourse.models.sift`).

It reads as GPT-2 and RoBERTa do, in 50,265 pieces of bytes.
"""

from dataclasses import dataclass
from typing import Any

from jaxtyping import Bool, Float
from torch import Tensor, nn

from lmcourse.errors import CourseError
from lmcourse.models import inputs
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
from lmcourse.models.initialization import draw_weights
from lmcourse.models.outputs import EncoderOutput
from lmcourse.models.transformer import FeedForward, Residual


@dataclass(frozen=True)
class DebertaConfig(BertConfig):
    """The settings of a DeBERTa, those of DeBERTa base.

    Attributes:
        relative_attention: whether there are relative positions. Without them, and without
            ``position_biased_input``, the model knows no order: a text is a bag of words.
        pos_att_type: the terms that they add to the scores: ``"c2p"`` and ``"p2c"``. With neither,
            (), it knows no order either: the table of distances is there, as in the `transformers`
            library, and is never read.
        max_relative_positions: k, from how far on all distances are one; below 1:
            ``max_position_embeddings``.
        position_biased_input: whether a place's vector is added to the token's, as in BERT.
        p2c_as_in_paper: whether position to content is taken at δ(j, i), as in the paper's eq. 4,
            or at δ(i, j), as in its code: see `DisentangledAttention`. Weights are trained with one
            of them. No tensor tells which: ``on_top_of`` with the other computes something else.
        pooler_dropout: dropout of the first token's state, below a sequence's classifier.
        pooler_hidden_act: the activation above.
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
        inputs.check_settings(self, (), ("pooler_dropout",))
        owner, name = type(self).__name__, "max_relative_positions"
        span = inputs.whole_number(self.max_relative_positions, name, owner, least=-1)
        object.__setattr__(self, name, span)
        object.__setattr__(self, "pos_att_type", checked_terms(self.pos_att_type))
        for name in ("relative_attention", "position_biased_input", "p2c_as_in_paper"):
            flag = getattr(self, name)
            if not isinstance(flag, bool):
                raise CourseError(f"{name} is {flag!r} in this {owner}.", "Give True or False.")
        activation_of(self.pooler_hidden_act)

    @property
    def span(self) -> int:
        """k, from how far on all distances are one."""
        k = self.max_relative_positions
        return k if k > 0 else self.max_position_embeddings

    @classmethod
    def base(cls: type[C], **changes: Any) -> C:
        """DeBERTa base: 138,601,728 parameters, 100 M of them not the words' embeddings."""
        return cls.sized(12, 768, **changes)

    @classmethod
    def large(cls: type[C], **changes: Any) -> C:
        """DeBERTa large: 405,163,008 parameters, 354 M of them not the words' embeddings."""
        return cls.sized(24, 1024, **changes)


class Unplaced(Embeddings):
    """Embeddings of tokens, and of segments if there are any; a place has none."""

    def __init__(self, vocab_size: int, width: int, positions: int, **more: Any) -> None:
        super().__init__(vocab_size, width, positions, **more)
        del self.position
        self.positions = positions

    @property
    def longest(self) -> int:
        """The longest sequence that the model is made for."""
        return self.positions

    def _places(self, position_ids: Tensor | None, like: Tensor) -> Tensor:
        if position_ids is not None:
            raise CourseError(
                "This model was given position_ids, and has no embeddings of places.",
                "Leave them out: it knows how far apart two tokens are.",
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
        """One step of every place, and the attention's weights or None.

        Args:
            x, positions, visible, query, need_weights: as in `DisentangledAttention.forward`. What
                goes on besides what was found is the query.
        """
        found, weights = self.attention(
            x, positions, visible, query=query, need_weights=need_weights
        )
        x = self.attention_residual.after(x if query is None else query, found)
        return self.feed_forward_residual.after(x, self.feed_forward(x)), weights


class DebertaEncoder(nn.Module):
    """A stack of layers, and the table P of distances that all of them share."""

    def __init__(self, config: DebertaConfig) -> None:
        super().__init__()
        relative = config.relative_attention
        self.distance = nn.Embedding(2 * config.span, config.hidden_size) if relative else None
        self.layers = nn.ModuleList(DebertaLayer(config) for _ in range(config.num_hidden_layers))

    @property
    def positions(self) -> Float[Tensor, "row width"] | None:
        """P, a vector for each distance."""
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
        """All layers in turn, as in `Encoder.forward`.

        Args:
            depth: how many of the layers; None: all.
        """
        hidden_states, attentions = [], []
        for layer in self.layers[:depth]:
            if output_hidden_states:
                hidden_states.append(x)
            x, weights = layer(x, self.positions, visible, need_weights=output_attentions)
            attentions.append(weights)
        return EncoderOutput(
            x,
            hidden_states=(*hidden_states, x) if output_hidden_states else None,
            attentions=tuple(attentions) if output_attentions else None,
        )


class Deberta(Bert):
    """A `Bert` that knows how far apart two tokens are, and not where they stand."""

    Config = DebertaConfig

    @staticmethod
    def make_embeddings(config: BertConfig) -> Embeddings:
        """Below the encoder: no places, unless ``position_biased_input`` says so."""
        assert isinstance(config, DebertaConfig)
        kind = Embeddings if config.position_biased_input else Unplaced
        return kind(**config.embeddings)

    @staticmethod
    def make_encoder(config: BertConfig) -> nn.Module:
        """The layers, with the table of distances."""
        assert isinstance(config, DebertaConfig)
        return DebertaEncoder(config)


class ContextClassifier(ClassificationHead):
    """A pooler over the first token's hidden state, and a score for each class."""

    def __init__(self, config: DebertaConfig, classes: int) -> None:
        super().__init__(config, classes)
        self.pooler_dropout = nn.Dropout(config.pooler_dropout)
        self.pooler = nn.Linear(config.hidden_size, config.hidden_size)
        self.activation = activation_of(config.pooler_hidden_act)
        draw_weights(self.pooler, config.initializer_range, truncated=True)

    def forward(self, x: Float[Tensor, "*places width"]) -> Float[Tensor, "*places classes"]:
        return super().forward(self.activation(self.pooler(self.pooler_dropout(x))))


class DebertaForMaskedLM(BertForMaskedLM):
    """DeBERTa with the masked tokens' task, and BERT's head for it."""

    Config = DebertaConfig
    Base = Deberta


class DebertaForSequenceClassification(BertForSequenceClassification):
    """A class, or a number, of a sentence or a pair of sentences."""

    Config = DebertaConfig
    Base = Deberta
    Classifier = ContextClassifier
    pooled = False


class DebertaForTokenClassification(BertForTokenClassification):
    """A class of each token."""

    Config = DebertaConfig
    Base = Deberta


class DebertaForQuestionAnswering(BertForQuestionAnswering):
    """Where in a text the answer to a question starts and ends."""

    Config = DebertaConfig
    Base = Deberta
