"""The training loops: they learn, clip, and stop before a step that is not finite."""

import math
from itertools import pairwise

import pytest
import torch
from torch import nn

from lmcourse.corpus import windows
from lmcourse.errors import CourseError
from lmcourse.models.rnn_lm import RNNConfig, RNNLanguageModel
from lmcourse.training import fit, train, window_losses


@pytest.fixture(params=[fit, train], ids=["fit", "train"])
def loop(request):
    """Both loops: what follows holds for each of them."""
    return request.param


def test_it_learns_a_text_that_repeats(loop):
    torch.manual_seed(0)
    ids = torch.arange(5).repeat(400)
    model = RNNLanguageModel(RNNConfig(5, 8, 16))
    history = loop(model, window_losses(model, windows(ids, 4, 10)), learning_rate=1e-2)
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
def test_a_step_is_at_most_the_clipping_norm_long(loop, clip, length):
    model = nn.Linear(1, 1, bias=False)
    nn.init.zeros_(model.weight)
    losses = (100.0 * (model(torch.ones(1, 1)) - 1).square().mean() for _ in range(1))
    sgd = torch.optim.SGD(model.parameters(), lr=1.0)
    history = loop(model, losses, optimizer=sgd, clip=clip)
    assert history.gradient_norms == [pytest.approx(200.0)]  # before clipping
    assert model.weight.item() == pytest.approx(length, rel=1e-4)


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_step_that_is_not_finite_is_not_taken(loop, bad):
    model = nn.Linear(2, 1)

    def losses():
        yield model(torch.ones(1, 2)).mean()
        yield model(torch.ones(1, 2)).mean() * bad

    with pytest.raises(CourseError, match="Step 1 has a loss of"):
        loop(model, losses())
    assert all(p.isfinite().all() for p in model.parameters())


def test_a_finite_loss_with_an_infinite_gradient_is_not_taken(loop):
    model = nn.Linear(1, 1)
    nn.init.zeros_(model.weight), nn.init.zeros_(model.bias)
    with pytest.raises(CourseError, match="a gradient norm of nan"):
        loop(model, iter([model(torch.ones(1, 1)).abs().sqrt().sum()]))
    assert all(p.isfinite().all() for p in model.parameters())


def test_the_scheduler_sets_the_rate(loop):
    model = nn.Linear(1, 1)
    sgd = torch.optim.SGD(model.parameters(), lr=1.0)
    schedule = torch.optim.lr_scheduler.LinearLR(sgd, 1.0, 0.0, total_iters=4)
    losses = (model(torch.ones(1, 1)).sum() for _ in range(3))
    loop(model, losses, optimizer=sgd, scheduler=schedule)
    assert sgd.param_groups[0]["lr"] == pytest.approx(0.25)


def bare_loop(model, losses, optimizer, clip):
    """The loop in PyTorch's own words."""
    history = []
    for loss in losses:
        optimizer.zero_grad()
        loss.backward()
        if clip is not None:
            nn.utils.clip_grad_norm_(model.parameters(), clip)
        optimizer.step()
        history.append(loss.item())
    return history


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("clip", [None, 0.3])
@pytest.mark.parametrize("kind", ["Adam", "SGD", "RMSprop"])
def test_it_is_the_bare_loop_bit_for_bit(loop, kind, clip, weighted):
    results = []
    for ours in (True, False):
        torch.manual_seed(0)
        model = nn.Sequential(nn.Linear(3, 5), nn.Dropout(0.2), nn.Tanh(), nn.Linear(5, 1))
        optimizer = getattr(torch.optim, kind)(model.parameters(), lr=0.01)
        losses = (model(torch.randn(4, 3)).square().mean() for _ in range(30))
        if ours:
            given = ((loss, 4) for loss in losses) if weighted else losses
            history = loop(model, given, optimizer=optimizer, clip=clip, watch="nothing").losses
        else:
            history = bare_loop(model, losses, optimizer, clip)
        results.append((history, [p.detach().clone() for p in model.parameters()]))
    (one, ones), (other, others) = results
    assert one == other
    assert all(torch.equal(p, q) for p, q in zip(ones, others, strict=True))


def trained_in_parts(parts: int, weighted: bool = True, steps: int = 50):
    """Parameters after 50 steps, each of a batch of 12 predictions cut into unequal parts."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))
    generator = torch.Generator().manual_seed(1)

    def losses():
        for _ in range(steps):
            x = torch.randn(12, 3, generator=generator)
            y = x.sum(1, keepdim=True).sin() + torch.arange(12.0)[:, None] / 6
            cuts = [0, *{2: [9], 3: [1, 3], 4: [1, 6, 11]}.get(parts, []), 12]
            for first, last in pairwise(cuts):
                mean = (model(x[first:last]) - y[first:last]).square().mean()
                yield (mean, last - first) if weighted else mean

    sgd = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    history = train(model, losses(), optimizer=sgd, accumulate=parts, watch="nothing")
    return torch.cat([p.detach().flatten() for p in model.parameters()]), history


@pytest.mark.parametrize("parts", [2, 3, 4])
def test_accumulated_parts_of_unequal_weight_are_one_large_batch(parts):
    whole, history = trained_in_parts(1)
    in_parts, other = trained_in_parts(parts)
    torch.testing.assert_close(in_parts, whole, atol=1e-6, rtol=0)
    assert other.losses == pytest.approx(history.losses, abs=1e-6)
    assert other.gradient_norms == pytest.approx(history.gradient_norms, abs=1e-5)
    means, _ = trained_in_parts(parts, weighted=False)  # the mean of means is another gradient
    assert (means - whole).abs().max() > 1e-2


def test_losses_that_are_left_over_make_no_step():
    model = nn.Linear(1, 1)
    losses = (model(torch.ones(1, 1)).square().sum() for _ in range(8))
    assert len(train(model, losses, accumulate=3, watch="nothing").losses) == 2


def test_a_loss_of_no_predictions_counts_nothing_among_others():
    results = []
    for weights in ([2, 0, 1], [2, 1]):
        torch.manual_seed(0)
        model = nn.Linear(1, 1)
        inputs = [
            torch.full((1, 1), float(x)) for x in ([3, 9, 4] if len(weights) == 3 else [3, 4])
        ]
        losses = [
            (model(x).square().sum() * (w > 0), w) for x, w in zip(inputs, weights, strict=True)
        ]
        history = train(model, losses, accumulate=len(weights), watch="nothing")
        results.append([history.losses, [p.tolist() for p in model.parameters()]])
    assert results[0] == results[1]


def test_the_error_names_the_gradient_that_is_not_finite(loop):
    model = nn.Sequential(nn.Linear(1, 2), nn.Linear(2, 1))
    losses = [(model[0].weight.sum() - model[0].weight.sum()).abs().sqrt() + model[1].weight.sum()]
    with pytest.raises(CourseError, match=r"not finite: the gradient of 0\.weight\."):
        loop(model, losses)


def test_parameters_that_an_earlier_step_destroyed_are_said_to_be(loop):
    model = nn.Linear(1, 1, bias=False)
    losses = (model(torch.ones(1, 1)).sum() * 10.0 for _ in range(3))
    sgd = torch.optim.SGD(model.parameters(), lr=3e38)
    with pytest.raises(
        CourseError, match="weight has not been finite since an earlier step"
    ) as error:
        loop(model, losses, optimizer=sgd, clip=None)
    assert "keeps" not in error.value.remedy


@pytest.mark.bad_input
@pytest.mark.parametrize(
    "loss",
    [lambda model: 0.5, lambda model: torch.tensor(1.0), lambda model: model(torch.ones(3, 1))],
)
def test_what_is_no_loss_is_refused(loop, loss):
    model = nn.Linear(1, 1)
    before = model.weight.item()
    with pytest.raises(CourseError, match="not a scalar tensor that depends on a parameter"):
        loop(model, [loss(model)])
    assert model.weight.item() == before


def one_loss(model, count=20):
    return (model(torch.ones(2, 1)).square().mean() for _ in range(count))


def test_losses_of_another_model_are_refused_at_the_first_step(loop):
    older, model = nn.Linear(1, 1), nn.Linear(1, 1)
    before = model.weight.item()
    with pytest.raises(CourseError, match="depends on no parameter that is trained") as error:
        loop(model, one_loss(older), watch="nothing")
    assert "Compute the losses from this model" in error.value.remedy
    assert model.weight.item() == before


def test_an_optimizer_of_another_model_is_refused_before_the_first_loss(loop):
    older, model, read = nn.Linear(1, 1), nn.Linear(1, 1), []
    losses = (read.append(1) or loss for loss in one_loss(model))
    with pytest.raises(CourseError, match="The SGD has no parameter of this Linear"):
        loop(model, losses, optimizer=torch.optim.SGD(older.parameters(), lr=0.1))
    assert read == []


@pytest.mark.parametrize("given", [False, True])
def test_a_schedule_of_another_optimizer_is_refused(loop, given):
    model = nn.Linear(1, 1)
    sgd = torch.optim.SGD(model.parameters(), lr=1.0)
    schedule = torch.optim.lr_scheduler.LinearLR(sgd)
    other = torch.optim.Adam(model.parameters()) if given else None
    with pytest.raises(CourseError, match="The LinearLR belongs to another optimizer") as error:
        loop(model, one_loss(model), optimizer=other, scheduler=schedule)
    assert "optimizer=" in error.value.remedy


@pytest.mark.parametrize("accumulate", [1, 2])
@pytest.mark.parametrize("kind", ["SGD", "Adam"])
def test_where_only_the_head_is_optimized_only_its_gradient_counts(kind, accumulate):
    """The body is not frozen: it gets gradients, which nobody takes away."""
    results = []
    for ours in (True, False):
        torch.manual_seed(0)
        body, head = nn.Linear(3, 5), nn.Linear(5, 1)
        model = nn.Sequential(body, nn.Tanh(), head)
        optimizer = getattr(torch.optim, kind)(head.parameters(), lr=0.1)
        x = torch.randn(40 * accumulate, 4, 3)
        losses = (10 * model(part).square().mean() for part in x)
        norms = []
        if ours:
            settings = {"optimizer": optimizer, "accumulate": accumulate, "watch": "nothing"}
            norms = train(model, losses, **settings).gradient_norms
        else:
            for parts in zip(*[losses] * accumulate, strict=True):
                optimizer.zero_grad()
                (sum(parts) / accumulate).backward()
                norms.append(nn.utils.clip_grad_norm_(head.parameters(), 1.0).item())
                optimizer.step()
        results.append((norms, [p.detach().clone() for p in model.parameters()]))
    (one, ones), (other, others) = results
    assert one == pytest.approx(other, rel=1e-5) and max(one) > 1  # some are clipped
    torch.testing.assert_close(ones, others, rtol=0, atol=1e-6)


@pytest.mark.parametrize("accumulate", [1, 2])
def test_a_step_without_predictions_is_refused_and_not_taken(accumulate):
    model = nn.Linear(1, 1)
    weights = [3.0, 1.0, 0.0, 0.0]

    def losses():
        for weight in weights:
            seen.append(model.weight.item())
            yield model(torch.ones(1, 1)).square().sum() * (weight > 0), weight

    seen = []
    with pytest.raises(CourseError, match=f"Step {2 // accumulate} has no predictions") as error:
        train(model, losses(), accumulate=accumulate, watch="nothing")
    assert "masks" in error.value.remedy
    assert seen[-1] != seen[0] and model.weight.item() == seen[-1]


def test_a_training_of_no_steps_is_refused():
    model = nn.Linear(1, 1)
    losses = one_loss(model, 3)
    assert len(train(model, losses, watch="nothing").losses) == 3
    for nothing, accumulate in ((losses, 1), ([], 1), (one_loss(model, 2), 3)):
        before = model.weight.item()
        with pytest.raises(CourseError, match="no step was taken") as error:
            train(model, nothing, accumulate=accumulate, watch="nothing")
        assert f"at least {accumulate}" in error.value.remedy and model.weight.item() == before
