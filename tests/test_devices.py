"""LMCOURSE_DEVICE says where notebooks run; what is not there is named."""

import pytest
import torch

from lmcourse import devices
from lmcourse.errors import CourseError


def test_the_best_device_is_the_default(monkeypatch):
    monkeypatch.delenv("LMCOURSE_DEVICE", raising=False)
    monkeypatch.setattr(devices, "available", lambda: ["mps", "cpu"])
    assert devices.device() == torch.device("mps")


@pytest.mark.parametrize("asked", ["cpu", " CPU "])
def test_a_device_can_be_asked_for(monkeypatch, asked):
    monkeypatch.setenv("LMCOURSE_DEVICE", asked)
    assert devices.device() == torch.device("cpu")


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ("gpu", "LMCOURSE_DEVICE is 'gpu', which is not a device"),
        ("cuda", "'cuda' was requested.*finds only cpu"),
    ],
)
def test_a_device_that_is_not_there_is_named(monkeypatch, asked, words):
    monkeypatch.setenv("LMCOURSE_DEVICE", asked)
    monkeypatch.setattr(devices, "available", lambda: ["cpu"])
    with pytest.raises(CourseError, match=words):
        devices.device()


def test_the_cpu_is_always_available_and_last():
    assert devices.available()[-1] == "cpu"
