"""Drawing reviews: the same for a seed on every platform and in every process."""

from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property
from random import Random

from lmcourse.corpus.bookworld.network import Network
from lmcourse.corpus.bookworld.review import Review


class Sampler:
    """Draws reviews from a compiled grammar."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self.running: dict[int, tuple[list[float], int]] = {}

    def reviews(self, n: int, seed: int) -> Iterator[Review]:
        """The first ``n`` reviews of a seed. Each has a generator of its own: the first k do not
        depend on n."""
        for index in range(n):
            yield self._review(seed, index)

    def _review(self, seed: int, index: int) -> Review:
        # Python promises random.Random(text).random() to stay the same in every version.
        draw = Random(f"bookworld {seed} {index}").random
        network = self.network
        class_ = _pick(self._prior, draw())
        genre = class_ // network.ratings
        held = tuple(_pick(register.cumulative[genre], draw()) for register in network.registers)
        state, final, classes = 0, network.automaton.final, len(network.prior)
        tokens, arcs = [], []
        targets, emissions, choices = self._targets, self._emissions, self._choices
        while state != final:
            key = state * classes + class_
            found = self.running.get(key)
            if found is None:
                found = self.running[key] = self._running(state, class_)
            shares, first = found
            arc = first + (_pick(shares, draw()) if len(shares) > 1 else 0)
            ids, running, read = choices[emissions[arc]]
            if read is not None:
                family, column = read
                token = self._values[family][held[family]][column]
            elif len(ids) == 1:
                token = ids[0]
            else:
                token = ids[_pick(running, draw())]
            tokens.append(token)
            arcs.append(arc)
            state = targets[arc]
        return Review(network, seed, index, class_, held, tuple(tokens), tuple(arcs))

    def _running(self, state: int, class_: int) -> tuple[list[float], int]:
        first, last = self.network.first[state : state + 2].tolist()
        return _sums(self.network.weight[first:last, class_].tolist()), first

    @cached_property
    def _prior(self) -> list[float]:
        return _sums(self.network.prior.tolist())

    @cached_property
    def _targets(self) -> list[int]:
        return self.network.target.tolist()

    @cached_property
    def _emissions(self) -> list[int]:
        return self.network.emission.tolist()

    @cached_property
    def _values(self) -> list[list[list[int]]]:
        return [values.tolist() for values in self.network.values]

    @cached_property
    def _choices(self) -> list[tuple[list[int], list[float], tuple[int, int] | None]]:
        """Of each emission: its words' ids, their running probabilities, what register it reads."""
        network = self.network
        return [
            (
                ids.tolist(),
                _sums(probabilities.tolist()),
                network.attributes[read] if read >= 0 else None,
            )
            for ids, probabilities, read in zip(
                network.emission_ids,
                network.emission_probabilities,
                network.reads.tolist(),
                strict=True,
            )
        ]


def _sums(shares: list[float]) -> list[float]:
    total, sums = 0.0, []
    for share in shares:  # one after the other: the same rounding on every platform
        total += share
        sums.append(total)
    return sums


def _pick(running: list[float], u: float) -> int:
    """The index of u · total in a running sum; an interval of no width is never picked."""
    return min(bisect_right(running, u * running[-1]), len(running) - 1)
