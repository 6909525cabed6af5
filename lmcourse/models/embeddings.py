"""Embeddings of tokens, positions and segments (chapter 10).

Attention is independent of order, so a learned vector is added for each position (Devlin et al.
2019, figure 2; Radford et al. 2018, section 3.1):

    x_t = Dropout(LayerNorm(word[token_t] + position[t] + segment[segment_t]))      BERT
    x_t = Dropout(word[token_t] + position[t])                                      GPT
"""

from jaxtyping import Float, Int
from torch import Tensor, nn

from lmcourse.errors import CourseError
from lmcourse.models import inputs


class Embeddings(nn.Module):
    """The sum of the token, position and segment embeddings.

    Args:
        vocab_size: number of tokens.
        width: width of an embedding.
        positions: number of positions.
        segments: number of segments; 0: no segment embeddings.
        pad_token_id: the padding token, whose embedding gets no gradient as an input.
        layer_norm_eps: ε of the LayerNorm; None: no LayerNorm.
        dropout: dropout of the sum.
    """

    def __init__(
        self,
        vocab_size: int,
        width: int,
        positions: int,
        *,
        segments: int = 0,
        pad_token_id: int | None = None,
        layer_norm_eps: float | None = None,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.word = nn.Embedding(vocab_size, width, padding_idx=pad_token_id)
        self.position = nn.Embedding(positions, width)
        self.segment = nn.Embedding(segments, width) if segments else None
        self.norm = nn.LayerNorm(width, eps=layer_norm_eps) if layer_norm_eps is not None else None
        self.dropout = nn.Dropout(dropout)

    @property
    def max_length(self) -> int:
        """The maximal length of a sequence."""
        return self.position.num_embeddings

    def forward(
        self,
        input_ids: Int[Tensor, "batch time"] | None = None,
        token_type_ids: Int[Tensor, "batch time"] | None = None,
        position_ids: Int[Tensor, "batch time"] | None = None,
        inputs_embeds: Float[Tensor, "batch time width"] | None = None,
    ) -> Float[Tensor, "batch time width"]:
        """Embed a batch.

        Args:
            input_ids: the tokens.
            token_type_ids: each token's segment; 0 by default.
            position_ids: each token's position; 0, 1, … by default. Tokens may share a position.
            inputs_embeds: vectors to use instead of the token embeddings.
        """
        max_length = self.max_length if position_ids is None else None
        x = self._words(input_ids, inputs_embeds, max_length)  # [batch, time, width]
        like = x[..., 0]  # [batch, time]
        if self.segment is not None or token_type_ids is not None:
            x = x + self._segments(token_type_ids, like)
        x = x + self._position_embeddings(position_ids, like)
        return self.dropout(x if self.norm is None else self.norm(x))

    def _words(
        self, input_ids: Tensor | None, inputs_embeds: Tensor | None, max_length: int | None
    ) -> Tensor:
        """The token embeddings, or ``inputs_embeds``, of at most ``max_length`` positions."""
        if (input_ids is None) == (inputs_embeds is None):
            raise CourseError(
                "A model takes either input_ids or inputs_embeds, but got "
                f"{'neither' if input_ids is None else 'both'}.",
                "Give input_ids, (batch, time), unless you have the embedded tokens.",
            )
        if input_ids is not None:
            inputs.check_ids(input_ids, self.word.num_embeddings, max_length)
            return self.word(input_ids)
        assert inputs_embeds is not None
        return inputs_embeds

    def _segments(self, token_type_ids: Tensor | None, like: Tensor) -> Tensor:
        if self.segment is None:
            raise CourseError(
                "This model has no segments, but got token_type_ids.",
                "Leave them out.",
            )
        if token_type_ids is None:
            return self.segment.weight[0]
        inputs.check_like(token_type_ids, like, "token_type_ids")
        remedy = "count segments from 0 to below type_vocab_size"
        count = self.segment.num_embeddings
        inputs.check_range(token_type_ids, count, "token_type_ids", remedy=remedy)
        return self.segment(token_type_ids)

    def _position_embeddings(self, position_ids: Tensor | None, like: Tensor) -> Tensor:
        if position_ids is None:
            # A slice is faster than a look-up: its gradient is a sum over the batch.
            return self.position.weight[: like.shape[1]]
        inputs.check_like(position_ids, like, "position_ids")
        remedy = "count positions from 0 to below max_position_embeddings"
        count = self.position.num_embeddings
        inputs.check_range(position_ids, count, "position_ids", remedy=remedy)
        return self.position(position_ids)
