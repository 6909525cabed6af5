"""RoBERTa and its heads, and what is wrongly done in them."""

import math
from functools import partial
from typing import Any

import torch
from torch import Tensor

from lmcourse.models import roberta
from lmcourse.models.roberta import RobertaConfig
from tests.models.broken import Broken
from tests.models.subject import Batch
from tests.models.subjects import bert
from tests.models.subjects.transformer import replaced

CONFIG = RobertaConfig(
    bert.VOCAB, 12, 2, 3, 20, max_position_embeddings=16, num_labels=bert.CLASSES
)


def read(make: Any) -> Batch:
    """BERT's batch without segments, and without [PAD] and what stands before it, of ids 0, 1."""
    given = make()
    del given["token_type_ids"]
    return given | {"input_ids": given["input_ids"].clamp(min=2)}


def subject(name: str, kind: Any, make: Any, **options: Any) -> Any:
    settings = {"config": CONFIG, "ids": ("input_ids", "attention_mask")} | options
    return bert.subject(name, kind, partial(read, make), **settings)


def twice(setting: str) -> dict[str, Any]:
    """The dropouts of the head that has two."""
    return {"dropouts": bert.DROPOUTS | {setting: 2}}


SUBJECTS = (
    subject("RoBERTa", roberta.Roberta, bert.batch, pooled=("pooler_output",)),
    subject(
        "RoBERTa for masked LM",
        roberta.RobertaForMaskedLM,
        bert.masked_words,
        output="logits",
        shift=0,
        chance=math.log(bert.VOCAB),
    ),
    subject(
        "RoBERTa for sequences",
        roberta.RobertaForSequenceClassification,
        partial(bert.classes, bert.CLASSES),
        chance=math.log(bert.CLASSES),
        **bert.POOLED,
        **twice("classifier_dropout"),
    ),
    subject("RoBERTa for questions", roberta.RobertaForQuestionAnswering, bert.spans, **bert.SPANS),
    subject(
        "RoBERTa for tokens",
        roberta.RobertaForTokenClassification,
        bert.tags,
        output="logits",
        shift=0,
        chance=math.log(bert.CLASSES),
        **bert.CLASSIFIED,
    ),
)


def padding_counted(counted: Any) -> Any:
    """Places 2, 3, 4, … for all, whatever is padding."""
    return lambda self, ids: self.padding + 1 + torch.arange(ids.shape[1]).expand_as(ids)


def from_zero(counted: Any) -> Any:
    """Places from 0, as BERT's."""
    return lambda self, ids: torch.arange(ids.shape[1]).expand_as(ids)


def from_pad(counted: Any) -> Any:
    """The first token at the place of padding."""

    def wrong(self: Any, input_ids: Tensor) -> Tensor:
        real = input_ids != self.padding
        return self.padding + (real.cumsum(1) - 1) * real

    return wrong


def padding_goes_on(counted: Any) -> Any:
    """Padding at the place of the last token before it, and not at its own."""
    return lambda self, ids: self.padding + (ids != self.padding).cumsum(1)


def embedded_from_zero(places: Any) -> Any:
    """Where words are given as vectors, places from 0."""
    return lambda self, position_ids, like: (
        self.position.weight[: like.shape[1]]
        if position_ids is None
        else places(self, position_ids, like)
    )


def place_learns(init: Any) -> Any:
    """The place of padding learns."""

    def wrong(self: Any, *given: Any, **more: Any) -> None:
        init(self, *given, **more)
        self.position.padding_idx = None

    return wrong


def layers_activation(gelu: Any) -> None:
    """The masked tokens' head with the layers' activation, as BERT's."""


def no_tanh(forward: Any) -> Any:
    return lambda self, x: self.dense(self.dropout(self.first(self.dropout(x))))


def over_a_pooler(forward: Any) -> Any:
    """The head over a vector that a pooler made."""
    return lambda self, x: forward(self, torch.tanh(self.first(x)))


def not_below(forward: Any) -> Any:
    """The first of the head's two dropouts forgotten."""
    return lambda self, x: self.dense(self.dropout(torch.tanh(self.first(x))))


EMBED, HEAD = roberta.RobertaEmbeddings, roberta.RobertaClassificationHead
ALL, SEQUENCES = ("RoBERTa", "RoBERTa for tokens"), ("RoBERTa for sequences",)
BROKEN = (
    Broken("RoBERTa: padding has places", replaced(EMBED, "count_positions", padding_counted), ALL),
    Broken("RoBERTa: places from 0", replaced(EMBED, "count_positions", from_zero), ALL),
    Broken("RoBERTa: the first token at padding's place",
           replaced(EMBED, "count_positions", from_pad), ALL),
    Broken("RoBERTa: padding at the last token's place",
           replaced(EMBED, "count_positions", padding_goes_on), ALL),
    Broken("RoBERTa: places of embedded words from 0",
           replaced(EMBED, "_position_embeddings", embedded_from_zero),
           ("RoBERTa over embedded words",)),
    Broken("RoBERTa: padding's place learns", replaced(EMBED, "__init__", place_learns), ALL),
    Broken("RoBERTa: the layers' activation in the masked LM's head",
           replaced(roberta.RobertaForMaskedLM, "prediction_act", layers_activation),
           ("RoBERTa for masked LM",)),
    Broken("RoBERTa: a classifier without tanh", replaced(HEAD, "forward", no_tanh), SEQUENCES),
    Broken("RoBERTa: a classifier over a pooler",
           replaced(HEAD, "forward", over_a_pooler), SEQUENCES),
    Broken("RoBERTa: a classifier without its first dropout",
           replaced(HEAD, "forward", not_below), (), SEQUENCES),
)  # fmt: skip
