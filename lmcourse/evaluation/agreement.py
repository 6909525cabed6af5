"""Agreement: the number of a verb, given that an agreeing verb is at this position.

A model's distribution at a verb is about more: whether a verb comes now, or another "near the …";
and which verb. How much more depends on the words between subject and verb, so the gap of the full
distribution says little about agreement. Therefore a distribution p is reduced to the share of the
singular forms ("is", "seems", "feels") among all forms that agree:

    p(singular | agreeing verb) = p(singular forms) / (p(singular forms) + p(plural forms))

Its KL divergence is one term of the full one, by the chain rule: with v for such a verb,

    KL(p ‖ q) = KL(v or not) + p(v) · KL(number) + KL within each number

A model that ignores number has log 2 = 0.693 nats. (Linzen et al. 2016, "Assessing the ability of
LSTMs to learn syntax-sensitive dependencies", compare the probabilities of two forms in this way.)
"""

import numpy as np
from jaxtyping import Bool, Float, Int

from lmcourse.corpus.bookworld import BookWorld
from lmcourse.evaluation.exact import Exact
from lmcourse.evaluation.phenomena import expected_words

Shares = Float[np.ndarray, "predicted two"]
"""p(singular) and p(plural) at each position, given an agreeing verb."""


class VerbNumber:
    """The verb forms of one world that agree with their subject.

    Attributes:
        forms: the ids of the singular forms and of the plural forms.
    """

    def __init__(self, world: BookWorld) -> None:
        self.forms = [_forms(world, number) for number in ("singular", "plural")]

    def exact(self, answer: Exact) -> Shares:
        """Return the exact shares; meaningless where no such verb is possible."""
        count = len(answer.positions)
        of_forms = [np.isin(answer.word, ids) for ids in self.forms]
        sums = [np.bincount(answer.row[it], answer.probability[it], count) for it in of_forms]
        # (bincount of an empty array has integers.)
        return _shares(np.stack(sums, 1).astype(np.float64))

    def model(self, q: Float[np.ndarray, "predicted vocab"]) -> Shares:
        """Return a model's shares; zeros where all of these forms have no probability."""
        return _shares(np.stack([q[:, ids].sum(1) for ids in self.forms], 1))

    def plural(self, targets: Int[np.ndarray, " predicted"]) -> Bool[np.ndarray, " predicted"]:
        """Return whether the token at each position is a plural form."""
        return np.isin(targets, self.forms[1])


def surprise(
    shares: Shares, plural: Bool[np.ndarray, " predicted"]
) -> Float[np.ndarray, " predicted"]:
    """Return −log of the share of the right number, in nats."""
    with np.errstate(divide="ignore"):
        return -np.log(shares[np.arange(len(plural)), plural.astype(int)])


def divergence(exact: Shares, model: Shares) -> Float[np.ndarray, " predicted"]:
    """Return the KL divergence of the shares, in nats."""
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(exact > 0, exact * (np.log(exact) - np.log(model)), 0.0)
    return np.maximum(terms.sum(1), 0.0)


def _forms(world: BookWorld, number: str) -> Int[np.ndarray, " form"]:
    return np.flatnonzero(expected_words(world, lambda tag: tag.agreement == ("verb", number)))


def _shares(sums: Shares) -> Shares:
    whole = sums.sum(1, keepdims=True)
    return np.divide(sums, whole, out=np.zeros_like(sums), where=whole > 0)
