"""Tensors of three small models and what they are computed from: the reference of Anatomy.

`python -m tests.widgets.golden_anatomy` writes `web/test/anatomy.golden.json`; a test computes it
anew and compares.
"""

import base64
import json
from pathlib import Path
from typing import Any

import torch

from lmcourse.evaluation.anatomy import anatomy
from lmcourse.models.bert import Bert, BertConfig
from lmcourse.models.encoder_decoder import Transformer, TransformerConfig
from lmcourse.models.rnn_lm import RNNConfig, RNNLanguageModel
from lmcourse.models.transformer import LayerConfig
from lmcourse.widgets import Anatomy
from tests.parity.comparing import shaken

PATH = Path(__file__).parents[2] / "web" / "test" / "anatomy.golden.json"
IDS = torch.arange(4)[None]


def golden() -> dict[str, Any]:
    """The numbers of a BERT, a GRU, and a decoder with its causal mask."""
    torch.manual_seed(0)
    layer = LayerConfig(hidden_size=4, num_attention_heads=2, intermediate_size=6)
    drawings = [
        anatomy(shaken(Bert(BertConfig(9, 4, 2, 2, 6))), input_ids=IDS),
        anatomy(shaken(RNNLanguageModel(RNNConfig(9, 3, 4, "gru"))), input_ids=IDS),
        anatomy(
            shaken(Transformer(TransformerConfig(9, layer=layer, num_hidden_layers=1))),
            input_ids=IDS,
            decoder_input_ids=IDS[:, :3],
        ),
    ]
    widget = Anatomy(*drawings)
    return {
        "arrays": base64.b64encode(widget.arrays).decode(),
        "index": widget.index,
        "blocks": [
            [[f"{it.label} {it.path}", it.numbers] for it in drawing.blocks if it.numbers]
            for drawing in drawings
        ],
    }


if __name__ == "__main__":
    PATH.write_text(json.dumps(golden(), separators=(",", ":")) + "\n", encoding="utf-8")
    print(f"{PATH}: {PATH.stat().st_size:,} bytes")
