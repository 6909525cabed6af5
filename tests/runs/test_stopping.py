"""Early stopping: the model ends with the parameters of its best look."""

import math

import pytest
import torch
from torch import nn

from lmcourse.errors import CourseError
from lmcourse.training.loop import train
from research.runs.stopping import EarlyStopping


def counted(scores, count=100, *, evaluate=None, **settings):
    """Train a counter, whose weight is the number of steps taken, with these scores to come."""
    model = nn.Linear(1, 1, bias=False)
    nn.init.zeros_(model.weight)
    sgd = torch.optim.SGD(model.parameters(), lr=1.0)
    coming = iter(scores)
    stop = EarlyStopping(evaluate or (lambda model: next(coming)), **settings)
    losses = (-model(torch.ones(1, 1)).sum() for _ in range(count))
    history = train(model, losses, optimizer=sgd, clip=None, stop=stop, watch="nothing")
    return stop, len(history.losses), model.weight.item()


@pytest.mark.parametrize(
    ("scores", "patience", "steps", "best"),
    [
        ([3, 2, 1, 1, 1], 2, 10, 6),  # as good as the best is no better
        ([3, 2, 1, 1, 1], 1, 8, 6),
        ([1, 2, 0, 3, 0.5, 0.5], 2, 10, 6),  # one bad look is forgiven
        ([5, 6, 7, 8], 3, 8, 2),
        ([math.inf, 1, math.inf], 1, 6, 4),
    ],
)
def test_it_stops_when_patience_ends_and_the_best_parameters_stay(scores, patience, steps, best):
    stop, taken, weight = counted(scores, every=2, patience=patience)
    assert (taken, stop.best_step, weight) == (steps, best, best)
    assert stop.scores == [(2 * at + 2, float(s)) for at, s in enumerate(scores[: steps // 2])]


def test_the_highest_can_be_the_best():
    stop, taken, weight = counted([0.1, 0.9, 0.5, 0.4], every=1, patience=2, best="highest")
    assert (taken, stop.best_step, weight) == (4, 2, 2.0)


def test_the_end_is_looked_at_too_and_once():
    stop, _, weight = counted([3, 2, 1], 5, every=2)
    assert stop.scores == [(2, 3.0), (4, 2.0), (5, 1.0)] and weight == 5
    stop, _, weight = counted([3, 2, 4], 4, every=2)
    assert stop.scores == [(2, 3.0), (4, 2.0)] and weight == 4


def test_a_run_of_no_steps_is_not_looked_at():
    with pytest.raises(CourseError, match="no step was taken"):
        counted([], 0, every=2)  # a look would be one score too many


def test_looking_does_not_change_the_training():
    found = []
    for looks in (False, True):
        torch.manual_seed(0)
        model = nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.5), nn.Linear(4, 1))
        modes = []

        def evaluate(model, modes=modes):
            modes.append((model.training, torch.is_grad_enabled()))
            return torch.rand(()).item()

        losses = (model(torch.randn(2, 3)).square().mean() for _ in range(9))
        stop = EarlyStopping(evaluate, every=2, patience=100) if looks else None
        found.append(train(model, losses, stop=stop, watch="nothing").losses)
        assert modes == [(False, False)] * (5 if looks else 0)
        assert model.training
    assert found[0] == found[1]


def test_batch_statistics_are_of_the_best_look_too():
    torch.manual_seed(0)
    model = nn.Sequential(nn.BatchNorm1d(2), nn.Linear(2, 1))
    coming, kept = iter([2.0, 1.0, 3.0]), []

    def evaluate(model):
        kept.append({name: value.clone() for name, value in model.state_dict().items()})
        return next(coming)

    losses = (model(torch.randn(4, 2)).square().mean() for _ in range(3))
    train(model, losses, stop=EarlyStopping(evaluate, every=1), watch="nothing")
    assert all(torch.equal(kept[1][name], value) for name, value in model.state_dict().items())
    assert not torch.equal(kept[2]["0.running_mean"], kept[1]["0.running_mean"])


def test_a_score_that_is_no_number_is_refused():
    with pytest.raises(CourseError, match="after step 4 is NaN"):
        counted([1.0, math.nan], every=2)


def test_an_error_in_the_evaluation_leaves_the_model_in_training_mode():
    model = nn.Linear(1, 1)

    def evaluate(model):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        stop = EarlyStopping(evaluate, every=1)
        train(model, [model(torch.ones(1, 1)).sum()], stop=stop, watch="nothing")
    assert model.training


def test_a_second_training_knows_nothing_of_the_first():
    coming = iter([1.0, 2.0, 9.0, 8.0, 7.0])
    stop = EarlyStopping(lambda model: next(coming), every=2, patience=1)
    weights = []
    for steps in (10, 6):
        model = nn.Linear(1, 1, bias=False)
        nn.init.zeros_(model.weight)
        sgd = torch.optim.SGD(model.parameters(), lr=1.0)
        losses = [-model(torch.ones(1, 1)).sum() for _ in range(steps)]
        taken = train(model, losses, optimizer=sgd, clip=None, stop=stop, watch="nothing").losses
        weights.append((len(taken), model.weight.item()))
    assert weights == [(4, 2.0), (6, 6.0)]
    assert stop.scores == [(2, 9.0), (4, 8.0), (6, 7.0)] and stop.best_step == 6
