"""The rule by which a claim is judged: what an interval says, and what it does not.

The units are seeds. Of each seed, both sides are trained and measured; their difference d, counted
so that it is positive where the claim has it, is a number of that seed. With n seeds, mean m and
standard deviation s, Student's interval is m ± t s / √n at 95 %, t with n − 1 degrees of freedom.

    claimed that the first is ...   the interval is ...                     verdict
    better                          above 0                                 seen
                                    below 0                                 opposite
                                    around 0, its half within the margin    not seen
                                    around 0, and wider                     cannot be told
    no worse                        above −margin                           seen
                                    below −margin                           opposite
                                    around −margin                          cannot be told
    equal                           within ± margin                         seen
                                    outside of ± margin                     opposite
                                    across an end of it                     cannot be told

The margin is the least difference that would matter; each claim says its own. "Not seen" so means
that a difference of that size would have been seen.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isfinite, nan, sqrt
from statistics import mean, stdev
from typing import Literal

from lmcourse.errors import CourseError

LEVEL = 0.95

Verdict = Literal["seen", "not seen", "opposite", "cannot be told"]
Claimed = Literal["better", "no worse", "equal"]


@dataclass(frozen=True)
class Difference:
    """How far apart two sides are, over seeds.

    Attributes:
        values: one a seed; positive where the claim has it.
        mean, spread: over the seeds; the spread is their standard deviation.
        low, high: Student's interval of the mean.
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
    """The mean of one difference a seed, with its interval.

    Raises:
        CourseError: there is none, or one is no number.
    """
    from scipy.stats import t

    if not values or not all(map(isfinite, values)):
        raise CourseError(
            f"The differences over seeds are {list(values)}.", "Give one finite number a seed."
        )
    n, middle = len(values), mean(values)
    if n == 1:
        return Difference(tuple(values), middle, nan, nan, nan)
    spread = stdev(values)
    reach = float(t.ppf((1 + LEVEL) / 2, n - 1)) * spread / sqrt(n)
    return Difference(tuple(values), middle, spread, middle - reach, middle + reach)


def judged(found: Difference, margin: float, claimed: Claimed = "better") -> Verdict:
    """The verdict, by the rule above."""
    if not isfinite(found.reach):
        return "cannot be told"
    if claimed == "better":
        if found.low <= 0 <= found.high:
            return "not seen" if found.reach <= margin else "cannot be told"
        return "seen" if found.low > 0 else "opposite"
    most = margin if claimed == "equal" else inf
    if -margin <= found.low and found.high <= most:
        return "seen"
    return "opposite" if found.high < -margin or found.low > most else "cannot be told"


def explained(found: Difference, verdict: Verdict, margin: float, claimed: Claimed) -> str:
    """What a verdict says, in a sentence."""
    n, reach = len(found.values), f"{found.reach:.3f}"
    if n == 1:
        return "One seed has no spread: nothing can be told."
    if verdict == "cannot be told":
        return (
            f"With {n} seeds the difference is known to ± {reach}, and {margin:g} matters: more "
            "seeds, or longer runs, would tell."
        )
    if verdict == "not seen":
        return f"A difference of {reach} or more would have been seen; there is none so large."
    bound = {"better": "0", "no worse": f"−{margin:g}", "equal": f"±{margin:g}"}[claimed]
    where = "within" if claimed == "equal" else "above"
    if verdict == "opposite":
        where = "outside of" if claimed == "equal" else "below"
    return f"The interval over {n} seeds lies {where} {bound}."
