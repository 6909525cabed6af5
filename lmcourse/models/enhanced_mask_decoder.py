"""The enhanced mask decoder: absolute positions before the softmax (chapter 16).

After He et al. (2021, section 3.2 and appendix A.8). In "A new [store] opened beside the new
[mall]" both masked words follow "new", and relative positions do not show which is the subject.
So DeBERTa uses absolute positions to predict masked tokens.

The decoder applies the encoder's last layer twice, to the states H of the layer before it. The
position is added to the *query*, not to keys and values:

    I_0 = H + position            absolute position and context
    I_n = Layer(query: I_n−1, keys and values: H)          n = 1, 2
    p(token | text) = softmax(E LayerNorm(GELU(W I_2 + b)) + c)        as in BERT

The sources differ: section 3.2 adds the position "right after all the Transformer layers", appendix
A.8 uses it alone as the first I, and the published code adds it to H, as here.

The decoder is used in pre-training only; other heads on a `Deberta` apply all layers once.
"""

from typing import ClassVar

from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from lmcourse.models import inputs
from lmcourse.models.bert import BertConfig
from lmcourse.models.deberta import DebertaConfig, DebertaEncoder, DebertaForMaskedLM
from lmcourse.models.initialization import init_weights
from lmcourse.models.outputs import LanguageModelOutput, Layers

STEPS = 2
"""The number of times that the layer is applied (appendix A.8)."""


class EnhancedMaskDecoder(nn.Module):
    """Absolute position embeddings, and repeated application of the encoder's last layer."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.position = nn.Embedding(config.max_position_embeddings, config.hidden_size)
        init_weights(self, config.initializer_range, truncated=True)

    def forward(
        self,
        hidden: Float[Tensor, "batch time width"],
        encoder: DebertaEncoder,
        visible: Bool[Tensor, "..."] | None = None,
        position_ids: Int[Tensor, "batch time"] | None = None,
        *,
        need_weights: bool = False,
    ) -> tuple[Layers, tuple[Tensor | None, ...]]:
        """Return the output of each step, and its attention weights if needed.

        Args:
            hidden: H, the input of the encoder's last layer.
            encoder: the encoder, an argument so that its weights are stored only once.
            visible: True where a position may attend to another.
            position_ids: each token's position; 0, 1, … by default.
        """
        x = hidden + self.position_embeddings(hidden, position_ids)
        steps, attentions = [], []
        for _ in range(STEPS):
            x, weights = encoder.layers[-1](
                hidden, encoder.positions, visible, query=x, need_weights=need_weights
            )
            steps.append(x)
            attentions.append(weights)
        return tuple(steps), tuple(attentions)

    def position_embeddings(
        self, hidden: Float[Tensor, "batch time width"], position_ids: Tensor | None
    ) -> Float[Tensor, "batch_or_one time width"]:
        """Return the embeddings of the positions."""
        if position_ids is None:
            return self.position.weight[None, : hidden.shape[1]]
        inputs.check_like(position_ids, hidden[..., 0], "position_ids")
        remedy = "count positions from 0 to below max_position_embeddings"
        count = self.position.num_embeddings
        inputs.check_range(position_ids, count, "position_ids", remedy=remedy)
        return self.position(position_ids)


class DebertaForPreTraining(DebertaForMaskedLM):
    """DeBERTa with the enhanced mask decoder, which the `transformers` library lacks."""

    pretrained_heads: ClassVar[tuple[str, ...]] = ("predictions", "decoder")

    def __init__(self, config: BertConfig) -> None:
        super().__init__(config)
        assert isinstance(config, DebertaConfig)
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

        The decoder's two steps replace the encoder's last layer, also in the hidden states and the
        attention weights.

        Args:
            input_ids, attention_mask, token_type_ids, inputs_embeds, output_attentions,
                output_hidden_states: as in `Bert.forward`.
            position_ids: the decoder's positions, needed for padding on the left.
            labels: as in `PredictionHead.forward`.
        """
        body = self.bert
        x = body.embeddings(input_ids, token_type_ids, None, inputs_embeds)
        batch, time, _ = x.shape
        visible = inputs.visible(attention_mask, batch, time, time)
        states = body.encoder(
            x,
            visible,
            output_attentions=output_attentions,
            output_hidden_states=output_hidden_states,
            depth=self.config.num_hidden_layers - 1,
        )
        steps, attentions = self.decoder(
            states.last_hidden_state,
            body.encoder,
            visible,
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
