"""An analogue on BookWorld of each task of GLUE (chapter 11).

GLUE (Wang et al. 2018) has nine tasks. Five have an analogue among the tasks of this package; the
other four are built here, from the grammar's tables or from reviews:

    STS-B  two sentences of five facts each: how many do they share?
    QQP    two questions about reviews: do they ask the same in other words?
    QNLI   a question and a sentence of a review: does the sentence answer it?
    WNLI   a sentence with a pronoun, and the sentence with a name instead: does it follow?
"""

from dataclasses import replace
from random import Random

from lmcourse.corpus.bookworld import BookWorld
from lmcourse.corpus.bookworld.templates import SENTENCE_ENDS
from lmcourse.corpus.tasks.acceptability import acceptability
from lmcourse.corpus.tasks.coreference import coreference
from lmcourse.corpus.tasks.drawing import in_turn
from lmcourse.corpus.tasks.entailment import LABELS, entailment
from lmcourse.corpus.tasks.material import Material
from lmcourse.corpus.tasks.paraphrase import paraphrase
from lmcourse.corpus.tasks.questions import Question, questions
from lmcourse.corpus.tasks.sentiment import sentiment
from lmcourse.corpus.tasks.task import SentencePair, Task, certain

Tokens = tuple[str, ...]
DUPLICATES, ANSWERING = ("different", "duplicate"), ("no answer", "answer")
RESOLVED = ("does not follow", "follows")
UNSEEN = ("verdict", "author")  # constructions of MNLI-mm, which MNLI-m does not have


def glue_tasks(world: BookWorld, n: int, seed: int = 0) -> dict[str, Task]:
    """Build ``n`` examples of each analogue, by GLUE's names.

    Class 1 is the positive one, so labels are numbers in the order of a task's ``labels``.
    """
    pairs = entailment(world, 5 * n, seed)
    matched, mismatched = (
        tuple(each for each in pairs.examples if (each.construction in UNSEEN) == unseen)[:n]
        for unseen in (False, True)
    )
    two = tuple(
        replace(each, label=each.label if each.label == LABELS[0] else "not entailment")
        for each in entailment(world, n, seed + 1000).examples
    )
    labels = ("not entailment", LABELS[0])
    return {
        "CoLA": replace(acceptability(world, n, seed), labels=("unacceptable", "acceptable")),
        "SST-2": sentiment(world, n, seed, labels="polarity"),
        "MRPC": replace(paraphrase(world, n, seed), labels=("different", "paraphrase")),
        "STS-B": similarity(world, n, seed),
        "QQP": duplicates(world, n, seed),
        "MNLI-m": replace(pairs, examples=matched),
        "MNLI-mm": replace(pairs, examples=mismatched),
        "QNLI": answering(world, n, seed),
        "RTE": replace(pairs, name="rte", labels=labels, examples=two, chance=2 / 3),
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
    how = "The number of shared facts is a function of the two sentences."
    question = "How many of five facts do the two sentences share?"
    return _certain("similarity", question, tuple("012345"), examples, how)


def duplicates(world: BookWorld, n: int, seed: int = 0) -> Task[SentencePair]:
    """Two questions; the second asks the same in other words, or something else of its kind."""
    random = Random(f"duplicates {seed}")
    drawn = [
        each for each in questions(world, 3 * n // 2 + 20, seed).examples if each.kind != "home"
    ]
    examples = []
    for one, label in zip(drawn, in_turn(DUPLICATES, n, random), strict=False):
        others = [it for it in drawn if it.kind == one.kind and it.question != one.question]
        other = one if label == "duplicate" else random.choice(others)
        examples.append(SentencePair(one.question, _reworded(other), label))
    how = "Whether they ask the same is a function of the two questions."
    return _certain("duplicates", "Do the questions ask the same?", DUPLICATES, examples, how)


def answering(world: BookWorld, n: int, seed: int = 0) -> Task[SentencePair]:
    """A question, and the sentence of the review that answers it or another one of the review."""
    random = Random(f"answering {seed}")
    labels, examples = in_turn(ANSWERING, n, random), []
    for one in questions(world, 2 * n + 20, seed).examples:
        sentences = _sentences(one.tokens)
        has = [any(a <= start < b for start, _ in one.spans) for a, b in sentences]
        if one.kind not in ("author", "home", "where") or all(has):
            continue
        label = next(labels, None)
        if label is None:
            break
        chosen = [
            each for each, it in zip(sentences, has, strict=True) if it == (label == "answer")
        ]
        a, b = random.choice(chosen)
        examples.append(SentencePair(one.question, one.tokens[a:b], label))
    how = "The sentence names what the question asks for, or it does not."
    return _certain("answering", "Does the sentence answer?", ANSWERING, examples, how)


def resolution(world: BookWorld, n: int, seed: int = 0) -> Task[SentencePair]:
    """Two sentences with a pronoun at their end, and the last with a name instead.

    The bound is that of who knows the whole review.
    """
    random, examples = Random(f"resolution {seed}"), []
    solved = coreference(world, 2 * n + 50, seed)
    for one in solved.examples:
        if one.tokens[one.position] not in ("he", "she", "him") or len(examples) == n:
            continue
        spans = [span for span in _sentences(one.tokens) if span[0] <= one.position]
        (start, end), name = spans[-1], random.choice(one.candidates)
        second = (*one.tokens[start : one.position], name, *one.tokens[one.position + 1 : end])
        label = RESOLVED[one.answer == name]
        examples.append(SentencePair(one.tokens[spans[-2:][0][0] : end], second, label))
    best = replace(solved.first(60).best, exact=False, how="P(antecedent | whole review).")
    question = "Does the second text follow from the first?"
    return replace(_certain("resolution", question, RESOLVED, examples, ""), bound=best)


def _sentences(tokens: Tokens) -> list[tuple[int, int]]:
    ends = [i + 1 for i, token in enumerate(tokens) if token in SENTENCE_ENDS]
    return list(zip([0, *ends], ends, strict=False))


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
    name: str, question: str, labels: Tokens, examples: list[SentencePair], how: str
) -> Task[SentencePair]:
    given = [example.label for example in examples]
    return Task(
        name=name,
        question=question,
        labels=labels,
        examples=tuple(examples),
        chance=max(given.count(label) for label in labels) / max(len(given), 1),
        metric="accuracy",
        how=how,
        bound=certain(how),
    )
