"""The rule by which a claim is judged from its scores over seeds.

For each seed, both sides are trained and measured; their difference d is positive where it agrees
with the claim. With n seeds, mean m and standard deviation s, the 95 % confidence interval by
Student's t distribution is m ± t s / √n, with n − 1 degrees of freedom.

    claimed that the first is ...   the interval is ...                     verdict
    better                          above 0                                 supported
                                    below 0                                 contradicted
                                    around 0, half width within the margin  no effect found
                                    around 0, and wider                     inconclusive
    no worse                        above −margin                           supported
                                    below −margin                           contradicted
                                    around −margin                          inconclusive
    equal                           within ± margin                         supported
                                    outside ± margin                        contradicted
                                    across an end of it                     inconclusive

The margin is the smallest difference of interest; each claim states its own. "No effect found"
means that an effect of that size would have been detected.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isfinite, nan, sqrt
from statistics import mean, stdev
from typing import Literal

from lmcourse.errors import CourseError

LEVEL = 0.95

Verdict = Literal["supported", "no effect found", "contradicted", "inconclusive"]
Claimed = Literal["better", "no worse", "equal"]


@dataclass(frozen=True)
class Difference:
    """The difference of two sides over seeds.

    Attributes:
        values: one per seed; positive where it agrees with the claim.
        mean, spread: over the seeds; the spread is the standard deviation.
        low, high: the confidence interval of the mean.
    """

    values: tuple[float, ...]
    mean: float
    spread: float
    low: float
    high: float

    @property
    def reach(self) -> float:
        """Half the interval's width."""
        return (self.high - self.low) / 2

    def __str__(self) -> str:
        if not isfinite(self.reach):
            return f"{self.mean:+.3f} (one seed)".replace("-", "−")
        return f"{self.mean:+.3f} [{self.low:+.3f}, {self.high:+.3f}]".replace("-", "−")


def difference(values: Sequence[float]) -> Difference:
    """Return the mean of one difference per seed, with its interval."""
    from scipy.stats import t

    if not values or not all(map(isfinite, values)):
        raise CourseError(
            f"The differences over seeds are {list(values)}.", "Give one finite number per seed."
        )
    n, middle = len(values), mean(values)
    if n == 1:
        return Difference(tuple(values), middle, nan, nan, nan)
    spread = stdev(values)
    reach = float(t.ppf((1 + LEVEL) / 2, n - 1)) * spread / sqrt(n)
    return Difference(tuple(values), middle, spread, middle - reach, middle + reach)


def judged(found: Difference, margin: float, claimed: Claimed = "better") -> Verdict:
    """Return the verdict by the rule above."""
    if not isfinite(found.reach):
        return "inconclusive"
    if claimed == "better":
        if found.low <= 0 <= found.high:
            return "no effect found" if found.reach <= margin else "inconclusive"
        return "supported" if found.low > 0 else "contradicted"
    most = margin if claimed == "equal" else inf
    if -margin <= found.low and found.high <= most:
        return "supported"
    return "contradicted" if found.high < -margin or found.low > most else "inconclusive"


def explained(found: Difference, verdict: Verdict, margin: float, claimed: Claimed) -> str:
    """Explain a verdict in one sentence."""
    n, reach = len(found.values), f"{found.reach:.3f}"
    if n == 1:
        return "One seed has no spread: no verdict is possible."
    if verdict == "inconclusive":
        return (
            f"With {n} seeds the difference is known to ± {reach}, and {margin:g} is of interest: "
            "more seeds or longer runs are needed."
        )
    if verdict == "no effect found":
        return f"A difference of {reach} or more would have been detected."
    bound = {"better": "0", "no worse": f"−{margin:g}", "equal": f"±{margin:g}"}[claimed]
    where = "within" if claimed == "equal" else "above"
    if verdict == "contradicted":
        where = "outside" if claimed == "equal" else "below"
    return f"The interval over {n} seeds is {where} {bound}."
