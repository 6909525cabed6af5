"""All claims, by name: what `lmcourse claims` can test."""

from collections.abc import Sequence

from lmcourse.errors import CourseError
from research.claims import electra, encoders, masks, students
from research.claims.claim import Claim

CLAIMS: dict[str, Claim] = {
    claim.name: claim for family in (encoders, masks, electra, students) for claim in family.CLAIMS
}


def chosen(names: Sequence[str]) -> list[Claim]:
    """The claims of these names.

    Raises:
        CourseError: there is no such claim.
    """
    for name in names:
        if name not in CLAIMS:
            raise CourseError(
                f"There is no claim {name!r}.", f"Choose one of: {', '.join(CLAIMS)}."
            )
    return [CLAIMS[name] for name in dict.fromkeys(names)]
