"""Word vectors from characters, computed by a convolution (chapter 07).

Kim et al. (2015, "Character-aware neural language models", eq. 5 and 6). A filter of width w is
applied to every w adjacent characters, and its maximum is kept:

    y_f = max_i g(⟨F_f, C[i : i + w]⟩ + b_f)        C: the embeddings of the word's characters

The outputs of filters of several widths are concatenated, followed by highway layers and a
projection (Jozefowicz et al. 2016). No word is out of vocabulary.

Characters are UTF-8 bytes between a begin and an end mark, padded to a fixed length. As in the
published models, the padding character has an embedding and is part of the maximum, so all words
must have the same length.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional

from lmcourse.errors import CourseError
from lmcourse.models.activations import activation_of
from lmcourse.models.highway import Highway
from lmcourse.models.inputs import check_ids

NO_WORD = 0
"""Padding after the last word; the ids of bytes start at 1."""
BEGIN_SENTENCE, END_SENTENCE, BEGIN_WORD, END_WORD, PADDING = range(257, 262)
CHARACTERS = 262

BEGIN, END = "<S>", "</S>"
"""The begin and end marks of a sentence, one special character each."""

PUBLISHED_FILTERS = ((1, 32), (2, 32), (3, 64), (4, 128), (5, 256), (6, 512), (7, 1024))


@dataclass(frozen=True)
class CharacterCNNConfig:
    """The sizes.

    Attributes:
        embedding_size: width of a character's embedding.
        filters: (width, number of filters) pairs.
        num_highway_layers: number of highway layers after the filters.
        max_characters: length of a word with its two marks; at least 3.
        activation: g, one of `lmcourse.models.activations`: ELMo has ``relu``, Kim et al. ``tanh``.
    """

    embedding_size: int = 16
    filters: tuple[tuple[int, int], ...] = PUBLISHED_FILTERS
    num_highway_layers: int = 2
    max_characters: int = 50
    activation: str = "relu"

    def __post_init__(self) -> None:
        # Tuples, so that a loaded configuration is equal.
        object.__setattr__(self, "filters", tuple(tuple(one) for one in self.filters))


class CharacterCNN(nn.Module):
    """Characters → filters → highway → projection.

    Args:
        config: the sizes.
        output_size: width of a word's vector.
    """

    def __init__(self, config: CharacterCNNConfig, output_size: int) -> None:
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(CHARACTERS, config.embedding_size)
        self.convolutions = nn.ModuleList(
            nn.Conv1d(config.embedding_size, count, width) for width, count in config.filters
        )
        width = sum(count for _, count in config.filters)
        self.highway = nn.ModuleList(Highway(width) for _ in range(config.num_highway_layers))
        self.projection = nn.Linear(width, output_size)
        self.activation = activation_of(config.activation)

    def forward(
        self, input_ids: Int[Tensor, "batch time character"]
    ) -> Float[Tensor, "batch time width"]:
        """Return a vector for each word, independent of its context."""
        check_ids(input_ids.flatten(1), CHARACTERS)
        batch, time, _ = input_ids.shape
        if input_ids.is_meta:  # no values to compare
            return self._words(input_ids.flatten(0, 1)).unflatten(0, (batch, time))
        # Repeated words are computed once. Not all devices support unique rows, so use the CPU.
        rows = input_ids.flatten(0, 1).cpu()
        different, inverse = rows.unique(dim=0, return_inverse=True)
        words = self._words(different.to(input_ids.device))
        return functional.embedding(inverse.view(batch, time).to(input_ids.device), words)

    def _words(self, spelled: Int[Tensor, "word character"]) -> Float[Tensor, "word width"]:
        """Return the vectors of words."""
        C = self.embedding(spelled).mT  # [word, embedding, character]
        maxima = [self.activation(filters(C)).amax(-1) for filters in self.convolutions]
        words = torch.cat(maxima, dim=-1)  # [word, filter]
        for layer in self.highway:
            words = layer(words)
        return self.projection(words)


def character_ids(
    sentences: Sequence[Sequence[str]], max_characters: int = 50
) -> Int[Tensor, "batch time character"]:
    """Return the character ids of each word, numbered as in ELMo's published models.

    Args:
        sentences: lists of words, padded on the right with ``NO_WORD``. The words ``BEGIN`` and
            ``END`` are the marks of a sentence.
        max_characters: length of a word; longer words are truncated.
    """
    time = max((len(sentence) for sentence in sentences), default=0)
    if not time:
        raise CourseError(
            f"The {len(sentences)} sentences hold no words.", "Give at least one word."
        )
    nothing = [NO_WORD] * max_characters
    return torch.tensor(
        [
            [_spelled(word, max_characters) for word in sentence]
            + [nothing] * (time - len(sentence))
            for sentence in sentences
        ]
    )


def _spelled(word: str, length: int) -> list[int]:
    """The ids of one word: mark, characters, mark, padding."""
    if word in (BEGIN, END):
        characters = [BEGIN_SENTENCE if word == BEGIN else END_SENTENCE]
    else:
        encoded = word.encode(errors="surrogatepass")
        characters = [byte + 1 for byte in encoded[: length - 2]]
    spelled = [BEGIN_WORD, *characters, END_WORD]
    return spelled + [PADDING] * (length - len(spelled))
