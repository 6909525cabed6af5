"""The time of a training goes on where it was interrupted."""

from research.pretrain import clock
from research.pretrain.clock import Clocked, Seconds


class Steps:
    config = "three"

    def __init__(self):
        self.at = 0

    def __len__(self):
        return 3

    def __next__(self):
        self.at += 1
        return self.at

    def state_dict(self):
        return {"at": self.at}

    def load_state_dict(self, state):
        self.at = state["at"]


def test_time_is_counted_on_and_what_was_undone_is_not(monkeypatch):
    now = [Seconds(100.0, 10.0)]
    monkeypatch.setattr(clock.Seconds, "now", classmethod(lambda kind: now[0]))
    first = Clocked(Steps())
    assert (next(first), len(first), first.config) == (1, 3, "three")
    now[0] = Seconds(107.0, 12.0)
    state = first.state_dict()
    now[0] = Seconds(150.0, 40.0)  # what comes after the checkpoint is lost with the kill
    second = Clocked(Steps())
    now[0] = Seconds(160.0, 44.0)  # nor is what it takes to begin again
    second.load_state_dict(state)
    assert next(second) == 2
    now[0] = Seconds(163.0, 45.0)
    assert second.spent == Seconds(10.0, 3.0)
