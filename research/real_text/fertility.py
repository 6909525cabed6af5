"""Tokens a word by genre: how far a tokenizer's training text is from the text that it splits.

The texts of each genre are halved: of every two, the first may train a tokenizer, the second is
split. Each BPE is over bytes, has up to as many tokens, and reads as many texts of Brown.
"""

from collections import Counter
from collections.abc import Mapping
from functools import partial
from re import findall

import numpy as np
from tokenizers import Tokenizer

from lmcourse import hub, table_forms
from lmcourse.corpus.brown import GENRES
from lmcourse.evaluation.uncertainty import mean_of_ratio
from lmcourse.tokenizers import recipes
from research.real_text.classifiers import plain, said
from research.real_text.sources import PACKAGES, Sources, Text, Units, Values
from research.real_text.zipf import WORLD

SIZE, TEXTS = 4_000, 15  # tokens of a BPE; texts of Brown that train it
ALL = "all genres"
TRAINED = ("news", "learned", "romance", ALL)
SHIPPED, MINILM = "the course's words (bookworld-mlm)", "MiniLM's WordPiece"
SETUP = {
    "words": "tokens of Brown with a letter or digit, each after a space; in BookWorld's reviews "
    "(test split) sequences of letters, digits, ' and -",
    "tokens": SIZE,
    "texts that train": f"{TEXTS} of Brown; of all genres: one each; 1,000 reviews of BookWorld",
    "packages": [PACKAGES["brown"], PACKAGES["minilm"]],
}


def halves(genre: str, sources: Sources) -> tuple[list[Text], list[Text]]:
    """The texts of a genre that may train a tokenizer, and those that are split."""
    texts = [text for text in sources.brown if text.genre == genre]
    return texts[::2], texts[1::2]


def tokenizer(name: str, sources: Sources) -> Tokenizer:
    """One of the tokenizers of the table."""
    if name in (MINILM, SHIPPED):
        loaded = sources.encoder if name == MINILM else hub.load("bookworld-mlm")
        assert loaded.tokenizer is not None
        return loaded.tokenizer
    if name == WORLD:
        lines = [review.text for review in sources.world.split("train", 1_000)]
    else:
        each = [halves(genre, sources)[0] for genre in (GENRES if name == ALL else [name])]
        texts = [half[0] for half in each] if name == ALL else each[0][:TEXTS]
        lines = [" ".join(it.words) for text in texts for it in text.sentences]
    return recipes.gpt2(lines, SIZE, backend="tokenizers").tokenizer


def words_of(genre: str, sources: Sources) -> list[Counter[str]]:
    """How often each word occurs, in each text of a genre or review of BookWorld."""
    if genre == WORLD:
        return [Counter(findall(r"[\w'-]+", it.text)) for it in sources.world.split("test")]
    texts = halves(genre, sources)[1]
    tokens = [[word for it in text.sentences for word in it.words] for text in texts]
    return [Counter(word for word in each if any(map(str.isalnum, word))) for each in tokens]


def measured(name: str, sources: Sources) -> Values:
    """A tokenizer's size, and how it splits each genre's words."""
    used = tokenizer(name, sources)
    genres = {genre: split_words(used, words_of(genre, sources)) for genre in (*GENRES, WORLD)}
    return {"size": used.get_vocab_size(), "genres": genres}


def split_words(used: Tokenizer, texts: list[Counter[str]]) -> Values:
    """Words and tokens of each text; the shares of words that are one token and that are unknown.

    An unknown word is not counted as one token.
    """
    words = sorted(set().union(*texts))
    encodings = used.encode_batch([f" {word}" for word in words], add_special_tokens=False)
    # A batch may be padded.
    counts = {word: sum(it.attention_mask) for word, it in zip(words, encodings, strict=True)}
    unknown = {word for word, it in zip(words, encodings, strict=True) if "[UNK]" in it.tokens}
    whole = {word for word in words if counts[word] == 1} - unknown
    total = sum(text.total() for text in texts)
    tokens = [sum(counts[word] * count for word, count in text.items()) for text in texts]
    return {
        "words": " ".join(str(text.total()) for text in texts),
        "tokens": " ".join(map(str, tokens)),
        "whole": sum(text[word] for text in texts for word in whole) / total,
        "unknown": sum(text[word] for text in texts for word in unknown) / total,
    }


BPES = {f"BPE of {name}": name for name in (*TRAINED, WORLD)}
UNITS: Units = {name: partial(measured, BPES.get(name, name)) for name in (MINILM, *BPES, SHIPPED)}
REFERENCE = f"BPE of {ALL}"
READING = """Half of each genre's texts, which train no tokenizer. Brackets: 95 % interval over
texts, paired for differences; bold: it does not contain 0, uncorrected for the number of intervals.
Sizes: {}."""
WHOLE = """Words that are one token. The course's own tokenizer splits no word: it replaces those
that it does not know (last column)."""


def section(units: Mapping[str, Values]) -> str:
    """The page's part."""
    others = [name for name in BPES if name != REFERENCE]
    scores, shares = [], []
    for genre in (*GENRES, WORLD):
        of = {name: units[name]["genres"][genre] for name in units}
        words, tokens = _numbers(of[MINILM]["words"]), {it: _numbers(of[it]["tokens"]) for it in of}
        scores.append(
            [
                genre,
                *(plain(mean_of_ratio(tokens[it], words)) for it in (MINILM, REFERENCE)),
                *(said(mean_of_ratio(tokens[it] - tokens[REFERENCE], words)) for it in others),
            ]
        )
        whole = [f"{of[name]['whole']:.1%}" for name in units]
        shares.append([genre, *whole, f"{of[SHIPPED]['unknown']:.1%}"])
    sizes = "; ".join(f"{name} {it['size']:,}" for name, it in units.items())
    header = ["tokens a word", MINILM, REFERENCE, *(f"{name}, difference" for name in others)]
    return "\n\n".join(
        [
            READING.format(sizes),
            table_forms.markdown(header, scores),
            WHOLE,
            table_forms.markdown(["one token", *units, "unknown to it"], shares),
        ]
    )


def _numbers(text: str) -> np.ndarray:
    return np.array(list(map(int, text.split())))
