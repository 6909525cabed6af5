"""A whole tokenizer: texts and pairs of texts as a model reads them, in batches of one length.

It is called as the ``Tokenizer`` of the ``tokenizers`` library is called, gives the same results,
and reads and writes the same files. What happens to a single text is in ``pipeline``.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from lmcourse.files import replacing, trouble
from lmcourse.tokenizers import files
from lmcourse.tokenizers.added_tokens import AddedVocabulary
from lmcourse.tokenizers.backends import Trainer, check_trainer, train, train_library
from lmcourse.tokenizers.batch import Text, Texts, as_pairs, as_tensors, zipped
from lmcourse.tokenizers.decoders import Decoder
from lmcourse.tokenizers.encoding import Encoding
from lmcourse.tokenizers.models.training import Training
from lmcourse.tokenizers.models.unigram import Unigram
from lmcourse.tokenizers.padding import (
    Padding,
    Truncation,
    check_stride,
    pad_all,
    room_beside,
    truncate_all,
)
from lmcourse.tokenizers.pipeline import Pipeline
from lmcourse.tokenizers.processors import Processor, check_named, process
from lmcourse.tokenizers.text.normalized_string import checked_text
from lmcourse.tokenizers.text.normalizers import Normalizer
from lmcourse.tokenizers.text.pre_tokenizers import PreTokenizer

if TYPE_CHECKING:
    import tokenizers
    from torch import Tensor


class Tokenizer(Pipeline):
    """A tokenizer as the ``tokenizers`` library has it; its parts are those of ``Pipeline``."""

    def __init__(
        self,
        model: files.AnyModel,
        normalizer: Normalizer | None = None,
        pre_tokenizer: PreTokenizer | None = None,
        post_processor: Processor | None = None,
        decoder: Decoder | None = None,
    ) -> None:
        super().__init__(model, normalizer, pre_tokenizer, post_processor, decoder)
        self._truncation: Truncation | None = None
        self._padding: Padding | None = None

    # --- encode ---

    def encode(
        self,
        sequence: Text,
        pair: Text | None = None,
        is_pretokenized: bool = False,
        add_special_tokens: bool = True,
    ) -> Encoding:
        """A text, or a pair of texts, as tokens.

        Args:
            sequence: the text; with ``is_pretokenized``, the list of its words, whose offsets are
                then counted in each word.
            pair: a second text, such as the question that the first one answers.
            is_pretokenized: whether the texts are already cut into words.
            add_special_tokens: whether the post-processor adds its special tokens.

        Raises:
            CourseError: a text is no text, a character is not known and there is no unknown token,
                or truncation cannot do what it should.
        """
        encoding = self._encode(sequence, pair, is_pretokenized, add_special_tokens)
        return pad_all([encoding], self._padding)[0] if self._padding else encoding

    def encode_batch(
        self,
        input: Iterable[Texts],
        is_pretokenized: bool = False,
        add_special_tokens: bool = True,
    ) -> list[Encoding]:
        """Several texts, or pairs of texts (as tuples), padded to one length if padding is on."""
        encodings = [
            self._encode(first, second, is_pretokenized, add_special_tokens)
            for first, second in as_pairs(input, is_pretokenized)
        ]
        return pad_all(encodings, self._padding) if self._padding else encodings

    def _encode(
        self, text: Any, pair: Any, is_pretokenized: bool, add_special_tokens: bool
    ) -> Encoding:
        texts = [text] if pair is None else [text, pair]
        encode = self.encode_words if is_pretokenized else self.encode_text
        encodings = [encode(each, type_id) for type_id, each in enumerate(texts)]
        if add_special_tokens:
            check_named(self.post_processor, self.token_to_id)
        if self._truncation:
            special = add_special_tokens and self.post_processor
            added = special.added_tokens(pair is not None) if special else 0
            room = room_beside(added, self._truncation)
            encodings = truncate_all(encodings, self._truncation, room)
        return process(self.post_processor, encodings, add_special_tokens)

    def __call__(
        self,
        texts: Texts | Sequence[Texts],
        pairs: str | Sequence[str] | None = None,
        add_special_tokens: bool = True,
    ) -> "dict[str, Tensor]":
        """A batch as a model wants it: int64 tensors of shape (batch, time).

        Args:
            texts: the texts, or one.
            pairs: for each text a second one.
            add_special_tokens: whether the post-processor adds its special tokens.

        Returns:
            ``input_ids``, ``token_type_ids`` and ``attention_mask``, as models of transformers
            name them.

        Raises:
            CourseError: the texts have other lengths and padding is off, or there are not as many
                pairs as texts.
        """
        batch = self.encode_batch(zipped(texts, pairs), add_special_tokens=add_special_tokens)
        return as_tensors(batch)

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

    # --- training and files ---

    def train_from_iterator(
        self,
        iterator: Iterable[str],
        trainer: Trainer,
        backend: Literal["course", "tokenizers"] = "course",
    ) -> Training[Any, Any]:
        """Train the model on texts, and take it.

        Args:
            trainer: the trainer of the model's kind. Its special tokens are added.
            backend: "course" trains with this package and records each step; "tokenizers" with
                the library, which is faster on large corpora, and records none.

        Returns:
            The model and the steps of the training.

        Raises:
            CourseError: the trainer is for another model, the corpus has no words, or a text is
                no text.
        """
        check_trainer(self.model, trainer, backend)
        if backend == "tokenizers":
            library = self.to_library()
            train_library(library, iterator, trainer)
            training = Training[Any, Any](type(self).from_library(library).model, ())
        else:
            training = train(trainer, self.count_words(iterator), self.model)
        self.model = training.model
        known = self._added.tokens.values()
        self._added = AddedVocabulary()
        self.add_tokens(known)
        self.add_special_tokens(trainer.special_tokens)
        return training

    def to_str(self, pretty: bool = False) -> str:
        """The tokenizer as a tokenizer.json."""
        added = [
            files.AddedTokenEntry(id=id_, **msgspec.structs.asdict(token))
            for id_, token in sorted(self._added.tokens.items())
        ]
        file = files.TokenizerFile(
            truncation=self._truncation,
            padding=self._padding,
            added_tokens=tuple(added),
            normalizer=self.normalizer,
            pre_tokenizer=self.pre_tokenizer,
            post_processor=self.post_processor,
            decoder=self.decoder,
            model=self.model,
        )
        return files.write(file, pretty)

    @classmethod
    def from_str(cls, json: str, place: str = "The tokenizer") -> "Tokenizer":
        """The tokenizer of a tokenizer.json.

        Args:
            place: what to call it in an error.

        Raises:
            CourseError: see ``files.read``; or an added token has another id than its place gives
                it, or the post-processor names a token that is not in the vocabulary.
        """
        file = files.read(checked_text(json), place)
        tokenizer = cls(
            file.model, file.normalizer, file.pre_tokenizer, file.post_processor, file.decoder
        )
        tokenizer._truncation, tokenizer._padding = file.truncation, file.padding
        tokenizer.add_tokens(entry.token for entry in file.added_tokens)
        files.check_added(file, tokenizer.token_to_id, place)
        return tokenizer

    def save(self, path: str | Path, pretty: bool = True) -> None:
        """Write a tokenizer.json. An interruption leaves the file that was there.

        Raises:
            CourseError: the file cannot be written.
        """
        try:
            with replacing(Path(path)) as file:
                file.write(self.to_str(pretty).encode())
        except OSError as error:
            raise trouble(error, Path(path), "Save the tokenizer in a folder of yours.") from error

    @classmethod
    def from_file(cls, path: str | Path) -> "Tokenizer":
        """The tokenizer of a tokenizer.json file.

        Raises:
            CourseError: see ``from_str``; or the file cannot be read.
        """
        return cls.from_str(files.read_text(Path(path)), str(path))

    def to_library(self) -> "tokenizers.Tokenizer":
        """The same tokenizer of the ``tokenizers`` library."""
        import tokenizers

        other = tokenizers.Tokenizer.from_str(self.to_str())
        if isinstance(self.model, Unigram):  # it reads some scores wrong in the last bit
            pieces, unk_id = list(self.model.vocab), self.model.unk_id
            other.model = tokenizers.models.Unigram(pieces, unk_id, self.model.byte_fallback)
        other.encode_special_tokens = self.encode_special_tokens
        return other

    @classmethod
    def from_library(cls, tokenizer: "tokenizers.Tokenizer") -> "Tokenizer":
        """The same tokenizer as one of the ``tokenizers`` library."""
        ours = cls.from_str(tokenizer.to_str(), "The library's tokenizer")
        ours.encode_special_tokens = tokenizer.encode_special_tokens
        return ours
