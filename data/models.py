"""Write the pages of the models that come with the course and of the claims that were tested.

``data/checkpoints/README.md`` is made of the records beside the checkpoints, and fails if one of
these lies below BookWorld's floor; ``data/claims/README.md`` of the findings beside it. Run it
after shipping a model, or a change to what such a page says (``make card``, or ``python -m
data.models``); it takes seconds. ``lmcourse claims`` writes its own page itself.
"""

import sys
from pathlib import Path

from lmcourse.errors import CourseError
from research.claims.results import write_page
from research.pretrain.tables import page, shipped_records

PAGE = Path(__file__).parent / "checkpoints" / "README.md"


def main() -> int:
    """Write the pages."""
    try:
        PAGE.parent.mkdir(exist_ok=True)
        PAGE.write_text(page(shipped_records(PAGE.parent)), encoding="utf-8")
        write_page()
    except CourseError as error:
        print(f"{error.cause}\n{error.remedy}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
