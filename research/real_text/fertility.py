"""Tokens a word by genre: how far a tokenizer's training text is from the text that it splits.

The texts of each genre are halved: of every two, the first may train a tokenizer, the second is
split. Each BPE is over bytes, has up to as many tokens, and reads as many texts of Brown.
"""

from collections import Counter
from collections.abc import Mapping
from functools import partial
from re import findall
from typing import Any

from tokenizers import Tokenizer

from lmcourse import hub, table_forms
from lmcourse.corpus.brown import GENRES
from lmcourse.evaluation.uncertainty import mean_of_ratio
from lmcourse.tokenizers import recipes
from research.real_text.classifiers import plain
from research.real_text.sources import MISSING, PACKAGES, Sources, Text, Units, Values
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
    """A tokenizer's size, and by genre: tokens a word, shares of whole and of unknown words."""
    used = tokenizer(name, sources)
    found: Values = {"tokens": used.get_vocab_size(), "genres": {}}
    for genre in (*GENRES, WORLD):
        texts = words_of(genre, sources)
        found["genres"][genre] = split_words(used, texts)
    return found


def split_words(used: Tokenizer, texts: list[Counter[str]]) -> dict[str, Any]:
    """Tokens a word, and the shares of words that are one token and that are unknown."""
    words = sorted(set().union(*texts))
    encodings = used.encode_batch([f" {word}" for word in words], add_special_tokens=False)
    unknown = {token for token in ("[UNK]", "<unk>") if used.token_to_id(token) is not None}
    pieces = {
        # Padding, which a batch may have, is not counted.
        word: [it for it, seen in zip(each.tokens, each.attention_mask, strict=True) if seen]
        for word, each in zip(words, encodings, strict=True)
    }
    lost = {word for word, each in pieces.items() if unknown.intersection(each)}
    counts = [text.total() for text in texts]

    def mean(amount: Mapping[str, int]) -> Any:
        sums = [sum(amount[word] * count for word, count in text.items()) for text in texts]
        return mean_of_ratio(sums, counts)

    return {
        "tokens a word": mean({word: len(each) for word, each in pieces.items()}),
        "whole": mean({word: len(it) == 1 and word not in lost for word, it in pieces.items()}),
        "unknown": mean({word: word in lost for word in pieces}).value,
    }


BPES = {f"BPE of {name}": name for name in (*TRAINED, WORLD)}
UNITS: Units = {name: partial(measured, BPES.get(name, name)) for name in (MINILM, *BPES, SHIPPED)}
READING = """Half of each genre's texts, which train no tokenizer. First table: tokens a word, with
a 95 % interval over texts; second: words that are one token. Tokenizers that split no word replace
unknown ones by one token, which is not a whole word; the last column is their share. Sizes: {}."""


def section(units: Mapping[str, Values]) -> str:
    """The page's part."""
    if not units:
        return MISSING
    split = [name for name in units if name != SHIPPED]
    parts = [READING.format("; ".join(f"{name} {it['tokens']:,}" for name, it in units.items()))]
    genres = (*GENRES, WORLD)
    rows = [
        [genre, *(plain(units[name]["genres"][genre]["tokens a word"]) for name in split)]
        for genre in genres
    ]
    parts.append(table_forms.markdown(["tokens a word", *split], rows))
    rows = [
        [genre, *(f"{it['genres'][genre]['whole'][0]:.1%}" for it in units.values())]
        + [f"{units[SHIPPED]['genres'][genre]['unknown']:.1%}"] * (SHIPPED in units)
        for genre in genres
    ]
    header = ["whole words", *units, *["unknown there"] * (SHIPPED in units)]
    return "\n\n".join([*parts, table_forms.markdown(header, rows)])
