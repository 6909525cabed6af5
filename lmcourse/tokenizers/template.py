"""Templates: where the special tokens stand, written down instead of programmed.

``[CLS] $A [SEP] $B:1 [SEP]:1`` is BERT's pair: ``$A`` and ``$B`` are the texts, the number after
a colon is the segment (0 if there is none).
"""

from collections.abc import Iterable, Sequence

from lmcourse.errors import CourseError
from lmcourse.tokenizers.component import Component, Id, Record, checked
from lmcourse.tokenizers.encoding import Encoding

SpecialPair = tuple[str, Id]  # a special token and its id


class Place(Record, frozen=True):
    """What stands at a place of a template (``A``, ``B`` or a special token), and its segment."""

    id: str
    type_id: Id


class Piece(Record, frozen=True, omit_defaults=True, rename="pascal"):
    """A place of a template, which is either for a text or for a special token.

    Raises:
        CourseError: it is for none or for both, or for another text than A or B.
    """

    sequence: Place | None = None
    special_token: Place | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.sequence is None) == (self.special_token is None):
            raise CourseError(
                "A place of a template is either for a text or for a special token.",
                "Give one of the two, or write it in the short form: TemplateProcessing.of.",
            )
        if self.sequence and self.sequence.id not in ("A", "B"):
            raise CourseError(
                f"A template names the text {self.sequence.id!r}.",
                "Name the texts A and B: there is at most a pair of them.",
            )

    @classmethod
    def of(cls, written: str) -> "Piece":
        """A place in the short form: ``$A``, ``$B:1``, ``$1`` (text A in segment 1), ``[SEP]:1``.

        Raises:
            CourseError: it is none of these.
        """
        name, *type_ids = written.split(":")
        text = name[1:].upper() if name.startswith("$") else None
        if text is not None and text.isdecimal() and text.isascii():
            text, type_ids = "A", type_ids or [text]
        digits = (type_ids or ["0"])[0]
        wrong_text = text is not None and text not in ("", "A", "B")
        if wrong_text or len(type_ids) > 1 or not (digits.isdecimal() and digits.isascii()):
            raise CourseError(
                f"A template cannot hold {written!r}.",
                "Write $A or $B for a text, a special token by its name, and a segment after a "
                "colon: [CLS] $A [SEP] $B:1 [SEP]:1, with single spaces between.",
            )
        if text is None:
            return cls(special_token=Place(name, int(digits)))
        return cls(sequence=Place(text or "A", int(digits)))


class SpecialToken(Record, frozen=True):
    """What a template calls a special token, and the tokens and ids that it stands for.

    Raises:
        CourseError: it has not as many ids as tokens.
    """

    id: str
    ids: tuple[Id, ...]
    tokens: tuple[str, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.ids) != len(self.tokens):
            raise CourseError(
                f"The special token {self.id!r} of a template stands for {len(self.tokens)} "
                f"tokens, but has {len(self.ids)} ids.",
                "Give one id for each token.",
            )


class TemplateProcessing(Component, frozen=True):
    """Fill templates, one for a single text and one for a pair. See ``of`` for how to write them.

    Raises:
        CourseError: a template names a special token without its id, ``single`` names a second
            text, or ``pair`` does not name both.
    """

    single: tuple[Piece, ...]
    pair: tuple[Piece, ...]
    special_tokens: dict[str, SpecialToken]

    @classmethod
    def of(
        cls,
        single: str | Sequence[str] = "$A",
        pair: str | Sequence[str] = "$A $B:1",
        special_tokens: Iterable[SpecialPair] = (),
    ) -> "TemplateProcessing":
        """From templates such as ``"[CLS] $A [SEP]"`` and ``"[CLS] $A [SEP] $B:1 [SEP]:1"``.

        Args:
            single: the places for a single text, with single spaces between, or as a list.
            pair: the same for a pair of texts.
            special_tokens: each special token that they name, with its id.

        Raises:
            CourseError: a template cannot be read, or see the class.
        """
        forms = [form.split(" ") if isinstance(form, str) else form for form in (single, pair)]
        singles, pairs = (
            tuple(map(Piece.of, checked(form, tuple[str, ...], "template"))) for form in forms
        )
        if isinstance(special_tokens, Iterable):
            special_tokens = list(special_tokens)
        known = checked(special_tokens, tuple[SpecialPair, ...], "special_tokens of a template")
        return cls(
            singles, pairs, {token: SpecialToken(token, (id_,), (token,)) for token, id_ in known}
        )

    def __post_init__(self) -> None:
        super().__post_init__()
        for piece in (*self.single, *self.pair):
            token = piece.special_token
            if token and token.id not in self.special_tokens:
                raise CourseError(
                    f"A template names the special token {token.id!r}, but its id is not given.",
                    f"Add ({token.id!r}, its id) to the special tokens of the post-processor.",
                )
        if any(piece.sequence and piece.sequence.id == "B" for piece in self.single):
            raise CourseError(
                "The template for a single text names the second text, $B.",
                "Use $B in the template for pairs only.",
            )
        if {piece.sequence.id for piece in self.pair if piece.sequence} != {"A", "B"}:
            raise CourseError(
                "The template for pairs does not use both texts.",
                "Name $A and $B in it, for instance: $A $B:1.",
            )

    @property
    def named(self) -> dict[str, int]:
        """The special tokens that it adds, with their ids."""
        return {
            token: id_
            for special in self.special_tokens.values()
            for token, id_ in zip(special.tokens, special.ids, strict=True)
        }

    def added_tokens(self, pair: bool) -> int:
        """How many special tokens a text (or a pair) gets."""
        pieces = self.pair if pair else self.single
        names = [piece.special_token.id for piece in pieces if piece.special_token]
        return sum(len(self.special_tokens[name].ids) for name in names)

    def process_encodings(
        self, encodings: list[Encoding], add_special_tokens: bool
    ) -> list[Encoding]:
        """An encoding for each place of the template."""
        if len(encodings) > 2:
            raise CourseError(
                "A template is filled with one or two texts, but another post-processor before it "
                f"has already made {len(encodings)} parts of them.",
                "Put the template first, or keep a single template in the sequence.",
            )
        filled = []
        for piece in self.pair if len(encodings) == 2 else self.single:
            if piece.sequence:
                which = "AB".index(piece.sequence.id)
                text = encodings[which].with_type(piece.sequence.type_id)
                filled.append(text.with_sequence(which))
            elif piece.special_token and add_special_tokens:
                special = self.special_tokens[piece.special_token.id]
                tokens = zip(special.tokens, special.ids, strict=True)
                filled.append(Encoding.special(tokens, piece.special_token.type_id))
        return filled
