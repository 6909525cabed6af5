"""Tiny random models and a tiny tokenizer, as the `transformers` library saves them."""

from functools import cache
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer
from torch import nn

from lmcourse.models.bert import BertConfig
from lmcourse.models.bert_heads import BertForMaskedLM
from lmcourse.models.conversion import conversions
from lmcourse.models.conversion.published import class_named
from lmcourse.models.conversion.rules import Conversion
from lmcourse.tokenizers import recipes

TEXTS = ["A lighthouse keeper smiled.", "Nobody likes the lighthouse.", "Why? Why not?"]


@cache
def _trained() -> str:
    return recipes.bert(TEXTS, vocab_size=48).tokenizer.to_str()


def tokenizer() -> Tokenizer:
    """BERT's kind, of fewer than 48 tokens."""
    return Tokenizer.from_str(_trained())


def cases() -> list[tuple[str, Conversion]]:
    """Each of our classes with a counterpart, with each of its counterparts."""
    return [(name, one) for name, several in conversions().items() for one in several]


def reference(name: str, conversion: Conversion, seed: int = 0, **changes: Any) -> nn.Module:
    """The library's model, with random numbers everywhere: also where it starts with zeros."""
    kind = class_named(name)
    assert kind is not None
    sizes = {
        "vocab_size": 48,
        "hidden_size": 8,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "max_position_embeddings": 24,
    }
    if not name.startswith("GPT"):
        sizes |= {"intermediate_size": 12, "num_labels": 2}
    torch.manual_seed(seed)
    model = kind(kind.Config(**(sizes | conversion.ours | changes))).to_transformers()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(0, 0.3)
    return model.eval()


def save(folder: Path, name: str = "BertForMaskedLM", tokens: bool = True, **changes: Any) -> Path:
    """One of these models in a folder, with the tokenizer."""
    reference(name, conversions()[name][0], **changes).save_pretrained(folder)
    if tokens:
        tokenizer().save(str(folder / "tokenizer.json"))
    return folder


def small(seed: int = 0) -> BertForMaskedLM:
    """A model of ours, as large."""
    torch.manual_seed(seed)
    return BertForMaskedLM(BertConfig(48, 8, 1, 2, 12, max_position_embeddings=16)).eval()
