"""What was found when the papers' claims were tested at the course's scale.

`finding("dynamic-masking")` reads one from ``data/claims``, and `language_models("5-gram", "rnn")`
rows of the table in ``data/brown``; both show themselves in a notebook. How they came to be is in
``research/claims`` and ``research/brown``.
"""

from lmcourse.findings.finding import Finding
from lmcourse.findings.kept import finding
from lmcourse.findings.language_models import language_models

__all__ = ["Finding", "finding", "language_models"]
