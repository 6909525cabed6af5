"""`lmcourse tagging`: the runs, what is recorded, and the page."""

import re

import msgspec
import pytest
from typer.testing import CliRunner

from coursekit import cli
from lmcourse.errors import CourseError
from research import recorded
from research.tagging import command, entries, page
from research.tagging.entries import Record, Run, rows, stages, trials_of
from research.tagging.scores import accuracies, contrast
from research.tagging.text import EVERY, FICTION, WITHOUT


def invoke(*arguments):
    return CliRunner().invoke(cli.app, ["tagging", *arguments], catch_exceptions=False)


@pytest.fixture(scope="module")
def done(table, texts, tmp_path_factory):
    """The whole table, and where it is."""
    folder = tmp_path_factory.mktemp("tagging")
    return command.done(list(table.values()), texts, print, folder), folder


def test_the_whole_table_of_a_small_corpus(done, table):
    record, folder = done
    wanted = {
        run.digest(record)
        for entry in table.values()
        for stage in stages(entry, record)
        for run in stage
    }
    assert set(record.runs) == wanted
    assert recorded.read(folder / recorded.RESULTS, Record) == record
    for name, trials, seeds in (("most-frequent", 1, 1), ("perceptron", 2, 3), ("lstm", 3, 3)):
        entry = table[name]
        assert len(trials_of(entry)) == trials and len(rows(entry, record)) == seeds
        # The best setting on validation is repeated, here and without fiction.
        tried = entries.found(trials_of(entry), record)
        best = max(result.validation for result in tried)
        for task in (EVERY, WITHOUT):
            results = rows(entry, record, task)
            assert len(results) == (seeds if task == EVERY or entry.shifted else 0)
            for result in results:
                chosen = Run(entry, result.setting, epochs=entry.trial).digest(record)
                assert record.runs[chosen].validation == best
                assert (result.seed, result.task) == (results.index(result), task)
    assert len({it.validation for it in record.runs.values()}) > 8


def test_a_run_is_a_function_of_its_seed(done, table, texts):
    record, _ = done
    for name in ("perceptron", "bilstm-characters"):
        run = entries.seeds(table[name], WITHOUT, record)[1]
        again = command.learned(run, texts[WITHOUT])
        before = record.runs[run.digest(record)]
        assert (again.right, again.validation) == (before.right, before.validation)
        correct = sum(
            a == b
            for sentence, tags in zip(
                texts[WITHOUT].validation,
                run.entry.learn(texts[WITHOUT], run.setting, run.seed, run.epochs).tagged(
                    texts[WITHOUT].validation
                ),
                strict=True,
            )
            for a, b in zip(sentence.tags, tags, strict=True)
        )
        tokens = sum(len(sentence.words) for sentence in texts[WITHOUT].validation)
        assert again.validation == correct / tokens


def test_nothing_is_done_twice(done, table, texts, monkeypatch):
    record, folder = done
    monkeypatch.setattr(command, "learned", None)
    assert command.done(list(table.values()), texts, print, folder) == record


def test_an_interrupted_table_is_the_same_in_the_end(done, table, texts, tmp_path, monkeypatch):
    whole, _ = done
    learned, left = command.learned, iter(range(5))

    def until_killed(*inputs):
        if next(left, None) is None:
            raise KeyboardInterrupt
        return learned(*inputs)

    monkeypatch.setattr(command, "learned", until_killed)
    with pytest.raises(KeyboardInterrupt):
        command.done(list(table.values()), texts, print, tmp_path)
    assert len(recorded.read(tmp_path / recorded.RESULTS, Record).runs) == 5
    monkeypatch.setattr(command, "learned", learned)
    found = command.done(list(table.values()), texts, print, tmp_path)
    scores = [
        {digest: (it.validation, it.right) for digest, it in record.runs.items()}
        for record in (found, whole)
    ]
    assert scores[0] == scores[1]


def test_results_on_another_corpus_do_not_count(done, table, texts, tmp_path):
    record, _ = done
    other = msgspec.structs.replace(record, texts={EVERY: "another", WITHOUT: "another"})
    recorded.write({recorded.RESULTS: other}, tmp_path)
    found = command.done([table["most-frequent"]], texts, print, tmp_path)
    assert [it.name for it in found.runs.values()] == ["most-frequent"]


def test_the_page_is_what_the_results_say(done, table):
    record, folder = done
    written = (folder / recorded.PAGE).read_text(encoding="utf-8")
    assert written == page.page(record)
    scores, _, shift = written.partition("## Trained without fiction")
    for entry in table.values():
        values = accuracies(rows(entry, record), record)
        (row, *_) = (line for line in scores.splitlines() if line.startswith(f"| {entry.about} |"))
        assert f"{100 * sum(values) / len(values):.2f}" in row
        assert ("±" in row) == (len(values) > 1)
        fiction = accuracies(rows(entry, record), record, genres=FICTION)
        assert (f"| {entry.about} | {page.percent(fiction)} |" in shift) == entry.shifted
    pairs = [rows(table[name], record) for name in ("lstm", "perceptron")]
    found = contrast(*pairs, record)
    (row, *_) = (line for line in scores.splitlines() if line.startswith("| LSTM − perceptron |"))
    cells = [cell.strip().replace("−", "-") for cell in row.split("|")]
    assert float(cells[3]) == pytest.approx(100 * found.difference, abs=0.006)
    verdict = {True: "higher" if found.difference > 0 else "lower", False: "inconclusive"}
    assert cells[6] == verdict[found.separated]
    empty = msgspec.structs.replace(record, runs={})
    assert page.page(empty) != written


def test_the_command_lists_and_passes_names_on(done, table, tmp_path, monkeypatch):
    monkeypatch.setattr(command, "shelf", lambda: done[1])
    assert re.search(r"^lstm: \d\d\.\d\d ± \d+\.\d\d % of", invoke().output, re.MULTILINE)
    monkeypatch.setattr(command, "shelf", lambda: tmp_path / "empty")
    assert "lstm: nothing yet\n" in invoke().output
    assert [it.name for it in entries.chosen(["lstm", "perceptron"])] == ["perceptron", "lstm"]
    with pytest.raises(CourseError, match=r"no model 'crf'[\s\S]*lstm"):
        invoke("crf")


def test_without_the_corpus_the_command_says_what_to_install(monkeypatch):
    monkeypatch.setenv("LMCOURSE_REAL", "off")
    with pytest.raises(CourseError, match=r"brown is hidden[\s\S]*lmcourse real install"):
        invoke("most-frequent")


def test_a_damaged_record_is_named(table, texts, tmp_path):
    (tmp_path / recorded.RESULTS).write_text("{", encoding="utf-8")
    with pytest.raises(CourseError, match="cannot be read"):
        command.done(list(table.values()), texts, print, tmp_path)
