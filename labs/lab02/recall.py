"""The recall experiment, checked by a `Train` and a `Draw` with models of known accuracy."""

import hashlib
from typing import Any

import torch
from torch import Tensor, nn

from lmcourse.labs.kit import Task

_SYMBOLS, _LENGTH, _BATCH = 8, 9, 200
_SETTINGS, _DISTANCES = ["small", "large"], [2, 4, 7]
# The largest logit at each step: not an integer, which could be taken for a symbol, and not all the
# same, so that no mean over time is a tie.
_LOGITS = 2.5 + 0.01 * torch.arange(_LENGTH + 1)[:, None]


class Draw:
    """The lab's `draw`: another batch at each call, the same ones in each check."""

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed

    def __call__(self, distance: int) -> tuple[Tensor, Tensor]:
        _check(f"draw({distance!r})", distance, _DISTANCES)
        self.seed += 1
        generator = torch.Generator().manual_seed(self.seed)
        symbols = torch.randint(_SYMBOLS, (_BATCH, _LENGTH), generator=generator)
        query = torch.full((_BATCH, 1), _SYMBOLS + distance - 1)
        return torch.cat([symbols, query], 1), symbols[:, _LENGTH - distance]


class Train:
    """The lab's `train`: a model in training mode, and the last batch that it was trained on."""

    def __init__(self) -> None:
        self.draw = Draw(10_000)

    def __call__(self, setting: str, distance: int) -> tuple[nn.Module, tuple[Tensor, Tensor]]:
        for given, known in ((setting, _SETTINGS), (distance, _DISTANCES)):
            _check(f"train({setting!r}, {distance!r})", given, known)
        last = self.draw(distance)
        return KnownModel(setting, distance, last), last


class KnownModel(nn.Module):
    """Predicts the right symbol for a known share of a batch, and a wrong one for the rest."""

    def __init__(self, setting: str, distance: int, last: tuple[Tensor, Tensor]) -> None:
        super().__init__()
        self.setting, self.distance, self.last = setting, distance, last[0]
        self.weight = nn.Parameter(torch.ones(()))  # its logits have a graph, as real ones do

    def forward(self, input_ids: Tensor) -> Tensor:
        if input_ids.shape != (_BATCH, _LENGTH + 1):
            raise ValueError(
                f"The model takes input_ids of shape [{_BATCH}, {_LENGTH + 1}], as `draw` returns "
                f"them; these have {list(input_ids.shape)}."
            )
        distance = int(input_ids[0, -1]) - _SYMBOLS + 1  # of the query
        right = input_ids[:, _LENGTH - distance]
        learned = torch.equal(input_ids, self.last)
        steps = []
        for step in range(_LENGTH + 1):
            share = 1.0 if learned else self._share(distance, step)
            wrong = torch.arange(_BATCH) >= round(share * _BATCH)
            steps.append(torch.where(wrong, (right + 1) % _SYMBOLS, right))
        return self.weight * _LOGITS * nn.functional.one_hot(torch.stack(steps, 1), _SYMBOLS)

    def _share(self, distance: int, step: int) -> float:
        """Between 0.1 and 0.9, different for each circumstance, the same on every machine."""
        what = f"{self.setting} {self.distance} {distance} {step} {self.training}"
        return 0.1 + 0.8 * hashlib.sha256(what.encode()).digest()[0] / 255


def _check(call: str, given: object, known: list[Any]) -> None:
    if given not in known:
        raise ValueError(
            f"The call is {call}, and {given!r} is not in {known}. Is it an index, or another "
            "variable?"
        )


def recall_table(train: Any, draw: Any, settings: list[str], distances: list[int]) -> Tensor:
    table = torch.zeros(len(settings), len(distances))
    for row, setting in enumerate(settings):
        for column, distance in enumerate(distances):
            model, last = train(setting, distance)  # noqa: RUF059 - slips use it
            model.eval()
            input_ids, targets = draw(distance)
            predicted = model(input_ids)[:, -1].argmax(-1)
            table[row, column] = (predicted == targets).float().mean()
    return table


RECALL = Task(
    recall_table,
    examples=[
        (Train(), Draw(), _SETTINGS, _DISTANCES),
        (Train(), Draw(), _SETTINGS[::-1], _DISTANCES[::-1]),
    ],
    slips="""
The model is still in training mode, where dropout is active. Call `model.eval()` first.
    model.eval() -> pass
Every accuracy is 1, because it is measured on the last training batch. Use a fresh batch from
`draw`.
    = draw(distance) -> = last
The prediction is from another time step, or from all of them. Only the last step has read the
query.
    [:, -1] -> [:, -2] || [:, 0] || .mean(1) || [:, -distance]
    or
    [:, -1].argmax(-1) -> .argmax(-1)
    == targets -> == targets[:, None]
The table holds percentages, counts, or the share of wrong predictions. Accuracy is the share of
correct ones.
    (predicted == targets).float().mean() -> (predicted == targets).float().mean() * 100 ||
        (predicted == targets).float().sum() || (predicted != targets).float().mean()
The table holds probabilities or losses. Accuracy is the share of sequences in which the target has
the largest logit.
    .argmax(-1) -> .softmax(-1)
    (predicted == targets).float().mean() -> predicted.gather(1, targets[:, None]).mean()
    or
    .argmax(-1) -> .log_softmax(-1)
    (predicted == targets).float().mean() -> nn.functional.nll_loss(predicted, targets)
`argmax` is over the sequences of the batch. The symbols are the last axis of the logits.
    .argmax(-1) -> .argmax(0)
All rows use one setting, or all columns one distance. Use the setting of the row and the distance
of the column.
    train(setting, distance) -> train(setting, distances[0]) || train(setting, distances[-1]) ||
        train(settings[0], distance) || train(settings[-1], distance)
    or
    draw(distance) -> draw(distances[0]) || draw(distances[-1])
Ids and targets are from two batches, since each call of `draw` returns a new one. Call it once.
    = draw(distance) -> = draw(distance)[0], draw(distance)[1]
""",
    note="Now use it on the real task. A random guess is right in one of eight cases.",
)
