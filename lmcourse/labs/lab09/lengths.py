"""09.6 Accuracy beyond the trained length, judged with models whose accuracy is known.

The student's function gets our `train` and `draw` in place of the real ones. A model of ours is
right at a fixed share of the places: one share for each setting, length and mode.
"""

import functools
import hashlib
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from lmcourse.labs.answer import Answer
from lmcourse.labs.values import Mistake, explain, multiple, same, tensor
from lmcourse.labs.verdict import Wrong

_SYMBOLS, _BACK, _TRAINED, _BATCH = 8, 3, 9, 50
_RANDOM = torch.Generator().manual_seed(0)  # the student's own random state is left alone
_SETTINGS, _LENGTHS = ("plain", "fancy"), (6, 9, 13)
_IGNORED = -100


class Batch(NamedTuple):
    input_ids: Tensor  # [batch, time]
    targets: Tensor  # [batch, time]: the symbol some places back; -100 where there is none


class KnownModel(nn.Module):
    """Names the right symbol at a known share of the places, and a wrong one at the rest."""

    def __init__(self, setting: str, seen: Batch) -> None:
        super().__init__()
        self.setting = setting
        self.weight = nn.Parameter(torch.ones(()))  # so that its logits have a graph
        self.register_buffer("seen", seen.input_ids)

    def forward(self, input_ids: Tensor) -> Tensor:
        if isinstance(input_ids, tuple):
            raise ValueError("`draw` returns two things, ids and targets; the model takes the ids.")
        if input_ids.ndim != 2:
            raise ValueError(
                f"The model takes ids [batch, time]; these have {input_ids.ndim} axes."
            )
        length = input_ids.shape[1]
        known = torch.equal(input_ids, self.seen)  # type: ignore[arg-type]
        right = input_ids.roll(_BACK, 1)  # in front of the first place there is nothing to name
        scattered = torch.Generator().manual_seed(length)
        place = torch.randperm(len(input_ids) * (length - _BACK), generator=scattered)
        place = place.view(len(input_ids), -1)
        share = 1.0 if known else self._share(length)
        wrong = torch.zeros_like(right, dtype=torch.bool)
        wrong[:, _BACK:] = place >= round(share * place.numel())
        said = torch.where(wrong, (right + 1) % _SYMBOLS, right)
        return self.weight * 2.5 * nn.functional.one_hot(said, _SYMBOLS)

    def _share(self, length: int) -> float:
        """A number of its own in 0.1 … 0.9 for each circumstance, the same on every machine."""
        what = f"{self.setting} {length} {self.training}"
        return 0.1 + 0.8 * hashlib.sha256(what.encode()).digest()[0] / 255


def train(setting: str) -> tuple[KnownModel, Batch]:
    """Stands in for the lab's: a model in training mode, and the last batch it was trained on."""
    if setting not in _SETTINGS:
        raise ValueError(
            f"The call is train({setting!r}), and {setting!r} is none of the settings "
            f"{list(_SETTINGS)}: is it an index, or another variable?"
        )
    last = draw(_TRAINED)
    return KnownModel(setting, last), last


def draw(length: int) -> Batch:
    """Stands in for the lab's: a fresh batch at each call."""
    if length not in _LENGTHS:
        raise ValueError(
            f"The call is draw({length!r}), and the lengths are {list(_LENGTHS)}: is it an index, "
            "or another variable?"
        )
    ids = torch.randint(_SYMBOLS, (_BATCH, length), generator=_RANDOM)
    targets = torch.full_like(ids, _IGNORED)
    targets[:, _BACK:] = ids[:, :-_BACK]
    return Batch(ids, targets)


def judge(answer: Answer) -> str:
    calls: list[str] = []

    def counted(setting: str) -> tuple[KnownModel, Batch]:
        calls.append(setting)
        return train(setting)

    arguments = (counted, draw, list(_SETTINGS), list(_LENGTHS))
    value = _read(answer, arguments)
    wanted = _table(_accuracy)
    if not same(value, wanted):
        explain(value, MISTAKES)
        factor = multiple(value, wanted)
        if factor is not None:
            raise Wrong(f"Every share is {factor:.4g} times what it should be.")
        again = _read(answer, (train, functools.cache(draw), *arguments[2:]))
        if same(again, wanted):
            raise Wrong(
                "Ids and targets come from two different batches: each call of `draw` gives a new "
                "one, so call it once and keep both parts."
            )
        raise Wrong(
            "With models whose accuracy we know, your table differs. The share is: of all places "
            "that have a target (not −100), those whose target is the largest logit."
        )
    if len(calls) > len(_SETTINGS):
        raise Wrong(
            f"The numbers are right, but `train` was called {len(calls)} times for "
            f"{len(_SETTINGS)} settings: one model is to be measured at all lengths, so train in "
            "the outer loop."
        )
    return (
        "Now run it on the real task. Chance is one in eight, and a model that does not see order "
        "does better than that."
    )


def _read(answer: Answer, arguments: tuple[Any, ...]) -> Tensor:
    rows, columns = len(_SETTINGS), len(_LENGTHS)
    try:
        return tensor(answer(*arguments), (rows, columns))
    except Wrong as wrong:
        told = str(wrong)
        if "'tuple' object" in told:
            raise Wrong(
                f"{told}\n`train` returns two things, the model and the last batch that it saw: "
                "take them apart."
            ) from None
        if f"[{columns}, {rows}]" in told:
            raise Wrong(
                "The table is transposed: a row for each setting, a column for each length."
            ) from None
        if f"shape [1, {columns}]" in told:
            raise Wrong(
                f"The table has one row, and {rows} settings came in: does the function return "
                "inside the loop over the settings?"
            ) from None
        raise


def _accuracy(model: KnownModel, fresh: Batch, last: Batch) -> float:
    return _share_right(model.eval()(fresh.input_ids), fresh.targets)


def _share_right(logits: Tensor, targets: Tensor) -> float:
    there = targets != _IGNORED
    return (logits.argmax(-1) == targets)[there].float().mean().item()


def _table(
    measure: Callable[[KnownModel, Batch, Batch], float],
    drawn: Callable[[int], int] = lambda length: length,
    settings: Sequence[str] = _SETTINGS,
) -> Tensor:
    """What a function gives that measures in this way, once it is run on our stand-ins."""
    rows = []
    for setting in settings:
        model, last = train(setting)
        rows.append([measure(model, draw(drawn(length)), last) for length in _LENGTHS])
    return torch.tensor(rows)


def _in_training(model: KnownModel, fresh: Batch, last: Batch) -> float:
    return _share_right(model.train()(fresh.input_ids), fresh.targets)


def _all_places(model: KnownModel, fresh: Batch, last: Batch) -> float:
    said = model.eval()(fresh.input_ids).argmax(-1)
    return (said == fresh.targets).float().mean().item()


def _all_places_in_training(model: KnownModel, fresh: Batch, last: Batch) -> float:
    said = model.train()(fresh.input_ids).argmax(-1)
    return (said == fresh.targets).float().mean().item()


def _last_place(model: KnownModel, fresh: Batch, last: Batch) -> float:
    return _share_right(model.eval()(fresh.input_ids)[:, -1:], fresh.targets[:, -1:])


def _whole(model: KnownModel, fresh: Batch, last: Batch) -> float:
    said = model.eval()(fresh.input_ids).argmax(-1)
    fits = (said == fresh.targets) | (fresh.targets == _IGNORED)
    return fits.all(-1).float().mean().item()


def _loss(model: KnownModel, fresh: Batch, last: Batch) -> float:
    logits = model.eval()(fresh.input_ids)
    return nn.functional.cross_entropy(logits.flatten(0, 1), fresh.targets.flatten()).item()


def _probability(model: KnownModel, fresh: Batch, last: Batch) -> float:
    p = model.eval()(fresh.input_ids).softmax(-1)
    there = fresh.targets != _IGNORED
    return p.gather(-1, fresh.targets.clamp(min=0)[..., None])[..., 0][there].mean().item()


def _count(model: KnownModel, fresh: Batch, last: Batch) -> float:
    there = int((fresh.targets != _IGNORED).sum())
    return there * _accuracy(model, fresh, last)


MISTAKES = (
    Mistake(
        "The model is still in training mode (dropout is on): call `model.eval()` before you "
        "measure.",
        lambda: _table(_in_training),
    ),
    Mistake(
        "Places that have no target (−100) are counted, and counted as wrong: leave them out of "
        "the mean.",
        lambda: _table(_all_places),
    ),
    Mistake(
        "Two things at once: places without a target (−100) are counted as wrong, and the model is "
        "still in training mode.",
        lambda: _table(_all_places_in_training),
    ),
    Mistake(
        "Every accuracy is 1: it is measured on the batch that the model was trained on. Draw a "
        "fresh one, of the column's length.",
        lambda: _table(lambda model, fresh, last: _accuracy(model, last, last)),
    ),
    Mistake(
        "Only the last place is looked at: every place that has a target counts.",
        lambda: _table(_last_place),
    ),
    Mistake(
        "The table holds the share of sequences without any mistake: the share of places is asked "
        "for.",
        lambda: _table(_whole),
    ),
    Mistake(
        "The table holds percentages: an accuracy is a share, from 0 to 1.",
        lambda: 100 * _table(_accuracy),
    ),
    Mistake(
        "The table holds how many answers were right: divide by the number of places that have a "
        "target.",
        lambda: _table(_count),
    ),
    Mistake("The table holds the share of wrong answers.", lambda: 1 - _table(_accuracy)),
    Mistake("The table holds losses: accuracies are asked for.", lambda: _table(_loss)),
    Mistake(
        "The table holds the mean probability of the right symbol: an accuracy counts how often it "
        "has the largest logit.",
        lambda: _table(_probability),
    ),
    Mistake(
        "All columns are measured at the first length: draw the fresh batch at that of the column.",
        lambda: _table(_accuracy, drawn=lambda length: _LENGTHS[0]),
    ),
    Mistake(
        "Both rows hold the first setting: train with the setting of the row.",
        lambda: _table(_accuracy, settings=[_SETTINGS[0]] * 2),
    ),
    Mistake(
        "Both rows hold the last setting: is the row stored after the loop over settings, or one "
        "list used for all rows?",
        lambda: _table(_accuracy, settings=[_SETTINGS[-1]] * 2),
    ),
)
