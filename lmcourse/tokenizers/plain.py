"""A tokenizer as plain lists and strings, with its training: the data of a browser.

``lmcourse.widgets.Merges`` takes it. It contains the classes of characters that the normalizer and
the pre-tokenizer distinguish, because the library knows other versions of Unicode (several at once)
than a browser. ``unicode_classes.json`` has them as ranges of code points, as the installed library
answers for every character (``python -m tests.tokenizers.unicode_classes``).
"""

import json
import math
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

from lmcourse.errors import CourseError
from lmcourse.tokenizers.models.unigram_training import UnigramStep, UnigramTrainer
from lmcourse.tokenizers.models.word_model import Training

CLASSES = Path(__file__).with_name("unicode_classes.json")
SHOWN = 31  # pieces of a round of a unigram's training that are listed
UNITS = {  # of the scores of pairs
    "frequency": "how often they occur",
    "likelihood": "nats that the corpus gains",
    "pmi": "count ÷ product of the parts’ counts",
}
# How pre-tokenizers find words; {class} represents the characters of a class.
GPT2_WORDS = (
    r"'s|'t|'re|'ve|'m|'ll|'d| ?[{letter}]+| ?[{number}]+| ?[^{white_space}{letter}{number}]+"
    r"|[{white_space}]+(?![^{white_space}])|[{white_space}]+"
)
WORDS = {
    "Whitespace": "[{word}]+|[^{word}{white_space}]+",
    "WhitespaceSplit": "[^{white_space}]+",
    "BertPreTokenizer": "[{punctuation}]|[^{punctuation}{white_space}]+",
}
Plain = dict[str, Any]
Part = dict[str, Any] | None  # of a tokenizer.json
Steps = list[list[str]]


def plain(tokenizer: Tokenizer, training: Training[Any, Any] | None = None) -> Plain:
    """A tokenizer of BPE, WordPiece or unigram as JSON takes it.

    Special tokens in a text are text (``encode_special_tokens``), and nothing is framed.

    Args:
        training: the training that is shown. A unigram's is repeated, because its steps do not
            contain the scores; that takes as long as it took.

    Returns:
        ``kind``; ``tokens`` in the order of their ids; ``unknown``, the id of the unknown token or
        None; options of the model; ``merges`` (pairs of tokens) or ``scores`` (nats); ``steps``
        before the model: a name (swap, find, before) and its arguments, where a pattern is a
        regular expression of ECMAScript with the flags g, s and u; ``training`` or None.

    Raises:
        CourseError: the model has no vocabulary, or the widget does not support a part.
    """
    file = json.loads(tokenizer.to_str())
    known = tokenizer.get_vocab(with_added_tokens=False)
    if not known:
        raise CourseError(
            f"The tokenizer's {file['model']['type']} model has no vocabulary yet.",
            "Train it first: recipes.char_bpe(texts, vocab_size=800), for one.",
        )
    if sorted(known.values()) != list(range(len(known))):
        raise CourseError(
            f"The ids of the vocabulary's {len(known)} tokens are not consecutive.",
            "Number the tokens from 0 without gaps.",
        )
    added = [it["content"] for it in file["added_tokens"] if not it["special"]]
    if added:
        raise CourseError(
            f"The tokenizer has the added token {added[0]!r}, which no model segments.",
            "Train or build the tokenizer without added tokens that are not special.",
        )
    return {
        "tokens": sorted(known, key=known.__getitem__),
        **_model(file["model"]),
        "steps": [*_normalizer(file["normalizer"]), *_words(file["pre_tokenizer"])],
        "training": _training(training) if training and training.steps else None,
    }


def _model(model: dict[str, Any]) -> Plain:
    for option in ("byte_fallback", "fuse_unk", "ignore_merges"):
        if model.get(option):
            raise CourseError(
                f"The widget does not support the option {option} of {model['type']}.",
                "Pass a model without it; byte-level BPE, recipes.gpt2, has no unknown characters.",
            )
    match model:
        case {"type": "BPE"}:
            return {
                "kind": "bpe",
                "unknown": model["vocab"].get(model["unk_token"]),
                "prefix": model["continuing_subword_prefix"] or "",
                "suffix": model["end_of_word_suffix"] or "",
                "merges": model["merges"],
            }
        case {"type": "WordPiece"}:
            return {
                "kind": "wordpiece",
                "unknown": model["vocab"][model["unk_token"]],
                "prefix": model["continuing_subword_prefix"],
                "suffix": "",
                "most": model["max_input_chars_per_word"],
            }
        case {"type": "Unigram"}:
            scores = [float(score) for _, score in model["vocab"]]
            return {"kind": "unigram", "unknown": model["unk_id"], "scores": scores}
    raise CourseError(
        f"The tokenizer's model is a {model['type']}, which has no pieces.",
        "Pass a tokenizer of BPE, WordPiece or Unigram.",
    )


# --- before the model ---


@cache
def _class(name: str) -> str:
    """The characters of a class, as in the brackets of a regular expression."""
    table: dict[str, str] = json.loads(CLASSES.read_text(encoding="utf-8"))
    ranges = (part.split("-") for part in table[name].split())
    return "".join("-".join(_letter(int(end, 16)) for end in ends) for ends in ranges)


def _letter(code: int) -> str:
    plain = 0x30 <= code < 0x3A or 0x41 <= code < 0x5B or 0x61 <= code < 0x7B
    return chr(code) if plain else f"\\u{code:04x}" if code < 0x10000 else f"\\u{{{code:x}}}"


def _swap(name: str, by: str) -> list[str]:
    return ["swap", f"[{_class(name)}]", by]


def _find(template: str) -> list[str]:
    return ["find", re.sub(r"\{(\w+)\}", lambda it: _class(it[1]), template)]


def _normalizer(part: Part) -> Steps:
    match part:
        case None:
            return []
        case {"type": "Sequence", "normalizers": parts}:
            return [step for each in parts for step in _normalizer(each)]
        case {"type": "NFD" | "NFKD" as form}:
            # A character with its marks. What the library's tables do not know stays.
            known = f"[{_class('normalizable')}]"
            return [["swap", rf"{known}(?:(?=\p{{M}}){known})*", form]]
        case {"type": "Lowercase"}:
            return [_swap("capital", "lower")]
        case {"type": "StripAccents"}:
            return [_swap("combining_mark", "")]
        case {"type": "BertNormalizer"}:
            return _bert(part)
    raise CourseError(
        f"The widget does not support the normalizer {part['type']}.",
        "It knows NFD, NFKD, Lowercase, StripAccents, BertNormalizer and sequences of them.",
    )


def _bert(part: dict[str, Any]) -> Steps:
    steps: Steps = []
    if part["clean_text"]:
        steps += [_swap("cleaned_away", ""), _swap("white_space", " ")]
    if part["handle_chinese_chars"]:
        steps.append(_swap("chinese", "apart"))
    if part["lowercase"] if part["strip_accents"] is None else part["strip_accents"]:
        steps += [*_normalizer({"type": "NFD"}), _swap("nonspacing_mark", "")]
    return steps + (_normalizer({"type": "Lowercase"}) if part["lowercase"] else [])


def _words(part: Part) -> Steps:
    match part:
        case None:
            return []
        case {"type": "Sequence", "pretokenizers": parts}:
            return [step for each in parts for step in _words(each)]
        case {"type": "Metaspace", "split": True}:
            replacement = part["replacement"]
            mark = f"\\u{{{ord(replacement):x}}}"
            steps = [["swap", " ", replacement]] if replacement != " " else []
            if part["prepend_scheme"] != "never":
                steps.append(["before", replacement, part["prepend_scheme"]])
            return [*steps, ["find", f"{mark}?[^{mark}]+|{mark}"]]
        case {"type": "ByteLevel", "use_regex": True}:
            prefix = [["before", " ", "always"]] * part["add_prefix_space"]
            return [*prefix, _find(GPT2_WORDS), ["swap", ".", "bytes"]]
        case {"type": kind} if kind in WORDS:
            return [_find(WORDS[kind])]
    raise CourseError(
        f"The widget does not support the pre-tokenizer {part['type']} with these settings.",
        "It knows Whitespace, WhitespaceSplit, BertPreTokenizer, Metaspace and ByteLevel (both "
        "splitting), and sequences of them.",
    )


# --- the training ---


def _training(training: Training[Any, Any]) -> Plain:
    if isinstance(training.trainer, UnigramTrainer):
        return _rounds(training.trainer, training.word_counts)
    trainer, counts = training.trainer, training.word_counts
    score = getattr(trainer, "score", "frequency")
    return {
        "steps": [[*step.pair, step.tied] for step in training.steps],
        "first": len(trainer.first_tokens(counts)),
        "score": score,
        "unit": UNITS[score],
        "words": list(counts),
        "counts": list(counts.values()),
    }


def _rounds(trainer: UnigramTrainer, counts: Mapping[str, int]) -> Plain:
    """The seeds, then each round of EM and pruning, with the pieces and scores after it."""
    ids: dict[str, int] = {}
    rounds: list[Plain] = []
    done: list[UnigramStep] = []
    for step, scores in trainer.rounds(counts):
        done.append(step)
        if step.kind == "em":
            continue
        kept = [ids.setdefault(piece, len(ids)) for piece in scores]
        rounds.append(_round(done) | {"kept": kept, "scores": list(scores.values())})
        done = []
    special = [piece for piece, _ in trainer.model({}).vocab]
    return {"rounds": rounds, "pieces": list(ids), "special": special}


def _round(steps: list[Any]) -> Plain:
    """EM and the step after it; of many pieces a selection, from the largest value to the smallest.

    ``shown`` has the losses of pruned pieces, otherwise probabilities; see ``unit``.
    """
    *em, last = steps
    pieces = last.pieces if last.kind == "seed" else last.removed
    ranked = sorted(pieces, key=lambda it: -it[1])
    count = min(len(ranked), SHOWN)
    apart = 1 if last.kind == "seed" else (len(ranked) - 1) / max(count - 1, 1)
    some = [ranked[round(index * apart)] for index in range(count)]
    spared = getattr(last, "spared", None)
    return {
        "kind": last.kind,
        "seldom": sum(len(step.removed) for step in em),  # what EM dropped
        "pruned": 0 if last.kind == "seed" else len(ranked),
        "added": len(getattr(last, "added", ())),  # characters that had been dropped
        "shown": [
            _digits(it, cost if last.kind == "prune" else math.exp(cost)) for it, cost in some
        ],
        "spared": _digits(*spared) if spared else None,
        "unit": "nats that a word loses" if last.kind == "prune" else "probability",
    }


def _digits(piece: str, cost: float) -> list[Any]:
    """As many digits as are shown, to keep pages small."""
    return [piece, float(f"{cost:.4g}")]
