"""WordPiece: cut a word from left to right, always at the longest piece that is known.

The greedy longest match of BERT (Devlin et al. 2019) and of Wu et al. 2016, section 4.1. How the
pieces are learned is another matter: see ``trainers.WordPieceTrainer``.
"""

from dataclasses import dataclass
from functools import cached_property

from msgspec import field

from lmcourse.errors import CourseError
from lmcourse.tokenizers.component import Count, Token
from lmcourse.tokenizers.models.word_model import Steps, WordModel, tokens_by_id
from lmcourse.tokenizers.text.normalized_string import Span


@dataclass(frozen=True)
class Lookup:
    """A piece that was looked up.

    Attributes:
        piece: what was looked up, with the prefix if it does not start the word.
        span: the characters of the word that it stands for.
        found: whether it is in the vocabulary. If so, the next one starts where it ends.
    """

    piece: str
    span: Span
    found: bool


class WordPiece(WordModel, frozen=True):
    """Greedy longest match first.

    Args:
        unk_token: the token of a word that cannot be cut into known pieces. It must be in the
            vocabulary.
        continuing_subword_prefix: stands before every piece but a word's first.
        max_input_chars_per_word: a word of more characters is unknown.
        vocab: each token's id. Empty: the model is not trained yet.
    """

    unk_token: str = "[UNK]"
    continuing_subword_prefix: str = "##"
    max_input_chars_per_word: Count = 100
    vocab: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        tokens_by_id(self.vocab)
        if self.vocab and self.unk_token not in self.vocab:
            raise CourseError(
                f"The unknown token {self.unk_token!r} is not in WordPiece's vocabulary.",
                "Add it (a trainer takes it among its special_tokens), or name the one that is "
                "there with unk_token.",
            )

    @property
    def ids(self) -> dict[str, int]:
        """Each token's id."""
        return self.vocab

    @cached_property
    def tokens(self) -> dict[int, str]:
        """Each id's token."""
        return tokens_by_id(self.vocab)

    def steps(self, word: str) -> Steps[Lookup]:
        """Every piece that is looked up, until the word is cut or a place has no known piece.

        A word of too many characters is not looked up at all.

        Raises:
            CourseError: the model is not trained yet.
        """
        tokens = self.tokenize(word)
        steps: list[Lookup] = []
        start = 0
        while start < len(word) <= self.max_input_chars_per_word:
            for end in range(len(word), start, -1):
                piece = self._piece(word, start, end)
                steps.append(Lookup(piece, (start, end), piece in self.vocab))
                if steps[-1].found:
                    break
            if not steps[-1].found:
                break
            start = end
        return Steps(word, tuple(steps), tuple(tokens))

    def tokenize(self, word: str) -> list[Token]:
        """The tokens of a word, from left to right; the unknown token if it cannot be cut.

        These are the pieces that ``steps`` finds, found faster: none is looked up that is longer
        than any in the vocabulary.

        Raises:
            CourseError: the model is not trained yet.
        """
        return self._kept(word, self._cut)

    def _cut(self, word: str) -> list[Token]:
        if not self.vocab:
            raise CourseError(
                "This WordPiece model has no vocabulary yet.",
                "Train it, or give it a vocabulary with the unknown token.",
            )
        if len(word) > self.max_input_chars_per_word:
            return self._unknown(word)
        tokens: list[Token] = []
        start = 0
        while start < len(word):
            token = self._longest(word, start)
            if token is None:
                return self._unknown(word)
            tokens.append(token)
            start = token.offsets[1]
        return tokens

    def _longest(self, word: str, start: int) -> Token | None:
        for end in range(min(len(word), start + self._reach), start, -1):
            piece = self._piece(word, start, end)
            if piece in self.vocab:
                return Token(self.vocab[piece], piece, (start, end))
        return None

    def _piece(self, word: str, start: int, end: int) -> str:
        return self.continuing_subword_prefix * (start > 0) + word[start:end]

    def _unknown(self, word: str) -> list[Token]:
        return [Token(self.vocab[self.unk_token], self.unk_token, (0, len(word)))]

    @cached_property
    def _reach(self) -> int:
        """The length of the longest token, in characters."""
        return max(map(len, self.vocab), default=0)
