"""Masking: which tokens a model is asked for, and what stands in their places (chapter 10).

A masked language model reads a text with holes and is asked what stood there. Two things are drawn
for it. First, which places are asked for: about 15 % of them, as tokens, words or spans (see
`lmcourse.training.selection`). Then what the model reads at each of them: in 80 % [MASK], in 10 % a
random token, in 10 % the token itself. If it were always [MASK], nothing would be learned about a
text without any, and every text of a later task is such a text.

When is it drawn? BERT masked each text 10 times before the training began, and read these copies
for 40 epochs: *static* masking. RoBERTa draws anew whenever a text is read: *dynamic* masking (Liu
et al. 2019, section 4.1). Here a `Masking` is dynamic, and `StaticMasking` makes it static.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from lmcourse.errors import CourseError
from lmcourse.models.inputs import IGNORED, check_like, check_mask, check_tensor, whole_number
from lmcourse.training.seeds import generator_of
from lmcourse.training.selection import (
    NEVER,
    Selection,
    Spans,
    Tokens,
    Words,
    uniform,
    word_numbers,
)


@dataclass(frozen=True)
class Masking:
    """Which tokens a model is asked for, and what it reads in their places: dynamic masking.

    Args:
        mask_id: the id of [MASK].
        vocab_size: random tokens are drawn from 0 … vocab_size − 1, all equally likely; as in the
            published code, the right one and special ones among them.
        select: which places are asked for: `Tokens`, `Words` or `Spans`.
        rate: the share of the tokens that is.
        masked: of these, the share that becomes [MASK].
        random: of these, the share that becomes a random token. The rest stays.

    Raises:
        CourseError: the shares are none, or the selection is none.
    """

    mask_id: int
    vocab_size: int
    select: Selection = field(default_factory=Tokens)
    rate: float = 0.15
    masked: float = 0.8
    random: float = 0.1

    def __post_init__(self) -> None:
        whole_number(self.mask_id, "mask_id", type(self).__name__, 0)
        whole_number(self.vocab_size, "vocab_size", type(self).__name__)
        shares = (self.masked, self.random, 1 - self.masked - self.random)
        if not 0 < self.rate <= 1 or min(shares) < -1e-9:
            raise CourseError(
                f"A masking cannot have rate={self.rate}, masked={self.masked} and "
                f"random={self.random}.",
                "Give shares from 0 to 1, a rate above 0, and masked + random of at most 1: "
                "BERT's are 0.15, 0.8 and 0.1.",
            )
        if isinstance(self.select, type) or not isinstance(self.select, Selection):
            raise CourseError(
                f"A masking cannot select by {self.select!r}.",
                "Give Tokens(), Words() or Spans() of lmcourse.training.selection, with brackets.",
            )

    def __call__(
        self,
        input_ids: Int[Tensor, "batch time"],
        maskable: Bool[Tensor, "batch time"] | Int[Tensor, "batch time"] | None = None,
        word_ids: Int[Tensor, "batch time"] | None = None,
        *,
        generator: torch.Generator | None = None,
    ) -> tuple[Int[Tensor, "batch time"], Int[Tensor, "batch time"]]:
        """Draw.

        Args:
            input_ids: the text.
            maskable: False at special tokens and padding, which are never selected; None: nowhere.
            word_ids: of each token its word, as tokenizers give it: neighbors with one number are
                one word. None: each token is a word.
            generator: where chance comes from; None: PyTorch's own.

        Returns:
            What the model reads; and the labels: the text's own token at each selected place and
            ``IGNORED``, −100, at the others. (batch, time) both.

        Raises:
            CourseError: a shape does not fit, or the text has no ids.
        """
        _check_text(input_ids)
        if maskable is not None:
            check_like(maskable, input_ids, "maskable")
            check_mask(maskable, "maskable")
            maskable = maskable.bool()
        check_like(word_ids, input_ids, "word_ids")
        words = word_numbers(input_ids, maskable, word_ids)
        leads = self.select(words, self.rate, generator)
        chosen = leads != NEVER
        fate = uniform(words, generator).gather(1, leads.clamp(min=0))
        other = torch.randint_like(input_ids, self.vocab_size, generator=generator)
        read = torch.where(chosen & (fate < self.masked + self.random), other, input_ids)
        read = read.masked_fill(chosen & (fate < self.masked), self.mask_id)
        return read, input_ids.masked_fill(~chosen, IGNORED)

    def of_batch(
        self, batch: Mapping[str, Tensor], generator: torch.Generator | None = None
    ) -> tuple[Int[Tensor, "batch time"], Int[Tensor, "batch time"]]:
        """Draw for a batch that `lmcourse.training.examples.padded` made.

        Raises:
            CourseError: words are to be selected, and the batch does not tell them.
        """
        words = words_of(batch, self.select)
        return self(batch["input_ids"], maskable_places(batch), words, generator=generator)


@dataclass(frozen=True)
class StaticMasking:
    """Each sequence has a few masks, which are drawn once, and used in turn: static masking.

    It is the same as to write that many masked copies of the text before the training begins, as
    BERT did; here a mask is drawn again, from the same numbers, when its turn comes. It depends on
    nothing but these: not on the batch, nor on how long the others in it are.

    Args:
        masking: how each mask is drawn.
        copies: how many masks a sequence has: 10 in BERT, for 40 epochs (Liu et al. 2019, section
            4.1). With 1 it is always the same: so a validation set is masked.
        seed: of all of them.
    """

    masking: Masking
    copies: int = 10
    seed: int = 0

    def __post_init__(self) -> None:
        whole_number(self.copies, "copies", type(self).__name__)
        whole_number(self.seed, "seed", type(self).__name__, 0)

    def of_batch(
        self, batch: Mapping[str, Tensor], generator: torch.Generator | None = None
    ) -> tuple[Int[Tensor, "batch time"], Int[Tensor, "batch time"]]:
        """The mask of each sequence in this epoch. The generator is not asked.

        Args:
            batch: says also which examples these are, and in which epoch they are read
                (``example`` and ``epoch``, (batch,)), as `lmcourse.training.batches` has it.

        Raises:
            CourseError: it does not say so, or does not tell words where they are to be selected.
        """
        if "example" not in batch or "epoch" not in batch:
            raise CourseError(
                "This batch does not say which examples it has, or in which epoch.",
                "BatchLosses says so; of your own batch, give batch['example'] and batch['epoch'], "
                "a whole number for each sequence.",
            )
        ids, maskable = batch["input_ids"], maskable_places(batch)
        words = words_of(batch, self.masking.select)
        read, labels = ids.clone(), torch.full_like(ids, IGNORED)
        turns = zip(batch["example"].tolist(), batch["epoch"].tolist(), strict=True)
        for row, (example, epoch) in enumerate(turns):
            end = int(maskable[row].nonzero().amax()) + 1 if maskable[row].any() else 0
            part = (slice(row, row + 1), slice(0, end))
            read[part], labels[part] = self.masking(
                ids[part],
                maskable[part],
                None if words is None else words[part],
                generator=generator_of(self.seed, example, epoch % self.copies),
            )
        return read, labels


def maskable_places(batch: Mapping[str, Tensor]) -> Bool[Tensor, "batch time"]:
    """True where a batch has a token of the text: no special one, and no padding."""
    ids, mask, special = (
        batch.get(name) for name in ("input_ids", "attention_mask", "special_tokens_mask")
    )
    assert ids is not None
    maskable = torch.ones_like(ids, dtype=torch.bool)
    if mask is not None:  # with a row for each query: a place is real that anyone may look at
        maskable &= mask.bool() if mask.ndim == 2 else mask.bool().any(1)
    if special is not None:
        maskable &= special == 0
    return maskable


def words_of(batch: Mapping[str, Tensor], select: Selection) -> Int[Tensor, "batch time"] | None:
    """Of each token its word, as far as a batch says so.

    Raises:
        CourseError: it does not, and words or spans of words are to be selected.
    """
    if "word_ids" not in batch and isinstance(select, Words | Spans):
        raise CourseError(
            f"This batch has no word_ids, and {type(select).__name__} selects whole words.",
            "Make the examples of a tokenizer's encodings (examples.example_of; as sentences, "
            "lmcourse.training.pairs takes them too). If each token is a word, "
            "examples.each_token_a_word(examples) says so.",
        )
    return batch.get("word_ids")


def _check_text(input_ids: Tensor) -> None:
    """See that there are ids in which something can be selected."""
    check_tensor(input_ids, "input_ids")
    if (
        input_ids.ndim != 2
        or not input_ids.numel()
        or input_ids.dtype not in (torch.int64, torch.int32)
    ):
        raise CourseError(
            f"input_ids has shape {tuple(input_ids.shape)} and the type {input_ids.dtype}.",
            "Give sequences of ids, (batch, time), in torch.long, with at least one token.",
        )
