"""10.6 How much context: a hole's loss when all beyond a distance is hidden as well."""

import zlib
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from lmcourse.labs.answer import Answer
from lmcourse.labs.lab10.probing import first_wrong
from lmcourse.labs.values import Mistake, tensor
from lmcourse.labs.verdict import Wrong

_WORDS = 6
_WIDTHS = [3, 0, 20, 1]
_PROBES = ((0, 9, 4), (1, 12, 2), (2, 8, 7))  # seed, tokens, place
Probe = tuple["KnownAnswer", list[str], int, int, list[int]]


class KnownAnswer:
    """Distributions that depend on the text, and on what of it is hidden."""

    def __call__(self, tokens: Sequence[str], hidden: Sequence[int]) -> Tensor:
        """One row for each hidden position, in their order: [hidden, word]."""
        places = [int(i) for i in hidden]
        if len(set(places)) != len(places) or not all(0 <= i < len(tokens) for i in places):
            raise ValueError(
                f"`hidden` are different positions from 0 to {len(tokens) - 1}; it is {places}"
            )
        text = " ".join("▁" if i in places else word for i, word in enumerate(tokens))
        generator = torch.Generator().manual_seed(zlib.crc32(text.encode()))
        table = torch.randn(len(tokens), _WORDS, generator=generator, dtype=torch.float64)
        return (2 * table).softmax(-1)[places]


class Asked:
    """An answer that keeps the positions that are hidden, for the judge to look at."""

    def __init__(self, known: KnownAnswer) -> None:
        self.known = known
        self.hidden: list[list[int]] = []

    def __deepcopy__(self, memo: Any) -> "Asked":
        return self  # an answer is called with copies, and the judge reads this one

    def __call__(self, tokens: Sequence[str], hidden: Sequence[int]) -> Tensor:
        self.hidden.append(sorted(int(i) for i in hidden))
        return self.known(tokens, hidden)


def judge(answer: Answer) -> str:
    traces: list[Asked] = []

    def call(probe: Probe) -> Tensor:
        traces.append(Asked(probe[0]))
        return tensor(answer(traces[-1], *probe[1:]), (len(_WIDTHS),))

    found = first_wrong([_probe(*each) for each in _PROBES], call, _right, MISTAKES)
    if found is not None:
        probe, value = found
        trace = next(trace for trace in traces if trace.known is probe[0])
        raise Wrong(_compared(probe, value, trace.hidden))
    return (
        "Now ask a trained model. What it gains from one width to the next says how far it looks, "
        "and differs by the kind of word."
    )


def _compared(probe: Probe, value: Tensor, hidden: list[list[int]]) -> str:
    """Where it differs: in what is hidden, or in what is made of the answer."""
    _, tokens, place, _, widths = probe
    wanted = [[i for i in range(len(tokens)) if _far(i, place, width)] for width in widths]
    if hidden == wanted:
        return (
            "You hide the right positions, and the numbers differ: it is the row, the column, or "
            "what is made of the probability. One row of the answer is the hole's, one column of "
            "it the target's, and the loss −log of this p."
        )
    if len(hidden) == len(wanted):
        k = next(k for k in range(len(wanted)) if hidden[k] != wanted[k])
        return (
            f"Of {len(tokens)} tokens, with the hole at {place} and the width {widths[k]}, you "
            f"hide the positions {hidden[k]}; it should be {wanted[k]}, the hole and all that are "
            "farther from it than the width, on either side."
        )
    bad = int((value - _right(*probe)).abs().gt(1e-5).nonzero()[0])
    return (
        f"With the width {widths[bad]} it differs, and for {len(widths)} widths you ask "
        f"{len(hidden)} time(s). Once for each is enough: hide the hole, and all positions "
        "that are farther from it than the width, on either side."
    )


def _probe(seed: int, length: int, place: int) -> Probe:
    return KnownAnswer(), [f"w{i}" for i in range(length)], place, (seed + 2) % _WORDS, _WIDTHS


def _losses(
    hides: Callable[[int, int, int], bool],
    loss: Callable[[Tensor], Tensor] = lambda p: -p.log(),
    row: Callable[[list[int], int], int] = lambda hidden, place: hidden.index(place),
    of_row: Callable[[Tensor], Tensor] = lambda p: p,
) -> Callable[..., Tensor]:
    """The losses if ``hides(i, place, width)`` says what is hidden.

    Args:
        hides: is asked for each position.
        loss: of the target's probability.
        row: which row is read of the answer.
        of_row: what is made of it before a column is taken.
    """

    def of(
        ask: KnownAnswer, tokens: list[str], place: int, target: int, widths: Sequence[int]
    ) -> Tensor:
        found = []
        for width in widths:
            hidden = [i for i in range(len(tokens)) if hides(i, place, width)]
            p = of_row(ask(tokens, hidden)[row(hidden, place)])
            found.append(loss(p[target]))
        return torch.stack(found)

    return of


def _far(i: int, place: int, width: int) -> bool:
    return i == place or abs(i - place) > width


_right = _losses(_far)


def _cut(
    ask: KnownAnswer, tokens: list[str], place: int, target: int, widths: Sequence[int]
) -> Tensor:
    """The text is cut to the window in place of being hidden outside it."""
    starts = [max(0, place - width) for width in widths]
    found = [
        ask(tokens[start : place + width + 1], [place - start])[0, target]
        for start, width in zip(starts, widths, strict=True)
    ]
    return -torch.stack(found).log()


def _over_rows(of_rows: Callable[[Tensor], Tensor]) -> Callable[..., Tensor]:
    """Something of the target's probabilities at all hidden positions, in place of the hole's."""

    def of(
        ask: KnownAnswer, tokens: list[str], place: int, target: int, widths: Sequence[int]
    ) -> Tensor:
        hidden = [[i for i in range(len(tokens)) if _far(i, place, width)] for width in widths]
        return torch.stack([of_rows(ask(tokens, each)[:, target]) for each in hidden])

    return of


def _with_widths(change: Callable[[Sequence[int]], Sequence[int]]) -> Callable[..., Tensor]:
    """The losses of other widths."""
    return lambda ask, tokens, place, target, widths: _right(
        ask, tokens, place, target, change(widths)
    )


_MEAN = (
    "This is a mean over all hidden positions: the loss is asked for at the hole, which is one of "
    "them."
)

# Each takes (answer, tokens, place, target, widths).
MISTAKES = (
    Mistake(
        "The row is the first one, not the hole's: the rows stand in the order of the positions "
        "that you hide.",
        _losses(_far, row=lambda hidden, place: 0),
    ),
    Mistake(
        "The row is the last one, not the hole's: the rows stand in the order of the positions "
        "that you hide.",
        _losses(_far, row=lambda hidden, place: -1),
    ),
    Mistake(
        "The row is right, and the column is that of the likeliest word: `target` is the number "
        "of the right one.",
        _losses(_far, of_row=lambda p: p.max().expand(len(p))),
    ),
    Mistake(
        "A softmax is taken of what are probabilities already.",
        _losses(_far, of_row=lambda p: p.softmax(-1)),
    ),
    Mistake(_MEAN, _over_rows(lambda p: -p.log().mean())),
    Mistake(_MEAN, _over_rows(lambda p: -p.mean().log())),
    Mistake(
        "The losses of all hidden positions are added up: it is asked for at the hole alone.",
        _over_rows(lambda p: -p.log().sum()),
    ),
    Mistake(
        "This is 1 − p, what the model gives to all wrong words together: the loss is −log p.",
        _losses(_far, lambda p: 1 - p),
    ),
    Mistake(
        "This is −log(1 − p), small where the right word is unlikely: the loss is −log p.",
        _losses(_far, lambda p: -(1 - p).log()),
    ),
    Mistake(
        "The widths are 0, 1, 2, …, whatever `widths` holds: loop over its numbers, not over their "
        "places in the list.",
        _with_widths(lambda widths: range(len(widths))),
    ),
    Mistake(
        "The losses stand in the order of the sorted widths: it should be the order of `widths`.",
        _with_widths(sorted),
    ),
    Mistake(
        "Positions exactly `width` away are hidden, too: they are the last that stay visible.",
        _losses(lambda i, place, width: i == place or abs(i - place) >= width),
    ),
    Mistake(
        "The last visible position on the right is missing: `range(a, b)` ends before b.",
        _losses(lambda i, place, width: i == place or i - place >= width or place - i > width),
    ),
    Mistake(
        "The text is cut to the window: pass all of it, and hide what is outside. A text that ends "
        "there is another one.",
        _cut,
    ),
    Mistake(
        "What stands to the right stays visible at any distance: the window has two sides.",
        _losses(lambda i, place, width: i == place or place - i > width),
    ),
    Mistake(
        "What stands to the left stays visible at any distance: the window has two sides.",
        _losses(lambda i, place, width: i == place or i - place > width),
    ),
    Mistake(
        "Everything to the right is hidden: the window has two sides.",
        _losses(lambda i, place, width: i >= place or place - i > width),
    ),
    Mistake(
        "Everything to the left is hidden: the window has two sides.",
        _losses(lambda i, place, width: i <= place or i - place > width),
    ),
    Mistake(
        "The window is hidden, and what is far away is visible: turn it round.",
        _losses(lambda i, place, width: abs(i - place) <= width),
    ),
    Mistake(
        "Only the hole is hidden, whatever the width.",
        _losses(lambda i, place, width: i == place),
    ),
    Mistake(
        "These are probabilities: the loss is −log p.",
        _losses(_far, lambda p: p),
    ),
    Mistake(
        "These are log-probabilities: the loss has the opposite sign.",
        _losses(_far, torch.log),
    ),
    Mistake(
        "These are bits: nats have the natural logarithm.",
        _losses(_far, lambda p: -p.log2()),
    ),
    Mistake(
        "The width is taken for the whole window: it counts on each side of the hole.",
        _losses(lambda i, place, width: i == place or abs(i - place) > width // 2),
    ),
)
