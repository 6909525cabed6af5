"""Post-processors: templates in both forms, BERT, RoBERTa, byte-level."""

import json
from collections.abc import Callable
from typing import Any

import pytest
import tokenizers
from tokenizers import processors as theirs

from lmcourse.errors import CourseError
from lmcourse.tokenizers.models.word_level import WordLevel
from lmcourse.tokenizers.processors import (
    BertProcessing,
    ByteLevel,
    Processor,
    RobertaProcessing,
    Sequence,
)
from lmcourse.tokenizers.template import Piece, Place, SpecialToken, TemplateProcessing
from lmcourse.tokenizers.text.pre_tokenizers import ByteLevel as ByteLevelPreTokenizer
from lmcourse.tokenizers.text.pre_tokenizers import WhitespaceSplit
from lmcourse.tokenizers.tokenizer import Tokenizer

VOCAB = {token: id_ for id_, token in enumerate(["[UNK]", "[CLS]", "[SEP]", "low", "Ġlow", "new"])}
SEP, CLS = ("[SEP]", 2), ("[CLS]", 1)


def with_processor(processor: Processor | None, **parts: Any) -> Tokenizer:
    """Words of a small vocabulary, and this post-processor."""
    model = WordLevel(VOCAB, "[UNK]")
    return Tokenizer(model, pre_tokenizer=WhitespaceSplit(), post_processor=processor, **parts)


def test_bert_pair() -> None:
    """The input of BERT (Devlin et al. 2019, figure 2)."""
    pair = with_processor(BertProcessing(SEP, CLS)).encode("low new", "new")
    assert pair.tokens == ["[CLS]", "low", "new", "[SEP]", "new", "[SEP]"]
    assert pair.type_ids == [0, 0, 0, 0, 1, 1]
    assert pair.special_tokens_mask == [1, 0, 0, 1, 0, 1]
    assert pair.sequence_ids == [None, 0, 0, None, 1, None]


def test_roberta_pair() -> None:
    """Two separators, and a single segment."""
    pair = with_processor(RobertaProcessing(SEP, CLS)).encode("low new", "new")
    assert pair.tokens == ["[CLS]", "low", "new", "[SEP]", "[SEP]", "new", "[SEP]"]
    assert pair.type_ids == [0] * 7


@pytest.mark.parametrize("trim", [True, False])
def test_byte_level_trims_the_space(trim: bool) -> None:
    """``Ġlow`` stands for 3 characters of the text, or 4 with its space."""
    tokenizer = with_processor(ByteLevel(add_prefix_space=False, trim_offsets=trim))
    tokenizer.pre_tokenizer = ByteLevelPreTokenizer(add_prefix_space=False)
    assert tokenizer.encode("low low").offsets == [(0, 3), (4, 7) if trim else (3, 7)]


@pytest.mark.parametrize("pair", [None, "new low"])
@pytest.mark.parametrize("special", [True, False])
def test_template_equals_bert(pair: str | None, special: bool) -> None:
    """BERT's processor and its template are the same."""
    template = TemplateProcessing.of(
        "[CLS] $A [SEP]", ["[CLS]", "$A", "[SEP]", "$B:1", "[SEP]:1"], [SEP, CLS]
    )
    for processor in (template, Sequence((template,))):
        found = with_processor(processor).encode("low new", pair, add_special_tokens=special)
        expected = with_processor(BertProcessing(SEP, CLS)).encode(
            "low new", pair, add_special_tokens=special
        )
        assert found == expected if special else found.ids == expected.ids


@pytest.mark.parametrize(
    ("single", "pair"),
    [
        ("[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1"),
        ("$", "$0 $B:3"),
        ("$1", "$b:2 $a"),
        ("$a:7 [SEP]:1", "$2:4 [CLS] $B"),
        (["$A", "[CLS]"], ["$B", "$A", "$A"]),
    ],
)
def test_templates_read_as_the_library_does(single: Any, pair: Any) -> None:
    """The short form of a template gives the same JSON."""
    library = tokenizers.Tokenizer(tokenizers.models.WordLevel(VOCAB, "[UNK]"))
    library.post_processor = theirs.TemplateProcessing(
        single=single, pair=pair, special_tokens=[SEP, CLS]
    )
    ours = with_processor(TemplateProcessing.of(single, pair, [SEP, CLS]))
    written = json.loads(ours.to_str())["post_processor"]
    assert written == json.loads(library.to_str())["post_processor"]


def test_special_token_of_several_tokens() -> None:
    """A name in a template may stand for more than one token."""
    start = SpecialToken("[START]", (1, 2), ("[CLS]", "[SEP]"))
    pieces = TemplateProcessing.of("[START] $A", special_tokens=[("[START]", 0)])
    template = TemplateProcessing(pieces.single, pieces.pair, {"[START]": start})
    tokenizer = with_processor(template)
    assert tokenizer.encode("low").ids == [1, 2, 3]
    assert tokenizer.to_library().encode("low").ids == [1, 2, 3]
    assert template.added_tokens(pair=False) == 2


@pytest.mark.parametrize("written", ["$C", "$A:x", "$A:1:2", "[CLS]:-1", "$A:²"])
def test_unreadable_template(written: str) -> None:
    """The error names the place that cannot be read."""
    with pytest.raises(CourseError, match=r"template cannot hold") as error:
        TemplateProcessing.of(f"$A {written}", special_tokens=[CLS])
    assert repr(written) in error.value.cause


def test_bad_templates() -> None:
    """A special token without its id, a text that is not there, a pair of one."""
    with pytest.raises(CourseError, match=r"'\[SEP\]', but its id is not given"):
        TemplateProcessing.of("$A [SEP]", special_tokens=[CLS])
    with pytest.raises(CourseError, match=r"single text names the second text"):
        TemplateProcessing.of("$A $B")
    with pytest.raises(CourseError, match=r"pairs does not use both texts"):
        TemplateProcessing.of("$A", "$A $1")
    template = TemplateProcessing.of("[CLS] $A", "[CLS] $A $B", special_tokens=[CLS])
    twice = with_processor(Sequence((BertProcessing(SEP, CLS), template, template)))
    with pytest.raises(CourseError, match=r"has already made 3 parts"):
        twice.encode("low", "new")


A, B = Piece(sequence=Place("A", 0)), Piece(sequence=Place("B", 1))


@pytest.mark.parametrize(
    ("made", "cause"),
    [
        (lambda: Piece(), "either for a text or for a special token"),
        (lambda: Piece(Place("A", 0), Place("[SEP]", 0)), "either for a text or for a special"),
        (lambda: Piece(sequence=Place("C", 0)), "A template names the text 'C'."),
        (lambda: Place("A", -1), "The type_id of Place cannot be -1."),
        (lambda: Place("A", 2**32), "The type_id of Place cannot be 4294967296."),
        (lambda: SpecialToken("[X]", (1, 2), ("[X]",)), "stands for 1 tokens, but has 2 ids."),
        (lambda: SpecialToken("[X]", (-1,), ("[X]",)), "The ids of SpecialToken cannot be (-1,)."),
        (lambda: TemplateProcessing((A,), (A,), {}), "pairs does not use both texts."),
        (lambda: TemplateProcessing((B,), (A, B), {}), "single text names the second text"),
        (lambda: TemplateProcessing.of(special_tokens=["[CLS]"]), "cannot be ['[CLS]']."),  # type: ignore[list-item]
        (lambda: TemplateProcessing.of(special_tokens={"[CLS]": 1}), "cannot be ['[CLS]']."),  # type: ignore[dict-item]
        (lambda: TemplateProcessing.of(special_tokens=5), "cannot be 5."),  # type: ignore[arg-type]
        (lambda: TemplateProcessing.of(None), "The template cannot be None."),  # type: ignore[arg-type]
        (lambda: BertProcessing(("[SEP]", -2)), "The sep of BertProcessing cannot be"),
    ],
)
def test_parts_that_do_not_hold_together(made: Callable[[], Any], cause: str) -> None:
    """They are refused when they are made, not at the first text."""
    with pytest.raises(CourseError) as error:
        made()
    assert cause in error.value.cause


def test_special_tokens_that_the_vocabulary_lacks() -> None:
    """The library adds whatever id it is told; ours says that it is wrong."""
    with pytest.raises(CourseError, match=r"'\[SEP\]' with the id 5.* gives it the id 2"):
        with_processor(BertProcessing(("[SEP]", 5), CLS)).encode("low")
    with pytest.raises(CourseError, match=r"'<s>' with the id 9, but the vocabulary lacks it"):
        with_processor(RobertaProcessing(SEP, ("<s>", 9))).encode("low")
    unused = with_processor(BertProcessing(("[SEP]", 5), CLS))
    assert unused.encode("low", add_special_tokens=False).ids == [3]
