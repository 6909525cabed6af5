"""09.1 The schedule of the learning rate (Vaswani et al. 2017, section 5.3, eq. 3)."""

from collections.abc import Callable

from lmcourse.labs.answer import Answer
from lmcourse.labs.values import Mistake, explain, multiple, number, same, tensor
from lmcourse.labs.verdict import Wrong

# step, width, warmup: the first step, the rise, the peak, and the way down.
_PROBES = ((1, 512, 4000), (700, 64, 1000), (300, 256, 300), (5000, 128, 400), (90_000, 512, 4000))


def judge(answer: Answer) -> str:
    value = tensor([_read(answer, probe) for probe in _PROBES], (len(_PROBES),))
    wanted = tensor([_right(*probe) for probe in _PROBES], (len(_PROBES),))
    # One by one: next to the largest of them a small one would count for nothing.
    if not same(value / wanted, wanted / wanted):
        explain(value / wanted, MISTAKES, wanted)
        factor = multiple(value, wanted)
        if factor is not None:
            raise Wrong(f"Every rate is {factor:.4g} times what the equation gives.")
        step, width, warmup = next(
            probe
            for probe, found, right in zip(_PROBES, value, wanted, strict=True)
            if not same(found, right)
        )
        raise Wrong(
            f"At step {step:,}, with width {width} and {warmup:,} steps of warm-up, the rate "
            "differs from the equation's. Compute both arguments of the minimum by hand there."
        )
    return "The two curves meet at s = W: that is the peak, (d W)^(−1/2)."


def _read(answer: Answer, probe: tuple[int, int, int]) -> float:
    try:
        return number(answer(*probe))
    except Wrong as wrong:
        if "ZeroDivisionError" in str(wrong):
            raise Wrong(
                "At the first step your function divides by zero: the paper counts steps from 1, "
                "and so does `step`."
            ) from None
        raise


def _right(step: int, width: int, warmup: int) -> float:
    return float(width**-0.5 * min(step**-0.5, step * warmup**-1.5))


def _mistake(hint: str, rate: Callable[[int, int, int], float]) -> Mistake:
    return Mistake(
        hint, lambda wanted: tensor([rate(*it) for it in _PROBES], (len(_PROBES),)) / wanted
    )


MISTAKES = (
    _mistake(
        "The larger of the two is taken where it should be the smaller: with `max` the rate starts "
        "high, and grows without end.",
        lambda s, d, w: d**-0.5 * max(s**-0.5, s * w**-1.5),
    ),
    _mistake(
        "The width is missing: the factor d^(−1/2) makes wide models learn in smaller steps.",
        lambda s, d, w: min(s**-0.5, s * w**-1.5),
    ),
    _mistake(
        "The factor is d^(1/2) where it should be d^(−1/2): wide models learn in smaller steps.",
        lambda s, d, w: d**0.5 * min(s**-0.5, s * w**-1.5),
    ),
    _mistake(
        "The factor is 1/d where it should be 1/√d.",
        lambda s, d, w: 1 / d * min(s**-0.5, s * w**-1.5),
    ),
    _mistake(
        "The exponent of the warm-up is −1/2 where it should be −3/2, so that the two curves meet "
        "at s = W.",
        lambda s, d, w: d**-0.5 * min(s**-0.5, s * w**-0.5),
    ),
    _mistake(
        "The rise is s / W: that ends at 1, and the way down begins at W^(−1/2). The exponent "
        "of W is −3/2.",
        lambda s, d, w: d**-0.5 * min(s**-0.5, s / w),
    ),
    _mistake(
        "There is no warm-up: the rate falls from the first step on. Take the smaller of the two.",
        lambda s, d, w: d**-0.5 * s**-0.5,
    ),
    _mistake(
        "The rate never falls: only the warm-up is there. Take the smaller of the two.",
        lambda s, d, w: d**-0.5 * s * w**-1.5,
    ),
    _mistake(
        "The steps are counted one too many: `step` begins with 1 already.",
        lambda s, d, w: _right(s + 1, d, w),
    ),
    _mistake(
        "Width and warm-up have changed places.",
        lambda s, d, w: _right(s, w, d),
    ),
)
