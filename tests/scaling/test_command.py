"""`lmcourse scaling`: the search for rates, what is recorded, and the page."""

import msgspec
import pytest
from typer.testing import CliRunner

from coursekit import cli
from lmcourse import checkout
from lmcourse.corpus.bookworld import BookWorld
from lmcourse.tokenizers import words
from research import recorded
from research.pretrain.encoders import LONGEST
from research.pretrain.records import Machine
from research.scaling import command, grid, page, training
from research.scaling.grid import Cell, Record, Result, Run

CELL = Cell(1, 8, 32)


def result(run: Run, validation: float) -> Result:
    return Result(
        layers=run.cell.layers,
        width=run.cell.width,
        reviews=run.cell.reviews,
        rate=run.rate,
        seed=run.seed,
        parameters=1,
        embeddings=1,
        tokens=1,
        flops=1.0,
        held_out=[(1, validation + 1), (2, validation)],
        loss=validation,
        floor=0.0,
        gap=validation,
        cpu_seconds=1.0,
        scoring_seconds=1.0,
        machine=Machine("cpu", 1, "3", "2", "0"),
    )


@pytest.mark.parametrize(
    ("best", "tried"),
    [
        (0.008, [0.004, 0.008, 0.016]),
        (0.001, [0.004, 0.008, 0.016, 0.002, 0.001, 0.0005]),
        (0.064, [0.004, 0.008, 0.016, 0.032, 0.064, 0.128]),
        (9.0, [0.004, 0.008, 0.016, 0.032, 0.064, 0.128, 0.256, 0.512]),  # the end of the grid
    ],
)
def test_rates_are_tried_until_the_best_is_inside(best, tried):
    record, order = Record(world="w", vocabulary=9), []
    while (run := grid.missing(CELL, record)) is not None:
        order.append(run)
        found = result(run, abs(run.rate - best) + 0.1 * run.seed)
        record = msgspec.structs.replace(record, runs=record.runs | {run.digest("w"): found})
    assert [run.rate for run in order[: len(tried)]] == tried
    chosen = min(tried, key=lambda rate: abs(rate - best))
    rest = [(run.rate, run.seed) for run in order[len(tried) :]]
    assert rest == [(chosen, 1), (chosen, 2)]


@pytest.fixture(scope="module")
def trained() -> Result:
    return training.trained(Run(CELL, 0.01))


def test_what_a_run_measures(trained):
    world = BookWorld()
    reviews = world.sample(CELL.reviews, Run(CELL, 0.01).recipe.budget.reviews_seed)
    assert trained.tokens == sum(len(review.ids) + 1 for review in reviews)  # [CLS]
    width, vocabulary = CELL.width, words.size(world)
    assert trained.embeddings == (vocabulary + LONGEST) * width
    matrices = 12 * width**2
    assert matrices < trained.parameters < matrices + 20 * width  # biases and LayerNorms
    assert 0 < trained.floor < trained.loss
    assert trained.loss - trained.floor == pytest.approx(trained.gap, rel=0.1)
    reviews = [len(review.ids) + 1 for review in world.split("validation", 16)]
    attention = 2 * width * sum(length**2 for length in reviews) / sum(reviews)
    operations = 6 * (matrices + vocabulary * width + attention)
    assert trained.flops / trained.tokens == pytest.approx(operations, rel=0.02)
    assert training.trained(Run(CELL, 0.01)).loss == trained.loss
    assert training.trained(Run(CELL, 0.01, 1)).loss != trained.loss


def test_runs_are_recorded_and_not_done_again(tmp_path, monkeypatch):
    monkeypatch.setattr(grid, "REVIEWS", (32,))
    monkeypatch.setattr(grid, "SIZES", ((1, 8),))
    said = []
    record = command.done(1, said.append, tmp_path)
    assert recorded.read(tmp_path / recorded.RESULTS, Record) == record
    ((cell, results),) = grid.finished(record)
    assert cell == CELL and [it.seed for it in results] == [0, 1, 2]
    text = (tmp_path / recorded.PAGE).read_text()
    assert text == page.page(record) and f"| {results[0].tokens:,} |" in text
    assert len(said) == len(record.runs) >= 5
    assert command.done(1, said.append, tmp_path) == record and len(said) == len(record.runs)


def test_the_page_is_what_the_record_says():
    folder = checkout.root() / "data" / "scaling"
    record = recorded.read(folder / recorded.RESULTS, Record)
    assert record is not None and record.world == BookWorld().digest
    assert all(run.run.digest(record.world) == name for name, run in record.runs.items())
    assert len(list(grid.finished(record))) >= 12
    assert (folder / recorded.PAGE).read_text() == page.page(record)


def test_without_run_it_reports():
    found = CliRunner().invoke(cli.app, ["scaling"], catch_exceptions=False)
    assert "sizes and amounts of text are done." in found.output
