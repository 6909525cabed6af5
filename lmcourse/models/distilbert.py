"""DistilBERT: half of BERT (Sanh et al. 2019, "DistilBERT, a distilled version of BERT: smaller,
faster, cheaper and lighter"; chapter 17).

The network is BERT's with half the layers, without segments and without the pooler (section 3):
fewer layers save more time than narrower ones would. As all its widths are the teacher's, it starts
from the teacher's weights, "taking one layer out of two". Which, the paper does not say; of 12, the
published code takes 0, 2, 4, 7, 9 and 11: the first, the last, and evenly between,

    layer i of the student's n ← layer i (N − 1) / (n − 1) of the teacher's N, rounded

The words', places' and LayerNorm's weights are copied too. A segment's vector is not: the published
code drops it, though BERT adds the first segment's to every word of a text that stands alone.

How a student then learns from its teacher is in `lmcourse.models.triple_loss`.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from torch import nn

from lmcourse.errors import CourseError
from lmcourse.models import inputs
from lmcourse.models.bert import Bert, BertConfig, C
from lmcourse.models.bert_heads import BertForMaskedLM
from lmcourse.models.bert_tasks import (
    BertForMultipleChoice,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
    ClassificationHead,
)
from lmcourse.models.checkpoint import Model, load_strictly
from lmcourse.models.reuse import body_of, check_changes
from lmcourse.models.transformer import Encoder, EncoderLayer
from lmcourse.models.two_layer_head import TwoLayerHead

OWN = ("num_hidden_layers", "type_vocab_size", "add_pooling_layer", "classifier_dropout")
"""Settings that a student does not take over from its teacher."""


@dataclass(frozen=True)
class DistilBertConfig(BertConfig):
    """BERT's settings with DistilBERT's values, and the dropouts of two of its heads.

    Attributes:
        type_vocab_size, add_pooling_layer: there are no segments, and there is no pooler.
        seq_classif_dropout: dropout in the heads of sequences and choices, whatever
            ``classifier_dropout`` says.
        qa_dropout: dropout below the head that finds answers.
        classifier_dropout: dropout below the head of tokens alone. The `transformers` library has
            ``hidden_dropout_prob`` there, as ours where this is None.
    """

    num_hidden_layers: int = 6
    type_vocab_size: int = 0
    add_pooling_layer: bool = False
    seq_classif_dropout: float = 0.2
    qa_dropout: float = 0.1

    def __post_init__(self) -> None:
        super().__post_init__()
        inputs.check_settings(self, (), ("seq_classif_dropout", "qa_dropout"))
        for name, value in (("type_vocab_size", 0), ("add_pooling_layer", False)):
            if getattr(self, name) != value:
                raise CourseError(
                    f"{name} is {getattr(self, name)!r} in this {type(self).__name__}.",
                    f"A DistilBERT has {name}={value!r}; one with segments or a pooler is a BERT.",
                )

    @classmethod
    def base(cls: type[C], **changes: Any) -> C:
        """DistilBERT base: 66,362,880 parameters, the paper's 66 M; BERT base has 109,482,240.

        It has half of that one's layers. With the masked tokens' head there are 66,985,530.
        """
        return cls.sized(6, 768, **changes)

    @classmethod
    def large(cls: type[C], **changes: Any) -> C:
        """Half of BERT large's layers: 182,935,552 parameters. None of this size was published."""
        return cls.sized(12, 1024, **changes)


class DistilBert(Bert):
    """Hidden states of a sequence: BERT's, of half as many layers.

    What a layer's attention found is added whole: BERT drops some of it, the published code of
    DistilBERT none.
    """

    Config = DistilBertConfig

    @staticmethod
    def make_encoder(config: BertConfig) -> nn.Module:
        """BERT's layers, without the dropout of what their attention adds."""
        encoder = Encoder(config.layer, config.num_hidden_layers)
        for layer in encoder.layers:
            assert isinstance(layer, EncoderLayer)
            layer.attention_residual.dropout.p = 0.0
        return encoder

    @classmethod
    def from_teacher(
        cls, teacher: Model, layers: Sequence[int] | None = None, **changes: Any
    ) -> "DistilBert":
        """A student on a copy of some of a trained BERT's layers, in training mode.

        Args:
            teacher: the `Bert`, or one with any head on it.
            layers: which of its layers, counted from 0; None: half of them (or as many as the
                setting ``num_hidden_layers`` says), chosen by `evenly`.
            changes: settings that are to differ from the teacher's.

        Raises:
            CourseError: it is no BERT; it has no such layers; a setting is unknown, or its tensors
                would not fit.
        """
        body = body_of(cls, teacher, (Bert,), "bert")
        check_changes(cls.Config, changes)
        layers = chosen_layers(layers, changes, body.config.num_hidden_layers)
        kept = {field.name for field in fields(BertConfig)} - set(OWN)
        settings = {name: getattr(body.config, name) for name in kept}
        student = cls(cls.Config(**settings | changes | {"num_hidden_layers": len(layers)}))
        theirs = body.state_dict()
        state = {name: theirs[teachers_name(name, layers)] for name in student.state_dict()}
        load_strictly(student, state, f"this {type(teacher).__name__}")
        return student


def chosen_layers(
    layers: Sequence[int] | None, changes: dict[str, Any], teacher_layers: int
) -> list[int]:
    """The teacher's layers that a student starts from.

    Raises:
        CourseError: the teacher has no such layers; or there are other than the setting
            ``num_hidden_layers`` says.
    """
    owner, half = DistilBertConfig.__name__, max(1, teacher_layers // 2)
    if layers is not None and not is_whole_numbers(layers):
        raise CourseError(
            f"The layers to start from are {layers!r:.80}.",
            f"Give a list of whole numbers from 0 to {teacher_layers - 1}. How many layers the "
            "student is to have, the setting num_hidden_layers says.",
        )
    wished = None if layers is None else len(layers)
    count = changes.get("num_hidden_layers", half if wished is None else wished)
    count = inputs.whole_number(count, "num_hidden_layers", owner)
    found = evenly(count, teacher_layers) if layers is None else list(layers)
    if len(found) != count or any(layer not in range(teacher_layers) for layer in found):
        raise CourseError(
            f"A student of {count} layers cannot start from layers {found} of {teacher_layers}.",
            f"Give as many numbers, each from 0 to {teacher_layers - 1}; or none, and they are "
            "chosen evenly.",
        )
    return found


def is_whole_numbers(layers: Any) -> bool:
    """Whether these are whole numbers in a row, of Python's type or another."""
    return isinstance(layers, Sequence) and all(hasattr(one, "__index__") for one in layers)


def evenly(student_layers: int, teacher_layers: int) -> list[int]:
    """Which layers a student starts from: the first, the last, and evenly between.

    Raises:
        CourseError: the student has more than the teacher, or none; or these are no whole numbers.
    """
    n = inputs.whole_number(student_layers, "student_layers", "evenly", least=0)
    N = inputs.whole_number(teacher_layers, "teacher_layers", "evenly")
    if not 1 <= n <= N:
        raise CourseError(
            f"A student of {n} layers cannot start from a teacher of {N}.",
            "Give the student at least one layer, and no more than the teacher has.",
        )
    return [int(i * (N - 1) / max(1, n - 1) + 0.5) for i in range(n)]


def teachers_name(name: str, layers: Sequence[int]) -> str:
    """What the teacher calls the tensor that one of the student's starts from."""
    return re.sub(
        r"^encoder\.layers\.(\d+)", lambda own: f"encoder.layers.{layers[int(own[1])]}", name
    )


class DistilBertForMaskedLM(BertForMaskedLM):
    """DistilBERT as it is pre-trained."""

    Config = DistilBertConfig
    Base = DistilBert

    @classmethod
    def from_teacher(
        cls, teacher: Model, layers: Sequence[int] | None = None, **changes: Any
    ) -> "DistilBertForMaskedLM":
        """A student as `DistilBert.from_teacher` makes it, with a copy of the teacher's head.

        Raises:
            CourseError: the teacher has no head for masked tokens; or as there.
        """
        student = cls.on_top_of(DistilBert.from_teacher(teacher, layers, **changes))
        head = getattr(teacher, "predictions", None)
        if not isinstance(head, nn.Module):
            raise CourseError(
                f"This {type(teacher).__name__} has no head for masked tokens to start from.",
                "Give a BertForMaskedLM or BertForPreTraining; or make the student by "
                f"{cls.__name__}.on_top_of(DistilBert.from_teacher(…)), with a new head.",
            )
        load_strictly(student.predictions, head.state_dict(), f"this {type(teacher).__name__}")
        return student


class DistilBertClassificationHead(TwoLayerHead):
    """BERT's head, and below it, in the pooler's place, a layer with ReLU."""

    activation = "relu"

    def __init__(self, config: DistilBertConfig, classes: int) -> None:
        super().__init__(replace(config, classifier_dropout=config.seq_classif_dropout), classes)


class DistilBertForSequenceClassification(BertForSequenceClassification):
    """A class, or a number, of a sequence, from the state of [CLS]."""

    Config = DistilBertConfig
    Base = DistilBert
    Classifier = DistilBertClassificationHead
    pooled = False


class DistilBertForQuestionAnswering(BertForQuestionAnswering):
    """Where in a text the answer to a question starts and ends; with dropout below the scores."""

    Config = DistilBertConfig
    Base = DistilBert

    def __init__(self, config: DistilBertConfig) -> None:
        super().__init__(config)
        self.qa_outputs = ClassificationHead(
            replace(config, classifier_dropout=config.qa_dropout), 2
        )


class DistilBertForTokenClassification(BertForTokenClassification):
    """A class of each token."""

    Config = DistilBertConfig
    Base = DistilBert


class DistilBertForMultipleChoice(BertForMultipleChoice):
    """Which of some endings goes with a beginning, from the state of [CLS]."""

    Config = DistilBertConfig
    Base = DistilBert
    Classifier = DistilBertClassificationHead
    pooled = False
