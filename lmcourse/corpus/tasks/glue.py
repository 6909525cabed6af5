"""An analogue on BookWorld of each task of GLUE (chapter 11).

GLUE (Wang et al. 2018) has nine tasks. Five have an analogue among the tasks of this package; the
other four are built here, from the grammar's tables or from reviews:

    STS-B  two sentences of five facts each: how many do they share?
    QQP    two questions about reviews: do they ask the same in other words?
    QNLI   a question and a sentence of a review: does the sentence answer it?
    WNLI   sentences with a pronoun, and the last with a name instead: does it follow?
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import permutations
from random import Random
from typing import Any

from lmcourse.corpus.bookworld import BookWorld, Review
from lmcourse.corpus.tasks.acceptability import acceptability
from lmcourse.corpus.tasks.drawing import Pool, in_turn
from lmcourse.corpus.tasks.entailment import LABELS, ConstructedPair, entailment
from lmcourse.corpus.tasks.material import Material, table
from lmcourse.corpus.tasks.paraphrase import paraphrase
from lmcourse.corpus.tasks.questions import Question, acts_with_places, questions
from lmcourse.corpus.tasks.sentiment import sentiment
from lmcourse.corpus.tasks.task import SentencePair, Task, certain

Tokens = tuple[str, ...]
DUPLICATES, ANSWERING = ("different", "duplicate"), ("no answer", "answer")
RESOLVED, ASKED = ("does not follow", "follows"), ("author", "home", "where")
UNSEEN = ("verdict", "author")  # constructions of MNLI-mm, which MNLI-m does not have


def glue_tasks(world: BookWorld, n: int, seed: int = 0) -> dict[str, Task[Any]]:
    """Build ``n`` examples of each analogue, by GLUE's names.

    Class 1 is the positive one, so labels are numbers in the order of a task's ``labels``. In each
    task all labels are equally frequent, to one.
    """
    pairs, others = entailment(world, 8 * n + 100, seed), entailment(world, 2 * n + 20, seed + 1000)
    classes = ("not entailment", LABELS[0])
    two = [replace(each, label=classes[each.label == LABELS[0]]) for each in others.examples]
    unseen = [each for each in pairs.examples if each.construction in UNSEEN]
    seen = [each for each in pairs.examples if each.construction not in UNSEEN]
    rte = replace(others, name="rte", question="Does the second sentence follow from the first?")
    return {
        "CoLA": replace(acceptability(world, n, seed), labels=("unacceptable", "acceptable")),
        "SST-2": sentiment(world, n, seed, labels="polarity"),
        "MRPC": replace(paraphrase(world, n, seed), labels=("different", "paraphrase")),
        "STS-B": similarity(world, n, seed),
        "QQP": duplicates(world, n, seed),
        "MNLI-m": replace(pairs, examples=_balanced(seen, LABELS, n, seed)),
        "MNLI-mm": replace(pairs, examples=_balanced(unseen, LABELS, n, seed)),
        "QNLI": answering(world, n, seed),
        "RTE": replace(rte, labels=classes, examples=_balanced(two, classes, n, seed), chance=0.5),
        "WNLI": resolution(world, n, seed),
    }


def similarity(world: BookWorld, n: int, seed: int = 0) -> Task[SentencePair]:
    """Two sentences of five facts each, in different forms; the label is how many they share.

    It grades shared facts, not what a human would call similar.
    """
    random = Random(f"similarity {seed}")
    material, examples = Material(world, random), []
    for label in in_turn("012345", n, random):
        events = material.events(4)
        one, other = (
            [first.who, first.act, first.where, second.who, second.act]
            for first, second in (events[:2], events[2:])
        )
        kept = random.sample(range(5), int(label))
        other = [one[i] if i in kept else fact for i, fact in enumerate(other)]
        first = "{} {} {} , and {} {} .".format(*one)
        second = "{2} , {0} {1} while {3} {4} .".format(*other)
        examples.append(SentencePair(tuple(first.split()), tuple(second.split()), label))
    question = "How many of five facts do the two sentences share?"
    return _certain("similarity", question, tuple("012345"), examples)


def duplicates(world: BookWorld, n: int, seed: int = 0) -> Task[SentencePair]:
    """Two questions; the second asks the same in other words, or something else of its kind."""
    random, examples = Random(f"duplicates {seed}"), []
    drawn = [it for it in questions(world, 3 * n // 2 + 60, seed).examples if it.kind != "home"]
    for number, label in enumerate(in_turn(DUPLICATES, n, random)):
        one = other = drawn[number]
        if label == "different":  # the next of its kind that shares no last word: act or title
            later = (it for it in drawn[number + 1 :] if it.kind == one.kind)
            other = next(it for it in later if it.question[-1] != one.question[-1])
        examples.append(SentencePair(one.question, _reworded(other), label))
    return _certain("duplicates", "Do the questions ask the same?", DUPLICATES, examples)


def answering(world: BookWorld, n: int, seed: int = 0) -> Task[SentencePair]:
    """A question, and a sentence of the review that answers it or would answer another question.

    The questions are who wrote the book, where the author lives, and where something was done. Each
    kind of sentence answers as often as not, so the sentence alone is uninformative.
    """
    random = Random(f"answering {seed}")
    deeds = [
        (act, f" {' '.join(act + where)} ")
        for act, where in acts_with_places(world)
        if where[0] in ("at", "in")  # not: with the date
    ]
    pool = Pool(world, "answering", seed, partial(_answers, deeds))
    kinds = {
        "answer": in_turn([(kind, kind) for kind in ASKED], n, random),
        "no answer": in_turn(list(permutations(ASKED, 2)), n, random),
    }
    labels = in_turn(ANSWERING, n, random)
    examples = [SentencePair(*pool.take(next(kinds[label])), label) for label in labels]
    return _certain("answering", "Does the sentence answer?", ANSWERING, examples)


def resolution(world: BookWorld, n: int, seed: int = 0) -> Task[SentencePair]:
    """Up to three sentences that name a woman and a man; the last again, with a name for a pronoun.

    Gender decides: of two women or two men, BookWorld often leaves open which one is meant.
    """
    genders = {row["name"]: row["gender"] for row in table(world, "people")}
    pool = Pool(world, "resolution", seed, partial(_resolved, genders))
    labels = in_turn(RESOLVED, n, Random(f"resolution {seed}"))
    examples = [SentencePair(*pool.take(label), label) for label in labels]
    return _certain("resolution", "Does the second text follow?", RESOLVED, examples)


def _answers(
    deeds: list[tuple[Tokens, str]], review: Review, random: Random
) -> Iterator[tuple[tuple[str, str], tuple[Tokens, Tokens]]]:
    """Questions with sentences, by what is asked and what the sentence says."""
    found: dict[str, tuple[Tokens, Tokens]] = {}
    title, author = tuple(review.title.split()), review.author
    for sentence in review.sentences:
        tokens = tuple(review.tokens[sentence.start : sentence.end])
        text = f" {' '.join(tokens)} "
        if f" {review.title} " in text and author in tokens and {"by", "wrote"} & set(tokens):
            found["author"] = ("who", "wrote", *title), tokens
        if "lives" in tokens:
            found["home"] = ("where", "is", "it", "that", "the", "author", "lives"), tokens
        for act, phrase in deeds:
            before, said, _ = text.partition(phrase)
            who = before.split(" ")[-1]
            if said and who in (review.hero, review.second, "he", "she"):
                found["where"] = ("where", "was", "it", "that", who, *act), tokens
    for kind, (question, _) in found.items():
        for shown in random.sample(list(found), min(2, len(found))):
            yield (kind, shown), (question, found[shown][1])


def _resolved(
    genders: dict[str, str], review: Review, random: Random
) -> Iterator[tuple[str, tuple[Tokens, Tokens]]]:
    """One pronoun of a review whose two characters are a woman and a man."""
    tokens, names = tuple(review.tokens), (review.hero, review.second)
    places = [i for i, token in enumerate(tokens) if token in ("he", "she", "him")]
    if not places or genders[names[0]] == genders[names[1]]:
        return
    position, name = random.choice(places), random.choice(names)
    *_, (start, end) = spans = [it[:2] for it in review.sentences if it.start <= position]
    first = tokens[spans[-3:][0][0] : end]
    if review.antecedents[position] is not None and set(names) <= set(first):
        label = RESOLVED[review.antecedents[position] == name]
        yield label, (first, (*tokens[start:position], name, *tokens[position + 1 : end]))


def _balanced(
    examples: Iterable[ConstructedPair], labels: Tokens, n: int, seed: int
) -> tuple[ConstructedPair, ...]:
    """``n`` of the examples, each label as often as every other, to one."""
    waiting = {label: iter([it for it in examples if it.label == label]) for label in labels}
    return tuple(next(waiting[label]) for label in in_turn(labels, n, Random(f"balanced {seed}")))


def _reworded(one: Question) -> Tokens:
    """The same question in other words."""
    rest = one.question
    if one.kind == "who":
        return ("who", "was", "it", "that", *rest[1:])
    if one.kind == "where":  # where was it that …
        return (*rest[4:], "where")
    if one.kind == "author":  # who wrote …
        return ("which", "author", *rest[1:])
    return ("which", "book", "was", "it", "that", rest[-1], "wrote")  # which book is by …


def _certain(
    name: str, question: str, labels: Tokens, examples: list[SentencePair]
) -> Task[SentencePair]:
    how, chance = "The label is a function of the two texts.", 1 / len(labels)
    given = tuple(examples)
    return Task(name, question, labels, given, chance, "accuracy", how, bound=certain(how))
