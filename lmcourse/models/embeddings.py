"""What goes into the first layer: a token, its place and its segment, as vectors (chapter 10).

Attention sees a set: nothing in it says what stands where. So a place gets a vector of its own,
which is learned and added (Devlin et al. 2019, figure 2; Radford et al. 2018, section 3.1):

    x_t = Dropout(LayerNorm(word[token_t] + position[t] + segment[segment_t]))      BERT
    x_t = Dropout(word[token_t] + position[t])                                      GPT
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from lmcourse.errors import CourseError
from lmcourse.models import inputs


class Embeddings(nn.Module):
    """The sum of a token's, a place's and a segment's embedding.

    Args:
        vocab_size: how many tokens there are.
        width: of an embedding.
        positions: how many places there are embeddings for.
        segments: how many segments; 0: segments are not told apart.
        pad_token_id: the token whose embedding does not learn from being read; None: all do.
        layer_norm_eps: what the LayerNorm adds to the variance; None: there is no LayerNorm.
        dropout: the probability that a number of the sum is dropped.

    Raises:
        CourseError: one of these makes no sense.
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
        owner = type(self).__name__
        for name, size in (("vocab_size", vocab_size), ("width", width), ("positions", positions)):
            inputs.whole_number(size, name, owner)
        inputs.whole_number(segments, "segments", owner, least=0)
        inputs.probability(dropout, "dropout", owner)
        if layer_norm_eps is not None:
            inputs.positive_number(layer_norm_eps, "layer_norm_eps", owner)
        if pad_token_id is not None and pad_token_id not in range(vocab_size):
            raise CourseError(
                f"pad_token_id is {pad_token_id!r} in this {owner}.",
                f"Give an id of the vocabulary, 0 to {vocab_size - 1}, or None.",
            )
        self.word = nn.Embedding(vocab_size, width, padding_idx=pad_token_id)
        self.position = nn.Embedding(positions, width)
        self.segment = nn.Embedding(segments, width) if segments else None
        self.norm = nn.LayerNorm(width, eps=layer_norm_eps) if layer_norm_eps is not None else None
        self.dropout = nn.Dropout(dropout)

    @property
    def longest(self) -> int:
        """The longest sequence that there are positions for."""
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
            token_type_ids: each token's segment; 0 for all if they are not given.
            position_ids: each token's place; one after the other if they are not given. Several
                tokens may share one, so there may be more of them than places.
            inputs_embeds: vectors in place of the tokens' embeddings, where something was done to
                them before.

        Raises:
            CourseError: a shape does not fit, or a number is out of range.
        """
        x = self._words(input_ids, inputs_embeds, self.longest if position_ids is None else None)
        like = x[..., 0]
        if self.segment is not None or token_type_ids is not None:
            x = x + self._segments(token_type_ids, like)
        x = x + self._places(position_ids, like)
        return self.dropout(x if self.norm is None else self.norm(x))

    def _words(
        self, input_ids: Tensor | None, inputs_embeds: Tensor | None, places: int | None
    ) -> Tensor:
        """The tokens' vectors, of sequences no longer than ``places``, if that is a number."""
        if (input_ids is None) == (inputs_embeds is None):
            raise CourseError(
                "A model takes either input_ids or inputs_embeds, and was given "
                f"{'neither' if input_ids is None else 'both'}.",
                "Give input_ids, (batch, time), unless you have the embedded tokens already.",
            )
        if input_ids is not None:
            inputs.check_ids(input_ids, self.word.num_embeddings, places)
            return self.word(input_ids)
        assert inputs_embeds is not None
        width = self.word.embedding_dim
        shape = tuple(inputs_embeds.shape)
        fits = len(shape) == 3 and shape[2] == width and bool(shape[0] and shape[1])
        if not fits or (places is not None and shape[1] > places):
            most = "" if places is None else f", time at most {places}"
            raise CourseError(
                f"inputs_embeds has shape {shape}.",
                f"This model takes (batch, time, {width}){most}.",
            )
        own, given = self.word.weight.dtype, inputs_embeds.dtype
        if not given.is_floating_point or torch.promote_types(own, given) != own:
            raise CourseError(
                f"inputs_embeds has the type {given}, and this model computes in {own}.",
                f"Give inputs_embeds.to({own}), or convert the model.",
            )
        return inputs_embeds

    def _segments(self, token_type_ids: Tensor | None, like: Tensor) -> Tensor:
        if self.segment is None:
            raise CourseError(
                "This model was given token_type_ids, and tells no segments apart.",
                "Leave them out.",
            )
        if token_type_ids is None:
            return self.segment.weight[0]
        inputs.check_like(token_type_ids, like, "token_type_ids")
        remedy = "count segments from 0; type_vocab_size in the configuration says how many"
        count = self.segment.num_embeddings
        inputs.check_range(token_type_ids, count, "token_type_ids", remedy=remedy)
        return self.segment(token_type_ids)

    def _places(self, position_ids: Tensor | None, like: Tensor) -> Tensor:
        if position_ids is None:
            # A slice is no look-up: its gradient is a sum over the batch, with no scattering.
            return self.position.weight[: like.shape[1]]
        inputs.check_like(position_ids, like, "position_ids")
        remedy = "max_position_embeddings in the configuration says how many places have a vector"
        count = self.position.num_embeddings
        inputs.check_range(position_ids, count, "position_ids", remedy=remedy)
        return self.position(position_ids)
