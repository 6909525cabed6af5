"""ELMo: a word's vector depends on its sentence (chapter 07).

Peters et al. (2018, "Deep contextualized word representations"). A bidirectional language model is
trained to predict each token from what stands before it, and from what stands behind it:

    Σ_k log p(t_k | t_1 … t_{k-1}; Θ_x, →Θ, Θ_s) + log p(t_k | t_{k+1} … t_N; Θ_x, ←Θ, Θ_s)

Both directions share the tokens' layer Θ_x and the softmax Θ_s, and nothing else (section 3.1).
Then all layers are the word's representation (section 3.2), 2L + 1 vectors:

    h_{k,0} = [x_k; x_k]        h_{k,j} = [→h_{k,j}; ←h_{k,j}]

The two directions stand side by side (;), they are not added; and the token's own vector x_k is
there twice, so that all layers are equally wide and `lmcourse.models.scalar_mix` can mix them.

At place k the forward states predict token k + 1, the backward states token k − 1. A sentence whose
every word is to be predicted by both begins with a mark of its beginning and ends with one of its
end (``<S>`` and ``</S>``). The forward direction never predicts the first mark, nor the backward
direction the last.
"""

from dataclasses import dataclass, field
from typing import ClassVar

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from lmcourse.models.bilm import BiLM, BiLMConfig
from lmcourse.models.char_cnn import CharacterCNN, CharacterCNNConfig
from lmcourse.models.checkpoint import Model
from lmcourse.models.inputs import IGNORED, check_ids, check_like, check_settings
from lmcourse.models.losses import label_loss
from lmcourse.models.outputs import EncoderOutput, Layers, ModelOutput
from lmcourse.models.recurrence import lengths_of


@dataclass(frozen=True)
class ElmoConfig:
    """The sizes.

    Attributes:
        vocab_size: how many words the softmax knows; 793,471 as published.
        characters: the character network below; None: each word has an embedding of its own, which
            is cheap, and knows no other words.
        bilm: both directions.
    """

    vocab_size: int = 793_471
    characters: CharacterCNNConfig | None = field(default_factory=CharacterCNNConfig)
    bilm: BiLMConfig = field(default_factory=BiLMConfig)

    def __post_init__(self) -> None:
        check_settings(self, ("vocab_size",))

    @classmethod
    def original(cls) -> "ElmoConfig":
        """The published model: 93.6 million parameters below the softmax."""
        return cls()

    @classmethod
    def medium(cls) -> "ElmoConfig":
        """The published model of 28.0 million parameters."""
        return cls._published(2048, 256)

    @classmethod
    def small(cls) -> "ElmoConfig":
        """The published model of 13.6 million parameters."""
        return cls._published(1024, 128)

    @classmethod
    def _published(cls, hidden_size: int, projection_size: int) -> "ElmoConfig":
        return cls(
            characters=CharacterCNNConfig(num_highway_layers=1),
            bilm=BiLMConfig(hidden_size=hidden_size, projection_size=projection_size),
        )


class ElmoModel(Model):
    """Tokens' vectors and both directions: what is taken over into other tasks."""

    Config: ClassVar[type] = ElmoConfig
    config: ElmoConfig

    def __init__(self, config: ElmoConfig) -> None:
        super().__init__(config)
        width = config.bilm.projection_size
        self.tokens = (
            nn.Embedding(config.vocab_size, width)
            if config.characters is None
            else CharacterCNN(config.characters, width)
        )
        self.bilm = BiLM(config.bilm)

    def forward(
        self,
        input_ids: Int[Tensor, "batch time"] | Int[Tensor, "batch time character"],
        attention_mask: Bool[Tensor, "batch time"] | Int[Tensor, "batch time"] | None = None,
        *,
        output_hidden_states: bool = False,
    ) -> EncoderOutput:
        """The representations of each token.

        Args:
            input_ids: the words' characters (see `character_ids`); the words themselves if the
                model has embeddings for them.
            attention_mask: 1 where there is a token, 0 where there is padding, on the right.
            output_hidden_states: whether all L + 1 layers are returned, from the tokens' own.

        Returns:
            Layers of twice the projection's width, zero where there is padding.

        Raises:
            CourseError: an input does not fit.
        """
        if self.config.characters is None:
            check_ids(input_ids, self.config.vocab_size)
        x = self.tokens(input_ids)
        lengths = lengths_of(attention_mask, _one_a_word(input_ids))
        if attention_mask is not None:
            x = x.masked_fill((attention_mask == 0).unsqueeze(-1), 0.0)
        forward, backward = self.bilm(x, lengths)
        both = [(x, x), *zip(forward, backward, strict=True)]
        layers = tuple(torch.cat(pair, dim=-1) for pair in both)
        return EncoderOutput(layers[-1], hidden_states=layers if output_hidden_states else None)


@dataclass(frozen=True)
class ElmoPreTrainingOutput(ModelOutput):
    """What one call returns.

    Attributes:
        loss: nats, the mean over the predictions of both directions.
        forward_logits: scores of the token behind each place.
        backward_logits: scores of the token before each place.
        last_hidden_state, hidden_states: as of `ElmoModel`.
    """

    loss: Float[Tensor, ""] | None
    forward_logits: Float[Tensor, "batch time vocab"]
    backward_logits: Float[Tensor, "batch time vocab"]
    last_hidden_state: Float[Tensor, "batch time width"]
    hidden_states: Layers | None = None


class ElmoForPreTraining(Model):
    """`ElmoModel` and the softmax that both directions share.

    The published model was trained with a sampled softmax, for its vocabulary of 793,471 words;
    this one has all words in it.
    """

    Config: ClassVar[type] = ElmoConfig
    config: ElmoConfig

    def __init__(self, config: ElmoConfig) -> None:
        super().__init__(config)
        self.elmo = ElmoModel(config)
        self.dropout = nn.Dropout(config.bilm.hidden_dropout_prob)
        self.softmax = nn.Linear(config.bilm.projection_size, config.vocab_size)

    def forward(
        self,
        input_ids: Int[Tensor, "batch time"] | Int[Tensor, "batch time character"],
        attention_mask: Bool[Tensor, "batch time"] | Int[Tensor, "batch time"] | None = None,
        labels: Int[Tensor, "batch time"] | None = None,
        *,
        output_hidden_states: bool = False,
    ) -> ElmoPreTrainingOutput:
        """Predict each token from both sides.

        Args:
            input_ids, attention_mask, output_hidden_states: as in `ElmoModel.forward`.
            labels: the words of the same sequence, not shifted, as the softmax numbers them. A word
                with ``IGNORED``, and padding, is predicted by no direction.

        Raises:
            CourseError: an input does not fit.
        """
        result = self.elmo(input_ids, attention_mask, output_hidden_states=output_hidden_states)
        states = self.dropout(result.last_hidden_state)
        logits = self.softmax(torch.cat(states.chunk(2, dim=-1)))  # one direction, then the other
        forward, backward = logits.chunk(2)
        loss = None
        if labels is not None:
            check_like(labels, _one_a_word(input_ids), "labels")
            check_ids(labels, self.config.vocab_size, name="labels", allowed=IGNORED)
            loss = label_loss(logits, torch.cat(neighbors(labels, attention_mask)))
        return ElmoPreTrainingOutput(
            loss, forward, backward, result.last_hidden_state, result.hidden_states
        )


def neighbors(
    labels: Int[Tensor, "batch time"],
    attention_mask: Bool[Tensor, "batch time"] | Int[Tensor, "batch time"] | None = None,
) -> tuple[Int[Tensor, "batch time"], Int[Tensor, "batch time"]]:
    """What each place is to predict: the word behind it, and the word before it.

    ``IGNORED`` where there is none: forward at the last word and backward at the first. Padding
    neither predicts nor is predicted.
    """
    if attention_mask is not None:
        labels = labels.masked_fill(attention_mask == 0, IGNORED)
    nothing = torch.full_like(labels[:, :1], IGNORED)
    behind = torch.cat([labels[:, 1:], nothing], dim=1)
    before = torch.cat([nothing, labels[:, :-1]], dim=1)
    if attention_mask is not None:  # the first place of the padding has a word before it
        before = before.masked_fill(attention_mask == 0, IGNORED)
    return behind, before


def _one_a_word(
    input_ids: Int[Tensor, "batch time"] | Int[Tensor, "batch time character"],
) -> Int[Tensor, "batch time"]:
    """One number for each word: its id, or its first character."""
    return input_ids if input_ids.ndim == 2 else input_ids[:, :, 0]
