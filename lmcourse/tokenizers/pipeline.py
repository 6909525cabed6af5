"""The way of a text through the parts of a tokenizer, and back.

    text → added tokens → normalizer → pre-tokenizer → model → tokens and ids
    ids → tokens → decoder → text

``Tokenizer`` adds what texts need besides: pairs, special tokens, lengths, training and files.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from lmcourse.errors import CourseError
from lmcourse.tokenizers.added_tokens import AddedToken, AddedVocabulary, Found
from lmcourse.tokenizers.component import Token
from lmcourse.tokenizers.decoders import Decoder
from lmcourse.tokenizers.encoding import Encoding
from lmcourse.tokenizers.files import AnyModel
from lmcourse.tokenizers.processors import Processor
from lmcourse.tokenizers.text.normalized_string import NormalizedString, checked_text
from lmcourse.tokenizers.text.normalizers import Normalizer
from lmcourse.tokenizers.text.pre_tokenizers import PreTokenizer


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
    """

    def __init__(
        self,
        model: AnyModel,
        normalizer: Normalizer | None = None,
        pre_tokenizer: PreTokenizer | None = None,
        post_processor: Processor | None = None,
        decoder: Decoder | None = None,
    ) -> None:
        self.model = model
        self.normalizer = normalizer
        self.pre_tokenizer = pre_tokenizer
        self.post_processor = post_processor
        self.decoder = decoder
        self.encode_special_tokens = False
        self._added = AddedVocabulary()

    def encode_words(self, words: Sequence[str], type_id: int) -> Encoding:
        if isinstance(words, str):
            raise CourseError(
                "With is_pretokenized, a text is the list of its words, not a string.",
                "Pass text.split(), or leave is_pretokenized out.",
            )
        return Encoding.merge(
            self.encode_text(word, type_id, place) for place, word in enumerate(words)
        )

    def encode_text(self, text: str, type_id: int, word_id: int | None = None) -> Encoding:
        """The tokens of one text, without special tokens. Each piece of the text is a word."""
        pieces = self.pieces(checked_text(text))
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
        """How often the model would get each word of a corpus."""
        counts: Counter[str] = Counter()
        for text in texts:
            counts.update(piece.normalized for piece, _ in self.pieces(checked_text(text)))
        return counts

    def decode(self, ids: Iterable[int], skip_special_tokens: bool = True) -> str:
        """The text that some ids stand for. Ids that are not in the vocabulary are left out.

        Raises:
            CourseError: an id is no number from 0 on.
        """
        special = self._added.special if skip_special_tokens else set()
        tokens = []
        for id_ in ids.tolist() if hasattr(ids, "tolist") else ids:
            if not isinstance(id_, int) or id_ < 0:
                raise CourseError(
                    f"{id_!r} is no token's id.",
                    "Pass a list of whole numbers from 0 on; for several texts there is "
                    "decode_batch.",
                )
            token = self.id_to_token(id_)
            if token is not None and token not in special:
                tokens.append(token)
        return self.decoder.decode(tokens) if self.decoder else " ".join(tokens)

    def decode_batch(
        self, sequences: Iterable[Iterable[int]], skip_special_tokens: bool = True
    ) -> list[str]:
        """The texts that several lists of ids stand for."""
        return [self.decode(ids, skip_special_tokens) for ids in sequences]

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
        return self._added.add(tokens, special=False, model_ids=self.model.ids)

    def add_special_tokens(self, tokens: Iterable[str | AddedToken]) -> int:
        """The same for special tokens, which decoding leaves out."""
        return self._added.add(tokens, special=True, model_ids=self.model.ids)
