"""RoBERTa: BERT, trained better (Liu et al. 2019, "RoBERTa: A robustly optimized BERT pretraining
approach"; chapter 12).

The network is BERT's. What the paper changes is its training: longer, on ten times the text, in
large batches, with masks drawn anew each time (section 4.1) and without the next sentence's task
(4.2). So there is one segment, and the masked tokens' head alone. The vocabulary is of bytes and
what they merge to (4.4): no text is out of it.

Two things stand in no paper but in the published code, fairseq. A sequence's places are counted
behind that of padding, over real tokens alone: with p for the id of the padding token,

    place_t = p + (how many of token_1 … token_t are not p)    and p itself where token_t is p

so of 514 position vectors, 512 are a token's. And a sequence is classified by a layer of the head's
own over its first token <s>, with no pooler in between:

    logits = V Dropout(tanh(W Dropout(h_1) + b)) + d
"""

from dataclasses import dataclass
from typing import Any

from jaxtyping import Float, Int
from torch import Tensor, nn

from lmcourse.errors import CourseError
from lmcourse.models import inputs
from lmcourse.models.bert import Bert, BertConfig, C
from lmcourse.models.bert_heads import BertForMaskedLM
from lmcourse.models.bert_tasks import (
    BertForMultipleChoice,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
)
from lmcourse.models.embeddings import Embeddings
from lmcourse.models.two_layer_head import TwoLayerHead


@dataclass(frozen=True)
class RobertaConfig(BertConfig):
    """BERT's settings with RoBERTa's values; those of the byte-level vocabulary of 50,265.

    Attributes:
        max_position_embeddings: the longest sequence, and ``pad_token_id + 1`` more.
        pad_token_id: the token that fills sequences up; positions are counted from it, so there
            must be one.
        classifier_dropout: dropout in the heads of sequences and tokens. That of choices has
            ``hidden_dropout_prob`` and that of answers none, as in the `transformers` library.
    """

    vocab_size: int = 50265
    max_position_embeddings: int = 514
    type_vocab_size: int = 1
    layer_norm_eps: float = 1e-5
    pad_token_id: int = 1

    @classmethod
    def base(cls: type[C], **changes: Any) -> C:
        """RoBERTa base: 124,645,632 parameters with the pooler, the paper's 125 M.

        The published one has no pooler, and the masked tokens' head: 124,697,433.
        """
        return cls.sized(12, 768, **changes)

    @classmethod
    def large(cls: type[C], **changes: Any) -> C:
        """RoBERTa large: 355,359,744 parameters with the pooler, the paper's 355 M.

        The published one has no pooler, and the masked tokens' head: 355,412,057.
        """
        return cls.sized(24, 1024, **changes)


class RobertaEmbeddings(Embeddings):
    """BERT's embeddings, with the places counted from ``pad_token_id + 1`` over real tokens.

    Raises:
        CourseError: padding leaves no place to a token.
    """

    def __init__(
        self, vocab_size: int, width: int, positions: int, *, pad_token_id: int, **options: Any
    ) -> None:
        super().__init__(vocab_size, width, positions, pad_token_id=pad_token_id, **options)
        self.padding = pad_token_id
        self.position.padding_idx = pad_token_id  # the place of padding does not learn either
        if self.longest < 1:
            first = pad_token_id + 1
            raise CourseError(
                f"Of {positions} positions, none is left from the first, {first}, on.",
                f"Give more: {first} and the longest sequence's.",
            )

    @property
    def longest(self) -> int:
        """The longest sequence that there are positions for, behind padding's."""
        return self.position.num_embeddings - self.padding - 1

    def forward(
        self,
        input_ids: Int[Tensor, "batch time"] | None = None,
        token_type_ids: Int[Tensor, "batch time"] | None = None,
        position_ids: Int[Tensor, "batch time"] | None = None,
        inputs_embeds: Float[Tensor, "batch time width"] | None = None,
    ) -> Float[Tensor, "batch time width"]:
        """Embed a batch, as `Embeddings.forward` does, with places counted over real tokens."""
        if position_ids is None and input_ids is not None:
            inputs.check_ids(input_ids, self.word.num_embeddings, self.longest)
            position_ids = self.counted(input_ids)
        return super().forward(input_ids, token_type_ids, position_ids, inputs_embeds)

    def counted(self, input_ids: Int[Tensor, "batch time"]) -> Int[Tensor, "batch time"]:
        """p + how many real tokens there are up to each; p itself where there is none."""
        real = input_ids != self.padding
        return self.padding + real.cumsum(1) * real

    def _places(self, position_ids: Tensor | None, like: Tensor) -> Tensor:
        if position_ids is None:  # embedded words do not say which are padding: all are counted
            return self.position.weight[self.padding + 1 :][: like.shape[1]]
        return super()._places(position_ids, like)


class Roberta(Bert):
    """Hidden states of a sequence: BERT's, over RoBERTa's embeddings."""

    Config = RobertaConfig

    @staticmethod
    def make_embeddings(config: BertConfig) -> Embeddings:
        """Below the encoder: BERT's embeddings, with places counted in RoBERTa's way."""
        return RobertaEmbeddings(**config.embeddings)


class RobertaForMaskedLM(BertForMaskedLM):
    """RoBERTa as it is pre-trained; the head's activation is GELU, whatever the layers' is."""

    Config = RobertaConfig
    Base = Roberta
    prediction_act = "gelu"


class RobertaClassificationHead(TwoLayerHead):
    """Dropout, a layer with tanh, dropout again, and a score for each class."""

    activation = "tanh"

    def forward(self, x: Float[Tensor, "*places width"]) -> Float[Tensor, "*places classes"]:
        return super().forward(self.dropout(x))


class RobertaForSequenceClassification(BertForSequenceClassification):
    """A class, or a number, of a sequence, from the state of <s>."""

    Config = RobertaConfig
    Base = Roberta
    Classifier = RobertaClassificationHead
    pooled = False


class RobertaForQuestionAnswering(BertForQuestionAnswering):
    """Where in a text the answer to a question starts and ends."""

    Config = RobertaConfig
    Base = Roberta


class RobertaForTokenClassification(BertForTokenClassification):
    """A class of each token."""

    Config = RobertaConfig
    Base = Roberta


class RobertaForMultipleChoice(BertForMultipleChoice):
    """Which of some endings goes with a beginning: BERT's head, pooler and all.

    Its dropout is that of the hidden states, whatever ``classifier_dropout`` says.
    """

    Config = RobertaConfig
    Base = Roberta

    def __init__(self, config: BertConfig) -> None:
        super().__init__(config)
        self.classifier.dropout = nn.Dropout(config.hidden_dropout_prob)
