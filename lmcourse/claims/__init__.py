"""The papers' claims, tested again at the course's scale: `lmcourse claims`.

`finding` gives what was found of one, from ``data/claims``; it shows itself in a notebook.
"""

from lmcourse.claims.finding import Finding
from lmcourse.claims.kept import finding

__all__ = ["Finding", "finding"]
