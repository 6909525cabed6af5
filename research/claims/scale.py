"""Claims' scale: how large the networks are, and how long they learn. All numbers are here.

A plain run takes some three minutes on one core of a CPU, its measures included, twice as long
where absolute positions have to be learned first, and a biLM, which reads word by word, some eight.
Students learn from models that come with the course. The papers' runs took thousands of times as
much data and computation; what shows here shows early, and what does not may show later.
"""

from dataclasses import replace
from typing import Any

from lmcourse.models.bert_heads import BertForMaskedLM
from lmcourse.models.deberta import DebertaForMaskedLM
from research.claims.claim import Plan
from research.claims.learners import DrawnRecipe
from research.pretrain.budget import Budget
from research.pretrain.elmo import NARROW
from research.pretrain.encoders import ENCODER, SHAW, SMALL, MaskedRecipe

SCALE = (
    "Claims' scale: encoders of width 64 with 2 layers and 4 heads, 4,000 steps of 5 reviews of "
    "BookWorld, each read once, on a CPU, or twice as many where a claim says so; absolute "
    "positions start as sinusoids, unless a claim says otherwise. The papers had networks of 12 "
    "layers and more, and thousands of times as much text and computation."
)


def wide(width: int) -> dict[str, Any]:
    """The sizes of a BERT so wide."""
    settings = {"hidden_size": width, "intermediate_size": 4 * width}
    return SMALL | ENCODER | settings | {"initializer_range": width**-0.5}


SIZES = wide(64)
BUDGET = Budget(
    steps=4000,
    batch_size=5,  # 1,300 steps of 16 cost nearly as much, and learn far less
    reviews=20_000,
    matrix_rate=0.02,
    warmup=0.1,
    looks=1,
    held_out=50,
    measured=300,
)
TWICE = replace(BUDGET, steps=8000, reviews=40_000)
"""Enough for absolute positions to be learned, which after half of it has hardly begun: gaps of
1.4 to 2.4 nats by the seed."""
SCARCE = 200  # reviews

_TRANSFORMER = {name: it for name, it in SIZES.items() if name not in ENCODER}
RELATIVE_SIZES = _TRANSFORMER | SHAW
BILM_SIZES = {"characters": None, "bilm": replace(NARROW, projection_size=64)}
"""The course's ELMo over words, as wide as the others."""

DRAWN = Plan(
    DrawnRecipe("bert, random places", "BERT as published", BertForMaskedLM, SIZES, BUDGET)
)
"""BERT whose position embeddings start at random."""
BASE = MaskedRecipe("bert", "BERT at claims' scale", BertForMaskedLM, SIZES, BUDGET)
BERT = Plan(BASE)
"""The plain encoder."""
LONGER = replace(BASE, name="bert, twice the steps", budget=TWICE)
"""The one which claims compare with that are not about positions."""
RELATIVE = Plan(
    MaskedRecipe(
        "relative positions",
        "a term for each distance (Shaw et al. 2018)",
        DebertaForMaskedLM,
        RELATIVE_SIZES,
        BUDGET,
    )
)
"""The encoder that learns fastest, which claims about data use."""
