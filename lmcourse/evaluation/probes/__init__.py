"""Probes of a frozen model's hidden states and attention heads."""

from lmcourse.evaluation.probes.heads import HeadProbe, head_probe, word_attentions
from lmcourse.evaluation.probes.linear import LinearProbe, linear_probe
from lmcourse.evaluation.probes.links import (
    Link,
    agreement_links,
    antecedent_links,
)
from lmcourse.evaluation.probes.neighbors import NeighborProbe, NeighborScore, nearest_neighbor
from lmcourse.evaluation.probes.occurrences import Occurrences, exact_shares, occurrences
from lmcourse.evaluation.probes.states import averaged_context, hidden_states, untrained

__all__ = [
    "HeadProbe",
    "LinearProbe",
    "Link",
    "NeighborProbe",
    "NeighborScore",
    "Occurrences",
    "agreement_links",
    "antecedent_links",
    "averaged_context",
    "exact_shares",
    "head_probe",
    "hidden_states",
    "linear_probe",
    "nearest_neighbor",
    "occurrences",
    "untrained",
    "word_attentions",
]
