"""How heads start: as BERT does, and not as PyTorch's layers do."""

from dataclasses import replace

import pytest
from torch import nn

from lmcourse.models.bert import BertConfig
from lmcourse.models.bert_heads import BertForPreTraining
from lmcourse.models.bert_tasks import (
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
)

CONFIG = BertConfig(50, 192, 1, 3, 20, max_position_embeddings=9, num_labels=5)
HEADS = (
    BertForPreTraining,
    BertForSequenceClassification,
    BertForQuestionAnswering,
    BertForTokenClassification,
)


@pytest.mark.parametrize("kind", HEADS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("std", [0.02, 0.005])
def test_a_head_starts_as_the_model_below(kind, std):
    model = kind(replace(CONFIG, initializer_range=std))
    layers = {
        name: part
        for name, part in model.named_modules()
        if isinstance(part, nn.Linear) and not name.startswith("bert.")
    }
    assert layers
    for name, layer in layers.items():
        assert not layer.bias.any(), name
        assert layer.weight.abs().max() <= 2 * std + 1e-6, name
        # Cut off at two standard deviations, a normal distribution keeps 0.88 of its spread.
        assert layer.weight.std().item() == pytest.approx(0.88 * std, rel=0.15), name
    if kind is BertForPreTraining:
        assert {"predictions.dense", "seq_relationship.dense"} <= set(layers)
        assert not model.predictions.bias.any()
