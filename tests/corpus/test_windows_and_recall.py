"""Windows of a text, and the recall task."""

import pytest
import torch

from lmcourse.corpus import RecallTask, windows
from lmcourse.errors import CourseError


@pytest.mark.parametrize(("tokens", "batch", "time"), [(101, 4, 5), (57, 1, 7), (33, 8, 4)])
def test_windows_go_on_where_the_last_one_ended(tokens, batch, time):
    ids = torch.arange(tokens)
    pairs = list(windows(ids, batch, time))
    inputs = torch.cat([x for x, _ in pairs], dim=1)
    length = (tokens - 1) // batch
    assert inputs.shape == (batch, length // time * time)
    assert torch.equal(inputs - inputs[:, :1], torch.arange(inputs.shape[1]).expand_as(inputs))
    assert all(torch.equal(y, x + 1) for x, y in pairs)


@pytest.mark.parametrize(("tokens", "batch", "time"), [(20, 4, 5), (1, 1, 1), (9, 10, 1)])
def test_a_text_too_short_for_its_windows_is_refused(tokens, batch, time):
    with pytest.raises(CourseError, match="longer text"):
        list(windows(torch.arange(tokens), batch, time))


@pytest.mark.parametrize("distance", [1, 3, 6])
def test_the_answer_stands_at_the_distance(distance):
    task = RecallTask(symbols=5, length=6)
    ids, answer = task.batch(50, distance, torch.Generator().manual_seed(0))
    assert ids.shape == (50, 7) and torch.equal(answer, ids[:, -1 - distance])
    assert (ids[:, -1] == task.query(distance)).all() and ids[:, :-1].max() < 5


def test_without_a_distance_each_sequence_draws_its_own():
    task = RecallTask(symbols=4, length=5)
    ids, answer = task.batch(200, generator=torch.Generator().manual_seed(0))
    distances = ids[:, -1] - task.symbols + 1
    assert set(distances.tolist()) == {1, 2, 3, 4, 5} and int(ids.max()) < task.vocabulary_size
    assert torch.equal(answer, ids.gather(1, (5 - distances)[:, None])[:, 0])
    assert answer.bincount(minlength=4).min() > 0 and task.chance == 0.25


@pytest.mark.parametrize(("size", "distance"), [(0, 1), (3, 0), (3, 7)])
def test_an_impossible_batch_is_refused(size, distance):
    with pytest.raises(CourseError, match="from 1 to 6"):
        RecallTask(length=6).batch(size, distance)
