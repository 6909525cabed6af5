"""10.4 The gradient of the loss: where it pulls, how hard, and where not at all."""

from collections.abc import Callable

import torch
from torch import Tensor

from lmcourse.labs.answer import Answer
from lmcourse.labs.guards import watched_autograd
from lmcourse.labs.values import Mistake, explain, multiple, same, tensor
from lmcourse.labs.verdict import Wrong

_IGNORED = -100


def judge(answer: Answer) -> str:
    for seed, (batch, time, vocab) in enumerate(((2, 5, 4), (3, 4, 7))):
        probe = _probe(seed, batch, time, vocab)
        with watched_autograd() as seen:
            value = tensor(answer(*probe), probe[0].shape)
        if seen:
            raise Wrong(
                "Autograd computed it. You know now what has to come out: write the formula, "
                "which needs no `backward`."
            )
        if not same(value, _right(*probe)):
            explain(value, MISTAKES, *probe)
            if multiple(value, _right(*probe)) is not None:
                raise Wrong(
                    "The gradient points the right way and has the wrong size: the mean is over "
                    "the selected places of the whole batch."
                )
            if bool((value[probe[1] == _IGNORED] != 0).any()):
                raise Wrong("Places with the label −100 pull, too: their gradient is 0.")
            raise Wrong(
                "At the selected places it differs. For one place, what is the derivative of "
                "−log softmax(z)_y by z_j, for j = y and for j ≠ y?"
            )
    logits, labels = _probe(4, 2, 3, 5)
    if not _as_it_should(answer, 1000 * logits.sign(), labels):
        raise Wrong(
            "Right for small logits. With logits of ±1000 it is not: eˣ is then beyond all "
            "floats. PyTorch's softmax subtracts the largest logit first, which changes nothing."
        )
    if not _as_it_should(answer, logits, torch.full((2, 3), _IGNORED)):
        raise Wrong("Right where something is asked. In a batch that asks nothing it should be 0.")
    return (
        "What the model says, less what is true, at the places that are asked for. At the others "
        "no target can have any effect: the zero there is exact."
    )


def _as_it_should(answer: Answer, logits: Tensor, labels: Tensor) -> bool:
    """Whether the answer is right here; one that cannot be computed is wrong."""
    try:
        return same(tensor(answer(logits, labels), logits.shape), _right(logits, labels))
    except Wrong as wrong:
        if not any(word in str(wrong) for word in ("NaN", "inf", "ZeroDivision", "Overflow")):
            raise
        return False


def _probe(seed: int, batch: int, time: int, vocab: int) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    logits = 1.5 * torch.randn(batch, time, vocab, generator=generator, dtype=torch.float64)
    labels = torch.randint(0, vocab, (batch, time), generator=generator)
    labels[0, 0] = 0  # a token like any other
    labels[0, 1:] = _IGNORED  # the rows have different numbers of questions
    labels[1, 0] = _IGNORED
    return logits, labels


def _difference(logits: Tensor, labels: Tensor) -> Tensor:
    """Softmax less the one-hot label, 0 where nothing is asked."""
    truth = torch.nn.functional.one_hot(labels.clamp(min=0), logits.shape[-1])
    return (logits.softmax(-1) - truth) * (labels != _IGNORED)[..., None]


def _right(logits: Tensor, labels: Tensor) -> Tensor:
    return _difference(logits, labels) / (labels != _IGNORED).sum().clamp(min=1)


def _scaled(by: Callable[[Tensor, Tensor], Tensor | float]) -> Callable[[Tensor, Tensor], Tensor]:
    return lambda logits, labels: _difference(logits, labels) / by(logits, labels)


def _clamped(logits: Tensor, labels: Tensor) -> Tensor:
    truth = torch.nn.functional.one_hot(labels.clamp(min=0), logits.shape[-1])
    return (logits.softmax(-1) - truth) / (labels != _IGNORED).sum()


# Each takes (logits, labels).
MISTAKES = (
    Mistake(
        "This is the gradient of the *sum* over the selected places: the loss is their mean.",
        _scaled(lambda logits, labels: 1.0),
    ),
    Mistake(
        "Divided by the number of all places: the mean is over the selected ones.",
        _scaled(lambda logits, labels: labels.numel()),
    ),
    Mistake(
        "Each text is averaged by itself: the mean is over the selected places of the whole batch.",
        _scaled(lambda logits, labels: (labels != _IGNORED).sum(1)[:, None, None]),
    ),
    Mistake(
        "The sign is turned round: this makes the loss larger where it should fall.",
        lambda logits, labels: -_right(logits, labels),
    ),
    Mistake(
        "The label is missing: this pulls every word down, the right one too.",
        lambda logits, labels: (
            logits.softmax(-1) * (labels != _IGNORED)[..., None] / (labels != _IGNORED).sum()
        ),
    ),
    Mistake(
        "The places with the label −100 are taken for places with the label 0.",
        _clamped,
    ),
    Mistake(
        "The token with the number 0 is taken for no question: only −100 means that.",
        lambda logits, labels: _right(logits, labels.masked_fill(labels == 0, _IGNORED)),
    ),
    Mistake(
        "Divided by the size of the vocabulary as well: the softmax has taken care of that.",
        lambda logits, labels: _right(logits, labels) / logits.shape[-1],
    ),
    Mistake(
        "The logits stand where their softmax should.",
        lambda logits, labels: (
            _right(logits, labels)
            + (logits - logits.softmax(-1))
            * (labels != _IGNORED)[..., None]
            / (labels != _IGNORED).sum()
        ),
    ),
)
