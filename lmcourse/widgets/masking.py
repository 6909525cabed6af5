"""Masking: which tokens a masked language model has to guess, and how well it guesses."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import traitlets

from lmcourse.errors import CourseError
from lmcourse.widgets.base import Widget, module
from lmcourse.widgets.checks import one_of, shown, whole_below, within
from lmcourse.widgets.masking_data import Content, content_of, gain, said
from lmcourse.widgets.masking_draw import MASKED, RANDOM, Draw, Rules, draw
from lmcourse.widgets.tokens import MOST_TOKENS, as_text, as_tokens, visible, words_of

EPOCHS = 10  # of draws that the browser makes
LAST_SEED = 999_999
MOST_CHARACTERS = 4000  # of a typed text
KINDS = ("token", "word", "span")


class Masking(Widget):
    """A text with holes: which tokens are selected, and what stands in their place.

    Draws are made in the browser, by the rules of `lmcourse.widgets.masking_draw`, or given. With
    predictions, a position shows the likeliest words of the model beside the exact answer, the loss
    −log p of the true token under both, and KL(exact ‖ model), the nats by which the model's
    expected loss there lies above the floor. Positions and epochs count from 0. Settings are
    traits.

    A reader may type another text. A page splits it into words and draws; with a kernel, ``answer``
    is called for it, and what it cannot do stands in the widget as a sentence.

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
        answer: tokens → the arguments ``vocabulary``, ``model`` and ``exact`` for them,
            (token, word), and ``special`` and ``word_ids`` if need be; also called for ``tokens``
            if neither model nor exact is given. `lmcourse.evaluation.masked_predictions.answers`
            makes one.
        tokenize: a typed text → its tokens; None: words and punctuation marks.
        text: what is typed, 4,000 characters at most. None: the tokens with spaces between, or
            nothing if they would be split otherwise. With given draws there is nothing to type.
        kind: how tokens are drawn: ``"token"``, ``"word"``, ``"span"``, or ``"given"``, if draws
            are; None: as given, else by tokens.
        rate: the share of tokens to select, 0 to 1.
        masked, random: shares of the selected that become [MASK] and a random word, 0 to 1; the
            rest is kept. If both are more than 1 together, [MASK] comes first.
        dynamic: whether each epoch draws anew (RoBERTa), or all share the first draw.
        seed: of the draws, 0 to 999,999.
        epoch: which draw is shown, from 0 to 9, or to the last given one.
        position: whose predictions are shown; None, or behind the end of a typed text: of the
            selected, the one where the exact answer knows the token and the model does not.

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
    answered = traitlets.Unicode("").tag(sync=True, data=True)  # the text whose tokens are there
    trouble = traitlets.Unicode("").tag(sync=True, data=True)  # why it has no answers
    text = traitlets.Unicode("").tag(sync=True)
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
        answer: Callable[[list[str]], Mapping[str, Any]] | None = None,
        tokenize: Callable[[str], Sequence[str]] | None = None,
        text: str | None = None,
        kind: str | None = None,
        rate: float = 0.15,
        masked: float = 0.8,
        random: float = 0.1,
        dynamic: bool = True,
        seed: int = 0,
        epoch: int = 0,
        position: int | None = None,
    ) -> None:
        listed = as_text(tokens, "Masking")
        mask_token = as_tokens("mask_token", [mask_token])[0]
        for name, it in (("answer", answer), ("tokenize", tokenize)):
            if it is not None and not callable(it):
                raise CourseError(
                    f"{name} is {shown(it)}, not a function.",
                    f"Pass a function of one argument, or leave out {name}.",
                )
        self._answer, self._tokenize = answer, tokenize or words_of
        given: dict[str, Any] = {"special": special, "word_ids": word_ids, "vocabulary": vocabulary}
        given |= {"selected": selected, "read": read, "model": model, "exact": exact}
        if answer is not None and selected is not None:
            raise CourseError(
                "answer is for texts that are typed, and selected holds draws of this one.",
                "Leave out one of the two.",
            )
        if answer is not None and model is None and exact is None:
            given |= _asked(answer, listed)
        self._first = content_of(listed, mask_token, **given)
        self._held = self._first.arrays
        self._vocabulary = vocabulary
        own = "" if selected is not None else _written(listed, self._tokenize)
        self._own = own
        super().__init__(
            **self._shown(self._first),
            mask_token=mask_token,
            text=own,
            answered=own,
            kind=kind or ("token" if selected is None else "given"),
            rate=rate,
            masked=masked,
            random=random,
            dynamic=dynamic,
            seed=seed,
            epoch=epoch,
            position=position,
        )
        if text is not None:
            self.text = text

    def _shown(self, content: Content) -> dict[str, Any]:
        """The traits that hold a text with its answers."""
        tokens, words, pool, arrays = content
        return {**self.hold(arrays), "tokens": tokens, "words": words, "pool": pool}

    @traitlets.observe("text")
    def _read_text(self, change: Any) -> None:
        """Send the typed text's tokens and answers, or say why there are none."""
        if not self._made or change["new"] == self.answered:
            return
        content, trouble = self._first, ""
        if change["new"] != self._own:
            content, trouble = self._content_of(change["new"])
        self._held = content.arrays
        self.renew(**self._shown(content), trouble=trouble, answered=change["new"])

    def _content_of(self, text: str) -> tuple[Content, str]:
        """A typed text's content, and in a sentence what went wrong."""
        try:
            tokens = as_text(list(self._tokenize(text)), "Masking")
            if self._answer is None:
                none = "The widget was made without answer=, which computes them."
                content = content_of(tokens, self.mask_token, vocabulary=self._vocabulary)
                return content, f"There are no answers. {none}"
            given = {"vocabulary": self._vocabulary} | _asked(self._answer, tokens)
            return content_of(tokens, self.mask_token, **given), ""
        except CourseError as error:
            trouble = str(error)
        except Exception as error:  # of functions that are not ours: a page shows it
            what = f"{type(error).__name__}: {error}"
            trouble = f"There are no answers: {what}. Call answer(tokens) in a cell to see where."
        plain = content_of(words_of(text), self.mask_token, vocabulary=self._vocabulary)
        return plain, trouble

    @property
    def drawn(self) -> Draw:
        """The draw at the present settings: each token's fate, and its random word's number."""
        held = self._held
        if self.kind == "given":
            e = self._epoch if self.dynamic else 0
            return Draw(held["fates"][e].tolist(), held["stands"][e].tolist())
        epoch = self._epoch if self.dynamic else 0
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
        fates, mask = self.drawn.fates, visible(self.mask_token)
        none, masked, random, kept = (fates.count(fate) for fate in range(4))
        drawn = (
            f"drawn by {self.kind} at a rate of {self.rate:g} with {self.masked:g} {mask} and "
            f"{self.random:g} random, seed {self.seed}"
        )
        eligible = int((self._held["special"] == 0).sum())
        return (
            f"Masking: in epoch {self._epoch}, {len(fates) - none} of {eligible} tokens are "
            f"selected. {masked} stand as {mask}, {random} as a random word, {kept} are "
            f"kept; {'as given' if self.kind == 'given' else drawn}, "
            f"{'anew in each epoch' if self.dynamic else 'the same in each epoch'}. {self._answers}"
        )

    @property
    def _epoch(self) -> int:
        """The one that is shown: other draws may be fewer."""
        return min(self.epoch, (len(self._held["fates"]) if self.kind == "given" else EPOCHS) - 1)

    @property
    def _answers(self) -> str:
        """What is known about the chosen position."""
        draw = None
        if self.kind == "given":
            draw = self._epoch if self.dynamic else 0
        selected = [i for i, fate in enumerate(self.drawn.fates) if fate]
        chosen = max(selected, key=lambda i: gain(self._held, i, draw), default=0)
        if self.position is not None and self.position < len(self.tokens):
            chosen = self.position
        token = f"Position {chosen}, “{visible(self.tokens[chosen])}”"
        answers = said(self._held, self.words, chosen, draw) or self.trouble
        return f"{token}: {(answers or 'no prediction was given for it').removesuffix('.')}."

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
        fixed = not self._made or "fates" in self._held  # a typed text may be longer, or shorter
        count = len(self._held["special"]) if fixed else MOST_TOKENS
        return whole_below("position", proposal["value"], count)

    @traitlets.validate("text")
    def _text_has_words(self, proposal: Any) -> str:
        text = str(proposal["value"])
        if text not in (self._own, self.answered):
            if "fates" in self._held:
                raise CourseError("The draws were given for another text.", "Leave out selected.")
            if len(text) > MOST_CHARACTERS:
                raise CourseError(
                    f"text has {len(text):,} characters.", f"Give at most {MOST_CHARACTERS:,}."
                )
            words_of(text)
        return text


def _asked(answer: Callable[[list[str]], Mapping[str, Any]], tokens: list[str]) -> dict[str, Any]:
    """What a callable answers, under names that are known."""
    found = answer(list(tokens))
    known = ("vocabulary", "model", "exact", "special", "word_ids")
    if not isinstance(found, Mapping) or not set(found) <= set(known):
        names = sorted(map(str, found)) if isinstance(found, Mapping) else type(found).__name__
        raise CourseError(
            f"answer(tokens) returned {names}.",
            f"Return a dictionary with {', '.join(known[:3])}, such as masked_predictions gives.",
        )
    return {name: it for name, it in found.items() if it is not None}


def _written(tokens: list[str], tokenize: Callable[[str], Sequence[str]]) -> str:
    """The text that is split into these tokens, if spaces between them do."""
    text = " ".join(tokens)
    try:
        same = len(text) <= MOST_CHARACTERS and list(tokenize(text)) == tokens
    except Exception:  # whatever a function that is not ours may raise
        same = False
    return text if same else ""
