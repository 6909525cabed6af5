"""The models of the table: their sizes, how they are tuned, and how long they learn.

All networks that read from left to right read the training text equally often, in steps of 256
words, and are tuned alike: three learning rates for one epoch each. Recurrent networks are also
tried with untied output weights, for all epochs: after one epoch the RNN was better with them, and
after three it was worse. N-gram models choose among six discounts. Validation decides every choice.
BERT learns from 15 % of the words that it reads, and reads the text three times as often, which
takes a similar time.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from research.brown.networks import (
    BothSides,
    MaskedTransformer,
    Network,
    NeuralNGram,
    RecurrentNetwork,
    Transformer,
)
from research.brown.training import Budget
from research.by_name import by_name

Setting = Mapping[str, Any]
"""What is tuned, and the dropout: learning rate, dropout, tied weights; or a discount."""
RATES = (3e-3, 6e-3, 1.2e-2)
DROPOUT = 0.1
EPOCHS = 3
SEEDS = 3
DISCOUNTS: tuple[float | None, ...] = (None, 0.6, 0.7, 0.8, 0.9, 0.95)  # None: the modified form
WIDTH = 64
ATTENTIVE = {"hidden_size": WIDTH, "num_hidden_layers": 2, "num_attention_heads": 4}


@dataclass(frozen=True)
class NGram:
    """A Kneser–Ney model, counted on the training text.

    Attributes:
        name: what the command calls it.
        about: what the page calls it.
        context: how many words it reads.
    """

    name: str
    about: str
    context: int


@dataclass(frozen=True)
class Learner:
    """A network.

    Attributes:
        name, about: see `NGram`.
        network: builds it from the vocabulary's size, a dropout and the sizes.
        sizes: of the network.
        budget: epochs, and windows of a step.
        both_sides: whether it reads the words after a word, too, and so has a pseudo-perplexity.
        untied: whether untied output weights are tried.
    """

    name: str
    about: str
    network: Callable[..., Network]
    sizes: Mapping[str, Any]
    budget: Budget = field(default_factory=lambda: Budget(EPOCHS))
    both_sides: bool = False
    untied: bool = False

    @property
    def first(self) -> Setting:
        """The setting before tuning."""
        return self.trials()[1]

    def trials(self) -> list[Setting]:
        """The settings that are tried for a short time."""
        tied = {"tied": True} if self.untied else {}
        return [{"learning_rate": rate, "dropout": DROPOUT, **tied} for rate in RATES]

    @property
    def trial_epochs(self) -> int:
        """How long that is."""
        return self.budget.epochs // EPOCHS

    def built(self, vocabulary: int, setting: Setting) -> tuple[Network, Budget]:
        """The network at its beginning, and its budget with the setting's learning rate."""
        tied = {"tied": setting["tied"]} if self.untied else {}
        network = self.network(vocabulary, setting["dropout"], **self.sizes, **tied)
        return network, replace(self.budget, learning_rate=setting["learning_rate"])


def _recurrent(cell: str) -> Learner:
    sizes = {"width": WIDTH, "cell": cell}
    return Learner(cell, cell.upper(), RecurrentNetwork, sizes, untied=True)


WIDE_WINDOW = Budget(EPOCHS, rows=4, time=64)
NGRAMS = [NGram(f"{n}-gram", f"Kneser–Ney {n}-gram", n - 1) for n in (2, 3, 4, 5)]
LEARNERS = [
    _recurrent("lstm"),
    Learner(
        "neural-ngram",
        "neural 5-gram, as MLP9",
        NeuralNGram,
        {"context": 4, "embedding_size": 30, "hidden_size": 100},
    ),
    Learner(
        "transformer",
        "causal Transformer",
        Transformer,
        {"positions": 64, **ATTENTIVE},
        WIDE_WINDOW,
    ),
    _recurrent("gru"),
    _recurrent("rnn"),
    Learner(
        "bilstm",
        "two LSTMs, one a side",
        BothSides,
        {"width": WIDTH},
        WIDE_WINDOW,
        both_sides=True,
    ),
    Learner(
        "bert",
        "BERT, 15 % of the words masked",
        MaskedTransformer,
        {"positions": 64, "intermediate_size": 4 * WIDTH, **ATTENTIVE},
        Budget(3 * EPOCHS, rows=16, time=64),
        both_sides=True,
    ),
]
"""In the order of their importance, in which they are trained."""
_ALL: list[NGram | Learner] = [*NGRAMS, *LEARNERS]
ENTRIES = {entry.name: entry for entry in _ALL}


def chosen(names: list[str]) -> list[NGram | Learner]:
    """The models of these names.

    Raises:
        CourseError: there is no such model.
    """
    wanted = {by_name(name, ENTRIES, "model").name for name in names}
    return [entry for name, entry in ENTRIES.items() if name in wanted]
