"""`lmcourse brown`: runs in their order, what is recorded, and the page."""

import re

import msgspec
import pytest
import torch
from typer.testing import CliRunner

from coursekit import cli
from lmcourse.errors import CourseError
from research.brown import command, entries, page, recorded, runs
from research.brown.evaluation import mixed, perplexity
from research.brown.results import found_of, long, seeds, trials, untuned

T = "validation"


def invoke(*arguments):
    return CliRunner().invoke(cli.app, ["brown", *arguments], catch_exceptions=False)


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Where its runs and its results are."""
    home = tmp_path_factory.mktemp("brown")
    return home / "runs", home / "shelf"


@pytest.fixture(scope="module")
def done(table, text, folders):
    """The whole table, and what was said on the way."""
    said = []
    return command.done(list(table.values()), text, said.append, *folders), said


def test_the_whole_table_of_a_small_text(done, table, text, folders):
    record, said = done
    lstm = table["lstm"]
    assert len(trials(lstm)) == len(trials(table["neural"])) == 3
    assert len(long(lstm, record)) == 2 and len(long(table["neural"], record)) == 1
    assert len(seeds(lstm, record)) == entries.SEEDS
    for entry in table.values():
        runs_of = [digest for digest, it in record.runs.items() if it.name == entry.name]
        if isinstance(entry, entries.NGram):
            assert len(runs_of) == len(entries.DISCOUNTS)
            continue
        wanted = [untuned(entry), *trials(entry), *long(entry, record)]
        wanted += seeds(entry, record)
        assert set(runs_of) == {run.digest(text.digest) for run in wanted}
    assert recorded.record_of(text, folders[1]) == record

    # Tuning took the best on validation, from runs of equal length.
    best = min(
        (record.runs[run.digest(text.digest)] for run in trials(lstm)),
        key=lambda result: result.validation,
    )
    for run in long(lstm, record):
        assert run.setting["learning_rate"] == best.setting["learning_rate"]
        assert run.epochs == lstm.budget.epochs > best.epochs
    full = [record.runs[run.digest(text.digest)] for run in long(lstm, record)]
    shown = found_of(lstm, record)
    assert shown[0] == min(full, key=lambda result: result.validation)
    assert [result.seed for result in shown] == [0, 1, 2]
    assert len({result.test for result in shown}) == 3

    # The important runs come first: each network once, then its tuning, then seeds.
    order = [line.split()[0] for line in said if line.endswith("...")]
    assert order[:5] == ["1-gram", "2-gram", "lstm", "neural", "both"]
    assert order[5:8] == ["lstm"] * 3
    seeded = ["seed 0" not in line for line in said if line.endswith("...") and "seed" in line]
    assert seeded == sorted(seeded) and sum(seeded) == 3 * (entries.SEEDS - 1)


def test_a_row_is_the_best_that_there_is(done, table, text):
    record, _ = done
    lstm = table["lstm"]

    def left(*groups):
        digests = [run.digest(text.digest) for runs in groups for run in runs]
        kept = {digest: record.runs[digest] for digest in digests}
        return msgspec.structs.replace(record, runs=kept)

    first, short = untuned(lstm), trials(lstm)
    assert found_of(lstm, left()) == []
    assert found_of(lstm, left(short)) == []  # too short for the table
    assert found_of(lstm, left([first], short[:2])) == [record.runs[first.digest(text.digest)]]
    runs_long = long(lstm, record)
    some = left([first], short, runs_long[:1])
    for better in (first, runs_long[0]):
        digest = better.digest(text.digest)
        changed = msgspec.structs.replace(record.runs[digest], validation=1.0)
        runs = some.runs | {digest: changed}
        assert found_of(lstm, msgspec.structs.replace(some, runs=runs)) == [changed]
    for one in runs_long:
        assert found_of(lstm, left(short, [one])) == [record.runs[one.digest(text.digest)]]
    assert len(found_of(lstm, left(short, runs_long))) == 1
    assert len(found_of(lstm, left(short, runs_long, seeds(lstm, record)[:2]))) == 2


def test_a_mixture_is_that_of_the_kept_probabilities(done, table, text, folders):
    record, _ = done
    rival = runs.best_ngram(text, folders[0], record)
    (run, *_) = seeds(table["lstm"], record)
    result = record.runs[run.digest(text.digest)]
    own = runs.kept(folders[0] / run.digest(text.digest) / runs.SCORES)
    assert perplexity(own["test"]) == pytest.approx(result.test, rel=1e-6)
    found = mixed(own["test"], rival["test"], result.mixed.weight)
    assert perplexity(found) == pytest.approx(result.mixed.test, rel=1e-6)
    assert result.mixed.validation <= min(result.validation, perplexity(rival[T])) + 1e-3
    assert found_of(table["both"], record)[0].mixed is None


def test_nothing_is_done_twice(done, table, text, folders, monkeypatch):
    record, _ = done
    monkeypatch.setattr(command, "learned", None)
    monkeypatch.setattr(command, "counted", None)
    assert command.done(list(table.values()), text, print, *folders) == record


def test_an_interrupted_table_is_the_same_in_the_end(done, table, text, tmp_path, monkeypatch):
    whole, _ = done
    learned, left = command.learned, iter(range(7))

    def until_killed(*inputs):
        if next(left, None) is None:
            raise KeyboardInterrupt
        return learned(*inputs)

    monkeypatch.setattr(command, "learned", until_killed)
    folders = (tmp_path / "runs", tmp_path / "shelf")
    with pytest.raises(KeyboardInterrupt):
        command.done(list(table.values()), text, print, *folders)
    assert 0 < len(recorded.record_of(text, folders[1]).runs) < len(whole.runs)
    monkeypatch.setattr(command, "learned", learned)
    found = command.done(list(table.values()), text, print, *folders)
    scores = [
        {digest: (it.validation, it.test, it.mixed) for digest, it in record.runs.items()}
        for record in (found, whole)
    ]
    assert scores[0] == scores[1]


def test_networks_need_the_ngram_models(table, text, tmp_path):
    with pytest.raises(CourseError, match="none was counted yet") as caught:
        command.done([table["lstm"]], text, print, tmp_path / "runs", tmp_path / "shelf")
    assert "lmcourse brown 1-gram 2-gram" in caught.value.remedy


def test_the_best_ngram_model_is_counted_again_where_it_is_not_kept(done, text, folders, tmp_path):
    record, _ = done
    here = runs.best_ngram(text, folders[0], record)
    again = runs.best_ngram(text, tmp_path / "elsewhere", record)
    assert all(torch.equal(again[name], here[name]) for name in ("validation", "test"))


def test_checkpoints_stay_until_the_result_is_recorded(done, table, text, tmp_path, monkeypatch):
    whole, _ = done
    only = [entry for entry in table.values() if entry.name in ("1-gram", "2-gram", "both")]
    folders = (tmp_path / "runs", tmp_path / "shelf")
    first = untuned(table["both"]).digest(text.digest)
    command.done(only[:2], text, print, *folders)
    with monkeypatch.context() as patch:
        patch.setattr(recorded, "write", lambda *inputs: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            command.done(only, text, print, *folders)
    assert any((folders[0] / first / runs.CHECKPOINTS).glob("step-*.json"))
    record = command.done(only, text, print, *folders)
    assert record.runs[first].test == whole.runs[first].test
    assert not list(folders[0].glob(f"*/{runs.CHECKPOINTS}"))


def test_results_on_another_text_do_not_count(done, text, tmp_path):
    record, _ = done
    recorded.write(msgspec.structs.replace(record, text="another"), tmp_path)
    assert recorded.record_of(text, tmp_path).runs == {}


def test_a_damaged_record_is_named(tmp_path):
    (tmp_path / recorded.RESULTS).write_text("{", encoding="utf-8")
    with pytest.raises(CourseError, match="cannot be read"):
        recorded.read(tmp_path)


def test_the_page_is_what_the_results_say(done, table, folders):
    record, _ = done
    written = (folders[1] / recorded.PAGE).read_text(encoding="utf-8")
    assert written == page.page(record)
    ours, paper = written.split("## The paper's")
    for entry in table.values():
        tests = [result.test for result in found_of(entry, record)]
        row = next(line for line in written.splitlines() if line.startswith(f"| {entry.about} |"))
        assert f"{sum(tests) / len(tests):.1f}" in row
        assert ("±" in row) == (len(tests) > 1)
    assert "| both |" not in ours and "| LSTM |" in ours
    assert "| MLP10 | 5 |  | 100 | 30 | no | yes |  | 265 | 252 |" in paper
    assert "16,383" in paper and f"{record.counts['vocabulary']:,}" in paper
    tuning = written.split("## How they were tuned")[1]
    for result in record.runs.values():
        scores = f"{result.epochs} | {result.seed} | {result.validation:.1f} | {result.test:.1f} |"
        assert scores in tuning
    with_one = msgspec.structs.replace(record, runs={})
    assert page.page(with_one) != written and "No run is complete yet." in page.page(with_one)


@pytest.mark.parametrize(("change", "verdict"), [(-5, "lower"), (5, "higher"), (0, "inconclusive")])
def test_a_verdict_holds_for_every_pair_of_seeds(done, table, change, verdict):
    record, _ = done
    scores = {"lstm": [100.0, 101.0, 102.0], "neural": [101.0 + change] * 3}
    runs = dict(record.runs)
    for name, tests in scores.items():
        for run, test in zip(seeds(table[name], record), tests, strict=True):
            digest = run.digest(record.text)
            validation = {"lstm": 1.0, "neural": 0.9}[name]  # so that they are the last two
            runs[digest] = msgspec.structs.replace(runs[digest], test=test, validation=validation)
    text = page.page(msgspec.structs.replace(record, runs=runs))
    (line,) = (it for it in text.split("## What beats what")[1].splitlines() if "| neural |" in it)
    less, between, said = (it.strip() for it in line.split("|")[2:5])
    assert said == verdict
    mean = sum(scores["neural"]) / 3 / 101 - 1
    low, high = ((scores["neural"][0] - each) / 101 for each in (102, 100))
    assert less == f"{mean:+.1%}".replace("-", "−")
    assert between == f"{low:+.1%} … {high:+.1%}".replace("-", "−")


def test_the_command_lists_and_passes_names_on(done, folders, tmp_path, monkeypatch):
    monkeypatch.setattr(recorded, "shelf", lambda: folders[1])
    listed = invoke().output
    assert re.search(r"^lstm: test perplexity .* \(3 seeds\)$", listed, re.MULTILINE)
    monkeypatch.setattr(recorded, "shelf", lambda: tmp_path / "empty")
    assert "lstm: nothing yet\n" in invoke().output
    with pytest.raises(CourseError, match="no model 'elmo'"):
        entries.chosen(["elmo"])
    assert [it.name for it in entries.chosen(["both", "lstm"])] == ["lstm", "both"]
