"""ELECTRA: a BERT that detects replaced tokens (Clark et al. 2020; chapter 14).

Masked language modeling has a loss at one position in seven. ELECTRA's generator, a small masked
language model, fills in the masked tokens, and the discriminator predicts for every token whether
it was replaced. With D(x, t) the probability that token t was replaced (1 − D in the paper, but D
in the authors' and the library's code):

    L_Disc = -mean over all t of  log D(x, t) if x_t was replaced, else log(1 - D(x, t))

The network is BERT's without a pooler; its embeddings may be narrower than its hidden states, as
in `lmcourse.models.factorized_embeddings`. `lmcourse.models.electra_pair` trains both models.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Unpack

from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional

from lmcourse.models import inputs
from lmcourse.models.activations import activation_of
from lmcourse.models.bert import Bert, BertConfig, BertHead, BertInputs, C, with_pooler
from lmcourse.models.bert_heads import BertForMaskedLM
from lmcourse.models.bert_tasks import (
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
    TwoLayerHead,
)
from lmcourse.models.embeddings import Embeddings
from lmcourse.models.factorized_embeddings import FactorizedEmbeddings
from lmcourse.models.initialization import init_weights
from lmcourse.models.inputs import IGNORED
from lmcourse.models.outputs import Layers, ModelOutput


@dataclass(frozen=True)
class ElectraConfig(BertConfig):
    """Settings of an ELECTRA; the defaults are ELECTRA small.

    Attributes:
        add_pooling_layer: False, as there is no pooler.
        embedding_size: width of a token's embedding, projected if it is not ``hidden_size``.
        summary_last_dropout: of a head that the library has; it is kept for the conversion.
    """

    hidden_size: int = 256
    num_attention_heads: int = 4
    intermediate_size: int = 1024
    add_pooling_layer: bool = False
    embedding_size: int = 128
    summary_last_dropout: float = 0.1

    @classmethod
    def small(cls: type[C], **changes: Any) -> C:
        """ELECTRA small: 13,483,008 parameters, the paper's 14 M; 13,549,057 with its head."""
        return cls.sized(12, 256, **changes)

    @classmethod
    def base(cls: type[C], **changes: Any) -> C:
        """ELECTRA base: 108,891,648 parameters, the paper's 110 M; 109,483,009 with its head."""
        return cls.sized(12, 768, **({"embedding_size": 768} | changes))

    @classmethod
    def large(cls: type[C], **changes: Any) -> C:
        """ELECTRA large: 334,092,288 parameters, the paper's 335 M; 335,142,913 with its head."""
        return cls.sized(24, 1024, **({"embedding_size": 1024} | changes))


class Electra(Bert):
    """A `Bert` without a pooler, optionally with narrow embeddings."""

    Config = ElectraConfig

    @staticmethod
    def make_embeddings(config: BertConfig) -> Embeddings:
        """Build BERT's embeddings, with a projection if they are narrower than the states."""
        if config.embedding_size == config.hidden_size:
            return Bert.make_embeddings(config)
        return FactorizedEmbeddings(**config.embeddings, hidden_size=config.hidden_size)


class ElectraForMaskedLM(BertForMaskedLM):
    """The generator, with a head whose activation is always GELU."""

    Config = ElectraConfig
    Base = Electra
    prediction_act = "gelu"


@dataclass(frozen=True, eq=False)
class ElectraForPreTrainingOutput(ModelOutput):
    """The discriminator's output; σ(logit) is the probability that a token was replaced."""

    softmax: ClassVar[bool] = False

    loss: Float[Tensor, ""] | None
    logits: Float[Tensor, "batch time"]
    hidden_states: Layers | None = None
    attentions: Layers | None = None


class DiscriminatorHead(nn.Module):
    """One logit for each token."""

    def __init__(self, config: ElectraConfig) -> None:
        super().__init__()
        self.dense = nn.Linear(config.hidden_size, config.hidden_size)
        self.activation = activation_of(config.hidden_act)
        self.score = nn.Linear(config.hidden_size, 1)
        init_weights(self, config.initializer_range, truncated=True)

    def forward(self, hidden: Float[Tensor, "batch time width"]) -> Float[Tensor, "batch time"]:
        return self.score(self.activation(self.dense(hidden))).squeeze(-1)


class ElectraForPreTraining(BertHead):
    """The discriminator, which detects replaced tokens."""

    Config = ElectraConfig
    Base = Electra
    pretrained_heads = ("discriminator_predictions",)

    def __init__(self, config: ElectraConfig) -> None:
        super().__init__(config)
        self.bert = self.Base(with_pooler(config, False))
        self.discriminator_predictions = DiscriminatorHead(config)

    def forward(
        self,
        input_ids: Int[Tensor, "batch time"] | None = None,
        *,
        labels: Int[Tensor, "batch time"] | None = None,
        **model_inputs: Unpack[BertInputs],
    ) -> ElectraForPreTrainingOutput:
        """Predict for each token whether it was replaced.

        Args:
            labels: 1 for a replaced token, 0 for an original one, or ``IGNORED``. Padding is always
                ignored.
            model_inputs: further arguments of `Bert.forward`.
        """
        states = self.bert(input_ids, **model_inputs)
        logits = self.discriminator_predictions(states.last_hidden_state)
        loss = None
        if labels is not None:
            inputs.check_like(labels, logits, "labels")
            remedy = "1 is for a replaced token, 0 for an original one"
            inputs.check_range(labels, 2, "labels", IGNORED, remedy)
            real = inputs.padding_mask(model_inputs.get("attention_mask"), states.last_hidden_state)
            loss = replaced_loss(logits, labels, real)
        return ElectraForPreTrainingOutput(loss, logits, states.hidden_states, states.attentions)


def replaced_loss(
    logits: Float[Tensor, "batch time"],
    labels: Int[Tensor, "batch time"],
    real: Bool[Tensor, "batch time"] | None,
) -> Float[Tensor, ""]:
    """Mean binary cross-entropy over the labelled tokens; 0 if there are none."""
    chosen = labels != IGNORED if real is None else real & (labels != IGNORED)
    total = functional.binary_cross_entropy_with_logits(
        logits[chosen], labels[chosen].to(logits.dtype), reduction="sum"
    )
    return total / chosen.sum().clamp(min=1)


class ElectraClassificationHead(TwoLayerHead):
    """Dropout, a layer with GELU, dropout, and a linear layer."""

    activation = "gelu"

    def forward(self, x: Float[Tensor, "*positions width"]) -> Float[Tensor, "*positions classes"]:
        return super().forward(self.dropout(x))


class ElectraForSequenceClassification(BertForSequenceClassification):
    """ELECTRA that classifies sentences or pairs by the state of [CLS]."""

    Config = ElectraConfig
    Base = Electra
    Classifier = ElectraClassificationHead
    pooled = False


class ElectraForQuestionAnswering(BertForQuestionAnswering):
    """ELECTRA that finds the answer to a question in a text."""

    Config = ElectraConfig
    Base = Electra


class ElectraForTokenClassification(BertForTokenClassification):
    """ELECTRA that classifies tokens."""

    Config = ElectraConfig
    Base = Electra
