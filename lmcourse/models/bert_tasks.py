"""BERT's heads for fine-tuning: one small layer for each task (chapter 11).

After Devlin et al. (2019, section 4 and figure 4). With T a token's hidden state and C the pooled
vector of [CLS]:

    (a, b) a sentence or a pair    softmax(W C)                     a class of the sequence
    (c)    question answering      softmax_t(S · T_t), softmax_t(E · T_t)   start and end
    (d)    tagging                 softmax(W T_t)                   a class of each token

For (a, b), ``problem_type`` is that of the `transformers` library. If not set, it is inferred: one
label is a regression (mean squared error), integer labels are classes, and floats are one binary
label for each class.
"""

from dataclasses import dataclass
from typing import ClassVar, Unpack

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional

from lmcourse.errors import CourseError
from lmcourse.models.activations import activation_of
from lmcourse.models.bert import BertConfig, BertHead, BertInputs, Problem, with_pooler
from lmcourse.models.bert_heads import ClassifierOutput, check_class_labels
from lmcourse.models.initialization import init_weights
from lmcourse.models.inputs import IGNORED, padding_mask
from lmcourse.models.losses import label_loss, position_loss
from lmcourse.models.outputs import Layers, ModelOutput, Terms


@dataclass(frozen=True)
class QuestionAnsweringOutput(ModelOutput):
    """Logits of each position as the start and the end of the answer.

    Attributes:
        loss: the mean of the start's and the end's loss, whose halves are the ``terms``.
    """

    loss: Float[Tensor, ""] | None
    start_logits: Float[Tensor, "batch time"]
    end_logits: Float[Tensor, "batch time"]
    hidden_states: Layers | None = None
    attentions: Layers | None = None
    terms: Terms | None = None


class ClassificationHead(nn.Module):
    """Dropout, then a linear layer."""

    def __init__(self, config: BertConfig, classes: int) -> None:
        super().__init__()
        own = config.classifier_dropout
        self.dropout = nn.Dropout(config.hidden_dropout_prob if own is None else own)
        self.dense = nn.Linear(config.hidden_size, classes)
        init_weights(self, config.initializer_range, truncated=True)

    def forward(self, x: Float[Tensor, "*positions width"]) -> Float[Tensor, "*positions classes"]:
        return self.dense(self.dropout(x))


class BertForSequenceClassification(BertHead):
    """BERT that classifies sentences or pairs, or predicts a number (figure 4, a and b)."""

    Classifier: ClassVar[type[nn.Module]] = ClassificationHead

    def __init__(self, config: BertConfig) -> None:
        super().__init__(config)
        self.bert = self.Base(with_pooler(config, self.pooled))
        self.classifier = self.Classifier(config, config.num_labels)

    def forward(
        self,
        input_ids: Int[Tensor, "batch time"] | None = None,
        *,
        labels: Tensor | None = None,
        **model_inputs: Unpack[BertInputs],
    ) -> ClassifierOutput:
        """Classify sequences.

        Args:
            labels: a class for each sequence, (batch,), or ``IGNORED``; a number for each; or
                several numbers or binary labels (probabilities), (batch, num_labels).
            model_inputs: further arguments of `Bert.forward`.
        """
        states = self.bert(input_ids, **model_inputs)
        logits = self.classifier(self.vector(states))
        loss = None if labels is None else sequence_loss(logits, labels, self.config)
        return ClassifierOutput(loss, logits, states.hidden_states, states.attentions)


def sequence_loss(
    logits: Float[Tensor, "batch classes"], labels: Tensor, config: BertConfig
) -> Float[Tensor, ""]:
    """Return the loss for the kind of problem."""
    problem = problem_type_of(config, labels)
    if problem == "single_label_classification":
        check_class_labels(labels, (len(logits),), config.num_labels)
        return label_loss(logits, labels)
    if config.num_labels == 1 and labels.ndim == 1:
        labels = labels.unsqueeze(-1)
    if labels.shape != logits.shape:
        raise CourseError(
            f"labels has shape {tuple(labels.shape)}; the predictions are {tuple(logits.shape)}.",
            f"For the problem {problem!r}, give labels of that shape. Classes are integers; "
            "num_labels of the configuration is their number.",
        )
    check_numbers(labels, problem)
    labels = labels.to(logits.dtype)
    if problem == "regression":
        return functional.mse_loss(logits, labels)
    return functional.binary_cross_entropy_with_logits(logits, labels)


def check_numbers(labels: Tensor, problem: Problem) -> None:
    """Check that binary labels are from 0 to 1, and that none is an ignored class."""
    if labels.is_meta or torch.compiler.is_compiling():
        return
    if problem == "regression":
        wrong = (labels == IGNORED) & (not labels.is_floating_point())  # -100.0 is a number
    else:
        wrong = ~((labels >= 0) & (labels <= 1))
    if bool(wrong.any()):
        raise CourseError(
            f"labels holds {labels[wrong][0].item():g}; the problem is {problem!r}.",
            "Give numbers; for several binary labels, 1 for each class of the sequence and 0 for "
            "the others. They cannot be ignored as a class can: leave out unlabeled sequences.",
        )


def problem_type_of(config: BertConfig, labels: Tensor | None) -> Problem:
    """Return the configured kind of problem, or infer it from the labels."""
    if config.problem_type is not None:
        return config.problem_type
    if config.num_labels == 1:
        return "regression"
    several = labels is not None and labels.is_floating_point()
    return "multi_label_classification" if several else "single_label_classification"


class BertForQuestionAnswering(BertHead):
    """BERT that finds the answer to a question in a text (figure 4, c)."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__(config)
        self.bert = self.Base(with_pooler(config, False))
        self.qa_outputs: nn.Module = nn.Linear(config.hidden_size, 2)
        init_weights(self.qa_outputs, config.initializer_range, truncated=True)

    def forward(
        self,
        input_ids: Int[Tensor, "batch time"] | None = None,
        *,
        start_positions: Int[Tensor, " batch"] | None = None,
        end_positions: Int[Tensor, " batch"] | None = None,
        transformers_loss: bool = False,
        **model_inputs: Unpack[BertInputs],
    ) -> QuestionAnsweringOutput:
        """Score each position as the start and the end of the answer.

        Args:
            start_positions, end_positions: the answers' first and last positions. Positions beyond
                the sequence's tokens (a truncated answer) and ``IGNORED`` are not predicted; other
                negative ones count as 0.
            transformers_loss: compute the loss of the `transformers` library, which depends on the
                padding: it is in the softmax over positions, and may have the answer. ``IGNORED``
                counts as 0.
            model_inputs: further arguments of `Bert.forward`.
        """
        states = self.bert(input_ids, **model_inputs)
        start, end = self.qa_outputs(states.last_hidden_state).unbind(-1)
        terms = loss = None
        if start_positions is not None and end_positions is not None:
            real = padding_mask(model_inputs.get("attention_mask"), states.last_hidden_state)
            if transformers_loss:
                real = None
                start_positions, end_positions = start_positions.clamp(0), end_positions.clamp(0)
            terms = (
                position_loss(start, start_positions, real) / 2,
                position_loss(end, end_positions, real) / 2,
            )
            loss = terms[0] + terms[1]
        return QuestionAnsweringOutput(
            loss, start, end, states.hidden_states, states.attentions, terms
        )


class BertForTokenClassification(BertHead):
    """BERT that classifies tokens, such as names or parts of speech (figure 4, d)."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__(config)
        self.bert = self.Base(with_pooler(config, False))
        self.classifier = ClassificationHead(config, config.num_labels)

    def forward(
        self,
        input_ids: Int[Tensor, "batch time"] | None = None,
        *,
        labels: Int[Tensor, "batch time"] | None = None,
        **model_inputs: Unpack[BertInputs],
    ) -> ClassifierOutput:
        """Classify tokens.

        Args:
            labels: a class for each token, ``IGNORED`` where there is none, as for padding and a
                word's further pieces.
            model_inputs: further arguments of `Bert.forward`.
        """
        states = self.bert(input_ids, **model_inputs)
        logits = self.classifier(states.last_hidden_state)
        loss = None
        if labels is not None:
            check_class_labels(labels, tuple(logits.shape[:-1]), self.config.num_labels)
            loss = label_loss(logits, labels)
        return ClassifierOutput(loss, logits, states.hidden_states, states.attentions)


class TwoLayerHead(ClassificationHead):
    """BERT's head after another layer, which replaces the pooler over [CLS]'s hidden state h_1:

        logits = W Dropout(f(V h_1 + c)) + b

    RoBERTa, ELECTRA and DistilBERT use it with different activations f and dropouts.
    """

    activation: ClassVar[str] = "tanh"

    def __init__(self, config: BertConfig, classes: int) -> None:
        super().__init__(config, classes)
        self.first = nn.Linear(config.hidden_size, config.hidden_size)
        init_weights(self.first, config.initializer_range, truncated=True)

    def forward(self, x: Float[Tensor, "*positions width"]) -> Float[Tensor, "*positions classes"]:
        return super().forward(activation_of(self.activation)(self.first(x)))
