"""What was found when the papers' claims were tested at the course's scale.

`finding("dynamic-masking")` reads one from ``data/claims``; it shows itself in a notebook. How the
claims are tested is in ``research/claims``.
"""

from lmcourse.findings.finding import Finding
from lmcourse.findings.kept import finding

__all__ = ["Finding", "finding"]
