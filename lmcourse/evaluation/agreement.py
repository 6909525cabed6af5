"""Agreement: which number a verb has, given that a verb that agrees stands there.

A model's whole answer at a verb is about more: whether a verb comes now, or another "near the …";
and which verb. How much more differs with what stands between subject and verb, so the gap of the
whole answer says little of agreement. So an answer p is cut down to its share of the singular forms
("is", "seems", "feels") among all forms that agree:

    p(singular | a verb that agrees) = p(singular forms) / (p(singular forms) + p(plural forms))

Floor, loss and gap of that are a part of the whole ones, by the chain rule: with v for such a verb,

    KL(p ‖ q) = KL of v or not + p(v) · KL of the number + what is left within each number

A model that knows nothing of number has log 2 = 0.693 nats, wherever it is asked. (Linzen et al.
2016, "Assessing the ability of LSTMs to learn syntax-sensitive dependencies", compare the
probabilities of two forms in this way.)
"""

import numpy as np
from jaxtyping import Bool, Float, Int

from lmcourse.corpus.bookworld import BookWorld
from lmcourse.evaluation.exact import Exact
from lmcourse.evaluation.phenomena import expected_words

Shares = Float[np.ndarray, "predicted two"]
"""Of each place p(singular) and p(plural), given a verb that agrees."""


class VerbNumber:
    """The forms of one world's verbs that agree with their subject.

    Attributes:
        forms: of each number, singular and plural, the ids of its words.
    """

    def __init__(self, world: BookWorld) -> None:
        self.forms = [_forms(world, number) for number in ("singular", "plural")]

    def exact(self, answer: Exact) -> Shares:
        """The exact shares; of no meaning where no such verb may stand."""
        count = len(answer.places)
        of_forms = [np.isin(answer.word, ids) for ids in self.forms]
        sums = [np.bincount(answer.row[it], answer.probability[it], count) for it in of_forms]
        # (NumPy counts nothing at all in whole numbers.)
        return _shares(np.stack(sums, 1).astype(np.float64))

    def model(self, q: Float[np.ndarray, "predicted vocab"]) -> Shares:
        """A model's shares; zeros where it gives all of these forms no probability."""
        return _shares(np.stack([q[:, ids].sum(1) for ids in self.forms], 1))

    def plural(self, targets: Int[np.ndarray, " predicted"]) -> Bool[np.ndarray, " predicted"]:
        """Whether what stands at each place is a plural form."""
        return np.isin(targets, self.forms[1])


def surprise(
    shares: Shares, plural: Bool[np.ndarray, " predicted"]
) -> Float[np.ndarray, " predicted"]:
    """−log of the share that the right number has, in nats."""
    with np.errstate(divide="ignore"):
        return -np.log(shares[np.arange(len(plural)), plural.astype(int)])


def divergence(exact: Shares, model: Shares) -> Float[np.ndarray, " predicted"]:
    """KL of the numbers, in nats."""
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(exact > 0, exact * (np.log(exact) - np.log(model)), 0.0)
    return np.maximum(terms.sum(1), 0.0)


def _forms(world: BookWorld, number: str) -> Int[np.ndarray, " form"]:
    return np.flatnonzero(expected_words(world, lambda tag: tag.agreement == ("verb", number)))


def _shares(sums: Shares) -> Shares:
    whole = sums.sum(1, keepdims=True)
    return np.divide(sums, whole, out=np.zeros_like(sums), where=whole > 0)
