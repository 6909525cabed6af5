"""The date task: convert a date to ISO 8601.

    Tuesday, March 3, 1987   →   1987-03-03
    the 21st of Oct. 2015    →   2015-10-21

Every character of the answer depends on one position of the source, and the order of these
positions differs from that of the characters: a task for looking at attention (chapter 09). Each
date has one answer, so the best accuracy is 1. A tenth of all days is not in the train split.
"""

import hashlib
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from random import Random
from typing import Literal, NamedTuple

from lmcourse.errors import check_sizes

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
    """A date in the source format and in ISO 8601."""

    source: str
    target: str


@dataclass(frozen=True)
class DateTask:
    """Dates from the first day of one year to the last day of another."""

    first_year: int = 1900
    last_year: int = 2099

    def pairs(self, n: int, seed: int = 0, split: Split = "train") -> list[DatePair]:
        """Draw dates, each in one of the forms.

        Args:
            n: how many; a date may come more than once.
            seed: the same one gives the same pairs, and the first k of them do not depend on n.
            split: ``train``; or ``test``, with days that train does not have.
        """
        check_sizes(0, n=n)
        days = self._days[split]
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
