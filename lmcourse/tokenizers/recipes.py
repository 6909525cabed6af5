"""Whole tokenizers, trained on your texts as those of the well-known models were.

A recipe is a normalizer, a pre-tokenizer, a model, a post-processor and a decoder that belong
together. They differ less in how they merge than in what they take for a word.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from lmcourse.errors import CourseError
from lmcourse.tokenizers import decoders
from lmcourse.tokenizers.added_tokens import AddedToken
from lmcourse.tokenizers.batch import several
from lmcourse.tokenizers.models.bpe import BPE
from lmcourse.tokenizers.models.settings import contents
from lmcourse.tokenizers.models.trainers import BpeTrainer, WordPieceTrainer
from lmcourse.tokenizers.models.training import Training
from lmcourse.tokenizers.models.unigram import Unigram
from lmcourse.tokenizers.models.unigram_training import UnigramTrainer
from lmcourse.tokenizers.models.word_level import WordLevel
from lmcourse.tokenizers.models.wordpiece import WordPiece
from lmcourse.tokenizers.plain import Plain, plain
from lmcourse.tokenizers.text import normalizers, pre_tokenizers
from lmcourse.tokenizers.text.byte_characters import CHARACTER_TO_BYTE
from lmcourse.tokenizers.text.normalized_string import checked_text
from lmcourse.tokenizers.tokenizer import Tokenizer
from lmcourse.tokenizers.told import early
from lmcourse.tokenizers.well_known import (
    BERT_TOKENS,
    GPT2_TOKEN,
    ROBERTA_TOKENS,
    byte_level,
    frame_as_bert,
    frame_as_roberta,
    wordpiece,
)

if TYPE_CHECKING:
    from lmcourse.tokenizers.vocabulary import Vocabulary

Backend = Literal["course", "tokenizers"]
Score = Literal["likelihood", "pmi", "frequency"]

ALBERT_TOKENS = ("<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]")


class Recipe(NamedTuple):
    """A trained tokenizer, and how it was trained."""

    tokenizer: Tokenizer
    training: Training[Any, Any]

    def plain(self) -> Plain:
        """Both as plain lists and strings, as ``lmcourse.widgets.Merges`` takes them: `plain`."""
        return plain(self.tokenizer, self.training)

    def early(self, step: int, scores: Mapping[str, float] | None = None) -> Any:
        """The model as it was after so many merges; of a unigram, with these scores, nats."""
        return early(self.tokenizer.model, self.training, step, scores)


def char_bpe(
    texts: Iterable[str],
    vocab_size: int = 30_000,
    special_tokens: Sequence[str | AddedToken] = ("<unk>",),
    backend: Backend = "course",
) -> Recipe:
    """BPE over characters, with ``</w>`` at the end of a word (Sennrich et al. 2016).

    Args:
        special_tokens: the first is the unknown token, for characters that the texts lack. None
            at all: such a character is an error.
        backend: "tokenizers" trains with the library: faster, but its steps are not recorded.
    """
    trainer = BpeTrainer(vocab_size, special_tokens=special_tokens, end_of_word_suffix="</w>")
    unknown = next(iter(contents(trainer.special_tokens)), None)
    tokenizer = Tokenizer(
        BPE(unk_token=unknown, end_of_word_suffix="</w>"),
        pre_tokenizer=pre_tokenizers.WhitespaceSplit(),
        decoder=decoders.BPEDecoder(),
    )
    return Recipe(tokenizer, tokenizer.train_from_iterator(texts, trainer, backend))


def gpt2(
    texts: Iterable[str],
    vocab_size: int = 50_257,
    special_tokens: Sequence[str | AddedToken] = (GPT2_TOKEN,),
    backend: Backend = "course",
) -> Recipe:
    """BPE over bytes: no text is unknown, and every text comes back (Radford et al. 2019)."""
    tokenizer = byte_level(BPE())
    trainer = BpeTrainer(
        vocab_size, special_tokens=special_tokens, initial_alphabet=list(CHARACTER_TO_BYTE)
    )
    return Recipe(tokenizer, tokenizer.train_from_iterator(texts, trainer, backend))


def roberta(texts: Iterable[str], vocab_size: int = 50_265, backend: Backend = "course") -> Recipe:
    """BPE over bytes (Liu et al. 2019, section 4.4), read as ``<s> A </s></s> B </s>``."""
    recipe = gpt2(texts, vocab_size, ROBERTA_TOKENS, backend)
    frame_as_roberta(recipe.tokenizer)
    return recipe


def bert(
    texts: Iterable[str],
    vocab_size: int = 30_522,
    lowercase: bool = True,
    score: Score = "likelihood",
    backend: Backend = "course",
) -> Recipe:
    """WordPiece as ``[CLS] A [SEP] B [SEP]``, in two segments (Devlin et al. 2019, section 3).

    Args:
        lowercase: accents go too. False: the cased model.
        score: see ``WordPieceTrainer``; the library knows "frequency" only.
    """
    tokenizer = wordpiece(WordPiece(), lowercase)
    trainer = WordPieceTrainer(vocab_size, special_tokens=BERT_TOKENS, score=score)
    recipe = Recipe(tokenizer, tokenizer.train_from_iterator(texts, trainer, backend))
    frame_as_bert(tokenizer)
    return recipe


def albert(texts: Iterable[str], vocab_size: int = 30_000, backend: Backend = "course") -> Recipe:
    """Unigram pieces, where ▁ is a space (Kudo & Richardson 2018; Lan et al. 2019, section 4.1)."""
    tokenizer = Tokenizer(
        Unigram(),
        normalizers.Sequence(
            (normalizers.NFKD(), normalizers.StripAccents(), normalizers.Lowercase())
        ),
        pre_tokenizers.Sequence((pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace())),
        decoder=decoders.Metaspace(),
    )
    trainer = UnigramTrainer(vocab_size, special_tokens=ALBERT_TOKENS, unk_token="<unk>")
    recipe = Recipe(tokenizer, tokenizer.train_from_iterator(texts, trainer, backend))
    frame_as_bert(tokenizer, "<pad>")
    return recipe


def words(
    vocabulary: "Vocabulary", special_tokens: Sequence[str] = BERT_TOKENS, lowercase: bool = True
) -> Tokenizer:
    """Whole words of a vocabulary, as ``[CLS] A [SEP] B [SEP]``: what subwords are compared with.

    Args:
        vocabulary: the words. Its unknown token stays the unknown token.
        special_tokens: get the first ids; they must have ``[PAD]``, ``[CLS]`` and ``[SEP]``.
        lowercase: read texts in lower case. The words must be so too.

    Raises:
        CourseError: there is no unknown token, neither in the vocabulary nor as ``[UNK]``, one of
            the special tokens above is missing, or a word can never be found in lower case.
    """
    from lmcourse.tokenizers.vocabulary import Vocabulary  # needs torch

    if not isinstance(vocabulary, Vocabulary):
        raise CourseError(
            f"The words are of the type {type(vocabulary).__name__}, not a Vocabulary.",
            "Make one of your words: Vocabulary.of(words).",
        )
    specials = several(special_tokens, "Special tokens are a list of texts", "Write [token].")
    special_tokens = [checked_text(token) for token in specials]
    unknown = vocabulary.unknown or "[UNK]"
    tokens = list(dict.fromkeys([*special_tokens, *vocabulary.tokens]))
    if unknown not in tokens:
        raise CourseError(
            "The vocabulary has no unknown token, and [UNK] is not among the special tokens.",
            "Add '[UNK]' to special_tokens, or build the vocabulary with an unknown token.",
        )
    capital = next((word for word in vocabulary.tokens if word != word.lower()), unknown)
    if lowercase and capital not in (unknown, *special_tokens):
        raise CourseError(
            f"The vocabulary has the word {capital!r}, which no text in lower case has.",
            "Build the vocabulary from words in lower case, or pass lowercase=False.",
        )
    tokenizer = Tokenizer(
        WordLevel({token: id_ for id_, token in enumerate(tokens)}, unknown),
        normalizers.Lowercase() if lowercase else None,
        pre_tokenizers.Whitespace(),
    )
    tokenizer.add_special_tokens([*special_tokens, unknown])
    frame_as_bert(tokenizer)
    return tokenizer
