"""WordPiece: segment a word from left to right, always with the longest piece that is known.

The greedy longest match of BERT (Devlin et al. 2019) and of Wu et al. 2016, section 4.1. How the
pieces are learned is another matter: see ``trainers.WordPieceTrainer``.
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from lmcourse.tokenizers.models.word_model import Span, Steps, Token, WordModel

if TYPE_CHECKING:
    from tokenizers import models


@dataclass(frozen=True)
class Lookup:
    """A piece that was looked up.

    Attributes:
        piece: the piece, with the prefix if it does not begin the word.
        span: the characters of the word that it covers.
        found: whether it is in the vocabulary. If so, the next piece starts where it ends.
    """

    piece: str
    span: Span
    found: bool


@dataclass(frozen=True, repr=False)
class WordPiece(WordModel):
    """Greedy longest match first.

    Args:
        unk_token: the token of a word that cannot be segmented into known pieces. It must be in
            the vocabulary.
        continuing_subword_prefix: precedes every piece except a word's first.
        max_input_chars_per_word: a word of more characters is unknown.
        vocab: each token's id.
    """

    unk_token: str = "[UNK]"
    continuing_subword_prefix: str = "##"
    max_input_chars_per_word: int = 100
    vocab: dict[str, int] = field(default_factory=dict)

    @property
    def ids(self) -> dict[str, int]:
        """Each token's id."""
        return self.vocab

    @cached_property
    def tokens(self) -> dict[int, str]:
        """Each id's token."""
        return {id_: token for token, id_ in self.vocab.items()}

    def steps(self, word: str) -> Steps[Lookup]:
        """Every piece that is looked up, until the word ends or no piece matches.

        A word of too many characters is not looked up at all.
        """
        unknown = Token(self.vocab[self.unk_token], self.unk_token, (0, len(word)))
        steps: list[Lookup] = []
        tokens: list[Token] = []
        start = 0
        while start < len(word) <= self.max_input_chars_per_word:
            for end in range(len(word), start, -1):
                piece = self.continuing_subword_prefix * (start > 0) + word[start:end]
                steps.append(Lookup(piece, (start, end), piece in self.vocab))
                if steps[-1].found:
                    tokens.append(Token(self.vocab[piece], piece, (start, end)))
                    start = end
                    break
            else:
                break
        return Steps(word, tuple(steps), tuple(tokens) if start == len(word) else (unknown,))

    def tokenize(self, word: str) -> list[Token]:
        """The tokens of a word, from left to right; the unknown token if it cannot be segmented."""
        return list(self.steps(word).tokens)

    def to_library(self) -> "models.WordPiece":
        """The same model of the ``tokenizers`` library."""
        from tokenizers import models

        return models.WordPiece(
            self.vocab,
            unk_token=self.unk_token,
            max_input_chars_per_word=self.max_input_chars_per_word,
            continuing_subword_prefix=self.continuing_subword_prefix,
        )
