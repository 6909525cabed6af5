"""Vectors of words from a frozen model: what probes look at, and what they are held against.

A model reads pieces, a probe asks about words. `cut` keeps which word each piece is of, and
`hidden_states` makes one vector of a word's pieces: their mean, or the first or last of them.

What a probe finds in these vectors need not come from the model's training. Three controls tell:

- the static vector: the same for each occurrence of a word (`hidden_states(…, layers=[0])` of an
  RNN or ELMo; of BERT and GPT layer 0 holds the position too);
- the averaged context (`averaged_context`): the mean of the *other* words' static vectors;
- the untrained model (`untrained`): the same architecture with random weights.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeVar, get_args

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from lmcourse.corpus.bookworld import END
from lmcourse.errors import CourseError
from lmcourse.evaluation.logits import check_module
from lmcourse.models.checkpoint import Model
from lmcourse.models.sampling import evaluating
from lmcourse.tokenizers.tokenizer import Tokenizer

Reader = Tokenizer | Mapping[str, int] | Callable[[list[str]], Tensor]
"""How words become ids: a tokenizer; of each word its id (framed by [CLS] and [SEP], or <s> and
</s>, if it has them); or a function that gives one id, or one row of characters, for each word."""

WordVectors = Float[np.ndarray, "_word _width"]
"""One vector for each word of a text."""

Pooling = Literal["mean", "first", "last"]
M = TypeVar("M", bound=Model)

_FRAMES = (("[CLS]", "[SEP]"), ("<s>", "</s>"))
_UNKNOWN = ("[UNK]", "<unk>")


class Pieces(NamedTuple):
    """A text as a model reads it.

    Attributes:
        ids: one a piece, (piece,); or its characters, (piece, character).
        words: of each piece, which of the text's words it is of; −1 for special tokens.
    """

    ids: Tensor
    words: list[int]

    def shares(self, pooling: Pooling = "mean") -> Float[Tensor, "word piece"]:
        """What share each piece has in each word's vector; a row sums to 1."""
        count = max(self.words, default=-1) + 1
        of = torch.tensor(self.words) == torch.arange(count)[:, None]
        place = torch.arange(len(self.words))
        if pooling == "first":
            of &= place == of.int().argmax(1, keepdim=True)
        elif pooling == "last":
            of &= place == (of * place).argmax(1, keepdim=True)
        return of.float() / of.sum(1, keepdim=True)


def cut(words: Sequence[str], reader: Reader) -> Pieces:
    """A text's words as pieces.

    Raises:
        CourseError: there is no word; one is not known, or nothing is left of it; a function gives
            something else than one row for each word.
    """
    listed = list(words)
    if isinstance(words, str) or not listed:
        raise CourseError(
            f"A text is {words!r}.", "Pass each text as the list of its words, one or more of them."
        )
    if isinstance(reader, Tokenizer):
        found = _of_tokenizer(listed, reader)
    elif isinstance(reader, Mapping):
        found = _of_mapping(listed, reader)
    else:
        ids = reader(listed)
        if not isinstance(ids, Tensor) or len(ids) != len(listed):
            shape = tuple(ids.shape) if isinstance(ids, Tensor) else type(ids).__name__
            raise CourseError(
                f"The function made {shape} of {len(listed)} words.",
                "Return a tensor with one id, or one row of characters, for each word.",
            )
        found = Pieces(ids, list(range(len(listed))))
    lost = sorted(set(range(len(listed))) - set(found.words))
    if lost:
        raise CourseError(
            f"Nothing is left of word {lost[0]}, {listed[lost[0]]!r}, of a text of {len(listed)}.",
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
    pooling: Pooling = "mean",
    batch_size: int = 32,
) -> list[list[WordVectors]]:
    """Each word's vector in each layer, without dropout.

        states = hidden_states(bert, [["the", "boat", "left", "the", "bank"]], tokenizer)
        states[-1][0][4]        # the last layer, the first text, "bank"

    Args:
        model: one of the course's: BERT and its kin, GPT, ELMo, a recurrent language model; with a
            head or without. It is called with ``input_ids`` and ``output_hidden_states``.
        texts: each a list of words.
        reader: how words become ids.
        layers: which ones, as numbers into the model's ``hidden_states``: 0 is what goes into the
            first layer, −1 the last. None: all of them.
        pooling: a word's vector is the ``mean`` of its pieces', or that of the ``first`` or
            ``last`` one (which alone has seen the whole word in a model that reads from the left).
        batch_size: how many texts are read at once; the vectors do not depend on it.

    Returns:
        For each layer and text an array in float32.

    Raises:
        CourseError: the model gives no hidden states or not those layers; there is no text; one
            cannot be read.
    """
    if pooling not in get_args(Pooling):
        raise CourseError(
            f"pooling={pooling!r} is no choice.", f"Give one of {', '.join(get_args(Pooling))}."
        )
    check_module(model)
    if batch_size < 1:
        raise CourseError(f"batch_size is {batch_size}.", "Give 1 or more.")
    read = [cut(words, reader) for words in texts]
    if not read:
        raise CourseError("There is no text to read.", "Pass one or more lists of words.")
    found: list[list[WordVectors]] = []
    # Texts of about one length are read together, and put back in order.
    order = sorted(range(len(read)), key=lambda i: len(read[i].words))
    for start in range(0, len(order), batch_size):
        numbers = order[start : start + batch_size]
        states = _chosen(_states(model, [read[i].ids for i in numbers]), layers)
        found = found or [[np.empty((0, 0), np.float32)] * len(read) for _ in states]
        for layer, whole in zip(found, states, strict=True):
            for row, i in zip(whole, numbers, strict=True):
                own = row[: len(read[i].words)].float().cpu()
                layer[i] = (read[i].shares(pooling) @ own).numpy()
    return found


def _states(model: nn.Module, ids: list[Tensor]) -> tuple[Tensor, ...]:
    """What went into a model's first layer, and what each one gave, (batch, time, width) each."""
    device = next((each.device for each in model.parameters()), None)
    filling = getattr(getattr(model, "config", None), "pad_token_id", None) or 0
    batch = pad_sequence(ids, batch_first=True, padding_value=filling).to(device)
    lengths = torch.tensor([len(each) for each in ids])
    mask = (torch.arange(batch.shape[1]) < lengths[:, None]).long().to(device)
    padding = {} if mask.all() else {"attention_mask": mask}
    with evaluating(model):
        result = model(input_ids=batch, output_hidden_states=True, **padding)
    states = getattr(result, "hidden_states", None)
    if not states:
        raise CourseError(
            f"{type(model).__name__} gives no hidden_states.",
            "Pass an encoder or a language model of the course, such as Bert, GPT or ElmoModel.",
        )
    return tuple(states)


def _chosen(states: tuple[Tensor, ...], layers: Sequence[int] | None) -> list[Tensor]:
    count = len(states)
    for layer in layers or ():
        if not -count <= layer < count:
            raise CourseError(
                f"Layer {layer} is not there: the model gives {count}.",
                f"Give numbers from 0 (what goes into the first layer) to {count - 1}.",
            )
    return [states[layer] for layer in (range(count) if layers is None else layers)]


def averaged_context(
    static: Iterable[WordVectors],
) -> list[WordVectors]:
    """Of each word the mean of the other words' vectors in its text: context without a model.

    A word that stands alone has no context, and gets zeros.

    Args:
        static: of each text its words' vectors, such as word2vec's.
    """
    return [(text.sum(0) - text) / max(len(text) - 1, 1) for text in map(np.asarray, static)]


def untrained(model: M, *, keep: Sequence[str] = (), seed: int = 0) -> M:
    """A model of the same configuration with random weights, all but some of them.

    Random layers mix a word with its context too, and a probe reads that. With
    ``keep=["embeddings.word"]`` the mixing is random and the words' vectors are the trained ones.

    Args:
        keep: how the names of those parameters begin that are taken over.
        seed: what the weights are drawn with; the global generator is left as it was.

    Raises:
        CourseError: no parameter's name begins so.
    """
    trained = model.state_dict()
    for start in keep:
        if not any(name.startswith(start) for name in trained):
            raise CourseError(
                f"{type(model).__name__} has no parameter that begins with {start!r}.",
                f"Its first ones are {', '.join(list(trained)[:3])}; see model.state_dict().",
            )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        fresh = type(model)(model.config)
    kept = {name: it for name, it in trained.items() if name.startswith(tuple(keep))}
    fresh.load_state_dict(fresh.state_dict() | kept)
    device: Any = next((each.device for each in model.parameters()), None)
    return fresh.to(device)
