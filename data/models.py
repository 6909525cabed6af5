"""Write the page of the models that come with the course, ``data/checkpoints/README.md``.

It is made of the records beside the checkpoints, and fails if one of these lies below BookWorld's
floor. Run it after shipping a model (``make card``, or ``python -m data.models``); it takes a
second.
"""

import sys
from pathlib import Path

from lmcourse.errors import CourseError
from lmcourse.pretrain.tables import page, shipped_records

PAGE = Path(__file__).parent / "checkpoints" / "README.md"


def main() -> int:
    """Write the page."""
    try:
        PAGE.parent.mkdir(exist_ok=True)
        PAGE.write_text(page(shipped_records(PAGE.parent)), encoding="utf-8")
    except CourseError as error:
        print(f"{error.cause}\n{error.remedy}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
