"""The date task: write a date as ISO 8601 has it.

    Tuesday, March 3, 1987   →   1987-03-03
    the 21st of Oct. 2015    →   2015-10-21

Every character of the answer stands in one place of the source, or is decided by one, and the
places come in another order than the characters: a task to watch where attention looks
(chapter 09). Each date has one answer, so the best accuracy is 1; an answer is right as a whole or
wrong. A tenth of all days is in no date of the train split.
"""

import hashlib
from dataclasses import dataclass
from datetime import MAXYEAR, MINYEAR, date
from functools import cached_property
from random import Random
from typing import Literal, NamedTuple, get_args

from lmcourse.errors import CourseError

Split = Literal["train", "test"]

MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
FORMS = (
    "{weekday}, {month} {day}, {year}",
    "{month} {day}, {year}",
    "{day} {month} {year}",
    "the {ordinal} of {month} {year}",
    "{short} {day}, {year}",
    "the {ordinal} of {short} {year}",
)


class DatePair(NamedTuple):
    """A date as it is read, and as it is to be written."""

    source: str
    target: str


@dataclass(frozen=True)
class DateTask:
    """Dates from the first day of one year to the last day of another."""

    first_year: int = 1900
    last_year: int = 2099

    def __post_init__(self) -> None:
        if not MINYEAR <= self.first_year <= self.last_year <= MAXYEAR:
            raise CourseError(
                f"There are no dates from {self.first_year} to {self.last_year}.",
                f"Give two years from {MINYEAR} to {MAXYEAR}, the earlier one first.",
            )

    def pairs(self, n: int, seed: int = 0, split: Split = "train") -> list[DatePair]:
        """Draw dates, each in one of the forms.

        Args:
            n: how many; a date may come more than once.
            seed: the same one gives the same pairs, and the first k of them do not depend on n.
            split: ``train``; or ``test``, with days that train does not have.

        Raises:
            CourseError: n is negative, there is no such split, or it has no day.
        """
        if n < 0 or split not in get_args(Split):
            raise CourseError(
                f"{n} dates of the split {split!r} cannot be drawn.",
                f"Give zero or more, and one of: {', '.join(get_args(Split))}.",
            )
        days = self._days[split]
        if not days:
            raise CourseError(f"The split {split!r} has no day.", "Give more years.")
        random = Random(f"dates {seed} {split}")
        return [
            DatePair(written(day, random.choice(FORMS)), day.isoformat())
            for day in (random.choice(days) for _ in range(n))
        ]

    @property
    def characters(self) -> list[str]:
        """All characters of sources and targets, in order."""
        return sorted(set("".join([*MONTHS, *WEEKDAYS, "0123456789", "-, .", "the of st nd rd"])))

    @cached_property
    def _days(self) -> dict[str, list[date]]:
        """The days of each split, in order."""
        found: dict[str, list[date]] = {"train": [], "test": []}
        end = date(self.last_year, 12, 31).toordinal()
        for number in range(date(self.first_year, 1, 1).toordinal(), end + 1):
            digest = hashlib.blake2b(str(number).encode(), digest_size=4).digest()
            split = "test" if int.from_bytes(digest, "big") % 10 == 0 else "train"
            found[split].append(date.fromordinal(number))
        return found


def written(day: date, form: str) -> str:
    """A date in one of the ``FORMS``."""
    month = MONTHS[day.month - 1]
    return form.format(
        weekday=WEEKDAYS[day.weekday()],
        month=month,
        short=month if len(month) < 5 else f"{month[:3]}.",
        day=day.day,
        ordinal=ordinal(day.day),
        year=f"{day.year:04}",
    )


def ordinal(number: int) -> str:
    """1st, 2nd, 3rd, 4th … 11th, 12th, 13th … 21st."""
    endings = {1: "st", 2: "nd", 3: "rd"}
    teens = number % 100 in (11, 12, 13)
    return f"{number}{'th' if teens else endings.get(number % 10, 'th')}"
