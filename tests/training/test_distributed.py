"""Several processes: the same steps as one, whoever holds what; and what happens if one fails."""

import json
import os
import socket
import subprocess
import sys
import time

import pytest
import torch
from torch import nn

from lmcourse.errors import CourseError
from lmcourse.models.bert_heads import BertForMaskedLM
from lmcourse.training.distributed import Process, Processes, here, parallel, unwrapped
from tests.training import parallel_run
from tests.training.every_objective import EVERY
from tests.training.parallel_run import CONFIG

TORCHRUN = [sys.executable, "-m", "torch.distributed.run"]
TOGETHER = (
    "data parallel",
    "accumulated",
    "batches",
    "batches, accumulated",
    "ended",
)


def machine(rank, port, folder, ways):
    """The start of torchrun with our script, as on one of two machines with a process each."""
    options = ("--nnodes", "2", "--nproc-per-node", "1", "--node-rank", str(rank))
    options += ("--master-addr", "127.0.0.1", "--master-port", str(port))
    command = [*TORCHRUN, *options, "-m", "tests.training.parallel_run", str(folder), *ways]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "LMCOURSE_DEVICE": "cpu"}
    environment["PYTHONFAULTHANDLER"] = "1"  # an abort in PyTorch's own code says where it was
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
    )


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """What each of two processes finds; what one finds; the outputs, the folder and the time.

    The last of the ways fails: what was found before is in the folder, and nothing hangs.
    """
    folder = tmp_path_factory.mktemp("runs")
    parallel_run.main(folder, ["begun"])
    ways = [*TOGETHER, *EVERY, "begun", "watched", "apart", "not finite"]
    ways += ["dropout", "exchanged", "saved"]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    start = time.monotonic()
    processes = [machine(rank, port, folder, [*ways, "failing"]) for rank in range(2)]
    outputs = [process.communicate(timeout=240)[0] for process in processes]
    seconds = time.monotonic() - start
    both = [json.loads((folder / f"{rank} of 2.json").read_text()) for rank in range(2)]
    assert all(found.keys() == set(ways) for found in both), outputs
    assert all(process.returncode for process in processes)
    parallel_run.main(folder, [*TOGETHER, *EVERY])
    return *both, json.loads((folder / "0 of 1.json").read_text()), outputs, folder, seconds


@pytest.mark.parametrize("way", [*TOGETHER, *EVERY])
def test_two_processes_take_the_steps_of_one(runs, way):
    first, second, alone, *_ = runs
    steps = 2 if way in EVERY else parallel_run.STEPS
    assert len(alone[way]["losses"]) == steps
    for name in ("losses", "gradient_norms"):
        torch.testing.assert_close(first[way][name], alone[way][name], rtol=0, atol=1e-6)
    assert first[way] == second[way]  # to the last bit
    assert first[way]["state"].keys() == alone[way]["state"].keys()
    for name, values in alone[way]["state"].items():
        torch.testing.assert_close(first[way]["state"][name], values, rtol=0, atol=1e-6)
    assert alone[way]["losses"][-1] != pytest.approx(alone[way]["losses"][0], abs=1e-3)  # it learns


def test_a_run_begun_by_one_number_of_processes_is_ended_by_another(runs):
    both, _, alone, *_ = runs
    for found in (both, alone):
        run, whole = found["ended"], alone["data parallel"]
        assert run["from"] == parallel_run.STEPS // 2
        torch.testing.assert_close(run["losses"], whole["losses"], rtol=0, atol=1e-6)
        for name, values in whole["state"].items():
            torch.testing.assert_close(run["state"][name], values, rtol=0, atol=1e-6)


def test_dropout_differs_between_processes(runs):
    kept = runs[0]["dropout"]
    assert kept == runs[1]["dropout"] and len(set(kept)) == 2


def test_gradients_are_exchanged_once_a_step(runs):
    (one, other), (both, too) = runs[0]["exchanged"]
    assert one != other and both == pytest.approx(too, rel=1e-12)


def test_losses_that_are_not_the_processes_own_are_refused_before_a_step_is_taken(runs):
    for found in runs[:2]:
        assert all(unchanged for _, unchanged in found["apart"])
        mine, batches = (said for said, _ in found["apart"])
        for said in (mine, batches):
            assert "gradients of the 2 processes differ" in said and "parallel(model)" in said


def test_a_loss_that_is_not_finite_in_one_process_ends_all_and_all_keep_the_step_before(runs):
    for found in runs[:2]:
        kept, spoiled = found["not finite"]
        assert "Step 3 has a loss of nan" in kept and "Step 3 is saved in" in kept
        assert "Step 3 has a loss of nan" in spoiled and "Step 2 is saved in" in spoiled


def test_a_whole_model_is_saved(runs):
    both, *_, folder, _ = runs
    assert both["saved"] == ["Replicated", "BertForMaskedLM", True]
    torch.manual_seed(0)
    wanted = BertForMaskedLM(CONFIG).double()
    parallel_run.trained(wanted, 2)
    model = BertForMaskedLM.load(folder / "whole.safetensors")
    for key, tensor in wanted.state_dict().items():
        torch.testing.assert_close(model.state_dict()[key], tensor, rtol=0, atol=1e-6)


def test_only_the_first_process_displays_something(runs):
    first, second = runs[3]
    assert first.count("2 steps · loss") == 1 and "steps · loss" not in second
    assert "Warning" not in first.split("2 steps · loss")[0]


def test_where_one_machine_fails_none_hangs(runs):
    *_, (first, second), _, seconds = runs
    assert seconds < 180  # not the ten minutes that a process waits for another
    assert "CourseError: The label 7 is out of range. Give another." in second
    assert "3 steps · loss" in first  # what was learned is displayed


def test_one_process_is_alone():
    model = nn.Linear(2, 3)
    assert here() == Process(0, 1) and parallel(model) is model
    assert unwrapped(model) is model
    processes = Processes(model)
    assert (processes.rank, processes.count) == (0, 1)
    assert processes.summed([1, 2.5]) == [1.0, 2.5]
    with processes.together(last=False):
        model(torch.ones(2)).sum().backward()
    assert model.weight.grad is not None


def test_several_that_train_apart_are_refused(monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(CourseError, match=r"each would train its own Linear.*parallel\(model\)"):
        Processes(nn.Linear(1, 1))


def test_processes_that_were_not_told_where_the_others_are(monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setenv("LMCOURSE_DEVICE", "cpu")
    for name in ("RANK", "MASTER_ADDR", "MASTER_PORT"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(CourseError, match=r"cannot connect.*torchrun"):
        parallel(nn.Linear(1, 1))
