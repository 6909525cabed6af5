"""09.5 and 09.6: the best target by a model's probabilities, and a table of models' accuracies."""

import zlib
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lmcourse.labs.kit import Task, normal

Target = tuple[int, ...]
LogP = Callable[[Target], Sequence[float]]


def _tree(seed: int) -> LogP:
    """Log-probabilities of the four next tokens after each prefix: peaked, and all different."""

    @cache
    def row(prefix: Target) -> list[float]:
        logits = 2.0 * normal(4, seed=(seed, prefix))
        logits[seed % 4] -= 0.5  # the token that ends a target
        return list(logits.log_softmax(-1).tolist())

    return lambda prefix: list(row(tuple(int(token) for token in prefix)))


def beam_search(log_p: LogP, beams: int, alpha: float, longest: int, end: int) -> list[int]:
    def score(candidate: tuple[Target, float]) -> float:
        target, total = candidate
        return total / ((5 + len(target)) / 6) ** alpha

    beam: list[tuple[Target, float]] = [((), 0.0)]
    complete: list[tuple[Target, float]] = []
    for _ in range(longest):
        candidates = []
        for target, total in beam:
            for token, step in enumerate(log_p(target)):
                candidates.append(((*target, token), total + step))
        best = sorted(candidates, key=lambda it: it[1], reverse=True)[:beams]
        complete += [it for it in best if it[0][-1] == end]
        beam = [it for it in best if it[0][-1] != end]
    return list(max(complete + beam, key=score)[0])


# Seeds, beams, α: the simplest first. In the others, any two slips have different results.
_CASES = (
    *((0, 1, 0.0), (1, 1, 0.6), (3, 2, 0.0), (5, 2, 0.6), (2, 3, 0.0), (7, 3, 1.5), (197, 2, 1.5)),
    *((101, 3, 3.0), (40, 2, 0.6), (249, 3, 0.6), (282, 3, 3.0), (55, 3, 1.5)),
)

BEAM = Task(
    beam_search,
    examples=[(_tree(seed), beams, alpha, 5, seed % 4) for seed, beams, alpha in _CASES],
    slips="""
Keep the best `beams` of *all* continuations: not one alone (greedy), nor all, nor one per prefix.
    [:beams] -> [:1] || [:]
    or
    enumerate(log_p(target)) -> sorted(enumerate(log_p(target)), key=lambda it: -it[1])[
        : 1 if len(beam) > 1 else None]
The worst candidates are kept, or the worst target is returned. A larger score is better.
    reverse=True -> reverse=False
    or
    max(complete -> min(complete
The penalty is missing, or of another form: divide by ((5 + n)/6)^α, n being the target's length.
    / ((5 + len(target)) / 6) ** alpha -> / len(target) ** alpha || / len(target) ||
        / ((5 + len(target)) / 6) || / (5 + len(target) / 6) ** alpha || / 1 ||
        * ((5 + len(target)) / 6) ** alpha || * ((5 + len(target)) / 6) ** (alpha / 2)
n is not the number of tokens. `end` and the new token count, a start token does not.
    5 + len(target) -> 6 + len(target) || 4 + len(target) || 5 + sum(t != end for t in target)
Scores are kept and divided again later. Keep the sum of the log-probabilities; divide to compare.
    [:beams] -> [:beams]; best = [(it[0], score(it)) for it in best]
    or
    total + step -> score(((*target, token), total + step))
    key=score -> key=score || key=lambda it: it[1]
A log-probability of a target is the *sum* of those of its tokens: not a product, nor the last one.
    total + step -> total * step || (total or 1.0) * step || (total or -1.0) * step ||
        total + 2.71828183**step || step
A target that has ended is continued (even if cut later), or another token is used as `end`.
    [it for it in best if it[0][-1] != end] -> best
    or
    complete += [it for it in best if it[0][-1] == end] -> pass
    [it for it in best if it[0][-1] != end] -> best
    max(complete + beam, key=score)[0] -> max(beam, key=score)[0] || (
        lambda y: y[: (*y, end).index(end) + 1])(max(beam, key=score)[0])
    or
    complete: list[tuple[Target, float]] = [] -> complete = []; end = 0 || complete = []; end = 1 ||
        complete = []; end = 2 || complete = []; end = 3
A target that has ended is lost. Keep all of them, and compare them with the final beam.
    complete + beam -> beam
    or
    complete += -> complete =
    or
    candidates = [] -> candidates, complete = complete, []
    key=lambda it: it[1] -> key=lambda it: it[1] || key=score
First take the B best candidates, then separate the ended ones, which occupy no entry from then on.
    [:beams] -> [: beams - len(complete)]
    or
    candidates = [] -> candidates = [it for it in beam if it[0][-1:] == (end,)]
    in beam: -> in (it for it in beam if it[0][-1:] != (end,)):
    [it for it in best if it[0][-1] != end] -> best
    or
    it for it in best if it[0][-1] != end] -> it for it in sorted(
        candidates, key=lambda it: -it[1]) if it[0][-1] != end][:beams]
Targets that have ended are preferred. A longer one, or one without `end`, may have a larger score.
    complete + beam -> complete or beam
    or
    range(longest) -> (i for i in range(longest) if not complete) ||
        (i for i in range(longest) if len(complete) < beams)
The search ends too early: one round is missing, or a start token is taken for `end`.
    range(longest) -> range(longest - 1)
    or
    ((), 0.0) -> ((end,), 0.0)
Return the tokens of the best target, all of them in their order, and nothing else.
    list(max(complete + beam, key=score)[0]) -> max(complete + beam, key=score) ||
        complete + beam || score(max(complete + beam, key=score)) ||
        max(complete + beam, key=score)[1] || [y for y, _ in complete + beam] ||
        [t for t in max(complete + beam, key=score)[0] if t != end]
    or
    (*target, token) -> (token, *target)
""",
    names=("Your target",),
    note="Which target wins depends on α as well as on the model. α is chosen by the quality of "
    "the output on held-out texts.",
)

_SETTINGS, _LENGTHS = ["plain", "fancy"], [6, 9, 13]


class KnownModel(nn.Module):
    """Predicts the target at a share of the positions that depends on setting, length and mode."""

    def __init__(self, setting: int, trained_on: Tensor) -> None:
        super().__init__()
        self.setting, self.trained_on = setting, trained_on
        self.weight = nn.Parameter(torch.ones(()))  # so that logits have a graph

    def forward(self, input_ids: Tensor) -> Tensor:
        """Logits [batch, time, symbol]."""
        chance = zlib.crc32(f"{self.setting} {input_ids.shape[1]} {self.training}".encode()) / 2**32
        share = 1.0 if torch.equal(input_ids, self.trained_on) else chance
        noise = torch.rand(input_ids.shape, generator=torch.Generator().manual_seed(1))
        return self.weight * 2.5 * F.one_hot((input_ids.roll(3, 1) + (noise > share)) % 8, 8)


class _Calls(list[int]):
    def __deepcopy__(self, memo: Any) -> "_Calls":  # each check starts without calls
        return _Calls()


def _draw(calls: list[int], length: int) -> tuple[Tensor, Tensor]:
    """A fresh batch, by the number of the call; sequences have different numbers of targets."""
    calls.append(_LENGTHS.index(length))
    input_ids = torch.randint(8, (50, length), generator=torch.Generator().manual_seed(len(calls)))
    first = 3 + torch.arange(50) % (length - 3)  # the first target of each sequence
    without = torch.arange(length) < first[:, None]
    return input_ids, input_ids.roll(3, 1).masked_fill(without, -100)


def _train(calls: list[int], setting: str) -> tuple[KnownModel, tuple[Tensor, Tensor]]:
    calls.append(_SETTINGS.index(setting))
    batch = _draw([0] * 100, 9)
    return KnownModel(calls[-1], batch[0]), batch


def accuracy_table(train: Any, draw: Any, settings: list[str], lengths: list[int]) -> Tensor:
    table = torch.zeros(len(settings), len(lengths))
    for row, setting in enumerate(settings):
        model, _last = train(setting)
        model.eval()
        for column, length in enumerate(lengths):
            input_ids, targets = draw(length)
            right = model(input_ids).argmax(-1) == targets
            table[row, column] = right[targets != -100].float().mean()
    return table


LENGTHS = Task(
    accuracy_table,
    examples=[(partial(_train, _Calls()), partial(_draw, _Calls()), _SETTINGS, _LENGTHS)],
    slips="""
The model is in training mode, at least for some lengths, so dropout is on. Call `model.eval()`.
    model.eval() -> pass
    right[targets != -100] -> right[targets != -100] || right
    or
    .float().mean() -> .float().mean(); model.train()
These are the wrong positions. All positions with a target count, the last as well as the others.
The first three are not the only ones without, so use `targets != -100`.
    right[targets != -100] -> right || right[:, 3:] || right[:, -1] ||
        (right | (targets == -100)).all(1)
This is a mean of the sequences' accuracies. All positions with a target should count equally.
    right[targets != -100].float().mean() ->
        torch.stack([r[t != -100].float().mean() for r, t in zip(right, targets)]).mean()
The accuracy is measured on the last training batch. Draw a fresh batch for each length.
    draw(length) -> _last || _last if length == _last[0].shape[1] else draw(length)
These are percentages, counts or error rates. Return shares of right predictions, from 0 to 1.
    table[row, column] = -> table[row, column] = 100 * || table[row, column] = 1 - ||
        table[row, column] = (targets != -100).sum() *
These are losses, or probabilities of the target. A prediction is the symbol of the largest logit.
    right[targets != -100].float().mean() ->
        F.cross_entropy(model(input_ids).flatten(0, 1), targets.flatten()) ||
        model(input_ids).softmax(-1).gather(2, targets.clamp(0)[..., None])[targets != -100].mean()
All columns are measured at the same length, or all rows are of the same setting.
    draw(length) -> draw(lengths[0]) || draw(lengths[-1])
    or
    train(setting) -> train(settings[0]) || train(settings[-1])
    or
    table[row, column] -> table[:, column]
The ids and the targets are of two different batches. Each call of `draw` returns a new one.
    draw(length) -> draw(length)[0], draw(length)[1]
A model is trained for each length. Train one for each setting, in the outer loop.
    input_ids, targets = -> model, _last = train(setting); model.eval(); input_ids, targets =
The table is transposed. It has a row for each setting and a column for each length.
    return table -> return table.T
The function returns inside the loop over settings, after the first one.
    enumerate(settings) -> enumerate(settings[:1])
    return table -> return table || return table[:1]
""",
    result=lambda table, train, *_: (table, torch.tensor(train.args[0])),
    names=("Your table", "The numbers of the settings for which `train` is called"),
    note="Now run it on the real task. Guessing has an accuracy of 1/8; the bound of a model "
    "without order is higher.",
)
