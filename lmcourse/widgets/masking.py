"""Masking: which tokens a masked language model has to guess, and how well it guesses."""

from collections.abc import Sequence
from typing import Any, ClassVar

import traitlets

from lmcourse.errors import CourseError
from lmcourse.widgets.base import Widget, module
from lmcourse.widgets.checks import one_of, whole_below, within
from lmcourse.widgets.masking_data import (
    SPECIAL,
    Words,
    draws_of,
    predictions_of,
    word_numbers,
)
from lmcourse.widgets.masking_draw import MASKED, RANDOM, Draw, Rules, draw
from lmcourse.widgets.packing import Array, as_booleans
from lmcourse.widgets.tokens import as_tokens

MOST_TOKENS = 512  # what BERT reads
EPOCHS = 10  # of draws that the browser makes
LAST_SEED = 999_999
KINDS = ("token", "word", "span")


class Masking(Widget):
    """A text with holes: which tokens are selected, and what stands in their place.

    Draws are made in the browser, by the rules of `lmcourse.widgets.masking_draw`, or given. With
    predictions, a position shows the likeliest words of the model beside the exact answer, the loss
    −log p of the true token under both, and KL(exact ‖ model), the nats by which the model's
    expected loss there lies above the floor. Positions and epochs count from 0. Settings are
    traits.

    Args:
        tokens: the text, special tokens included, 512 at most.
        special: 1 for each token that is never selected; None: those named like [CLS] or </s>.
        word_ids: of each token its word, as tokenizers give it; None: ``##`` continues a word.
        vocabulary: the words that predictions are about, in the order of their columns. Random
            words are drawn from it (from 2,000 of them at most), or else from the text.
        selected: draws to step through, 1 where a token is selected, (draw, token).
        read: of each draw, the tokens that the model reads; None: [MASK] where one is selected.
        model, exact: probabilities of the words at each position, (token, word): *given that this
            position alone is hidden*. Or (draw, token, word) for the given draws: *given that all
            of a draw's selected tokens are hidden*. Rows of zeros are positions without prediction.
            `lmcourse.evaluation.masked_predictions` computes both.
        mask_token: what stands for [MASK].
        kind: how tokens are drawn: ``"token"``, ``"word"``, ``"span"``, or ``"given"``, if draws
            are; None: as given, else by tokens.
        rate: the share of tokens to select, 0 to 1.
        masked, random: shares of the selected that become [MASK] and a random word, 0 to 1; the
            rest is kept. If both are more than 1 together, [MASK] comes first.
        dynamic: whether each epoch draws anew (RoBERTa), or all share the first draw.
        seed: of the draws, 0 to 999,999.
        epoch: which draw is shown, from 0 to 9, or to the last given one.
        position: whose predictions are shown; None: the first selected one's.

    Raises:
        CourseError: tokens and arrays do not fit each other, an array holds something else than
            named here, a setting is unknown or out of range.
    """

    _esm = module("masking")
    title: ClassVar[str] = "Masking"
    lighter: ClassVar[str] = "Pass a shorter text, or predictions for fewer draws."

    tokens = traitlets.List(traitlets.Unicode()).tag(sync=True, data=True)
    # Those that stand in others' places, and how many of them are drawn from.
    words = traitlets.List(traitlets.Unicode()).tag(sync=True, data=True)
    pool = traitlets.Int(1).tag(sync=True, data=True)
    mask_token = traitlets.Unicode("[MASK]").tag(sync=True, data=True)
    kind = traitlets.Unicode("token").tag(sync=True)
    rate = traitlets.Float(0.15).tag(sync=True)
    masked = traitlets.Float(0.8).tag(sync=True)
    random = traitlets.Float(0.1).tag(sync=True)
    dynamic = traitlets.Bool(True).tag(sync=True)
    seed = traitlets.Int(0).tag(sync=True)
    epoch = traitlets.Int(0).tag(sync=True)
    position = traitlets.Int(None, allow_none=True).tag(sync=True)

    def __init__(
        self,
        tokens: Sequence[str],
        *,
        special: Any = None,
        word_ids: Any = None,
        vocabulary: Sequence[str] | None = None,
        selected: Any = None,
        read: Sequence[Sequence[str]] | None = None,
        model: Any = None,
        exact: Any = None,
        mask_token: str = "[MASK]",
        kind: str | None = None,
        rate: float = 0.15,
        masked: float = 0.8,
        random: float = 0.1,
        dynamic: bool = True,
        seed: int = 0,
        epoch: int = 0,
        position: int | None = None,
    ) -> None:
        listed = as_tokens("tokens", tokens)
        n = len(listed)
        if n > MOST_TOKENS:
            raise CourseError(
                f"tokens has {n:,} tokens; Masking shows {MOST_TOKENS}.",
                f"Pass a part of the text, such as tokens[:{MOST_TOKENS}].",
            )
        mask_token = as_tokens("mask_token", [mask_token])[0]
        named = [token in SPECIAL for token in listed] if special is None else special
        arrays: dict[str, Array] = {"special": as_booleans("special", named, (n,))}
        words = Words(vocabulary, listed, arrays["special"])
        arrays["word"] = word_numbers(word_ids, listed)
        arrays |= draws_of(selected, read, listed, words, mask_token)
        arrays |= predictions_of(model, exact, listed, words, len(arrays.get("fates", ())))
        self._held = arrays
        super().__init__(
            **self.hold(arrays),
            tokens=listed,
            words=words.listed,
            pool=words.pool,
            mask_token=mask_token,
            kind=kind or ("given" if "fates" in arrays else "token"),
            rate=rate,
            masked=masked,
            random=random,
            dynamic=dynamic,
            seed=seed,
            epoch=epoch,
            position=position,
        )

    @property
    def drawn(self) -> Draw:
        """The draw at the present settings: each token's fate, and its random word's number."""
        held = self._held
        if self.kind == "given":
            e = min(self.epoch, len(held["fates"]) - 1) if self.dynamic else 0
            return Draw(held["fates"][e].tolist(), held["stands"][e].tolist())
        epoch = min(self.epoch, EPOCHS - 1) if self.dynamic else 0
        rules = Rules(self.kind, self.rate, self.masked, self.random)
        own, never = held["word"].tolist(), held["special"].tolist()
        return draw(rules, own, never, self.pool, self.seed, epoch)

    @property
    def read(self) -> list[str]:
        """The tokens that the model reads at the present settings."""
        return [
            self.mask_token if fate == MASKED else self.words[word] if fate == RANDOM else token
            for token, fate, word in zip(self.tokens, *self.drawn, strict=True)
        ]

    @property
    def alt(self) -> str:
        """What is to be seen, in words, at the present settings."""
        fates = self.drawn.fates
        none, masked, random, kept = (fates.count(fate) for fate in range(4))
        drawn = (
            f"drawn by {self.kind} at a rate of {self.rate:g} with {self.masked:g} [MASK] and "
            f"{self.random:g} random, seed {self.seed}"
        )
        looked_at = "" if self.position is None else f" Position {self.position} is looked at."
        return (
            f"Masking: in epoch {self.epoch}, {len(fates) - none} of {len(fates)} tokens are "
            f"selected. {masked} stand as {self.mask_token}, {random} as a random word, {kept} are "
            f"kept; {'as given' if self.kind == 'given' else drawn}, "
            f"{'anew in each epoch' if self.dynamic else 'the same in each epoch'}.{looked_at}"
        )

    @traitlets.validate("kind")
    def _kind_is_known(self, proposal: Any) -> str:
        given = ("given",) if "fates" in self._held else ()
        return one_of("kind", proposal["value"], (*KINDS, *given))

    @traitlets.validate("rate", "masked", "random")
    def _share_is_one(self, proposal: Any) -> float:
        return within(proposal["trait"].name, proposal["value"], 0, 1)

    @traitlets.validate("seed")
    def _seed_is_in_range(self, proposal: Any) -> int | None:
        return whole_below("seed", proposal["value"], LAST_SEED + 1)

    @traitlets.validate("epoch")
    def _epoch_exists(self, proposal: Any) -> int | None:
        count = max(EPOCHS, len(self._held.get("fates", ())))
        return whole_below("epoch", proposal["value"], count)

    @traitlets.validate("position")
    def _position_exists(self, proposal: Any) -> int | None:
        return whole_below("position", proposal["value"], len(self._held["special"]))
