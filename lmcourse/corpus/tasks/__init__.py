"""Tasks on BookWorld, each with the best score that any model can reach."""

from lmcourse.corpus.tasks.acceptability import Judged, acceptability
from lmcourse.corpus.tasks.analogies import Analogy, analogies, counts, pairs_by_relation
from lmcourse.corpus.tasks.baselines import bag_of_words
from lmcourse.corpus.tasks.coherence import next_sentence, sentence_order
from lmcourse.corpus.tasks.coreference import CoreferenceExample, coreference
from lmcourse.corpus.tasks.entailment import ConstructedPair, entailment
from lmcourse.corpus.tasks.knowledge import (
    KnowledgeQuestion,
    best_without_graph,
    graph,
    knowledge_questions,
    stated,
)
from lmcourse.corpus.tasks.paraphrase import paraphrase
from lmcourse.corpus.tasks.questions import Question, questions
from lmcourse.corpus.tasks.senses import SenseExample, SensePair, sense_pairs, senses, word_sense
from lmcourse.corpus.tasks.sentiment import sentiment
from lmcourse.corpus.tasks.spoilers import spoilers
from lmcourse.corpus.tasks.tagging import TaggingExample, tagging
from lmcourse.corpus.tasks.task import Best, Example, SentencePair, Task

__all__ = [
    "Analogy",
    "Best",
    "ConstructedPair",
    "CoreferenceExample",
    "Example",
    "Judged",
    "KnowledgeQuestion",
    "Question",
    "SenseExample",
    "SensePair",
    "SentencePair",
    "TaggingExample",
    "Task",
    "acceptability",
    "analogies",
    "bag_of_words",
    "best_without_graph",
    "coreference",
    "counts",
    "entailment",
    "graph",
    "knowledge_questions",
    "next_sentence",
    "pairs_by_relation",
    "paraphrase",
    "questions",
    "sense_pairs",
    "senses",
    "sentence_order",
    "sentiment",
    "spoilers",
    "stated",
    "tagging",
    "word_sense",
]
