"""09.1 The learning rate, read backward (Vaswani et al. 2017, section 5.3, eq. 3)."""

from collections.abc import Callable

from torch import Tensor

from lmcourse.labs.answer import Answer
from lmcourse.labs.values import Mistake, explain, multiple, same, tensor
from lmcourse.labs.verdict import Wrong

# rate, width, warmup: all below the peak, (width · warmup)^(−1/2); no step is a whole number.
_PROBES = ((3e-4, 512, 4000), (1e-3, 64, 1000), (2.1e-3, 256, 300), (1e-4, 128, 400))
_SHAPE = (len(_PROBES), 2)
Pair = tuple[float, float]


def judge(answer: Answer) -> str:
    value = tensor([_read(answer, probe) for probe in _PROBES], _SHAPE)
    wanted = _all(_right)
    # One by one: next to the largest of them a small one would count for nothing.
    ratio = value / wanted
    if not same(ratio, wanted / wanted):
        explain(ratio, MISTAKES, wanted)
        for place, name in enumerate(("rise", "fall")):
            factor = multiple(value[:, place], wanted[:, place])
            if factor is not None:
                raise Wrong(f"Each step of the {name} is {factor:.4g} times what it should be.")
        raise Wrong(_where(ratio))
    return "For the peak itself the two are one step, W. For every lower rate they lie apart."


def _read(answer: Answer, probe: tuple[float, int, int]) -> Tensor:
    try:
        return tensor(answer(*probe), (2,))
    except Wrong as wrong:
        if "shape []" in str(wrong):
            raise Wrong(
                "Your function returns one number: the rate passes this value twice, so return "
                "two steps."
            ) from None
        raise


def _where(ratio: Tensor) -> str:
    right = [same(ratio[:, place], ratio[:, place] * 0 + 1) for place in (0, 1)]
    if right[0]:
        return (
            "The step on the way up is right, that on the way down is not: solve r = (d s)^(−1/2)."
        )
    if right[1]:
        return (
            "The step on the way down is right, that on the way up is not: there r is a straight "
            "line in s."
        )
    return (
        "Neither step is right yet. Put your two steps into the equation, on paper or in a cell of "
        "your own: both must give the rate that you were asked for."
    )


def _right(rate: float, d: int, w: int) -> Pair:
    return rate * d**0.5 * w**1.5, 1 / (rate**2 * d)


def _all(steps: Callable[[float, int, int], Pair]) -> Tensor:
    return tensor([steps(*probe) for probe in _PROBES], _SHAPE)


def _mistake(hint: str, steps: Callable[[float, int, int], Pair]) -> Mistake:
    return Mistake(hint, lambda wanted: _all(steps) / wanted)


MISTAKES = (
    _mistake(
        "In yours the two have changed places: the step on the way up comes first.",
        lambda r, d, w: _right(r, d, w)[::-1],
    ),
    _mistake(
        "In yours the width is missing: it lowers the rate at every step, so it moves both.",
        lambda r, d, w: _right(r, 1, w),
    ),
    _mistake(
        "In yours the width acts the wrong way round: the factor in the equation is d^(−1/2), and "
        "to the other side it goes as d^(1/2).",
        lambda r, d, w: (r * d**-0.5 * w**1.5, d / r**2),
    ),
    _mistake(
        "In yours the rate is not squared on the way down: from r = (d s)^(−1/2) follows r² = 1 / "
        "(d s).",
        lambda r, d, w: (_right(r, d, w)[0], 1 / (r * d**0.5)),
    ),
    _mistake(
        "In yours the root is taken on the way down, where the square is needed: s^(−1/2) = y "
        "gives s = y^(−2).",
        lambda r, d, w: (_right(r, d, w)[0], (r * d**0.5) ** -0.5),
    ),
    _mistake(
        "In yours W^(−3/2) stays as it is on the way up: on the other side of the equation it "
        "becomes W^(3/2).",
        lambda r, d, w: (r * d**0.5 * w**-1.5, _right(r, d, w)[1]),
    ),
    _mistake(
        "In yours the power of W is 1/2 on the way up; the equation has W^(−3/2).",
        lambda r, d, w: (r * d**0.5 * w**0.5, _right(r, d, w)[1]),
    ),
    _mistake(
        "In yours both are the step on the way up.",
        lambda r, d, w: (_right(r, d, w)[0],) * 2,
    ),
    _mistake(
        "In yours both are the step on the way down.",
        lambda r, d, w: (_right(r, d, w)[1],) * 2,
    ),
    _mistake(
        "In yours the step on the way down is counted from the end of the warm-up, or W is added: "
        "s in s^(−1/2) counts from the first step of all.",
        lambda r, d, w: (_right(r, d, w)[0], w + _right(r, d, w)[1]),
    ),
    _mistake(
        "In yours the rate is taken as a share of the peak: it is the rate itself.",
        lambda r, d, w: (r * w, w / r**2),
    ),
    _mistake(
        "In yours the steps are rounded: return them as they come out, as real numbers.",
        lambda r, d, w: (float(round(_right(r, d, w)[0])), float(round(_right(r, d, w)[1]))),
    ),
)
