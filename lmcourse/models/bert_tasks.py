"""BERT on the tasks it is tuned for: one small layer each on top (chapter 11).

The four pictures of Devlin et al. (2019, figure 4), whose section 4 has their formulas. With T
a token's hidden state and C the pooled vector of [CLS]:

    (a, b) a sentence, or a pair   softmax(W C)                     a class of the sequence
    (c)    question answering      softmax_t(S · T_t), softmax_t(E · T_t)   where the answer starts
                                                                    and ends in the text
    (d)    tagging                 softmax(W T_t)                   a class of each token
    (4.4)  multiple choice         softmax_i(V · C_i)               which of some endings

What ``problem_type`` may be, for (a, b), is what the `transformers` library has: it is read off
the labels if it is not set. One label a sequence is a number to be met (mean squared error), whole
numbers are classes, and floats are one yes or no for each class.
"""

from dataclasses import dataclass
from typing import ClassVar, Unpack

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional

from lmcourse.errors import CourseError
from lmcourse.models.bert import BertConfig, BertHead, BertInputs, Problem, with_pooler
from lmcourse.models.bert_heads import ClassifierOutput, check_class_labels
from lmcourse.models.choices import AXES, check_choices
from lmcourse.models.initialization import draw_weights
from lmcourse.models.inputs import IGNORED
from lmcourse.models.losses import label_loss
from lmcourse.models.outputs import Layers, ModelOutput


@dataclass(frozen=True)
class QuestionAnsweringOutput(ModelOutput):
    """How well each place does for the answer's first token, and for its last."""

    loss: Float[Tensor, ""] | None
    start_logits: Float[Tensor, "batch time"]
    end_logits: Float[Tensor, "batch time"]
    hidden_states: Layers | None = None
    attentions: Layers | None = None


class ClassificationHead(nn.Module):
    """Dropout, then a score for each class."""

    def __init__(self, config: BertConfig, classes: int) -> None:
        super().__init__()
        own = config.classifier_dropout
        self.dropout = nn.Dropout(config.hidden_dropout_prob if own is None else own)
        self.dense = nn.Linear(config.hidden_size, classes)
        draw_weights(self, config.initializer_range, truncated=True)

    def forward(self, x: Float[Tensor, "*places width"]) -> Float[Tensor, "*places classes"]:
        return self.dense(self.dropout(x))


class BertForSequenceClassification(BertHead):
    """A class, or a number, of a sentence or a pair of sentences (figure 4, a and b)."""

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
        **inputs: Unpack[BertInputs],
    ) -> ClassifierOutput:
        """Classify sequences.

        Args:
            labels: a class or a number a sequence, (batch,); for several yes or no, or several
                numbers, (batch, num_labels).
            inputs: the rest of what `Bert.forward` takes.

        Raises:
            CourseError: an input or the labels do not fit.
        """
        states = self.bert(input_ids, **inputs)
        logits = self.classifier(self.vector(states))
        loss = None if labels is None else sequence_loss(logits, labels, self.config)
        return ClassifierOutput(loss, logits, states.hidden_states, states.attentions)


def sequence_loss(
    logits: Float[Tensor, "batch classes"], labels: Tensor, config: BertConfig
) -> Float[Tensor, ""]:
    """The loss of sequences' labels, by the kind of problem.

    Raises:
        CourseError: the labels do not fit.
    """
    problem = problem_of(config, labels)
    if problem == "single_label_classification":
        check_class_labels(labels, (len(logits),), config.num_labels)
        return label_loss(logits, labels)
    if config.num_labels == 1 and labels.ndim == 1:
        labels = labels.unsqueeze(-1)
    if labels.shape != logits.shape:
        raise CourseError(
            f"labels has shape {tuple(labels.shape)}; the predictions are {tuple(logits.shape)}.",
            f"For the problem {problem!r}, give labels of that shape. Classes are whole numbers, "
            "and num_labels of the configuration says how many there are.",
        )
    labels = labels.to(logits.dtype)
    if problem == "regression":
        return functional.mse_loss(logits, labels)
    return functional.binary_cross_entropy_with_logits(logits, labels)


def problem_of(config: BertConfig, labels: Tensor | None) -> Problem:
    """What the label of a sequence is: as it is set, or else read off the labels."""
    if config.problem_type is not None:
        return config.problem_type
    if config.num_labels == 1:
        return "regression"
    several = labels is not None and labels.is_floating_point()
    return "multi_label_classification" if several else "single_label_classification"


class BertForQuestionAnswering(BertHead):
    """Where in a text the answer to a question starts and ends (figure 4, c)."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__(config)
        self.bert = self.Base(with_pooler(config, False))
        self.qa_outputs: nn.Module = nn.Linear(config.hidden_size, 2)
        draw_weights(self.qa_outputs, config.initializer_range, truncated=True)

    def forward(
        self,
        input_ids: Int[Tensor, "batch time"] | None = None,
        *,
        start_positions: Int[Tensor, " batch"] | None = None,
        end_positions: Int[Tensor, " batch"] | None = None,
        **inputs: Unpack[BertInputs],
    ) -> QuestionAnsweringOutput:
        """Score each place as the answer's start and as its end.

        Args:
            start_positions, end_positions: where the answers start and end. What lies behind the
                text (its answer was cut off) counts for nothing, and what is negative as place 0,
                as in the `transformers` library. So does -100, which elsewhere says that there is
                no label: give ``time`` or more where there is no answer to learn from.
            inputs: the rest of what `Bert.forward` takes.

        Raises:
            CourseError: an input does not fit, or one of the positions is given alone.
        """
        states = self.bert(input_ids, **inputs)
        start, end = self.qa_outputs(states.last_hidden_state).unbind(-1)
        loss = None
        if start_positions is not None and end_positions is not None:
            loss = (place_loss(start, start_positions) + place_loss(end, end_positions)) / 2
        elif start_positions is not None or end_positions is not None:
            raise CourseError(
                "One of start_positions and end_positions was given without the other.",
                "Give both, and the loss is the mean of both; or neither.",
            )
        return QuestionAnsweringOutput(loss, start, end, states.hidden_states, states.attentions)


def place_loss(
    scores: Float[Tensor, "batch time"], places: Int[Tensor, " batch"]
) -> Float[Tensor, ""]:
    """Mean cross-entropy of one place in each sequence; those behind its end are left out.

    Raises:
        CourseError: there is not one whole number for each sequence.
    """
    batch, time = scores.shape
    if places.shape != (batch,):
        raise CourseError(
            f"The answers' positions have shape {tuple(places.shape)}.",
            f"Give one start and one end for each of the {batch} sequences, ({batch},).",
        )
    if places.dtype not in (torch.int64, torch.int32):
        raise CourseError(
            f"The answers' positions have the type {places.dtype}.",
            "A place is a whole number: give a tensor of torch.long.",
        )
    return label_loss(scores, places.clamp(min=0).masked_fill(places >= time, IGNORED))


class BertForTokenClassification(BertHead):
    """A class of each token: names, parts of speech (figure 4, d)."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__(config)
        self.bert = self.Base(with_pooler(config, False))
        self.classifier = ClassificationHead(config, config.num_labels)

    def forward(
        self,
        input_ids: Int[Tensor, "batch time"] | None = None,
        *,
        labels: Int[Tensor, "batch time"] | None = None,
        **inputs: Unpack[BertInputs],
    ) -> ClassifierOutput:
        """Classify tokens.

        Args:
            labels: a class a token, ``IGNORED`` where there is none (padding, and a word's
                further pieces).
            inputs: the rest of what `Bert.forward` takes.

        Raises:
            CourseError: an input or the labels do not fit.
        """
        states = self.bert(input_ids, **inputs)
        logits = self.classifier(states.last_hidden_state)
        loss = None
        if labels is not None:
            check_class_labels(labels, tuple(logits.shape[:-1]), self.config.num_labels)
            loss = label_loss(logits, labels)
        return ClassifierOutput(loss, logits, states.hidden_states, states.attentions)


class BertForMultipleChoice(BertHead):
    """Which of some endings goes with a beginning (section 4.4): each pair is read by itself."""

    Classifier: ClassVar[type[nn.Module]] = ClassificationHead

    def __init__(self, config: BertConfig) -> None:
        super().__init__(config)
        self.bert = self.Base(with_pooler(config, self.pooled))
        self.classifier = self.Classifier(config, 1)

    def forward(
        self,
        input_ids: Int[Tensor, "batch choice time"] | None = None,
        *,
        labels: Int[Tensor, " batch"] | None = None,
        **inputs: Unpack[BertInputs],
    ) -> ClassifierOutput:
        """Score the choices, (batch, choice).

        Args:
            input_ids: each choice's pair.
            labels: which choice is right.
            inputs: the rest of what `Bert.forward` takes, with an axis of choices as the ids
                have it. Hidden states and attentions have batch · choice for their first axis.

        Raises:
            CourseError: an input or the labels do not fit.
        """
        given = {"input_ids": input_ids, **inputs}
        shape = check_choices(given)
        states = self.bert(
            **{
                name: value.flatten(0, 1) if name in AXES and isinstance(value, Tensor) else value
                for name, value in given.items()
            }
        )
        logits = self.classifier(self.vector(states)).view(shape)
        loss = None
        if labels is not None:
            remedy = "count the choices from 0"
            check_class_labels(labels, (len(logits),), logits.shape[1], remedy=remedy)
            loss = label_loss(logits, labels)
        return ClassifierOutput(loss, logits, states.hidden_states, states.attentions)
