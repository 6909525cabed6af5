"""A word's vector from its characters, by a convolution (chapter 07).

Kim et al. (2015, "Character-aware neural language models", eq. 5 and 6). A filter of width w looks
at w characters at a time, slides over the word, and keeps the place where it fits best:

    y_f = max_i g(⟨F_f, C[i : i + w]⟩ + b_f)        C: the embeddings of the word's characters

Filters of several widths stand side by side; highway layers and a projection follow (Jozefowicz et
al. 2016). No word is unknown: every one has characters.

Characters are the bytes of UTF-8, between a mark of the word's beginning and one of its end, filled
up to a fixed length with a padding character. As in the published models that one is a character
like any other: it has an embedding, and the maximum goes over its places too. So all words must be
filled up to the same length, and the network refuses any other.
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
from lmcourse.models.inputs import check_ids, check_settings

NO_WORD = 0
"""Fills the places of a batch that hold no word; every id below is one more than the byte."""
BEGIN_SENTENCE, END_SENTENCE, BEGIN_WORD, END_WORD, PADDING = range(257, 262)
CHARACTERS = 262

BEGIN, END = "<S>", "</S>"
"""The words that mark a sentence's beginning and end: one character of their own each."""

PUBLISHED_FILTERS = ((1, 32), (2, 32), (3, 64), (4, 128), (5, 256), (6, 512), (7, 1024))


@dataclass(frozen=True)
class CharacterCNNConfig:
    """The sizes.

    Attributes:
        embedding_size: width of a character's embedding.
        filters: (width, how many) of each kind.
        num_highway_layers: how many stand behind the filters; 0: none.
        max_characters: how many places each word has, the two marks included; at least 3.
        activation: g, one of `lmcourse.models.activations`: ELMo has ``relu``, Kim et al. ``tanh``.
    """

    embedding_size: int = 16
    filters: tuple[tuple[int, int], ...] = PUBLISHED_FILTERS
    num_highway_layers: int = 2
    max_characters: int = 50
    activation: str = "relu"

    def __post_init__(self) -> None:
        check_settings(self, ("embedding_size", "max_characters"))
        _check_places(self.max_characters)
        if not isinstance(self.num_highway_layers, int) or self.num_highway_layers < 0:
            raise CourseError(
                f"num_highway_layers is {self.num_highway_layers}.",
                "Give 0, for none, or a number.",
            )
        if not isinstance(self.filters, Sequence) or not all(map(_is_filter, self.filters)):
            raise CourseError(
                f"Filters {self.filters} are not pairs of a width and a number.",
                "Give a pair of whole numbers for each kind, at least 1 each: ((1, 32), (2, 32)).",
            )
        # Tuples, as they come back from a file: else a loaded configuration would not be equal.
        object.__setattr__(self, "filters", tuple(tuple(one) for one in self.filters))
        if not self.filters or max(width for width, _ in self.filters) > self.max_characters:
            raise CourseError(
                f"Filters {self.filters} do not fit words of {self.max_characters} characters.",
                "Give at least one filter, none wider than max_characters.",
            )
        activation_of(self.activation)


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
        """A vector for each word, the same wherever the word stands.

        Raises:
            CourseError: the ids do not fit.
        """
        self._check(input_ids)
        batch, time, _ = input_ids.shape
        if input_ids.is_meta:  # has no numbers to compare
            return self._words(input_ids.flatten(0, 1)).unflatten(0, (batch, time))
        # A text repeats its words, so each is computed once. (Which are the same is found on the
        # CPU: not all devices can tell rows apart.)
        rows = input_ids.flatten(0, 1).cpu()
        different, places = rows.unique(dim=0, return_inverse=True)
        words = self._words(different.to(input_ids.device))
        return functional.embedding(places.view(batch, time).to(input_ids.device), words)

    def _words(self, spelled: Int[Tensor, "word character"]) -> Float[Tensor, "word width"]:
        """The vectors of words, each computed by itself."""
        C = self.embedding(spelled).mT  # (word, embedding, character)
        best = [self.activation(filters(C)).amax(-1) for filters in self.convolutions]
        words = torch.cat(best, dim=-1)
        for layer in self.highway:
            words = layer(words)
        return self.projection(words)

    def _check(self, input_ids: Tensor) -> None:
        places = self.config.max_characters
        if input_ids.ndim != 3 or not input_ids.numel() or input_ids.shape[2] != places:
            raise CourseError(
                f"input_ids has shape {tuple(input_ids.shape)}.",
                f"Give the characters of each word, (batch, time, {places}); "
                f"`character_ids(sentences, {places})` makes them.",
            )
        check_ids(input_ids.flatten(1), CHARACTERS)


def character_ids(
    sentences: Sequence[Sequence[str]], max_characters: int = 50
) -> Int[Tensor, "batch time character"]:
    """The characters of each word, as ELMo's published models number them.

    Args:
        sentences: lists of words; the shorter ones are filled up on the right with ``NO_WORD``.
            The words ``BEGIN`` and ``END`` are the marks of a sentence.
        max_characters: how many places a word gets. Bytes that find none are left out.

    Raises:
        CourseError: there is no word, or not even room for one character.
    """
    _check_places(max_characters)
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


def _spelled(word: str, places: int) -> list[int]:
    """One word: mark, characters, mark, padding."""
    if word in (BEGIN, END):
        characters = [BEGIN_SENTENCE if word == BEGIN else END_SENTENCE]
    else:
        encoded = word.encode(errors="surrogatepass")
        characters = [byte + 1 for byte in encoded[: places - 2]]
    spelled = [BEGIN_WORD, *characters, END_WORD]
    return spelled + [PADDING] * (places - len(spelled))


def _check_places(max_characters: int) -> None:
    if max_characters < 3:
        raise CourseError(
            f"max_characters is {max_characters}.",
            "Give at least three places: one character and the two marks.",
        )


def _is_filter(one: object) -> bool:
    """Whether it is a pair of whole numbers above zero."""
    if not isinstance(one, tuple | list) or len(one) != 2:
        return False
    return all(isinstance(number, int) and number > 0 for number in one)
