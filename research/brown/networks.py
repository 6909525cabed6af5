"""The networks of the table, all with one interface: features, and an output layer over the words.

The models are the package's. The output layer is applied by `research.brown.softmax`, so that
training and evaluation need not store the logits of a whole batch.
"""

from abc import ABC, abstractmethod
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from lmcourse.models.bert import Bert, BertConfig
from lmcourse.models.gpt import GPT, GPTConfig
from lmcourse.models.recurrent import Recurrent, States, detached
from lmcourse.models.rnn_lm import RNNConfig, RNNLanguageModel
from lmcourse.training.masking import Masking
from research.brown.neural_ngram import NeuralNGramModel

WINDOW = 512  # words that a recurrent network or an n-gram network predicts at a time
WARM_UP = 256  # words that a recurrent network reads before them
SPREAD = 0.1  # standard deviation of the initial vectors of words, which are output weights, too
Predicted = tuple[Float[Tensor, "words width"], Int[Tensor, " words"], States | None]
"""Features, the words that they predict, and the state after the window."""


class Network(nn.Module, ABC):
    """What predicts the words of a window.

    Attributes:
        margins: in training, how many words before and after those that are predicted are read.
        scope: in the evaluation, how many words are read before those that are predicted, how many
            are predicted, and how many are read after them.
        carries: whether a state goes from window to window in training.
    """

    margins: tuple[int, int] = (1, 0)
    scope: tuple[int, int, int]
    carries = False

    @property
    @abstractmethod
    def output(self) -> tuple[Float[Tensor, "vocab width"], Float[Tensor, " vocab"]]:
        """The output layer's weight and bias."""

    @property
    def weight(self) -> Float[Tensor, "vocab width"]:
        """The output layer's."""
        return self.output[0]

    @property
    def bias(self) -> Float[Tensor, " vocab"]:
        """The output layer's."""
        return self.output[1]

    @abstractmethod
    def predictions(
        self, window: Int[Tensor, "batch time"], state: States | None, draw: torch.Generator
    ) -> Predicted:
        """What is learned from a window.

        Args:
            state: that after the window before; None at the beginning.
            draw: random numbers, for masks.
        """

    @abstractmethod
    def scored(
        self, window: Int[Tensor, "batch time"], count: int
    ) -> Float[Tensor, "batch count width"]:
        """The features of the words that the evaluation predicts; see ``scope``."""


class OfAllWords(Network):
    """A network that predicts all words of a window but its margins."""

    @abstractmethod
    def features(
        self, window: Int[Tensor, "batch time"], state: States | None = None
    ) -> tuple[Float[Tensor, "batch predicted width"], States | None]:
        """The features of these words, and the state after the window."""

    def predictions(self, window: Tensor, state: States | None, draw: torch.Generator) -> Predicted:
        """See `Network.predictions`."""
        features, state = self.features(window, state)
        before, after = self.margins
        words = window[:, before : window.shape[1] - after]
        return features.flatten(0, 1), words.flatten(), state

    def scored(self, window: Tensor, count: int) -> Tensor:
        """See `Network.scored`."""
        start = self.scope[0] - self.margins[0]
        return self.features(window)[0][:, start : start + count]


class _WithOutputLayer(OfAllWords):
    """A network whose model has an embedding and an output layer."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model
        nn.init.normal_(model.embedding.weight, std=SPREAD)
        nn.init.normal_(model.output.weight, std=0.01)
        nn.init.zeros_(model.output.bias)

    @property
    def output(self) -> tuple[Tensor, Tensor]:
        """See `Network.output`."""
        return self.model.output.weight, self.model.output.bias


class NeuralNGram(_WithOutputLayer):
    """The paper's own network, without direct connections."""

    def __init__(self, vocabulary: int, dropout: float, **sizes: Any) -> None:
        super().__init__(NeuralNGramModel(vocabulary, dropout=dropout, **sizes))
        self.margins, self.scope = (self.model.context, 0), (self.model.context, WINDOW, 0)

    def features(self, window: Tensor, state: States | None = None) -> tuple[Tensor, None]:
        """See `OfAllWords.features`."""
        return self.model.features(window[:, :-1])[:, self.model.context - 1 :], None


class RecurrentNetwork(_WithOutputLayer):
    """RNN, LSTM or GRU."""

    scope = (WARM_UP, WINDOW, 0)
    carries = True

    def __init__(
        self, vocabulary: int, dropout: float, *, width: int, tied: bool, cell: Any
    ) -> None:
        config = RNNConfig(vocabulary, width, width, cell, dropout=dropout)
        super().__init__(RNNLanguageModel(config))
        if tied:
            self.model.output.weight = self.model.embedding.weight

    def features(self, window: Tensor, state: States | None = None) -> tuple[Tensor, States]:
        """See `OfAllWords.features`."""
        model = self.model
        vectors = model.dropout(model.embedding(window[:, :-1]))
        layers, state = model.rnn.read(vectors, state)
        return model.dropout(layers[-1]), detached(state)


class Transformer(OfAllWords):
    """GPT: causal, with tied output weights and absolute positions."""

    def __init__(self, vocabulary: int, dropout: float, *, positions: int, **sizes: Any) -> None:
        super().__init__()
        config = GPTConfig(
            vocabulary,
            max_position_embeddings=positions,
            embd_pdrop=dropout,
            hidden_dropout_prob=dropout,
            attention_probs_dropout_prob=dropout,
            **sizes,
        )
        self.model = GPT(config)
        nn.init.normal_(self.model.embeddings.word.weight, std=SPREAD)
        self.offsets = nn.Parameter(torch.zeros(vocabulary))
        self.scope = (positions // 2, positions - positions // 2 + 1, 0)

    @property
    def output(self) -> tuple[Tensor, Tensor]:
        """See `Network.output`."""
        return self.model.embeddings.word.weight, self.offsets

    def features(self, window: Tensor, state: States | None = None) -> tuple[Tensor, None]:
        """See `OfAllWords.features`."""
        return self.model(window[:, :-1]).last_hidden_state, None


class BothSides(OfAllWords):
    """Two LSTMs: one reads the words before a word, the other those after it, from the end.

    Its features are a layer over both states, as in context2vec (Melamud et al. 2016). So it needs
    no masks: every word of a window is predicted, and none is read by its own prediction.
    """

    margins = (1, 1)
    scope = (64, 256, 64)

    def __init__(self, vocabulary: int, dropout: float, *, width: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        nn.init.normal_(self.embedding.weight, std=SPREAD)
        self.forth = Recurrent("lstm", width, width)
        self.back = Recurrent("lstm", width, width)
        self.joined = nn.Linear(2 * width, width)
        self.dropout = nn.Dropout(dropout)
        self.offsets = nn.Parameter(torch.zeros(vocabulary))

    @property
    def output(self) -> tuple[Tensor, Tensor]:
        """See `Network.output`."""
        return self.embedding.weight, self.offsets

    def features(self, window: Tensor, state: States | None = None) -> tuple[Tensor, None]:
        """See `OfAllWords.features`."""
        vectors = self.dropout(self.embedding(window))
        left, _ = self.forth(vectors[:, :-2])
        right, _ = self.back(vectors[:, 2:].flip(1))
        both = self.dropout(torch.cat([left, right.flip(1)], -1))
        return self.dropout(self.joined(both).tanh()), None


class MaskedTransformer(Network):
    """BERT without segments: 15 % of the words of a window are masked and predicted."""

    margins = (0, 0)

    def __init__(self, vocabulary: int, dropout: float, *, positions: int, **sizes: Any) -> None:
        super().__init__()
        config = BertConfig(
            vocabulary + 1,  # and [MASK], the last one
            hidden_dropout_prob=dropout,
            attention_probs_dropout_prob=dropout,
            max_position_embeddings=positions,
            type_vocab_size=0,
            pad_token_id=None,
            add_pooling_layer=False,
            **sizes,
        )
        self.model = Bert(config)
        self.masking = Masking(vocabulary, vocabulary)
        self.offsets = nn.Parameter(torch.zeros(vocabulary))
        self.scope = (positions // 2, 1, positions - positions // 2 - 1)

    @property
    def output(self) -> tuple[Tensor, Tensor]:
        """See `Network.output`."""
        return self.model.embeddings.word.weight[:-1], self.offsets

    def predictions(self, window: Tensor, state: States | None, draw: torch.Generator) -> Predicted:
        """See `Network.predictions`."""
        read, labels = self.masking(window, generator=draw)
        chosen = labels >= 0
        return self.model(read).last_hidden_state[chosen], labels[chosen], None

    def scored(self, window: Tensor, count: int) -> Tensor:
        """See `Network.scored`. The word is masked."""
        read = window.clone()
        read[:, self.scope[0]] = self.masking.mask_id
        return self.model(read).last_hidden_state[:, self.scope[0], None]
