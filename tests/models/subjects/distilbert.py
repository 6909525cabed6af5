"""DistilBERT and its heads, and what is wrongly done in them and in their start from a teacher."""

import math
from functools import partial
from typing import Any

import torch
from torch import Tensor

from lmcourse.models import distilbert
from lmcourse.models.distilbert import DistilBert, DistilBertConfig, DistilBertForMaskedLM
from tests.models.broken import Broken
from tests.models.subject import Batch
from tests.models.subjects import bert
from tests.models.subjects.transformer import replaced

CONFIG = DistilBertConfig(
    bert.VOCAB, 12, 2, 3, 20, max_position_embeddings=16, num_labels=bert.CLASSES
)


def read(make: Any) -> Batch:
    """BERT's batch without segments."""
    given = make()
    del given["token_type_ids"]
    return given


def subject(name: str, kind: Any, make: Any, **options: Any) -> Any:
    settings = {
        "config": CONFIG,
        "dropouts": DROPOUTS,
        "ids": ("input_ids", "attention_mask"),
    } | options
    return bert.subject(name, kind, partial(read, make), **settings)


def with_dropout(setting: str) -> dict[str, Any]:
    return {"dropouts": DROPOUTS | {setting: 1}}


DROPOUTS = bert.DROPOUTS | {"hidden_dropout_prob": 3}
"""BERT's, but for what the attention of two layers adds."""
BIAS = {"unused": {"qa_outputs.dense.bias": "added at all places, it changes no softmax"}}
SUBJECTS = (
    subject("DistilBERT", DistilBert, bert.batch),
    subject(
        "DistilBERT for masked LM",
        DistilBertForMaskedLM,
        bert.masked_words,
        output="logits",
        shift=0,
        chance=math.log(bert.VOCAB),
    ),
    subject(
        "DistilBERT for sequences",
        distilbert.DistilBertForSequenceClassification,
        partial(bert.classes, bert.CLASSES),
        chance=math.log(bert.CLASSES),
        **bert.POOLED,
        **with_dropout("seq_classif_dropout"),
    ),
    subject(
        "DistilBERT for questions",
        distilbert.DistilBertForQuestionAnswering,
        bert.spans,
        **bert.LAYERS,
        **with_dropout("qa_dropout"),
        **BIAS,
    ),
    subject(
        "DistilBERT for tokens",
        distilbert.DistilBertForTokenClassification,
        bert.tags,
        output="logits",
        shift=0,
        chance=math.log(bert.CLASSES),
        **with_dropout("classifier_dropout"),
    ),
)


def below(activation: Any) -> Any:
    """Another activation in the head, or none."""

    def make(forward: Any) -> Any:
        return lambda self, x: self.dense(self.dropout(activation(self.first(x))))

    return make


def pooled_first(forward: Any) -> Any:
    """The head over a vector that a pooler made."""
    return lambda self, x: forward(self, torch.tanh(self.first(x)))


def dropped_first(forward: Any) -> Any:
    """Dropout below the head's first layer too, as RoBERTa's."""
    return lambda self, x: forward(self, self.dropout(x))


def hidden_dropout(init: Any) -> Any:
    """The head with the hidden states' dropout."""

    def wrong(self: Any, config: Any, classes: int) -> None:
        init(self, config, classes)
        self.dropout.p = config.hidden_dropout_prob

    return wrong


def no_dropout(init: Any) -> Any:
    """Answers found without the dropout below the scores."""

    def wrong(self: Any, config: Any) -> None:
        init(self, config)
        self.qa_outputs.dropout.p = 0.0

    return wrong


def as_berts(make_encoder: Any) -> Any:
    """BERT's layers, with dropout of what the attention found."""
    return staticmethod(bert.bert.Bert.make_encoder)


def chosen(rule: Any) -> Any:
    """Other layers of the teacher's for the student to start from."""
    return lambda evenly: rule


def first_segment(from_teacher: Any) -> Any:
    """The vector of a text's segment, which the student has none for, added to its words'."""

    def wrong(teacher: Any, *given: Any, **more: Any) -> Any:
        student = from_teacher(teacher, *given, **more)
        body = getattr(teacher, "bert", teacher)
        with torch.no_grad():
            student.embeddings.word.weight += body.embeddings.segment.weight[0]
        return student

    return staticmethod(wrong)


def shared(student: Any, teacher: Any) -> Any:
    for name, parameter in student.named_parameters():
        source: dict[str, Tensor] = dict(teacher.named_parameters())
        if name in source and source[name].shape == parameter.shape:
            parameter.data = source[name].data
    return student


def layers_shared(from_teacher: Any) -> Any:
    """The student computes with the teacher's own embeddings, and changes them as it learns."""

    def wrong(teacher: Any, *given: Any, **more: Any) -> Any:
        student = from_teacher(teacher, *given, **more)
        shared(student.bert.embeddings, teacher.bert.embeddings)
        return student

    return staticmethod(wrong)


def head_shared(from_teacher: Any) -> Any:
    def wrong(teacher: Any, *given: Any, **more: Any) -> Any:
        student = from_teacher(teacher, *given, **more)
        shared(student.predictions, teacher.predictions)
        return student

    return staticmethod(wrong)


def new_head(from_teacher: Any) -> Any:
    """The masked tokens' head drawn anew."""

    def wrong(teacher: Any, *given: Any, **more: Any) -> Any:
        return DistilBertForMaskedLM.on_top_of(DistilBert.from_teacher(teacher, *given, **more))

    return staticmethod(wrong)


HEAD, QUESTIONS = distilbert.DistilBertClassificationHead, ("DistilBERT for questions",)
SEQUENCES, START = ("DistilBERT for sequences",), ("DistilBERT's start from its teacher",)
BROKEN = (
    Broken("DistilBERT: GELU for ReLU in the classifier",
           replaced(HEAD, "forward", below(torch.nn.functional.gelu)), SEQUENCES),
    Broken("DistilBERT: tanh for ReLU in the classifier",
           replaced(HEAD, "forward", below(torch.tanh)), SEQUENCES),
    Broken("DistilBERT: a classifier without ReLU",
           replaced(HEAD, "forward", below(lambda x: x)), SEQUENCES),
    Broken("DistilBERT: a classifier over a pooler",
           replaced(HEAD, "forward", pooled_first), SEQUENCES),
    Broken("DistilBERT: a classifier with two dropouts",
           replaced(HEAD, "forward", dropped_first), (), SEQUENCES),
    Broken("DistilBERT: a classifier with the hidden states' dropout",
           replaced(HEAD, "__init__", hidden_dropout), (), SEQUENCES),
    Broken("DistilBERT: answers without their dropout",
           replaced(distilbert.DistilBertForQuestionAnswering, "__init__", no_dropout),
           (), QUESTIONS),
    Broken("DistilBERT: BERT's dropout of what the attention adds",
           replaced(DistilBert, "make_encoder", as_berts), (), ("DistilBERT",)),
    Broken("DistilBERT: started from the first half of the layers",
           replaced(distilbert, "evenly", chosen(lambda n, N: list(range(n)))), START),
    Broken("DistilBERT: started from the last half of the layers",
           replaced(distilbert, "evenly", chosen(lambda n, N: list(range(N - n, N)))), START),
    Broken("DistilBERT: started from every other layer, from the second on",
           replaced(distilbert, "evenly", chosen(lambda n, N: list(range(1, N, N // n)))), START),
    Broken("DistilBERT: started from every other layer to the last but one",
           replaced(distilbert, "evenly", chosen(lambda n, N: list(range(0, N, N // n)))), START),
    Broken("DistilBERT: the layers of its teacher in its own order",
           replaced(distilbert, "teacher_name", lambda named: lambda name, layers: name), START),
    Broken("DistilBERT: the teacher's segment folded into the words",
           replaced(DistilBert, "from_teacher", first_segment), START),
    Broken("DistilBERT: the teacher's embeddings shared",
           replaced(DistilBertForMaskedLM, "from_teacher", layers_shared), START),
    Broken("DistilBERT: the teacher's head shared",
           replaced(DistilBertForMaskedLM, "from_teacher", head_shared), START),
    Broken("DistilBERT: the teacher's head forgotten",
           replaced(DistilBertForMaskedLM, "from_teacher", new_head), START),
)  # fmt: skip
