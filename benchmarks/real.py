"""Real English, weights, vectors and corpora: `python -m benchmarks.real [--runs 3]`.

How well vectors agree with human ratings (gensim's files), and what loading and reading costs. The
tables go to `benchmarks/real.md`. `lmcourse real install` must have been run.
"""

import argparse
import re
import subprocess
import sys

import numpy as np
import torch
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

from benchmarks import tables
from benchmarks.notebooks import one_core
from lmcourse import hub
from lmcourse.corpus import WordVectors
from lmcourse.corpus.human_ratings import (
    LeeDocuments,
    gensim_file,
    read_analogies,
    read_lee,
    read_word_pairs,
)
from lmcourse.evaluation.word_similarity import (
    Agreement,
    answer_analogies,
    document_similarity,
    word_similarity,
)

FREQUENT = 30_000  # words among which analogies are answered
_LOAD = """
import re, time
from pathlib import Path
from lmcourse import hub
{before}
start = time.process_time()
{load}
seconds = time.process_time() - start
print(seconds, re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])
"""
_READ = """
import re, time
from pathlib import Path
from lmcourse.corpus.{module} import {kind}
def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])
before, start = peak(), time.process_time()
corpus = {kind}()
checked = time.process_time()
for _ in corpus.{units}():
    pass
print(checked - start, time.process_time() - checked, peak() - before)
"""


def correlations(name: str, who: str, found: Agreement) -> str:
    """A row: Spearman's and Pearson's correlation, each with its standard error."""
    return f"| {name} | {who} | ρ {found.spearman}, r {found.pearson} |"


def word_rows(vectors: WordVectors) -> list[str]:
    """GloVe on pairs of words, and on analogies with and without the query words excluded."""
    rows = [
        correlations(name, "GloVe", word_similarity(vectors, read_word_pairs(gensim_file(file))))
        for name, file in (("WordSim-353", "wordsim353.tsv"), ("SimLex-999", "simlex999.txt"))
    ]
    questions = read_analogies(gensim_file("questions-words.txt"))
    for exclude in (True, False):
        found = answer_analogies(vectors, questions, exclude=exclude, restrict_vocab=FREQUENT)
        rows.append(
            f"| analogies, query words {'excluded' if exclude else 'allowed'} | GloVe | "
            f"{found.accuracy} of {len(found.questions):,} right; the third query word itself: "
            f"{found.third_word.mean():.3f} |"
        )
    # b − a + c with b = a is c itself, whose nearest neighbor is the answer.
    nearest = [each._replace(b=each.a) for each in found.questions]
    found = answer_analogies(vectors, nearest, restrict_vocab=FREQUENT)
    rows.append(f"| the same questions, nearest neighbor of c | GloVe | {found.accuracy} right |")
    return rows


def mean_vectors(vectors: WordVectors, texts: list[str]) -> np.ndarray:
    """The mean of the vectors of a text's words."""
    words = [[w for w in re.findall(r"\w+", text.lower()) if w in vectors] for text in texts]
    return np.stack([np.mean([vectors.vector(word) for word in each], axis=0) for each in words])


@torch.no_grad()
def encoded(texts: list[str]) -> torch.Tensor:
    """MiniLM's sentence vectors: the mean of the last layer over the tokens, 512 at most."""
    encoder = hub.load("minilm")
    encoder.tokenizer.enable_truncation(512)
    inputs = encoder.inputs(texts)
    visible = inputs["attention_mask"][..., None]
    states = encoder.model(**inputs).last_hidden_state
    return (states * visible).sum(1) / visible.sum(1)


def document_rows(vectors: WordVectors, lee: LeeDocuments) -> list[str]:
    """Lee's 50 documents by four representations."""
    counts = CountVectorizer(stop_words="english").fit_transform(lee.documents)
    tfidf = TfidfVectorizer(stop_words="english", sublinear_tf=True)
    tfidf.fit([*lee.background, *lee.documents])
    found = {
        "word counts": counts,
        "TF-IDF": tfidf.transform(lee.documents),
        "mean of GloVe's vectors": mean_vectors(vectors, lee.documents),
        "MiniLM": encoded(lee.documents),
    }
    return [
        correlations("Lee's documents", who, document_similarity(each, lee.ratings))
        for who, each in found.items()
    ]


def loading(load: str, before: str, runs: int) -> str:
    """The shortest of some loads in new processes, and the peak memory of the process."""
    code = _LOAD.format(load=load, before=before)
    found = []
    for _ in range(runs):
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        seconds, kilobytes = done.stdout.split()[-2:]
        found.append((float(seconds), int(kilobytes) // 1024))
    return f"| `{load}` |  | {min(found)[0]:.2f} s; the process has {max(found)[1]:,} MB |"


def reading(module: str, kind: str, units: str, runs: int) -> str:
    """The shortest of some passes over a corpus in new processes, and the memory that it needs."""
    code = _READ.format(module=module, kind=kind, units=units)
    found = []
    for _ in range(runs):
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        found.append(tuple(map(float, done.stdout.split())))
    check, read, memory = map(min, zip(*found, strict=True))
    cost = (
        f"{read:.2f} s, digests before that {check:.2f} s; {memory / 1024:.0f} MB more than before"
    )
    return f"| `{kind}().{units}()` |  | {cost} |"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=3, help="loads, of which the best counts")
    arguments = parser.parse_args()
    held = one_core()
    vectors = hub.vectors("glove-6b-50d")
    rows = word_rows(vectors) + document_rows(vectors, read_lee())
    rows.append(loading('hub.vectors("glove-6b-50d")', "", arguments.runs))
    rows.append(loading('hub.load("minilm")', "import transformers", arguments.runs))
    rows.append(reading("brown", "Brown", "sentences", arguments.runs))
    rows.append(reading("mails", "Mails", "mails", arguments.runs))
    print(*rows, sep="\n")
    facts = (
        f"{held}, the best of {arguments.runs} loads after the first, in the "
        "process's own time, digests checked. ρ is "
        "Spearman's correlation with the human ratings, r Pearson's, each ± its standard error. "
        f"Analogies are answered among the {FREQUENT:,} most frequent words; word counts and "
        "TF-IDF omit scikit-learn's English stop words, TF-IDF has logarithmic counts and weights "
        "of 350 documents. MiniLM was trained to compare sentences."
    )
    columns = ("what", "vectors", "measured")
    tables.write(__file__, "Real English: weights, vectors, corpora", facts, columns, rows)
    return 0


if __name__ == "__main__":
    tables.run(main)
