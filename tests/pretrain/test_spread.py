"""A checkpoint beside others of its recipe: where a further seed is expected, and what is said."""

import numpy as np
import pytest

from research.pretrain.records import Again, Scores
from research.pretrain.spread import compared, expected, limits, section, summary
from research.pretrain.tables import shipped_records
from tests.pretrain.made import made, number, table


def gaps(*values, first=1):
    return [Again(first + k, "cpu", 60.0, {"gap": value}) for k, value in enumerate(values)]


@pytest.mark.parametrize("seeds", [2, 3, 5])
def test_a_further_seed_is_where_it_is_expected_95_times_of_100(seeds):
    rng = np.random.default_rng(seeds)
    hits = 0
    for _ in range(4000):
        *known, further = rng.normal(3.0, 0.7, seeds + 1)
        low, high = expected(known)
        hits += low <= further <= high
    assert hits / 4000 == pytest.approx(0.95, abs=0.012)  # 3.5 standard errors


def test_no_shipped_score_lies_beyond_what_it_can_be():
    for record in shipped_records():
        for scores in (summary(record), *(one.scores for one in record.again)):
            for name, value in scores.items():
                low, high = limits(name)
                assert low <= value <= high, (record.name, name)


@pytest.mark.parametrize(
    ("name", "values", "interval"),
    [
        ("tags by a probe", (0.9, 1.0, 0.95), "0.702 to 1.000"),
        ("tags by a probe, selectivity", (0.0, 0.3, 0.15), "−0.595 to 0.895"),
        ("gap", (0.1, 0.9, 0.5), "0.000 to 2.487"),
        ("bits a character", (0.1, 1.9, 1.0), "0.000 to 5.471"),
    ],
)
def test_no_seed_is_expected_beyond_what_a_score_can_be(name, values, interval):
    one, *others = values
    scores = Scores(None, {name: number(one)})
    if name == "gap":
        scores = Scores(table("bookworld-one", gap=one))
    again = [Again(1 + k, "cpu", 60.0, {name: value}) for k, value in enumerate(others)]
    assert f"| {interval} |" in section(made(scores=scores, again=again))


def test_minutes_are_told_with_where_they_were_spent():
    again = [*gaps(0.21), Again(2, "NVIDIA H100 80GB HBM3", 150.0, {"gap": 0.22})]
    last = section(made(again=again)).split("\n")[-1]
    shipped = f"Minutes of training: {made().wall_seconds / 60:.1f} (seed 0, CPU)"
    assert last == f"{shipped}, 1.0 (seed 1, CPU), 2.5 (seed 2, NVIDIA H100 80GB HBM3)."


def test_the_same_weights_are_told_as_such():
    assert compared(made(), made(again=gaps(0.3))) == [
        "Its weights are those of the shipped model, bit by bit."
    ]


@pytest.mark.parametrize(
    ("seed", "again", "others", "lies"),
    [
        (1, [], "0.200.", ""),
        (1, gaps(0.2), "0.200.", ""),  # its own score is not another's
        (3, gaps(0.21, 0.25), "0.200, 0.210, 0.250;", "it is"),
        (3, gaps(0.2001, 0.2002), "0.200, 0.200, 0.200;", "it is not"),
        (0, gaps(0.21, 0.25, 0.23), "0.200, 0.210, 0.250, 0.230;", "it is"),
    ],
)
def test_a_run_is_compared_with_all_others(seed, again, others, lies):
    # Of the shipped model's own seed, too: on another machine its weights differ by rounding.
    gap = 0.204 if "not" in lies else 0.2
    found = made(seed=seed, digest="1", scores=Scores(table("bookworld-one", gap=gap)))
    (line,) = compared(found, made(again=again))
    assert line.startswith(f"gap: {gap:.3f}; others: {others}")
    assert line.endswith(f"{lies}.") and ("expected" in line) == bool(lies)
