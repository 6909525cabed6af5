"""Embeddings that are narrower than the hidden states (Lan et al. 2020, section 3.1; chapter 13).

A token's embedding, independent of context, needs fewer numbers than a hidden state. So the V
embeddings have a width E, and a matrix projects them to the encoder's width H:

    x_t = W Dropout(LayerNorm(word[token_t] + position[t] + segment[segment_t])) + b     W: H × E

V·H weights become V·E + E·H. With V = 30000, H = 768 and E = 128: 23.0 M become 3.9 M.
"""

from typing import Any

from jaxtyping import Float, Int
from torch import Tensor, nn

from lmcourse.models.embeddings import Embeddings


class FactorizedEmbeddings(Embeddings):
    """`Embeddings` of width E, projected to the width of the hidden states.

    ``inputs_embeds`` have the width E.

    Args:
        vocab_size, width, positions: as in `Embeddings`; the width is E.
        hidden_size: the width of the hidden states, H.
        options: further arguments of `Embeddings`.
    """

    def __init__(
        self, vocab_size: int, width: int, positions: int, *, hidden_size: int, **options: Any
    ) -> None:
        super().__init__(vocab_size, width, positions, **options)
        self.projection = nn.Linear(width, hidden_size)

    def forward(
        self,
        input_ids: Int[Tensor, "batch time"] | None = None,
        token_type_ids: Int[Tensor, "batch time"] | None = None,
        position_ids: Int[Tensor, "batch time"] | None = None,
        inputs_embeds: Float[Tensor, "batch time embedding_width"] | None = None,
    ) -> Float[Tensor, "batch time width"]:
        """Embed a batch, and project it to the width of the hidden states."""
        x = super().forward(input_ids, token_type_ids, position_ids, inputs_embeds)
        return self.projection(x)
