"""Random tokenizers of every kind, and texts that hit their tokens: ours beside the library's."""

import json
import random
from functools import cache
from typing import Any

import tokenizers
from tokenizers import models, trainers

from lmcourse.tokenizers.encoding import Encoding
from lmcourse.tokenizers.tokenizer import Tokenizer
from tests.tokenizers.random_text import ENGLISH, random_text, random_texts

Json = dict[str, Any]
COLUMNS = (
    "ids",
    "type_ids",
    "tokens",
    "word_ids",
    "offsets",
    "special_tokens_mask",
    "attention_mask",
    "sequence_ids",
    "n_sequences",
)
SPECIALS = ("[UNK]", "[CLS]", "[SEP]", "[PAD]", "<mask>")
CONTENTS = ("the", "The fox", "ing", "  ", "\n", "é", "O\u0308", "quick brown", "1984", "_", "👍🏽")
BYTE_LEVEL = {
    "type": "ByteLevel",
    "add_prefix_space": True,
    "trim_offsets": True,
    "use_regex": True,
}
NORMALIZERS: tuple[Json | None, ...] = (
    None,
    {"type": "NFC"},
    {"type": "NFKD"},
    {"type": "Lowercase"},
    {"type": "Strip", "strip_left": True, "strip_right": False},
    {"type": "Replace", "pattern": {"String": "e"}, "content": "ée"},
    {"type": "Replace", "pattern": {"Regex": " +"}, "content": " "},
    {"type": "Prepend", "prepend": "▁"},
    {
        "type": "BertNormalizer",
        "clean_text": True,
        "handle_chinese_chars": True,
        "strip_accents": None,
        "lowercase": True,
    },
    {"type": "Sequence", "normalizers": [{"type": "NFD"}, {"type": "StripAccents"}]},
)
PRE_TOKENIZERS: tuple[Json | None, ...] = (
    None,
    {"type": "Whitespace"},
    {"type": "WhitespaceSplit"},
    {"type": "BertPreTokenizer"},
    BYTE_LEVEL,
    BYTE_LEVEL | {"add_prefix_space": False, "use_regex": False},
    {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first", "split": True},
    {"type": "Metaspace", "replacement": "_", "prepend_scheme": "always", "split": False},
    {
        "type": "Sequence",
        "pretokenizers": [
            {"type": "WhitespaceSplit"},
            {"type": "Digits", "individual_digits": True},
            {"type": "Punctuation", "behavior": "Isolated"},
        ],
    },
)
REPLACE = {"type": "Replace", "pattern": {"String": "▁"}, "content": " "}
DECODERS: tuple[Json | None, ...] = (
    None,
    BYTE_LEVEL,
    {"type": "WordPiece", "prefix": "##", "cleanup": True},
    {"type": "WordPiece", "prefix": "##", "cleanup": False},
    {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True},
    {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "never", "split": True},
    {"type": "BPEDecoder", "suffix": "</w>"},
    {"type": "ByteFallback"},
    REPLACE,
    {
        "type": "Sequence",
        "decoders": [
            REPLACE,
            {"type": "ByteFallback"},
            {"type": "Fuse"},
            {"type": "Strip", "content": " ", "start": 1, "stop": 0},
        ],
    },
)


@cache
def trained_models() -> tuple[Json, ...]:
    """Small models of every kind, trained by the library on texts that hurt."""
    corpus = [*ENGLISH * 10, *random_texts(1, 100)]
    specials = list(SPECIALS)
    unigram_options = {"unk_token": "[UNK]", "show_progress": False}
    made = [
        (models.BPE(unk_token="[UNK]"), trainers.BpeTrainer(vocab_size=900, show_progress=False)),
        (
            models.BPE(unk_token="[UNK]", fuse_unk=True, end_of_word_suffix="</w>"),
            trainers.BpeTrainer(
                limit_alphabet=50,
                vocab_size=300,
                end_of_word_suffix="</w>",
                show_progress=False,
            ),
        ),
        (
            models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=20),
            trainers.WordPieceTrainer(vocab_size=2000, show_progress=False),
        ),
        (models.WordLevel(unk_token="[UNK]"), trainers.WordLevelTrainer(show_progress=False)),
        (models.Unigram(), trainers.UnigramTrainer(vocab_size=700, **unigram_options)),
    ]
    found = []
    for model, trainer in made:
        tokenizer = tokenizers.Tokenizer(model)
        tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace()
        trainer.special_tokens = [tokenizers.AddedToken(token) for token in specials]
        tokenizer.train_from_iterator(corpus, trainer)
        found.append(json.loads(tokenizer.to_str())["model"])
    # The library reads long decimals of a file with an error in the last bit: give it short ones.
    found[-1]["vocab"] = [[piece, round(score, 6)] for piece, score in found[-1]["vocab"]]
    return tuple(found)


def added_token(rng: random.Random, content: str) -> Json:
    """An added token with random options, as tokenizer.json has it (but for its id)."""
    return {
        "content": content,
        "single_word": rng.random() < 0.3,
        "lstrip": rng.random() < 0.3,
        "rstrip": rng.random() < 0.3,
        # One that is normalized to nothing makes the library crash or hang.
        "normalized": rng.random() < 0.4 and bool(content.strip()),
        "special": content in SPECIALS,
    }


def template(rng: random.Random, ids: dict[str, int], repeat: bool) -> Json:
    """A random template: special tokens anywhere, any segments, a text once or more often."""

    def piece(kind: str, name: str) -> Json:
        return {kind: {"id": name, "type_id": rng.randrange(4)}}

    def pieces(texts: str) -> list[Json]:
        made = [piece("Sequence", text) for text in texts]
        made += [piece("SpecialToken", rng.choice(SPECIALS)) for _ in range(rng.randrange(4))]
        rng.shuffle(made)
        return made

    tokens = {name: {"id": name, "ids": [ids[name]], "tokens": [name]} for name in SPECIALS}
    return {
        "type": "TemplateProcessing",
        "single": pieces(rng.choice(("A", "AA") if repeat else ("A",))),
        "pair": pieces(rng.choice(("AB", "BA", "ABA") if repeat else ("AB", "BA"))),
        "special_tokens": tokens,
    }


def processor(rng: random.Random, ids: dict[str, int], repeat: bool) -> Json | None:
    """A random post-processor."""
    ends = {"sep": ["[SEP]", ids["[SEP]"]], "cls": ["[CLS]", ids["[CLS]"]]}
    trimming = {"trim_offsets": rng.random() < 0.7, "add_prefix_space": rng.random() < 0.5}
    byte_level = {"type": "ByteLevel", **trimming, "use_regex": True}
    bert = {"type": "BertProcessing", **ends}
    return rng.choice(
        (
            None,
            bert,
            {"type": "RobertaProcessing", **ends, **trimming},
            byte_level,
            template(rng, ids, repeat),
            {"type": "Sequence", "processors": [byte_level, template(rng, ids, repeat)]},
            {"type": "Sequence", "processors": [byte_level, bert]},
            {"type": "Sequence", "processors": [bert, byte_level]},
        )
    )


def truncation(rng: random.Random) -> Json | None:
    """Random truncation, mostly none."""
    length = rng.randrange(1, 20)
    return rng.choice((None, None, {
        "direction": rng.choice(("Left", "Right")),
        "max_length": length,
        "strategy": rng.choice(("LongestFirst", "LongestFirst", "OnlyFirst", "OnlySecond")),
        "stride": rng.randrange(length) // 2,
    }))  # fmt: skip


def padding(rng: random.Random) -> Json | None:
    """Random padding, mostly none."""
    return rng.choice((None, {
        "strategy": rng.choice(("BatchLongest", {"Fixed": rng.randrange(1, 31)})),
        "direction": rng.choice(("Left", "Right")),
        "pad_to_multiple_of": rng.choice((None, 4, 8)),
        "pad_id": 3,
        "pad_type_id": rng.randrange(3),
        "pad_token": "[PAD]",
    }))  # fmt: skip


def random_tokenizer(rng: random.Random) -> Json:
    """A tokenizer.json with random parts."""
    model = rng.choice(trained_models())
    vocab = model["vocab"]
    ids = (
        dict(vocab) if isinstance(vocab, dict) else {token: i for i, (token, _) in enumerate(vocab)}
    )
    contents = [*SPECIALS, *rng.sample(CONTENTS, k=rng.randrange(5))]
    added = []
    for content in contents:
        ids.setdefault(content, len(ids))
        added.append({"id": ids[content], **added_token(rng, content)})
    cut = truncation(rng)
    # What overflows is combined with what overflows: a text that is repeated has too much of it.
    repeat = cut is None
    return {
        "version": "1.0",
        "truncation": cut,
        "padding": padding(rng),
        "added_tokens": sorted(added, key=lambda token: token["id"]),
        "normalizer": rng.choice(NORMALIZERS),
        "pre_tokenizer": rng.choice(PRE_TOKENIZERS),
        "post_processor": processor(rng, ids, repeat),
        "decoder": rng.choice(DECODERS),
        "model": model,
    }


def both(value: Json) -> tuple[Tokenizer, tokenizers.Tokenizer]:
    """Our tokenizer and the library's of the same tokenizer.json."""
    text = json.dumps(value)
    return Tokenizer.from_str(text), tokenizers.Tokenizer.from_str(text)


def text_with_tokens(rng: random.Random) -> str:
    """A random text with added tokens and spaces strewn in."""
    text = random_text(rng, 30)
    for _ in range(rng.randrange(4)):
        place = rng.randrange(len(text) + 1)
        word = rng.choice((*SPECIALS, *CONTENTS, "THE", "[unk]", "a", " "))
        text = text[:place] + rng.choice(("", " ", "  ")) + word + text[place:]
    return text


def columns(encoding: Encoding | tokenizers.Encoding) -> Json:
    """All that an encoding holds, and what overflowed of it."""
    return {
        **{name: getattr(encoding, name) for name in COLUMNS},
        "overflowing": [columns(part) for part in encoding.overflowing],
    }
