"""A small BERT with a head, batches for it, and what every compression's test asks."""

from contextlib import contextmanager

import torch
from torch import Tensor, nn

from lmcourse.models.bert import BertConfig
from lmcourse.models.bert_tasks import BertForSequenceClassification
from tests.parity.comparing import shaken

CONFIG = BertConfig(40, 12, 4, 3, 20, max_position_embeddings=9, num_labels=3)
ATTENTION = "bert.encoder.layers.{}.attention"


def classifier(dtype: torch.dtype = torch.float32) -> BertForSequenceClassification:
    """One in evaluation mode, every parameter moved at random."""
    return shaken(BertForSequenceClassification(CONFIG).to(dtype))


def batch(size: int = 3, time: int = 7) -> dict[str, Tensor]:
    mask = torch.ones(size, time, dtype=torch.long)
    mask[-1, time - 2 :] = 0
    return {
        "input_ids": torch.randint(1, 40, (size, time)),
        "attention_mask": mask,
        "labels": torch.randint(3, (size,)),
    }


@contextmanager
def untouched(model: nn.Module):
    """See that a model is, after the block, what it was before."""
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    kinds = [(name, type(module)) for name, module in model.named_modules()]
    mode = model.training
    yield
    assert [(name, type(module)) for name, module in model.named_modules()] == kinds
    assert model.training == mode
    after = model.state_dict()
    assert list(after) == list(before)
    assert all(torch.equal(after[name], before[name]) for name in before)


class Tied(nn.Module):
    """Embeddings that are the output's weights, too."""

    def __init__(self) -> None:
        super().__init__()
        self.word = nn.Embedding(10, 4)
        self.between = nn.Linear(4, 4)
        self.score = nn.Linear(4, 10)
        self.score.weight = self.word.weight

    def forward(self, ids: Tensor) -> Tensor:
        return self.score(self.between(self.word(ids)))
