"""ELECTRA: a BERT that tells which tokens were replaced (Clark et al. 2020; chapter 14).

Masked words teach at one place in seven. ELECTRA is given a text in which a small masked language
model, the generator, has filled in the gaps, and says of every token whether it is the one that
stood there. With D(x, t) for the probability that token t was replaced (the paper's D is that it
was not; code, the library's and the authors', counts as here):

    L_Disc = -mean over all t of  log D(x, t) if x_t was replaced, else log(1 - D(x, t))

The network is BERT's without a pooler; its embeddings may be narrower than its hidden states, as
in `lmcourse.models.factorized_embeddings`. How both models are trained together is in
`lmcourse.models.electra_pair`.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Unpack

from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional

from lmcourse.errors import CourseError
from lmcourse.models import inputs
from lmcourse.models.activations import activation_of
from lmcourse.models.bert import Bert, BertConfig, BertHead, BertInputs, C, with_pooler
from lmcourse.models.bert_heads import BertForMaskedLM
from lmcourse.models.bert_tasks import (
    BertForMultipleChoice,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
)
from lmcourse.models.embeddings import Embeddings
from lmcourse.models.factorized_embeddings import FactorizedEmbeddings
from lmcourse.models.initialization import draw_weights
from lmcourse.models.inputs import IGNORED
from lmcourse.models.outputs import Layers, ModelOutput
from lmcourse.models.two_layer_head import TwoLayerHead


@dataclass(frozen=True)
class ElectraConfig(BertConfig):
    """BERT's settings and ELECTRA's own; those of ELECTRA small.

    Attributes:
        add_pooling_layer: there is no pooler.
        embedding_size: width of a token's embedding; there is a projection if it is not
            ``hidden_size``.
        summary_last_dropout: dropout below the score of a choice.
    """

    hidden_size: int = 256
    num_attention_heads: int = 4
    intermediate_size: int = 1024
    add_pooling_layer: bool = False
    embedding_size: int = 128
    summary_last_dropout: float = 0.1

    def __post_init__(self) -> None:
        super().__post_init__()
        inputs.check_settings(self, ("embedding_size",), ("summary_last_dropout",))
        if self.add_pooling_layer:
            raise CourseError(
                f"add_pooling_layer is True in this {type(self).__name__}.",
                "An ELECTRA has no pooler; one with a pooler is a BERT.",
            )

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
    """A `Bert` without pooler, and perhaps with narrow embeddings."""

    Config = ElectraConfig

    @staticmethod
    def make_embeddings(config: BertConfig) -> Embeddings:
        """Below the encoder: BERT's embeddings where they have its width."""
        if config.embedding_size == config.hidden_size:
            return Bert.make_embeddings(config)
        return FactorizedEmbeddings(**config.embeddings, hidden_size=config.hidden_size)


class ElectraForMaskedLM(BertForMaskedLM):
    """The generator; its head's activation is GELU, whatever the layers' is."""

    Config = ElectraConfig
    Base = Electra
    prediction_act = "gelu"


@dataclass(frozen=True, eq=False)
class ElectraForPreTrainingOutput(ModelOutput):
    """What the discriminator returns: a token was replaced with the probability σ(logit)."""

    softmax: ClassVar[bool] = False

    loss: Float[Tensor, ""] | None
    logits: Float[Tensor, "batch time"]
    hidden_states: Layers | None = None
    attentions: Layers | None = None


class DiscriminatorHead(nn.Module):
    """One score for each token."""

    def __init__(self, config: ElectraConfig) -> None:
        super().__init__()
        self.dense = nn.Linear(config.hidden_size, config.hidden_size)
        self.activation = activation_of(config.hidden_act)
        self.score = nn.Linear(config.hidden_size, 1)
        draw_weights(self, config.initializer_range, truncated=True)

    def forward(self, hidden: Float[Tensor, "batch time width"]) -> Float[Tensor, "batch time"]:
        return self.score(self.activation(self.dense(hidden))).squeeze(-1)


class ElectraForPreTraining(BertHead):
    """The discriminator: it finds the tokens that were replaced."""

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
        **given: Unpack[BertInputs],
    ) -> ElectraForPreTrainingOutput:
        """Score all tokens.

        Args:
            labels: 1 where the token was replaced, 0 where it is the original one, ``IGNORED``
                where nothing is to be learned. Padding counts for nothing, whatever its label.
            given: the rest of what `Bert.forward` takes.

        Raises:
            CourseError: an input or the labels do not fit.
        """
        states = self.bert(input_ids, **given)
        logits = self.discriminator_predictions(states.last_hidden_state)
        loss = None
        if labels is not None:
            inputs.check_like(labels, logits, "labels")
            remedy = "1 says that a token was replaced, 0 that it was not"
            inputs.check_range(labels, 2, "labels", IGNORED, remedy)
            real = inputs.real_places(given.get("attention_mask"), states.last_hidden_state)
            loss = replaced_loss(logits, labels, real)
        return ElectraForPreTrainingOutput(loss, logits, states.hidden_states, states.attentions)


def replaced_loss(
    logits: Float[Tensor, "batch time"],
    labels: Int[Tensor, "batch time"],
    real: Bool[Tensor, "batch time"] | None,
) -> Float[Tensor, ""]:
    """Mean binary cross-entropy over the real places that have a label; 0 if there is none."""
    chosen = labels != IGNORED if real is None else real & (labels != IGNORED)
    total = functional.binary_cross_entropy_with_logits(
        logits[chosen], labels[chosen].to(logits.dtype), reduction="sum"
    )
    return total / chosen.sum().clamp(min=1)


class ElectraClassificationHead(TwoLayerHead):
    """Dropout, a layer with GELU, dropout again, and a score for each class."""

    activation = "gelu"

    def forward(self, x: Float[Tensor, "*places width"]) -> Float[Tensor, "*places classes"]:
        return super().forward(self.dropout(x))


class ElectraChoiceHead(TwoLayerHead):
    """A layer with GELU, a dropout that has a probability of its own, and a score."""

    activation = "gelu"

    def __init__(self, config: ElectraConfig, classes: int) -> None:
        super().__init__(config, classes)
        self.dropout = nn.Dropout(config.summary_last_dropout)


class ElectraForSequenceClassification(BertForSequenceClassification):
    """A class, or a number, of a sentence or a pair, from the state of [CLS]."""

    Config = ElectraConfig
    Base = Electra
    Classifier = ElectraClassificationHead
    pooled = False


class ElectraForQuestionAnswering(BertForQuestionAnswering):
    """Where in a text the answer to a question starts and ends."""

    Config = ElectraConfig
    Base = Electra


class ElectraForTokenClassification(BertForTokenClassification):
    """A class of each token."""

    Config = ElectraConfig
    Base = Electra


class ElectraForMultipleChoice(BertForMultipleChoice):
    """Which of some endings goes with a beginning, from the state of [CLS]."""

    Config = ElectraConfig
    Base = Electra
    Classifier = ElectraChoiceHead
    pooled = False
