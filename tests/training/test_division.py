"""Loss and gradient of every objective do not depend on how a batch is divided."""

import pytest
import torch

from lmcourse.errors import CourseError
from lmcourse.training import BatchLosses, train
from tests.training.every_objective import EVERY, LENGTHS, NO_LABEL, Parts, made, whole_batch

DIVISIONS = {"one by one": range(1, len(LENGTHS)), "an empty part": [2], "three": [1, 4]}
WITHOUT_IGNORED = {"a number", "several numbers", "binary labels", "binary integers"}


def step(objective, losses, count):
    """Loss and gradient of one step, of so many losses."""
    trained = [p for p in objective.model.parameters() if p.requires_grad]
    before = [p.detach().clone() for p in trained]
    sgd = torch.optim.SGD(trained, lr=1.0)
    settings = {"optimizer": sgd, "clip": None, "watch": "nothing", "accumulate": count}
    (loss,) = train(objective.model, losses, **settings).losses
    return loss, [one - p.detach() for one, p in zip(before, trained, strict=True)]


def close(gradients, others):
    for one, other in zip(gradients, others, strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-9)


@pytest.mark.parametrize("cuts", DIVISIONS.values(), ids=DIVISIONS)
@pytest.mark.parametrize("name", EVERY)
def test_accumulated_parts_are_the_whole_batch(name, cuts):
    objective, found = made(name)
    batch = whole_batch(objective, found)
    trained = [p for p in objective.model.parameters() if p.requires_grad]
    whole = sum(objective.means(batch))
    loss, gradient = whole.item(), torch.autograd.grad(whole, trained)
    losses = Parts(objective, batch, cuts, (0, 1))
    counts = [objective.counts(part) for part in losses.parts]
    means = [sum(objective.means(part)).item() for part in losses.parts]
    in_parts, other = step(objective, losses, len(losses.parts))
    assert in_parts == pytest.approx(loss, abs=1e-9) and loss > 0
    close(other, gradient)
    assert max(each.abs().max() for each in gradient) > 1e-3
    if name not in WITHOUT_IGNORED and "TinyBERT" not in name and "without" not in name:
        assert 0 in counts[0]  # a loss has no label in the first part
    if len(counts) == 3:  # of unequal sizes: the mean of the parts' means is another number
        assert sum(means) / 3 != pytest.approx(loss, abs=1e-4)


@pytest.mark.parametrize("name", EVERY)
def test_batches_that_make_a_step_together_are_one_batch(name):
    """The losses of `BatchLosses`, which knows the numbers of predictions ahead."""

    def losses(objective, found):
        return BatchLosses(objective, found, steps=6, batch_size=3, seed=3)

    objective, found = made(name)
    trained = [p for p in objective.model.parameters() if p.requires_grad]
    wanted = sum(
        sum(mean * count for mean, count in term) / sum(count for _, count in term)
        for term in zip(*losses(objective, found), strict=True)
    )
    gradients = torch.autograd.grad(wanted, trained)
    loss, taken = step(objective, losses(objective, found), 6)
    assert loss == pytest.approx(wanted.item(), abs=1e-9)
    close(taken, gradients)


@pytest.mark.parametrize(
    ("name", "accumulate"), [("classes", 1), ("tags", 2), ("answers", 1), ("GPT", 2)]
)
def test_batches_without_any_label_are_refused(name, accumulate):
    objective, found = made(name)
    rest = [example for at, example in enumerate(found) if at in NO_LABEL]
    losses = BatchLosses(objective, rest, steps=2, batch_size=2)
    with pytest.raises(CourseError, match="Step 0 has no predictions"):
        train(objective.model, losses, watch="nothing", accumulate=accumulate)


def test_an_ignored_pair_is_no_prediction():
    objective, found = made("masked tokens and next sentences")
    batch = whole_batch(objective, found[1:3])
    assert batch["next_sentence_label"].tolist() == [-100, 0]
    assert objective.counts(batch)[1] == 1
