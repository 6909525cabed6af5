"""Records that nobody trained, for tests of what is made from them."""

from typing import Any

from research.pretrain.records import Machine, Measured, Number, Record, Row, Scores, Table


def number(value: float | None, error: float | None = 0.01) -> Number:
    """A score whose interval is two errors wide."""
    if value is None or error is None:
        return Number(value, None, None, None)
    return Number(value, error, value - 2 * error, value + 2 * error)


def table(name: str, *, gap: float | None = 0.2, difference: float = 0.21, **more: Any) -> Table:
    """A masked gap table with a row of all tokens and one of names."""

    def row(phenomenon: str, tokens: int) -> Row:
        loss = None if gap is None else 0.9 + difference
        one = Measured(number(loss), number(difference), number(gap))
        return Row(phenomenon, tokens, number(0.9), {name: one})

    rows = [row("all", 1000), row("names", 80)]
    return Table(**({"kind": "masked", "reviews": 40, "rows": rows, "saw_targets": []} | more))


def made(name: str = "bookworld-one", **changes: Any) -> Record:
    """A record; its changes are fields."""
    fields: dict[str, Any] = {
        "name": name,
        "about": "A model that nobody trained",
        "architecture": "BertForMaskedLM",
        "parameters": 12_345,
        "bytes": 50_000,
        "digest": "0" * 64,
        "recipe": {"name": name, "budget": {"steps": 400}},
        "seed": 0,
        "steps": 400,
        "world": "0123456789abcdef",
        "machine": Machine("cpu", 2, "3.11.7", "2.13.0", "0.1.0"),
        "wall_seconds": 90.0,
        "cpu_seconds": 150.0,
        "tokens": 1_900_000,
        "loss": [(200, 3.5), (400, 1.2)],
        "held_out": [(100, 3.0), (200, 2.0), (400, 1.1)],
        "best_step": 400,
        "scores": Scores(table(name)),
        "few": {name: 1.1},
    }
    return Record(**(fields | changes))
