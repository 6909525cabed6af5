"""02.1 Perplexity: the inverse probability of a text, normalized by its length."""

import math

import torch
from torch import Tensor

from lmcourse.labs.answer import Answer
from lmcourse.labs.values import Mistake, explain, number, same
from lmcourse.labs.verdict import Wrong

_LONG = 3000  # tokens: the probability of such a text is far below the smallest float


def judge(answer: Answer) -> str:
    probes = [_log_probabilities(time, seed) for seed, time in enumerate((6, 11))]
    values = [_read(answer, probe) for probe in probes]
    if not same(values, [_right(probe) for probe in probes]):
        explain(values, MISTAKES, probes)
        if min(values) < 1:
            raise Wrong("A perplexity below 1 cannot be: the model would be surer than sure.")
        _explain_divisor(values, probes)
        raise Wrong(
            "Not the perplexity of this text. Go from the inside out: average the "
            "log-probabilities, turn the sign, undo the logarithm."
        )
    long = _log_probabilities(_LONG, seed=2)
    try:
        right = same(number(answer(long)), _right(long))
    except Wrong:
        right = False
    if not right:
        raise Wrong(
            f"Right for short texts, but not for {_LONG:,} tokens: the product of that many "
            "probabilities is smaller than the smallest float, so it becomes 0. Stay with "
            "logarithms until the mean is taken."
        )
    return (
        "A blind guess among V tokens has perplexity V: the number counts how many choices are "
        "left."
    )


def _read(answer: Answer, probe: Tensor) -> float:
    try:
        return number(answer(probe))
    except Wrong as wrong:
        if "contains NaN" not in str(wrong):
            raise
        raise Wrong(
            "Your result is NaN: does your function take a logarithm? The argument already holds "
            "logarithms, and these are negative."
        ) from None


def _explain_divisor(values: list[float], probes: list[Tensor]) -> None:
    """Raise Wrong if the sums of two texts of different length were divided by the same number."""
    first, second = (
        -probe.sum().item() / math.log(value) if value > 1 else 0.0
        for value, probe in zip(values, probes, strict=True)
    )
    if first and same(first, second):
        raise Wrong(
            f"The sum is divided by {first:.4g} for every text: divide by the number of its tokens."
        )


def _log_probabilities(time: int, seed: int) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return (0.02 + 0.9 * torch.rand(time, generator=generator, dtype=torch.float64)).log()


def _right(p: Tensor) -> float:
    return math.exp(-p.mean())


# Each takes the log-probabilities of one text.
_OF_ONE_TEXT = (
    Mistake(
        "The sum is where the mean should be: such a number grows with the length of the text. "
        "Divide by N.",
        lambda p: math.exp(-p.sum()),
    ),
    Mistake(
        "The base is 2 where it should be e: these are natural logarithms, so `exp` undoes them.",
        lambda p: 2.0 ** -p.mean().item(),
    ),
    Mistake(
        "The base is 10 where it should be e: these are natural logarithms, so `exp` undoes them.",
        lambda p: 10.0 ** -p.mean().item(),
    ),
    Mistake(
        "The sign is missing: this is the mean probability of a token (below 1), and perplexity is "
        "its inverse.",
        lambda p: math.exp(p.mean()),
    ),
    Mistake(
        "This is the probability of the whole text: it still has to be inverted and normalized by "
        "the length.",
        lambda p: math.exp(p.sum()),
    ),
    Mistake(
        "The mean is taken over probabilities, not over their logarithms: that is an arithmetic "
        "mean, and perplexity needs the geometric one.",
        lambda p: 1 / p.exp().mean(),
    ),
    Mistake(
        "The mean is taken over inverse probabilities: one badly guessed token would rule it. "
        "Average the logarithms first, and exponentiate last.",
        lambda p: (-p).exp().mean(),
    ),
    Mistake(
        "This is the mean negative log-likelihood, in nats. One step is missing: from nats to a "
        "perplexity.",
        lambda p: -p.mean(),
    ),
    Mistake(
        "This is the negative log-likelihood of the whole text: take its mean per token, then "
        "exponentiate.",
        lambda p: -p.sum(),
    ),
    Mistake(
        "This is bits per token: the logarithm is still there, and perplexity is not a logarithm.",
        lambda p: -p.mean() / math.log(2),
    ),
    Mistake(
        "The sum is divided by N − 1, but all N tokens are predicted: divide by N.",
        lambda p: math.exp(-p.sum() / (len(p) - 1)),
    ),
)

# A mistake has to explain all texts, of different lengths, before it is told.
MISTAKES = tuple(
    Mistake(each.hint, lambda texts, compute=each.compute: [compute(text) for text in texts])
    for each in _OF_ONE_TEXT
)
