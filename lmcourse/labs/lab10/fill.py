"""10.5 Several holes: filled one after the other, the surest first."""

from collections.abc import Callable
from itertools import pairwise

import torch
from torch import Tensor

from lmcourse.labs.answer import Answer
from lmcourse.labs.lab10.language import MASK, TIME, Ask, Asked, KnownModel
from lmcourse.labs.lab10.probing import first_wrong
from lmcourse.labs.values import Mistake, same, tensor
from lmcourse.labs.verdict import Wrong

Probe = tuple[KnownModel, Tensor, int]
_STALE = (
    "The model is asked anew, and the words are those of the first answer: take the next word from "
    "the new one."
)
# The seed of a language, its sharpness, and a text with holes: chosen so that every two mistakes
# give different texts somewhere. In the sharp ones the model is sure of several holes at a time.
_PROBES: tuple[tuple[int, float, tuple[int, ...]], ...] = (
    (33, 2.5, (5, 5, 1, 5, 5, 5)),
    (45, 2.5, (5, 5, 5, 5, 5, 5)),
    (86, 2.5, (5, 5, 5, 5, 5, 5)),
    (3, 2.5, (5, 5, 1, 5, 5, 5)),
    (7, 2.5, (5, 0, 5, 5, 5, 3)),
    (86, 8.0, (5, 5, 5, 5, 5, 5)),
)


def judge(answer: Answer) -> str:
    traces: list[Asked] = []
    stale: list[bool] = []

    def call(probe: Probe) -> Tensor:
        traces.append(Asked(probe[0]))
        try:
            value = tensor(answer(traces[-1], *probe[1:]), (TIME,))
        except Wrong:
            if traces[-1].endless:
                raise Wrong(_endless(traces[-1])) from None
            raise
        stale.append(same(value, _at_once(*probe)))
        return value

    probes = [(KnownModel(n, sharp), torch.tensor(text), MASK) for n, sharp, text in _PROBES]
    found = first_wrong(probes, call, _right, MISTAKES)
    seen = _from_one_answer(traces)
    if found is not None:
        trace = next(trace for trace in traces if trace.model is found[0][0])
        raise Wrong(_changed(*found) or seen or (_STALE if all(stale) else _step(trace, found[1])))
    if seen:
        raise Wrong(seen)
    whole = torch.tensor((1, 0, 4, 2, 2, 3))
    if not same(tensor(answer(KnownModel(5, 2.5), whole, MASK), (TIME,)), whole):
        raise Wrong(
            "A text that has no holes comes out changed: ask whether a hole is open *before* you "
            "write."
        )
    return (
        "Each answer takes into account what was written before. It is a greedy search: the "
        "likeliest text of all may begin with a word that was not the surest."
    )


def _endless(trace: Asked) -> str:
    before, last = trace.texts[-2:]
    if before == last:
        return (
            f"The same text is asked for again and again: {_shown(last)}, with holes still open. "
            "Is the place into which you write a hole? The answer has a row for each place, the "
            "visible ones too."
        )
    return (
        f"After {len(trace.texts)} questions holes are still open, at last in {_shown(last)}: each "
        "round should write a word into one of them, and leave it there."
    )


def _changed(probe: Probe, value: Tensor) -> str:
    seen = probe[1] != MASK
    if bool((value[seen] != probe[1][seen]).any()):
        return "Words that are visible come out changed: write into the holes alone."
    return ""


def _from_one_answer(traces: list[Asked]) -> str:
    """Whether several words come of one answer, as the questions show; "" if not."""
    if not any(trace.texts for trace in traces):
        return "The model is never asked: `answer(ids)` gives the probabilities."
    if all(len(trace.texts) == 1 for trace in traces):
        return (
            "The model is asked once, and all words come of this answer, whether you write them "
            "at once or one after the other: ask again after each word, with what is written so "
            "far, and take the next word from the new answer."
        )
    if all(len(trace.steps) == 1 for trace in traces):
        return (
            "The model is asked several times, always for the text as it was at first: pass on "
            "the words that you have written, for the others may depend on them."
        )
    for trace in traces:
        counts = [text.count(MASK) for text in trace.steps] + [0]
        for now, later in pairwise(counts):
            if now - later > 1:
                then = f"then with {later}" if later else "not again"
                return (
                    f"The model is asked with {now} open holes, and {then}: {now - later} words "
                    "come of one answer, each as if the others stayed open. However sure they "
                    "are, write one, and ask again."
                )
    return ""


def _step(trace: Asked, value: Tensor) -> str:
    """The first step that is not the right one, as the questions show."""
    for before, after in pairwise([*trace.steps, value.int().tolist()]):
        p = trace.model(torch.tensor(before))
        holes = torch.tensor(before).eq(MASK).nonzero()[:, 0]
        best = _surest(p, holes)
        right = list(before)
        right[best] = int(p[best].argmax())
        if after != right:
            sure = ", ".join(f"{i}: {p[i].max():.2f}" for i in holes.tolist())
            return (
                f"Asked for {_shown(before)}, the model gives the likeliest word at each hole the "
                f"probability ({sure}), so place {best} is next, with word {right[best]}. In "
                f"yours it goes on with {_shown(after)}."
            )
    return (
        "Another text comes out. After each word that you write, ask the model again, and look at "
        "the holes that are still open."
    )


def _shown(text: list[int]) -> str:
    return "[" + " ".join("·" if each == MASK else str(each) for each in text) + "]"


def _open(ids: Tensor) -> Tensor:
    return ids == MASK


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


def _largest(score: Callable[[Tensor], Tensor]) -> Callable[[Ask, Tensor, int], Tensor]:
    """The hole comes first whose distribution has the largest score."""
    return _one_by_one(lambda p, holes: int(holes[score(p[holes]).argmax()]))


def _surest(p: Tensor, holes: Tensor) -> int:
    return int(holes[p[holes].amax(-1).argmax()])


_right = _one_by_one(_surest)


def _margin(p: Tensor) -> Tensor:
    first, second = p.topk(2, dim=-1).values.unbind(-1)
    return first - second


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


# Each takes (answer, ids, mask_id). Who fills all holes from one answer is told by his questions.
MISTAKES = (
    Mistake("The holes are still there.", lambda ask, ids, mask_id: ids),
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
        _largest(lambda p: -p.amax(-1)),
    ),
    Mistake(
        "The hole comes first whose best word is farthest ahead of the second-best: here the "
        "probability of the best word alone decides.",
        _largest(_margin),
    ),
    Mistake(
        "The hole with the smallest entropy comes first: here the probability of the best word "
        "alone decides.",
        _largest(lambda p: (p * p.log()).sum(-1)),
    ),
    Mistake(
        "The hole with the largest mean of log p comes first, whose words are nearly alike: take "
        "the largest probability of each hole, not a mean over all words.",
        _largest(lambda p: p.log().mean(-1)),
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
