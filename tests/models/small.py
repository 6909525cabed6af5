"""BERT and GPT in small, for the tests that need no other sizes; ids for them, and a count."""

import torch
from torch import Tensor, nn

from lmcourse.models.bert import BertConfig
from lmcourse.models.bert_heads import (
    BertForMaskedLM,
    BertForPreTraining,
)
from lmcourse.models.bert_tasks import (
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
)
from lmcourse.models.gpt import GPTConfig

BERT = BertConfig(23, 12, 2, 3, 20, max_position_embeddings=9, num_labels=3)
GPT = GPTConfig(23, 12, 2, 3, 20, max_position_embeddings=9)
HEADS = (
    BertForPreTraining,
    BertForMaskedLM,
    BertForSequenceClassification,
    BertForQuestionAnswering,
    BertForTokenClassification,
)


def ids(*shape: int) -> Tensor:
    """Random ids of these small vocabularies, none of them padding."""
    return torch.randint(1, BERT.vocab_size, shape)


def parameters(model: nn.Module) -> int:
    """How many numbers a model learns, each once."""
    return sum(parameter.numel() for parameter in model.parameters())
