"""How a tokenizer segments a text, step by step, in words.

``lmcourse.widgets.Segmentation`` and ``Merges`` use it where nothing moves. As in the browser,
special tokens in a text are text.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from tokenizers import Tokenizer

from lmcourse.errors import CourseError
from lmcourse.tokenizers.library import AnyModel, split
from lmcourse.tokenizers.models.bpe import BPE
from lmcourse.tokenizers.models.merging import joined
from lmcourse.tokenizers.models.word_model import Training, numbered
from lmcourse.tokenizers.models.wordpiece import WordPiece

Step = tuple[tuple[str, ...], str]  # pieces, perhaps none, and the result


class Cut(NamedTuple):
    """The segmentation of a word.

    Attributes:
        word: the word as the model got it.
        position: where its last character comes from, in characters of the text.
        tokens: its tokens; the word itself if the model cannot segment it.
        steps: BPE's merges, WordPiece's matches, a unigram model's two best paths.
        greedy: for BPE, the longest match first among its pieces, which differs from BPE.
    """

    word: str
    position: int
    tokens: tuple[str, ...]
    steps: tuple[Step, ...]
    greedy: tuple[str, ...] = ()


def explained(tokenizer: Tokenizer, text: str, model: AnyModel) -> list[Cut]:
    """Every word of a text, segmented.

    Args:
        tokenizer: splits the text into words.
        model: the tokenizer's own (``library.from_library``), or an earlier state of its training.
    """
    return [_cut(model, word, max(span[1] - 1, 0)) for word, span in split(tokenizer, text)]


def _cut(model: AnyModel, word: str, position: int) -> Cut:
    try:
        tokens = tuple(token.value for token in model.steps(word).tokens)
    except CourseError:  # a character without a token, and no unknown token
        return Cut(word, position, (word,), ())
    greedy = tuple(_greedy(model, word)) if isinstance(model, BPE) else ()
    return Cut(word, position, tokens, tuple(_steps(model, word)), greedy)


def _greedy(model: BPE, word: str) -> Iterator[str]:
    """Always the longest of the pieces that BPE's merges give; special tokens are text."""
    prefix, suffix = model.continuing_subword_prefix or "", model.end_of_word_suffix or ""
    merged = {joined(pair, prefix) for pair in model.merges}
    start = 0
    while start < len(word):
        for end in range(len(word), start, -1):
            piece = prefix * (start > 0) + word[start:end] + suffix * (end == len(word))
            if piece in model.vocab and (end == start + 1 or piece in merged):
                break
        else:
            piece, end = model.unk_token or word[start], start + 1
        yield piece
        start = end


def _steps(model: AnyModel, word: str) -> Iterator[Step]:
    if isinstance(model, BPE):
        for step in model.steps(word).steps[1:]:
            yield step.pair or (), f"merge {(step.rank or 0) + 1}"
    elif isinstance(model, WordPiece):
        steps = model.steps(word).steps
        if not steps:
            yield (), f"none of more than {model.max_input_chars_per_word} characters is looked up"
        for number, look in enumerate(steps, 1):
            if look.found or number == len(steps):
                yield (look.piece,), f"{'found' if look.found else 'not there'} at look-up {number}"
    else:
        for name, path in zip(("best", "next"), model.nbest(word, 2), strict=False):
            score = f"{path.score:.1f}".replace("-", "−")
            yield tuple(it.value for it in path.tokens), f"{name} path, {score} nats"


def early(
    training: Training[Any, Any], step: int, scores: Mapping[str, float] | None = None
) -> AnyModel:
    """The model after this number of merges; a unigram model with these scores."""
    model: AnyModel = training.model
    if isinstance(model, BPE):
        return replace(model, merges=tuple(it.pair for it in training.steps[:step]))
    if isinstance(model, WordPiece):
        first = training.trainer.first_tokens(training.word_counts)
        tokens = [*first, *(it.token for it in training.steps[:step])]
        return replace(model, vocab=numbered(tokens))
    early_model: AnyModel = training.trainer.model(scores or {})
    return early_model
