"""10.4 The gradient of the loss: where it pulls, how hard, and where not at all."""

from collections.abc import Callable

import torch
from torch import Tensor

from lmcourse.labs.answer import Answer
from lmcourse.labs.guards import watched_autograd
from lmcourse.labs.lab10.probing import first_wrong
from lmcourse.labs.values import Mistake, multiple, same, tensor
from lmcourse.labs.verdict import Wrong

_IGNORED = -100
Probe = tuple[Tensor, Tensor]


def judge(answer: Answer) -> str:
    found = first_wrong(
        [_probe(0, 2, 5, 4), _probe(1, 3, 4, 7)],
        lambda probe: _called(answer, probe),
        _right,
        MISTAKES,
    )
    if found is not None:
        raise Wrong(_compared(*found))
    logits, labels = _probe(4, 2, 3, 5)
    _judge_large(answer, logits, labels)
    if not _as_it_should(answer, logits, torch.full((2, 3), _IGNORED)):
        raise Wrong("Right where something is asked. In a batch that asks nothing it should be 0.")
    return (
        "What the model says, less what is true, at the places that are asked for. At the others "
        "no target can have any effect: the zero there is exact."
    )


def _called(answer: Answer, probe: Probe) -> Tensor:
    with watched_autograd() as seen:
        value = tensor(answer(*probe), probe[0].shape)
    if seen:
        raise Wrong(
            "Autograd computed it. You know now what has to come out: write the formula, which "
            "needs no `backward`."
        )
    return value


def _compared(probe: Probe, value: Tensor) -> str:
    """What is wrong where no mistake is known."""
    (logits, labels), right = probe, _right(*probe)
    if multiple(value, right) is not None:
        return (
            "The gradient points the right way and has the wrong size: the mean is over the "
            "selected places of the whole batch."
        )
    selected = labels != _IGNORED
    if bool((value[~selected] != 0).any()):
        return "Places with the label −100 pull, too: their gradient is 0."
    bad = (value - right).abs().amax(-1) > 1e-6
    at = tuple((bad if bool(bad.any()) else selected).nonzero()[0].tolist())
    p, yours = ([f"{x:.3f}" for x in each[at].tolist()] for each in (logits.softmax(-1), value))
    return (
        f"At the selected places it differs. At one, the softmax is ({', '.join(p)}) and the label "
        f"{int(labels[at])}, one of {int(selected.sum())} in the batch; you return "
        f"({', '.join(yours)}). What is the derivative of −log softmax(z)_y by z_j there, for "
        "j = y and for j ≠ y?"
    )


def _judge_large(answer: Answer, logits: Tensor, labels: Tensor) -> None:
    """Large logits: all of them alike, as no common shift changes anything, and place by place."""
    for shift in (1000.0, -1000.0):
        if _as_it_should(answer, logits + shift, labels):
            continue
        if _equal_chances(answer, logits + shift, labels):
            raise Wrong(
                f"Right for small logits. Where all are near {shift:g}, yours gives all words the "
                "same probability, whatever lies between their logits. Are logits cut off at some "
                "bound (`clamp`)? Subtract the largest one, which changes nothing."
            )
        raise Wrong(
            f"Right for small logits. With logits near {shift:g} it is not: eˣ is then beyond all "
            "floats, or 0. PyTorch's softmax subtracts the largest logit first, which changes "
            "nothing."
        )
    level = torch.tensor([[1000.0, -1000.0, 0.0], [0.0, 1000.0, -1000.0]], dtype=logits.dtype)
    if not _as_it_should(answer, logits + level[..., None], labels):
        raise Wrong(
            "Right where all logits are near 1000. It is not if those of one place are near 1000, "
            "and those of another near −1000: what is subtracted before eˣ must be the largest "
            "logit of *this* place, not of a whole text or batch."
        )
    if not _as_it_should(answer, 1000 * logits.sign(), labels):
        raise Wrong(
            "Right where the logits of a place are close together. With 1000 and −1000 at one "
            "place it is not: no eˣ is beyond all floats only if the *largest* logit is subtracted."
        )


def _equal_chances(answer: Answer, logits: Tensor, labels: Tensor) -> bool:
    """Whether all words come out equally likely at all selected places."""
    return _as_it_should(answer, logits, labels, torch.zeros_like(logits))


def _as_it_should(answer: Answer, logits: Tensor, labels: Tensor, of: Tensor | None = None) -> bool:
    """Whether the answer is right here, or that of the logits ``of``.

    One that cannot be computed is wrong.
    """
    wanted = _right(logits if of is None else of, labels)
    try:
        return same(tensor(answer(logits, labels), logits.shape), wanted)
    except Wrong as wrong:
        if not any(word in str(wrong) for word in ("NaN", "inf", "ZeroDivision", "Overflow")):
            raise
        return False


def _probe(seed: int, batch: int, time: int, vocab: int) -> Probe:
    generator = torch.Generator().manual_seed(seed)
    logits = 1.5 * torch.randn(batch, time, vocab, generator=generator, dtype=torch.float64)
    labels = torch.randint(0, vocab, (batch, time), generator=generator)
    labels[0, 0] = 0  # a token like any other
    labels[0, 1:] = _IGNORED  # the rows have different numbers of questions
    labels[1, 0] = _IGNORED
    return logits, labels


def _one_hot(logits: Tensor, labels: Tensor) -> Tensor:
    return torch.nn.functional.one_hot(labels.clamp(min=0), logits.shape[-1])


def _difference(logits: Tensor, labels: Tensor) -> Tensor:
    """Softmax less the one-hot label, 0 where nothing is asked."""
    return (logits.softmax(-1) - _one_hot(logits, labels)) * (labels != _IGNORED)[..., None]


def _right(logits: Tensor, labels: Tensor) -> Tensor:
    return _difference(logits, labels) / (labels != _IGNORED).sum().clamp(min=1)


def _scaled(by: Callable[[Tensor, Tensor], Tensor | float]) -> Callable[[Tensor, Tensor], Tensor]:
    return lambda logits, labels: _difference(logits, labels) / by(logits, labels)


def _masked(pull: Tensor, labels: Tensor) -> Tensor:
    """The mean of what pulls at the selected places."""
    selected = labels != _IGNORED
    return pull * selected[..., None] / selected.sum()


def _along(axis: int) -> Callable[[Tensor, Tensor], Tensor]:
    """The softmax along another axis."""
    return lambda logits, labels: _masked(logits.softmax(axis) - _one_hot(logits, labels), labels)


def _text_by_text(labels: Tensor) -> Tensor:
    return (labels != _IGNORED).sum(1)[:, None, None]


def _clamped(logits: Tensor, labels: Tensor) -> Tensor:
    return (logits.softmax(-1) - _one_hot(logits, labels)) / (labels != _IGNORED).sum()


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
        _scaled(lambda logits, labels: _text_by_text(labels)),
    ),
    Mistake(
        "The mean of each text is taken, and then the mean of these: a place in a text that asks "
        "less pulls harder. All selected places of the batch count alike.",
        _scaled(lambda logits, labels: _text_by_text(labels) * len(labels)),
    ),
    Mistake(
        "The sign is turned round: this makes the loss larger where it should fall.",
        lambda logits, labels: -_right(logits, labels),
    ),
    Mistake(
        "The label is missing: this pulls every word down, the right one too.",
        lambda logits, labels: _masked(logits.softmax(-1), labels),
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
        lambda logits, labels: _masked(logits - _one_hot(logits, labels), labels),
    ),
    Mistake(
        "The softmax runs over the places of a text: it runs over the words, the last axis.",
        _along(1),
    ),
    Mistake(
        "The softmax runs over the texts of the batch: it runs over the words, the last axis.",
        _along(0),
    ),
    Mistake(
        "This is p (1 − p), how a probability changes with its own logit: the loss is −log of the "
        "right word's, in which every logit stands.",
        lambda logits, labels: _masked(logits.softmax(-1) * (1 - logits.softmax(-1)), labels),
    ),
    Mistake(
        "There is a factor p (1 − p) too many: with −log p it cancels out.",
        lambda logits, labels: _masked(
            _difference(logits, labels) * logits.softmax(-1) * (1 - logits.softmax(-1)), labels
        ),
    ),
)
