"""What BERT is trained on: masked tokens, and which sentence comes next (chapter 10).

After Devlin et al. (2019, section 3.1 and appendix A.1). A masked token is predicted from the
hidden state h of its place, with the embeddings E themselves for the output's weights; whether
sentence B followed A, from the pooled vector of [CLS]:

    p(token | text) = softmax(E LayerNorm(GELU(W h + b)) + c)
    p(next | A, B) = softmax(V pooled + d)            0: B follows A, 1: B is random

The loss is the mean cross-entropy over the masked places alone, and of both tasks the sum.
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
from lmcourse.models.initialization import draw_weights
from lmcourse.models.inputs import (
    IGNORED,
    check_ids,
    check_like,
    check_range,
    check_tensor,
    whole_number,
)
from lmcourse.models.losses import label_loss
from lmcourse.models.outputs import EncoderOutput, LanguageModelOutput, Layers, ModelOutput


@dataclass(frozen=True)
class ClassifierOutput(ModelOutput):
    """What a model returns that predicts a class of each sequence, or of each token."""

    loss: Float[Tensor, ""] | None
    logits: Float[Tensor, "*places classes"]
    hidden_states: Layers | None = None
    attentions: Layers | None = None


@dataclass(frozen=True)
class PreTrainingOutput(ModelOutput):
    """What the two tasks of pre-training return; ``loss`` is the sum of those with labels."""

    loss: Float[Tensor, ""] | None
    prediction_logits: Float[Tensor, "batch time vocab"]
    seq_relationship_logits: Float[Tensor, "batch 2"]
    hidden_states: Layers | None = None
    attentions: Layers | None = None


class PredictionHead(nn.Module):
    """Scores of all tokens at each place; their weights are the tokens' embeddings.

    Args:
        hidden_size: width of a hidden state.
        vocab_size: how many tokens.
        hidden_act: the activation.
        layer_norm_eps: what its LayerNorm adds to the variance.
        embedding_size: width of a token's embedding.

    Raises:
        CourseError: a size or the activation makes no sense.
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
        sizes = {
            "hidden_size": hidden_size,
            "vocab_size": vocab_size,
            "embedding_size": embedding_size,
        }
        for name, size in sizes.items():
            whole_number(size, name, type(self).__name__)
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
        """The scores, and the loss if there are labels.

        Args:
            embeddings: of all tokens. They are handed in, and not held here too: so they are kept
                once, and learn from both their uses.
            labels: the token of each place that is to be predicted, ``IGNORED`` at the others.

        Raises:
            CourseError: the labels are of another shape than the tokens, or out of range.
        """
        x = self.norm(self.activation(self.dense(hidden)))
        logits = self.scores(x, embeddings)
        if labels is None:
            return logits, None
        check_like(labels, hidden[..., 0], "labels")
        check_ids(labels, len(embeddings), name="labels", allowed=IGNORED)
        # One place in seven has a label. Scored again by themselves, these need no gradient of
        # all the others' scores, which would be two products with the whole vocabulary of zeros.
        chosen = labels != IGNORED
        return logits, label_loss(self.scores(x[chosen], embeddings), labels[chosen])

    def scores(
        self,
        x: Float[Tensor, "*places embedding_width"],
        embeddings: Float[Tensor, "vocab embedding_width"],
    ) -> Float[Tensor, "*places vocab"]:
        """How well each token's embedding fits, and its bias."""
        return functional.linear(x, embeddings, self.bias)


def prediction_head(config: BertConfig, activation: str | None = None) -> PredictionHead:
    """A `PredictionHead` for a BERT of these settings, its weights drawn.

    Args:
        activation: None: that of the layers.
    """
    head = PredictionHead(
        config.hidden_size,
        config.vocab_size,
        activation or config.hidden_act,
        config.layer_norm_eps,
        config.embedding_size,
    )
    draw_weights(head, config.initializer_range, truncated=True)
    return head


class NextSentenceHead(nn.Module):
    """Whether the second sentence followed the first: 0 if so, 1 if it is a random one."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.dense = nn.Linear(config.hidden_size, 2)
        draw_weights(self, config.initializer_range, truncated=True)

    def forward(
        self,
        pooled: Float[Tensor, "batch width"],
        labels: Int[Tensor, " batch"] | None = None,
        name: str = "labels",
    ) -> tuple[Float[Tensor, "batch 2"], Float[Tensor, ""] | None]:
        """Both answers' scores, and the loss if there are labels, which the caller calls ``name``.

        Raises:
            CourseError: the labels are not one 0, 1 or ``IGNORED`` for each pair.
        """
        logits = self.dense(pooled)
        if labels is None:
            return logits, None
        remedy = "0 says that the second sentence follows the first, 1 that it does not"
        check_class_labels(labels, tuple(logits.shape[:-1]), 2, name, remedy)
        return logits, label_loss(logits, labels)


class BothTasks(BertHead):
    """A BERT with a head for masked tokens and one for pairs of sentences.

    Attributes:
        PairHead: the latter's class.
    """

    PairHead: ClassVar[type[NextSentenceHead]] = NextSentenceHead

    def __init__(self, config: BertConfig) -> None:
        super().__init__(config)
        self.bert = self.Base(with_pooler(config, True))
        self.predictions = prediction_head(config)
        self.seq_relationship = self.PairHead(config)

    def both(
        self, states: EncoderOutput, labels: Tensor | None, pairs: Tensor | None, name: str
    ) -> tuple[Any, ...]:
        """The sum of the losses that there are, both heads' scores, hidden states and attentions.

        Args:
            states: what the `Bert` made of the batch.
            labels: as `PredictionHead.forward` has them.
            pairs: as `NextSentenceHead.forward` has them, which the caller calls ``name``.
        """
        words = self.bert.embeddings.word.weight
        logits, loss = self.predictions(states.last_hidden_state, words, labels)
        scores, pair_loss = self.seq_relationship(states.pooler_output, pairs, name)
        losses = [part for part in (loss, pair_loss) if part is not None]
        total = torch.stack(losses).sum() if losses else None
        return total, logits, scores, states.hidden_states, states.attentions


class BertForPreTraining(BothTasks):
    """BERT as it is pre-trained: both tasks at once."""

    def forward(
        self,
        input_ids: Int[Tensor, "batch time"] | None = None,
        *,
        labels: Int[Tensor, "batch time"] | None = None,
        next_sentence_label: Int[Tensor, " batch"] | None = None,
        **inputs: Unpack[BertInputs],
    ) -> PreTrainingOutput:
        """Predict the masked tokens, and whether B follows A.

        Args:
            labels: as `PredictionHead.forward` has them.
            next_sentence_label: 0 where B follows A, 1 where it is random.
            inputs: the rest of what `Bert.forward` takes.
        """
        states = self.bert(input_ids, **inputs)
        found = self.both(states, labels, next_sentence_label, "next_sentence_label")
        return PreTrainingOutput(*found)


class BertForMaskedLM(BertHead):
    """BERT with the masked tokens' task alone."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__(config)
        self.bert = self.Base(with_pooler(config, False))
        self.predictions = prediction_head(config, self.prediction_act)

    def forward(
        self,
        input_ids: Int[Tensor, "batch time"] | None = None,
        *,
        labels: Int[Tensor, "batch time"] | None = None,
        **inputs: Unpack[BertInputs],
    ) -> LanguageModelOutput:
        """Predict the masked tokens.

        Args:
            labels: as `PredictionHead.forward` has them. Without any, the loss is 0, where the
                `transformers` library's is NaN.
            inputs: the rest of what `Bert.forward` takes.
        """
        states = self.bert(input_ids, **inputs)
        words = self.bert.embeddings.word.weight
        logits, loss = self.predictions(states.last_hidden_state, words, labels)
        return LanguageModelOutput(loss, logits, states.hidden_states, states.attentions)


class BertForNextSentencePrediction(BertHead):
    """BERT with the next sentence's task alone."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__(config)
        self.bert = self.Base(with_pooler(config, True))
        self.seq_relationship = NextSentenceHead(config)

    def forward(
        self,
        input_ids: Int[Tensor, "batch time"] | None = None,
        *,
        labels: Int[Tensor, " batch"] | None = None,
        **inputs: Unpack[BertInputs],
    ) -> ClassifierOutput:
        """Predict whether B follows A: 0 if so, 1 if it is a random sentence.

        Args:
            labels: the answers.
            inputs: the rest of what `Bert.forward` takes.
        """
        states = self.bert(input_ids, **inputs)
        logits, loss = self.seq_relationship(states.pooler_output, labels)
        return ClassifierOutput(loss, logits, states.hidden_states, states.attentions)


def check_class_labels(
    labels: Tensor,
    places: tuple[int, ...],
    classes: int,
    name: str = "labels",
    remedy: str = "count classes from 0; num_labels in the configuration says how many",
) -> None:
    """See that labels are one class, or ``IGNORED``, for each place.

    Args:
        labels: whole numbers.
        places: the shape that they must have.
        classes: how many there are.
        name: what the caller calls the labels.
        remedy: what to do about a number that is no class.

    Raises:
        CourseError: they are not.
    """
    check_tensor(labels, name)
    if tuple(labels.shape) != places:
        raise CourseError(
            f"{name} has shape {tuple(labels.shape)}; the predictions are for {places}.",
            "Give one label for each of them.",
        )
    if labels.is_floating_point() or labels.dtype == torch.bool:
        raise CourseError(
            f"{name} has the type {labels.dtype}.",
            "A class is a whole number: give a tensor of torch.long.",
        )
    check_range(labels, classes, name, IGNORED, remedy)
