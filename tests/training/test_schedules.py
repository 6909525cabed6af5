"""Schedules: the papers' formulas, and the `transformers` library's curves."""

import math

import pytest
import torch
import transformers
from torch import nn

from lmcourse.errors import CourseError
from lmcourse.training.schedules import (
    constant,
    cosine,
    inverse_square_root,
    linear,
    scheduled,
)


def rates(make, steps=60, rate=0.3):
    optimizer = torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=rate)
    scheduler, found = make(optimizer), []
    for _ in range(steps):
        found.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step()
    return found


@pytest.mark.parametrize("warmup", [0, 1, 7, 40])
def test_curves_are_those_of_transformers(warmup):
    theirs = transformers.optimization
    pairs = [
        (constant(warmup), lambda o: theirs.get_constant_schedule_with_warmup(o, warmup)),
        (linear(warmup, 50), lambda o: theirs.get_linear_schedule_with_warmup(o, warmup, 50)),
        (cosine(warmup, 50), lambda o: theirs.get_cosine_schedule_with_warmup(o, warmup, 50)),
    ]
    for curve, reference in pairs:
        # (Theirs of the cosine rises again behind its end.)
        ours = rates(lambda optimizer, curve=curve: scheduled(optimizer, curve), 51)
        assert ours == pytest.approx(rates(reference, 51), abs=1e-12)


def test_the_inverse_square_root_is_vaswanis_equation_3():
    curve = inverse_square_root(4000, 512)
    for step in (1, 2, 100, 4000, 4001, 100_000):
        wanted = 512**-0.5 * min(step**-0.5, step * 4000**-1.5)
        assert curve(step - 1) == pytest.approx(wanted)
    ours = rates(lambda optimizer: scheduled(optimizer, inverse_square_root(7)), 30)
    theirs = rates(lambda o: transformers.optimization.get_inverse_sqrt_schedule(o, 7), 31)
    assert ours == pytest.approx(theirs[1:])  # they count from 0, the paper from 1
    plain = inverse_square_root(4000)
    assert plain(3999) == pytest.approx(1) and plain(15_999) == pytest.approx(0.5)
    assert curve(99) / plain(99) == pytest.approx(512**-0.5 * 4000**-0.5)


def test_a_schedule_is_taken_up_again():
    whole = rates(lambda optimizer: scheduled(optimizer, cosine(3, 20)), 20)
    optimizer = torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=0.3)
    scheduler = scheduled(optimizer, cosine(3, 20))
    for _ in range(8):
        optimizer.step(), scheduler.step()
    states = optimizer.state_dict(), scheduler.state_dict()
    optimizer = torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=0.3)
    scheduler = scheduled(optimizer, cosine(3, 20))
    optimizer.load_state_dict(states[0]), scheduler.load_state_dict(states[1])
    found = []
    for _ in range(12):
        found.append(optimizer.param_groups[0]["lr"])
        optimizer.step(), scheduler.step()
    assert found == whole[8:]


def test_curves_are_defined_behind_their_end():
    for curve in (linear(5, 10), cosine(5, 10)):
        assert curve(10) == curve(1000) == pytest.approx(0, abs=1e-12)
        assert math.isclose(curve(5), 1)


def test_what_makes_no_curve_is_refused():
    for make in (lambda: linear(10, 10), lambda: cosine(-1, 5), lambda: constant(-1)):
        with pytest.raises(CourseError, match="There is no schedule with warmup="):
            make()
    with pytest.raises(CourseError, match="inverse square root needs a warm-up, not warmup=0"):
        inverse_square_root(0)
