"""Masking: which tokens a model predicts, and what it reads instead (chapter 10).

Two things are drawn for a masked language model. First, which positions it predicts: about 15 %,
chosen as tokens, words or spans (see `lmcourse.training.selection`). Then what it reads at each of
them: [MASK] in 80 %, a random token in 10 %, the token itself in 10 %. With [MASK] alone, the model
would learn nothing about texts without it, such as those of every later task.

BERT masked each text 10 times before the training began, and read these copies for 40 epochs:
*static* masking. RoBERTa draws anew whenever a text is read: *dynamic* masking (Liu et al. 2019,
section 4.1). `Masking` is dynamic, `StaticMasking` static.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from lmcourse.errors import CourseError
from lmcourse.models.inputs import IGNORED, check_like, check_tensor
from lmcourse.training.seeds import generator_of
from lmcourse.training.selection import (
    NONE,
    Selection,
    Spans,
    Tokens,
    Words,
    uniform,
    word_numbers,
)


@dataclass(frozen=True)
class Masking:
    """Dynamic masking: which tokens a model predicts, and what it reads instead.

    Args:
        mask_id: the id of [MASK].
        vocab_size: random tokens are drawn uniformly from 0 … vocab_size − 1; as in the published
            code, they may be special tokens or the right one.
        select: which positions are predicted: `Tokens`, `Words` or `Spans`.
        rate: the share of the tokens that is predicted.
        masked: the share of these that becomes [MASK].
        random: the share of these that becomes a random token. The rest stays.
        special_ids: the ids of further special tokens, which are never selected, as [MASK] is not,
            even if a text spells them out. Those around the texts of a batch need not be given.
    """

    mask_id: int
    vocab_size: int
    select: Selection = field(default_factory=Tokens)
    rate: float = 0.15
    masked: float = 0.8
    random: float = 0.1
    special_ids: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        shares = (self.masked, self.random, 1 - self.masked - self.random)
        if not 0 < self.rate <= 1 or min(shares) < -1e-9:
            raise CourseError(
                f"A masking cannot have rate={self.rate}, masked={self.masked} and "
                f"random={self.random}.",
                "Choose shares from 0 to 1, a rate above 0, and masked + random of at most 1: "
                "BERT's are 0.15, 0.8 and 0.1.",
            )

    def __call__(
        self,
        input_ids: Int[Tensor, "batch time"],
        maskable: Bool[Tensor, "batch time"] | Int[Tensor, "batch time"] | None = None,
        word_ids: Int[Tensor, "batch time"] | None = None,
        *,
        generator: torch.Generator | None = None,
    ) -> tuple[Int[Tensor, "batch time"], Int[Tensor, "batch time"]]:
        """Draw a mask.

        Args:
            input_ids: the text.
            maskable: False at special tokens and padding, which are never selected; None: all
                positions may be, except [MASK] and ``special_ids``.
            word_ids: the word of each token, as tokenizers number them: neighbors with the same
                number are one word. None: each token is a word.
            generator: the source of randomness; None: PyTorch's default.

        Returns:
            The masked ids; and the labels: the original token at each selected position and
            ``IGNORED``, −100, at the others. Both are (batch, time).
        """
        check_tensor(input_ids, "input_ids")
        if input_ids.ndim != 2 or not input_ids.numel() or input_ids.is_floating_point():
            raise CourseError(
                f"input_ids has shape {tuple(input_ids.shape)} and the type {input_ids.dtype}.",
                "Pass sequences of ids, (batch, time), of the type torch.long.",
            )
        check_like(maskable, input_ids, "maskable")
        check_like(word_ids, input_ids, "word_ids")
        special = torch.tensor([self.mask_id, *self.special_ids], device=input_ids.device)
        text = ~torch.isin(input_ids, special)
        if maskable is not None:
            text &= maskable.bool()
        words = word_numbers(input_ids, text, word_ids)
        spans = self.select(words, self.rate, generator)
        selected = spans != NONE
        draw = uniform(words, generator).gather(1, spans.clamp(min=0))
        random_ids = torch.randint_like(input_ids, self.vocab_size, generator=generator)
        replaced = selected & (draw < self.masked + self.random)
        masked_ids = torch.where(replaced, random_ids, input_ids)
        masked_ids = masked_ids.masked_fill(selected & (draw < self.masked), self.mask_id)
        return masked_ids, input_ids.masked_fill(~selected, IGNORED)

    def of_batch(
        self, batch: Mapping[str, Tensor], generator: torch.Generator | None = None
    ) -> tuple[Int[Tensor, "batch time"], Int[Tensor, "batch time"]]:
        """Draw a mask for a batch from `lmcourse.training.examples.padded`."""
        words = words_of(batch, self.select)
        return self(batch["input_ids"], maskable_positions(batch), words, generator=generator)


@dataclass(frozen=True)
class StaticMasking:
    """Static masking: each sequence has a few masks, drawn once, which are used in turn.

    This is equivalent to writing that many masked copies of the text before the training, as BERT
    did. Here, a mask is drawn again from the same seed when its turn comes. It does not depend on
    the other sequences of the batch.

    Args:
        masking: how each mask is drawn.
        copies: the number of masks of a sequence: 10 in BERT, for 40 epochs (Liu et al. 2019,
            section 4.1). With 1, as for a validation set, the mask is always the same.
        seed: of all masks.
    """

    masking: Masking
    copies: int = 10
    seed: int = 0

    def of_batch(
        self, batch: Mapping[str, Tensor], generator: torch.Generator | None = None
    ) -> tuple[Int[Tensor, "batch time"], Int[Tensor, "batch time"]]:
        """The mask of each sequence in this epoch. The generator is not used.

        Args:
            batch: has also the numbers of the examples and of the epoch (``example`` and ``epoch``,
                (batch,)), as `lmcourse.training.BatchLosses` adds them.
        """
        ids, maskable = batch["input_ids"], maskable_positions(batch)
        words = words_of(batch, self.masking.select)
        masked_ids, labels = ids.clone(), torch.full_like(ids, IGNORED)
        turns = zip(batch["example"].tolist(), batch["epoch"].tolist(), strict=True)
        for row, (example, epoch) in enumerate(turns):
            if not maskable[row].any():
                continue
            end = int(maskable[row].nonzero().amax()) + 1
            part = (slice(row, row + 1), slice(0, end))
            masked_ids[part], labels[part] = self.masking(
                ids[part],
                maskable[part],
                None if words is None else words[part],
                generator=generator_of(self.seed, example, epoch % self.copies),
            )
        return masked_ids, labels


def maskable_positions(batch: Mapping[str, Tensor]) -> Bool[Tensor, "batch time"]:
    """True where a batch has a token of the text: neither a special token nor padding.

    A token that is special at one position of a sequence is special at all: [SEP] at the end, and
    where the text spells it out, which tokenizers mark at the end alone.
    """
    ids, mask, special = (
        batch.get(name) for name in ("input_ids", "attention_mask", "special_tokens_mask")
    )
    assert ids is not None
    maskable = torch.ones_like(ids, dtype=torch.bool)
    if mask is not None:  # one with a row for each query pads what no query attends to
        maskable &= mask.bool() if mask.ndim == 2 else mask.bool().any(1)
    if special is not None:
        framing = (special != 0) & maskable
        texts = [~torch.isin(row, row[frame]) for row, frame in zip(ids, framing, strict=True)]
        maskable &= (special == 0) & torch.stack(texts)
    return maskable


def words_of(batch: Mapping[str, Tensor], select: Selection) -> Int[Tensor, "batch time"] | None:
    """The word of each token, if the batch contains it."""
    if "word_ids" not in batch and isinstance(select, Words | Spans):
        raise CourseError(
            f"This batch has no word_ids, and {type(select).__name__} selects whole words.",
            "Build the examples from a tokenizer's encodings (examples.example_of); or, if each "
            "token is a word, call examples.each_token_a_word(examples).",
        )
    return batch.get("word_ids")
