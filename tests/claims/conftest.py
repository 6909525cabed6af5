"""Claims whose runs take a moment."""

from dataclasses import replace

import pytest

from research.claims import table
from research.claims.claim import Claim, Column, Contrast, Plan, Variant
from research.claims.scale import BASE

NARROW = {"hidden_size": 8, "num_attention_heads": 2, "intermediate_size": 8}


def toy(name, **settings):
    """A very narrow BERT, two steps long."""
    budget = replace(BASE.budget.shortened(2), batch_size=4)
    return Plan(
        replace(BASE, name=name, settings={**BASE.settings, **NARROW, **settings}, budget=budget)
    )


def variant(name, *plans, select=None):
    reads = {"parameters": "size/parameters", "loss": "validation/minus loss"}
    return Variant(name, f"about {name}", plans, reads, select)


@pytest.fixture
def claim(monkeypatch):
    """Two variants of toys, known to the command as "toy"; "other" shares one of its runs."""
    one, two = toy("one"), toy("two", num_hidden_layers=1)
    made = Claim(
        "toy",
        "One layer is as good as two",
        "lan2020",
        "section 4",
        "13",
        (variant("two layers", one), variant("one layer", two)),
        {
            "parameters": Column("parameters, thousands", "less"),
            "loss": Column("minus the loss", "more", 0.0),
        },
        (
            Contrast("one layer", "two layers", "parameters", 0.1),
            Contrast("one layer", "two layers", "loss", 0.5, claimed="no worse"),
        ),
        "It is a toy.",
        seeds=2,
    )
    other = replace(
        made,
        name="other",
        variants=(replace(variant("two layers", one), reads={"loss": "validation/minus loss"}),),
        columns={"loss": made.columns["loss"]},
        contrasts=(),
    )
    monkeypatch.setattr(table, "CLAIMS", {"toy": made, "other": other})
    return made
