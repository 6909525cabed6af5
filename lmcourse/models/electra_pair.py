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
from typing import Any, Unpack

import torch
from jaxtyping import Float, Int
from torch import Tensor

from lmcourse.errors import CourseError
from lmcourse.models import inputs
from lmcourse.models.bert import BertInputs
from lmcourse.models.checkpoint import Model
from lmcourse.models.electra import ElectraConfig, ElectraForMaskedLM, ElectraForPreTraining
from lmcourse.models.inputs import IGNORED
from lmcourse.models.outputs import Layers, ModelOutput
from lmcourse.models.sampling import sample

SHARED = ("word", "position", "segment", "norm")
"""Parts of the embeddings that both models have. Dropout is no weight, and each has its own."""


@dataclass(frozen=True)
class ElectraPairConfig:
    """The settings of both models; those of ELECTRA small.

    Attributes:
        discriminator: its settings. The generator's are the same but for its size.
        generator_size: how many of the discriminator's heads the generator has, rounded to a whole
            number. They are as wide as there; width and feed-forward networks shrink with their
            number. Where less than one is left, there is one, as narrow as that.
        discriminator_weight: λ, what the discriminator's loss is multiplied by. With 0, the
            generator alone learns, as BERT does, and the step costs the same.
    """

    discriminator: ElectraConfig = field(default_factory=ElectraConfig)
    generator_size: float = 1 / 4
    discriminator_weight: float = 50.0

    def __post_init__(self) -> None:
        inputs.check_settings(self, (), (), ("generator_size",))
        name = "discriminator_weight"
        weight = inputs.not_negative(self.discriminator_weight, name, type(self).__name__)
        object.__setattr__(self, name, weight)
        if isinstance(self.discriminator, ElectraConfig):  # `Model` refuses what is none
            _ = self.generator  # which looks at the sizes

    @property
    def generator(self) -> ElectraConfig:
        """The generator's settings."""
        whole = self.discriminator
        head = whole.hidden_size // whole.num_attention_heads
        left = whole.num_attention_heads * self.generator_size
        width = round(left) * head if left >= 1 else round(left * head)
        between = round(whole.intermediate_size * width / whole.hidden_size)
        if width < 1 or between < 1:
            raise CourseError(
                f"generator_size is {self.generator_size!r} in this {type(self).__name__}: of a "
                f"width of {whole.hidden_size} and {whole.intermediate_size} between, {width} and "
                f"{between} are left.",
                "Give a larger one: 1/4 or 1/3 in the paper, and 1 for a generator as large.",
            )
        return replace(
            whole,
            hidden_size=width,
            num_attention_heads=max(1, width // head),
            intermediate_size=between,
        )

    @classmethod
    def small(
        cls, *, generator_size: float = 1 / 4, discriminator_weight: float = 50.0, **changes: Any
    ) -> "ElectraPairConfig":
        """The paper's ELECTRA small: a generator of a quarter of the size (table 6).

        Args:
            changes: what is to differ in both models, as ``vocab_size``.
        """
        discriminator = ElectraConfig.small(**changes)
        return cls(discriminator, generator_size, discriminator_weight)

    @classmethod
    def base(
        cls, *, generator_size: float = 1 / 3, discriminator_weight: float = 50.0, **changes: Any
    ) -> "ElectraPairConfig":
        """ELECTRA base: a generator of a third of the size; arguments as `small` has."""
        discriminator = ElectraConfig.base(**changes)
        return cls(discriminator, generator_size, discriminator_weight)

    @classmethod
    def large(
        cls, *, generator_size: float = 1 / 4, discriminator_weight: float = 50.0, **changes: Any
    ) -> "ElectraPairConfig":
        """ELECTRA large: a generator of a quarter of the size; arguments as `small` has."""
        discriminator = ElectraConfig.large(**changes)
        return cls(discriminator, generator_size, discriminator_weight)


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
    generator_hidden_states: Layers | None = None
    generator_attentions: Layers | None = None
    discriminator_hidden_states: Layers | None = None
    discriminator_attentions: Layers | None = None


class ElectraPair(Model):
    """A generator and a discriminator, whose embeddings are one.

    Each is a whole model, and can be saved, converted and built upon. What they share are modules
    that stand in both: each tensor is counted, trained and saved once, as the discriminator's.
    Whoever freezes one model's parameters so freezes the shared ones for both; mode and dropout
    are each model's own.
    """

    Config = ElectraPairConfig
    config: ElectraPairConfig

    def __init__(self, config: ElectraPairConfig) -> None:
        super().__init__(config)
        self.discriminator = ElectraForPreTraining(config.discriminator)
        self.generator = ElectraForMaskedLM(config.generator)
        share_embeddings(self.generator, self.discriminator)
        self.register_state_dict_post_hook(leave_out_second_names)
        self.register_load_state_dict_post_hook(expect_no_second_names)

    def forward(
        self,
        input_ids: Int[Tensor, "batch time"],
        labels: Int[Tensor, "batch time"],
        *,
        torch_generator: torch.Generator | None = None,
        **given: Unpack[BertInputs],
    ) -> ElectraPairOutput:
        """One step of both models. In evaluation mode too, tokens are drawn.

        Args:
            input_ids: the text, masked.
            labels: the text's own token at each place that is to be filled in, ``IGNORED`` at the
                others.
            torch_generator: where the draws' chance comes from; None: PyTorch's own.
            given: the rest of what `Bert.forward` takes, for both; but no ``inputs_embeds``.

        Raises:
            CourseError: an input or the labels do not fit, or the generator's scores are no
                numbers.
        """
        check_given(labels, given)
        guess = self.generator(input_ids, labels=labels, **given)
        corrupted, replaced = self.corrupt(input_ids, labels, guess.logits, torch_generator)
        judged = self.discriminator(corrupted, labels=replaced, **given)
        return ElectraPairOutput(
            guess.loss + self.config.discriminator_weight * judged.loss,
            guess.loss,
            judged.loss,
            guess.logits,
            judged.logits,
            corrupted,
            replaced,
            guess.hidden_states,
            guess.attentions,
            judged.hidden_states,
            judged.attentions,
        )

    @staticmethod
    @torch.no_grad()
    def corrupt(
        input_ids: Int[Tensor, "batch time"],
        labels: Int[Tensor, "batch time"],
        logits: Float[Tensor, "batch time vocab"],
        torch_generator: torch.Generator | None = None,
    ) -> tuple[Int[Tensor, "batch time"], Int[Tensor, "batch time"]]:
        """The text with a token drawn for each gap, and 1 where that is not the text's own.

        Args:
            input_ids, labels, torch_generator: as `forward` has them.
            logits: the generator's.

        Raises:
            CourseError: there are gaps where it scores no token with a number.
        """
        gaps = labels != IGNORED
        original = torch.where(gaps, labels, input_ids)
        corrupted = original.clone()
        scores = logits[gaps]
        if not bool(scores.amax(-1).isfinite().all()):
            raise CourseError(
                "The generator's scores of a gap hold NaN or an infinity: nothing can be drawn.",
                "Look at generator_loss in the steps before. A lower learning rate, its warm-up or "
                "clipped gradients (and in float16 a scaled loss) keep it finite.",
            )
        drawn = sample(scores, generator=torch_generator)
        corrupted[gaps] = drawn.squeeze(-1).to(corrupted.dtype)
        return corrupted, (corrupted != original).long()

    def without_generator(self) -> ElectraForPreTraining:
        """A copy of the discriminator: what is kept, and tuned for a task by ``on_top_of``."""
        return copy.deepcopy(self.discriminator)

    def apart(self) -> tuple[ElectraForMaskedLM, ElectraForPreTraining]:
        """Copies of both, which share nothing any more."""
        return copy.deepcopy(self.generator), self.without_generator()


def share_embeddings(generator: ElectraForMaskedLM, discriminator: ElectraForPreTraining) -> None:
    """Put the discriminator's embeddings in the place of the generator's, up to the projection."""
    for part in SHARED:
        setattr(generator.bert.embeddings, part, getattr(discriminator.bert.embeddings, part))


def second_names(pair: ElectraPair) -> tuple[str, ...]:
    """What the names begin with that the generator has for the discriminator's tensors."""
    own, lent = pair.generator.bert.embeddings, pair.discriminator.bert.embeddings
    return tuple(
        f"generator.bert.embeddings.{name}."
        for name, part in own.named_children()
        if part is getattr(lent, name, None)
    )


def leave_out_second_names(
    pair: ElectraPair, state: dict[str, Any], prefix: str, metadata: dict[str, Any]
) -> None:
    """What ``state_dict`` ends with: each tensor is kept under one name."""
    second = tuple(prefix + name for name in second_names(pair))
    for name in [name for name in state if name.startswith(second)]:
        del state[name]


def expect_no_second_names(pair: ElectraPair, problems: Any) -> None:
    """What ``load_state_dict`` ends with: what came under one name is not missing."""
    second = second_names(pair)
    missing = problems.missing_keys
    missing[:] = [name for name in missing if not any(one in name for one in second)]


def check_given(labels: Any, given: BertInputs) -> None:
    """See that there is a masked text, and what stood in its gaps.

    Raises:
        CourseError: one of them is not there.
    """
    if labels is None:
        raise CourseError(
            "labels is None, and the two models learn from nothing else.",
            f"Give the text's own token at each masked place and {IGNORED} at the others. For what "
            "one of them makes of a text, call it alone: pair.generator, pair.discriminator.",
        )
    if given.get("inputs_embeds") is not None:
        raise CourseError(
            "A pair was given inputs_embeds.",
            "Give input_ids: what the discriminator reads is made of tokens that are drawn.",
        )
