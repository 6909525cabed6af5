"""A whole tokenizer: texts and pairs of texts as a model reads them, in batches of one length.

It is called as the ``Tokenizer`` of the ``tokenizers`` library is called, gives the same results,
and reads and writes the same files. What happens to a single text is in ``pipeline``.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from lmcourse.files import replacing, trouble
from lmcourse.tokenizers import files
from lmcourse.tokenizers.added_tokens import AddedVocabulary
from lmcourse.tokenizers.backends import Trainer, train
from lmcourse.tokenizers.batch import (
    Text,
    Texts,
    as_pairs,
    as_tensors,
    checked_names,
    has_segments,
    samples_of,
    with_overflow,
    zipped,
)
from lmcourse.tokenizers.encoding import Encoding
from lmcourse.tokenizers.models.training import Training
from lmcourse.tokenizers.models.unigram import Unigram
from lmcourse.tokenizers.padding import check_padding, pad_all, room_beside, truncate_all
from lmcourse.tokenizers.pipeline import Pipeline
from lmcourse.tokenizers.processors import check_named, process
from lmcourse.tokenizers.text.normalized_string import checked_text

if TYPE_CHECKING:
    import tokenizers
    from torch import Tensor

PAD_TOKENS = ("[PAD]", "<pad>")  # as BERT and RoBERTa call it


class Tokenizer(Pipeline):
    """A tokenizer as the ``tokenizers`` library has it; its parts are those of ``Pipeline``."""

    _model_input_names: tuple[str, ...] | None = None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tokenizer):
            return NotImplemented
        states = [
            (each.to_str(), each.encode_special_tokens, each.model_input_names)
            for each in (self, other)
        ]
        return states[0] == states[1]

    __hash__ = None  # type: ignore[assignment]  # it can be changed

    def __copy__(self) -> "Tokenizer":
        other = type(self)(self.model)
        other.__dict__.update(self.__dict__)
        other._added = self._added.copy()
        return other

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
        return self._padded([encoding])[0]

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
        return self._padded(encodings)

    def _padded(self, encodings: list[Encoding]) -> list[Encoding]:
        if self._padding is None:
            return encodings
        check_padding(self._padding, self.token_to_id)
        return pad_all(encodings, self._padding)

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
        texts: Texts | Iterable[Texts],
        pairs: Text | Iterable[Text] | None = None,
        add_special_tokens: bool = True,
        *,
        is_pretokenized: bool = False,
        return_special_tokens_mask: bool = False,
        return_offsets_mapping: bool = False,
        return_overflowing_tokens: bool = False,
    ) -> "dict[str, Tensor]":
        """A batch as a model wants it: int64 tensors of shape (batch, time).

        Args:
            texts: the texts, or one.
            pairs: for each text a second one.
            add_special_tokens: whether the post-processor adds its special tokens.
            is_pretokenized: each text is the list of its words.
            return_special_tokens_mask: add ``special_tokens_mask``: what masking leaves alone.
            return_offsets_mapping: add ``offset_mapping`` (batch, time, 2): characters.
            return_overflowing_tokens: give what truncation cuts off as further rows behind each
                text, and as ``overflow_to_sample_mapping`` (batch,) which text each row is of.
                Otherwise it is left out.

        Returns:
            The columns of ``model_input_names``, and those asked for, as transformers names them.

        Raises:
            CourseError: the texts have other lengths and padding is off, or there are not as many
                pairs as texts.
        """
        batch = zipped(texts, pairs)
        encodings = self.encode_batch(batch, is_pretokenized, add_special_tokens)
        names = list(self.model_input_names)
        names += ["special_tokens_mask"] * return_special_tokens_mask
        names += ["offset_mapping"] * return_offsets_mapping
        rows = with_overflow(encodings) if return_overflowing_tokens else encodings
        tensors = as_tensors(rows, names, self._how_to_pad)
        if return_overflowing_tokens:
            tensors["overflow_to_sample_mapping"] = samples_of(encodings)
        return tensors

    def _how_to_pad(self) -> str:
        """What to do about texts of several lengths."""
        if self._padding:
            return "Raise the length of enable_padding, or cut longer texts with enable_truncation."
        for token in PAD_TOKENS:
            if (id_ := self.token_to_id(token)) is not None:
                return f"First call enable_padding(pad_id={id_}, pad_token={token!r})."
        return (
            "First call enable_padding(pad_id=…, pad_token=…). The vocabulary has no padding token "
            "yet: add one with add_special_tokens(['<pad>'])."
        )

    @property
    def model_input_names(self) -> tuple[str, ...]:
        """The columns that a call gives, as transformers names them. Set it for another model.

        By default ``token_type_ids`` is among them only if the post-processor tells the texts of
        a pair apart, as BERT's does. (GPT-2 would add them to its input as if they were tokens.)
        """
        if self._model_input_names is not None:
            return self._model_input_names
        segments = ["token_type_ids"] * has_segments(self.post_processor)
        return ("input_ids", *segments, "attention_mask")

    @model_input_names.setter
    def model_input_names(self, names: Iterable[str] | None) -> None:
        self._model_input_names = None if names is None else checked_names(names)

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
        training = train(self, iterator, trainer, backend)
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
            with replacing(files.checked_path(path)) as file:
                file.write(self.to_str(pretty).encode())
        except OSError as error:
            raise trouble(error, Path(path), "Save the tokenizer in a folder of yours.") from error

    @classmethod
    def from_file(cls, path: str | Path) -> "Tokenizer":
        """The tokenizer of a tokenizer.json file.

        Raises:
            CourseError: see ``from_str``; or the file cannot be read.
        """
        return cls.from_str(files.read_text(path), str(path))

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
