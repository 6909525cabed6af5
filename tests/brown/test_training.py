"""The windows of an epoch; and a run that is killed ends as one that is not."""

from collections import Counter

import pytest
import torch

from research.brown.training import Budget, WindowLosses, trained
from research.runs import Checkpoints
from tests.brown.conftest import SMALL, learners
from tests.brown.test_evaluation import built

SETTING = {"learning_rate": 1e-2, "dropout": 0.2, "tied": True}


@pytest.mark.parametrize("name", ["lstm", "neural", "gpt", "both"])
def test_an_epoch_predicts_each_word_once(name):
    ids = torch.arange(101)  # every word once
    network = built(name, 101)
    losses = WindowLosses(network, ids, Budget(2, rows=2, time=8), seed=0, epochs=2)
    predicted = []
    predictions = network.predictions

    def watched(window, state, draw):
        features, words, state = predictions(window, state, draw)
        predicted.extend(words.tolist())
        assert window[0, 1] == (window[0, 0] + 1) % 101  # in the order of the text
        return features, words, state

    network.predictions = watched
    for epoch in range(2):
        predicted.clear()
        for _ in range(len(losses) // 2):
            next(losses)
        counts = Counter(predicted)
        assert len(predicted) == 100 and set(counts.values()) == {1}, epoch
    with pytest.raises(StopIteration):
        next(losses)


def test_a_state_goes_from_window_to_window_and_not_to_the_next_epoch():
    network = built("lstm", 30)
    ids = torch.arange(60) % 30
    losses = WindowLosses(network, ids, Budget(2, rows=2, time=8), seed=0, epochs=2)
    given = []
    predictions = network.predictions
    network.predictions = lambda *inputs: given.append(inputs[1]) or predictions(*inputs)
    list(losses)
    assert [state is None for state in given] == [True, False, False, False] * 2
    assert not given[1][0].requires_grad


def test_training_lowers_the_loss(text):
    torch.manual_seed(0)
    network, budget = learners()[0].built(len(text.vocabulary), SETTING)
    losses = WindowLosses(network, text.split("train"), budget, 0, 1)
    before = sum(loss.item() for loss, _ in losses)
    trained(network, text.split("train"), budget, 0, None, 12)
    after = WindowLosses(network, text.split("train"), budget, 0, 1)
    assert sum(loss.item() for loss, _ in after) < 0.8 * before


class Killed(Exception):
    pass


@pytest.mark.parametrize("learner", learners(), ids=lambda learner: learner.name)
def test_a_killed_run_ends_as_one_that_was_not(learner, text, tmp_path, monkeypatch):
    def run(folder):
        torch.manual_seed(3)
        network, budget = learner.built(len(text.vocabulary), SETTING)
        checkpoints = Checkpoints(folder, every=4)
        trained(network, text.split("train"), budget, 3, checkpoints, SMALL.epochs)
        return network.state_dict()

    whole = run(tmp_path / "whole")
    following = WindowLosses.__next__

    def deadly(losses):
        if losses.step == 30:  # in the second epoch, two steps after a checkpoint
            raise Killed
        return following(losses)

    monkeypatch.setattr(WindowLosses, "__next__", deadly)
    with pytest.raises(Killed):
        run(tmp_path / "killed")
    monkeypatch.setattr(WindowLosses, "__next__", following)
    torch.rand(7)  # another process has other random numbers
    found = run(tmp_path / "killed")
    assert all(torch.equal(found[name], whole[name]) for name in whole)
