"""A tokenizer as plain lists and strings, and what its training did: what a browser needs of it.

``lmcourse.widgets.Merges`` takes it. It holds the classes of characters that the normalizer and the
pre-tokenizer ask about, because a browser's own are of another Unicode version.
"""

import math
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lmcourse.errors import CourseError
from lmcourse.tokenizers.models.bpe import BPE
from lmcourse.tokenizers.models.settings import contents
from lmcourse.tokenizers.models.training import Training
from lmcourse.tokenizers.models.unigram import Unigram
from lmcourse.tokenizers.models.unigram_training import UnigramStep, UnigramTrainer
from lmcourse.tokenizers.models.wordpiece import WordPiece
from lmcourse.tokenizers.text import normalizers, pre_tokenizers
from lmcourse.tokenizers.text.splitting import Finder
from lmcourse.tokenizers.text.unicode import CharacterSet, characters, lowercase_forms

if TYPE_CHECKING:
    from lmcourse.tokenizers.pipeline import Pipeline

SHOWN = 31  # pieces of a round of a unigram's training that are listed
UNITS = {  # of the scores of pairs
    "frequency": "how often they occur",
    "likelihood": "nats that the corpus gains",
    "pmi": "count ÷ product of the parts’ counts",
}
Plain = dict[str, Any]
Steps = list[list[str]]


def plain(tokenizer: "Pipeline", training: Training[Any, Any] | None = None) -> Plain:
    """A tokenizer of BPE, WordPiece or unigram as JSON takes it.

    Special tokens that stand in a text are text (``encode_special_tokens``), and nothing is framed.

    Args:
        training: what trained it here. A unigram's is done again, because its steps do not hold
            the scores; that takes as long as it took.

    Returns:
        ``kind``; ``tokens`` in the order of their ids; ``unknown``, the id of the unknown token or
        None; options of the model; ``merges`` (pairs of tokens) or ``scores`` (nats); ``steps``
        before the model: a name (swap, find, before) and its arguments, of which a pattern is a
        regular expression of ECMAScript with the flags g, s and u; ``training`` or None.

    Raises:
        CourseError: the model has no vocabulary, or a part is one that the widget does not know.
    """
    known = tokenizer.model.ids
    if not known:
        raise CourseError(
            f"The tokenizer's {type(tokenizer.model).__name__} model has no vocabulary yet.",
            "Train it first: recipes.char_bpe(texts, vocab_size=800), for one.",
        )
    if sorted(known.values()) != list(range(len(known))):
        raise CourseError(
            f"The ids of the vocabulary's {len(known)} tokens have holes.",
            "Number the tokens from 0 on without holes.",
        )
    added = [it.content for it in tokenizer._added.tokens.values() if not it.special]
    if added:
        raise CourseError(
            f"The tokenizer has the added token {added[0]!r}, which is cut out of a text first.",
            "Train or build the tokenizer without added tokens that are not special.",
        )
    return {
        "tokens": sorted(known, key=known.__getitem__),
        **_model(tokenizer.model),
        "steps": [*_normalizer(tokenizer.normalizer), *_words(tokenizer.pre_tokenizer)],
        "training": _training(training) if training and training.steps else None,
    }


def _model(model: Any) -> Plain:
    for option in ("byte_fallback", "fuse_unk", "ignore_merges"):
        if getattr(model, option, False):
            raise CourseError(
                f"The widget does not follow the option {option} of {type(model).__name__}.",
                "Pass a model without it; byte-level BPE, recipes.gpt2, has no unknown characters.",
            )
    if isinstance(model, BPE):
        return {
            "kind": "bpe",
            "unknown": model.vocab.get(model.unk_token or "") if model.unk_token else None,
            "prefix": model.continuing_subword_prefix or "",
            "suffix": model.end_of_word_suffix or "",
            "merges": [list(pair) for pair in model.merges],
        }
    if isinstance(model, WordPiece):
        return {
            "kind": "wordpiece",
            "unknown": model.vocab[model.unk_token],
            "prefix": model.continuing_subword_prefix,
            "suffix": "",
            "most": model.max_input_chars_per_word,
        }
    if isinstance(model, Unigram):
        scores = [float(score) for _, score in model.vocab]
        return {"kind": "unigram", "unknown": model.unk_id, "scores": scores}
    raise CourseError(
        f"The tokenizer's model is a {type(model).__name__}, which has no pieces.",
        "Pass a tokenizer of BPE, WordPiece or Unigram.",
    )


# --- what happens to the text ---


def _class(members: CharacterSet) -> str:
    """As it stands between the brackets of a regular expression: letters, few of them."""
    return "".join(f"{_letter(a)}-{_letter(b)}" if a < b else _letter(a) for a, b in members.ranges)


def _letter(code: int) -> str:
    plain = 0x30 <= code < 0x3A or 0x41 <= code < 0x5B or 0x61 <= code < 0x7B
    return chr(code) if plain else f"\\u{code:04x}" if code < 0x10000 else f"\\u{{{code:x}}}"


def _any(name: str) -> str:
    return f"[{_class(characters(name))}]"


def _normalizer(part: Any) -> Steps:
    match part:
        case None:
            return []
        case normalizers.Sequence():
            return [step for each in part.normalizers for step in _normalizer(each)]
        case normalizers.NFD() | normalizers.NFKD():
            # A character with its marks. What the tokenizer's tables do not know stays.
            known = _any("normalizable")
            return [["swap", rf"{known}(?:(?=\p{{M}}){known})*", type(part).__name__]]
        case normalizers.Lowercase():
            capitals = CharacterSet.of([chr(code) for code in lowercase_forms()])
            return [["swap", f"[{_class(capitals)}]", "lower"]]
        case normalizers.StripAccents():
            return [["swap", _any("combining_mark"), ""]]
        case normalizers.BertNormalizer():
            return _bert(part)
    raise CourseError(
        f"The widget cannot do what the normalizer {type(part).__name__} does.",
        "It knows NFD, NFKD, Lowercase, StripAccents, BertNormalizer and sequences of them.",
    )


def _bert(part: normalizers.BertNormalizer) -> Steps:
    steps: Steps = []
    if part.clean_text:
        steps += [["swap", _any("cleaned_away"), ""], ["swap", _any("white_space"), " "]]
    if part.handle_chinese_chars:
        steps.append(["swap", f"[{_class(normalizers.CHINESE)}]", "apart"])
    if part.lowercase if part.strip_accents is None else part.strip_accents:
        steps += _normalizer(normalizers.NFD())
        steps.append(["swap", _any("nonspacing_mark"), ""])
    return steps + (_normalizer(normalizers.Lowercase()) if part.lowercase else [])


def _words(part: Any) -> Steps:
    match part:
        case None:
            return []
        case pre_tokenizers.Sequence():
            return [step for each in part.pretokenizers for step in _words(each)]
        case pre_tokenizers.Whitespace():
            return [_find(pre_tokenizers.WORDS_AND_SIGNS)]
        case pre_tokenizers.WhitespaceSplit():
            return [_find(pre_tokenizers.BETWEEN_SPACES)]
        case pre_tokenizers.BertPreTokenizer():
            return [_find(pre_tokenizers.BERT_WORDS)]
        case pre_tokenizers.Metaspace(split=True):
            mark = f"\\u{{{ord(part.replacement):x}}}"
            steps = [["swap", " ", part.replacement]] if part.replacement != " " else []
            if part.prepend_scheme != "never":
                steps.append(["before", part.replacement, part.prepend_scheme])
            return [*steps, ["find", f"{mark}?[^{mark}]+|{mark}"]]
        case pre_tokenizers.ByteLevel(use_regex=True):
            prefix = [["before", " ", "always"]] * part.add_prefix_space
            return [*prefix, _find(pre_tokenizers.GPT2_WORDS), ["swap", ".", "bytes"]]
    raise CourseError(
        f"The widget cannot cut words as {part!r} does.",
        "It knows Whitespace, WhitespaceSplit, BertPreTokenizer, Metaspace and ByteLevel (both "
        "with their cuts), and sequences of them.",
    )


def _find(finder: Finder) -> list[str]:
    return ["find", re.sub(r"\{(\w+)\}", lambda it: _class(characters(it[1])), finder.template)]


# --- what the training did ---


def _training(training: Training[Any, Any]) -> Plain:
    if isinstance(training.trainer, UnigramTrainer):
        return _rounds(training.trainer, training.word_counts)
    trainer, counts = training.trainer, training.word_counts
    score = getattr(trainer, "score", "frequency")
    kept = {*trainer.alphabet(counts), *contents(trainer.special_tokens)}
    if gone := set().union(*counts) - kept:
        raise CourseError(
            f"The training left out {len(gone)} characters, {min(gone)!r} for one.",
            "Train without limit_alphabet: the widget replays all characters of all words.",
        )
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
    """What EM and the step after it did; of many pieces some, from the dearest to the cheapest.

    ``shown`` has their losses where they were pruned, else their probabilities; see ``unit``.
    """
    *em, last = steps
    pieces = last.pieces if last.kind == "seed" else last.removed
    ranked = sorted(pieces, key=lambda it: -it[1])
    count = min(len(ranked), SHOWN)
    apart = 1 if last.kind == "seed" else (len(ranked) - 1) / max(count - 1, 1)
    some = [ranked[round(place * apart)] for place in range(count)]
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
