"""ELMo: word vectors that depend on the sentence (chapter 07).

Peters et al. (2018, "Deep contextualized word representations"). A bidirectional language model is
trained to predict each token from its left and from its right context:

    Σ_k log p(t_k | t_1 … t_{k-1}; Θ_x, →Θ, Θ_s) + log p(t_k | t_{k+1} … t_N; Θ_x, ←Θ, Θ_s)

Both directions share only the token layer Θ_x and the softmax Θ_s (section 3.1). All layers
together represent a word (section 3.2), as 2L + 1 vectors:

    h_{k,0} = [x_k; x_k]        h_{k,j} = [→h_{k,j}; ←h_{k,j}]

The two directions are concatenated, and the token vector x_k is repeated, so that all layers have
the same width and `lmcourse.models.scalar_mix` can mix them.

At position k the forward states predict token k + 1, the backward states token k − 1. A sentence
starts with ``<S>`` and ends with ``</S>``, so that both directions predict every word. The forward
direction never predicts ``<S>``, the backward direction never ``</S>``.
"""

from dataclasses import dataclass, field
from typing import ClassVar

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from lmcourse.models.bilm import BiLM, BiLMConfig
from lmcourse.models.char_cnn import CharacterCNN, CharacterCNNConfig
from lmcourse.models.checkpoint import Model
from lmcourse.models.inputs import IGNORED, check_ids, check_like
from lmcourse.models.losses import label_loss
from lmcourse.models.outputs import EncoderOutput, Layers, ModelOutput
from lmcourse.models.recurrence import lengths_from_mask


@dataclass(frozen=True)
class ElmoConfig:
    """The sizes.

    Attributes:
        vocab_size: number of words of the softmax; 793,471 as published.
        characters: the character network; None: word embeddings, which are cheap but cover only the
            vocabulary.
        bilm: both directions.
    """

    vocab_size: int = 793_471
    characters: CharacterCNNConfig | None = field(default_factory=CharacterCNNConfig)
    bilm: BiLMConfig = field(default_factory=BiLMConfig)

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
    """Token vectors and both directions, the part that other tasks reuse."""

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
        """Compute the representations of each token.

        Args:
            input_ids: the words' characters (see `character_ids`), or word ids if the model has
                word embeddings.
            attention_mask: 1 for a token and 0 for padding on the right.
            output_hidden_states: return all L + 1 layers, starting with the token layer.

        Returns:
            Layers of twice the projection's width, zero at padding.
        """
        if self.config.characters is None:
            check_ids(input_ids, self.config.vocab_size)
        x = self.tokens(input_ids)
        lengths = lengths_from_mask(attention_mask, _word_ids(input_ids))
        if attention_mask is not None:
            x = x.masked_fill((attention_mask == 0).unsqueeze(-1), 0.0)
        forward, backward = self.bilm(x, lengths)
        both = [(x, x), *zip(forward, backward, strict=True)]
        layers = tuple(torch.cat(pair, dim=-1) for pair in both)
        return EncoderOutput(layers[-1], hidden_states=layers if output_hidden_states else None)


@dataclass(frozen=True)
class ElmoPreTrainingOutput(ModelOutput):
    """Output of pre-training.

    Attributes:
        loss: nats, the mean over the predictions of both directions.
        forward_logits: of the next token at each position.
        backward_logits: of the previous token at each position.
        last_hidden_state, hidden_states: as in `ElmoModel`.
    """

    loss: Float[Tensor, ""] | None
    forward_logits: Float[Tensor, "batch time vocab"]
    backward_logits: Float[Tensor, "batch time vocab"]
    last_hidden_state: Float[Tensor, "batch time width"]
    hidden_states: Layers | None = None


class ElmoForPreTraining(Model):
    """`ElmoModel` and the softmax that both directions share.

    The published model was trained with a sampled softmax; this one uses the full vocabulary.
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
            labels: the word ids of the same sequence, not shifted; words with ``IGNORED`` and
                padding are not predicted.
        """
        result = self.elmo(input_ids, attention_mask, output_hidden_states=output_hidden_states)
        states = self.dropout(result.last_hidden_state)
        logits = self.softmax(torch.cat(states.chunk(2, dim=-1)))  # [2 · batch, time, vocab]
        forward, backward = logits.chunk(2)
        loss = None
        if labels is not None:
            check_like(labels, _word_ids(input_ids), "labels")
            check_ids(labels, self.config.vocab_size, name="labels", allowed=IGNORED)
            loss = label_loss(logits, torch.cat(neighbors(labels, attention_mask)))
        return ElmoPreTrainingOutput(
            loss, forward, backward, result.last_hidden_state, result.hidden_states
        )


def neighbors(
    labels: Int[Tensor, "batch time"],
    attention_mask: Bool[Tensor, "batch time"] | Int[Tensor, "batch time"] | None = None,
) -> tuple[Int[Tensor, "batch time"], Int[Tensor, "batch time"]]:
    """Return the labels of both directions: the next and the previous word of each position.

    They are ``IGNORED`` where there is none, and at padding.
    """
    if attention_mask is not None:
        labels = labels.masked_fill(attention_mask == 0, IGNORED)
    nothing = torch.full_like(labels[:, :1], IGNORED)
    following = torch.cat([labels[:, 1:], nothing], dim=1)
    previous = torch.cat([nothing, labels[:, :-1]], dim=1)
    if attention_mask is not None:  # the first padding position follows a word
        previous = previous.masked_fill(attention_mask == 0, IGNORED)
    return following, previous


def _word_ids(
    input_ids: Int[Tensor, "batch time"] | Int[Tensor, "batch time character"],
) -> Int[Tensor, "batch time"]:
    """One number for each word: its id, or its first character."""
    return input_ids if input_ids.ndim == 2 else input_ids[:, :, 0]
