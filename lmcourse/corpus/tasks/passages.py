"""What the automaton knows of a sentence out of the middle of a review, and of its labels."""

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np

from lmcourse.corpus.bookworld import BookWorld
from lmcourse.corpus.bookworld.inference import Inference
from lmcourse.corpus.bookworld.network import Network
from lmcourse.corpus.bookworld.templates import Tag


def passage(world: BookWorld, tokens: Sequence[str]) -> Inference:
    """Inference over one or more sentences from anywhere in a review.

    Each position is weighted by its expected frequency in a review, as in ``world.log_expected``.
    """
    states, visits = world.network.sentence_starts
    states = np.r_[0, states]
    visits = np.concatenate([np.ones((1, visits.shape[1])), visits])
    return Inference(world.network, world.encode(tokens), (states, visits))


def posterior(
    inference: Inference, position: int, label: Callable[[Tag], str | None]
) -> dict[str | None, float]:
    """Return P(label of a token | the text), for a label that depends on the tag."""
    found: dict[str | None, float] = {}
    for tag, row in inference.tags(position).items():
        name = label(inference.network.tags[tag])
        found[name] = found.get(name, 0.0) + float(row.sum())
    return found


def expected(
    world: BookWorld, tokens: Sequence[str], label: Callable[[Tag], str | None]
) -> dict[str | None, float]:
    """How many of some tokens, by label, a review is expected to have; register reads left out."""
    network, flow = world.network, _flow(world.network)
    found: dict[str | None, float] = {}
    for token in tokens:
        each = network.by_token[network.ids[token]]
        literal = each.reads < 0
        arcs, shares = each.arcs[literal], each.probabilities[literal]
        for arc, share in zip(arcs.tolist(), (flow[arcs] * shares).tolist(), strict=True):
            name = label(network.tags[network.tag[arc]])
            found[name] = found.get(name, 0.0) + share
    return found


@lru_cache(maxsize=2)
def _flow(network: Network) -> np.ndarray:
    """How often a review is expected to walk each arc, [arcs]."""
    return (network.visits[network.source] * network.weight) @ network.prior


def parts_of_speech(world: BookWorld, token: str) -> list[str]:
    """Every part of speech that a word of the vocabulary may be."""
    network = world.network
    tags = network.tag[network.by_token[network.ids[token]].arcs]
    return sorted({network.tags[tag].part_of_speech for tag in tags.tolist()})
