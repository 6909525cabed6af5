"""A vocabulary: the tokens that a model knows, and their ids."""

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property

import torch
from jaxtyping import Int
from torch import Tensor

from lmcourse.errors import CourseError


class Vocabulary:
    """Tokens (characters, words, …) and their ids, 0 … V-1.

    Args:
        tokens: the known tokens in the order of their ids.
        unknown: the token that represents every other one; it must be among ``tokens``. None:
            encoding a token that is not known is an error.
    """

    def __init__(self, tokens: Iterable[str], unknown: str | None = "<unk>") -> None:
        self.tokens = list(tokens)
        self.unknown = unknown
        twice = [token for token, count in Counter(self.tokens).items() if count > 1]
        if twice:
            raise CourseError(
                f"The vocabulary lists {twice[0]!r} more than once.",
                "Give each token once: its index in the list is its id.",
            )
        if unknown is not None and unknown not in self.ids:
            raise CourseError(
                f"The unknown token {unknown!r} is not in the vocabulary.",
                "Add it to the tokens, or pass unknown=None if every token is known.",
            )

    @classmethod
    def of(
        cls, tokens: Iterable[str], minimum_count: int = 1, unknown: str | None = "<unk>"
    ) -> "Vocabulary":
        """The vocabulary of a text: its tokens by decreasing frequency, ties in alphabetical order.

        Args:
            tokens: the text, token after token. A string is the text of its characters.
            minimum_count: a token that occurs less often becomes ``unknown``.
        """
        counts = Counter(tokens)
        kept = sorted(
            (token for token, count in counts.items() if count >= minimum_count),
            key=lambda token: (-counts[token], token),
        )
        if unknown is not None:
            kept = [unknown, *(token for token in kept if token != unknown)]
        return cls(kept, unknown)

    @cached_property
    def ids(self) -> dict[str, int]:
        """Each token's id."""
        return {token: id_ for id_, token in enumerate(self.tokens)}

    def __len__(self) -> int:
        return len(self.tokens)

    def __contains__(self, token: str) -> bool:
        return token in self.ids

    def encode(self, tokens: Iterable[str]) -> Int[Tensor, " tokens"]:
        """The ids of a text, int64.

        Raises:
            CourseError: a token is not known and there is no unknown token.
        """
        other = None if self.unknown is None else self.ids[self.unknown]
        try:
            found = [
                self.ids[token] if other is None else self.ids.get(token, other) for token in tokens
            ]
        except KeyError as error:
            raise CourseError(
                f"The token {error.args[0]!r} is not in the vocabulary.",
                "Build the vocabulary with an unknown token, or from a text that has this token.",
            ) from None
        return torch.tensor(found, dtype=torch.long)

    def decode(self, ids: Sequence[int] | Int[Tensor, " tokens"]) -> list[str]:
        """The tokens of some ids.

        Raises:
            CourseError: an id is not one of the vocabulary.
        """
        known = ids.tolist() if isinstance(ids, Tensor) else list(ids)
        wrong = [id_ for id_ in known if not 0 <= id_ < len(self)]
        if wrong:
            raise CourseError(
                f"The id {wrong[0]} is not in the vocabulary, which has {len(self)} tokens.",
                "Decode with the vocabulary that encoded the text.",
            )
        return [self.tokens[id_] for id_ in known]
