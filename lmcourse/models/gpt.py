"""GPT: the Transformer's encoder with a causal mask (chapter 10).

The encoder (`lmcourse.models.transformer`) is causal: each position attends to itself and to
earlier positions, so it can predict the next token:

    x_t = Dropout(word[token_t] + position[t])
    h_1 … h_T = Encoder(x_1 … x_T, causal)
    p(token_{t+1} | token_1 … token_t) = softmax(E h_t)        E: the token embeddings

GPT (Radford et al. 2018, "Improving language understanding by generative pre-training", section
3.1) is post-norm, as BERT is. GPT-2 (Radford et al. 2019, "Language models are unsupervised
multitask learners", section 2.3) is pre-norm, with a LayerNorm after the last layer, and divides
the initial weights of each sublayer's output by √(number of sublayers).
"""

from dataclasses import dataclass
from typing import Any, TypeVar

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional

from lmcourse.errors import check_sizes
from lmcourse.models import inputs
from lmcourse.models.attention import num_heads_for
from lmcourse.models.checkpoint import Model
from lmcourse.models.embeddings import Embeddings
from lmcourse.models.initialization import init_weights
from lmcourse.models.losses import label_loss
from lmcourse.models.outputs import EncoderOutput, LanguageModelOutput
from lmcourse.models.reuse import on_top_of
from lmcourse.models.sampling import evaluating, sample
from lmcourse.models.transformer import Encoder, EncoderLayer, LayerConfig

M = TypeVar("M", bound="GPTForCausalLM")


@dataclass(frozen=True)
class GPTConfig:
    """Settings of a GPT; the defaults are the smallest GPT-2.

    Attributes:
        vocab_size: number of tokens.
        hidden_size: width of a hidden state.
        num_hidden_layers: number of layers.
        num_attention_heads: number of heads in each layer, which divides the width.
        intermediate_size: width of the feed-forward network's hidden layer; None: 4 · width.
        hidden_act: its activation.
        embd_pdrop: dropout of the embeddings.
        hidden_dropout_prob: dropout of each sublayer's output.
        attention_probs_dropout_prob: dropout of the attention weights.
        max_position_embeddings: maximal length of a sequence.
        initializer_range: standard deviation of the initial weights.
        layer_norm_eps: ε of each LayerNorm.
        norm_first: pre-norm (GPT-2) or post-norm (the first GPT).
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
        """Return settings with one head for every 64 numbers of width, as published.

        The number of heads does not follow ``changes``: ``gpt2(hidden_size=384)`` keeps 12 heads;
        ``sized(12, 384)`` has 6.
        """
        sizes = {
            "hidden_size": width,
            "num_hidden_layers": layers,
            "num_attention_heads": num_heads_for(width),
        }
        return cls(**(sizes | changes))

    @classmethod
    def gpt(cls, **changes: Any) -> "GPTConfig":
        """The first GPT: 116,534,784 parameters, known as 117 M."""
        first = {"vocab_size": 40478, "max_position_embeddings": 512, "norm_first": False}
        return cls.sized(12, 768, **(first | changes))

    @classmethod
    def gpt2(cls, **changes: Any) -> "GPTConfig":
        """The smallest GPT-2: 124,439,808 parameters.

        The paper's 117 M (table 2) is the size of the first GPT, corrected to 124 M with the
        published weights.
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
        """1,557,611,200 parameters (1,542 M in the paper)."""
        return cls.sized(48, 1600, **changes)


class GPT(Model):
    """Hidden states of a sequence, each computed from its own and earlier positions."""

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
        init_weights(self, config.initializer_range)
        if config.norm_first:
            # Each layer adds two terms to the residual stream; all together start as large as one.
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
        """Compute the hidden states of a batch.

        Args:
            input_ids, position_ids, inputs_embeds: as in `Embeddings.forward`. Padding counts as
                positions, so give ``position_ids`` for a batch that is padded on the left.
            attention_mask: 1 for a token and 0 for padding, (batch, time), or one row for each
                query, (batch, query, key), in addition to the causal mask. None: no padding.
            output_attentions, output_hidden_states: as in `lmcourse.models.bert.Bert.forward`.
        """
        x = self.embeddings(input_ids, position_ids=position_ids, inputs_embeds=inputs_embeds)
        batch, time, _ = x.shape  # [batch, time, width]
        result: EncoderOutput = self.encoder(
            x,
            inputs.visible(attention_mask, batch, time, time),  # [batch, 1, 1 or query, key]
            output_attentions=output_attentions,
            output_hidden_states=output_hidden_states,
        )
        return result


class GPTForCausalLM(Model):
    """Predict the next token at each position."""

    Config = GPTConfig
    config: GPTConfig

    def __init__(self, config: GPTConfig) -> None:
        super().__init__(config)
        self.gpt = GPT(config)

    @classmethod
    def on_top_of(cls: type[M], pretrained: Model, **changes: Any) -> M:
        """Build the language model on a copy of a pretrained `GPT`.

        Args:
            pretrained: the base model, or one with a head.
            changes: settings that differ from the pretrained model's.
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
        """Predict the token after each position.

        Args:
            labels: ``input_ids``, with ``IGNORED`` for tokens that are not predicted (padding).
                They are shifted here: the logits at position t predict label t + 1. If all are
                ``IGNORED``, the loss is 0.

        The other arguments are as in `GPT.forward`.
        """
        states = self.gpt(
            input_ids,
            attention_mask,
            position_ids,
            inputs_embeds,
            output_attentions=output_attentions,
            output_hidden_states=output_hidden_states,
        )
        words = self.gpt.embeddings.word.weight  # [vocab, width]
        logits = functional.linear(states.last_hidden_state, words)  # [batch, time, vocab]
        loss = None
        if labels is not None:
            inputs.check_like(labels, logits[..., 0], "labels")
            inputs.check_ids(labels, self.config.vocab_size, name="labels", allowed=inputs.IGNORED)
            # Nothing follows the last position. Dropping its logits would copy all the others.
            following = functional.pad(labels[:, 1:], (0, 1), value=inputs.IGNORED)  # [batch, time]
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
        """Continue each prefix by sampling one token after another, without dropout.

        Args:
            input_ids: the prefixes, all of the same length.
            max_new_tokens: number of new tokens.
            temperature, top_k, generator: as in `lmcourse.models.sampling.sample`.

        Returns:
            The prefixes with their continuations. The model reads at most its last
            ``max_position_embeddings`` tokens.
        """
        inputs.check_ids(input_ids, self.config.vocab_size)
        check_sizes(0, max_new_tokens=max_new_tokens)
        with evaluating(self):
            for _ in range(max_new_tokens):
                context = input_ids[:, -self.config.max_position_embeddings :]  # [batch, time]
                logits = self(context).logits[:, -1]  # [batch, vocab]
                token = sample(logits, temperature, top_k, generator)  # [batch, 1]
                input_ids = torch.cat([input_ids, token.to(input_ids.dtype)], 1)
        return input_ids
