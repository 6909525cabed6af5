"""10.5 Several holes: filled one after the other, the surest first."""

from collections.abc import Callable

import torch
from torch import Tensor

from lmcourse.labs.answer import Answer
from lmcourse.labs.values import Mistake, explain, same, tensor
from lmcourse.labs.verdict import Wrong

_TIME, _VOCAB = 6, 5
_MASK = _VOCAB
Ask = Callable[[Tensor], Tensor]
# The seed of a language, and a text with holes: chosen so that every mistake gives another text.
_PROBES: tuple[tuple[int, tuple[int, ...]], ...] = (
    (33, (5, 5, 1, 5, 5, 5)),
    (45, (5, 5, 5, 5, 5, 5)),
    (86, (5, 5, 5, 5, 5, 5)),
    (3, (5, 5, 1, 5, 5, 5)),
    (7, (5, 0, 5, 5, 5, 3)),
)


class KnownModel:
    """The exact masked answers of a small language of 5⁶ texts, each with a random probability."""

    def __init__(self, seed: int) -> None:
        generator = torch.Generator().manual_seed(seed)
        noise = torch.randn((_VOCAB,) * _TIME, generator=generator, dtype=torch.float64)
        self.joint = (2.5 * noise).flatten().softmax(0).view(noise.shape)
        self.asked = 0

    def __call__(self, input_ids: Tensor) -> Tensor:
        """Of each place the distribution of its word, given the words that are visible: [6, 5]."""
        self.asked += 1
        ids = input_ids.tolist()
        if len(ids) != _TIME or not all(0 <= i <= _MASK for i in ids):
            raise ValueError(f"the model reads {_TIME} ids from 0 to {_MASK}, and was given {ids}")
        rows = []
        for place in range(_TIME):
            p = self.joint
            for other in reversed(range(_TIME)):
                if other != place:
                    seen = ids[other]
                    p = p.sum(other) if seen == _MASK else p.select(other, seen)
            rows.append(p / p.sum())
        return torch.stack(rows)


def judge(answer: Answer) -> str:
    for seed, text in _PROBES:
        probe = KnownModel(seed), torch.tensor(text), _MASK
        value = tensor(answer(*probe), (_TIME,))
        if same(value, _right(*probe)):
            continue
        explain(value, MISTAKES, *probe)
        if bool((value[probe[1] != _MASK] != probe[1][probe[1] != _MASK]).any()):
            raise Wrong("Words that are visible come out changed: write into the holes alone.")
        raise Wrong(
            "Another text comes out. After each word that you write, ask the model again, and look "
            "at the holes that are still open."
        )
    whole = torch.tensor((1, 0, 4, 2, 2, 3))
    if not same(tensor(answer(KnownModel(5), whole, _MASK), (_TIME,)), whole):
        raise Wrong(
            "A text that has no holes comes out changed: ask whether a hole is open *before* you "
            "write."
        )
    return (
        "Each answer takes into account what was written before. It is a greedy search: the "
        "likeliest text of all may begin with a word that was not the surest."
    )


def _open(ids: Tensor) -> Tensor:
    return ids == _MASK


def _one_by_one(choose: Callable[[Tensor, Tensor], int]) -> Callable[[Ask, Tensor, int], Tensor]:
    """Fill the holes; ``choose(p, holes)`` says which is next."""

    def fill(ask: Ask, ids: Tensor, mask_id: int) -> Tensor:
        ids = ids.clone()
        while bool(_open(ids).any()):
            p = ask(ids)
            place = choose(p, _open(ids).nonzero()[:, 0])
            ids[place] = p[place].argmax()
        return ids

    return fill


def _surest(p: Tensor, holes: Tensor) -> int:
    return int(holes[p[holes].amax(-1).argmax()])


_right = _one_by_one(_surest)


def _at_once(ask: Ask, ids: Tensor, mask_id: int) -> Tensor:
    return torch.where(_open(ids), ask(ids).argmax(-1), ids)


def _asks_twice(ask: Ask, ids: Tensor, mask_id: int) -> Tensor:
    ids, p = ids.clone(), ask(ids)
    place = _surest(p, _open(ids).nonzero()[:, 0])
    ids[place] = p[place].argmax()
    return _at_once(ask, ids, mask_id)


def _first_order(ask: Ask, ids: Tensor, mask_id: int) -> Tensor:
    """The order is that of the first answers; the words are asked for anew."""
    ids, p = ids.clone(), ask(ids)
    holes = _open(ids).nonzero()[:, 0]
    for place in holes[p[holes].amax(-1).argsort(descending=True)]:
        ids[place] = ask(ids)[place].argmax()
    return ids


# Each takes (answer, ids, mask_id).
MISTAKES = (
    Mistake("The holes are still there.", lambda ask, ids, mask_id: ids),
    Mistake(
        "All holes are filled at once, each as if the others stayed open: the words need not go "
        "together.",
        _at_once,
    ),
    Mistake(
        "The holes are filled from the left: take the surest first.",
        _one_by_one(lambda p, holes: int(holes[0])),
    ),
    Mistake(
        "The holes are filled from the right: take the surest first.",
        _one_by_one(lambda p, holes: int(holes[-1])),
    ),
    Mistake(
        "The hole whose best word is the *least* likely comes first: take the most likely.",
        _one_by_one(lambda p, holes: int(holes[p[holes].amax(-1).argmin()])),
    ),
    Mistake(
        "After the first word all others are filled at once: ask again after *each* word.",
        _asks_twice,
    ),
    Mistake(
        "The order is settled by the first answers: after each word, look anew which hole is the "
        "surest.",
        _first_order,
    ),
)
