"""How a tokenizer cuts a text, step by step, to be put into words.

``lmcourse.widgets.Segmentation`` and ``Merges`` say it where nothing moves. As in the browser,
special tokens that stand in a text are text.
"""

from collections.abc import Iterator, Mapping
from copy import copy
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from lmcourse.errors import CourseError
from lmcourse.tokenizers.models.bpe import BPE
from lmcourse.tokenizers.models.merging import joined
from lmcourse.tokenizers.models.training import Training
from lmcourse.tokenizers.models.unigram import Unigram
from lmcourse.tokenizers.models.wordpiece import WordPiece

if TYPE_CHECKING:
    from lmcourse.tokenizers.pipeline import Pipeline

Step = tuple[tuple[str, ...], str]  # pieces, perhaps none, and what came of them


class Cut(NamedTuple):
    """What became of a word.

    Attributes:
        word: the word as the model got it.
        place: where its last character comes from, in characters of the text.
        tokens: its tokens; the word itself if the model cannot cut it.
        steps: the merges that BPE redoes, what WordPiece finds, a unigram's two best paths.
        greedy: of BPE, what its pieces would give, longest first, which is not what BPE does.
    """

    word: str
    place: int
    tokens: tuple[str, ...]
    steps: tuple[Step, ...]
    greedy: tuple[str, ...] = ()


def told(tokenizer: "Pipeline", text: str, model: Any = None) -> list[Cut]:
    """Every word of a text, cut.

    Args:
        model: another than the tokenizer's own, such as it was early in its training.
    """
    taken = copy(tokenizer)
    taken.encode_special_tokens = True
    model = tokenizer.model if model is None else model
    return [
        _cut(model, found.text.normalized, found.text.spans[-1][0])
        for found in taken.pieces(text)
        if len(found.text)
    ]


def _cut(model: Any, word: str, place: int) -> Cut:
    try:
        tokens = tuple(token.value for token in model.steps(word).tokens)
    except CourseError:  # a character without a token, and no unknown token
        return Cut(word, place, (word,), ())
    greedy = tuple(_greedy(model, word)) if isinstance(model, BPE) else ()
    return Cut(word, place, tokens, tuple(_steps(model, word)), greedy)


def _greedy(model: BPE, word: str) -> Iterator[str]:
    """Of the pieces that BPE makes, always the longest; special tokens are text."""
    prefix, suffix = model.continuing_subword_prefix or "", model.end_of_word_suffix or ""
    made = {joined(pair, prefix) for pair in model.merges}
    start = 0
    while start < len(word):
        for end in range(len(word), start, -1):
            piece = prefix * (start > 0) + word[start:end] + suffix * (end == len(word))
            if piece in model.vocab and (end == start + 1 or piece in made):
                break
        else:
            piece, end = model.unk_token or word[start], start + 1
        yield piece
        start = end


def _steps(model: Any, word: str) -> Iterator[Step]:
    if isinstance(model, BPE):
        for step in model.steps(word).steps[1:]:
            yield step.pair or (), f"merge {(step.rank or 0) + 1}"
    elif isinstance(model, WordPiece):
        steps = model.steps(word).steps
        if not steps:
            yield (), f"none of more than {model.max_input_chars_per_word} characters is looked up"
        for number, look in enumerate(steps, 1):
            if look.found or number == len(steps):
                what = "found" if look.found else "not there"
                yield (look.piece,), f"{what} at look-up {number}"
    elif isinstance(model, Unigram):
        for name, path in zip(("best", "next"), model.nbest(word, 2), strict=False):
            score = f"{path.score:.1f}".replace("-", "−")
            yield tuple(it.value for it in path.tokens), f"{name} path, {score} nats"


def early(
    model: Any, training: Training[Any, Any], step: int, scores: Mapping[str, float] | None = None
) -> Any:
    """The model as it was after so many merges; of a unigram, with these scores."""
    if isinstance(model, BPE):
        merges = tuple(it.pair for it in training.steps[:step])
        return msgspec.structs.replace(model, merges=merges)
    if isinstance(model, WordPiece):
        first = training.trainer.first_tokens(training.word_counts)
        tokens = dict.fromkeys([*first, *(it.token for it in training.steps[:step])])
        return msgspec.structs.replace(model, vocab={it: id_ for id_, it in enumerate(tokens)})
    return training.trainer.model(scores or {})
