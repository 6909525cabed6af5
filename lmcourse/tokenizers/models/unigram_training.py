"""Training a unigram vocabulary: start with too many pieces, and prune until enough are left.

(Kudo 2018, section 3.2.) Where byte-pair encoding grows its vocabulary, this shrinks it:

1. Seeds: all characters and many frequent substrings (``seed_scores``).
2. EM: a few times, count how often each piece is expected and score it anew (``unigram_em``).
3. Prune: remove the pieces whose removal lowers the likelihood least, and repeat from 2 until
   the vocabulary has 1.1 times the requested size.
4. Finish: the characters of the corpus always stay; the pieces with the smallest loss go.

It follows the ``tokenizers`` library's trainer, which follows SentencePiece. The library keeps
words in an unordered table; here they are sorted, so that the same words give the same vocabulary.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lmcourse.tokenizers.models.unigram import Unigram
from lmcourse.tokenizers.models.unigram_em import Corpus, loss, maximize
from lmcourse.tokenizers.models.word_model import Training, contents, nonempty, too_small

if TYPE_CHECKING:
    from tokenizers import AddedToken, trainers

BOUNDARY = "\0"  # the end of a word: never part of a piece


def branching_substrings(words: Iterable[str], longest: int) -> dict[str, int]:
    """Substrings of 2 to ``longest`` characters that occur twice or more and branch.

    SentencePiece and the ``tokenizers`` library find them as the internal nodes of a suffix array:
    a substring that is always followed by the same character (the end of a word is one) says
    nothing that the longer one does not say. Here they are grown, character by character.

    Occurrences that share their first characters are kept together; each round looks at one
    character more and leaves those that have become unique. Time and memory grow with the
    characters of all words, times ``longest`` at worst.

    Args:
        words: each different word once.
        longest: the characters of the longest piece.

    Returns:
        How often each occurs in the words, overlaps included. (As in the library, a word counts
        once here, however frequent it is in the corpus.)
    """
    text = "".join(word + BOUNDARY for word in words)
    found: dict[str, int] = {}
    starts: Iterable[int] = range(len(text))
    for length in range(1, longest + 1):
        groups = defaultdict(list)
        for start in starts:
            if text[start + length - 1] != BOUNDARY:
                groups[text[start : start + length]].append(start)
        repeated = {piece: group for piece, group in groups.items() if len(group) > 1}
        if length > 1:
            for piece, group in repeated.items():
                if len({text[start + length] for start in group}) > 1:
                    found[piece] = len(group)
        starts = [start for group in repeated.values() for start in group]
    return found


def seed_scores(
    word_counts: Mapping[str, int], max_piece_length: int, seed_size: int
) -> dict[str, float]:
    """The seed pieces (Kudo 2018, section 3.2) and their log-probabilities, nats.

    A character weighs its frequency in the corpus, a substring its occurrences in the different
    words times its length; the weights are normalized to probabilities.

    Args:
        word_counts: how often each word occurs.
        max_piece_length: characters.
        seed_size: about so many pieces: characters and the heaviest substrings.

    Returns:
        The characters by falling (weight, character), then the substrings by falling
        (weight, substring): the library's order.
    """
    characters: Counter[str] = Counter()
    for word, count in word_counts.items():
        for character in word:
            if character != BOUNDARY:
                characters[character] += count
    substrings = {
        piece: count * len(piece)
        for piece, count in branching_substrings(word_counts, max_piece_length).items()
    }
    # The library looks at seed_size after it has added one: one substring always gets in.
    room = max(seed_size - len(characters), 1)
    weights = dict(_heaviest_first(characters) + _heaviest_first(substrings)[:room])
    log_total = math.log(sum(weights.values()) or 1)
    return {piece: math.log(weight) - log_total for piece, weight in weights.items()}


def _heaviest_first(weights: Mapping[str, int]) -> list[tuple[str, int]]:
    return sorted(weights.items(), key=lambda item: (item[1], item[0]), reverse=True)


MARGIN = 11  # tenths of the requested size at which pruning stops
ADDED_STEP = 0.0001  # nats between characters that EM has dropped and that are restored

Scores = dict[str, float]
Pieces = tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class SeedStep:
    """The first vocabulary: every piece and its score, nats."""

    pieces: Pieces
    kind: str = "seed"


@dataclass(frozen=True)
class EMStep:
    """One E step and one M step."""

    size: int  # pieces before
    log_likelihood: float  # of a word, on average, under the scores before; nats
    tokens: float  # expected in the whole corpus
    removed: Pieces  # those that the M step dropped, and their expected counts
    kind: str = "em"


@dataclass(frozen=True)
class PruneStep:
    """One round of pruning."""

    size: int  # pieces before
    removed: Pieces  # and their losses, nats a word, the smallest first
    spared: tuple[str, float] | None  # the piece with the smallest loss that was kept
    kind: str = "prune"


@dataclass(frozen=True)
class FinishStep:
    """The vocabulary gets its final size."""

    size: int  # pieces before
    removed: Pieces  # and their scores
    added: Pieces  # characters that had been dropped, and their scores
    kind: str = "finish"


UnigramStep = SeedStep | EMStep | PruneStep | FinishStep


@dataclass(frozen=True)
class UnigramTrainer:
    """Learns a unigram vocabulary; the options are the library's, with its defaults.

    Args:
        vocab_size: the pieces of the vocabulary, special tokens included. There may be fewer if
            the corpus has fewer frequent substrings.
        special_tokens: come first, with score 0.
        initial_alphabet: characters that are kept even if the corpus lacks them.
        unk_token: the unknown token; it becomes the first piece unless it is a special token.
            None: there is none.
        max_piece_length: characters.
        shrinking_factor: the fraction of the pieces that a round of pruning leaves.
        n_sub_iterations: EM steps before each round.
        seed_size: approximately the largest number of seed pieces.
    """

    vocab_size: int = 8000
    special_tokens: "Sequence[str | AddedToken]" = ()
    initial_alphabet: Sequence[str] = ()
    unk_token: str | None = None
    max_piece_length: int = 16
    shrinking_factor: float = 0.75
    n_sub_iterations: int = 2
    seed_size: int = 1_000_000

    def train(self, word_counts: Mapping[str, int]) -> Training[Unigram, UnigramStep]:
        """Learns a vocabulary from words.

        Args:
            word_counts: how often each word (as the pre-tokenizer gives them) occurs.
        """
        steps: list[UnigramStep] = []
        trained: Scores = {}
        for step, scores in self.rounds(word_counts):
            steps.append(step)
            trained = scores
        return Training(self.model(trained), steps, self, nonempty(word_counts))

    def rounds(self, word_counts: Mapping[str, int]) -> Iterator[tuple[UnigramStep, Scores]]:
        """The training, step by step: each step of ``train``, and the scores after it.

        A word can be segmented after each step: ``trainer.model(scores).tokenize(word)``.
        Arguments and errors are those of ``train``.
        """
        words = dict(sorted(nonempty(word_counts).items()))
        required = self._required(words)
        scores = seed_scores(words, self.max_piece_length, self.seed_size)
        corpus = Corpus(words, scores)
        yield SeedStep(tuple(scores.items())), scores
        wanted = self.vocab_size * MARGIN // 10 - 1  # the library counts its unknown piece
        while True:
            for _ in range(self.n_sub_iterations):
                scores, em_step = self._em(corpus, scores, sum(words.values()))
                yield em_step, scores
            if len(scores) <= wanted:
                break
            scores, prune_step = self._prune(corpus, scores, sum(words.values()))
            yield prune_step, scores
            if not prune_step.removed:
                break  # only characters are left, and pieces that are no better than theirs
        scores, finish_step = self._finish(scores, required)
        yield finish_step, scores

    def model(self, scores: Mapping[str, float]) -> Unigram:
        """The model of some pieces: special tokens, then the pieces in their order."""
        pieces = [item for item in scores.items() if item[0] not in self._first]
        vocab = (*((token, 0.0) for token in self._first), *pieces)
        unk_id = None if self.unk_token is None else self._first.index(self.unk_token)
        return Unigram(unk_id, vocab)

    def to_library(self) -> "trainers.UnigramTrainer":
        """The same trainer of the ``tokenizers`` library."""
        from tokenizers import trainers

        return trainers.UnigramTrainer(
            vocab_size=self.vocab_size,
            show_progress=False,
            special_tokens=list(self.special_tokens),
            initial_alphabet=[*self.initial_alphabet],
            shrinking_factor=self.shrinking_factor,
            unk_token=self.unk_token,
            max_piece_length=self.max_piece_length,
            n_sub_iterations=self.n_sub_iterations,
            seed_size=self.seed_size,  # type: ignore[call-arg]  # not in its stubs
        )

    @property
    def _first(self) -> list[str]:
        """The special tokens, the unknown one among them."""
        special = contents(self.special_tokens)
        if self.unk_token is None or self.unk_token in special:
            return special
        return [self.unk_token, *special]

    def _required(self, words: Mapping[str, int]) -> list[str]:
        """The characters that must be kept."""
        required = sorted(set(self.initial_alphabet).union(*words) - set(self._first))
        if len(required) + len(self._first) > self.vocab_size:
            raise too_small(self.vocab_size, len(required) + len(self._first))
        return required

    def _em(self, corpus: Corpus, scores: Scores, words: int) -> tuple[Scores, EMStep]:
        """New scores; the pieces keep their order."""
        likelihood, expected = corpus.expected_counts(scores)
        counts = {piece: expected.get(piece, 0.0) for piece in scores}
        updated = maximize(counts)
        removed = tuple((piece, counts[piece]) for piece in scores if piece not in updated)
        tokens = sum(expected.values())
        return updated, EMStep(len(scores), likelihood / words, tokens, removed)

    def _prune(self, corpus: Corpus, scores: Scores, words: int) -> tuple[Scores, PruneStep]:
        """The pieces that are kept: first those that must be, then the others by falling loss."""
        counts = corpus.best_counts(scores)
        total = sum(counts.values())
        used = [piece for piece in scores if len(piece) > 1 and counts.get(piece, 0.0) > 0]
        alternatives = corpus.alternatives(scores, used)
        # A piece that occurs though it is no better than its parts (a tie) is kept.
        losses = {
            piece: loss(
                counts[piece],
                [counts.get(part, 0.0) for part in alternatives[piece].pieces],
                total,
                words,
                growth=len(scores),
            )
            for piece in used
            if scores[piece] > alternatives[piece].score
        }
        unused = {piece for piece in scores if len(piece) > 1} - set(used)
        kept = [piece for piece in scores if piece not in losses and piece not in unused]
        ranked = sorted(losses.items(), key=lambda item: -item[1])
        # The library counts its unknown piece: + 1, and - 1 below.
        size = max(self.vocab_size * MARGIN // 10, int((len(scores) + 1) * self.shrinking_factor))
        room = max(size - 1 - len(kept), 0)
        spared, pruned = ranked[:room], ranked[room:][::-1]
        removed = [*((piece, 0.0) for piece in scores if piece in unused), *pruned]
        kept += [piece for piece, _ in spared]
        step = PruneStep(len(scores), tuple(removed), spared[-1] if spared else None)
        return {piece: scores[piece] for piece in kept}, step

    def _finish(self, scores: Scores, required: list[str]) -> tuple[Scores, FinishStep]:
        """The pieces of the model, by falling score."""
        lowest = min(scores.values(), default=0.0)
        lost = [character for character in required if character not in scores]
        added = {piece: lowest + ADDED_STEP * number for number, piece in enumerate(lost)}
        pieces = {piece: scores.get(piece, added.get(piece, 0.0)) for piece in required}
        others = [piece for piece in scores if piece not in pieces and piece not in self._first]
        room = self.vocab_size - len(self._first) - len(pieces)
        pieces |= {piece: scores[piece] for piece in others[:room]}
        ranked = sorted(pieces.items(), key=lambda item: -item[1])
        removed = tuple((piece, scores[piece]) for piece in others[room:])
        return dict(ranked), FinishStep(len(scores), removed, tuple(added.items()))
