"""Mixed precision: losses in 16 bits, parameters in 32; a step that overflows is left out."""

import math

import pytest
import torch
from torch import nn

from lmcourse.devices import device
from lmcourse.errors import CourseError
from lmcourse.training.loop import train
from research.runs import Checkpoints

DEVICE = device()
HERE = ["float32", "bfloat16", *(["float16"] if DEVICE.type == "cuda" else [])]


def network() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))


def losses(model, count, seen=None):
    generator = torch.Generator().manual_seed(1)
    device = next(model.parameters()).device
    for _ in range(count):
        x = torch.randn(8, 4, generator=generator).to(device)
        out = model(x)
        if seen is not None:
            seen.append(out.dtype)
        yield (out[:, 0] - x.sum(1)).square().mean()


def test_bfloat16_computes_in_16_bits_and_keeps_parameters_in_32():
    model, seen = network(), []
    train(model, losses(model, 3, seen), precision="bfloat16", watch="nothing")
    assert seen == [torch.bfloat16] * 3
    assert all(p.dtype == torch.float32 for p in model.parameters())
    assert model(torch.ones(1, 4)).dtype == torch.float32  # and only while it computes losses


def test_bfloat16_is_the_bare_loop_under_autocast_bit_for_bit():
    ours = network()
    history = train(ours, losses(ours, 20), precision="bfloat16", clip=None, watch="nothing")
    bare = network()
    optimizer = torch.optim.Adam(bare.parameters(), lr=2e-3)
    stream = losses(bare, 20)
    for step in range(20):
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = next(stream)
        loss.backward()
        optimizer.step()
        assert loss.item() == history.losses[step]
    assert all(torch.equal(p, q) for p, q in zip(ours.parameters(), bare.parameters(), strict=True))


def scaled_steps(factors, clip=1.0):
    """Train in float16 with these factors on the loss; the weights, the rate, the history."""
    model = nn.Linear(1, 1, bias=False)
    nn.init.ones_(model.weight)
    sgd = torch.optim.SGD(model.parameters(), lr=0.5)
    schedule = torch.optim.lr_scheduler.ExponentialLR(sgd, 0.5)
    weights = []

    def stream():
        for factor in factors:
            weights.append(model.weight.item())
            yield (model(torch.ones(1, 1)).float() * factor).sum()

    parts = {"optimizer": sgd, "scheduler": schedule, "clip": clip, "watch": "nothing"}
    history = train(model, stream(), precision="float16", **parts)
    return [*weights, model.weight.item()], sgd.param_groups[0]["lr"], history


def test_a_step_whose_scaled_gradient_overflows_is_left_out():
    # 65,536 times 2 is beyond float16; half of it is not, when the gradient is 1.
    weights, rate, history = scaled_steps([2.0, 0.5, 0.25])
    assert weights[0] == weights[1]  # the first step was left out …
    assert weights[2] == pytest.approx(weights[1] - 0.5 * 0.5)  # … and the second is unscaled
    assert rate == pytest.approx(0.5 * 0.5**2)  # the schedule counts the steps that were taken
    assert len(history.losses) == 3 and not math.isfinite(history.gradient_norms[0])
    assert history.gradient_norms[1:] == pytest.approx([0.5, 0.25])


def test_a_gradient_that_no_scale_saves_ends_the_run():
    with pytest.raises(CourseError, match="a gradient norm of"):
        scaled_steps([1e30] * 50)


def test_a_loss_that_is_not_finite_ends_the_run_in_float16_too():
    with pytest.raises(CourseError, match="Step 1 has a loss of nan"):
        scaled_steps([0.5, math.nan])


def test_small_gradients_are_kept_by_the_scale():
    """In float16, 1e-8 is 0; times 65,536 it is not."""
    assert torch.tensor(1e-8).half() == 0
    _, _, history = scaled_steps([1e-8])
    assert history.gradient_norms == pytest.approx([1e-8], rel=1e-2)


class Halves:
    """Losses whose gradient, 1.5, overflows at the first scale and not at half of it."""

    def __init__(self, model, count):
        self.model, self.count, self.at = model, count, 0

    def __iter__(self):
        while self.at < self.count:
            self.at += 1
            yield (self.model(torch.ones(1, 1)).float() * 1.5).sum()

    def state_dict(self):
        return {"at": self.at}

    def load_state_dict(self, state):
        self.at = state["at"]


def test_a_run_that_is_taken_up_again_keeps_its_scale(tmp_path):
    found = []
    for counts in ((6,), (3, 6)):  # in one run, or left after three steps
        kept = Checkpoints(tmp_path / str(len(counts)))
        for count in counts:
            model = nn.Linear(1, 1)
            parts = {"precision": "float16", "checkpoints": kept, "watch": "nothing"}
            history = train(model, Halves(model, count), **parts)
        found.append(history.gradient_norms)
    assert found[0] == found[1] and math.isinf(found[0][0])
    assert found[0][1:] == pytest.approx([1.5 * 2**0.5] * 5)  # of weight and bias


@pytest.mark.parametrize("there", ["float32", "float16"])
def test_a_run_goes_on_in_another_precision_where_that_is_meant(tmp_path, there):
    kinds = (there, "float16" if there == "float32" else "float32")
    for count, kind in zip((3, 6), kinds, strict=True):
        torch.manual_seed(0)
        model = nn.Linear(1, 1)
        kept = Checkpoints(tmp_path, changed="loop.precision")
        history = train(
            model, Halves(model, count), precision=kind, checkpoints=kept, watch="nothing"
        )
    assert kept.resumed == 3 and len(history.losses) == 6
    assert history.gradient_norms[-1] == pytest.approx(1.5 * 2**0.5)


@pytest.mark.parametrize("kind", HERE)
def test_this_machine_s_best_device_learns_in_all_that_it_has(kind):
    model = network().to(DEVICE)
    history = train(model, losses(model, 300), precision=kind, learning_rate=1e-2, watch="nothing")
    assert history.losses[-1] < 0.1
    assert all(p.isfinite().all() and p.dtype == torch.float32 for p in model.parameters())
