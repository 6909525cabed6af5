"""08.6 What a weight is worth, judged with a model whose every behavior is known.

A model of ours is right for a fixed share of the sequences: one share for each mode, and for each
way in which places may be hidden.
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from lmcourse.labs.answer import Answer
from lmcourse.labs.values import Mistake, explain, same, tensor
from lmcourse.labs.verdict import Wrong

_BATCH, _PLACES, _SYMBOLS = 120, 6, 5
# Of the sequences, the share that is right, by what is hidden; training, each is 0.05 lower.
_SHARES = {
    "nothing": 0.9,
    "the most": 0.25,
    "the least": 0.85,
    "both": 0.4,
    "all but the most": 0.6,
    "all but the least": 0.15,
    "another": 0.7,
}


class KnownModel(nn.Module):
    """model(input_ids, visible) → logits [batch, symbol] and weights [batch, place]."""

    def __init__(self) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(0)
        self.weight = nn.Parameter(torch.ones(()))  # so that its logits have a graph
        self.register_buffer("scores", torch.randn(_BATCH, _PLACES, generator=generator))
        self.register_buffer("rank", torch.randperm(_BATCH, generator=generator))

    def forward(self, input_ids: Tensor, visible: Tensor | None = None) -> tuple[Tensor, Tensor]:
        if input_ids.shape != (_BATCH, _PLACES + 1):
            raise ValueError(
                f"The model takes input_ids of shape [{_BATCH}, {_PLACES + 1}], as the check gives "
                f"them; these have {list(input_ids.shape)}."
            )
        seen = _mask(visible)
        scores: Tensor = self.scores  # type: ignore[assignment]
        most, least = scores.argmax(-1), scores.argmin(-1)
        right = torch.zeros(_BATCH, dtype=torch.bool)
        for row in range(_BATCH):
            hidden = set((~seen[row]).nonzero().flatten().tolist())
            share = _SHARES[_kind(hidden, int(most[row]), int(least[row]))]
            right[row] = self.rank[row] < _BATCH * (share - 0.05 * self.training)  # type: ignore
        answers = _answers(input_ids)
        named = torch.where(right, answers, (answers + 1) % _SYMBOLS)
        weights = scores.masked_fill(~seen, -torch.inf).softmax(-1).nan_to_num()
        logits = 2.5 * nn.functional.one_hot(named, _SYMBOLS)
        return self.weight * logits, self.weight * weights


def _mask(visible: Tensor | None) -> Tensor:
    if visible is None:
        return torch.ones(_BATCH, _PLACES, dtype=torch.bool)
    if not isinstance(visible, Tensor) or visible.dtype != torch.bool:
        what = f"a tensor of {visible.dtype}" if isinstance(visible, Tensor) else f"{visible!r}"
        raise ValueError(f"`visible` is {what}: the model takes booleans, True where it may look.")
    if visible.shape != (_BATCH, _PLACES):
        raise ValueError(
            f"`visible` has shape {list(visible.shape)}: one boolean for each sequence and place, "
            f"[{_BATCH}, {_PLACES}], as the weights."
        )
    return visible


def _kind(hidden: set[int], most: int, least: int) -> str:
    everywhere = set(range(_PLACES))
    kinds = {
        "nothing": set(),
        "the most": {most},
        "the least": {least},
        "both": {most, least},
        "all but the most": everywhere - {most},
        "all but the least": everywhere - {least},
    }
    return next((kind for kind, places in kinds.items() if hidden == places), "another")


def _answers(input_ids: Tensor) -> Tensor:
    return input_ids[:, 0] % _SYMBOLS


def judge(answer: Answer) -> str:
    model = KnownModel()
    generator = torch.Generator().manual_seed(1)
    input_ids = torch.randint(_SYMBOLS, (_BATCH, _PLACES + 1), generator=generator)
    value = tensor(answer(model, input_ids, _answers(input_ids)), (3,))
    wanted = _measured(model, "nothing", "the most", "the least")
    if not same(value, wanted):
        explain(value, MISTAKES, model)
        _explain_one_place(value, model, input_ids)
        if bool((value > 1).any()) or bool((value < 0).any()):
            raise Wrong("An accuracy is a share, from 0 to 1; your result has numbers outside.")
        for index, what in enumerate(("everything visible", "the most looked at hidden")):
            if not same(value[index], wanted[index]):
                raise Wrong(
                    f"The first share that differs is that with {what}. Of all sequences, count "
                    "those whose largest logit is the answer."
                )
        raise Wrong(
            "The first two shares are right, the third differs: hide in each sequence its own "
            "place with the smallest weight, and nothing else."
        )
    return (
        "Now ask a trained model. What it can do without a place says what it needs; what it looks "
        "at says only where it looks."
    )


def _explain_one_place(value: Tensor, model: KnownModel, input_ids: Tensor) -> None:
    """Raise Wrong if one place was hidden from all sequences alike."""
    everything = _measured(model, "nothing")[0]
    shares = []
    for place in range(_PLACES):
        seen = torch.ones(_BATCH, _PLACES, dtype=torch.bool)
        seen[:, place] = False
        shares.append(_accuracy(model.eval()(input_ids, seen)[0], input_ids))
    if same(value[0], everything) and all(
        any(same(value[index], share) for share in shares) for index in (1, 2)
    ):
        raise Wrong(
            "One place is hidden from all sequences alike: each sequence looks elsewhere, so take "
            "the largest weight of each row (`argmax(-1)`), and hide it in that row."
        )


def _accuracy(logits: Tensor, input_ids: Tensor) -> Tensor:
    return (logits.argmax(-1) == _answers(input_ids)).double().mean()


def _measured(model: KnownModel, *kinds: str, less: float = 0.0) -> Tensor:
    """The shares for these kinds of hiding; the known ranks make them exact."""
    ranks: Tensor = model.rank  # type: ignore[assignment]
    limits = [_BATCH * (_SHARES[kind] - less) for kind in kinds]
    return torch.stack([(ranks < limit).double().mean() for limit in limits])


def _probability(share: Tensor) -> Tensor:
    """The mean probability of the right symbol, where that share is right."""
    high, low = torch.tensor([2.5, *[0.0] * (_SYMBOLS - 1)], dtype=torch.float64).softmax(0)[:2]
    return share * high + (1 - share) * low


def _known(
    change: Callable[[Tensor], Tensor],
) -> Callable[[KnownModel], Tensor]:
    return lambda model: change(_measured(model, "nothing", "the most", "the least"))


MISTAKES = (
    Mistake(
        "The model is still in training mode (dropout and the like are on): call `model.eval()` "
        "before you measure.",
        lambda model: _measured(model, "nothing", "the most", "the least", less=0.05),
    ),
    Mistake(
        "The second and the third share have changed places: first hide the place with the most "
        "weight, then the one with the least.",
        lambda model: _measured(model, "nothing", "the least", "the most"),
    ),
    Mistake(
        "The mask is turned round: all places but one are hidden. `visible` is True where the "
        "model may look.",
        lambda model: _measured(model, "nothing", "all but the most", "all but the least"),
    ),
    Mistake(
        "The third share has both places hidden: begin with a new mask, in which all is visible.",
        lambda model: _measured(model, "nothing", "the most", "both"),
    ),
    Mistake(
        "The third share is the second again: the smallest weight is looked for after hiding, "
        "when the hidden place has the weight 0. Take both places from the first call's weights.",
        lambda model: _measured(model, "nothing", "the most", "the most"),
    ),
    Mistake(
        "All three shares are those of the model that sees everything: `visible` has to reach the "
        "model's second call, and to be False somewhere.",
        lambda model: _measured(model, "nothing", "nothing", "nothing"),
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
        "These are differences from the first share: return the accuracies themselves.",
        _known(lambda shares: torch.cat([shares[:1], shares[0] - shares[1:]])),
    ),
    Mistake(
        "These are mean probabilities of the answer: an accuracy counts how often its logit is "
        "the largest.",
        _known(_probability),
    ),
)
