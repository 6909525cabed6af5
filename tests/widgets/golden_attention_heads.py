"""What torch says about attention: the reference for the widget's JavaScript.

`python -m tests.widgets.golden_attention_heads` writes `web/test/attention_heads.golden.json`; a
test computes it anew and compares.
"""

import base64
import json
import math
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from lmcourse.models.attention import masked_softmax
from lmcourse.widgets.attention_scores import value_norms
from lmcourse.widgets.attentions import largest, pooled, quantized
from lmcourse.widgets.packing import pack

PATH = Path(__file__).parents[2] / "web" / "test" / "attention_heads.golden.json"
LAYERS, HEADS, QUERIES, KEYS, WIDTH = 2, 3, 4, 5, 6
SETTINGS = [  # temperature, scaling, masking
    (1.0, "given", "given"),
    (0.1, "given", "given"),
    (10.0, "none", "none"),
    (2.0, "none", "causal"),
]


def drawn() -> dict[str, Tensor]:
    """Queries, keys, bias and mask; the mask hides two keys, and from one query all."""
    draw = torch.Generator().manual_seed(8)
    q = torch.randn(LAYERS, HEADS, QUERIES, WIDTH, generator=draw)
    k = torch.randn(LAYERS, HEADS, KEYS, WIDTH, generator=draw)
    bias = torch.randn(1, HEADS, QUERIES, KEYS, generator=draw)
    mask = torch.zeros(1, 1, QUERIES, KEYS)
    mask[..., 1, 2:] = mask[..., 3, :] = -3e38
    return {"q": q, "k": k, "bias": bias, "mask": mask, "scale": torch.tensor([0.5])}


def case(arrays: dict[str, Tensor], at: tuple[int, int], how: tuple[Any, ...]) -> dict[str, Any]:
    """One head computed anew, its rows' entropies, and one cell's arithmetic."""
    (layer, head), (temperature, scaling, masking) = at, how
    a = {name: it.double() for name, it in arrays.items()}
    dot = a["q"][layer, head] @ a["k"][layer, head].T
    scores = (dot * (a["scale"] if scaling == "given" else 1) + a["bias"][0, head]) / temperature
    visible = torch.ones(QUERIES, KEYS, dtype=torch.bool)
    if masking == "given":
        visible = a["mask"][0, 0] == 0
    elif masking == "causal":
        visible = visible.tril()
    p = masked_softmax(scores, visible)
    surprise = torch.where(p > 0, -p.log2(), 0)
    return {
        "at": at,
        "how": {"temperature": temperature, "scaling": scaling, "masking": masking},
        "p": p.flatten().tolist(),
        "entropy": (p * surprise).sum(-1).tolist(),
        "dot": dot.flatten().tolist(),
    }


def stack() -> dict[str, Any]:
    """A self-attention of several layers: its rollout as a product of matrices (Abnar and Zuidema
    2020, section 3), and the norm of what each weight moves (Kobayashi et al. 2020).

    The last query of the last layer attends to nothing, as padding.
    """
    draw = torch.Generator().manual_seed(9)
    scores = torch.randn(LAYERS + 1, HEADS, KEYS, KEYS, generator=draw, dtype=torch.float64)
    p = (2 * scores).softmax(-1)
    p[-1, :, -1] = 0
    values = torch.randn(LAYERS + 1, HEADS, KEYS, WIDTH, generator=draw, dtype=torch.float64)
    out = torch.randn(LAYERS + 1, HEADS, WIDTH, 8, generator=draw, dtype=torch.float64)
    mixed = p.mean(1) + torch.eye(KEYS, dtype=torch.float64)
    rollouts = list(accumulate(mixed / mixed.sum(-1, keepdim=True), lambda below, it: it @ below))
    moved = torch.einsum("lhij,lhjd,lhdw->lhijw", p, values, out).norm(dim=-1)
    return {
        "size": [LAYERS + 1, HEADS, KEYS],
        "p": p.flatten().tolist(),
        "means": p.mean(1).flatten().tolist(),
        "rollouts": torch.stack(rollouts).flatten().tolist(),
        "norms": value_norms(values @ out, tuple(p.shape))["norms0"].flatten().tolist(),
        "moved": moved.flatten().tolist(),
    }


def golden() -> dict[str, Any]:
    """Heads computed anew; layers together; and bytes: weights, thumbnails, the largest."""
    arrays = drawn()
    packed, index = pack({name: it.numpy() for name, it in arrays.items()})
    places = [(0, 0), (1, 2)]
    weights = np.array([[0, 1e-6, 3e-6, 1e-4, 0.01], [0.5, 0.25, 1, 0.0625, 1 / 3]], np.float32)
    codes = quantized(weights[None, None])
    keys, top = largest(codes, 3)
    return {
        "arrays": base64.b64encode(packed).decode(),
        "index": index,
        "cases": [case(arrays, at, how) for at in places for how in SETTINGS],
        "stack": stack(),
        "weights": weights.tolist(),
        "codes": codes[0, 0].tolist(),
        "keys": keys[0, 0].tolist(),
        "top": top[0, 0].tolist(),
        "pooled": pooled(codes, 2)[0, 0].tolist(),
        "error": 1 / 255 * (1 + 1 / math.sqrt(255)),  # of a weight that went through a byte
    }


if __name__ == "__main__":
    PATH.write_text(json.dumps(golden(), separators=(",", ":")) + "\n", encoding="utf-8")
    print(f"{PATH}: {PATH.stat().st_size:,} bytes")
