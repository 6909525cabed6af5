"""Extractive questions: the answer is a span of the review, as in SQuAD."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from random import Random

import numpy as np

from lmcourse.corpus.bookworld import END, BookWorld, Review
from lmcourse.corpus.bookworld.templates import plain
from lmcourse.corpus.tasks.drawing import Pool, in_turn
from lmcourse.corpus.tasks.material import past, table
from lmcourse.corpus.tasks.task import Example, Task

KINDS = ("who", "where", "author", "home", "book")
NO_ANSWER = "no answer"


@dataclass(frozen=True)
class Question(Example):
    """A question about a review.

    Attributes:
        tokens: the review, which contains the answer.
        label: the answer; ``no answer`` if the review has none.
        question: the tokens of the question.
        kind: of the question, one of ``KINDS``.
        spans: all accepted answers, as ``tokens[start:end]``.
        pronoun: the position of the pronoun through which a ``who`` is answered; None if by name.
    """

    question: tuple[str, ...]
    kind: str
    spans: tuple[tuple[int, int], ...]
    pronoun: int | None = None

    def accepts(self, start: int, end: int) -> bool:
        """Whether ``tokens[start:end]`` is a right answer; (0, 0) says that there is none."""
        return (start, end) in self.spans or (not self.spans and start == end == 0)


def questions(
    world: BookWorld,
    n: int,
    seed: int = 0,
    unanswerable: float = 0.0,
    reviews: Sequence[Review] | None = None,
) -> Task[Question]:
    """Questions about a review that contains the answers.

    The kinds, each equally frequent to one: ``who`` did something (half of the answers are found
    through a pronoun), ``where`` it was done, the ``author`` of the book, the author's ``home``,
    and the ``book`` that the author wrote.

    Args:
        seed: reviews are drawn from a seed of the task's own: none is one of ``world.split``.
        unanswerable: the share of examples, each drawn so, that ask who did what nobody did.
        reviews: ask about these instead.

    Returns:
        A task whose metric is exact match. The best score is exact: one, except where a pronoun may
        mean two characters (``world.antecedent_posterior``, some 20 ms each).
    """
    name = "questions"
    random = Random(f"{name} {unanswerable} {seed}")
    pool = Pool(world, name, seed, partial(_questions, acts_with_places(world)), reviews)
    examples = []
    for number, kind in enumerate(in_turn(KINDS, n, random)):
        if random.random() < unanswerable:
            kind = "nobody"
        elif kind == "who":
            kind = ("who, by name", "who, by pronoun")[number // len(KINDS) % 2]
        examples.append(pool.take(kind))
    return Task(
        name=name,
        question="Which span of the review answers the question?",
        labels=(),
        examples=tuple(examples),
        chance=0.0,
        metric="exact match",
        how="The text has the answer; where a pronoun refers to it, P(antecedent | review).",
        solver=partial(_posterior, world),
    )


Tokens = tuple[str, ...]


def _questions(
    acts: list[tuple[Tokens, Tokens]], review: Review, random: Random
) -> Iterator[tuple[str, Question]]:
    """Two questions about a review at most: one about the story, one about the author."""
    tokens = tuple(review.tokens)
    for found in (_deeds(tokens, acts, review, random), _about_author(tokens, review)):
        kinds = dict(found)
        if kinds:
            yield random.choice(list(kinds.items()))


def _deeds(
    tokens: Tokens, acts: list[tuple[Tokens, Tokens]], review: Review, random: Random
) -> Iterator[tuple[str, Question]]:
    if review.hero not in tokens or review.second not in tokens:
        return
    words = set(tokens)
    done = [(act, where, _positions(tokens, act)) for act, where in acts if act[0] in words]
    # An act that several senses share, or that is done twice, would leave the question open.
    count = Counter(act for act, _, positions in done for _ in positions)
    once = [(act, where, positions[0]) for act, where, positions in done if count[act] == 1]
    for act, where, position in random.sample(once, len(once)):
        subject, end = position - 1, position + len(act)
        who = tokens[subject] if tokens[subject] in (review.hero, review.second) else None
        pronoun = subject if tokens[subject] in ("he", "she") else None
        name = who or review.antecedents[subject]
        if name is None:
            continue
        kind = "who, by name" if pronoun is None else "who, by pronoun"
        yield kind, _question(tokens, ("who", *act), "who", name, pronoun)
        if tokens[end : end + len(where)] == where:
            asked = ("where", "was", "it", "that", tokens[subject], *act)
            spans = [(end + skipped, end + len(where)) for skipped in range(len(where))]
            yield "where", Question(tokens, " ".join(where), asked, "where", tuple(spans))
    act, _ = random.choice(acts)
    if not _positions(tokens, act):
        yield "nobody", Question(tokens, NO_ANSWER, ("who", *act), "who", ())


def _about_author(tokens: Tokens, review: Review) -> Iterator[tuple[str, Question]]:
    title, author = tuple(review.title.split()), (review.author,)
    first = review.held_value("book.first")
    if _positions(tokens, title) and _positions(tokens, author):
        asked = ("who", "wrote", *title)
        names = [*_spans(tokens, author), *_spans(tokens, (first, *author))]
        yield "author", Question(tokens, review.author, asked, "author", tuple(names))
        others = tuple(
            review.held_value(f"book.{name}") for name in ("other_adjective", "other_noun")
        )
        if not _positions(tokens, others):  # else two books would be right
            asked = ("which", "book", "is", "by", review.author)
            spans = [*_spans(tokens, title), *_spans(tokens, title[1:])]
            yield "book", Question(tokens, review.title, asked, "book", tuple(spans))
    if any(fact.relation == "lives_in" for fact in review.facts):
        asked = ("where", "is", "it", "that", "the", "author", "lives")
        yield "home", _question(tokens, asked, "home", review.held_value("book.city"), None)


def _question(
    tokens: Tokens, asked: Tokens, kind: str, answer: str, pronoun: int | None
) -> Question:
    return Question(tokens, answer, asked, kind, tuple(_spans(tokens, (answer,))), pronoun)


def acts_with_places(world: BookWorld) -> list[tuple[Tokens, Tokens]]:
    """Acts and their locations, as in the text."""
    return [
        (tuple(past(world, act).split()), tuple(plain(row["where"]).split()))
        for row in table(world, "senses")
        for act in row["acts"].split(" ; ")
    ]


def _positions(tokens: Tokens, phrase: Tokens) -> list[int]:
    return [
        position
        for position, token in enumerate(tokens)
        if token == phrase[0] and tokens[position : position + len(phrase)] == phrase
    ]


def _spans(tokens: Tokens, phrase: Tokens) -> list[tuple[int, int]]:
    return [(position, position + len(phrase)) for position in _positions(tokens, phrase)]


def _posterior(world: BookWorld, example: Question) -> np.ndarray:
    """Over the names that the pronoun may mean, the most probable first; else one answer."""
    if example.pronoun is None:
        return np.ones(1)
    shares = world.antecedent_posterior((*example.tokens, END), example.pronoun)
    return np.array(list(shares.values()))
