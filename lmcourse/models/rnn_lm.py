"""A language model with a recurrent state (chapters 02 and 03).

After Mikolov et al. (2010, "Recurrent neural network based language model"): embed a token, apply
one step, and predict the next token from the hidden state.

    h_t = step(embedding(w_t), h_{t-1})        p(w_{t+1} | w_1 … w_t) = softmax(V h_t + c)

The step is that of an Elman network, an LSTM or a GRU, in one or several layers. As in Zaremba et
al. (2014, "Recurrent neural network regularization"), dropout applies to every connection but the
recurrent ones, so that memory is not dropped again at each step.
"""

from dataclasses import dataclass

from jaxtyping import Float, Int
from torch import Tensor, nn

from lmcourse.models.checkpoint import Model
from lmcourse.models.inputs import IGNORED, check_ids, check_like
from lmcourse.models.losses import label_loss
from lmcourse.models.outputs import Layers, ModelOutput
from lmcourse.models.recurrence import Boundary, lengths_from_mask
from lmcourse.models.recurrent import Cell, Recurrent, States
from lmcourse.models.rnn import Nonlinearity


@dataclass(frozen=True)
class RNNConfig:
    """The sizes of an `RNNLanguageModel`.

    Attributes:
        vocab_size: number of tokens.
        embedding_size: width of a token's embedding.
        hidden_size: width of the state of each layer.
        cell: ``"rnn"``, ``"lstm"`` or ``"gru"``.
        num_layers: number of layers.
        dropout: dropout of each layer's input and of the last output.
        nonlinearity: ``"tanh"`` or ``"relu"``, of the cell ``"rnn"``.
    """

    vocab_size: int
    embedding_size: int = 64
    hidden_size: int = 128
    cell: Cell = "rnn"
    num_layers: int = 1
    dropout: float = 0.0
    nonlinearity: Nonlinearity = "tanh"


@dataclass(frozen=True)
class RNNLanguageModelOutput(ModelOutput):
    """Output of the language model.

    Attributes:
        loss: None without labels.
        last_hidden_state: the last layer's output; zero at padding.
        state: the last state, h or an LSTM's (h, c), (layers, batch, hidden) each.
        hidden_states: the embedded tokens and each layer's output.
    """

    loss: Float[Tensor, ""] | None
    logits: Float[Tensor, "batch time vocab"]
    last_hidden_state: Float[Tensor, "batch time hidden"]
    state: States
    hidden_states: Layers | None = None


class RNNLanguageModel(Model):
    """p(w_{t+1} | w_1 … w_t) from a recurrent state: embedding, recurrence, linear output."""

    Config = RNNConfig
    config: RNNConfig

    def __init__(self, config: RNNConfig) -> None:
        super().__init__(config)
        self.embedding = nn.Embedding(config.vocab_size, config.embedding_size)
        self.rnn = Recurrent(
            config.cell,
            config.embedding_size,
            config.hidden_size,
            config.num_layers,
            dropout=config.dropout,
            nonlinearity=config.nonlinearity,
        )
        self.output = nn.Linear(config.hidden_size, config.vocab_size)
        self.dropout = nn.Dropout(config.dropout)

    def forward(
        self,
        input_ids: Int[Tensor, "batch time"],
        attention_mask: Tensor | None = None,
        labels: Int[Tensor, "batch time"] | None = None,
        state: States | None = None,
        boundary: Boundary | None = None,
        *,
        output_hidden_states: bool = False,
        fused: bool = True,
    ) -> RNNLanguageModelOutput:
        """Predict the token after each of ``input_ids``.

        Args:
            input_ids: tokens w_1 … w_T.
            attention_mask: 1 for a token and 0 for padding on the right, (batch, time).
            labels: the next tokens w_2 … w_{T+1}, already shifted, so that consecutive windows lose
                no target; ``IGNORED`` where there is none. The loss is their mean negative
                log-likelihood in nats.
            state: the last state of the previous window; zeros by default.
            boundary, fused: as in `lmcourse.models.rnn.RNN.forward`.
            output_hidden_states: return the embedded tokens and each layer's output.
        """
        check_ids(input_ids, self.config.vocab_size)
        lengths = lengths_from_mask(attention_mask, input_ids)
        embedded = self.dropout(self.embedding(input_ids))
        layers, state = self.rnn.read(embedded, state, lengths, boundary, fused=fused)
        logits = self.output(self.dropout(layers[-1]))
        loss = None
        if labels is not None:
            check_like(labels, input_ids, "labels")
            check_ids(labels, self.config.vocab_size, name="labels", allowed=IGNORED)
            loss = label_loss(logits, labels)
        hidden_states = (embedded, *layers) if output_hidden_states else None
        return RNNLanguageModelOutput(loss, logits, layers[-1], state, hidden_states)
