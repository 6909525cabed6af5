"""The way of a text through the parts of a tokenizer, and back.

    text → added tokens → normalizer → pre-tokenizer → model → tokens and ids
    ids → tokens → decoder → text

Here are the parts, the added tokens and the settings of lengths. ``Tokenizer`` adds what texts need
besides: pairs and batches, training and files.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from random import Random
from typing import Any

from lmcourse.tokenizers.added_tokens import AddedToken, AddedVocabulary, Found
from lmcourse.tokenizers.batch import checked_ids, listed, several
from lmcourse.tokenizers.component import Token, checked
from lmcourse.tokenizers.decoders import Decoder
from lmcourse.tokenizers.encoding import Encoding
from lmcourse.tokenizers.files import AnyModel
from lmcourse.tokenizers.models.bpe import BPE
from lmcourse.tokenizers.padding import Padding, Truncation, check_stride, room_beside
from lmcourse.tokenizers.processors import Processor
from lmcourse.tokenizers.text.normalized_string import NormalizedString, checked_text
from lmcourse.tokenizers.text.normalizers import Normalizer
from lmcourse.tokenizers.text.pre_tokenizers import PreTokenizer


def corpus(texts: Iterable[str]) -> Iterator[str]:
    """The texts of a corpus, each checked as it comes.

    Raises:
        CourseError: they are one text or counted words, or an entry is no text.
    """
    remedy = "Put a single text into a list: [text]. Counted words go into a trainer's train."
    return map(checked_text, several(texts, "A corpus is a list of texts", remedy))


class Pipeline:
    """The parts of a tokenizer. Each but the model may be missing (None).

    Attributes:
        model: cuts words into tokens.
        normalizer: changes the text before: lower case, accents, normal forms.
        pre_tokenizer: cuts it into words.
        post_processor: adds special tokens.
        decoder: makes a text of tokens again. Without one, they are joined by spaces.
        encode_special_tokens: read special tokens in a text as text (they are not to be trusted
            there, if a user wrote it).
        generator: where BPE's dropout draws from. None: every call draws anew.
    """

    def __init__(
        self,
        model: AnyModel,
        normalizer: Normalizer | None = None,
        pre_tokenizer: PreTokenizer | None = None,
        post_processor: Processor | None = None,
        decoder: Decoder | None = None,
    ) -> None:
        self.model = checked(model, AnyModel, "model of a tokenizer")
        self.normalizer = checked(normalizer, Normalizer | None, "normalizer of a tokenizer")
        self.pre_tokenizer = checked(
            pre_tokenizer, PreTokenizer | None, "pre_tokenizer of a tokenizer"
        )
        self.post_processor = checked(
            post_processor, Processor | None, "post_processor of a tokenizer"
        )
        self.decoder = checked(decoder, Decoder | None, "decoder of a tokenizer")
        self.encode_special_tokens = False
        self.generator: Random | None = None
        self._added = AddedVocabulary()
        self._truncation: Truncation | None = None
        self._padding: Padding | None = None

    def __repr__(self) -> str:
        parts = ("normalizer", "pre_tokenizer", "post_processor", "decoder")
        found = [f"{name}={type(part).__name__}" for name in parts if (part := getattr(self, name))]
        kind = f"{type(self.model).__name__} of {self.get_vocab_size()} tokens"
        return f"{type(self).__name__}({', '.join([kind, *found])})"

    def encode_words(self, words: Sequence[str], type_id: int) -> Encoding:
        """The tokens of a text that is given as the list of its words."""
        listed_words = several(
            words,
            "With is_pretokenized, a text is the list of its words",
            "Pass text.split(), or leave is_pretokenized out.",
        )
        return Encoding.merge(
            self.encode_text(word, type_id, place) for place, word in enumerate(listed_words)
        )

    def encode_text(self, text: str, type_id: int, word_id: int | None = None) -> Encoding:
        """The tokens of one text, without special tokens. Each piece of the text is a word."""
        remedy = "Pass one string; for a list of texts there is encode_batch."
        pieces = self.pieces(checked_text(text, remedy))
        return Encoding.of(
            (
                (piece, token, place if word_id is None else word_id)
                for place, (piece, added) in enumerate(pieces)
                for token in self._tokens(piece, added)
            ),
            type_id,
        )

    def _tokens(self, piece: NormalizedString, added: int | None) -> list[Token]:
        if added is not None:
            return [Token(added, piece.normalized, (0, len(piece)))]
        if self.generator and isinstance(self.model, BPE):
            return self.model.tokenize(piece.normalized, self.generator)
        return self.model.tokenize(piece.normalized)

    def pieces(self, text: str) -> list[Found]:
        """The pieces that the model gets, and added tokens, in the order of the text."""
        pieces: list[Found] = []
        for found in self._added.extract(text, self.normalizer, self.encode_special_tokens):
            if found.id is None and self.pre_tokenizer:
                words = self.pre_tokenizer.pre_tokenize([found.text])
                pieces += [Found(word, None) for word in words]
            else:
                pieces.append(found)
        return pieces

    def count_words(self, texts: Iterable[str]) -> Counter[str]:
        """How often the model would get each word of a corpus. An added token is one word.

        Raises:
            CourseError: the corpus is no list of texts.
        """
        counts: Counter[str] = Counter()
        for text in corpus(texts):
            counts.update(piece.normalized for piece, _ in self.pieces(text))
        return counts

    def decode(self, ids: Iterable[int], skip_special_tokens: bool = True) -> str:
        """The text that some ids stand for. Ids that are not in the vocabulary are left out.

        Raises:
            CourseError: the ids are no list, or one is no whole number from 0 on.
        """
        special = self._added.special if skip_special_tokens else set()
        found = map(self.id_to_token, checked_ids(ids))
        tokens = [token for token in found if token is not None and token not in special]
        return self.decoder.decode(tokens) if self.decoder else " ".join(tokens)

    def decode_batch(
        self, sequences: Iterable[Iterable[int]], skip_special_tokens: bool = True
    ) -> list[str]:
        """The texts that several lists of ids stand for."""
        texts = several(listed(sequences), "A batch is a list of lists of ids", "Pass [ids].")
        return [self.decode(ids, skip_special_tokens) for ids in texts]

    def token_to_id(self, token: str) -> int | None:
        """A token's id; None if it is not known."""
        return self._added.ids.get(token, self.model.ids.get(token))

    def id_to_token(self, id: int) -> str | None:
        """An id's token; None if there is none."""
        added = self._added.written(id, self.normalizer)
        return self.model.tokens.get(id) if added is None else added

    def get_vocab(self, with_added_tokens: bool = True) -> dict[str, int]:
        """Each token's id."""
        return {**self.model.ids, **(self._added.ids if with_added_tokens else {})}

    def get_vocab_size(self, with_added_tokens: bool = True) -> int:
        """How many tokens there are."""
        return len(self.get_vocab(with_added_tokens))

    def add_tokens(self, tokens: Iterable[str | AddedToken]) -> int:
        """Add tokens that are found before anything else; how many were new or changed."""
        return self._added.add(tokens, special=False, model=self.model)

    def add_special_tokens(self, tokens: Iterable[str | AddedToken]) -> int:
        """The same for special tokens, which decoding leaves out."""
        return self._added.add(tokens, special=True, model=self.model)

    def plain(self) -> dict[str, Any]:
        """The tokenizer as plain lists and strings: see ``plain.plain``."""
        from lmcourse.tokenizers.plain import plain  # which knows every model

        return plain(self)

    def told(self, text: str, model: Any = None) -> list[Any]:
        """The words of a text and how each is cut, step by step: see ``told.told``."""
        from lmcourse.tokenizers.told import told  # which knows every model

        return told(self, text, model)

    # --- lengths ---

    def enable_truncation(
        self,
        max_length: int,
        stride: int = 0,
        strategy: str = "longest_first",
        direction: str = "right",
    ) -> None:
        """Cut what has more than ``max_length`` tokens; see ``padding.Truncation``.

        Args:
            strategy: "longest_first", "only_first" or "only_second".
            direction: "right" or "left": the side that is cut off.

        Raises:
            CourseError: one of these is something else, or leaves no room.
        """
        wanted = Truncation.of(max_length, stride, strategy, direction)
        added = self.post_processor.added_tokens(False) if self.post_processor else 0
        check_stride(wanted, room_beside(added, wanted))
        self._truncation = wanted

    def no_truncation(self) -> None:
        """Do not cut any more."""
        self._truncation = None

    @property
    def truncation(self) -> dict[str, Any] | None:
        """What ``enable_truncation`` was called with."""
        return self._truncation.arguments() if self._truncation else None

    def enable_padding(
        self,
        direction: str = "right",
        pad_id: int = 0,
        pad_type_id: int = 0,
        pad_token: str = "[PAD]",
        length: int | None = None,
        pad_to_multiple_of: int | None = None,
    ) -> None:
        """Fill up what is too short; see ``padding.Padding``.

        Args:
            direction: "right" or "left": the side that is filled.
            length: None: as long as the longest of a batch.

        Raises:
            CourseError: one of these is something else.
        """
        self._padding = Padding.of(
            direction, pad_id, pad_type_id, pad_token, length, pad_to_multiple_of
        )

    def no_padding(self) -> None:
        """Do not fill up any more."""
        self._padding = None

    @property
    def padding(self) -> dict[str, Any] | None:
        """What ``enable_padding`` was called with."""
        return self._padding.arguments() if self._padding else None
