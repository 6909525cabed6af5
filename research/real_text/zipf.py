"""Zipf's law by genre, at one sample size: f ∝ 1 / rank^s, estimated in two ways.

Both ways are in use and disagree; so do cutoffs, so two of them are shown.

- Maximum likelihood (Clauset, Shalizi and Newman 2009, "Power-law distributions in empirical data",
  equation 3.5): the number of words that occur n times is ∝ n^−γ for n ≥ the cutoff. Ranks then
  have s = 1 / (γ − 1) (Adamic and Huberman 2002, "Zipf's law and the Internet").
- Least squares of log frequency on log rank, over the words with n ≥ the cutoff.

Vocabularies depend on the size of the sample, so each sample is four texts of equally many words.
Standard errors are the delete-d jackknife's (Shao and Wu 1989, "A general theory for jackknife
variance estimation"): samples of m of n texts are drawn without replacement, because a text that is
drawn twice would make all its words frequent; the deviation is that over samples · √(m / (n − m)).
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import chain

import numpy as np
from jaxtyping import Int
from scipy import stats
from scipy.optimize import minimize_scalar
from scipy.special import zeta

from lmcourse import table_forms
from lmcourse.corpus.brown import GENRES
from lmcourse.evaluation.uncertainty import LEVEL, Score
from research.real_text.classifiers import plain
from research.real_text.sources import PACKAGES, Sources, Units, Values

LENGTH, TEXTS, SAMPLES, SEED = 1_900, 4, 200, 0  # words of a text; texts of a sample; samples
CUTOFFS = (1, 5)
WORLD = "BookWorld"
SETUP = {
    "words": "tokens with a letter or digit, in lower case; of each text, the first "
    f"{LENGTH:,}; BookWorld's reviews (test split) are joined to texts of that length",
    "texts of a sample": TEXTS,
    "samples": SAMPLES,
    "cutoffs": list(CUTOFFS),
    "seed": SEED,
    "packages": [PACKAGES["brown"]],
}
Counts = Int[np.ndarray, " word"]
"""How often each word occurs."""


def by_likelihood(counts: Counts, cutoff: int) -> float:
    """The exponent s from the maximum-likelihood γ."""
    kept = counts[counts >= cutoff]
    logs = np.log(kept).mean()
    found = minimize_scalar(
        lambda gamma: gamma * logs + np.log(zeta(gamma, cutoff)), bounds=(1.01, 8)
    )
    return 1 / (float(found.x) - 1)


def by_squares(counts: Counts, cutoff: int) -> float:
    """The exponent s as minus the slope on logarithmic axes."""
    kept = np.sort(counts[counts >= cutoff])[::-1]
    return -float(np.polyfit(np.log(np.arange(1, len(kept) + 1)), np.log(kept), 1)[0])


EXPONENTS: dict[str, Callable[[Counts], float]] = {
    **{f"likelihood, n ≥ {it}": partial(by_likelihood, cutoff=it) for it in CUTOFFS},
    **{f"squares, n ≥ {it}": partial(by_squares, cutoff=it) for it in CUTOFFS},
}
MEASURES: dict[str, Callable[[Counts], float]] = {
    **EXPONENTS,
    "types / tokens": lambda counts: len(counts) / counts.sum(),
    "hapaxes / types": lambda counts: (counts == 1).mean(),
}


def words_of(genre: str, sources: Sources) -> list[list[str]]:
    """The texts of a genre of Brown, or of BookWorld, each with `LENGTH` words."""
    if genre == WORLD:
        tokens = chain.from_iterable(it.tokens for it in sources.world.split("test"))
        words = [token for token in tokens if _is_word(token)]
        return [words[at : at + LENGTH] for at in range(0, len(words) - LENGTH + 1, LENGTH)]
    texts = [text for text in sources.brown if text.genre == genre]
    return [
        [w.lower() for it in text.sentences for w in it.words if _is_word(w)][:LENGTH]
        for text in texts
    ]


def _is_word(token: str) -> bool:
    return any(map(str.isalnum, token))


def measured(genre: str, sources: Sources) -> Values:
    """Each measure's mean over samples of texts, with its jackknife interval."""
    texts = words_of(genre, sources)
    draw = np.random.default_rng(SEED)
    samples = [draw.choice(len(texts), TEXTS, replace=False) for _ in range(SAMPLES)]
    counts = [
        np.array(list(Counter(chain.from_iterable(texts[it] for it in chosen)).values()))
        for chosen in samples
    ]
    found = {
        name: jackknife([measure(each) for each in counts], len(texts))
        for name, measure in MEASURES.items()
    }
    return {"texts": len(texts), **found}


def jackknife(sampled: Sequence[float], texts: int) -> Score:
    """The mean of a measure over samples of `TEXTS` of the texts, with Student's interval."""
    mean, deviation = float(np.mean(sampled)), float(np.std(sampled))
    error = deviation * np.sqrt(TEXTS / (texts - TEXTS))
    margin = float(stats.t.ppf((1 + LEVEL) / 2, texts - 1)) * error
    return Score(mean, float(error), mean - margin, mean + margin)


UNITS: Units = {genre: partial(measured, genre) for genre in (*GENRES, WORLD)}
READING = """Samples of {texts} texts, {words:,} words each; brackets: 95 % interval over texts. All
four exponents are s, which is 1 in Zipf's own law. The order of the genres depends on the estimator
and the cutoff; Spearman's correlation of the genres' exponents with those of "{reference}":
{others}.
Where exponents change with the cutoff, frequencies follow no power law."""


def section(units: Mapping[str, Values]) -> str:
    """The page's part."""
    rows = [
        [name, f"{it['texts']}", *(plain(it[measure]) for measure in MEASURES)]
        for name, it in units.items()
    ]
    exponents = {it: [units[name][it][0] for name in units if name != WORLD] for it in EXPONENTS}
    reference, *others = exponents
    orders = [
        f"{it} {stats.spearmanr(exponents[reference], exponents[it]).statistic:.2f}"
        for it in others
    ]
    text = READING.format(
        texts=TEXTS, words=TEXTS * LENGTH, reference=reference, others=", ".join(orders)
    )
    return f"{text}\n\n{table_forms.markdown(['genre', 'texts', *MEASURES], rows)}"
