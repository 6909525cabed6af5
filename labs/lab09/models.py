"""A target in few passes of a model, and a table of models' accuracies."""

import zlib
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lmcourse.labs.kit import Task, normal

Target = tuple[int, ...]


class _Calls(list[int]):
    def __deepcopy__(self, memo: Any) -> "_Calls":  # each check starts without calls
        return _Calls()


def _next(seed: int, prefix: Target) -> int:
    """What a model predicts after a prefix: one of four tokens."""
    logits = normal(4, seed=(seed, prefix))
    logits[seed % 4] -= 0.8  # the token that ends a target
    return int(logits.argmax())


def _predict(calls: list[int], seed: int, prefix: Sequence[int]) -> list[int]:
    calls.append(len(prefix))
    tokens = tuple(map(int, prefix))
    return [_next(seed, tokens[:n]) for n in range(len(tokens) + 1)]


def _draft(seed: int, prefix: Sequence[int]) -> Target:
    """Up to four tokens; three of four are what the model predicts there."""
    tokens = tuple(map(int, prefix))
    for _ in range((seed + len(prefix)) % 5):
        wrong = normal(1, seed=("draft", seed, tokens)).item() < -0.67
        tokens += ((_next(seed, tokens) + wrong) % 4,)
    return tokens[len(prefix) :]


def generate(
    predict: Callable[[Target], list[int]],
    draft: Callable[[Target], Target],
    longest: int,
    end: int,
) -> list[int]:
    target: Target = ()
    while len(target) < longest and end not in target:
        guess = draft(target)
        predicted = predict((*target, *guess))[len(target) :]
        accepted = 0
        while accepted < len(guess) and guess[accepted] == predicted[accepted]:
            accepted += 1
        for token in predicted[: accepted + 1]:
            if target[-1:] != (end,):
                target = (*target, token)
    return list(target[:longest])


_CASES = ((22, 5), (9, 5), (4, 5), (27, 7), (16, 7), (144, 7))  # seeds, and `longest`

PASSES = Task(
    generate,
    examples=[
        (partial(_predict, _Calls(), seed), partial(_draft, seed), longest, seed % 4)
        for seed, longest in _CASES
    ],
    slips="""
The guess is not verified. Compare it with what the model predicts at the same positions.
    predicted[: accepted + 1] -> (*guess, predicted[-1]) || guess or predicted[:1]
A prediction that follows a wrong guess is used. Its prefix is not that of the target.
    predicted[: accepted + 1] -> predicted
    or
    predicted[: accepted + 1] -> predicted[: len(guess)] or predicted
Tokens are accepted after the first wrong guess, if they agree. Stop at the first that differs.
    while accepted < len(guess) and guess[accepted] == predicted[accepted]: ->
        for accepted in [sum(map(int.__eq__, guess, predicted)) - 1]:
    or
    predicted[: accepted + 1] -> (
        *(g for g, p in zip(guess, predicted) if g == p), predicted[accepted])
The wrong guess is appended. The model's own prediction replaces it.
    predicted[: accepted + 1] -> (*guess, predicted[-1])[: accepted + 1] ||
        guess[: accepted + 1] or predicted[:1]
The target is right, but not all tokens of a pass are used. After the accepted tokens, append the
model's own prediction, also when the whole guess is accepted.
    predicted[: accepted + 1] -> predicted[: accepted or 1] ||
        predicted[: accepted + (accepted < len(guess) or not guess)]
The target is right, but each token costs a pass. One pass can verify the whole guess.
    predicted[: accepted + 1] -> predicted[:1]
    or
    guess = draft(target) -> guess = ()
    or
    predict((*target, *guess))[len(target) :] ->
        [predict((*target, *guess[:n]))[-1] for n in range(len(guess) + 1)]
The predictions are shifted. Entry n, counted from 0, is the prediction after the first n tokens.
    [len(target) :] -> [max(len(target) - 1, 0) :] || [len(target) + (guess != ()) :]
The draft or the model is called without the target so far, or with a part of it.
    draft(target) -> draft(()) || draft(target[-1:]) || draft(target[:-1])
    or
    predict((*target, *guess))[len(target) :] -> predict(guess)
Nothing follows `end`: neither what the same pass predicts after it, nor another pass.
    target[-1:] != (end,) -> True
    or
    and end not in target -> and True
    target[-1:] != (end,) -> True
A target has at most `longest` tokens. A pass may give more: cut them off.
    target[:longest] -> target
    or
    len(target) < longest and -> len(target) <= longest and
    target[:longest] -> target[: longest + 1]
    or
    target[:longest] -> target[: longest - 1]
The target is returned without `end`, or with something else. Return all of its tokens, in order.
    list(target[:longest]) -> [t for t in target[:longest] if t != end] ||
        (list(target[:longest]), len(target)) || list(target[:longest])[::-1] || len(target)
""",
    result=lambda target, predict, *_: (target, len(predict.args[0])),
    names=("Your target", "The number of passes"),
    note="The target is that of greedy decoding, whatever the draft guesses. A good draft saves "
    "passes; a bad one costs no more passes than greedy decoding.",
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
    examples=[
        (partial(_train, _Calls()), partial(_draw, _Calls()), settings, lengths)
        for settings, lengths in ((_SETTINGS, _LENGTHS), (_SETTINGS[::-1], _LENGTHS[::-1]))
    ],
    slips="""
The model is in training mode, at least for some lengths, so dropout is on. Call `model.eval()`.
    model.eval() -> pass
    right[targets != -100] -> right[targets != -100] || right
    or
    .float().mean() -> .float().mean(); model.train()
These are the wrong positions. All positions with a target count, the last as well as the others.
More than the first three have no target, so use `targets != -100`.
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
