"""The plain baselines: each word's most frequent tag, and a perceptron on features.

The perceptron is Collins's (2002, "Discriminative training methods for hidden Markov models",
sections 2 and 4) with averaged weights, and with the features of Ratnaparkhi (1996, "A maximum
entropy model for part-of-speech tagging", table 1) and some more. It tags a sentence from left to
right, and the two tags that it gave to the words before are features, too.
"""

import random
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from lmcourse.corpus.brown import Sentence
from research.tagging.text import Text

EDGE = "<edge>"  # in place of a word before the first one or after the last one
LONGEST = 4  # characters of a prefix or a suffix


class MostFrequentTag:
    """The tag that a word has most often in training; for unseen words, that of words seen once."""

    def __init__(self, text: Text) -> None:
        self.tag_of = {word: tags.most_common(1)[0][0] for word, tags in text.tags_of.items()}
        once = Counter(self.tag_of[it] for it, tags in text.tags_of.items() if tags.total() == 1)
        self.unseen = once.most_common(1)[0][0]
        self.num_parameters = len(self.tag_of)

    def tagged(self, sentences: Sequence[Sentence]) -> list[list[str]]:
        """A tag for each token."""
        return [[self.tag_of.get(word, self.unseen) for word in it.words] for it in sentences]


def features(words: Sequence[str], at: int) -> Iterator[str]:
    """The features of a word in its sentence, without tags."""
    padded = [EDGE, EDGE, *words, EDGE, EDGE]
    before2, before, word, after, after2 = padded[at : at + 5]
    yield f"word {word}"
    yield f"lower {word.lower()}"
    for length in range(1, min(LONGEST, len(word)) + 1):
        yield f"prefix {word[:length]}"
        yield f"suffix {word[-length:]}"
    digit, hyphen = any(map(str.isdigit, word)), "-" in word
    yield f"shape {word[0].isupper()} {word.isupper()} {word.islower()} {digit} {hyphen} {at == 0}"
    yield f"before {before}"
    yield f"two before {before2}"
    yield f"after {after}"
    yield f"two after {after2}"
    yield f"suffix before {before[-3:]}"
    yield f"suffix after {after[-3:]}"
    yield f"upper after {after[0].isupper()}"
    yield f"pair before {before} {word}"
    yield f"pair after {word} {after}"
    yield f"around {before} {after}"


class Perceptron:
    """A weight for each feature and tag; see the module.

    Args:
        text: what it learns from.
        epochs: how often.
        seed: of the sentences' order.
    """

    def __init__(self, text: Text, epochs: int, seed: int) -> None:
        self.tags, self.words = text.tags, {word: at for at, word in enumerate(text.tags_of)}
        self.index: dict[str, int] = {}
        for sentence in text.train:
            for at in range(len(sentence.words)):
                for feature in features(sentence.words, at):
                    self.index.setdefault(feature, len(self.index))
        # Rows after those of `index`: for the tag before, for two tags, for a tag and a word. The
        # number after the last tag's is that of no tag, before the first word.
        self.history = len(self.tags) + 1
        rows = len(self.index) + self.history * (1 + self.history + len(self.words))
        weights = np.zeros((rows, len(self.tags)), np.float32)
        self.weights, sums = weights, np.zeros_like(weights, np.float64)
        inputs = [self._rows(sentence) for sentence in text.train]
        golds = [[self.tags.index(tag) for tag in sentence.tags] for sentence in text.train]
        order, draw, step = list(range(len(inputs))), random.Random(seed), 1
        for _ in range(epochs):
            draw.shuffle(order)
            for number in order:
                guesses = self._guesses(inputs[number])
                for (rows_of, guess), gold in zip(guesses, golds[number], strict=True):
                    if guess != gold:
                        for tag, sign in ((gold, 1), (guess, -1)):
                            weights[rows_of, tag] += sign
                            sums[rows_of, tag] += sign * step
                    step += 1
        self.weights = (weights - sums / step).astype(np.float32)  # the mean over all steps
        self.num_parameters = int(np.count_nonzero(self.weights))

    def tagged(self, sentences: Sequence[Sentence]) -> list[list[str]]:
        """A tag for each token."""
        return [
            [self.tags[guess] for _, guess in self._guesses(self._rows(sentence))]
            for sentence in sentences
        ]

    def _rows(self, sentence: Sentence) -> list[tuple[list[int], int | None]]:
        """For each token, the rows of its features without tags, and its word's number."""
        words = sentence.words
        known = [
            [self.index[it] for it in features(words, at) if it in self.index]
            for at in range(len(words))
        ]
        return [(rows, self.words.get(word)) for rows, word in zip(known, words, strict=True)]

    def _guesses(
        self, tokens: Sequence[tuple[list[int], int | None]]
    ) -> Iterator[tuple[NDArray[np.int64], int]]:
        """Yield the rows of each token's features, and the tag with the highest score.

        Weights may change between two tokens.
        """
        before2 = before = len(self.tags)
        pairs = len(self.index) + self.history
        with_words = pairs + self.history**2
        for static, word in tokens:
            rows = [*static, len(self.index) + before, pairs + before * self.history + before2]
            if word is not None:
                rows.append(with_words + word * self.history + before)
            array = np.array(rows)
            guess = int(self.weights[array].sum(0).argmax())
            before2, before = before, guess
            yield array, guess
