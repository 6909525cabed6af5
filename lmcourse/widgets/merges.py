"""Merges: how BPE, WordPiece and a unigram model learn their pieces, step by step."""

from typing import Any, ClassVar

import traitlets

from lmcourse.errors import CourseError
from lmcourse.widgets.base import module
from lmcourse.widgets.checks import whole_below
from lmcourse.widgets.cutting import MOST_WORK, NAMES, TEXT, Cutting, listed
from lmcourse.widgets.tokens import visible


class Merges(Cutting):
    """The training of up to three tokenizers again, and what it does to a text meanwhile.

    Of BPE and WordPiece, a step is a merge: the pairs that could be merged, the words that change,
    and how the corpus shrinks. Of a unigram model it is a round: EM, and the pieces that are
    pruned, with what each removal costs. The browser replays it.

    Args:
        bpe: what ``recipes.char_bpe`` or ``recipes.gpt2`` gives. None: leave it out.
        wordpiece: what ``recipes.bert`` gives.
        unigram: what ``recipes.albert`` gives. Its training is done again, for the scores.
        text: what is cut with what is learned so far, up to 200 characters.
        algorithm: whose training is shown: ``"bpe"``, ``"wordpiece"`` or ``"unigram"``. None: the
            first that is there.
        step: how many merges, or rounds, are done: from 0 to the most that any of them has; of
            one that has fewer, all. None: a tenth of the merges of the first, or all rounds.

    Raises:
        CourseError: there is no tokenizer, one is of another kind, comes without its training or
            has parts that the browser cannot follow, a setting is out of range, or the data are
            too large for a page.
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
        facts = self.facts(bpe, wordpiece, unigram)
        for name, each in facts.items():
            _check_training(name, each)
        given = zip(NAMES, (bpe, wordpiece, unigram), strict=True)
        self._recipes = {name: it for name, it in given if it is not None}
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
        """What is to be seen, in words, at the present settings."""
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
        tokens = [token for cut in recipe.tokenizer.told(self.text, model) for token in cut.tokens]
        text = f"The text {self.quoted()} is cut into {listed(tokens)}." if tokens else ""
        return (
            f"Merges: how {NAMES[self.algorithm]} learns {len(facts['tokens'])} tokens. {done} "
            f"{text}"
        ).rstrip()

    @traitlets.validate("step")
    def _step_exists(self, proposal: Any) -> int | None:
        return whole_below("step", proposal["value"], self._last + 1)


def _steps(facts: dict[str, Any]) -> int:
    """How many steps a training has: merges, or rounds after the seeds."""
    training = facts["training"]
    return len(training["steps"] if "steps" in training else training["rounds"][1:])


def _scores(unigram: dict[str, Any] | None) -> list[dict[str, float]]:
    """After each round of a unigram's training its pieces and their scores, nats."""
    if not unigram:
        return []
    training = unigram["training"]
    pieces = training["pieces"]
    return [
        {pieces[id_]: score for id_, score in zip(it["kept"], it["scores"], strict=True)}
        for it in training["rounds"]
    ]


def _round(it: dict[str, Any], left: int) -> str:
    """What EM and pruning did in a round."""
    if it["kind"] == "seed":
        return f"there are the seeds, {left:,} pieces"
    back = f" and {it['added']} lost characters came back" if it["added"] else ""
    return (
        f"the last of which dropped {it['seldom']:,} pieces by EM and pruned {it['pruned']:,}"
        f"{back}, {left:,} pieces stay"
    )


def _next(steps: Any) -> str:
    """The next merge of those that are left."""
    if not steps:
        return "none is left"
    left, right = map(visible, steps[0].pair)
    times = f"{steps[0].count:,} time{'s' * (steps[0].count != 1)}"
    return (
        f"the next makes “{visible(steps[0].token)}” of “{left}” and “{right}”, which stand side "
        f"by side {times}"
    )


def _check_training(name: str, facts: dict[str, Any]) -> None:
    """Check that there is a training, and that a browser can replay it."""
    training = facts["training"]
    if training is None:
        raise CourseError(
            f"The training of {name} did not come with it.",
            "Pass what the recipe gives, not its tokenizer alone, and train with "
            "backend='course'; Segmentation shows a tokenizer without its training.",
        )
    words, steps = len(training.get("words", ())), len(training.get("steps", ()))
    if words * steps > MOST_WORK:
        raise CourseError(
            f"{steps:,} merges of {words:,} words are too many to replay in a browser.",
            "Train on fewer texts or with a smaller vocab_size.",
        )
