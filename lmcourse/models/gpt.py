"""GPT: BERT's block, with a mask that hides what comes (chapter 10).

The same encoder (`lmcourse.models.transformer`) over words and places, but causal: a place sees
itself and what stands before it, and so may be asked for the token that follows:

    x_t = Dropout(word[token_t] + position[t])
    h_1 … h_T = Encoder(x_1 … x_T, causal)
    p(token_{t+1} | token_1 … token_t) = softmax(E h_t)        E: the words' embeddings

GPT (Radford et al. 2018, "Improving language understanding by generative pre-training", section
3.1) is post-norm, as BERT is. GPT-2 (Radford et al. 2019, "Language models are unsupervised
multitask learners", section 2.3) is pre-norm, with a LayerNorm behind the last layer, and starts
the weights of what is added to the residual stream smaller by √(number of additions).
"""

from dataclasses import dataclass
from typing import Any, TypeVar

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional

from lmcourse.models import inputs
from lmcourse.models.attention import heads_of_64
from lmcourse.models.checkpoint import Model
from lmcourse.models.embeddings import Embeddings
from lmcourse.models.initialization import draw_weights
from lmcourse.models.losses import label_loss
from lmcourse.models.outputs import EncoderOutput, LanguageModelOutput
from lmcourse.models.reuse import on_top_of
from lmcourse.models.sampling import check_sampling, evaluating, sample
from lmcourse.models.transformer import Encoder, EncoderLayer, LayerConfig

M = TypeVar("M", bound="GPTForCausalLM")


@dataclass(frozen=True)
class GPTConfig:
    """The settings of a GPT; those of the smallest GPT-2.

    Attributes:
        vocab_size: how many tokens there are.
        hidden_size: width of a hidden state.
        num_hidden_layers: how many layers.
        num_attention_heads: how many heads in each; they divide the width.
        intermediate_size: width of the feed-forward network's hidden layer; None: 4 · the width.
        hidden_act: its activation.
        embd_pdrop: dropout of the embeddings.
        hidden_dropout_prob: dropout of what each sublayer adds.
        attention_probs_dropout_prob: dropout of the attention's weights.
        max_position_embeddings: the longest sequence.
        initializer_range: standard deviation of the weights at the start.
        layer_norm_eps: what each LayerNorm adds to the variance.
        norm_first: pre-norm (GPT-2), or post-norm (the first GPT).
    """

    vocab_size: int = 50257
    hidden_size: int = 768
    num_hidden_layers: int = 12
    num_attention_heads: int = 12
    intermediate_size: int | None = None
    hidden_act: str = "gelu_new"
    embd_pdrop: float = 0.1
    hidden_dropout_prob: float = 0.1
    attention_probs_dropout_prob: float = 0.1
    max_position_embeddings: int = 1024
    initializer_range: float = 0.02
    layer_norm_eps: float = 1e-5
    norm_first: bool = True

    def __post_init__(self) -> None:
        inputs.check_settings(
            self,
            (
                *("vocab_size", "hidden_size", "num_hidden_layers", "intermediate_size"),
                "max_position_embeddings",
            ),
            ("embd_pdrop", "hidden_dropout_prob", "attention_probs_dropout_prob"),
            ("initializer_range", "layer_norm_eps"),
        )
        _ = self.layer  # which looks at the rest

    @property
    def layer(self) -> LayerConfig:
        """The sizes of one layer."""
        return LayerConfig(
            hidden_size=self.hidden_size,
            num_attention_heads=self.num_attention_heads,
            intermediate_size=self.intermediate_size or 4 * self.hidden_size,
            hidden_act=self.hidden_act,
            hidden_dropout_prob=self.hidden_dropout_prob,
            attention_probs_dropout_prob=self.attention_probs_dropout_prob,
            layer_norm_eps=self.layer_norm_eps,
            norm_first=self.norm_first,
        )

    @classmethod
    def sized(cls, layers: int, width: int, **changes: Any) -> "GPTConfig":
        """The published sizes' rule: heads of 64 numbers.

        ``changes`` come after the rule, and it does not follow them: ``gpt2(hidden_size=384)``
        keeps its 12 heads; ``sized(12, 384)`` has 6.

        Raises:
            CourseError: the width is no multiple of 64.
        """
        sizes = {
            "hidden_size": width,
            "num_hidden_layers": layers,
            "num_attention_heads": heads_of_64(width),
        }
        return cls(**(sizes | changes))

    @classmethod
    def gpt(cls, **changes: Any) -> "GPTConfig":
        """The first GPT: 116,534,784 parameters, the 117 M that its size is known by."""
        first = {"vocab_size": 40478, "max_position_embeddings": 512, "norm_first": False}
        return cls.sized(12, 768, **(first | changes))

    @classmethod
    def gpt2(cls, **changes: Any) -> "GPTConfig":
        """GPT-2's smallest: 124,439,808 parameters.

        The paper says 117 M (table 2), which is the first GPT's size; its authors corrected it to
        124 M with the published weights. Vocabulary and positions grew between the two.
        """
        return cls.sized(12, 768, **changes)

    @classmethod
    def gpt2_medium(cls, **changes: Any) -> "GPTConfig":
        """354,823,168 parameters (345 M in the paper)."""
        return cls.sized(24, 1024, **changes)

    @classmethod
    def gpt2_large(cls, **changes: Any) -> "GPTConfig":
        """774,030,080 parameters (762 M in the paper)."""
        return cls.sized(36, 1280, **changes)

    @classmethod
    def gpt2_xl(cls, **changes: Any) -> "GPTConfig":
        """1,557,611,200 parameters (1,542 M in the paper), in heads of 64 numbers too: 25."""
        return cls.sized(48, 1600, **changes)


class GPT(Model):
    """Hidden states of a sequence, each of which has seen what stands before it."""

    Config = GPTConfig
    config: GPTConfig

    def __init__(self, config: GPTConfig) -> None:
        super().__init__(config)
        self.embeddings = Embeddings(
            config.vocab_size,
            config.hidden_size,
            config.max_position_embeddings,
            dropout=config.embd_pdrop,
        )
        self.encoder = Encoder(
            config.layer, config.num_hidden_layers, causal=True, final_norm=config.norm_first
        )
        draw_weights(self, config.initializer_range)
        if config.norm_first:
            # Each layer adds two terms to the residual stream: together they start as large as one.
            std = config.initializer_range / (2 * config.num_hidden_layers) ** 0.5
            for layer in self.encoder.layers:
                assert isinstance(layer, EncoderLayer)
                nn.init.normal_(layer.attention.output.weight, std=std)
                nn.init.normal_(layer.feed_forward.output.weight, std=std)

    def forward(
        self,
        input_ids: Int[Tensor, "batch time"] | None = None,
        attention_mask: Tensor | None = None,
        position_ids: Int[Tensor, "batch time"] | None = None,
        inputs_embeds: Float[Tensor, "batch time width"] | None = None,
        *,
        output_attentions: bool = False,
        output_hidden_states: bool = False,
    ) -> EncoderOutput:
        """Read a batch.

        Args:
            input_ids, position_ids, inputs_embeds: as `Embeddings.forward` has them. Places are
                counted from the first column, padding or not: where a batch is padded on the left,
                give ``position_ids`` that count the tokens.
            attention_mask: 1 for a token and 0 for padding, (batch, time); or which places each
                one sees, (batch, query, key), of those up to itself. None: there is no padding.
            output_attentions, output_hidden_states: as in `lmcourse.models.bert.Bert.forward`.

        Raises:
            CourseError: a shape does not fit, or a number is out of range.
        """
        x = self.embeddings(input_ids, position_ids=position_ids, inputs_embeds=inputs_embeds)
        batch, time, _ = x.shape
        result: EncoderOutput = self.encoder(
            x,
            inputs.visible(attention_mask, batch, time, time),
            output_attentions=output_attentions,
            output_hidden_states=output_hidden_states,
        )
        return result


class GPTForCausalLM(Model):
    """The distribution of the next token, at each place."""

    Config = GPTConfig
    config: GPTConfig

    def __init__(self, config: GPTConfig) -> None:
        super().__init__(config)
        self.gpt = GPT(config)

    @classmethod
    def on_top_of(cls: type[M], pretrained: Model, **changes: Any) -> M:
        """The next token's scores on a copy of a pretrained `GPT`.

        (The way back needs nothing: ``model.gpt`` is a model of its own.)

        Args:
            pretrained: the base model, or one with a head on it.
            changes: settings that are to differ from the pretrained model's.

        Raises:
            CourseError: it is no such model; a setting is unknown; a tensor does not fit.
        """
        return on_top_of(cls, pretrained, GPT, "gpt", changes)

    def forward(
        self,
        input_ids: Int[Tensor, "batch time"] | None = None,
        attention_mask: Tensor | None = None,
        position_ids: Int[Tensor, "batch time"] | None = None,
        inputs_embeds: Float[Tensor, "batch time width"] | None = None,
        *,
        labels: Int[Tensor, "batch time"] | None = None,
        output_attentions: bool = False,
        output_hidden_states: bool = False,
    ) -> LanguageModelOutput:
        """Predict the token after each place.

        Args:
            labels: the tokens themselves, ``input_ids`` with ``IGNORED`` where a token is not to
                be predicted (padding). They are shifted in here: the logits of place t are held
                against label t + 1. Without any label the loss is 0.

        The rest is as in `GPT.forward`.
        """
        states = self.gpt(
            input_ids,
            attention_mask,
            position_ids,
            inputs_embeds,
            output_attentions=output_attentions,
            output_hidden_states=output_hidden_states,
        )
        logits = functional.linear(states.last_hidden_state, self.gpt.embeddings.word.weight)
        loss = None
        if labels is not None:
            inputs.check_like(labels, logits[..., 0], "labels")
            inputs.check_ids(labels, self.config.vocab_size, name="labels", allowed=inputs.IGNORED)
            # Nothing follows the last place. To label it so moves a few numbers; to cut it off
            # would copy all the logits.
            following = functional.pad(labels[:, 1:], (0, 1), value=inputs.IGNORED)
            loss = label_loss(logits, following)
        return LanguageModelOutput(loss, logits, states.hidden_states, states.attentions)

    @torch.no_grad()
    def generate(
        self,
        input_ids: Int[Tensor, "batch time"],
        max_new_tokens: int,
        *,
        temperature: float = 1.0,
        top_k: int | None = None,
        generator: torch.Generator | None = None,
    ) -> Int[Tensor, "batch longer"]:
        """Go on with a text, one token drawn after the other, and without dropout.

        Args:
            input_ids: the beginnings, all of the same length.
            max_new_tokens: how many follow.
            temperature, top_k, generator: as in `lmcourse.models.sampling.sample`.

        Returns:
            The beginnings with what follows them, read from a later place on if they grow too long.

        Raises:
            CourseError: the ids are not the model's, or no token can be drawn so.
        """
        inputs.check_ids(input_ids, self.config.vocab_size)
        check_sampling(max_new_tokens, temperature, top_k)
        with evaluating(self):
            for _ in range(max_new_tokens):
                seen = input_ids[:, -self.config.max_position_embeddings :]
                token = sample(self(seen).logits[:, -1], temperature, top_k, generator)
                input_ids = torch.cat([input_ids, token.to(input_ids.dtype)], 1)
        return input_ids
