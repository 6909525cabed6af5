"""Runs: shared by claims, kept at once, measured later, taken up after a kill."""

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from coursekit import course
from lmcourse.corpus.bookworld import BookWorld
from lmcourse.errors import CourseError
from lmcourse.findings import kept
from lmcourse.references import read_references
from research.claims import command, electra, measures, results, runs, schedule, table
from research.claims.claim import Run
from research.claims.page import in_markdown
from research.claims.scale import BASE, TWICE
from tests.claims.conftest import toy, variant

WORLD = BookWorld().digest


@pytest.fixture
def here(monkeypatch, world):
    """Runs are done in this process."""
    done = []

    def do(jobs, folder, digest, at_once, say, anew=False):
        for job in schedule.missing(jobs, folder, digest, anew):
            done.append(job)
            runs.perform(job.run, job.measures, folder, world)

    monkeypatch.setattr(schedule, "do", do)
    return done


def test_a_run_is_named_by_all_that_decides_it():
    base = Run(toy("one"), 0)
    assert base.digest("w") == Run(toy("one"), 0).digest("w")
    others = [
        base.digest("another world"),
        Run(toy("one"), 1).digest("w"),
        Run(toy("one", num_hidden_layers=1), 0).digest("w"),
        Run(replace(toy("one"), source=toy("two")), 0).digest("w"),
        Run(replace(toy("one"), source=toy("two"), source_seed=3), 0).digest("w"),
    ]
    assert len({base.digest("w"), *others}) == 6


def test_claims_share_runs_and_what_is_measured_of_them(claim):
    jobs = schedule.jobs_of(table.CLAIMS.values())
    assert len(jobs) == 4  # two plans, two seeds: those of the other claim are among them
    assert {job.measures for job in jobs} == {frozenset({"size", "validation"})}


def test_what_others_start_from_comes_before_them_and_once():
    teacher = toy("teacher")
    student = replace(toy("student"), source=teacher, source_seed=0)
    one = replace(table.CLAIMS["bidirectional"], variants=(variant("student", student),), seeds=3)
    names = [(job.run.plan.recipe.name, job.run.seed) for job in schedule.jobs_of([one])]
    assert names == [("teacher", 0), ("student", 0), ("student", 1), ("student", 2)]
    waiting = schedule.jobs_of([one])
    assert [job.run.plan.recipe.name for job in schedule._ready(waiting, waiting)] == ["teacher"]
    assert len(schedule._ready(waiting[1:], waiting[1:])) == 3


def test_what_is_there_is_not_done_again(claim, here, tmp_path):
    folders = {"folder": tmp_path / "runs", "shelf": tmp_path / "found"}
    (found,) = command.tested(["toy"], **folders)
    assert len(here) == 4 and found.seeds == [0, 1]
    assert found == kept.finding("toy", folders["shelf"])
    command.tested(["toy", "other"], **folders)
    assert len(here) == 4
    (more,) = command.tested(["toy"], seeds=3, **folders)
    assert len(here) == 6 and more.seeds == [0, 1, 2]
    assert more.part("one layer").scores["loss"][:2] == found.part("one layer").scores["loss"]


@pytest.fixture
def elsewhere(claim, here, tmp_path, monkeypatch):
    """What the course keeps: two seeds of the toy, done on another machine."""
    monkeypatch.setattr(kept, "shelf", lambda: tmp_path / "found")
    (found,) = command.tested(["toy"], folder=tmp_path / "elsewhere")
    here.clear()
    return found


def test_what_a_finding_records_is_not_done_again(elsewhere, here, tmp_path, monkeypatch):
    folder = tmp_path / "runs"
    (same,) = command.tested(["toy"], folder=folder)
    assert same == elsewhere and not here
    monkeypatch.setattr(command, "CLAIMS", table.CLAIMS)
    assert "4 of 4 runs" in "\n".join(command.overview(folder))
    (more,) = command.tested(["toy"], seeds=3, folder=folder)
    assert [job.run.seed for job in here] == [2, 2] and more.seeds == [0, 1, 2]
    assert more.part("one layer").scores["loss"][:2] == elsewhere.part("one layer").scores["loss"]
    assert command.tested(["toy"], folder=folder)[0] == more  # no seed that was found is lost


def test_it_is_done_anew_where_that_is_asked_for(elsewhere, here, tmp_path):
    folder = tmp_path / "runs"
    (anew,) = command.tested(["toy"], anew=True, folder=folder)
    assert len(here) == 4 and anew.parts == elsewhere.parts
    command.tested(["toy"], anew=True, folder=folder)
    assert len(here) == 4


def test_what_is_wanted_besides_needs_the_model_again(elsewhere, world, here, tmp_path):
    run = Run(toy("one"), 0)
    (job,) = schedule.missing([schedule.Job(run, frozenset({"size", "masked"}))], tmp_path, WORLD)
    runs.perform(job.run, job.measures, tmp_path, world)
    found = runs.result_of(run, tmp_path, WORLD)
    assert set(found.measured_seconds) == {"size", "masked"}
    assert found.scores["size/parameters"] == elsewhere.part("two layers").scores["parameters"][0]


def test_what_others_start_from_is_done_again_for_them_alone(claim, here, tmp_path, monkeypatch):
    monkeypatch.setattr(kept, "shelf", lambda: tmp_path / "found")
    student = replace(toy("student"), source=toy("teacher"), source_seed=0)
    pair = replace(claim, name="pair", variants=(variant("student", student),), contrasts=())
    monkeypatch.setattr(table, "CLAIMS", {"pair": pair})
    command.tested(["pair"], folder=tmp_path / "elsewhere")
    here.clear()
    command.tested(["pair"], folder=tmp_path / "runs")
    assert not here
    command.tested(["pair"], seeds=3, folder=tmp_path / "runs")
    assert [(job.run.plan.recipe.name, job.run.seed) for job in here] == [
        ("teacher", 0),
        ("student", 2),
    ]


def test_a_score_that_is_wanted_later_is_measured_on_the_kept_model(world, tmp_path, monkeypatch):
    run = Run(toy("one"), 0)
    first = runs.perform(run, ["size"], tmp_path, world)
    monkeypatch.setattr(runs, "_trained", None)  # it would fail
    second = runs.perform(run, ["size", "validation"], tmp_path, world)
    assert set(first.scores) == {"size/parameters"}
    assert set(second.scores) == {"size/parameters", "validation/minus loss"}
    assert second.cpu_seconds == first.cpu_seconds > 0
    assert runs.perform(run, ["size"], tmp_path, world) == second


def test_the_same_run_gives_the_same_scores(world, tmp_path):
    run = Run(toy("one"), 1)
    both = [runs.perform(run, ["validation"], tmp_path / at, world) for at in "ab"]
    assert both[0].scores == both[1].scores


def test_a_student_needs_its_teacher_first(world, tmp_path):
    student = replace(toy("student"), source=toy("teacher"), source_seed=0)
    with pytest.raises(CourseError, match="teacher, seed 0, was not done yet"):
        runs.perform(Run(student, 1), [], tmp_path, world)


def test_a_damaged_result_says_what_to_delete(world, tmp_path):
    run = Run(toy("one"), 0)
    own = tmp_path / run.digest("w")
    own.mkdir()
    (own / runs.RESULT).write_text("{")
    with pytest.raises(CourseError, match="cannot be read") as caught:
        runs.result_of(run, tmp_path, "w")
    assert str(own) in caught.value.remedy


def grid(name):
    """A variant of two settings."""
    select = "validation/minus loss"
    return replace(variant(name, toy("one"), toy("two"), select=select), settings=("low", "high"))


def test_the_first_seed_chooses_of_a_grid_for_all(claim, here, tmp_path, monkeypatch):
    scores = {("one", 0): 1.0, ("one", 1): 3.0, ("two", 0): 2.0, ("two", 1): 2.5}
    tuned = grid("student")
    one = replace(claim, name="grid", variants=(tuned,), contrasts=())
    monkeypatch.setattr(table, "CLAIMS", {"grid": one})
    asked = []

    def perform(run, wanted, folder, world):
        asked.append((run.plan.recipe.name, run.seed))
        value = scores[asked[-1]]
        made = {"size/parameters": 10 * value, "validation/minus loss": value}
        result = runs.Result(
            **{"config": run.config, "world": world.digest, "steps": 2, "parameters": 1},
            **{"machine": runs.Machine("cpu", 1, "3", "2", "0"), "wall_seconds": 1.0},
            **{"cpu_seconds": 1.0, "scores": made},
            measured_seconds=dict.fromkeys(wanted, 1.0),
        )
        own = folder / run.digest(world.digest)
        own.mkdir(parents=True)
        runs._write(result, own)

    monkeypatch.setattr(runs, "perform", perform)
    where = {"folder": tmp_path / "runs", "shelf": tmp_path / "found"}
    (found,) = command.tested(["grid"], **where)
    assert asked == [("one", 0), ("two", 0), ("two", 1)]
    assert found.part("student").grid == {"low": 1.0, "high": 2.0}
    assert found.part("student").scores["parameters"] == [20.0, 25.0]
    assert [run["name"] for run in found.runs.values()] == ["one", "two", "two"]
    ((sentence, _, rows),) = found.grids()
    assert sentence == "student was tuned on seed 0, on validation data. All seeds have high."
    assert rows == [["high", "2.000"], ["low", "1.000"]]
    for form in (repr(found), in_markdown(found), found._repr_html_()):
        assert sentence in form
        assert form.index(sentence) < form.index("2.000") < form.index("1.000")


def test_while_a_grid_is_not_whole_nothing_is_found(claim, here, tmp_path, world):
    tuned = grid("student")
    one = replace(claim, variants=(tuned,), contrasts=())
    for plan, seed in ((toy("one"), 0), (toy("one"), 1)):
        runs.perform(Run(plan, seed), tuned.measures, tmp_path, world)
    assert results.best(tuned, tmp_path, world.digest) == toy("one")
    with pytest.raises(CourseError, match="No seed of toy has all"):
        results.found_of(one, range(2), tmp_path, world.digest)


SCRIPT = """
from pathlib import Path
from research.claims import schedule
from research.claims.claim import Claim
from lmcourse.corpus.bookworld import BookWorld
from tests.claims.conftest import toy, variant
if __name__ == "__main__":
    plans = variant("a", toy("one")), variant("b", toy("two", num_hidden_layers=1))
    claim = Claim("toy", "", "", "", "", plans, {}, (), seeds=2)
    world = BookWorld().digest
    schedule.do(schedule.jobs_of([claim]), Path(FOLDER), world, 1, print)
"""


def test_a_killed_command_goes_on_from_there(tmp_path):
    folder, script = tmp_path / "runs", tmp_path / "go.py"
    script.write_text(SCRIPT.replace("FOLDER", repr(str(folder))))
    environment = {**os.environ, "PYTHONPATH": str(Path.cwd())}
    command_ = [sys.executable, str(script)]
    process = subprocess.Popen(command_, env=environment, stdout=subprocess.PIPE, text=True)
    try:
        deadline = time.monotonic() + 120
        while not list(folder.glob(f"*/{runs.RESULT}")) and time.monotonic() < deadline:
            time.sleep(0.05)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
    before = {path: path.stat().st_mtime_ns for path in folder.glob(f"*/{runs.MODEL}")}
    assert 1 <= len(before) < 4
    again = subprocess.run(command_, env=environment, capture_output=True, text=True, timeout=240)
    assert again.returncode == 0, again.stderr
    found = {path: path.stat().st_mtime_ns for path in folder.glob(f"*/{runs.MODEL}")}
    assert len(found) == 4 and len(list(folder.glob(f"*/{runs.RESULT}"))) == 4
    assert before.items() <= found.items()
    results_ = [json.loads(path.read_text()) for path in folder.glob(f"*/{runs.RESULT}")]
    assert {one["machine"]["threads"] for one in results_} == {1}


def test_a_run_that_fails_is_told_and_the_others_are_kept(tmp_path, world):
    bad = toy("bad", num_attention_heads=3)  # 8 is no multiple of it
    jobs = [schedule.Job(Run(bad, 0), frozenset())]
    with pytest.raises(CourseError, match="bad, seed 0, failed: ") as caught:
        schedule.do(jobs, tmp_path, world.digest, 1, lambda line: None)
    assert schedule.ERROR in caught.value.remedy
    assert not multiprocessing.active_children()


def test_the_measures_of_all_claims_are_known():
    for claim in table.CLAIMS.values():
        for one in claim.variants:
            assert one.measures <= set(measures.MEASURES)
            assert len(one.plans) == 1 or one.select
            assert one.select not in one.reads.values()


def test_every_claim_cites_a_paper_and_reads_what_its_columns_have():
    references = read_references(course.root() / "references.bib")
    for claim in table.CLAIMS.values():
        assert claim.key in references
        names = {one.name for one in claim.variants}
        assert claim.seeds >= 3 and len(names) == len(claim.variants)
        for one in claim.contrasts:
            assert one.better in names and one.column in claim.columns
            assert not isinstance(one.than, str) or one.than in names
            for side in {one.better, one.than} & names:
                assert one.column in claim.variant(side).reads


def test_electra_and_bert_compute_as_much(world):
    flops_of_base = electra.flops(BASE, world)
    spent = {
        electra.flops(one.source.recipe, world) * one.source.recipe.budget.steps
        for variant in electra.ELECTRA.variants
        for one in variant.plans
    }
    assert len(spent) == 3  # two sizes of ELECTRA's generator, and BERT
    assert min(spent) == pytest.approx(max(spent), rel=0.01)
    assert max(spent) == pytest.approx(electra.COMPUTE * TWICE.steps * flops_of_base, rel=0.01)
