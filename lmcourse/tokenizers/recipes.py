"""Whole tokenizers, trained on your texts as those of the well-known models were.

A recipe is a normalizer, a pre-tokenizer, a model, a post-processor and a decoder that belong
together. They differ less in how they merge than in what they take for a word.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from lmcourse.errors import CourseError
from lmcourse.tokenizers import decoders, processors
from lmcourse.tokenizers.models.bpe import BPE
from lmcourse.tokenizers.models.trainers import BpeTrainer, WordPieceTrainer
from lmcourse.tokenizers.models.training import Training
from lmcourse.tokenizers.models.unigram import Unigram
from lmcourse.tokenizers.models.unigram_training import UnigramTrainer
from lmcourse.tokenizers.models.word_level import WordLevel
from lmcourse.tokenizers.models.wordpiece import WordPiece
from lmcourse.tokenizers.template import TemplateProcessing
from lmcourse.tokenizers.text import normalizers, pre_tokenizers
from lmcourse.tokenizers.text.byte_characters import CHARACTER_TO_BYTE
from lmcourse.tokenizers.tokenizer import Tokenizer

if TYPE_CHECKING:
    from lmcourse.tokenizers.vocabulary import Vocabulary

Backend = Literal["course", "tokenizers"]

BERT_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
ROBERTA_TOKENS = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")
ALBERT_TOKENS = ("<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]")


class Recipe(NamedTuple):
    """A trained tokenizer, and how it was trained."""

    tokenizer: Tokenizer
    training: Training[Any, Any]


def char_bpe(
    texts: Iterable[str],
    vocab_size: int = 30_000,
    special_tokens: Sequence[str] = ("<unk>",),
    backend: Backend = "course",
) -> Recipe:
    """BPE over characters, with ``</w>`` at the end of a word (Sennrich et al. 2016).

    Args:
        special_tokens: the first is the unknown token, for characters that the texts lack.
        backend: "tokenizers" trains with the library: faster, but its steps are not recorded.
    """
    tokenizer = Tokenizer(
        BPE(unk_token=special_tokens[0], end_of_word_suffix="</w>"),
        pre_tokenizer=pre_tokenizers.WhitespaceSplit(),
        decoder=decoders.BPEDecoder(),
    )
    trainer = BpeTrainer(vocab_size, special_tokens=special_tokens, end_of_word_suffix="</w>")
    return Recipe(tokenizer, tokenizer.train_from_iterator(texts, trainer, backend))


def gpt2(
    texts: Iterable[str],
    vocab_size: int = 50_257,
    special_tokens: Sequence[str] = ("<|endoftext|>",),
    backend: Backend = "course",
) -> Recipe:
    """BPE over bytes: no text is unknown, and every text comes back (Radford et al. 2019)."""
    tokenizer = Tokenizer(
        BPE(),
        pre_tokenizer=pre_tokenizers.ByteLevel(add_prefix_space=False),
        post_processor=processors.ByteLevel(trim_offsets=False),
        decoder=decoders.ByteLevel(),
    )
    trainer = BpeTrainer(
        vocab_size, special_tokens=special_tokens, initial_alphabet=list(CHARACTER_TO_BYTE)
    )
    return Recipe(tokenizer, tokenizer.train_from_iterator(texts, trainer, backend))


def roberta(texts: Iterable[str], vocab_size: int = 50_265, backend: Backend = "course") -> Recipe:
    """The same, read as ``<s> A </s></s> B </s>`` (Liu et al. 2019, section 4.4)."""
    recipe = gpt2(texts, vocab_size, ROBERTA_TOKENS, backend)
    ids = recipe.tokenizer.model.ids
    recipe.tokenizer.post_processor = processors.RobertaProcessing(
        ("</s>", ids["</s>"]), ("<s>", ids["<s>"]), add_prefix_space=False
    )
    recipe.tokenizer.enable_padding(pad_id=ids["<pad>"], pad_token="<pad>")
    return recipe


def bert(
    texts: Iterable[str],
    vocab_size: int = 30_522,
    lowercase: bool = True,
    score: Literal["likelihood", "frequency"] = "likelihood",
    backend: Backend = "course",
) -> Recipe:
    """WordPiece as ``[CLS] A [SEP] B [SEP]``, in two segments (Devlin et al. 2018, section 3).

    Args:
        lowercase: accents go too. False: the cased model.
        score: see ``WordPieceTrainer``; the library knows "frequency" only.
    """
    tokenizer = Tokenizer(
        WordPiece(),
        normalizers.BertNormalizer(lowercase=lowercase),
        pre_tokenizers.BertPreTokenizer(),
        decoder=decoders.WordPiece(),
    )
    trainer = WordPieceTrainer(vocab_size, special_tokens=BERT_TOKENS, score=score)
    recipe = Recipe(tokenizer, tokenizer.train_from_iterator(texts, trainer, backend))
    _frame(tokenizer, "[PAD]")
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
    _frame(tokenizer, "<pad>")
    return recipe


def words(
    vocabulary: "Vocabulary", special_tokens: Sequence[str] = BERT_TOKENS, lowercase: bool = True
) -> Tokenizer:
    """Whole words of a vocabulary, as ``[CLS] A [SEP] B [SEP]``: what subwords are compared with.

    Args:
        vocabulary: the words. Its unknown token stays the unknown token.
        special_tokens: get the first ids; they must have ``[PAD]``, ``[CLS]`` and ``[SEP]``.

    Raises:
        CourseError: there is no unknown token, neither in the vocabulary nor as ``[UNK]``.
    """
    unknown = vocabulary.unknown or "[UNK]"
    tokens = list(dict.fromkeys([*special_tokens, *vocabulary.tokens]))
    if unknown not in tokens:
        raise CourseError(
            "The vocabulary has no unknown token, and [UNK] is not among the special tokens.",
            "Add '[UNK]' to special_tokens, or build the vocabulary with an unknown token.",
        )
    tokenizer = Tokenizer(
        WordLevel({token: id_ for id_, token in enumerate(tokens)}, unknown),
        normalizers.Lowercase() if lowercase else None,
        pre_tokenizers.Whitespace(),
    )
    tokenizer.add_special_tokens([*special_tokens, unknown])
    _frame(tokenizer, "[PAD]")
    return tokenizer


def _frame(tokenizer: Tokenizer, padding: str) -> None:
    """Put BERT's special tokens round each text, and fill up batches."""
    ids = tokenizer.model.ids
    tokenizer.post_processor = TemplateProcessing.of(
        "[CLS] $A [SEP]",
        "[CLS] $A [SEP] $B:1 [SEP]:1",
        [(token, ids[token]) for token in ("[CLS]", "[SEP]")],
    )
    tokenizer.enable_padding(pad_id=ids[padding], pad_token=padding)
