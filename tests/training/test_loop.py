"""The training loop: it learns, clips, and stops before a step that is not finite."""

import math

import pytest
import torch
from torch import nn

from lmcourse.corpus import windows
from lmcourse.errors import CourseError
from lmcourse.models.rnn_lm import RNNConfig, RNNLanguageModel
from lmcourse.training import train, window_losses


def test_it_learns_a_text_that_repeats():
    torch.manual_seed(0)
    ids = torch.arange(5).repeat(400)
    model = RNNLanguageModel(RNNConfig(5, 8, 16))
    history = train(model, window_losses(model, windows(ids, 4, 10)), learning_rate=1e-2)
    assert history.losses[0] == pytest.approx(math.log(5), abs=0.5)
    assert history.losses[-1] < 0.1


def test_the_state_crosses_windows_and_the_gradient_does_not():
    torch.manual_seed(0)
    model = RNNLanguageModel(RNNConfig(5, 4, 6)).double()
    ids = torch.randint(5, (41,))
    parts = torch.stack(list(window_losses(model, windows(ids, 1, 10))))
    whole = model(ids[None, :-1], labels=ids[None, 1:])
    torch.testing.assert_close(parts.mean(), whole.loss)  # the same forward pass
    one = torch.autograd.grad(parts.mean(), model.rnn.layers[0].W, retain_graph=True)[0]
    other = torch.autograd.grad(whole.loss, model.rnn.layers[0].W)[0]
    assert not torch.allclose(one, other)


@pytest.mark.parametrize(("clip", "length"), [(None, 200.0), (0.5, 0.5), (1000.0, 200.0)])
def test_a_step_is_at_most_the_clipping_norm_long(clip, length):
    model = nn.Linear(1, 1, bias=False)
    nn.init.zeros_(model.weight)
    losses = (100.0 * (model(torch.ones(1, 1)) - 1).square().mean() for _ in range(1))
    sgd = torch.optim.SGD(model.parameters(), lr=1.0)
    history = train(model, losses, optimizer=sgd, clip=clip)
    assert history.gradient_norms == [pytest.approx(200.0)]  # before clipping
    assert model.weight.item() == pytest.approx(length, rel=1e-4)


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_step_that_is_not_finite_is_not_taken(bad):
    model = nn.Linear(2, 1)

    def losses():
        yield model(torch.ones(1, 2)).mean()
        yield model(torch.ones(1, 2)).mean() * bad

    with pytest.raises(CourseError, match="Step 1 has a loss of"):
        train(model, losses())
    assert all(p.isfinite().all() for p in model.parameters())


def test_a_finite_loss_with_an_infinite_gradient_is_not_taken():
    model = nn.Linear(1, 1)
    nn.init.zeros_(model.weight), nn.init.zeros_(model.bias)
    with pytest.raises(CourseError, match="a gradient of norm"):
        train(model, iter([model(torch.ones(1, 1)).abs().sqrt().sum()]))
    assert all(p.isfinite().all() for p in model.parameters())


def test_the_scheduler_sets_the_rate():
    model = nn.Linear(1, 1)
    sgd = torch.optim.SGD(model.parameters(), lr=1.0)
    schedule = torch.optim.lr_scheduler.LinearLR(sgd, 1.0, 0.0, total_iters=4)
    losses = (model(torch.ones(1, 1)).sum() for _ in range(3))
    train(model, losses, optimizer=sgd, scheduler=schedule)
    assert sgd.param_groups[0]["lr"] == pytest.approx(0.25)
