"""How ELECTRA is trained: two models together, one of which is thrown away (chapter 14).

Clark et al. (2020, section 2). Of a text x, the places m are masked. A small masked language
model, the generator, fills them in; the discriminator says which tokens are not the text's own:

    x_masked   = x with [MASK] at the places m
    x̂_t        ~ softmax(generator(x_masked)_t)      for t in m
    x_corrupt  = x with x̂_t at the places m
    replaced_t = x_corrupt_t ≠ x_t                   a token that was guessed right is no fake
    loss       = L_MLM(x_masked, x) + λ L_Disc(x_corrupt, replaced)          λ = 50

Both losses are means over their places, as in the published code, for which λ was chosen.

It looks like a GAN and is none. A token is drawn, and through a draw goes no gradient: so the
generator is not taught to deceive, but by likelihood (L_MLM) alone.

The two share their embeddings (section 3.2), all of them as in the published code: words, places,
segments and their LayerNorm. What is behind, the generator has in small. After the training it is
discarded.
"""

import copy
from dataclasses import dataclass, field, replace
from typing import Any, cast

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from lmcourse.models import inputs
from lmcourse.models.checkpoint import Model, load_strictly
from lmcourse.models.electra import ElectraConfig, ElectraForMaskedLM, ElectraForPreTraining
from lmcourse.models.embeddings import Embeddings
from lmcourse.models.initialization import draw_weights
from lmcourse.models.inputs import IGNORED
from lmcourse.models.outputs import ModelOutput
from lmcourse.models.sampling import sample


@dataclass(frozen=True)
class ElectraPairConfig:
    """The settings of both models; those of ELECTRA small.

    Attributes:
        discriminator: its settings. The generator's are the same but for its size.
        generator_size: the generator's width, of the discriminator's. Its heads are as wide, and
            fewer, and its feed-forward networks smaller by the same factor.
        discriminator_weight: λ, what the discriminator's loss is multiplied by.
    """

    discriminator: ElectraConfig = field(default_factory=ElectraConfig)
    generator_size: float = 1 / 4
    discriminator_weight: float = 50.0

    def __post_init__(self) -> None:
        inputs.check_settings(self, (), (), ("generator_size", "discriminator_weight"))
        if isinstance(self.discriminator, ElectraConfig):  # `Model` refuses what is none
            _ = self.generator  # which looks at the sizes

    @property
    def generator(self) -> ElectraConfig:
        """The generator's settings."""
        whole = self.discriminator
        width = round(whole.hidden_size * self.generator_size)
        return replace(
            whole,
            hidden_size=width,
            num_attention_heads=max(1, width * whole.num_attention_heads // whole.hidden_size),
            intermediate_size=round(whole.intermediate_size * self.generator_size),
        )

    @classmethod
    def small(cls) -> "ElectraPairConfig":
        """The paper's ELECTRA small: a generator of a quarter of the width (table 6)."""
        return cls(cast(ElectraConfig, ElectraConfig.small()))

    @classmethod
    def base(cls) -> "ElectraPairConfig":
        """ELECTRA base: a generator of a third of the width."""
        return cls(cast(ElectraConfig, ElectraConfig.base()), 1 / 3)

    @classmethod
    def large(cls) -> "ElectraPairConfig":
        """ELECTRA large: a generator of a quarter of the width."""
        return cls(cast(ElectraConfig, ElectraConfig.large()))


@dataclass(frozen=True, eq=False)
class ElectraPairOutput(ModelOutput):
    """What both models did in one step.

    Attributes:
        loss: the generator's, and λ times the discriminator's.
        corrupted_ids: what the discriminator read.
        replaced: 1 where that is not the text's own token, else 0.
    """

    loss: Float[Tensor, ""]
    generator_loss: Float[Tensor, ""]
    discriminator_loss: Float[Tensor, ""]
    generator_logits: Float[Tensor, "batch time vocab"]
    discriminator_logits: Float[Tensor, "batch time"]
    corrupted_ids: Int[Tensor, "batch time"]
    replaced: Int[Tensor, "batch time"]


class BorrowedEmbeddings(nn.Module):
    """Another model's embeddings, and a projection of one's own behind them.

    The lender stands in a tuple. So it is none of this module's parts: its tensors are saved,
    counted and moved with the model that they belong to, and with that one alone.
    """

    def __init__(self, lender: Embeddings, config: ElectraConfig) -> None:
        super().__init__()
        self.lender = (lender,)
        narrow = config.embedding_size != config.hidden_size
        self.projection = (
            nn.Linear(config.embedding_size, config.hidden_size) if narrow else nn.Identity()
        )
        draw_weights(self, config.initializer_range, truncated=True)

    @property
    def word(self) -> nn.Embedding:
        """The tokens' embeddings, which the generator's output reads too."""
        return self.lender[0].word

    def forward(self, *given: Any, **named: Any) -> Float[Tensor, "batch time width"]:
        """As `Embeddings.forward`: the lender's, without the lender's own projection."""
        return self.projection(Embeddings.forward(self.lender[0], *given, **named))


class ElectraPair(Model):
    """A generator and a discriminator that share their embeddings, which the latter holds."""

    Config = ElectraPairConfig
    config: ElectraPairConfig

    def __init__(self, config: ElectraPairConfig) -> None:
        super().__init__(config)
        self.discriminator = ElectraForPreTraining(config.discriminator)
        self.generator = ElectraForMaskedLM(config.generator)
        borrowed = BorrowedEmbeddings(self.discriminator.bert.embeddings, config.generator)
        self.generator.bert.embeddings = cast(Embeddings, borrowed)

    def forward(
        self,
        input_ids: Int[Tensor, "batch time"],
        labels: Int[Tensor, "batch time"],
        attention_mask: Tensor | None = None,
        token_type_ids: Int[Tensor, "batch time"] | None = None,
        position_ids: Int[Tensor, "batch time"] | None = None,
    ) -> ElectraPairOutput:
        """One step of both models.

        Args:
            input_ids: the text, masked.
            labels: the text's own token at each place that is to be filled in, ``IGNORED`` at the
                others.
            attention_mask, token_type_ids, position_ids: as `Bert.forward` has them, for both.

        Raises:
            CourseError: an input or the labels do not fit.
        """
        seen = {
            "attention_mask": attention_mask,
            "token_type_ids": token_type_ids,
            "position_ids": position_ids,
        }
        guess = self.generator(input_ids, labels=labels, **seen)
        corrupted, replaced = self.corrupt(input_ids, labels, guess.logits)
        judged = self.discriminator(corrupted, labels=replaced, **seen)
        return ElectraPairOutput(
            guess.loss + self.config.discriminator_weight * judged.loss,
            guess.loss,
            judged.loss,
            guess.logits,
            judged.logits,
            corrupted,
            replaced,
        )

    @staticmethod
    @torch.no_grad()
    def corrupt(
        input_ids: Int[Tensor, "batch time"],
        labels: Int[Tensor, "batch time"],
        logits: Float[Tensor, "batch time vocab"],
    ) -> tuple[Int[Tensor, "batch time"], Int[Tensor, "batch time"]]:
        """The text with a token drawn for each gap, and 1 where that is not the text's own."""
        gaps = labels != IGNORED
        original = torch.where(gaps, labels, input_ids)
        corrupted = original.clone()
        corrupted[gaps] = sample(logits[gaps]).squeeze(-1).to(corrupted.dtype)
        return corrupted, (corrupted != original).long()

    def without_generator(self) -> ElectraForPreTraining:
        """A copy of the discriminator: what is kept, and tuned for a task by ``on_top_of``."""
        return copy.deepcopy(self.discriminator)

    def apart(self) -> tuple[ElectraForMaskedLM, ElectraForPreTraining]:
        """Copies of both, the generator with embeddings of its own: each can be saved alone."""
        generator = ElectraForMaskedLM(self.config.generator)
        lent = self.discriminator.bert.embeddings.state_dict()
        state = self.generator.state_dict() | {
            f"bert.embeddings.{name}": tensor
            for name, tensor in lent.items()
            if not name.startswith("projection.")
        }
        load_strictly(generator, state, f"this {type(self).__name__}")
        return generator.train(self.generator.training), self.without_generator()
