"""Masking: which tokens a masked language model predicts, and how well."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import traitlets

from lmcourse.errors import CourseError
from lmcourse.widgets.base import Widget, module
from lmcourse.widgets.checks import index_below, one_of, shown, within
from lmcourse.widgets.masking_data import Content, content_of, described, gain
from lmcourse.widgets.masking_draw import MASKED, RANDOM, Draw, Rules, draw
from lmcourse.widgets.tokens import MOST_TOKENS, as_text, as_tokens, visible, words_of

EPOCHS = 10  # drawn by the browser
LAST_SEED = 999_999
MOST_CHARACTERS = 4000  # of a typed text
KINDS = ("token", "word", "span")


class Masking(Widget):
    """Masked language modeling: which tokens are selected, and what replaces them.

    The browser draws by the rules of `lmcourse.widgets.masking_draw`, or draws are given. With
    predictions, a position shows the most probable words of the model next to the exact answer, the
    loss −log p of the true token under both, and KL(exact ‖ model), by which the model's expected
    loss exceeds the floor. Positions and epochs count from 0. Settings are traits.

    A reader may type another text. A page splits it into words and draws; a kernel calls ``answer``
    for it, whose errors are shown in the widget.

    Args:
        tokens: the text, including special tokens, at most 512.
        special: 1 for tokens that are never selected; None: those named like [CLS] or </s>.
        word_ids: the index of each token's word, as returned by tokenizers; None: ``##`` continues
            a word.
        vocabulary: the words of the predictions, in the order of their columns. Random words are
            drawn from (at most 2,000 of) them; None: from the text.
        selected: draws to step through, 1 for selected tokens, (draw, token).
        read: the model's input tokens of each draw; None: [MASK] for selected tokens.
        model, exact: probabilities of the words, (token, word), *if only this position is masked*;
            or (draw, token, word), *if all selected tokens of the draw are masked*. Rows of zeros
            are positions without prediction. `lmcourse.evaluation.masked_predictions` computes
            both.
        mask_token: the mask token.
        answer: a function that maps tokens to the arguments ``vocabulary``, ``model`` and ``exact``
            (token, word), and optionally ``special`` and ``word_ids``; also called for ``tokens``
            if neither model nor exact is given. `lmcourse.evaluation.masked_predictions.answers`
            returns one.
        tokenize: a function that maps a typed text to tokens; None: words and punctuation marks.
        text: the typed text, at most 4,000 characters. None: the tokens joined by spaces, or
            nothing if that would be split differently. Not with given draws.
        kind: the rule of the draw: ``"token"``, ``"word"``, ``"span"``, or ``"given"`` with given
            draws; None: ``"given"`` if possible, else ``"token"``.
        rate: the fraction of tokens to select, 0 to 1.
        masked, random: the fractions of selected tokens that become [MASK] and a random word, 0 to
            1; the rest is unchanged. If their sum exceeds 1, [MASK] has priority.
        dynamic: whether each epoch has its own draw (RoBERTa), or all have the first.
        seed: of the draws, 0 to 999,999.
        epoch: the shown draw, from 0 to 9, or to the last given one.
        position: the position whose predictions are shown; None, or after the end of a typed text:
            the selected one where the exact answer exceeds the model most.
    """

    _esm = module("masking")
    title: ClassVar[str] = "Masking"
    lighter: ClassVar[str] = "Pass a shorter text, or predictions for fewer draws."

    tokens = traitlets.List(traitlets.Unicode()).tag(sync=True, data=True)
    # Random words and those of predictions, and the number of the former.
    words = traitlets.List(traitlets.Unicode()).tag(sync=True, data=True)
    pool = traitlets.Int(1).tag(sync=True, data=True)
    mask_token = traitlets.Unicode("[MASK]").tag(sync=True, data=True)
    answered = traitlets.Unicode("").tag(sync=True, data=True)  # the text of the present tokens
    trouble = traitlets.Unicode("").tag(sync=True, data=True)  # why it has no predictions
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
                "answer is for typed texts, and selected is for this one.",
                "Leave out one of the two.",
            )
        if answer is not None and model is None and exact is None:
            given |= _answer_for(answer, listed)
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
        """Return the traits of a text with its predictions."""
        tokens, words, pool, arrays = content
        return {**self.hold(arrays), "tokens": tokens, "words": words, "pool": pool}

    @traitlets.observe("text")
    def _read_text(self, change: Any) -> None:
        """Send the typed text's tokens and predictions, or the reason why there are none."""
        if not self._made or change["new"] == self.answered:
            return
        content, trouble = self._first, ""
        if change["new"] != self._own:
            content, trouble = self._content_of(change["new"])
        self._held = content.arrays
        self.renew(**self._shown(content), trouble=trouble, answered=change["new"])

    def _content_of(self, text: str) -> tuple[Content, str]:
        """Return a typed text's content, and an error message."""
        try:
            tokens = as_text(list(self._tokenize(text)), "Masking")
            if self._answer is None:
                none = "The widget has no answer=, which computes them."
                content = content_of(tokens, self.mask_token, vocabulary=self._vocabulary)
                return content, f"There are no predictions. {none}"
            given = {"vocabulary": self._vocabulary} | _answer_for(self._answer, tokens)
            return content_of(tokens, self.mask_token, **given), ""
        except CourseError as error:
            trouble = str(error)
        except Exception as error:  # of the user's functions: the page shows it
            what = f"{type(error).__name__}: {error}"
            trouble = (
                f"There are no predictions: {what}. Call answer(tokens) in a cell to see where."
            )
        plain = content_of(words_of(text), self.mask_token, vocabulary=self._vocabulary)
        return plain, trouble

    @property
    def drawn(self) -> Draw:
        """The draw at the present settings: each token's action, and its random word."""
        held = self._held
        if self.kind == "given":
            e = self._epoch if self.dynamic else 0
            return Draw(held["actions"][e].tolist(), held["substitutes"][e].tolist())
        epoch = self._epoch if self.dynamic else 0
        rules = Rules(self.kind, self.rate, self.masked, self.random)
        own, never = held["word"].tolist(), held["special"].tolist()
        return draw(rules, own, never, self.pool, self.seed, epoch)

    @property
    def read(self) -> list[str]:
        """The model's input tokens at the present settings."""
        return [
            self.mask_token if action == MASKED else self.words[word] if action == RANDOM else token
            for token, action, word in zip(self.tokens, *self.drawn, strict=True)
        ]

    @property
    def alt(self) -> str:
        """A description of the figure at the present settings."""
        actions, mask = self.drawn.actions, visible(self.mask_token)
        none, masked, random, kept = (actions.count(action) for action in range(4))
        drawn = (
            f"drawn by {self.kind} at a rate of {self.rate:g} with {self.masked:g} {mask} and "
            f"{self.random:g} random, seed {self.seed}"
        )
        eligible = int((self._held["special"] == 0).sum())
        return (
            f"Masking: in epoch {self._epoch}, {len(actions) - none} of {eligible} tokens are "
            f"selected. {masked} become {mask}, {random} a random word, {kept} are "
            f"unchanged; {'as given' if self.kind == 'given' else drawn}, "
            f"{'anew in each epoch' if self.dynamic else 'the same in each epoch'}. {self._answers}"
        )

    @property
    def _epoch(self) -> int:
        """The shown epoch: there may be fewer given draws."""
        return min(self.epoch, (len(self._held["actions"]) if self.kind == "given" else EPOCHS) - 1)

    @property
    def _answers(self) -> str:
        """The predictions at the chosen position."""
        draw = None
        if self.kind == "given":
            draw = self._epoch if self.dynamic else 0
        selected = [i for i, action in enumerate(self.drawn.actions) if action]
        chosen = max(selected, key=lambda i: gain(self._held, i, draw), default=0)
        if self.position is not None and self.position < len(self.tokens):
            chosen = self.position
        token = f"Position {chosen}, “{visible(self.tokens[chosen])}”"
        answers = described(self._held, self.words, chosen, draw) or self.trouble
        return f"{token}: {(answers or 'there is no prediction for it').removesuffix('.')}."

    @traitlets.validate("kind")
    def _kind_is_known(self, proposal: Any) -> str:
        given = ("given",) if "actions" in self._held else ()
        return one_of("kind", proposal["value"], (*KINDS, *given))

    @traitlets.validate("rate", "masked", "random")
    def _share_is_one(self, proposal: Any) -> float:
        return within(proposal["trait"].name, proposal["value"], 0, 1)

    @traitlets.validate("seed")
    def _seed_is_in_range(self, proposal: Any) -> int | None:
        return index_below("seed", proposal["value"], LAST_SEED + 1)

    @traitlets.validate("epoch")
    def _epoch_exists(self, proposal: Any) -> int | None:
        count = max(EPOCHS, len(self._held.get("actions", ())))
        return index_below("epoch", proposal["value"], count)

    @traitlets.validate("position")
    def _position_exists(self, proposal: Any) -> int | None:
        fixed = not self._made or "actions" in self._held  # a typed text may be longer, or shorter
        count = len(self._held["special"]) if fixed else MOST_TOKENS
        return index_below("position", proposal["value"], count)

    @traitlets.validate("text")
    def _text_has_words(self, proposal: Any) -> str:
        text = str(proposal["value"])
        if text not in (self._own, self.answered):
            if "actions" in self._held:
                raise CourseError("The given draws are for another text.", "Leave out selected.")
            if len(text) > MOST_CHARACTERS:
                raise CourseError(
                    f"text has {len(text):,} characters.", f"Write at most {MOST_CHARACTERS:,}."
                )
            words_of(text)
        return text


def _answer_for(
    answer: Callable[[list[str]], Mapping[str, Any]], tokens: list[str]
) -> dict[str, Any]:
    """Return the answer of a function after checking its keys."""
    found = answer(list(tokens))
    known = ("vocabulary", "model", "exact", "special", "word_ids")
    if not isinstance(found, Mapping) or not set(found) <= set(known):
        names = sorted(map(str, found)) if isinstance(found, Mapping) else type(found).__name__
        raise CourseError(
            f"answer(tokens) returned {names}.",
            f"Return a dictionary with {', '.join(known[:3])}, as masked_predictions does.",
        )
    return {name: it for name, it in found.items() if it is not None}


def _written(tokens: list[str], tokenize: Callable[[str], Sequence[str]]) -> str:
    """Return the tokens joined by spaces if that is split into the same tokens, else ""."""
    text = " ".join(tokens)
    try:
        same = len(text) <= MOST_CHARACTERS and list(tokenize(text)) == tokens
    except Exception:  # a user's function may raise anything
        same = False
    return text if same else ""
