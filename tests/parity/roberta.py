"""RoBERTa and its heads beside the `transformers` library's."""

from functools import partial
from random import Random
from typing import Any

import torch
from torch import Tensor

from lmcourse.models import roberta
from tests.parity import bert
from tests.parity.bert import (
    sequence_labels,
    span_labels,
    tag_labels,
    token_labels,
)


def settings(draw: Random) -> dict[str, Any]:
    """BERT's draw, with a [PAD] and room for the places that are left out."""
    return bert.settings(draw) | {
        "pad_token_id": draw.choice([0, 1, 3]),
        "max_position_embeddings": draw.randint(16, 20),
    }


def batch_of(draw: Random, config: Any) -> dict[str, Tensor]:
    """BERT's draw, in which padding is [PAD] as a rule; among the words, it is by chance."""
    given = bert.batch_of(draw, config)
    if draw.random() < 0.7:
        padded = given["attention_mask"] == 0
        given["input_ids"] = given["input_ids"].masked_fill(padded, config.pad_token_id)
    return given


def embedded_of(draw: Random, config: Any) -> dict[str, Tensor]:
    """The same with random vectors for the words, mostly without places of their own."""
    given = batch_of(draw, config)
    words = torch.randn(*given.pop("input_ids").shape, config.hidden_size)
    if draw.random() < 0.8:
        given.pop("position_ids", None)
    return given | {"inputs_embeds": words}


row = partial(bert.row, settings=settings, batch=batch_of)
ARCHITECTURES = (
    row("RoBERTa", roberta.Roberta),
    row("RoBERTa without pooler", roberta.Roberta, arguments={"add_pooling_layer": False}),
    row("RoBERTa over embedded words", roberta.Roberta, batch=embedded_of),
    row("RoBERTa for masked LM", roberta.RobertaForMaskedLM, token_labels),
    row("RoBERTa for sequences", roberta.RobertaForSequenceClassification, sequence_labels),
    row("RoBERTa for questions", roberta.RobertaForQuestionAnswering, span_labels),
    row("RoBERTa for tokens", roberta.RobertaForTokenClassification, tag_labels),
)
