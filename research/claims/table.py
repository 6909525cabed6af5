"""All claims, by name: what `lmcourse claims` can test."""

from collections.abc import Sequence

from research.by_name import by_name
from research.claims import electra, encoders, knowledge, masks, positions, students
from research.claims.claim import Claim

FAMILIES = encoders, positions, masks, electra, knowledge, students
CLAIMS: dict[str, Claim] = {claim.name: claim for family in FAMILIES for claim in family.CLAIMS}


def chosen(names: Sequence[str]) -> list[Claim]:
    """The claims of these names.

    Raises:
        CourseError: there is no such claim.
    """
    return [by_name(name, CLAIMS, "claim") for name in dict.fromkeys(names)]
