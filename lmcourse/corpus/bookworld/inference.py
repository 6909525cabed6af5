"""Exact inference: forward–backward over the automaton's states, the registers and the latents.

Three things are hidden in a review: the walk through the automaton, the latent class (genre and
rating) and what the registers hold. All are summed over, so every probability is exact. Two facts
keep it fast. Only few states are active at a time. And the contents of a register with the same
visible attributes in this text (almost all people are not named in it) are interchangeable: they
are one *bucket*, with the sum of their prior probabilities.
"""

import math
from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from lmcourse.corpus.bookworld.network import Network

MASKED = -1  # the id of a masked token


class Buckets:
    """The contents of one register, grouped by their visible attributes.

    Attributes:
        seen: [buckets, attributes]: the visible value, or -1.
        prior: [buckets, genres].
    """

    def __init__(self, network: Network, family: int, visible: np.ndarray) -> None:
        self.values = network.values[family]
        self.contents_prior = network.registers[family].prior
        used = [
            column
            for number, (owner, column) in enumerate(network.attributes)
            if owner == family and number in network.reads_used
        ]
        seen = np.full(self.values.shape, MASKED, np.int16)
        seen[:, used] = np.where(visible[self.values[:, used]], self.values[:, used], MASKED)
        one_row = np.dtype((np.void, seen.itemsize * len(self.values[0])))
        rows = np.ascontiguousarray(seen).view(one_row)
        _, one, self.bucket = np.unique(rows.ravel(), return_index=True, return_inverse=True)
        self.seen = seen[one]
        self.prior = np.stack(
            [np.bincount(self.bucket, row, len(one)) for row in self.contents_prior], axis=1
        )

    def spread(self, bucket: int, column: int, width: int) -> np.ndarray:
        """P(value of an attribute | bucket, genre), [genres, width], when it is not visible."""
        members = np.flatnonzero(self.bucket == bucket)
        ids = self.values[members, column]
        rows = [np.bincount(ids, row[members], width) for row in self.contents_prior]
        total = self.prior[bucket][:, None]
        return np.divide(np.stack(rows), total, out=np.zeros((len(rows), width)), where=total > 0)


class Step(NamedTuple):
    """What the forward pass kept of one token."""

    states: np.ndarray  # active before it
    alpha: np.ndarray  # [states, configurations, classes], sums to one
    configurations: np.ndarray  # those still possible before it
    arcs: np.ndarray  # walked at it
    shares: np.ndarray  # [arcs, classes]: weight times the probability of the token
    fits: np.ndarray | None  # [arcs, all configurations] for reads of a register


class Inference:
    """Exact inference over one text, some of whose tokens may be masked.

    Args:
        network: the compiled grammar.
        tokens: ids; ``MASKED`` for a masked token. The text may be a prefix of a review, or a
            complete one that ends with ``END``.
        starts: where the text may begin, and the expected visits there by class, as
            ``Network.sentence_starts`` has them; without it, at the beginning of a review.
    """

    def __init__(
        self,
        network: Network,
        tokens: Sequence[int],
        starts: tuple[np.ndarray, np.ndarray] | None = None,
    ) -> None:
        self.network = network
        self.starts = starts or (np.zeros(1, int), np.ones((1, len(network.prior))))
        self.tokens = list(tokens)
        # One more than there are words: attributes that are never read have the id -1.
        visible = np.zeros(len(network.vocabulary) + 1, bool)
        visible[[token for token in self.tokens if token != MASKED]] = True
        self.buckets = [Buckets(network, family, visible) for family in range(2)]
        cast, book = (len(each.prior) for each in self.buckets)
        self.configuration = np.stack(
            [np.repeat(np.arange(cast), book), np.tile(np.arange(book), cast)]
        )  # [2, configurations]: the bucket of each register
        self._spreads: dict[tuple[int, int, int], np.ndarray] = {}
        self.steps: list[Step] = []
        self._forward()

    # ------------------------------------------------------------------------------- forward

    def _forward(self) -> None:
        network = self.network
        cast, book = (
            each.prior[bucket][:, network.genre_of_class]
            for each, bucket in zip(self.buckets, self.configuration, strict=True)
        )
        prior = network.prior * cast * book
        self.alive = np.flatnonzero(prior.any(1))
        states, visits = self.starts
        alpha = visits[:, None, :] * prior[None, self.alive]
        index = np.full(network.states, -1)
        self.log_probs: list[float] = []  # of each prefix
        log_prob = 0.0
        for token in self.tokens:
            index[states] = np.arange(len(states))
            arcs, shares, reads = self._arcs(token, states, index)
            fits = self._fits(token, reads)
            flow = alpha[index[network.source[arcs]]] * shares[:, None, :]
            if fits is not None:
                flow *= fits[:, self.alive, None]
            index[states] = -1
            self.steps.append(Step(states, alpha, self.alive, arcs, shares, fits))
            states, alpha = _gather(network.target[arcs], flow)
            total = float(alpha.sum())
            log_prob += math.log(total) if total > 0 else -math.inf
            self.log_probs.append(log_prob)
            if not total > 0:
                break
            possible = alpha.any((0, 2))
            if not possible.all():
                alpha, self.alive = alpha[:, possible], self.alive[possible]
            kept = alpha.any((1, 2))
            states, alpha = states[kept], alpha[kept] / total
        self.states, self.alpha = states, alpha
        self.log_prob = log_prob

    def _arcs(
        self, token: int, states: np.ndarray, index: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """The arcs that leave active states and can emit the token, ordered by target."""
        network = self.network
        if token == MASKED:
            arcs = np.concatenate(
                [np.arange(network.first[s], network.first[s + 1]) for s in states.tolist()]
            )
            arcs = arcs[np.argsort(network.target[arcs], kind="stable")]
            return arcs, network.weight[arcs], None
        found = network.by_token[token]
        active = index[network.source[found.arcs]] >= 0
        arcs = found.arcs[active]
        shares = network.weight[arcs] * found.probabilities[active, None]
        reads = found.reads[active]
        return arcs, shares, reads if (reads >= 0).any() else None

    def _fits(self, token: int, reads: np.ndarray | None) -> np.ndarray | None:
        """Whether a configuration lets each read emit the token, [arcs, configurations]."""
        if reads is None:
            return None
        fits = np.ones((len(reads), self.configuration.shape[1]), bool)
        for read in set(reads[reads >= 0].tolist()):
            family, column = self.network.attributes[read]
            holds = self.buckets[family].seen[:, column] == token
            fits[reads == read] = holds[self.configuration[family]]
        return fits

    # ------------------------------------------------------------------------------ backward

    @cached_property
    def _betas(self) -> list[np.ndarray]:
        """For each step, P(what follows | state after it), up to a factor, [arcs' targets …]."""
        betas: list[np.ndarray] = []
        states, beta = self.states, np.ones_like(self.alpha)
        index = np.full(self.network.states, -1)
        for step in reversed(self.steps):
            index[states] = np.arange(len(states))
            where = index[self.network.target[step.arcs]]
            index[states] = -1
            # A state that was dropped because nothing reaches it has no beta, and needs none.
            flow = np.where(where[:, None, None] >= 0, beta[where], 0) * step.shares[:, None, :]
            if step.fits is not None:
                flow *= step.fits[:, self.alive, None]
            betas.append(flow)
            order = np.argsort(self.network.source[step.arcs], kind="stable")
            states, beta = _gather(self.network.source[step.arcs][order], flow[order])
            beta = beta / max(float(beta.max()), 1e-300)
        return betas[::-1]

    def _flow(self, position: int) -> np.ndarray:
        """P(arc, configuration, class | all that is shown), [arcs, alive, classes]."""
        step = self.steps[position]
        index = np.full(self.network.states, -1)
        index[step.states] = np.arange(len(step.states))
        columns = np.searchsorted(step.configurations, self.alive)
        alpha = step.alpha[:, columns][index[self.network.source[step.arcs]]]
        flow = alpha * self._betas[position]
        return flow / flow.sum()

    # ------------------------------------------------------------------------------- answers

    def classes(self) -> np.ndarray:
        """P(genre, rating | all that is shown), [genres, ratings]."""
        shape = (self.network.genres, self.network.ratings)
        return (self.alpha.sum((0, 1)) / self.alpha.sum()).reshape(shape)

    def masked(self, position: int) -> np.ndarray:
        """P(token at a masked position | the other tokens), [vocabulary]."""
        return self._words(self.steps[position].arcs, self._flow(position), self.alive)

    def following(self) -> np.ndarray:
        """P(next token | these tokens), [vocabulary]."""
        return self._after(self.states, self.alpha, self.alive)

    def each_following(self) -> np.ndarray:
        """P(token i | tokens before i) for each i, [tokens + 1, vocabulary]."""
        rows = [self._after(step.states, step.alpha, step.configurations) for step in self.steps]
        return np.stack([*rows, self.following()])

    def tags(self, position: int) -> dict[int, np.ndarray]:
        """P(tag, configuration | all that is shown) at a position: tag → [alive configurations]."""
        flow = self._flow(position).sum(2)
        found: dict[int, np.ndarray] = {}
        for tag, row in zip(
            self.network.tag[self.steps[position].arcs].tolist(), flow, strict=True
        ):
            found[tag] = found[tag] + row if tag in found else row
        return found

    def contents(self, attribute: str, configurations: np.ndarray) -> dict[str, float]:
        """P(word of an attribute), for weights of the alive configurations.

        Only for registers whose prior does not depend on the genre, as the cast.
        """
        family, column = self.network.attributes[self.network.attribute[attribute]]
        buckets = self.buckets[family]
        alive = self.configuration[family][self.alive]
        weights = np.bincount(alive, configurations, len(buckets.prior))
        total = buckets.prior[:, 0]
        factors = np.divide(weights, total, out=np.zeros(len(total)), where=total > 0)
        shares = buckets.contents_prior[0] * factors[buckets.bucket]
        found: dict[str, float] = {}
        for content, share in zip(
            self.network.registers[family].values, shares.tolist(), strict=True
        ):
            found[content[column]] = found.get(content[column], 0.0) + share
        return found

    def _after(self, states: np.ndarray, alpha: np.ndarray, alive: np.ndarray) -> np.ndarray:
        index = np.full(self.network.states, -1)
        index[states] = np.arange(len(states))
        arcs, shares, _ = self._arcs(MASKED, states, index)
        flow = alpha[index[self.network.source[arcs]]] * shares[:, None, :]
        return self._words(arcs, flow, alive)

    def _words(self, arcs: np.ndarray, flow: np.ndarray, alive: np.ndarray) -> np.ndarray:
        """The distribution over the vocabulary of some arcs' emissions, [vocabulary]."""
        network = self.network
        words = np.zeros(len(network.vocabulary))
        emissions = network.emission[arcs]
        weights = np.bincount(emissions, flow.sum((1, 2)), len(network.reads))
        for emission in np.flatnonzero(weights).tolist():
            read = int(network.reads[emission])
            if read < 0:
                words[network.emission_ids[emission]] += (
                    weights[emission] * network.emission_probabilities[emission]
                )
                continue
            family, column = network.attributes[read]
            shares = flow[emissions == emission].sum(0)  # [alive, classes]
            genres = shares.reshape(len(shares), network.genres, network.ratings).sum(2)
            for row, bucket in zip(genres, self.configuration[family][alive], strict=True):
                if row.any():
                    words += row @ self._spread(family, int(bucket), column)
        return words

    def _spread(self, family: int, bucket: int, column: int) -> np.ndarray:
        """P(value | bucket, genre), [genres, vocabulary]."""
        key = (family, bucket, column)
        if key not in self._spreads:
            width = len(self.network.vocabulary)
            value = int(self.buckets[family].seen[bucket, column])
            if value >= 0:
                spread = np.zeros((self.network.genres, width))
                spread[:, value] = 1.0
            else:
                spread = self.buckets[family].spread(bucket, column, width)
            self._spreads[key] = spread
        return self._spreads[key]


def _gather(states: np.ndarray, flow: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Add up the rows of equal states, which are sorted."""
    if not len(states):
        return states, flow
    first = np.flatnonzero(np.r_[True, states[1:] != states[:-1]])
    return states[first], np.add.reduceat(flow, first, axis=0)
