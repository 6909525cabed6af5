"""10.6 How much context: a hole's loss when all beyond a distance is hidden as well."""

import zlib
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from lmcourse.labs.answer import Answer
from lmcourse.labs.values import Mistake, explain, same, tensor
from lmcourse.labs.verdict import Wrong

_WORDS = 6
_WIDTHS = (0, 1, 3, 20)
_PROBES = ((0, 9, 4), (1, 12, 2), (2, 8, 7))  # seed, tokens, place
Probe = tuple["KnownAnswer", list[str], int, int, tuple[int, ...]]


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


def judge(answer: Answer) -> str:
    for seed, length, place in _PROBES:
        probe = _probe(seed, length, place)
        value = tensor(answer(*probe), (len(_WIDTHS),))
        if same(value, _right(*probe)):
            continue
        explain(value, MISTAKES, *probe)
        bad = int((value - _right(*probe)).abs().gt(1e-5).nonzero()[0])
        raise Wrong(
            f"With the width {_WIDTHS[bad]} it differs. Print the positions that you hide: the "
            "hole, and all that are farther from it than the width, on either side."
        )
    return (
        "Now ask a trained model. What it gains from one width to the next says how far it looks, "
        "and differs by the kind of word."
    )


def _probe(seed: int, length: int, place: int) -> Probe:
    return KnownAnswer(), [f"w{i}" for i in range(length)], place, (seed + 2) % _WORDS, _WIDTHS


def _losses(
    hides: Callable[[int, int, int], bool],
    loss: Callable[[Tensor], Tensor] = lambda p: -p.log(),
    row: Callable[[list[int], int], int] = lambda hidden, place: hidden.index(place),
) -> Callable[..., Tensor]:
    """The losses if ``hides(i, place, width)`` says what is hidden."""

    def of(
        ask: KnownAnswer, tokens: list[str], place: int, target: int, widths: Sequence[int]
    ) -> Tensor:
        found = []
        for width in widths:
            hidden = [i for i in range(len(tokens)) if hides(i, place, width)]
            found.append(loss(ask(tokens, hidden)[row(hidden, place), target]))
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


# Each takes (answer, tokens, place, target, widths).
MISTAKES = (
    Mistake(
        "The row is the first one, not the hole's: the rows stand in the order of the positions "
        "that you hide.",
        _losses(_far, row=lambda hidden, place: 0),
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
