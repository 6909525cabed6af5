"""Every objective computes on a device what it computes on the CPU; and a step of it is taken."""

import pytest
import torch

from lmcourse.training import fit
from tests.device.pretend import NAMES, entered
from tests.training.every_objective import EVERY, made, whole_batch


def means(name: str, device: torch.device) -> tuple[list[float], list[float]]:
    """The terms of a batch's loss, and the losses of two steps."""
    objective, found = made(name)
    model = objective.model.float()
    for part in model.modules():
        if hasattr(part, "teacher"):
            part.teacher.model.float()
    model.to(device)
    batch = whole_batch(objective, found)
    terms = [each.item() for each in objective.means(batch)]
    losses = (sum(objective.means(batch)) for _ in range(2))
    sgd = torch.optim.SGD(model.parameters(), lr=0.01)
    return terms, fit(model, losses, optimizer=sgd, watch="nothing").losses


@pytest.mark.parametrize("where", NAMES)
@pytest.mark.parametrize("name", EVERY)
def test_an_objective_computes_the_same_on_a_device(name, where):
    wanted = means(name, torch.device("cpu"))
    with entered(where) as device:
        found = means(name, device)
    for one, other in zip(found, wanted, strict=True):
        assert one == pytest.approx(other, rel=1e-4)
