"""The tokenizers and their steps: the reference for the JavaScript of Merges and Segmentation.

`python -m tests.widgets.golden_merges` writes `web/test/merges.golden.json`; a test computes it
anew and compares.
"""

import json
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import Any

from lmcourse.tokenizers import BPE, Unigram, WordPiece, recipes
from lmcourse.tokenizers.models.merging import PairTable, replay
from lmcourse.tokenizers.models.trainers import SCORES
from lmcourse.tokenizers.recipes import Recipe
from tests.widgets import strings

PATH = Path(__file__).parents[2] / "web" / "test" / "merges.golden.json"
CORPUS = [
    "low " * 5 + "lower " * 2 + "newest " * 6 + "widest " * 3 + "aaaa aaa banana bananas " * 2
]
TEXTS = [
    *strings.HOSTILE[:-7],
    "The lowest, newest widest banana.",
    "Éé ǅ İ ẞ ﬁne ½ 한국어 ａｂ 中文字 a\u0301\u0323b \u0344 x\u00a0y\u3000z  two  spaces ",
    "it's we'll 12 3a _b c-d <s> [MASK] 👩‍👩‍👧 ͏ ▁low low▁er",
]
WORDS = ["lowest", "newer", "bananas", "aaaaa", "x", "wid"]


def tools() -> list[Recipe]:
    """Every kind of model and of text handling that a recipe gives."""
    return [
        recipes.char_bpe(CORPUS, 40),
        recipes.gpt2(CORPUS, 280),
        recipes.bert(CORPUS, 60),
        recipes.bert(CORPUS, 60, lowercase=False, score="pmi"),
        recipes.albert(CORPUS, 24),
    ]


def cut(recipe: Recipe, texts: Iterable[str]) -> list[list[list[Any]]]:
    """Each text's tokens and their ids; special tokens in it are text."""
    recipe.tokenizer.encode_special_tokens = True
    found = (recipe.tokenizer.encode(text, add_special_tokens=False) for text in texts)
    return [[list(it) for it in zip(each.tokens, each.ids, strict=True)] for each in found]


def steps(model: Any, word: str) -> list[Any]:
    """The steps of a word's segmentation."""
    if isinstance(model, BPE):
        return [[it.rank, it.position, it.spans] for it in model.steps(word).steps]
    if isinstance(model, WordPiece):
        return [[it.piece, *it.span, it.found] for it in model.steps(word).steps]
    assert isinstance(model, Unigram)
    return [[it.score, [token.offsets for token in it.tokens]] for it in model.nbest(word, 2)]


def training(recipe: Recipe) -> list[dict[str, Any]]:
    """Of each state of a merging: the corpus's tokens and pairs, and what is merged next."""
    done = recipe.training
    words = done.trainer.words(done.word_counts)
    states = islice(replay(words, done.steps), len(done.steps))
    score = SCORES[getattr(done.trainer, "score", "frequency")]
    found = []
    for state, step in zip(states, done.steps, strict=True):
        table = PairTable(state)
        found.append(
            {
                "tokens": table.pieces.total(),
                "pairs": len(table.pairs),
                "scores": sum(score(table.counts(pair)) for pair in table.pairs),
                "next": [step.pair, step.count, step.score, step.tied],
            }
        )
    return found


def golden() -> list[dict[str, Any]]:
    """For each tokenizer its facts, its cuts, its steps and its training."""
    return [
        {
            "facts": recipe.plain(),
            "texts": dict(zip(TEXTS, cut(recipe, TEXTS), strict=True)),
            "words": {word: steps(recipe.training.model, word) for word in WORDS},
            "training": [] if recipe.plain()["kind"] == "unigram" else training(recipe),
        }
        for recipe in tools()
    ]


if __name__ == "__main__":
    PATH.write_text(json.dumps(golden(), separators=(",", ":")) + "\n", encoding="utf-8")
    print(f"{PATH}: {PATH.stat().st_size:,} bytes")
