"""09.6 Accuracy beyond the trained length, judged with models whose accuracy is known."""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from lmcourse.labs.answer import Answer
from lmcourse.labs.lab09.echoes import (
    BACK,
    IGNORED,
    LENGTHS,
    SETTINGS,
    Batch,
    KnownModel,
    draw,
    train,
)
from lmcourse.labs.values import Mistake, explain, multiple, same, tensor
from lmcourse.labs.verdict import Wrong


def judge(answer: Answer) -> str:
    calls: list[str] = []

    def counted(setting: str) -> tuple[KnownModel, Batch]:
        calls.append(setting)
        return train(setting)

    arguments = (counted, draw, list(SETTINGS), list(LENGTHS))
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
            "that have a target (not −100), those whose target has the largest logit."
        )
    if len(calls) > len(SETTINGS):
        raise Wrong(
            f"The numbers are right, but `train` was called {len(calls)} times for "
            f"{len(SETTINGS)} settings: one model is to be measured at all lengths, so train in "
            "the outer loop."
        )
    return (
        "Now run it on the real task. Chance is one in eight, and a model that does not see order "
        "does better than that."
    )


def _read(answer: Answer, arguments: tuple[Any, ...]) -> Tensor:
    rows, columns = len(SETTINGS), len(LENGTHS)
    try:
        return tensor(answer(*arguments), (rows, columns))
    except Wrong as wrong:
        told = str(wrong)
        if "returns a `dict`" in told:
            raise Wrong(
                "Your function returns a `dict`: return a list of lists, or a tensor, with a row "
                "for each setting."
            ) from None
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
    there = targets != IGNORED
    return (logits.argmax(-1) == targets)[there].float().mean().item()


def _table(
    measure: Callable[[KnownModel, Batch, Batch], float],
    drawn: Callable[[int], int] = lambda length: length,
    settings: Sequence[str] = SETTINGS,
) -> Tensor:
    """What a function gives that measures in this way, once it is run on our stand-ins."""
    rows = []
    for setting in settings:
        model, last = train(setting)
        rows.append([measure(model, draw(drawn(length)), last) for length in LENGTHS])
    return torch.tensor(rows)


def _in_training(model: KnownModel, fresh: Batch, last: Batch) -> float:
    return _share_right(model.train()(fresh.input_ids), fresh.targets)


def _all_places(model: KnownModel, fresh: Batch, last: Batch) -> float:
    said = model.eval()(fresh.input_ids).argmax(-1)
    return (said == fresh.targets).float().mean().item()


def _all_places_in_training(model: KnownModel, fresh: Batch, last: Batch) -> float:
    said = model.train()(fresh.input_ids).argmax(-1)
    return (said == fresh.targets).float().mean().item()


def _from_the_fourth(model: KnownModel, fresh: Batch, last: Batch) -> float:
    said = model.eval()(fresh.input_ids).argmax(-1)
    return (said == fresh.targets)[:, BACK:].float().mean().item()


def _partly_seen(model: KnownModel, fresh: Batch, last: Batch) -> float:
    seen = fresh.input_ids.shape == last.input_ids.shape
    return _accuracy(model, last if seen else fresh, last)


def _trains_on(model: KnownModel, fresh: Batch, last: Batch) -> float:
    first = fresh.input_ids.shape[1] == LENGTHS[0]
    return (_accuracy if first else _in_training)(model, fresh, last)


def _last_place(model: KnownModel, fresh: Batch, last: Batch) -> float:
    return _share_right(model.eval()(fresh.input_ids)[:, -1:], fresh.targets[:, -1:])


def _whole(model: KnownModel, fresh: Batch, last: Batch) -> float:
    said = model.eval()(fresh.input_ids).argmax(-1)
    fits = (said == fresh.targets) | (fresh.targets == IGNORED)
    return fits.all(-1).float().mean().item()


def _loss(model: KnownModel, fresh: Batch, last: Batch) -> float:
    logits = model.eval()(fresh.input_ids)
    return nn.functional.cross_entropy(logits.flatten(0, 1), fresh.targets.flatten()).item()


def _probability(model: KnownModel, fresh: Batch, last: Batch) -> float:
    p = model.eval()(fresh.input_ids).softmax(-1)
    there = fresh.targets != IGNORED
    return p.gather(-1, fresh.targets.clamp(min=0)[..., None])[..., 0][there].mean().item()


def _count(model: KnownModel, fresh: Batch, last: Batch) -> float:
    there = int((fresh.targets != IGNORED).sum())
    return there * _accuracy(model, fresh, last)


MISTAKES = (
    Mistake(
        "In yours the model is still in training mode (dropout is on): call `model.eval()` before "
        "you measure.",
        lambda: _table(_in_training),
    ),
    Mistake(
        "In yours the first column is right, and then the model is in training mode again (dropout "
        "is on): let `model.eval()` hold for all lengths.",
        lambda: _table(_trains_on),
    ),
    Mistake(
        "In yours one column is measured on the batch that the model was trained on, where the "
        "length is the same: draw a fresh one for every length.",
        lambda: _table(_partly_seen),
    ),
    Mistake(
        "In yours the first three places are left out, whatever their targets are: leave out the "
        "places whose target is −100, which may be others.",
        lambda: _table(_from_the_fourth),
    ),
    Mistake(
        "In yours places that have no target (−100) are counted, and counted as wrong: leave them "
        "out of the mean.",
        lambda: _table(_all_places),
    ),
    Mistake(
        "In yours two things at once: places without a target (−100) are counted as wrong, and the "
        "model is still in training mode.",
        lambda: _table(_all_places_in_training),
    ),
    Mistake(
        "In yours every accuracy is 1: it is measured on the batch that the model was trained on. "
        "Draw a fresh one, of the column's length.",
        lambda: _table(lambda model, fresh, last: _accuracy(model, last, last)),
    ),
    Mistake(
        "In yours only the last place is looked at: every place that has a target counts.",
        lambda: _table(_last_place),
    ),
    Mistake(
        "Your table holds the share of sequences without any mistake: the share of places is asked "
        "for.",
        lambda: _table(_whole),
    ),
    Mistake(
        "Your table holds percentages: an accuracy is a share, from 0 to 1.",
        lambda: 100 * _table(_accuracy),
    ),
    Mistake(
        "Your table holds how many answers were right: divide by the number of places that have a "
        "target.",
        lambda: _table(_count),
    ),
    Mistake("Your table holds the share of wrong answers.", lambda: 1 - _table(_accuracy)),
    Mistake("Your table holds losses: accuracies are asked for.", lambda: _table(_loss)),
    Mistake(
        "Your table holds the mean probability of the right symbol: an accuracy counts how often "
        "it has the largest logit.",
        lambda: _table(_probability),
    ),
    Mistake(
        "In yours all columns are measured at the first length: draw the fresh batch at that of "
        "the column.",
        lambda: _table(_accuracy, drawn=lambda length: LENGTHS[0]),
    ),
    Mistake(
        "In yours both rows hold the first setting: train with the setting of the row.",
        lambda: _table(_accuracy, settings=[SETTINGS[0]] * 2),
    ),
    Mistake(
        "In yours both rows hold the last setting: is the row stored after the loop over settings, "
        "or one list used for all rows?",
        lambda: _table(_accuracy, settings=[SETTINGS[-1]] * 2),
    ),
)
