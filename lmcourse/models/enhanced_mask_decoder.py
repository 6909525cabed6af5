"""The enhanced mask decoder: absolute places, right before the softmax (chapter 16).

After He et al. (2021, section 3.2 and appendix A.8). "A new [store] opened beside the new [mall]":
both words stand beside a "new", and the distances do not say which is the subject. So to predict a
masked token, DeBERTa needs to know where it stands; all layers before did without.

The decoder is the last layer of the encoder, with the same weights, applied twice to the states
H of the layer before. The place goes into the *query* and not into keys and values:

    I_0 = H + position            where am I, and what have I read?
    I_n = Layer(query: I_n−1, keys and values: H)          n = 1, 2
    p(token | text) = softmax(E LayerNorm(GELU(W I_2 + b)) + c)        as in BERT

Where the place comes in is told in three ways. Section 3.2 has it "right after all the Transformer
layers", appendix A.8 has its vector alone for the first step's I, and the published code adds it to
H, as here.

It is trained before, and left away in tuning: what stands on a `Deberta` uses all its layers once.
"""

from typing import ClassVar

from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from lmcourse.errors import CourseError
from lmcourse.models import inputs
from lmcourse.models.bert import BertConfig
from lmcourse.models.deberta import DebertaConfig, DebertaEncoder, DebertaForMaskedLM
from lmcourse.models.initialization import draw_weights
from lmcourse.models.outputs import LanguageModelOutput, Layers

STEPS = 2
"""How often the layer is applied, in the paper's experiments (appendix A.8)."""


class EnhancedMaskDecoder(nn.Module):
    """The absolute places, and the steps in which the encoder's last layer reads them."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.position = nn.Embedding(config.max_position_embeddings, config.hidden_size)
        draw_weights(self, config.initializer_range, truncated=True)

    def forward(
        self,
        hidden: Float[Tensor, "batch time width"],
        encoder: DebertaEncoder,
        seen: Bool[Tensor, "..."] | None = None,
        position_ids: Int[Tensor, "batch time"] | None = None,
        *,
        need_weights: bool = False,
    ) -> tuple[Layers, tuple[Tensor | None, ...]]:
        """What each step gives, and each one's attention weights, if they are needed.

        Args:
            hidden: H, what went into the encoder's last layer.
            encoder: whose last layer it is; handed in, as its weights are kept there.
            seen: True where a place may look.
            position_ids: each token's place; one after the other if they are not given.

        Raises:
            CourseError: the places do not fit, or are out of range.
        """
        x = hidden + self.places(hidden, position_ids)
        steps, attentions = [], []
        for _ in range(STEPS):
            x, weights = encoder.layers[-1](
                hidden, encoder.positions, seen, query=x, need_weights=need_weights
            )
            steps.append(x)
            attentions.append(weights)
        return tuple(steps), tuple(attentions)

    def places(
        self, hidden: Float[Tensor, "batch time width"], position_ids: Tensor | None
    ) -> Float[Tensor, "batch_or_one time width"]:
        """The places' vectors."""
        if position_ids is None:
            return self.position.weight[None, : hidden.shape[1]]
        inputs.check_like(position_ids, hidden[..., 0], "position_ids")
        remedy = "count places from 0; max_position_embeddings says how many have a vector"
        count = self.position.num_embeddings
        inputs.check_range(position_ids, count, "position_ids", remedy=remedy)
        return self.position(position_ids)


class DebertaForPreTraining(DebertaForMaskedLM):
    """DeBERTa as it is pre-trained: masked tokens, read through the enhanced mask decoder.

    The `transformers` library has no decoder: this model has no counterpart there. Another head
    takes over what it learned by ``on_top_of``.
    """

    pretrained_heads: ClassVar[tuple[str, ...]] = ("predictions", "decoder")

    def __init__(self, config: BertConfig) -> None:
        super().__init__(config)
        assert isinstance(config, DebertaConfig)
        if config.position_biased_input:
            raise CourseError(
                "An enhanced mask decoder adds the places at the end, and position_biased_input "
                "is True.",
                "Set it to False, or take DebertaForMaskedLM.",
            )
        self.decoder = EnhancedMaskDecoder(config)

    def forward(
        self,
        input_ids: Int[Tensor, "batch time"] | None = None,
        attention_mask: Tensor | None = None,
        token_type_ids: Int[Tensor, "batch time"] | None = None,
        position_ids: Int[Tensor, "batch time"] | None = None,
        inputs_embeds: Float[Tensor, "batch time width"] | None = None,
        *,
        labels: Int[Tensor, "batch time"] | None = None,
        output_attentions: bool = False,
        output_hidden_states: bool = False,
    ) -> LanguageModelOutput:
        """Predict the masked tokens.

        The decoder's two steps stand in the place of the encoder's last layer, also among the
        hidden states and the attention weights: there is one of each more.

        Args:
            input_ids, attention_mask, token_type_ids, inputs_embeds, output_attentions,
                output_hidden_states: as in `Bert.forward`.
            position_ids: the places that the decoder adds. If they are not given, padding on the
                left counts as places: give them where texts are padded there.
            labels: as `PredictionHead.forward` has them.
        """
        body = self.bert
        x = body.embeddings(input_ids, token_type_ids, None, inputs_embeds)
        batch, time, _ = x.shape
        seen = inputs.visible(attention_mask, batch, time, time)
        states = body.encoder(
            x,
            seen,
            output_attentions=output_attentions,
            output_hidden_states=output_hidden_states,
            depth=self.config.num_hidden_layers - 1,
        )
        steps, attentions = self.decoder(
            states.last_hidden_state,
            body.encoder,
            seen,
            position_ids,
            need_weights=output_attentions,
        )
        words = body.embeddings.word.weight
        logits, loss = self.predictions(steps[-1], words, labels)
        return LanguageModelOutput(
            loss,
            logits,
            (*states.hidden_states, *steps) if output_hidden_states else None,
            (*states.attentions, *attentions) if output_attentions else None,
        )
