"""Interactive figures: live in a notebook, and without a kernel on any page.

A widget takes arrays (NumPy's, or anything with ``.detach()``) and no models. Its interaction is
JavaScript: the sources are in ``web/widgets/``, the bundles for browsers in ``static/``.

`Anatomy` (a model's blocks and numbers), `Graph` (a computation and its gradients), `GradientFlow`
(gradients through time), `Gates` (LSTM and GRU units), `Map` (word vectors), `Merges` and
`Segmentation` (training and application of tokenizers), `AttentionHeads` (attention weights),
`Masking` (masked language modeling), `Visibility` (attention masks), `Temperature` (distillation),
`Pareto` (size, speed and score of models) and `Family` (models by date). Each has a page in
``gallery/``.
"""

from lmcourse.widgets.anatomy import Anatomy
from lmcourse.widgets.attention_heads import AttentionHeads
from lmcourse.widgets.base import Widget
from lmcourse.widgets.family import Family
from lmcourse.widgets.gates import Gates
from lmcourse.widgets.gradient_flow import GradientFlow
from lmcourse.widgets.graph import Graph
from lmcourse.widgets.map import Map
from lmcourse.widgets.masking import Masking
from lmcourse.widgets.merges import Merges
from lmcourse.widgets.pareto import Pareto
from lmcourse.widgets.segmentation import Segmentation
from lmcourse.widgets.temperature import Temperature
from lmcourse.widgets.visibility import Visibility

__all__ = [
    "Anatomy",
    "AttentionHeads",
    "Family",
    "Gates",
    "GradientFlow",
    "Graph",
    "Map",
    "Masking",
    "Merges",
    "Pareto",
    "Segmentation",
    "Temperature",
    "Visibility",
    "Widget",
]
