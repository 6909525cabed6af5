"""BERT's pre-training heads: masked tokens and next sentence prediction (chapter 10).

After Devlin et al. (2019, section 3.1 and appendix A.1). A masked token is predicted from the
hidden state h at its position, with output weights tied to the token embeddings E; whether
sentence B follows A, from the pooled vector of [CLS]:

    p(token | text) = softmax(E LayerNorm(GELU(W h + b)) + c)
    p(next | A, B) = softmax(V pooled + d)            0: B follows A, 1: B is random

The loss is the mean cross-entropy over the masked positions, plus that of the pairs.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Unpack

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional

from lmcourse.errors import CourseError
from lmcourse.models.activations import activation_of
from lmcourse.models.bert import BertConfig, BertHead, BertInputs, with_pooler
from lmcourse.models.initialization import init_weights
from lmcourse.models.inputs import (
    IGNORED,
    check_ids,
    check_like,
    check_range,
    check_tensor,
)
from lmcourse.models.losses import label_loss
from lmcourse.models.outputs import EncoderOutput, LanguageModelOutput, Layers, ModelOutput, Terms


@dataclass(frozen=True)
class ClassifierOutput(ModelOutput):
    """Output of a model that classifies sequences or tokens."""

    loss: Float[Tensor, ""] | None
    logits: Float[Tensor, "*positions classes"]
    hidden_states: Layers | None = None
    attentions: Layers | None = None


@dataclass(frozen=True)
class PreTrainingOutput(ModelOutput):
    """Output of pre-training; ``loss`` is the sum over the tasks with labels, the ``terms``."""

    loss: Float[Tensor, ""] | None
    prediction_logits: Float[Tensor, "batch time vocab"]
    seq_relationship_logits: Float[Tensor, "batch 2"]
    hidden_states: Layers | None = None
    attentions: Layers | None = None
    terms: Terms | None = None


class PredictionHead(nn.Module):
    """Logits over the vocabulary at each position, with the token embeddings as output weights.

    Args:
        hidden_size: width of a hidden state.
        vocab_size: number of tokens.
        hidden_act: the activation.
        layer_norm_eps: ε of its LayerNorm.
        embedding_size: width of a token's embedding.
    """

    def __init__(
        self,
        hidden_size: int,
        vocab_size: int,
        hidden_act: str,
        layer_norm_eps: float,
        embedding_size: int,
    ) -> None:
        super().__init__()
        self.dense = nn.Linear(hidden_size, embedding_size)
        self.activation = activation_of(hidden_act)
        self.norm = nn.LayerNorm(embedding_size, eps=layer_norm_eps)
        self.bias = nn.Parameter(torch.zeros(vocab_size))

    def forward(
        self,
        hidden: Float[Tensor, "batch time width"],
        embeddings: Float[Tensor, "vocab embedding_width"],
        labels: Int[Tensor, "batch time"] | None = None,
    ) -> tuple[Float[Tensor, "batch time vocab"], Float[Tensor, ""] | None]:
        """Return the logits, and the loss if there are labels.

        Args:
            embeddings: the token embeddings, an argument so that they are stored only once.
            labels: the masked tokens, ``IGNORED`` at the other positions.
        """
        x = self.norm(self.activation(self.dense(hidden)))  # [batch, time, embedding_width]
        logits = self.scores(x, embeddings)  # [batch, time, vocab]
        if labels is None:
            return logits, None
        check_like(labels, hidden[..., 0], "labels")
        check_ids(labels, len(embeddings), name="labels", allowed=IGNORED)
        # One position in seven has a label. Computing their logits again is cheaper than the
        # gradient of all logits, which is zero at the other positions.
        chosen = labels != IGNORED
        return logits, label_loss(self.scores(x[chosen], embeddings), labels[chosen])

    def scores(
        self,
        x: Float[Tensor, "*positions embedding_width"],
        embeddings: Float[Tensor, "vocab embedding_width"],
    ) -> Float[Tensor, "*positions vocab"]:
        """Return the logits."""
        return functional.linear(x, embeddings, self.bias)


def prediction_head(config: BertConfig, activation: str | None = None) -> PredictionHead:
    """Build and initialize a `PredictionHead`, by default with the layers' activation."""
    head = PredictionHead(
        config.hidden_size,
        config.vocab_size,
        activation or config.hidden_act,
        config.layer_norm_eps,
        config.embedding_size,
    )
    init_weights(head, config.initializer_range, truncated=True)
    return head


class NextSentenceHead(nn.Module):
    """Predict whether the second sentence follows the first (0) or is random (1)."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.dense = nn.Linear(config.hidden_size, 2)
        init_weights(self, config.initializer_range, truncated=True)

    def forward(
        self,
        pooled: Float[Tensor, "batch width"],
        labels: Int[Tensor, " batch"] | None = None,
        name: str = "labels",
    ) -> tuple[Float[Tensor, "batch 2"], Float[Tensor, ""] | None]:
        """Return the logits, and the loss if there are labels (called ``name`` in errors)."""
        logits = self.dense(pooled)
        if labels is None:
            return logits, None
        remedy = "0 says that the second sentence follows the first, 1 that it does not"
        check_class_labels(labels, tuple(logits.shape[:-1]), 2, name, remedy)
        return logits, label_loss(logits, labels)


class PreTrainingHeads(BertHead):
    """A BERT with a head for masked tokens and one for pairs, of class ``PairHead``."""

    PairHead: ClassVar[type[NextSentenceHead]] = NextSentenceHead

    def __init__(self, config: BertConfig) -> None:
        super().__init__(config)
        self.bert = self.Base(with_pooler(config, True))
        self.predictions = prediction_head(config)
        self.seq_relationship = self.PairHead(config)

    def both(
        self, states: EncoderOutput, labels: Tensor | None, pairs: Tensor | None, name: str
    ) -> tuple[Any, ...]:
        """Return the fields of a `PreTrainingOutput`.

        Args:
            states: the output of the `Bert`.
            labels: as in `PredictionHead.forward`.
            pairs: labels as in `NextSentenceHead.forward`, called ``name`` in errors.
        """
        words = self.bert.embeddings.word.weight
        logits, loss = self.predictions(states.last_hidden_state, words, labels)
        scores, pair_loss = self.seq_relationship(states.pooler_output, pairs, name)
        terms = tuple(part for part in (loss, pair_loss) if part is not None) or None
        total = None if terms is None else torch.stack(terms).sum()
        return total, logits, scores, states.hidden_states, states.attentions, terms


class BertForPreTraining(PreTrainingHeads):
    """BERT with both pre-training tasks."""

    def forward(
        self,
        input_ids: Int[Tensor, "batch time"] | None = None,
        *,
        labels: Int[Tensor, "batch time"] | None = None,
        next_sentence_label: Int[Tensor, " batch"] | None = None,
        **model_inputs: Unpack[BertInputs],
    ) -> PreTrainingOutput:
        """Predict the masked tokens and whether sentence B follows A.

        Args:
            labels: as in `PredictionHead.forward`.
            next_sentence_label: 0 where B follows A, 1 where it is random.
            model_inputs: further arguments of `Bert.forward`.
        """
        states = self.bert(input_ids, **model_inputs)
        outputs = self.both(states, labels, next_sentence_label, "next_sentence_label")
        return PreTrainingOutput(*outputs)


class BertForMaskedLM(BertHead):
    """BERT with the masked language modeling head."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__(config)
        self.bert = self.Base(with_pooler(config, False))
        self.predictions = prediction_head(config, self.prediction_act)

    def forward(
        self,
        input_ids: Int[Tensor, "batch time"] | None = None,
        *,
        labels: Int[Tensor, "batch time"] | None = None,
        **model_inputs: Unpack[BertInputs],
    ) -> LanguageModelOutput:
        """Predict the masked tokens.

        Args:
            labels: as in `PredictionHead.forward`. If all are ``IGNORED``, the loss is 0 (NaN in
                the `transformers` library).
            model_inputs: further arguments of `Bert.forward`.
        """
        states = self.bert(input_ids, **model_inputs)
        words = self.bert.embeddings.word.weight
        logits, loss = self.predictions(states.last_hidden_state, words, labels)
        return LanguageModelOutput(loss, logits, states.hidden_states, states.attentions)


def check_class_labels(
    labels: Tensor,
    shape: tuple[int, ...],
    classes: int,
    name: str = "labels",
    remedy: str = "count classes from 0; num_labels in the configuration says how many",
) -> None:
    """Check that labels are classes or ``IGNORED``, and have the predictions' shape.

    Args:
        classes: number of classes.
        name: the argument's name, for the error.
        remedy: the advice about a number out of range.
    """
    check_tensor(labels, name)
    if tuple(labels.shape) != shape:
        raise CourseError(
            f"{name} has shape {tuple(labels.shape)}; the predictions are for {shape}.",
            "Give one label for each of them.",
        )
    check_range(labels, classes, name, IGNORED, remedy)
