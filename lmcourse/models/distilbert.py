"""DistilBERT: half of BERT (Sanh et al. 2019, "DistilBERT, a distilled version of BERT: smaller,
faster, cheaper and lighter"; chapter 17).

The network is BERT's with half the layers, without segments and pooler (section 3). Its widths are
the teacher's, so it is initialized with the teacher's weights, "taking one layer out of two". The
published code takes layers 0, 2, 4, 7, 9 and 11 of 12, evenly spaced with the first and the last:

    layer i of the student's n ← layer i (N − 1) / (n − 1) of the teacher's N, rounded

The other embeddings are copied too, but not the segments', though BERT adds the first segment's to
every token of a single text. `lmcourse.models.triple_loss` trains the student.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from torch import nn

from lmcourse.errors import CourseError
from lmcourse.models.bert import Bert, BertConfig, C
from lmcourse.models.bert_heads import BertForMaskedLM
from lmcourse.models.bert_tasks import (
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
    ClassificationHead,
    TwoLayerHead,
)
from lmcourse.models.checkpoint import Model
from lmcourse.models.reuse import body_of
from lmcourse.models.transformer import Encoder, EncoderLayer
from lmcourse.models.weights import load_strictly

OWN = ("num_hidden_layers", "type_vocab_size", "add_pooling_layer", "classifier_dropout")
"""Settings that a student does not copy from its teacher."""


@dataclass(frozen=True)
class DistilBertConfig(BertConfig):
    """Settings of a DistilBERT; the defaults are DistilBERT base.

    Attributes:
        type_vocab_size, add_pooling_layer: 0 and False: there are no segments and no pooler.
        seq_classif_dropout: dropout of the head for sequences.
        qa_dropout: dropout of the head for questions.
        classifier_dropout: dropout of the head for tokens; None: ``hidden_dropout_prob``, as in the
            `transformers` library.
    """

    num_hidden_layers: int = 6
    type_vocab_size: int = 0
    add_pooling_layer: bool = False
    seq_classif_dropout: float = 0.2
    qa_dropout: float = 0.1

    @classmethod
    def base(cls: type[C], **changes: Any) -> C:
        """DistilBERT base: 66,362,880 parameters, the paper's 66 M; BERT base has 109,482,240.

        With the masked language modeling head there are 66,985,530.
        """
        return cls.sized(6, 768, **changes)

    @classmethod
    def large(cls: type[C], **changes: Any) -> C:
        """Half of BERT large's layers: 182,935,552 parameters; not published."""
        return cls.sized(12, 1024, **changes)


class DistilBert(Bert):
    """BERT with half the layers, and without dropout of the attention output."""

    Config = DistilBertConfig

    @staticmethod
    def make_encoder(config: BertConfig) -> nn.Module:
        """Build BERT's layers, without dropout of the attention output."""
        encoder = Encoder(config.layer, config.num_hidden_layers)
        for layer in encoder.layers:
            assert isinstance(layer, EncoderLayer)
            layer.attention_residual.dropout.p = 0.0
        return encoder

    @classmethod
    def from_teacher(
        cls, teacher: Model, layers: Sequence[int] | None = None, **changes: Any
    ) -> "DistilBert":
        """Build a student from some of a BERT's layers, without segments, in training mode.

        Args:
            teacher: a `Bert`, or one with any head.
            layers: its layers to copy, from 0; None: half of them, or ``num_hidden_layers``, chosen
                by `evenly`.
            changes: settings that differ from the teacher's.
        """
        body = body_of(cls, teacher, (Bert,), "bert")
        layers = chosen_layers(layers, changes, body.config.num_hidden_layers)
        kept = {field.name for field in fields(BertConfig)} - set(OWN)
        settings = {name: getattr(body.config, name) for name in kept}
        student = cls(cls.Config(**settings | changes | {"num_hidden_layers": len(layers)}))
        theirs = body.state_dict()
        state = {name: theirs[teacher_name(name, layers)] for name in student.state_dict()}
        load_strictly(student, state, f"this {type(teacher).__name__}")
        return student


def chosen_layers(
    layers: Sequence[int] | None, changes: dict[str, Any], teacher_layers: int
) -> list[int]:
    """Return the teacher's layers to copy, checked against ``num_hidden_layers``."""
    half = max(1, teacher_layers // 2)
    count = changes.get("num_hidden_layers", half if layers is None else len(layers))
    chosen = evenly(count, teacher_layers) if layers is None else list(layers)
    if len(chosen) != count or any(layer not in range(teacher_layers) for layer in chosen):
        raise CourseError(
            f"A student of {count} layers cannot start from layers {chosen} of {teacher_layers}.",
            f"Give as many numbers, each from 0 to {teacher_layers - 1}; or none, and they are "
            "chosen evenly.",
        )
    return chosen


def evenly(student_layers: int, teacher_layers: int) -> list[int]:
    """Return evenly spaced layers of the teacher, with the first and the last."""
    n, N = student_layers, teacher_layers
    if not 1 <= n <= N:
        raise CourseError(
            f"A student of {n} layers cannot start from a teacher of {N}.",
            "Give the student at least one layer, and no more than the teacher has.",
        )
    return [int(i * (N - 1) / max(1, n - 1) + 0.5) for i in range(n)]


def teacher_name(name: str, layers: Sequence[int]) -> str:
    """Return the teacher's name for the tensor that initializes one of the student's."""
    return re.sub(
        r"^encoder\.layers\.(\d+)", lambda own: f"encoder.layers.{layers[int(own[1])]}", name
    )


class DistilBertForMaskedLM(BertForMaskedLM):
    """DistilBERT with the masked language modeling head."""

    Config = DistilBertConfig
    Base = DistilBert

    @classmethod
    def from_teacher(
        cls, teacher: Model, layers: Sequence[int] | None = None, **changes: Any
    ) -> "DistilBertForMaskedLM":
        """Build a student as `DistilBert.from_teacher` does, with a copy of the teacher's head."""
        student = cls.on_top_of(DistilBert.from_teacher(teacher, layers, **changes))
        head = teacher.get_submodule("predictions")
        load_strictly(student.predictions, head.state_dict(), f"this {type(teacher).__name__}")
        return student


class DistilBertClassificationHead(TwoLayerHead):
    """BERT's head, and below it, in the pooler's position, a layer with ReLU."""

    activation = "relu"

    def __init__(self, config: DistilBertConfig, classes: int) -> None:
        super().__init__(replace(config, classifier_dropout=config.seq_classif_dropout), classes)


class DistilBertForSequenceClassification(BertForSequenceClassification):
    """DistilBERT that classifies sequences by the state of [CLS]."""

    Config = DistilBertConfig
    Base = DistilBert
    Classifier = DistilBertClassificationHead
    pooled = False


class DistilBertForQuestionAnswering(BertForQuestionAnswering):
    """DistilBERT that finds the answer to a question, with dropout before the logits."""

    Config = DistilBertConfig
    Base = DistilBert

    def __init__(self, config: DistilBertConfig) -> None:
        super().__init__(config)
        self.qa_outputs = ClassificationHead(
            replace(config, classifier_dropout=config.qa_dropout), 2
        )


class DistilBertForTokenClassification(BertForTokenClassification):
    """DistilBERT that classifies tokens."""

    Config = DistilBertConfig
    Base = DistilBert
