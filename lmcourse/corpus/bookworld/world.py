"""BookWorld: book reviews from a known model, and the exact answers to questions about them."""

import gc
import hashlib
import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, cached_property
from typing import TypeVar

import numpy as np

from lmcourse.corpus.bookworld.automaton import END
from lmcourse.corpus.bookworld.floors import SPLITS, Floors, cached, measured
from lmcourse.corpus.bookworld.grammar import LANGUAGE, Grammar
from lmcourse.corpus.bookworld.inference import MASKED, Inference
from lmcourse.corpus.bookworld.network import Network
from lmcourse.corpus.bookworld.review import Review
from lmcourse.corpus.bookworld.sampling import Sampler
from lmcourse.errors import CourseError, check_sizes

L = TypeVar("L")


class BookWorld:
    """A corpus of book reviews whose limits are known exactly.

    Reviews are drawn from a grammar (``language/``) that is compiled to a weighted automaton with
    hidden genre, rating, characters and book. Since the model is known, so is the exact probability
    of any text under it, which no language model can exceed.

    Args:
        grammar: another grammar than the course's own; ``Grammar.read(LANGUAGE, "my-folder")`` adds
            the lines of a folder's files to it.

    Raises:
        CourseError: the grammar cannot be read; file, line and remedy are named.
    """

    def __init__(self, grammar: Grammar | None = None) -> None:
        with _no_collection():
            self.network = _shipped() if grammar is None else Network(grammar)
        self.grammar = self.network.grammar
        self.sampler = Sampler(self.network)

    @property
    def vocabulary(self) -> list[str]:
        """All words, in the order of their ids: the end token ``<end>``, then alphabetically."""
        return self.network.vocabulary

    @property
    def genres(self) -> list[str]:
        """The genres' names."""
        return self.grammar.genres

    @cached_property
    def digest(self) -> str:
        """A fingerprint of the world: of its probabilities, and of what is drawn from it."""
        network = self.network
        found = hashlib.sha256("\0".join(self.vocabulary).encode())
        for review in self.sample(20, seed=0):
            found.update(np.array(review.ids, "<i4").tobytes())
        for numbers in (network.source, network.target, network.emission, *network.values):
            found.update(numbers.astype("<i4").tobytes())
        for shares in (
            network.weight,
            network.prior,
            *network.emission_probabilities,
            *(register.prior for register in network.registers),
        ):
            # Rounded, so that the last digits, which differ between platforms, do not count.
            found.update(np.round(shares, 9).astype("<f8").tobytes())
        found.update(repr(self.network.tags).encode())
        return found.hexdigest()[:16]

    # ------------------------------------------------------------------------------ sampling

    def sample(self, n: int, seed: int = 0) -> list[Review]:
        """Draw ``n`` reviews. The first k of them do not depend on ``n``.

        Args:
            seed: the same seed gives the same reviews on every machine. ``SPLITS`` has those of the
                splits.
        """
        check_sizes(0, n=n)
        return list(self.sampler.reviews(n, seed))

    def split(self, name: str, at_most: int | None = None) -> list[Review]:
        """The reviews of ``train``, ``validation`` or ``test``: about 1 million tokens in all.

        Args:
            at_most: only so many of the first.

        Raises:
            CourseError: there is no such split.
        """
        if name not in SPLITS:
            raise CourseError(
                f"BookWorld has no split {name!r}.", f"Choose one of: {', '.join(SPLITS)}."
            )
        check_sizes(0, at_most=at_most)
        reviews, seed = SPLITS[name]
        return self.sample(reviews if at_most is None else min(reviews, at_most), seed)

    def floor(self, split: str | Sequence[Review] = "test") -> Floors:
        """The scores of the best possible models: floors in nats with their standard errors.

        Args:
            split: its name, or reviews of this world. Of a split, the first 600 reviews are
                measured, once: a file keeps the result under the world's digest. A single review
                has no standard error (nan).

        Raises:
            CourseError: there is no such split, or no review.
        """
        if not isinstance(split, str):
            return measured(self, split)
        return cached(self, split)

    # ----------------------------------------------------------------------------- inference

    def encode(self, tokens: Iterable[str]) -> list[int]:
        """The ids of some tokens.

        Raises:
            CourseError: a token is not in the vocabulary.
        """
        if isinstance(tokens, str | Review):
            raise CourseError(
                "A whole text was passed, not tokens.", "Pass review.tokens, a list of words."
            )
        ids = []
        for position, token in enumerate(tokens):
            if not isinstance(token, str) or token not in self.network.ids:
                raise CourseError(
                    f"The token {token!r} at position {position} is not in BookWorld's vocabulary "
                    f"of {len(self.vocabulary):,} words.",
                    "Pass lower-case words as world.sample gives them (review.tokens), with "
                    "punctuation marks as tokens of their own.",
                )
            ids.append(self.network.ids[token])
        return ids

    def log_prob(self, tokens: Sequence[str]) -> float:
        """The exact log-probability, in nats, that a review has this prefix.

        That of the whole review, if the last token is ``<end>``; ``-inf`` if no review has it.

        Raises:
            CourseError: a token is not in the vocabulary.
        """
        return Inference(self.network, self.encode(tokens)).log_prob

    def log_probs(self, tokens: Sequence[str]) -> np.ndarray:
        """log P(token | all tokens before it) of each token in nats; their sum is ``log_prob``."""
        reached = Inference(self.network, self.encode(tokens)).log_probs
        found = np.full(len(tokens), -math.inf)
        found[: len(reached)] = np.diff(reached, prepend=0.0)
        return found

    def log_expected(self, tokens: Sequence[str], first: bool = True) -> float:
        """The log of the expected count of these tokens at the start of a sentence of a review.

        It scores a passage from the middle of a review: whether one sentence follows another,
        or which of two comes first. The passage may end with ``<end>``.

        Args:
            tokens: one or more sentences; the last may be incomplete.
            first: whether the passage may also start the review.
        """
        states, visits = self.network.sentence_starts
        if first:
            states = np.r_[0, states]
            visits = np.concatenate([np.ones((1, visits.shape[1])), visits])
        if not len(tokens):
            raise CourseError("The passage has no tokens.", "Give the tokens of a sentence.")
        return Inference(self.network, self.encode(tokens), (states, visits)).log_prob

    def next_token(self, tokens: Sequence[str]) -> np.ndarray:
        """The exact probability of each word after these tokens, [vocabulary]."""
        return self._inference(tokens, open_end=True).following()

    def next_tokens(self, tokens: Sequence[str]) -> np.ndarray:
        """The probability of each word after each prefix, from the empty one to all tokens,
        [tokens + 1, vocabulary]; as fast as one ``next_token``."""
        return self._inference(tokens, open_end=True).each_following()

    def masked_posterior(self, tokens: Sequence[str], positions: Sequence[int]) -> np.ndarray:
        """The exact probability of each word at some masked positions, [positions, vocabulary].

        All positions are masked at once: ``tokens`` is not read there. The text may
        be a prefix; if its last token is ``<end>``, it is known to be whole.

        Raises:
            CourseError: a position is out of range, a token is unknown, or the rest of the text has
                probability zero.
        """
        inference = self._inference(tokens, hidden=positions)
        return np.array([inference.masked(position) for position in positions]).reshape(
            len(positions), len(self.vocabulary)
        )

    def antecedent_posterior(self, tokens: Sequence[str], position: int) -> dict[str | None, float]:
        """P(the character that a pronoun or a name refers to | the text): name → probability.

        None: it refers to no character ("he dreamed, as any king would").
        """
        inference = self._inference(tokens, at=position)
        names: dict[str | None, float] = {}
        for tag, row in inference.tags(position).items():
            register = self.network.tags[tag].register or ""
            if register.startswith(("hero", "second")):
                for name, share in inference.contents(register.split(".")[0], row).items():
                    names[name] = names.get(name, 0.0) + share
        if not sum(names.values()) > 0:
            raise CourseError(
                f"The token {tokens[position]!r} at position {position} refers to no character.",
                "Give the position of a name or of he, she, him, her or his.",
            )
        rest = 1 - sum(names.values())
        if rest > 1e-12:  # more than rounding
            names[None] = rest
        order = sorted(names, key=lambda name: -names[name])
        return {name: names[name] for name in order if names[name] > 0}

    def rating_posterior(self, tokens: Sequence[str]) -> np.ndarray:
        """P(stars | the text), [5]; index 0 is one star. A prefix will do."""
        return self._inference(tokens).classes().sum(0)

    def _inference(
        self,
        tokens: Sequence[str],
        hidden: Sequence[int] = (),
        at: int | None = None,
        open_end: bool = False,
    ) -> Inference:
        for position in (*hidden, *(() if at is None else (at,))):
            if not (isinstance(position, int | np.integer) and 0 <= position < len(tokens)):
                raise CourseError(
                    f"The position {position!r} is not in a text of {len(tokens)} tokens.",
                    f"Positions are integers from 0 to {len(tokens) - 1}."
                    if len(tokens)
                    else "Give a text that has tokens.",
                )
        masked = set(hidden)
        ids = self.encode(END if i in masked else token for i, token in enumerate(tokens))
        for position in hidden:
            ids[position] = MASKED
        inference = Inference(self.network, ids)
        if inference.log_prob == -math.inf:
            at = len(inference.log_probs) - 1
            shown = ["[masked]" if i in masked else token for i, token in enumerate(tokens)]
            raise CourseError(
                f"No review of BookWorld has {tokens[at]!r} at position {at} after "
                f"{' '.join(map(str, shown[max(0, at - 5) : at]))!r}.",
                "Pass a text, or a prefix of one, whose log_prob is finite.",
            )
        if open_end and len(inference.states) == 1 and inference.states[0] == self._final:
            raise CourseError("The review has ended: nothing follows <end>.", "Leave <end> away.")
        return inference

    @property
    def _final(self) -> int:
        return self.network.automaton.final


@cache
def _shipped() -> Network:
    """The network of the course's own grammar, compiled once per process; nothing changes it."""
    return Network(Grammar.read(LANGUAGE))


@contextmanager
def _no_collection() -> Iterator[None]:
    """Pause the garbage collector, which finds nothing in 100,000 new tuples at half the time."""
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()
