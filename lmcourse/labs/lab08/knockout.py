"""08.6 What a weight is worth, judged with a model whose every behavior is known.

A model of ours is right for a fixed share of the sequences: one share for each mode, and for each
set of places that is hidden, by their ranks among the weights.
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from lmcourse.labs.answer import Answer
from lmcourse.labs.values import Mistake, explain, same, tensor
from lmcourse.labs.verdict import Wrong

_BATCH, _PLACES, _SYMBOLS, _COUNT = 120, 7, 5, 3
# The share that is right, by how many places are hidden; training, each is 0.05 lower.
_MOST = (0.9, 0.65, 0.4, 0.3, 0.25, 0.2, 0.15, 0.1)  # from the largest weight on
_LEAST = (0.9, 0.85, 0.8, 0.7, 0.6, 0.5, 0.45, 0.1)  # from the smallest on
_ONE = (_MOST[1], 0.55, 0.75, 0.7, 0.8, 0.6, _LEAST[1])  # the place of this rank alone
_BOTH = (_MOST[_COUNT], 0.35, 0.2, 0.15)  # the most looked at, and so many of the least
_ANOTHER = 0.45


def _share(hidden: frozenset[int]) -> float:
    """Of these ranks (0: the largest weight)."""
    count = len(hidden)
    if hidden == frozenset(range(count)):
        return _MOST[count]
    if hidden == frozenset(range(_PLACES - count, _PLACES)):
        return _LEAST[count]
    if count == 1:
        return _ONE[min(hidden)]
    least = count - _COUNT
    both = frozenset([*range(_COUNT), *range(_PLACES - least, _PLACES)])
    return _BOTH[least] if 0 <= least <= _COUNT and hidden == both else _ANOTHER


class KnownModel(nn.Module):
    """model(input_ids, visible) → logits [batch, symbol] and weights [batch, place].

    In training mode it looks elsewhere. With ``shows_all`` the weights that it returns are those
    with everything visible, whatever is hidden.
    """

    def __init__(self, shows_all: bool = False) -> None:
        super().__init__()
        self.shows_all = shows_all
        generator = torch.Generator().manual_seed(0)
        self.weight = nn.Parameter(torch.ones(()))  # so that its logits have a graph
        drawn = torch.randint(_SYMBOLS, (_BATCH, _PLACES + 1), generator=generator)
        self.register_buffer("input_ids", drawn)
        self.register_buffer("scores", torch.randn(_BATCH, _PLACES, generator=generator))
        self.register_buffer("luck", torch.randperm(_BATCH, generator=generator))

    def forward(self, input_ids: Tensor, visible: Tensor | None = None) -> tuple[Tensor, Tensor]:
        rows = self._rows(input_ids)
        seen = _mask(visible, len(rows))
        scores: Tensor = self.scores[rows]  # type: ignore[index]
        luck: list[int] = self.luck[rows].tolist()  # type: ignore[index]
        ranks = scores.argsort(-1, descending=True).argsort(-1)
        shares = [
            _share(frozenset(rank[~looks].tolist()))
            for rank, looks in zip(ranks, seen, strict=True)
        ]
        less = 0.05 * self.training
        right = [
            place < round(_BATCH * (share - less))
            for place, share in zip(luck, shares, strict=True)
        ]
        answers = _answers(input_ids)
        named = torch.where(torch.tensor(right), answers, (answers + 1) % _SYMBOLS)
        shown = scores.roll(1, dims=-1) if self.training else scores
        if not self.shows_all:
            shown = shown.masked_fill(~seen, -torch.inf)
        weights = shown.softmax(-1).nan_to_num()
        logits = 2.5 * nn.functional.one_hot(named, _SYMBOLS)
        return self.weight * logits, self.weight * weights

    def _rows(self, input_ids: Tensor) -> Tensor:
        """Which of its sequences these are: all of them, or some, or one."""
        known: Tensor = self.input_ids  # type: ignore[assignment]
        if input_ids.ndim != 2 or input_ids.shape[1] != _PLACES + 1:
            raise ValueError(
                f"The model takes input_ids of shape [batch, {_PLACES + 1}], as the check gives "
                f"them; these have {list(input_ids.shape)}."
            )
        equal = (input_ids[:, None] == known).all(-1)
        if not bool(equal.any(-1).all()):
            raise ValueError("The model knows the sequences that the check gives, and no others.")
        return equal.int().argmax(-1)


def _mask(visible: Tensor | None, batch: int) -> Tensor:
    if visible is None:
        return torch.ones(batch, _PLACES, dtype=torch.bool)
    if not isinstance(visible, Tensor) or visible.dtype != torch.bool:
        what = f"a tensor of {visible.dtype}" if isinstance(visible, Tensor) else f"{visible!r}"
        raise ValueError(f"`visible` is {what}: the model takes booleans, True where it may look.")
    if visible.shape != (batch, _PLACES):
        raise ValueError(
            f"`visible` has shape {list(visible.shape)}: one boolean for each sequence and place, "
            f"[{batch}, {_PLACES}], as the weights."
        )
    return visible


def _answers(input_ids: Tensor) -> Tensor:
    return input_ids[:, 0] % _SYMBOLS


def judge(answer: Answer) -> str:
    value, wanted = _asked(answer, KnownModel()), _measured()
    if not same(value, wanted):
        explain(value, MISTAKES, KnownModel())
        if _is_right_if_weights_stay(answer):
            raise Wrong(
                "In yours the order of the places is taken anew, from a run in which some are "
                "hidden: there these have the weight 0. Take it once, with everything visible."
            )
        if bool((value > 1).any()) or bool((value < 0).any()):
            raise Wrong("An accuracy is a share, from 0 to 1; your result has numbers outside.")
        row, hidden = ((value - wanted).abs() > 1e-5).nonzero()[0].tolist()
        if hidden == 0:
            raise Wrong(
                "The first accuracy, with everything visible, differs. Of all sequences, count "
                "those whose largest logit is the answer."
            )
        which = ("largest", "smallest")[row]
        places = f"place with the {which} weight"
        if hidden > 1:
            places = f"{hidden} places with the {which} weights"
        raise Wrong(
            f"With everything visible it is right. The first that differs is row {row}, with "
            f"{hidden} hidden: in each sequence, its own {places}, and nothing else."
        )
    return (
        "Now ask a trained model. What it can do without a place says what it needs; what it looks "
        "at says only where it looks."
    )


def _asked(answer: Answer, model: KnownModel) -> Tensor:
    ids: Tensor = model.input_ids  # type: ignore[assignment]
    return tensor(answer(model, ids, _answers(ids), _COUNT), (2, _COUNT + 1))


def _is_right_if_weights_stay(answer: Answer) -> bool:
    try:
        return same(_asked(answer, KnownModel(shows_all=True)), _measured())
    except Wrong:
        return False


def _measured(most: tuple[float, ...] = _MOST, least: tuple[float, ...] = _LEAST) -> Tensor:
    """The two rows of accuracies; the shares are of 120 sequences exactly."""
    shares = [row[: _COUNT + 1] for row in (most, least)]
    return torch.tensor(shares, dtype=torch.float64)


def _looked_at(model: KnownModel, training: bool = False) -> Tensor:
    """The weights with everything visible."""
    return model.train(training)(model.input_ids)[1]


def _run(model: KnownModel, weights: Tensor, training: bool = False) -> Tensor:
    """The two rows for places in the order of these weights, [batch or 1, place]."""
    ids: Tensor = model.input_ids  # type: ignore[assignment]
    model = model.train(training)
    order = weights.argsort(-1, descending=True).expand(_BATCH, -1)
    rows = []
    for places in (order, order.flip(-1)):
        for hidden in range(_COUNT + 1):
            seen = torch.ones(_BATCH, _PLACES, dtype=torch.bool)
            named = model(ids, seen.scatter(-1, places[:, :hidden], False))[0].argmax(-1)
            rows.append((named == _answers(ids)).double().mean())
    return torch.stack(rows).view(2, -1)


def _probability(share: Tensor) -> Tensor:
    """The mean probability of the right symbol, where that share is right."""
    high, low = torch.tensor([2.5, *[0.0] * (_SYMBOLS - 1)], dtype=torch.float64).softmax(0)[:2]
    return share * high + (1 - share) * low


def _known(change: Callable[[Tensor], Tensor]) -> Callable[[KnownModel], Tensor]:
    return lambda model: change(_measured())


MISTAKES = (
    Mistake(
        "The model is still in training mode (dropout and the like are on): call `model.eval()` "
        "before you measure.",
        lambda model: _run(model, _looked_at(model, training=True), training=True),
    ),
    Mistake(
        "In yours the order of the places is taken before `model.eval()`: in training mode dropout "
        "is on, and changes the weights, too.",
        lambda model: _run(model, _looked_at(model, training=True)),
    ),
    Mistake(
        "In yours the two rows have changed places: first the places with the most weight, then "
        "those with the least.",
        lambda model: _measured(_LEAST, _MOST),
    ),
    Mistake(
        "In yours both rows hide the places with the least weight first: the first row begins with "
        "the most (`descending=True`).",
        lambda model: _measured(_LEAST, _LEAST),
    ),
    Mistake(
        "In yours both rows hide the places with the most weight first: the second row begins with "
        "the least.",
        lambda model: _measured(_MOST, _MOST),
    ),
    Mistake(
        "In yours the mask is turned round: only the places that should be hidden are visible. "
        "`visible` is True where the model may look.",
        lambda model: _measured(_LEAST[::-1], _MOST[::-1]),
    ),
    Mistake(
        "In yours one place at a time is hidden: with k hidden, all of the first k are.",
        lambda model: _measured((_MOST[0], *_ONE), (_LEAST[0], *_ONE[::-1])),
    ),
    Mistake(
        "In yours the second row begins with the first row's places still hidden: begin with a new "
        "mask, in which all is visible.",
        lambda model: _measured(_MOST, _BOTH),
    ),
    Mistake(
        "In yours the second row hides the same place again and again: a hidden place has the "
        "weight 0, the smallest. Take the order from the first call's weights.",
        lambda model: _measured(_MOST, (_LEAST[0], *[_LEAST[1]] * _COUNT)),
    ),
    Mistake(
        "All accuracies are those of the model that sees everything: `visible` has to reach the "
        "model, and to be False somewhere.",
        lambda model: _measured(_MOST[:1] * (_COUNT + 1), _LEAST[:1] * (_COUNT + 1)),
    ),
    Mistake(
        "In yours the counting begins at 1 hidden place: the first accuracy is with none hidden.",
        lambda model: _measured(_MOST[1:], _LEAST[1:]),
    ),
    Mistake(
        "In yours the same places are hidden from all sequences alike: each sequence looks "
        "elsewhere, so sort the weights of each row.",
        lambda model: _run(model, _looked_at(model).mean(0, keepdim=True)),
    ),
    Mistake(
        "These are percentages: an accuracy is a share, from 0 to 1.",
        _known(lambda shares: 100 * shares),
    ),
    Mistake(
        "These are counts: divide by the number of sequences.",
        _known(lambda shares: _BATCH * shares),
    ),
    Mistake("These are the shares of wrong answers.", _known(lambda shares: 1 - shares)),
    Mistake(
        "These are differences from the first accuracy: return the accuracies themselves.",
        _known(lambda shares: torch.cat([shares[:, :1], shares[:, :1] - shares[:, 1:]], -1)),
    ),
    Mistake(
        "These are mean probabilities of the answer: an accuracy counts how often its logit is "
        "the largest.",
        _known(_probability),
    ),
)
