"""Figures that a reader can move: live in a notebook, and without a kernel on any page.

A widget takes arrays (NumPy's, or anything with ``.detach()``) and knows no model. Its interaction
is JavaScript: the sources are in ``web/widgets/``, what browsers load is in ``static/``.

`Graph` (a computation and its gradients), `GradientFlow` (how far back a loss reaches), `Gates`
(what a unit keeps), `Merges` and `Segmentation` (how pieces come to be, and words become pieces),
`AttentionHeads` (where each token looks), `Masking` and `Visibility` (what is hidden from whom) and
`Temperature` (what a teacher says besides the answer). Each has a page in ``gallery/``.
"""

from lmcourse.widgets.attention_heads import AttentionHeads
from lmcourse.widgets.base import Widget
from lmcourse.widgets.gates import Gates
from lmcourse.widgets.gradient_flow import GradientFlow
from lmcourse.widgets.graph import Graph
from lmcourse.widgets.masking import Masking
from lmcourse.widgets.merges import Merges
from lmcourse.widgets.segmentation import Segmentation
from lmcourse.widgets.temperature import Temperature
from lmcourse.widgets.visibility import Visibility

__all__ = [
    "AttentionHeads",
    "Gates",
    "GradientFlow",
    "Graph",
    "Masking",
    "Merges",
    "Segmentation",
    "Temperature",
    "Visibility",
    "Widget",
]
