"""Merges: how BPE, WordPiece and a unigram model learn their pieces, step by step."""

from typing import Any, ClassVar

import traitlets

from lmcourse.errors import CourseError
from lmcourse.widgets.base import module
from lmcourse.widgets.checks import index_below
from lmcourse.widgets.cutting import MOST_WORK, NAMES, TEXT, Cutting, listed
from lmcourse.widgets.tokens import visible


class Merges(Cutting):
    """The training of up to three tokenizers, replayed by the browser with a text.

    A step of BPE or WordPiece is a merge: the candidate pairs, the words that change, and the size
    of the corpus. A step of a unigram model is a round: EM, and the pruned pieces with the loss of
    each removal.

    Args:
        bpe: the result of ``recipes.char_bpe`` or ``recipes.gpt2``; None: not shown.
        wordpiece: the result of ``recipes.bert``.
        unigram: the result of ``recipes.albert``. Its training is repeated, for the scores.
        text: the text to tokenize with the pieces so far, up to 200 characters.
        algorithm: the shown training: ``"bpe"``, ``"wordpiece"`` or ``"unigram"``; None: the first
            one given.
        step: the number of merges or rounds, from 0 to the largest of all trainings. None: a tenth
            of the merges of the first, or all rounds.
    """

    _esm = module("merges")
    title: ClassVar[str] = "Merges"

    step = traitlets.Int(0).tag(sync=True)

    def __init__(
        self,
        bpe: Any = None,
        wordpiece: Any = None,
        unigram: Any = None,
        *,
        text: str = TEXT,
        algorithm: str | None = None,
        step: int | None = None,
    ) -> None:
        self._recipes = self.recipes(bpe, wordpiece, unigram)
        facts = self.facts(self._recipes)
        for name, each in facts.items():
            _check_training(name, each)
        self._scores = _scores(facts.get("unigram"))
        self._last = max(map(_steps, facts.values()))
        if step is None:
            first = next(iter(facts))
            step = _steps(facts[first]) // (1 if first == "unigram" else 10)
        super().__init__(
            **self.held(facts),
            text=text,
            algorithm=next(iter(facts)) if algorithm is None else algorithm,
            step=step,
        )

    @property
    def alt(self) -> str:
        """A description of the figure at the present settings."""
        facts, recipe = self.tokenizers[self.algorithm], self._recipes[self.algorithm]
        last = _steps(facts)
        at = min(self.step, last)
        if self.algorithm == "unigram":
            model = recipe.early(at, self._scores[at])
            what = _round(facts["training"]["rounds"][at], len(self._scores[at]))
            done = f"After {at} of {last} rounds, {what}."
        else:
            model = recipe.early(at)
            done = f"After {at} of {last} merges, {_next(recipe.training.steps[at:])}."
        tokens = [token for cut in recipe.explained(self.text, model) for token in cut.tokens]
        text = f"The text {self.quoted()} is split into {listed(tokens)}." if tokens else ""
        return (
            f"Merges: how {NAMES[self.algorithm]} learns {len(facts['tokens'])} tokens. {done} "
            f"{text}"
        ).rstrip()

    @traitlets.validate("step")
    def _step_exists(self, proposal: Any) -> int | None:
        return index_below("step", proposal["value"], self._last + 1)


def _steps(facts: dict[str, Any]) -> int:
    """Return the number of merges, or of rounds after the seeds."""
    training = facts["training"]
    return len(training["steps"] if "steps" in training else training["rounds"][1:])


def _scores(unigram: dict[str, Any] | None) -> list[dict[str, float]]:
    """Return a unigram model's pieces and their scores in nats after each round."""
    if not unigram:
        return []
    training = unigram["training"]
    pieces = training["pieces"]
    return [
        {pieces[id_]: score for id_, score in zip(it["kept"], it["scores"], strict=True)}
        for it in training["rounds"]
    ]


def _round(it: dict[str, Any], left: int) -> str:
    """Return the description of a round of EM and pruning."""
    if it["kind"] == "seed":
        return f"there are {left:,} seed pieces"
    back = f" and added {it['added']} lost characters again" if it["added"] else ""
    return (
        f"the last of which dropped {it['seldom']:,} pieces by EM and pruned {it['pruned']:,}"
        f"{back}, {left:,} pieces remain"
    )


def _next(steps: Any) -> str:
    """Return the description of the next merge."""
    if not steps:
        return "none is left"
    left, right = map(visible, steps[0].pair)
    times = f"{steps[0].count:,} time{'s' * (steps[0].count != 1)}"
    return (
        f"the next merges “{left}” and “{right}”, which are adjacent {times}, into "
        f"“{visible(steps[0].token)}”"
    )


def _check_training(name: str, facts: dict[str, Any]) -> None:
    """Check that there is a training, and that a browser can replay it."""
    training = facts["training"]
    if training is None:
        raise CourseError(
            f"{name} has no training.",
            "Pass the result of a recipe with backend='course', not only its tokenizer; "
            "Segmentation shows a tokenizer without its training.",
        )
    words, steps = len(training.get("words", ())), len(training.get("steps", ()))
    if words * steps > MOST_WORK:
        raise CourseError(
            f"{steps:,} merges of {words:,} words are too many to replay in a browser.",
            "Train on fewer texts or with a smaller vocab_size.",
        )
