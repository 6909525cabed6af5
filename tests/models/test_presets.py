"""The presets of BERT and its variants: each says how many parameters it has, and has them."""

import inspect
import re

import pytest
import torch

from lmcourse.models.albert import Albert
from lmcourse.models.bert import Bert, BertConfig
from lmcourse.models.deberta import Deberta
from lmcourse.models.distilbert import DistilBert
from lmcourse.models.electra import Electra
from lmcourse.models.roberta import Roberta
from lmcourse.models.spanbert import SpanBert

MODELS = (Bert, Albert, Deberta, DistilBert, Electra, Roberta, SpanBert)
SIZES = ("tiny", "mini", "small", "base", "large", "xlarge", "xxlarge")
PRESETS = [(kind, size) for kind in MODELS for size in SIZES if hasattr(kind.Config, size)]


@pytest.mark.parametrize(("kind", "size"), PRESETS, ids=lambda one: getattr(one, "__name__", one))
def test_a_preset_says_how_many_parameters_it_has(kind, size):
    """Its own number; what it takes over from BERT says that the number is a `Bert`'s."""
    preset = getattr(kind.Config, size)
    text = inspect.getdoc(preset)
    if size not in vars(kind.Config):
        assert "as a `Bert`" in text
        kind, preset = Bert, getattr(BertConfig, size)
    config = preset()
    assert type(config) is kind.Config
    with torch.device("meta"):
        count = sum(parameter.numel() for parameter in kind(config).parameters())
    assert re.search(r"\d[\d,]{6,}", text)[0] == f"{count:,}"
