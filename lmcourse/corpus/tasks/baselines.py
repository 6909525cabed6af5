"""What can be reached without understanding: the baseline that each task is stated with."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from lmcourse.corpus.bookworld.floors import ratio
from lmcourse.corpus.tasks.task import Best, SentencePair, Task, checked_option

PARTS = ("both", "first", "second")


def bag_of_words(train: Task[Any], test: Task[Any], part: str = "both") -> Best:
    """The accuracy of a logistic regression on which words a text has, whatever their order.

    For pairs it sees each sentence's words, the words that both have, and how many those are.

    Args:
        train, test: the same task from two seeds.
        part: of pairs, look at ``both``, or only at the ``first`` or the ``second`` sentence (the
            hypothesis: what it gives away alone is an artifact).

    Returns:
        Accuracy on ``test`` with its standard error (what is reached; not a bound).
    """
    from sklearn.feature_extraction import DictVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    checked_option("part", part, PARTS)
    model = make_pipeline(DictVectorizer(), LogisticRegression(C=0.3, solver="newton-cg"))
    model.fit(_features(train, part), [example.label for example in train.examples])
    answers = model.predict(_features(test, part))
    pairs = zip(answers, test.examples, strict=True)
    right = [float(answer == example.label) for answer, example in pairs]
    score, error = ratio(right, [1.0] * len(right))
    return Best(score, error, exact=False, how="Reached by a bag of words; more may be possible.")


def _features(task: Task[Any], part: str) -> list[dict[str, float]]:
    return [_bag(example, part) for example in task.examples]


def _bag(example: Any, part: str) -> dict[str, float]:
    if not isinstance(example, SentencePair):
        return _counts("", example.tokens)
    if part != "both":
        return _counts("", getattr(example, part))
    shared = set(example.first) & set(example.second)
    return {
        **_counts("first ", example.first),
        **_counts("second ", example.second),
        **_counts("both ", sorted(shared)),
        "shared words": float(len(shared)),
    }


def _counts(prefix: str, tokens: Sequence[str]) -> dict[str, float]:
    return {prefix + token: float(count) for token, count in Counter(tokens).items()}
