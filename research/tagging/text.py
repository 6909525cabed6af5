"""The Brown corpus for taggers: which texts train, which choose settings, and which test.

Whole texts are held out, since the sentences of one text share names and terms. Each genre's texts
are numbered from 0 in the order of the corpus: every twentieth validates, every tenth tests, and
every genre is in both. Training texts are drawn at random from the others.
"""

import hashlib
import random
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from lmcourse.corpus.brown import Sentence
from lmcourse.errors import CourseError

VALIDATION, TEST = (2,), (5, 15)  # modulo 20; science fiction has six texts, and so both
WORDS = 100_000  # of the training text, which ends with a whole text
FICTION = ("fiction", "mystery", "science_fiction", "adventure", "romance")
EVERY, WITHOUT = "all genres", "without fiction"
EXCLUDED: dict[str, tuple[str, ...]] = {EVERY: (), WITHOUT: FICTION}
"""For each task, the genres that do not train. Both have the same validation and test texts."""
ALL, UNSEEN, AMBIGUOUS = "all", "unseen", "ambiguous"
KINDS = (ALL, UNSEEN, AMBIGUOUS)
"""All tokens; those of words that the training text does not have; those of words that have more
than one tag in it."""


@dataclass(frozen=True)
class Text:
    """The sentences of one task."""

    train: list[Sentence]
    validation: list[Sentence]
    test: list[Sentence]

    @cached_property
    def digest(self) -> str:
        """A fingerprint of everything that taggers read."""
        splits = (self.train, self.validation, self.test)
        content = repr([[(it.text, it.words, it.tags) for it in split] for split in splits])
        return hashlib.sha256(content.encode()).hexdigest()[:16]

    @cached_property
    def tags_of(self) -> dict[str, Counter[str]]:
        """How often each word of the training text has each tag."""
        found: dict[str, Counter[str]] = defaultdict(Counter)
        for sentence in self.train:
            for word, tag in zip(sentence.words, sentence.tags, strict=True):
                found[word][tag] += 1
        return dict(found)

    @cached_property
    def tags(self) -> list[str]:
        """The different tags of the training text."""
        return sorted({tag for counts in self.tags_of.values() for tag in counts})

    @cached_property
    def genres(self) -> dict[str, str]:
        """The genre of each text of the test, by its name."""
        return {sentence.text: sentence.genre for sentence in self.test}

    def right(self, predicted: Iterable[Iterable[str]]) -> dict[str, list[int]]:
        """For each of `KINDS`, the number of right tags in each text of the test.

        Args:
            predicted: a tag for each token of each sentence.
        """
        found = {kind: dict.fromkeys(self.genres, 0) for kind in KINDS}
        for sentence, tags in zip(self.test, predicted, strict=True):
            for word, tag, gold in zip(sentence.words, tags, sentence.tags, strict=True):
                known = len(self.tags_of.get(word, ()))
                for kind in (ALL, *[UNSEEN] * (not known), *[AMBIGUOUS] * (known > 1)):
                    found[kind][sentence.text] += tag == gold
        return {kind: list(counts.values()) for kind, counts in found.items()}

    def counts(self) -> dict[str, list[int]]:
        """For each split, the number of texts, of sentences and of words."""
        splits = {"training": self.train, "validation": self.validation, "test": self.test}
        return {
            name: [len({it.text for it in split}), len(split), size(split)]
            for name, split in splits.items()
        }


def texts_of(sentences: Iterable[Sentence], words: int = WORDS) -> dict[str, Text]:
    """The tasks' texts, by the names of `EXCLUDED`.

    Args:
        sentences: of the corpus.
        words: the least number of training words.

    Raises:
        CourseError: a task has fewer words, or nothing to validate or to test with.
    """
    by_text: dict[str, list[Sentence]] = defaultdict(list)
    for sentence in sentences:
        by_text[sentence.text].append(sentence)
    splits: dict[int, list[list[Sentence]]] = defaultdict(list)
    numbers: Counter[str] = Counter()
    for text in by_text.values():
        splits[numbers[text[0].genre] % 20].append(text)
        numbers[text[0].genre] += 1
    validation, test = (
        list(chain(*chain(*[splits.pop(number, []) for number in held_out])))
        for held_out in (VALIDATION, TEST)
    )
    others = list(chain(*splits.values()))
    random.Random(0).shuffle(others)
    found = {}
    for task, excluded in EXCLUDED.items():
        train: list[Sentence] = []
        for text in others:
            if text[0].genre not in excluded and size(train) < words:
                train += text
        if size(train) < words or not validation or not test:
            raise CourseError(
                f"The corpus has {size(train):,} words to train on ({task}), {size(validation):,} "
                f"to validate and {size(test):,} to test with.",
                f"Give the whole corpus: {words:,} words train. `lmcourse real install` installs "
                "it.",
            )
        found[task] = Text(train, validation, test)
    return found


def size(sentences: Iterable[Sentence]) -> int:
    """The number of words."""
    return sum(len(sentence.words) for sentence in sentences)
