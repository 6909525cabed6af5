"""ELECTRA's pre-training: a generator and a discriminator, trained together (chapter 14).

Clark et al. (2020, section 2). The positions m of a text x are masked. A small masked language
model, the generator, fills them in; the discriminator detects the replaced tokens:

    x_masked   = x with [MASK] at the positions m
    x̂_t        ~ softmax(generator(x_masked)_t)      for t in m
    x_corrupt  = x with x̂_t at the positions m
    replaced_t = x_corrupt_t ≠ x_t                   a correct guess is not replaced
    loss       = L_MLM(x_masked, x) + λ L_Disc(x_corrupt, replaced)          λ = 50

Both losses are means over their positions, as in the published code, for which λ was chosen.

It is not a GAN: sampling has no gradient, so the generator is trained by likelihood (L_MLM) alone.

Both models share all embeddings (section 3.2): tokens, positions, segments and their LayerNorm. The
generator's encoder is smaller. After training the generator is discarded.
"""

import copy
from dataclasses import dataclass, field, replace
from typing import Any, Unpack

import torch
from jaxtyping import Float, Int
from torch import Tensor

from lmcourse.models.bert import BertInputs
from lmcourse.models.checkpoint import Model
from lmcourse.models.electra import ElectraConfig, ElectraForMaskedLM, ElectraForPreTraining
from lmcourse.models.inputs import IGNORED
from lmcourse.models.outputs import Layers, ModelOutput, Terms
from lmcourse.models.sampling import inverse_transform

SHARED = ("word", "position", "segment", "norm")
"""The shared parts of the embeddings."""


@dataclass(frozen=True)
class ElectraPairConfig:
    """Settings of both models; the defaults are ELECTRA small.

    Attributes:
        discriminator: its settings; the generator's differ only in size.
        generator_size: the generator's share of the discriminator's heads, rounded. Heads have the
            same width; the hidden and feed-forward widths scale with their number. If less than
            one head is left, one narrower head is used. Table 6 has 1/4 for ELECTRA small and
            large, 1/3 for base.
        discriminator_weight: λ, the weight of the discriminator's loss; with 0, only the generator
            learns.
    """

    discriminator: ElectraConfig = field(default_factory=ElectraConfig)
    generator_size: float = 1 / 4
    discriminator_weight: float = 50.0

    @property
    def generator(self) -> ElectraConfig:
        """The generator's settings."""
        whole = self.discriminator
        head = whole.hidden_size // whole.num_attention_heads
        left = whole.num_attention_heads * self.generator_size
        width = round(left) * head if left >= 1 else round(left * head)
        between = round(whole.intermediate_size * width / whole.hidden_size)
        return replace(
            whole,
            hidden_size=width,
            num_attention_heads=max(1, width // head),
            intermediate_size=between,
        )


@dataclass(frozen=True, eq=False)
class ElectraPairOutput(ModelOutput):
    """Output of one training step.

    Attributes:
        loss: the generator's loss plus λ times the discriminator's, the ``terms``.
        corrupted_ids: the discriminator's input.
        replaced: 1 where a token was replaced, else 0.
    """

    loss: Float[Tensor, ""]
    generator_loss: Float[Tensor, ""]
    discriminator_loss: Float[Tensor, ""]
    generator_logits: Float[Tensor, "batch time vocab"]
    discriminator_logits: Float[Tensor, "batch time"]
    corrupted_ids: Int[Tensor, "batch time"]
    replaced: Int[Tensor, "batch time"]
    generator_hidden_states: Layers | None = None
    generator_attentions: Layers | None = None
    discriminator_hidden_states: Layers | None = None
    discriminator_attentions: Layers | None = None
    terms: Terms | None = None


class ElectraPair(Model):
    """A generator and a discriminator with shared embeddings.

    Each is a complete model that can be saved and converted. The shared modules are counted,
    trained and saved once, as the discriminator's; freezing them in one model freezes them in both.
    """

    Config = ElectraPairConfig
    config: ElectraPairConfig

    def __init__(self, config: ElectraPairConfig) -> None:
        super().__init__(config)
        self.discriminator = ElectraForPreTraining(config.discriminator)
        self.generator = ElectraForMaskedLM(config.generator)
        share_embeddings(self.generator, self.discriminator)
        self.register_state_dict_post_hook(drop_shared_names)
        self.register_load_state_dict_post_hook(expect_shared_names_missing)

    def forward(
        self,
        input_ids: Int[Tensor, "batch time"],
        labels: Int[Tensor, "batch time"],
        *,
        draws: Float[Tensor, "batch time"] | None = None,
        **model_inputs: Unpack[BertInputs],
    ) -> ElectraPairOutput:
        """Compute one training step of both models; tokens are sampled in evaluation mode, too.

        Args:
            input_ids: the masked text.
            labels: the masked tokens, ``IGNORED`` at the other positions.
            draws: a random number in [0, 1) for each position, which determines the token sampled
                there; None: drawn from PyTorch's default generator.
            model_inputs: further arguments of `Bert.forward`, except ``inputs_embeds``.
        """
        masked_lm = self.generator(input_ids, labels=labels, **model_inputs)
        corrupted, replaced = self.corrupt(input_ids, labels, masked_lm.logits, draws)
        detection = self.discriminator(corrupted, labels=replaced, **model_inputs)
        terms = (masked_lm.loss, self.config.discriminator_weight * detection.loss)
        return ElectraPairOutput(
            terms[0] + terms[1],
            masked_lm.loss,
            detection.loss,
            masked_lm.logits,
            detection.logits,
            corrupted,
            replaced,
            masked_lm.hidden_states,
            masked_lm.attentions,
            detection.hidden_states,
            detection.attentions,
            terms,
        )

    @staticmethod
    @torch.no_grad()
    def corrupt(
        input_ids: Int[Tensor, "batch time"],
        labels: Int[Tensor, "batch time"],
        logits: Float[Tensor, "batch time vocab"],
        draws: Float[Tensor, "batch time"] | None = None,
    ) -> tuple[Int[Tensor, "batch time"], Int[Tensor, "batch time"]]:
        """Sample a token for each masked position; return the text, and 1 for replaced tokens.

        Args:
            input_ids, labels, draws: as in `forward`.
            logits: the generator's.
        """
        masked = labels != IGNORED
        original = torch.where(masked, labels, input_ids)
        corrupted = original.clone()
        if draws is None:
            draws = torch.rand(labels.shape, device=labels.device)
        corrupted[masked] = inverse_transform(logits[masked], draws[masked]).to(corrupted.dtype)
        return corrupted, (corrupted != original).long()

    def without_generator(self) -> ElectraForPreTraining:
        """Return a copy of the discriminator, to be fine-tuned with ``on_top_of``."""
        return copy.deepcopy(self.discriminator)


def share_embeddings(generator: ElectraForMaskedLM, discriminator: ElectraForPreTraining) -> None:
    """Replace the generator's embeddings, except the projection, by the discriminator's."""
    for part in SHARED:
        setattr(generator.bert.embeddings, part, getattr(discriminator.bert.embeddings, part))


def shared_names(pair: ElectraPair) -> tuple[str, ...]:
    """Return the prefixes of the generator's names for shared tensors."""
    own, lent = pair.generator.bert.embeddings, pair.discriminator.bert.embeddings
    return tuple(
        f"generator.bert.embeddings.{name}."
        for name, part in own.named_children()
        if part is getattr(lent, name, None)
    )


def drop_shared_names(
    pair: ElectraPair, state: dict[str, Any], prefix: str, metadata: dict[str, Any]
) -> None:
    """Drop the generator's names of shared tensors, as a hook of ``state_dict``."""
    second = tuple(prefix + name for name in shared_names(pair))
    for name in [name for name in state if name.startswith(second)]:
        del state[name]


def expect_shared_names_missing(pair: ElectraPair, problems: Any) -> None:
    """Do not report these names as missing, as a hook of ``load_state_dict``."""
    second = shared_names(pair)
    missing = problems.missing_keys
    missing[:] = [name for name in missing if not any(one in name for one in second)]
