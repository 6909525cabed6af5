"""word2vec's training beside gensim's, step by step.

gensim trains one pair after the other. It finds its sigmoids in a table of 1,000 entries over
−6 … 6, and its invented words by a generator of its own in a table of cumulated noise (its source:
gensim/models/word2vec_inner.pyx). Here its draws are repeated, and our scores are moved to where
its table has an entry; every change of a vector is a gradient of our loss.

Two habits of its are not in the equations. Skip-gram looks from each context word to the middle,
which is the same set of pairs in another order. And CBOW changes each context vector by the
gradient of their mean, without dividing it by their number.
"""

from copy import deepcopy
from dataclasses import dataclass
from importlib.util import find_spec
from random import Random
from typing import Any

import numpy as np
import torch
from torch import Tensor

from lmcourse.models.context_windows import context_windows
from lmcourse.models.negative_sampling import (
    keep_probability,
    negative_sampling_loss,
    noise_distribution,
)
from lmcourse.models.word2vec import CBOW, SkipGram, Word2VecConfig
from tests.parity.comparing import Architecture, Comparison, shaken

ENTRIES, LIMIT = 1000, 6
A_UNIT = ENTRIES // LIMIT // 2  # of a score, in entries: the program rounds 83⅓ down


@dataclass(frozen=True)
class Setting:
    """One text and how it is trained on."""

    counts: list[int]
    sentence: list[int]
    window: int
    negatives: int
    rate: float


class Unclear(Exception):
    """A run that says nothing.

    A word was drawn twice for one pair, which gensim lets see its own change, or a score stands on
    the edge between two entries of the table.
    """


def setting(draw: Random) -> Setting:
    size = draw.randint(60, 150)
    return Setting(
        counts=sorted(draw.sample(range(1, 500), size), reverse=True),
        sentence=[draw.randrange(size) for _ in range(draw.randint(3, 7))],
        window=draw.randint(1, 3),
        negatives=draw.randint(1, 4),
        rate=draw.choice([0.025, 0.1, 0.3]),
    )


def theirs(chosen: Setting, model: SkipGram | CBOW, seed: int) -> Any:
    """gensim's model with a copy of our vectors, not yet trained."""
    from gensim.models import Word2Vec  # type: ignore[import-untyped]

    reference = Word2Vec(
        vector_size=model.config.hidden_size,
        sg=int(isinstance(model, SkipGram)),
        window=chosen.window,
        negative=chosen.negatives,
        seed=seed,
        min_count=1,
        sample=0.01,
        workers=1,
        shrink_windows=False,
        compute_loss=True,
    )
    words = {f"w{number}": times for number, times in enumerate(chosen.counts)}
    reference.build_vocab_from_freq(words)
    reference.sample = 0  # its table of what is kept is there, but no word is left out
    reference.wv.vectors[:] = model.input_embeddings.weight.detach().numpy()
    reference.syn1neg[:] = model.output_embeddings.weight.detach().numpy()
    return reference


class Draws:
    """gensim's generator of invented words, repeated from the state that it will start from."""

    def __init__(self, reference: Any) -> None:
        random = deepcopy(reference.random)
        high, low = random.randint(0, 2**24), random.randint(0, 2**24)
        self.state, self.table = 2**24 * int(high) + int(low), reference.cum_table

    def __call__(self, number: int, target: int) -> Tensor:
        drawn = []
        for _ in range(number):
            place = (self.state >> 16) % int(self.table[-1])
            drawn.append(int(np.searchsorted(self.table, place, side="left")))
            self.state = (self.state * 25214903917 + 11) % 2**48
        others = [word for word in drawn if word != target]
        if len(set(others)) < len(others):
            raise Unclear
        return torch.tensor([drawn])


def at_entries(scores: Tensor) -> Tensor:
    """The scores where the table has an entry, with the gradient of the scores themselves."""
    place = (scores.detach() + LIMIT) * A_UNIT
    if bool((place - place.round()).abs().min() < 1e-3):
        raise Unclear
    entry = (place.floor() / ENTRIES * 2 - 1) * LIMIT
    return scores + (entry - scores).detach()


def step(
    model: SkipGram | CBOW, inputs: dict[str, Tensor], target: Tensor, rate: float, of_each: int
) -> float:
    """One step of gradient descent on one prediction; the loss as gensim counts it.

    Args:
        of_each: by how much gensim changes the input vectors more than the gradient says.
    """
    result = model(**inputs)
    assert result.negative_scores is not None
    counted = inputs["negatives"] != target.unsqueeze(-1)
    scores, negative = result.scores, result.negative_scores
    model.zero_grad()
    negative_sampling_loss(at_entries(scores), at_entries(negative), counted).backward()
    with torch.no_grad():
        for embeddings, factor in ((model.input_embeddings, of_each), (model.output_embeddings, 1)):
            assert embeddings.weight.grad is not None
            embeddings.weight -= rate * factor * embeddings.weight.grad
        # The loss has a table of its own, whose entries stand below −u·v for an invented word.
        loss = negative_sampling_loss(at_entries(scores), -at_entries(-negative), counted)
    return float(loss)


def train(chosen: Setting, model: SkipGram | CBOW, draws: Draws) -> float:
    """One epoch of ours, in gensim's order; the summed loss."""
    total = 0.0
    windows = context_windows([chosen.sentence], chosen.window)
    for center, contexts, mask in zip(
        windows.centers[:, None], windows.contexts, windows.mask, strict=True
    ):
        if isinstance(model, CBOW):
            drawn = draws(chosen.negatives, int(center))
            inputs = {"centers": center, "contexts": contexts[None], "context_mask": mask[None]}
            inputs["negatives"] = drawn
            total += step(model, inputs, center, chosen.rate, int(mask.sum()))
            continue
        for context in contexts[mask].split(1):
            drawn = draws(chosen.negatives, int(center))
            inputs = {"centers": context, "contexts": center, "negatives": drawn}
            total += step(model, inputs, center, chosen.rate, 1)
    return total


def compare(kind: type[SkipGram] | type[CBOW], draw: Random, comparison: Comparison) -> None:
    """One epoch of both from the same vectors, in the first setting that says something."""
    for seed in range(1, 1000):
        chosen = setting(draw)
        start = shaken(kind(Word2VecConfig(len(chosen.counts), draw.randint(2, 8))))
        ours = deepcopy(start)
        reference = theirs(chosen, ours, seed)
        try:
            loss = train(chosen, ours, Draws(reference))
        except Unclear:
            continue
        break
    reference.train(
        [[f"w{word}" for word in chosen.sentence]],
        total_examples=1,
        epochs=1,
        start_alpha=chosen.rate,
        end_alpha=chosen.rate,
        compute_loss=True,
    )
    trained = [torch.tensor(reference.wv.vectors), torch.tensor(reference.syn1neg)]
    comparison.add("outputs", list(ours.parameters()), trained, name="vectors")
    comparison.add("loss", torch.tensor(loss), torch.tensor(reference.get_latest_training_loss()))
    before = list(start.parameters())
    ours_changed, theirs_changed = (
        [(one - other).detach() / chosen.rate for one, other in zip(after, before, strict=True)]
        for after in (ours.parameters(), trained)
    )
    comparison.add("gradients", ours_changed, theirs_changed, name="change")
    counts = torch.tensor(chosen.counts)
    table = torch.tensor(np.diff(reference.cum_table, prepend=0) / 2**31)
    comparison.add("outputs", noise_distribution(counts), table, name="noise")
    kept = [reference.wv.get_vecattr(f"w{n}", "sample_int") for n in range(len(counts))]
    odds = torch.tensor(np.array(kept) / (2**32 - 1))
    comparison.add("outputs", keep_probability(counts, 0.01), odds, name="kept")


def skip_gram(draw: Random, dtype: torch.dtype, comparison: Comparison) -> None:
    compare(SkipGram, draw, comparison)


def cbow(draw: Random, dtype: torch.dtype, comparison: Comparison) -> None:
    compare(CBOW, draw, comparison)


ROWS = (
    Architecture("skip-gram, one epoch", "gensim.models.Word2Vec", skip_gram, (torch.float32,)),
    Architecture("CBOW, one epoch", "gensim.models.Word2Vec", cbow, (torch.float32,)),
)
HERE = find_spec("gensim") is not None
"""gensim comes with the maintainers' packages; the rows are left out where it is not."""

ARCHITECTURES = ROWS if HERE else ()
LEFT_OUT = {} if HERE else {row.name: "gensim is not installed" for row in ROWS}
