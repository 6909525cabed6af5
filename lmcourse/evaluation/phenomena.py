"""Word classes and linguistic phenomena of BookWorld's tokens.

Word classes are a partition: every token is in one, the end of the review with the punctuation. A
token may show several phenomena, or none. Both follow from the labels of a review, except for the
nouns that indicate the genre and the adjectives that indicate the rating: these follow from the
exact expected frequency of each word by genre and rating.
"""

from collections.abc import Callable

import numpy as np
from jaxtyping import Bool, Float

from lmcourse.corpus.bookworld import BookWorld, Review
from lmcourse.corpus.bookworld.registers import CHARACTERS
from lmcourse.corpus.bookworld.templates import Tag

ALL = "all"
# By Universal Dependencies' names of parts of speech.
CLASSES: dict[str, tuple[str, ...]] = {
    "function words": ("DET", "ADP", "AUX", "CCONJ", "SCONJ", "PART", "PRON"),
    "nouns": ("NOUN",),
    "names": ("PROPN",),
    "verbs": ("VERB",),
    "adjectives and adverbs": ("ADJ", "ADV"),
    "numbers and interjections": ("NUM", "INTJ"),
    "punctuation and end": ("PUNCT",),
}
NEW, AGAIN = "characters, first mention", "characters, repeated mention"
BOOK = "title and author"
PRONOUNS = "pronouns of characters"
TOPIC = "topic nouns"
AMBIGUOUS = "ambiguous nouns"
# Nouns between subject and verb. The number of the verb is measured: see .agreement.
AGREEMENT = (
    "agreement, no noun between",
    "agreement, 1 noun between",
    "agreement, 2 nouns between",
    "agreement, 3 or more between",
)
VERDICTS, STARS = "ratings: verdicts", "ratings: stars"
PHENOMENA = (NEW, AGAIN, BOOK, PRONOUNS, TOPIC, AMBIGUOUS, *AGREEMENT, VERDICTS, STARS)
NAMES = (ALL, *CLASSES, *PHENOMENA)

TOPICAL = 0.5  # a topic noun has more than this share of its occurrences in one genre
INFORMATIVE = 0.1  # a verdict has at least so many nats of information about the rating
_RATED = "rating"  # the sense of "stars" in "four stars"


class Phenomena:
    """The phenomena of each token in the reviews of one world.

    Attributes:
        topics: the nouns with more than half of their occurrences in one genre.
        verdicts: the adjectives with 0.1 nats or more of information about the rating: the KL
            divergence of their ratings from the prior.
    """

    def __init__(self, world: BookWorld) -> None:
        network = world.network
        by_genre = _expected(world, lambda tag: tag.part_of_speech == "NOUN").sum(2)
        by_rating = _expected(world, lambda tag: tag.part_of_speech == "ADJ").sum(1)
        prior = network.prior.reshape(network.genres, network.ratings).sum(0)
        genres, ratings = _shares(by_genre), _shares(by_rating)
        with np.errstate(divide="ignore", invalid="ignore"):
            information = np.where(ratings > 0, ratings * np.log(ratings / prior), 0).sum(1)
        several = network.genres > 1
        self.topics = _words(world, (genres.max(1) > TOPICAL) & several)
        self.verdicts = _words(world, information >= INFORMATIVE)

    def of(self, review: Review) -> Bool[np.ndarray, "phenomenon token"]:
        """Return whether each token of a review, with the end mark, shows each of `NAMES`."""
        tokens, tags = review.tokens, review.tags
        found = np.zeros((len(NAMES), len(tokens) + 1), bool)
        row = dict(zip(NAMES, found, strict=True))
        row[ALL][:] = True
        parts = np.array([*review.parts_of_speech, "PUNCT"])
        for name, members in CLASSES.items():
            row[name][:] = np.isin(parts, members)
        row[PRONOUNS][:-1] = [it is not None for it in review.antecedents]
        row[BOOK][:-1] = [(tag.register or "").startswith("book.") for tag in tags]
        row[AMBIGUOUS][:-1] = [tag.sense not in (None, _RATED) for tag in tags]
        row[TOPIC][:-1] = [
            tag.part_of_speech == "NOUN" and tag.register is None and token in self.topics
            for token, tag in zip(tokens, tags, strict=True)
        ]
        self._characters(tags, row[NEW], row[AGAIN])
        for verb in review.agreements:
            row[AGREEMENT[min(verb.attractors, len(AGREEMENT) - 1)]][verb.verb] = True
        self._ratings(review, row[VERDICTS], row[STARS])
        return found

    @staticmethod
    def _characters(tags: list[Tag], new: np.ndarray, again: np.ndarray) -> None:
        met = set()
        for position, tag in enumerate(tags):
            if tag.register in CHARACTERS:
                (again if tag.register in met else new)[position] = True
                met.add(tag.register)

    def _ratings(self, review: Review, verdicts: np.ndarray, stars: np.ndarray) -> None:
        tags = review.tags
        for sentence in review.sentences:
            for position in range(sentence.start, sentence.end):
                if sentence.stage == "opinion" and tags[position].part_of_speech == "ADJ":
                    verdicts[position] = review.tokens[position] in self.verdicts
                if tags[position].sense == _RATED and position:
                    stars[position - 1] = True  # the number before "stars"


def expected_words(world: BookWorld, wanted: Callable[[Tag], bool]) -> Float[np.ndarray, " word"]:
    """Return the expected frequency in a review of each word with such a label."""
    found: np.ndarray = _expected(world, wanted).sum((1, 2))
    return found


def _expected(
    world: BookWorld, wanted: Callable[[Tag], bool]
) -> Float[np.ndarray, "word genre rating"]:
    """The expected frequency of each word with such a label, by latent class.

    Words of registers (names, titles) are left out.
    """
    network = world.network
    labeled = np.array([wanted(tag) for tag in network.tags])[network.tag]
    used = labeled & (network.reads[network.emission] < 0)
    flow = network.visits[network.source[used]] * network.weight[used] * network.prior
    by_emission = np.zeros((len(network.reads), len(network.prior)))
    np.add.at(by_emission, network.emission[used], flow)
    found = np.zeros((len(network.vocabulary), len(network.prior)))
    for emission in np.flatnonzero(by_emission.any(1)).tolist():
        share = network.emission_probabilities[emission][:, None]
        np.add.at(found, network.emission_ids[emission], share * by_emission[emission])
    return found.reshape(-1, network.genres, network.ratings)


def _shares(counts: np.ndarray) -> np.ndarray:
    """Each row divided by its sum; rows of zeros stay."""
    total = counts.sum(1, keepdims=True)
    return np.divide(counts, total, out=np.zeros_like(counts), where=total > 0)


def _words(world: BookWorld, chosen: np.ndarray) -> frozenset[str]:
    return frozenset(world.vocabulary[id_] for id_ in np.flatnonzero(chosen).tolist())
