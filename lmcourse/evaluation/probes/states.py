"""Vectors of words from a frozen model, the inputs of probes, and their controls.

A model reads pieces, a probe classifies words. `cut` records the word of each piece, and
`hidden_states` averages the vectors of a word's pieces.

What a probe finds in these vectors need not come from the model's training. Three controls:

- the static vector: the same for each occurrence of a word (`hidden_states(…, layers=[0])` of an
  RNN or ELMo; of BERT and GPT layer 0 holds the position too);
- the averaged context (`averaged_context`): the mean of the *other* words' static vectors;
- the untrained model (`untrained`): the same architecture with random weights.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
import torch
from jaxtyping import Float
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from lmcourse.corpus.bookworld import END
from lmcourse.errors import CourseError, check_sizes
from lmcourse.evaluation.logits import check_module, device_of
from lmcourse.models.checkpoint import Model
from lmcourse.models.sampling import evaluating

Reader = Tokenizer | Mapping[str, int] | Callable[[list[str]], Tensor]
"""How words become ids: a tokenizer; each word's id (the text is enclosed in [CLS] and [SEP], or
<s> and </s>, if the mapping has them); or a function that returns an id or a row of
characters for each word."""

WordVectors = Float[np.ndarray, "_word _width"]
"""One vector for each word of a text."""

M = TypeVar("M", bound=Model)

_FRAMES = (("[CLS]", "[SEP]"), ("<s>", "</s>"))
_UNKNOWN = ("[UNK]", "<unk>")


class Pieces(NamedTuple):
    """A text as a model reads it.

    Attributes:
        ids: of the pieces, (piece,); or their characters, (piece, character).
        words: the index of each piece's word in the text; −1 for special tokens.
    """

    ids: Tensor
    words: list[int]

    def shares(self) -> Float[Tensor, "word piece"]:
        """Return the share of each piece in each word's vector; a row sums to 1."""
        count = max(self.words, default=-1) + 1
        of = torch.tensor(self.words) == torch.arange(count)[:, None]
        return of.float() / of.sum(1, keepdim=True)


def cut(words: Sequence[str], reader: Reader) -> Pieces:
    """Cut a text's words into pieces."""
    listed = list(words)
    if isinstance(words, str) or not listed:
        raise CourseError(f"A text is {words!r}.", "Pass each text as a list of one or more words.")
    if isinstance(reader, Tokenizer):
        found = _of_tokenizer(listed, reader)
    elif isinstance(reader, Mapping):
        found = _of_mapping(listed, reader)
    else:
        found = Pieces(reader(listed), list(range(len(listed))))
    lost = sorted(set(range(len(listed))) - set(found.words))
    if lost:
        raise CourseError(
            f"Word {lost[0]} of {len(listed)}, {listed[lost[0]]!r}, has no piece.",
            "Turn truncation off (no_truncation), pass shorter texts, or drop what the tokenizer "
            "removes.",
        )
    return found


def _of_tokenizer(words: list[str], tokenizer: Tokenizer) -> Pieces:
    encoding = tokenizer.encode(words, is_pretokenized=True)
    kept = [i for i, visible in enumerate(encoding.attention_mask) if visible]
    numbers = [encoding.word_ids[i] for i in kept]
    ids = torch.tensor([encoding.ids[i] for i in kept], dtype=torch.long)
    return Pieces(ids, [-1 if number is None else number for number in numbers])


def _of_mapping(words: list[str], ids: Mapping[str, int]) -> Pieces:
    unknown = next((ids[name] for name in _UNKNOWN if name in ids), None)
    missing = [word for word in words if word not in ids]
    if missing and unknown is None:
        raise CourseError(
            f"The word {missing[0]!r} has no id.", "Pass ids of all words, or one of [UNK]."
        )
    read = [ids[word] if word in ids else int(unknown or 0) for word in words]
    numbers = list(range(len(words)))
    for start, stop in _FRAMES:
        end = stop if stop in ids else END
        if start in ids and end in ids:
            return Pieces(torch.tensor([ids[start], *read, ids[end]]), [-1, *numbers, -1])
    return Pieces(torch.tensor(read), numbers)


@torch.no_grad()
def hidden_states(
    model: nn.Module,
    texts: Iterable[Sequence[str]],
    reader: Reader,
    *,
    layers: Sequence[int] | None = None,
    batch_size: int = 32,
) -> list[list[WordVectors]]:
    """Return each word's vector in each layer, without dropout: the mean over the word's pieces.

        states = hidden_states(bert, [["the", "boat", "left", "the", "bank"]], tokenizer)
        states[-1][0][4]        # the last layer, the first text, "bank"

    Args:
        model: one of the course's encoders or language models, with a head or without. It is called
            with ``input_ids`` and ``output_hidden_states``.
        texts: each a list of words.
        reader: how words become ids.
        layers: indices into the model's ``hidden_states``: 0 is the input of the first layer, −1
            the last layer. None: all of them.
        batch_size: how many texts are read at once; the vectors do not depend on it.

    Returns:
        For each layer and text an array in float32, (word, width).
    """
    check_module(model)
    check_sizes(batch_size=batch_size)
    pieces = [cut(words, reader) for words in texts]
    if not pieces:
        raise CourseError("There is no text to read.", "Pass one or more lists of words.")
    vectors: list[list[WordVectors]] = []
    # Texts of similar length are read together, and returned in their order.
    order = sorted(range(len(pieces)), key=lambda i: len(pieces[i].words))
    for start in range(0, len(order), batch_size):
        numbers = order[start : start + batch_size]
        states = _states(model, [pieces[i].ids for i in numbers])
        states = states if layers is None else tuple(states[layer] for layer in layers)
        vectors = vectors or [[np.empty((0, 0), np.float32)] * len(pieces) for _ in states]
        for layer, batch in zip(vectors, states, strict=True):
            for row, i in zip(batch, numbers, strict=True):
                own = row[: len(pieces[i].words)].float().cpu()
                layer[i] = (pieces[i].shares() @ own).numpy()
    return vectors


def _states(model: nn.Module, ids: list[Tensor]) -> tuple[Tensor, ...]:
    """The input of a model's first layer and the output of each one, (batch, time, width) each."""
    device = device_of(model)
    pad = getattr(getattr(model, "config", None), "pad_token_id", None) or 0
    batch = pad_sequence(ids, batch_first=True, padding_value=pad).to(device)
    lengths = torch.tensor([len(each) for each in ids])
    mask = (torch.arange(batch.shape[1]) < lengths[:, None]).long().to(device)
    padding = {} if mask.all() else {"attention_mask": mask}
    with evaluating(model):
        result = model(input_ids=batch, output_hidden_states=True, **padding)
    states = getattr(result, "hidden_states", None)
    if not states:
        raise CourseError(
            f"{type(model).__name__} returns no hidden_states.",
            "Pass an encoder or a language model of the course, such as Bert, GPT or ElmoModel.",
        )
    return tuple(states)


def averaged_context(static: Iterable[WordVectors]) -> list[WordVectors]:
    """Return for each word the mean of the other words' vectors in its text.

    The only word of a text has no context, and gets zeros.

    Args:
        static: of each text its words' vectors, such as word2vec's. Shape (word, width).
    """
    return [(text.sum(0) - text) / max(len(text) - 1, 1) for text in map(np.asarray, static)]


def untrained(model: M, *, keep: Sequence[str] = (), seed: int = 0) -> M:
    """Return a model of the same configuration with random weights, except for ``keep``.

    Random layers also mix a word with its context, and a probe can use that. With
    ``keep=["embeddings.word"]`` the mixing is random and the words' vectors are the trained ones.

    Args:
        keep: prefixes of the names of parameters that are copied.
        seed: of the random weights; the global generator is left as it was.
    """
    trained = model.state_dict()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        fresh = type(model)(model.config)
    kept = {name: it for name, it in trained.items() if name.startswith(tuple(keep))}
    fresh.load_state_dict(fresh.state_dict() | kept)
    device: Any = device_of(model)
    return fresh.to(device)
