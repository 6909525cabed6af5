"""How well vectors agree with human ratings of similarity, and which analogies they solve.

The score of similarities is the correlation of cosines and ratings: usually Spearman's for words,
Pearson's for documents. Both are returned. The raters of Lee's documents agree with each other by
about 0.6 (Lee et al. 2005, "An empirical evaluation of models of text document similarity").
`lmcourse.corpus.human_ratings` reads the data.
"""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float
from sklearn.metrics.pairwise import cosine_similarity
from sklearn.preprocessing import normalize

from lmcourse.corpus.tasks import Analogy
from lmcourse.corpus.vectors import WordVectors
from lmcourse.errors import CourseError
from lmcourse.evaluation.columns import as_arrays, column
from lmcourse.evaluation.glue import METRICS
from lmcourse.evaluation.uncertainty import RESAMPLES, Metric, Score, bootstrap, proportion

BATCH = 1 << 22  # cosines in memory at a time: 16 MiB


@dataclass(frozen=True)
class Agreement:
    """The correlations, the pairs that they are over, and the share of pairs without a vector."""

    spearman: Score
    pearson: Score
    ratings: Float[np.ndarray, " pair"]
    cosines: Float[np.ndarray, " pair"]
    missing: float


def word_similarity(
    vectors: WordVectors,
    pairs: Sequence[tuple[str, str, float]],
    *,
    case_insensitive: bool = True,
    restrict_vocab: int | None = None,
    resamples: int = RESAMPLES,
) -> Agreement:
    """Correlate cosines of words with human ratings, as gensim's ``evaluate_word_pairs`` does.

    Pairs with a word that has no vector are left out: compare vectors on the same pairs.

    Args:
        vectors: frequent words first.
        pairs: as from `read_word_pairs`.
        case_insensitive: of the forms of a word that differ in case, use the first.
        restrict_vocab: use only the first so many words.
        resamples: of the bootstrap over pairs.
    """
    fold, rows = _vocabulary(vectors, case_insensitive, restrict_vocab)
    covered = [each for each in pairs if fold(each[0]) in rows and fold(each[1]) in rows]
    if len(covered) < 2:
        raise _uncovered(f"{len(covered)} of {len(pairs):,} pairs have")
    words = [[vectors.words[rows[fold(word)][0]] for word in each[:2]] for each in covered]
    ratings = column([rating for *_, rating in covered], float)
    cosines = column([vectors.similarity(*each) for each in words], float)
    missing = 1 - len(covered) / len(pairs)
    return _agreement(len(covered), lambda i: (ratings[i], cosines[i]), resamples, missing)


def document_similarity(
    vectors: Any, ratings: Float[np.ndarray, "document document"], *, resamples: int = RESAMPLES
) -> Agreement:
    """Correlate cosines of documents with human ratings, over all pairs of two documents.

    Pairs that share a document are not independent, so the bootstrap draws documents.

    Args:
        vectors: an array, tensor or sparse matrix [document, width].
        ratings: symmetric, as from `read_lee`.
        resamples: of the bootstrap.
    """
    try:
        matrix = cosine_similarity(as_arrays(vectors)).astype(float)
    except ValueError as error:
        cause = f"The vectors have no cosines: {str(error).partition(chr(10))[0]}"
        raise CourseError(cause, "Pass one row of finite numbers per document.") from None
    if matrix.shape != ratings.shape:
        cause = f"There are {len(matrix)} vectors, and ratings of shape {ratings.shape}."
        raise CourseError(cause, "Pass one vector per document, in the order of the ratings.")
    first, second = np.triu_indices(len(matrix), 1)

    def select(documents: Any) -> tuple[np.ndarray, np.ndarray]:
        i, j = documents[first], documents[second]
        chosen = i[i != j], j[i != j]  # a document that is drawn twice is no pair
        return ratings[chosen], matrix[chosen]

    return _agreement(len(matrix), select, resamples)


@dataclass(frozen=True)
class AnalogyAnswers:
    """Answers to the questions that have vectors, and the share of those that have none.

    An answer is the word nearest to b − a + c. It is right if it is d; `third_word` is whether it
    is c itself.
    """

    questions: list[Analogy]
    answers: list[str]
    right: Bool[np.ndarray, " question"]
    third_word: Bool[np.ndarray, " question"]
    missing: float

    @property
    def accuracy(self) -> Score:
        """The share of right answers."""
        return proportion(self.right)

    @property
    def sections(self) -> dict[str, Score]:
        """The share of right answers in each section."""
        names = np.array([question.relation for question in self.questions])
        order = dict.fromkeys(names.tolist())
        return {name: proportion(self.right[names == name]) for name in order}


def answer_analogies(
    vectors: WordVectors,
    questions: Sequence[Analogy],
    *,
    exclude: bool = True,
    case_insensitive: bool = True,
    restrict_vocab: int | None = None,
) -> AnalogyAnswers:
    """Answer many questions as `WordVectors.analogy` and gensim's ``evaluate_word_analogies`` do.

    Args:
        vectors, case_insensitive, restrict_vocab: as in `word_similarity`.
        questions: as from `read_analogies`.
        exclude: a, b and c are not among the answers, as always in gensim.
    """
    fold, rows = _vocabulary(vectors, case_insensitive, restrict_vocab)
    asked = [each for each in questions if all(fold(word) in rows for word in each[:4])]
    if not asked:
        raise _uncovered(f"None of {len(questions):,} questions has")
    unit = normalize(vectors.vectors[:restrict_vocab])
    found: list[int] = []
    size = max(1, BATCH // len(unit))
    for start in range(0, len(asked), size):
        queries = [[rows[fold(word)] for word in each[:3]] for each in asked[start : start + size]]
        a, b, c = np.array([[forms[0] for forms in query] for query in queries]).T
        cosines = (unit[b] - unit[a] + unit[c]) @ unit.T  # times a factor for each question
        for row, query in enumerate(queries if exclude else []):
            cosines[row, np.concatenate(query)] = -np.inf
        found += cosines.argmax(1).tolist()
    answers = [vectors.words[row] for row in found]
    right, third_word = (
        np.array([fold(one[at]) == fold(word) for one, word in zip(asked, answers, strict=True)])
        for at in (3, 2)
    )
    return AnalogyAnswers(asked, answers, right, third_word, 1 - len(asked) / len(questions))


def _vocabulary(
    vectors: WordVectors, case_insensitive: bool, restrict_vocab: int | None
) -> tuple[Callable[[str], str], dict[str, list[int]]]:
    """How words are compared, and the rows of each word."""
    fold = str.upper if case_insensitive else str
    rows: dict[str, list[int]] = {}
    for row, word in enumerate(vectors.words[:restrict_vocab]):
        rows.setdefault(fold(word), []).append(row)
    return fold, rows


def _agreement(
    units: int,
    select: Callable[[Any], tuple[np.ndarray, np.ndarray]],
    resamples: int,
    missing: float = 0.0,
) -> Agreement:
    """Correlate what `select` returns, ratings and cosines, with a bootstrap over units."""

    def score(metric: Metric) -> Score:
        def measure(chosen: Any, _: Any) -> float:
            pairs = select(chosen)
            return metric(*pairs) if len(pairs[0]) > 1 else np.nan

        return bootstrap(measure, np.arange(units), np.arange(units), resamples=resamples)

    with warnings.catch_warnings():  # of SciPy, about constant values
        warnings.simplefilter("ignore")
        spearman, pearson = score(METRICS["Spearman"]), score(METRICS["Pearson"])
    return Agreement(spearman, pearson, *select(np.arange(units)), missing)


def _uncovered(cause: str) -> CourseError:
    remedy = "Pass vectors that include the words, or a higher restrict_vocab."
    return CourseError(f"{cause} vectors for all words.", remedy)
