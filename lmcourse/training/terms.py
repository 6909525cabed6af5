"""The terms of a loss, and how many predictions each is the mean of.

The numbers depend on the batch alone. So they are known before the model is applied, and a loop can
weight each term by its share of the predictions of a whole step.
"""

from collections.abc import Sequence
from typing import Any

import torch
from jaxtyping import Bool
from torch import Tensor, nn

from lmcourse.models.bert_tasks import BertForSequenceClassification, problem_type_of
from lmcourse.models.gpt import GPTForCausalLM
from lmcourse.models.inputs import IGNORED, padding_mask
from lmcourse.models.losses import position_labels
from lmcourse.models.spanbert import SpanBertForPreTraining, boundaries, span_offsets
from lmcourse.training.examples import ANSWER, Batch

ONE_CLASS = "single_label_classification"


def terms_of(output: Any) -> Sequence[Tensor]:
    """The terms of a model's loss; the loss itself, if it is one mean."""
    return getattr(output, "terms", None) or (output.loss,)


def predictions(model: nn.Module, batch: Batch, *names: str) -> list[int]:
    """The number of predictions of each term of a model's loss on labels with these names."""
    counts = []
    for name in names:
        labels = batch[name]
        if name in ANSWER:
            labels = position_labels(labels, real_positions(batch))
        elif isinstance(model, GPTForCausalLM):  # nothing predicts the first token
            labels = labels[..., 1:]
        predicted = labels != IGNORED
        if not _classes(model, labels):
            predicted = torch.ones_like(predicted)
        counts.append(int(predicted.sum()))
        if isinstance(model, SpanBertForPreTraining):
            near = span_offsets(boundaries(predicted)[0]) < model.config.max_span_length
            counts.append(int((predicted & near).sum()))
    return counts


def real_positions(batch: Batch) -> Bool[Tensor, "sequence time"]:
    """False at padding."""
    ids = batch["input_ids"]
    real = padding_mask(batch.get("attention_mask"), ids[..., None])
    return torch.ones_like(ids, dtype=torch.bool) if real is None else real


def _classes(model: nn.Module, labels: Tensor) -> bool:
    """Whether labels are classes, which may be ``IGNORED``; numbers and binary labels may not."""
    if isinstance(model, BertForSequenceClassification):
        return problem_type_of(model.config, labels) == ONE_CLASS
    return not labels.is_floating_point()
