"""RoBERTa: BERT with better training (Liu et al. 2019, "RoBERTa: A robustly optimized BERT
pretraining approach"; chapter 12).

The network is BERT's. Training is longer, on ten times the text, in large batches, with dynamic
masking (section 4.1) and without next sentence prediction (4.2); so there is one segment and only
the masked language modeling head. The vocabulary is byte-level BPE (4.4), which covers any text.

Two details are only in the published code, fairseq. Positions start after the id p of the padding
token, and count tokens only:

    position_t = p + (how many of token_1 … token_t are not p)    and p itself where token_t is p

so tokens use 512 of the 514 position embeddings. And the classification head has a layer of its own
over the first token <s>, instead of a pooler:

    logits = V Dropout(tanh(W Dropout(h_1) + b)) + d
"""

from dataclasses import dataclass
from typing import Any

from jaxtyping import Float, Int
from torch import Tensor

from lmcourse.models import inputs
from lmcourse.models.bert import Bert, BertConfig, C
from lmcourse.models.bert_heads import BertForMaskedLM
from lmcourse.models.bert_tasks import (
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
    TwoLayerHead,
)
from lmcourse.models.embeddings import Embeddings


@dataclass(frozen=True)
class RobertaConfig(BertConfig):
    """Settings of a RoBERTa; the defaults are RoBERTa base.

    Attributes:
        max_position_embeddings: maximal length of a sequence plus ``pad_token_id + 1``.
        pad_token_id: the padding token, which is required.
        classifier_dropout: dropout of the heads for sequences and tokens; that for questions has
            none, as in the `transformers` library.
    """

    vocab_size: int = 50265
    max_position_embeddings: int = 514
    type_vocab_size: int = 1
    layer_norm_eps: float = 1e-5
    pad_token_id: int = 1

    @classmethod
    def base(cls: type[C], **changes: Any) -> C:
        """RoBERTa base: 124,645,632 parameters with the pooler, the paper's 125 M.

        The published one has the masked language modeling head and no pooler: 124,697,433.
        """
        return cls.sized(12, 768, **changes)

    @classmethod
    def large(cls: type[C], **changes: Any) -> C:
        """RoBERTa large: 355,359,744 parameters with the pooler, the paper's 355 M.

        The published one has the masked language modeling head and no pooler: 355,412,057.
        """
        return cls.sized(24, 1024, **changes)


class RobertaEmbeddings(Embeddings):
    """BERT's embeddings, with positions counted from ``pad_token_id + 1`` over tokens only."""

    def __init__(
        self, vocab_size: int, width: int, positions: int, *, pad_token_id: int, **options: Any
    ) -> None:
        super().__init__(vocab_size, width, positions, pad_token_id=pad_token_id, **options)
        self.padding = pad_token_id
        self.position.padding_idx = pad_token_id  # nor does padding's position learn

    @property
    def max_length(self) -> int:
        """The maximal length of a sequence."""
        return self.position.num_embeddings - self.padding - 1

    def forward(
        self,
        input_ids: Int[Tensor, "batch time"] | None = None,
        token_type_ids: Int[Tensor, "batch time"] | None = None,
        position_ids: Int[Tensor, "batch time"] | None = None,
        inputs_embeds: Float[Tensor, "batch time width"] | None = None,
    ) -> Float[Tensor, "batch time width"]:
        """Embed a batch, as `Embeddings.forward` does, with positions counted over tokens."""
        if position_ids is None and input_ids is not None:
            inputs.check_ids(input_ids, self.word.num_embeddings, self.max_length)
            position_ids = self.count_positions(input_ids)
        return super().forward(input_ids, token_type_ids, position_ids, inputs_embeds)

    def count_positions(self, input_ids: Int[Tensor, "batch time"]) -> Int[Tensor, "batch time"]:
        """Return p + the number of tokens up to each token, and p for padding."""
        real = input_ids != self.padding
        return self.padding + real.cumsum(1) * real

    def _position_embeddings(self, position_ids: Tensor | None, like: Tensor) -> Tensor:
        if position_ids is None:  # embeddings do not show which are padding: count all
            return self.position.weight[self.padding + 1 :][: like.shape[1]]
        return super()._position_embeddings(position_ids, like)


class Roberta(Bert):
    """BERT over RoBERTa's embeddings."""

    Config = RobertaConfig

    @staticmethod
    def make_embeddings(config: BertConfig) -> Embeddings:
        """Build RoBERTa's embeddings."""
        return RobertaEmbeddings(**config.embeddings)


class RobertaForMaskedLM(BertForMaskedLM):
    """RoBERTa with its pre-training head, whose activation is always GELU."""

    Config = RobertaConfig
    Base = Roberta
    prediction_act = "gelu"


class RobertaClassificationHead(TwoLayerHead):
    """Dropout, a layer with tanh, dropout, and a linear layer."""

    activation = "tanh"

    def forward(self, x: Float[Tensor, "*positions width"]) -> Float[Tensor, "*positions classes"]:
        return super().forward(self.dropout(x))


class RobertaForSequenceClassification(BertForSequenceClassification):
    """RoBERTa that classifies sequences by the state of <s>."""

    Config = RobertaConfig
    Base = Roberta
    Classifier = RobertaClassificationHead
    pooled = False


class RobertaForQuestionAnswering(BertForQuestionAnswering):
    """RoBERTa that finds the answer to a question in a text."""

    Config = RobertaConfig
    Base = Roberta


class RobertaForTokenClassification(BertForTokenClassification):
    """RoBERTa that classifies tokens."""

    Config = RobertaConfig
    Base = Roberta
