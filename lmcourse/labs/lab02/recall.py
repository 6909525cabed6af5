"""02.6 The recall experiment, judged with models whose behavior is known.

The student's function gets our `train` and `draw` in place of the real ones. A model of ours is
right for a fixed share of the sequences: one share for each setting, distance, time step and mode.
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

_SYMBOLS, _LENGTH, _BATCH = 8, 9, 200
_RANDOM = torch.Generator().manual_seed(0)  # the student's own random state is left alone
_SETTINGS, _DISTANCES = ("small", "large"), (2, 4, 7)
# The largest logit at each step: no whole number, which could pass for a symbol, and not all the
# same, so that no mean over time is a tie.
_LOGITS = 2.5 + 0.01 * torch.arange(_LENGTH + 1)[:, None]


class Batch(NamedTuple):
    input_ids: Tensor  # [batch, time]: symbols, then one query
    targets: Tensor  # [batch]


class KnownModel(nn.Module):
    """Names the right symbol for a known share of a batch, and a wrong one for the rest."""

    def __init__(self, setting: str, distance: int, seen: Batch) -> None:
        super().__init__()
        self.setting, self.distance = setting, distance
        self.weight = nn.Parameter(
            torch.ones(())
        )  # so that its logits have a graph, as real ones do
        self.register_buffer("seen", seen.input_ids)

    def forward(self, input_ids: Tensor) -> Tensor:
        if isinstance(input_ids, tuple):
            raise ValueError("`draw` returns two things, ids and targets; the model takes the ids.")
        if input_ids.shape != (_BATCH, _LENGTH + 1):
            raise ValueError(
                f"The model takes input_ids of shape [{_BATCH}, {_LENGTH + 1}], as `draw` gives "
                f"them; these have {list(input_ids.shape)}."
            )
        asked = int(input_ids[0, -1]) - _SYMBOLS + 1  # the distance that the query asks for
        right = input_ids[:, _LENGTH - asked]
        known = torch.equal(input_ids, self.seen)  # type: ignore[arg-type]
        steps = []
        for step in range(_LENGTH + 1):
            share = 1.0 if known else self._share(asked, step)
            wrong = torch.arange(_BATCH) >= round(share * _BATCH)
            steps.append(torch.where(wrong, (right + 1) % _SYMBOLS, right))
        return self.weight * _LOGITS * nn.functional.one_hot(torch.stack(steps, 1), _SYMBOLS)

    def _share(self, asked: int, step: int) -> float:
        """A number of its own in 0.1 … 0.9 for each circumstance, the same on every machine."""
        what = f"{self.setting} {self.distance} {asked} {step} {self.training}"
        return 0.1 + 0.8 * hashlib.sha256(what.encode()).digest()[0] / 255


def train(setting: str, distance: int) -> tuple[KnownModel, Batch]:
    """Stands in for the lab's: a model in training mode, and the last batch it was trained on."""
    for given, known, what in (
        (setting, _SETTINGS, "settings"),
        (distance, _DISTANCES, "distances"),
    ):
        if given not in known:
            raise ValueError(
                f"The call is train({setting!r}, {distance!r}), and {given!r} is none of the "
                f"{what} {list(known)}: is it an index, or another variable?"
            )
    last = draw(distance)
    return KnownModel(setting, distance, last), last


def draw(distance: int) -> Batch:
    """Stands in for the lab's: a fresh batch at each call."""
    if distance not in _DISTANCES:
        raise ValueError(
            f"The call is draw({distance!r}), and the distances are {list(_DISTANCES)}: is it an "
            "index, or another variable?"
        )
    symbols = torch.randint(_SYMBOLS, (_BATCH, _LENGTH), generator=_RANDOM)
    query = torch.full((_BATCH, 1), _SYMBOLS + distance - 1)
    return Batch(torch.cat([symbols, query], 1), symbols[:, _LENGTH - distance])


def judge(answer: Answer) -> str:
    arguments = (train, draw, list(_SETTINGS), list(_DISTANCES))
    returned = _call(answer, arguments)
    rows, columns = len(_SETTINGS), len(_DISTANCES)
    try:
        value = tensor(returned, (rows, columns))
    except Wrong as wrong:
        if f"[{columns}, {rows}]" in str(wrong):
            raise Wrong(
                "The table is transposed: a row for each setting, a column for each distance."
            ) from None
        if f"shape [1, {columns}]" in str(wrong):
            raise Wrong(
                f"The table has one row, and {rows} settings came in: rows are missing. Does the "
                "function return inside the loop over the settings?"
            ) from None
        raise
    wanted = _table(_accuracy)
    if not same(value, wanted):
        _explain_zeros(returned, value)
        explain(value, MISTAKES)
        factor = multiple(value, wanted)
        if factor is not None:
            raise Wrong(
                f"Every share is {factor:.4g} times what it should be: is there a number in the "
                f"code where the size of the batch belongs? The check's batches have {_BATCH} "
                "sequences."
            )
        again = _call(answer, (train, functools.cache(draw), *arguments[2:]))  # one batch for each
        if same(tensor(again, (rows, columns)), wanted):
            raise Wrong(
                "Ids and targets come from two different batches: each call of `draw` gives a new "
                "one, so call it once and keep both parts."
            )
        if bool((value > 1).any()) or bool((value < 0).any()):
            raise Wrong("An accuracy is a share, from 0 to 1; your table has numbers outside.")
        raise Wrong(
            "With models whose accuracy we know, your table differs. The share is: of the "
            "sequences of a fresh batch, those whose target is the largest logit at the last time "
            "step."
        )
    return (
        "Now run it on the real task. A blind guess is right now and then, too: an accuracy means "
        "something only above that."
    )


def _call(answer: Answer, arguments: tuple[Any, ...]) -> Any:
    try:
        return answer(*arguments)
    except Wrong as wrong:
        if "'tuple' object" in str(wrong):
            raise Wrong(
                f"{wrong}\n`train` returns two things, the model and the last batch that it saw: "
                "take them apart."
            ) from None
        if "must match the size" in str(wrong):
            raise Wrong(
                f"{wrong}\nThe logits are [batch, time, symbols]: the last time step of all "
                "sequences is `[:, -1]`."
            ) from None
        raise


def _explain_zeros(returned: Any, value: Tensor) -> None:
    """No share of ours is zero."""
    zeros = int((value == 0).sum())
    if zeros == value.numel():
        if "int" in str(getattr(returned, "dtype", "")):
            raise Wrong(
                "The table holds whole numbers, which cut every share off to 0: make it a table of "
                "floats."
            )
        raise Wrong(
            "Every accuracy is 0: no prediction equals its target (is it the largest logit, where "
            "its index is asked for?), or `int(...)` cuts the shares off."
        )
    if zeros:
        raise Wrong(
            f"{zeros} of the {value.numel()} entries stay at 0: does the function return inside a "
            "loop, or is an entry written to the wrong place?"
        )


def _accuracy(model: nn.Module, fresh: Batch, last: Batch) -> float:
    model.eval()
    return _share_right(model(fresh.input_ids)[:, -1], fresh.targets)


def _share_right(logits: Tensor, targets: Tensor) -> float:
    return (logits.argmax(-1) == targets).float().mean().item()


def _table(
    measure: Callable[[KnownModel, Batch, Batch], float],
    trained: Callable[[int], int] = lambda distance: distance,
    drawn: Callable[[int], int] = lambda distance: distance,
    settings: Sequence[str] = _SETTINGS,
) -> Tensor:
    """What a function gives that measures in this way, once it is run on our stand-ins."""
    rows = []
    for setting in settings:
        pairs = [
            (train(setting, trained(distance)), draw(drawn(distance))) for distance in _DISTANCES
        ]
        rows.append([measure(model, fresh, last) for (model, last), fresh in pairs])
    return torch.tensor(rows)


def _at_step(step: int) -> Callable[[KnownModel, Batch, Batch], float]:
    return lambda model, fresh, last: _share_right(
        model.eval()(fresh.input_ids)[:, step], fresh.targets
    )


def _everywhere(model: KnownModel, fresh: Batch, last: Batch) -> float:
    return _share_right(model.eval()(fresh.input_ids), fresh.targets[:, None])


def _probability(model: KnownModel, fresh: Batch, last: Batch) -> float:
    probabilities = model.eval()(fresh.input_ids)[:, -1].softmax(-1)
    return probabilities.gather(1, fresh.targets[:, None]).mean().item()


def _loss(model: KnownModel, fresh: Batch, last: Batch) -> float:
    logits = model.eval()(fresh.input_ids)[:, -1]
    return nn.functional.cross_entropy(logits, fresh.targets).item()


MISTAKES = (
    Mistake(
        "The model is still in training mode (dropout and the like are on): call `model.eval()` "
        "before you measure.",
        lambda: _table(
            lambda model, fresh, last: _share_right(model(fresh.input_ids)[:, -1], fresh.targets)
        ),
    ),
    Mistake(
        "Every accuracy is 1: it is measured on the batch that the model was trained on, which "
        "this model has learned by heart. Measure on a fresh batch from `draw`.",
        lambda: _table(lambda model, fresh, last: _accuracy(model, last, last)),
    ),
    Mistake(
        "The prediction is read at the second to last step, before the model has seen the query: "
        "read it at the last step.",
        lambda: _table(_at_step(-2)),
    ),
    Mistake(
        "The prediction is read at the first step: read it at the last.",
        lambda: _table(_at_step(0)),
    ),
    Mistake(
        "The accuracy is averaged over all time steps: only the last one is asked for the "
        "symbol; before it the model has not seen the query.",
        lambda: _table(_everywhere),
    ),
    Mistake(
        "The table holds percentages: an accuracy is a share, from 0 to 1.",
        lambda: 100 * _table(_accuracy),
    ),
    Mistake(
        "The table holds how many answers were right: divide by the number of sequences.",
        lambda: _BATCH * _table(_accuracy),
    ),
    Mistake(
        "The table holds the share of wrong answers.",
        lambda: 1 - _table(_accuracy),
    ),
    Mistake(
        "The table holds the mean probability of the right symbol: an accuracy counts how often "
        "it has the largest logit.",
        lambda: _table(_probability),
    ),
    Mistake("The table holds losses: accuracies are asked for.", lambda: _table(_loss)),
    Mistake(
        "One model serves all distances, the one trained for the first: train one for each "
        "distance.",
        lambda: _table(_accuracy, trained=lambda distance: _DISTANCES[0]),
    ),
    Mistake(
        "One model serves all distances, the one trained for the last: train one for each "
        "distance.",
        lambda: _table(_accuracy, trained=lambda distance: _DISTANCES[-1]),
    ),
    Mistake(
        "The models are trained for each distance, but all are measured at the first: draw the "
        "fresh batch at the distance of the column.",
        lambda: _table(_accuracy, drawn=lambda distance: _DISTANCES[0]),
    ),
    Mistake(
        "The models are trained for each distance, but all are measured at the last: draw the "
        "fresh batch at the distance of the column.",
        lambda: _table(_accuracy, drawn=lambda distance: _DISTANCES[-1]),
    ),
    Mistake(
        "The logits are averaged over time: only the last step has seen the query.",
        lambda: _table(
            lambda model, fresh, last: _share_right(
                model.eval()(fresh.input_ids).mean(1), fresh.targets
            )
        ),
    ),
    Mistake(
        "Both rows hold the first setting: train with the setting of the row.",
        lambda: _table(_accuracy, settings=[_SETTINGS[0]] * len(_SETTINGS)),
    ),
    Mistake(
        "Both rows hold the last setting: is the row stored after the loop over settings, or one "
        "list used for all rows?",
        lambda: _table(_accuracy, settings=[_SETTINGS[-1]] * len(_SETTINGS)),
    ),
)
