"""Whole tokenizers, trained on your texts as those of the well-known models were.

A recipe combines a normalizer, a pre-tokenizer, a model, a post-processor and a decoder. All but
the training are the ``tokenizers`` library's, as is the resulting tokenizer.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers
from tokenizers.pre_tokenizers import ByteLevel

from lmcourse.errors import CourseError
from lmcourse.tokenizers.explanation import Cut, early, explained
from lmcourse.tokenizers.library import AnyModel, count_words, from_library
from lmcourse.tokenizers.models.trainers import BpeTrainer, WordPieceTrainer
from lmcourse.tokenizers.models.unigram_training import UnigramTrainer
from lmcourse.tokenizers.models.word_model import Training, contents, nonempty, numbered, too_small
from lmcourse.tokenizers.plain import Plain, plain
from lmcourse.tokenizers.well_known import (
    BERT_TOKENS,
    GPT2_TOKEN,
    ROBERTA_TOKENS,
    byte_level,
    frame_as_bert,
    frame_as_roberta,
    with_parts,
    wordpiece,
)

if TYPE_CHECKING:
    from lmcourse.tokenizers.vocabulary import Vocabulary

Backend = Literal["course", "tokenizers"]
Score = Literal["likelihood", "pmi", "frequency"]
Trainer = BpeTrainer | WordPieceTrainer | UnigramTrainer

ALBERT_TOKENS = ("<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]")


class Recipe(NamedTuple):
    """A trained tokenizer of the ``tokenizers`` library, and how it was trained."""

    tokenizer: Tokenizer
    training: Training[Any, Any]

    def plain(self) -> Plain:
        """Both as plain lists and strings, as ``lmcourse.widgets.Merges`` takes them."""
        return plain(self.tokenizer, self.training)

    def explained(self, text: str, model: AnyModel | None = None) -> list[Cut]:
        """Every word of a text, segmented step by step by this model or an earlier one."""
        return explained(self.tokenizer, text, model or self.training.model)

    def without_training(self) -> "Recipe":
        """The same with the trained model alone."""
        return Recipe(self.tokenizer, Training(self.training.model, ()))

    def early(self, step: int, scores: Mapping[str, float] | None = None) -> AnyModel:
        """The model after this number of merges; a unigram model with these scores, nats."""
        return early(self.training, step, scores)


def recipe_of(tokenizer: Tokenizer) -> Recipe:
    """A tokenizer of the library that was trained elsewhere, with its model as the course's.

    Raises:
        CourseError: its model is none of the course's kinds.
    """
    return Recipe(tokenizer, Training(from_library(tokenizer), ()))


def char_bpe(
    texts: Iterable[str],
    vocab_size: int = 30_000,
    special_tokens: Sequence[str | AddedToken] = ("<unk>",),
    backend: Backend = "course",
) -> Recipe:
    """BPE over characters, with ``</w>`` at the end of a word (Sennrich et al. 2016).

    Args:
        special_tokens: the first is the unknown token, for characters that the texts lack. None
            at all: the library drops such a character.
        backend: "tokenizers" trains with the library: faster, but its steps are not recorded.
    """
    trainer = BpeTrainer(vocab_size, special_tokens=special_tokens, end_of_word_suffix="</w>")
    unknown = next(iter(contents(special_tokens)), None)
    tokenizer = with_parts(
        models.BPE(end_of_word_suffix="</w>", **({"unk_token": unknown} if unknown else {})),
        pre_tokenizer=pre_tokenizers.WhitespaceSplit(),
        decoder=decoders.BPEDecoder(),
    )
    return train(tokenizer, trainer, texts, backend)


def gpt2(
    texts: Iterable[str],
    vocab_size: int = 50_257,
    special_tokens: Sequence[str | AddedToken] = (GPT2_TOKEN,),
    backend: Backend = "course",
) -> Recipe:
    """BPE over bytes: no text is unknown, and decoding is lossless (Radford et al. 2019)."""
    alphabet = sorted(ByteLevel.alphabet())
    trainer = BpeTrainer(vocab_size, special_tokens=special_tokens, initial_alphabet=alphabet)
    return train(byte_level(models.BPE()), trainer, texts, backend)


def roberta(texts: Iterable[str], vocab_size: int = 50_265, backend: Backend = "course") -> Recipe:
    """BPE over bytes (Liu et al. 2019, section 4.4), framed as ``<s> A </s></s> B </s>``."""
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
        lowercase: accents are removed too. False: the cased model.
        score: see ``WordPieceTrainer``; the library has "frequency" only.
    """
    trainer = WordPieceTrainer(vocab_size, special_tokens=BERT_TOKENS, score=score)
    model = models.WordPiece({}, unk_token=BERT_TOKENS[1])
    recipe = train(wordpiece(model, lowercase), trainer, texts, backend)
    frame_as_bert(recipe.tokenizer)
    return recipe


def albert(texts: Iterable[str], vocab_size: int = 30_000, backend: Backend = "course") -> Recipe:
    """Unigram pieces, where ▁ is a space (Kudo & Richardson 2018; Lan et al. 2019, section 4.1)."""
    trainer = UnigramTrainer(vocab_size, special_tokens=ALBERT_TOKENS, unk_token="<unk>")
    tokenizer = with_parts(
        models.Unigram(),
        normalizer=normalizers.Sequence(
            [normalizers.NFKD(), normalizers.StripAccents(), normalizers.Lowercase()]
        ),
        pre_tokenizer=pre_tokenizers.Sequence(
            [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()]
        ),
        decoder=decoders.Metaspace(),
    )
    recipe = train(tokenizer, trainer, texts, backend)
    frame_as_bert(recipe.tokenizer, "<pad>")
    return recipe


def train(
    tokenizer: Tokenizer, trainer: Trainer, texts: Iterable[str], backend: Backend = "course"
) -> Recipe:
    """Train a tokenizer of the library on texts, with our trainer or the library's.

    Args:
        tokenizer: gives the normalizer, the pre-tokenizer, and the options of its model.
        trainer: the trainer for the model's kind. Its special tokens are added.
        backend: "course" records each step; "tokenizers" is faster and records none.
    """
    if isinstance(texts, str):
        raise CourseError(
            "A corpus is a list of texts, not str.", "Put a single text into a list: [text]."
        )
    if backend == "tokenizers":
        return _train_with_library(tokenizer, trainer, list(texts))
    counts = count_words(tokenizer, texts)
    if isinstance(trainer, UnigramTrainer):
        training: Training[Any, Any] = trainer.train(counts)
    else:
        options: Any = from_library(tokenizer)
        training = trainer.train(counts, options)
    tokenizer.model = training.model.to_library()
    tokenizer.add_special_tokens(list(trainer.special_tokens))
    return Recipe(tokenizer, training)


def _train_with_library(tokenizer: Tokenizer, trainer: Trainer, texts: list[str]) -> Recipe:
    """The same by the library, which does not report an empty corpus or a vocabulary too small."""
    nonempty(next((found for text in texts if (found := count_words(tokenizer, [text]))), {}))
    tokenizer.train_from_iterator(texts, trainer.to_library())
    size = tokenizer.get_vocab_size(with_added_tokens=False)
    if size > trainer.vocab_size:
        raise too_small(trainer.vocab_size, size)
    return Recipe(tokenizer, Training(from_library(tokenizer), (), trainer))


def words(
    vocabulary: "Vocabulary", special_tokens: Sequence[str] = BERT_TOKENS, lowercase: bool = True
) -> Tokenizer:
    """Whole words of a vocabulary, as ``[CLS] A [SEP] B [SEP]``: a baseline for subwords.

    Args:
        vocabulary: the words. Its unknown token stays the unknown token.
        special_tokens: get the first ids; they must include ``[PAD]``, ``[CLS]`` and ``[SEP]``.
        lowercase: lowercase the texts. The words must be lowercase too.

    Raises:
        CourseError: there is no unknown token, neither in the vocabulary nor as ``[UNK]``, one of
            the special tokens above is missing, or a word is not lowercase.
    """
    unknown = vocabulary.unknown or "[UNK]"
    ids = numbered([*special_tokens, *vocabulary.tokens])
    capital = next((word for word in vocabulary.tokens if word != word.lower()), unknown)
    if lowercase and capital not in (unknown, *special_tokens):
        raise CourseError(
            f"The vocabulary has the word {capital!r}, which no lowercase text has.",
            "Build the vocabulary from lowercase words, or pass lowercase=False.",
        )
    tokenizer = with_parts(
        models.WordLevel(ids, unknown), pre_tokenizer=pre_tokenizers.Whitespace()
    )
    if lowercase:
        tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.add_special_tokens([*special_tokens, unknown])
    frame_as_bert(tokenizer)
    return tokenizer
