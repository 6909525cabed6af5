"""The neural n-gram model, the first neural language model of words.

Bengio et al. (2003, "A neural probabilistic language model", section 2): the vectors of the last
n − 1 words, one after the other, are the input x of a network with one hidden layer:

    x = [C(w_{t−n+1}) ; … ; C(w_{t−1})]
    p(w_t | w_{t−n+1} … w_{t−1}) = softmax(b + U tanh(d + H x))

The vectors C are learned with the rest, so words that are used alike get similar vectors, and a
context that never occurred is predicted as similar ones that did. Some of the paper's networks add
W x to the scores, direct connections from x to the output; its best network does without.
"""

from jaxtyping import Float, Int
from torch import Tensor, nn

from lmcourse.errors import check_sizes
from lmcourse.models.inputs import check_ids
from lmcourse.models.losses import label_loss
from lmcourse.models.outputs import LanguageModelOutput


class NeuralNGramModel(nn.Module):
    """p(w_t | the ``context`` words before it) from their vectors.

    Args:
        vocab_size: number of words.
        context: n − 1, the number of words that it reads.
        embedding_size: width of a word's vector.
        hidden_size: width of the hidden layer.
        dropout: dropout of x and of the hidden layer.
    """

    def __init__(
        self,
        vocab_size: int,
        context: int = 4,
        embedding_size: int = 60,
        hidden_size: int = 50,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        sizes = {"context": context, "embedding_size": embedding_size, "hidden_size": hidden_size}
        check_sizes(vocab_size=vocab_size, **sizes)
        self.context = context
        self.embedding = nn.Embedding(vocab_size, embedding_size)  # C
        self.hidden = nn.Linear(context * embedding_size, hidden_size)  # H and d
        self.output = nn.Linear(hidden_size, vocab_size)  # U and b
        self.dropout = nn.Dropout(dropout)

    def features(self, input_ids: Int[Tensor, "batch time"]) -> Float[Tensor, "batch time width"]:
        """Return what the output layer reads: tanh(d + H x).

        Before the first word of a row, the vectors are zero.
        """
        vectors = self.embedding(input_ids)  # [batch, time, embedding]
        padded = nn.functional.pad(vectors, (0, 0, self.context - 1, 0))
        x = self.dropout(padded.unfold(1, self.context, 1).mT.flatten(2))
        return self.dropout(self.hidden(x).tanh())

    def forward(
        self, input_ids: Int[Tensor, "batch time"], labels: Int[Tensor, "batch time"] | None = None
    ) -> LanguageModelOutput:
        """Predict the word after each of ``input_ids``.

        Args:
            input_ids: words w_1 … w_T.
            labels: the next words w_2 … w_{T+1}, already shifted, ``IGNORED`` where there is none.
                The loss is their mean negative log-likelihood in nats.
        """
        check_ids(input_ids, self.embedding.num_embeddings)
        logits = self.output(self.features(input_ids))
        loss = None if labels is None else label_loss(logits, labels)
        return LanguageModelOutput(loss, logits, None, None)
