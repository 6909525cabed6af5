"""Ancestors and descendants by networkx: the reference of Family's JavaScript.

`python -m tests.widgets.golden_family` writes `web/test/family.golden.json`; a test computes it
anew and compares.
"""

import base64
import json
from pathlib import Path
from random import Random
from typing import Any

import networkx as nx

from data import family
from lmcourse.widgets import Family

PATH = Path(__file__).parents[2] / "web" / "test" / "family.golden.json"


def drawn(seed: int, count: int) -> list[dict[str, Any]]:
    """Models with up to three older parents each."""
    random = Random(seed)
    names = [f"m{i}" for i in range(count)]
    return [
        {
            "name": name,
            "date": f"{2010 + i // 6}-{1 + i % 6:02}",
            "parents": random.sample(names[:i], min(i, random.randint(0, 3))),
            "counted": random.choice([None, random.randint(1, 10**12)]),
            "parameters": random.choice([None, random.randint(1, 10**5)]),
            "chapter": random.choice(["", "10"]),
        }
        for i, name in enumerate(names)
    ]


def case(models: list[dict[str, Any]], results: list[dict[str, Any]]) -> dict[str, Any]:
    """What the page gets, and what follows from it."""
    widget = Family(models, results)
    tree = nx.DiGraph()
    tree.add_nodes_from(range(len(models)))
    tree.add_edges_from((p, i) for i, it in enumerate(widget.models) for p in it["parents"])
    state = widget.state()
    human: dict[str, float] = {}
    for it in widget.results:
        if it["kind"] == "human":
            name = it["benchmark"]
            human[name] = max(human.get(name, 0), it["value"])
    firsts = {}
    ordered = sorted(zip(results, widget.results, strict=True), key=lambda pair: pair[0]["date"])
    for row, it in ordered:
        above = it["value"] > human.get(it["benchmark"], 100)
        if above and it["kind"] != "human" and it["split"] == "test":
            firsts.setdefault(it["benchmark"], [row["date"], it["value"]])
    return {
        "arrays": base64.b64encode(widget.arrays).decode(),
        "index": widget.index,
        "models": state["models"],
        "results": state["results"],
        "ancestors": [sorted(nx.ancestors(tree, at)) for at in tree],
        "descendants": [sorted(nx.descendants(tree, at)) for at in tree],
        "firsts": firsts,
    }


def golden() -> dict[str, Any]:
    """The course's tables, and two families that are drawn."""
    return {
        "course": case(family.read("family"), family.read("benchmarks")),
        "drawn": [case(drawn(seed, count), []) for seed, count in ((1, 12), (2, 40))],
    }


def dumped() -> str:
    """The reference as it is kept."""
    return json.dumps(golden(), separators=(",", ":"), ensure_ascii=False) + "\n"


if __name__ == "__main__":
    PATH.write_text(dumped(), encoding="utf-8")
    print(f"{PATH}: {PATH.stat().st_size:,} bytes")
