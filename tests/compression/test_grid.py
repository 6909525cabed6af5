"""`lmcourse compression`: the grid, what is recorded, the page and the figure's points."""

import json
from dataclasses import replace

import msgspec
import pytest
import torch
from typer.testing import CliRunner

from coursekit import cli
from lmcourse import checkout
from lmcourse.corpus.bookworld import BookWorld
from lmcourse.models.bert_heads import BertForMaskedLM
from lmcourse.widgets import Pareto
from lmcourse.widgets.pareto import front
from research import recorded
from research.compression import command, encoders, figure, grid, methods, page, tasks
from research.compression.records import Record, Row

FOLDER = checkout.root() / "data" / "compression"
TINY = next(it for it in encoders.ENCODERS if it.name == "bookworld-tinybert")
SHORT = tasks.AMOUNTS.shortened(1)


def kept() -> Record:
    record = recorded.read(FOLDER / recorded.RESULTS, Record)
    assert record is not None
    return record


def test_the_page_and_the_points_are_those_of_the_record():
    record = kept()
    assert (FOLDER / recorded.PAGE).read_text(encoding="utf-8") == page.page(record)
    assert (FOLDER / figure.POINTS).read_bytes() == figure.as_json(record)


def test_every_encoder_has_every_method_task_and_seed():
    rows = {(it.encoder, it.task, it.method): it for it in kept().rows}
    names = [grid.TUNED, *(it.name for it in methods.METHODS)]
    wanted = {
        (encoder.name, task, name)
        for encoder in encoders.ENCODERS
        for task in tasks.METRICS
        for name in names
    }
    assert set(rows) == wanted
    for row in rows.values():
        assert len(row.scores) == len(grid.SEEDS) and all(0 <= it <= 1 for it in row.scores)
        assert f"{row.rate:g}" in row.trials
        of = methods.BY_NAME[row.method].of if row.method in methods.BY_NAME else None
        if of is None:  # the rate is chosen on validation
            assert row.trials[f"{row.rate:g}"] == max(row.trials.values())
        else:
            assert row.rate == rows[row.encoder, row.task, of].rate
        if row.method != grid.TUNED:
            assert 0 < row.fast <= row.time <= row.slow


def test_sizes_are_those_of_their_methods():
    rows = {(it.encoder, it.task, it.method): it for it in kept().rows}
    for encoder in encoders.ENCODERS:
        for task in tasks.METRICS:
            own = {it.name: rows[encoder.name, task, it.name] for it in methods.METHODS}
            plain = own["none"]
            for sparsity in ("50", "75", "90"):
                pruned = own[f"pruning {sparsity} %"]
                assert pruned.stored == plain.stored and pruned.parameters == plain.parameters
            assert own["pruning 90 %"].sparse < own["pruning 75 %"].sparse < plain.sparse
            assert own["pruning 90 %"].gzip < own["pruning 75 %"].gzip < plain.gzip
            assert 0.49 < own["float16 file"].stored / plain.stored < 0.53
            for name in ("int8, dynamic", "int8, trained"):
                assert own[name].stored < plain.stored
            assert own["rank 1/4, int8"].stored < own["rank 1/4"].stored < own["rank 1/2"].stored
    teacher = rows["bookworld-teacher", tasks.ACCEPTABILITY, "none"]
    assert teacher.fast < 1 < teacher.slow or abs(teacher.time - 1) < 0.1


def test_the_figure_shows_every_row():
    record = kept()
    made = figure.figure(record)
    chart = Pareto(made["points"], made["axes"], made["scores"])
    assert len(chart.names) == len(page.rows_of(record))
    shown = page.rows_of(record, task=tasks.ACCEPTABILITY)
    best = front([it.stored for it in shown], page.means(shown))
    for i in best:
        encoder = next(it for it in encoders.ENCODERS if it.name == shown[i].encoder)
        assert f"“{page.label(encoder, shown[i].method)}”" in chart.alt


def test_the_encoder_without_a_teacher_has_the_students_size():
    ours = encoders.SMALL.built(BookWorld())
    assert isinstance(ours, BertForMaskedLM)
    student = TINY.load(BookWorld())
    counts = [sum(it.numel() for it in model.parameters()) for model in (ours.bert, student)]
    assert counts[0] == counts[1]


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A grid of one encoder and one task with updates of a moment, and its results."""
    folder = tmp_path_factory.mktemp("compression")
    amounts = replace(SHORT, train=dict.fromkeys(SHORT.train, 200))
    world = BookWorld()
    data = tasks.data_of(world, amounts)

    def run(results, stop=None):
        def record():
            if stop is not None and len(results) >= stop:
                raise KeyboardInterrupt

        torch.set_num_threads(1)
        made = grid.Grid(world, data, amounts, folder, results, record, print)
        made.run(TINY, tasks.ACCEPTABILITY, 0)
        return made

    return run


def scores(results):
    return {key: (it.test, it.validation, it.stored, it.gzip) for key, it in results.items()}


def test_a_cell_is_a_function_of_its_seed_and_resumes(small, monkeypatch):
    whole = {}
    made = small(whole)
    of_rates = sum(len(grid.RECOVERY) for it in methods.METHODS if it.of is None)
    further = sum(it.of is not None for it in methods.METHODS)
    assert len(whole) == len(grid.TUNING) + of_rates + further
    assert made.is_done(TINY, tasks.ACCEPTABILITY, (0,))
    parts = {}
    for stop in (3, 9):
        with pytest.raises(KeyboardInterrupt):
            small(parts, stop)
        assert len(parts) == stop
    small(parts)
    assert scores(parts) == scores(whole)
    monkeypatch.setattr(grid.Grid, "_learn", None)
    small(whole)  # nothing is done twice


def test_the_best_rate_on_validation_is_chosen():
    def result(rate, validation):
        sizes = dict.fromkeys(("stored", "sparse", "gzip", "parameters"), 1)
        return grid.Result(
            encoder=TINY.name, task="a", method="none", seed=0, rate=rate,
            validation=validation, test=0.0, cpu_seconds=0.0, **sizes,
        )  # fmt: skip

    made = grid.Grid(BookWorld(), {}, SHORT, FOLDER, {}, print, print)
    low, high = grid.RECOVERY
    made.results[made._digest(TINY, "a", "none", 0, low)] = result(low, 0.6)
    assert made.chosen(TINY, "a", "none", 0) is None
    made.results[made._digest(TINY, "a", "none", 0, high)] = result(high, 0.7)
    assert made.chosen(TINY, "a", "none", 0).rate == high
    assert made.chosen(TINY, "a", "none", 1) is None


def test_a_passage_has_the_answer():
    for it in tasks.passages(BookWorld(), 30, 5):
        assert it.pronoun is None and it.spans
        assert sum(token in ".?!" for token in it.tokens) <= tasks.SENTENCES
        for start, end in it.spans:
            assert 0 <= start < end <= len(it.tokens)
        texts = {" ".join(it.tokens[start:end]) for start, end in it.spans}
        assert it.label in texts or any(text in it.label or it.label in text for text in texts)


def test_the_command_lists_the_encoders():
    found = CliRunner().invoke(cli.app, ["compression"], catch_exceptions=False)
    assert found.exit_code == 0
    for encoder in encoders.ENCODERS:
        assert f"{encoder.name}: acceptability 0." in found.output
    assert [it.name for it in command.chosen(["bookworld-mlm"])] == ["bookworld-mlm"]


def test_the_page_says_what_the_rows_say():
    record = kept()
    written = page.page(record)
    row = record.rows[-1]
    changed = msgspec.structs.replace(row, scores=[0.1, 0.2, 0.3])
    other = msgspec.structs.replace(record, rows=[*record.rows[:-1], changed])
    assert page.page(other) != written and "0.200 ± 0.100" in page.page(other)
    assert isinstance(json.loads(figure.as_json(other))["points"][-1]["values"], list)
    assert isinstance(changed, Row)
