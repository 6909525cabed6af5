"""The Brown corpus: 500 American texts of 1961 in 15 genres, each word with its part of speech.

Francis and Kučera, "Brown Corpus Manual" (1964, revised 1979): the tagged version, Form C, which
`lmcourse real install` installs. A line of a file is a sentence, and each token has its tag::

    The/at Fulton/np-tl County/nn-tl Grand/jj-tl Jury/nn-tl said/vbd Friday/nr an/at ...

The 472 different tags are reduced to the twelve of Petrov, Das and McDonald, "A Universal
Part-of-Speech Tagset" (LREC 2012). The files hold some oddities, which are kept: every ``;``,
``?`` and ``!`` that ends a sentence is there twice; words are cut after 30 characters and tags
after 10; symbols and formulas are codes (``**zg``, ``Af``); 157 tokens have the tag ``nil``.
"""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from lmcourse import releases
from lmcourse.corpus import streams
from lmcourse.errors import CourseError

GENRES = {
    "news": "Press: reportage",
    "editorial": "Press: editorial",
    "reviews": "Press: reviews",
    "religion": "Religion",
    "hobbies": "Skills and hobbies",
    "lore": "Popular lore",
    "belles_lettres": "Belles lettres, biography, memoirs, etc.",
    "government": "Miscellaneous: government documents, reports",
    "learned": "Learned",
    "fiction": "General fiction",
    "mystery": "Mystery and detective fiction",
    "science_fiction": "Science fiction",
    "adventure": "Adventure and Western fiction",
    "romance": "Romance and love story",
    "humor": "Humor",
}
"""The genres in the corpus's order, with the manual's names."""

_OF_LETTER = dict(zip("abcdefghjklmnpr", GENRES, strict=True))  # the second letter of a file's name
_TEXTS = "c[a-r][0-9][0-9]"
_AGAIN = 'Write "word/tag", or leave the folder out: `lmcourse real install` installs the corpus.'

# Petrov et al.'s table (en-brown.map), by the tags that are neither compound nor marked. Its odd
# choices are kept, so that results can be compared: "because" (cs) is an adposition, "his" (pp$)
# and "which" (wdt) are determiners, "all" (abn), "quite" (abl), "oh" (uh) and "there" (ex) are
# particles.
_CLASSES = {
    "NOUN": "nn nn$ nns nns$ np np$ nps nps$ nr nr$ nrs pn pn$ cd$",
    "VERB": "vb vbd vbg vbn vbz md be bed bedz beg bem ben ber bez do dod doz hv hvd hvg hvn hvz",
    "ADJ": "jj jjr jjs jjt ap od",
    "ADV": "rb rbr rbt rn ql qlp wql wrb *",
    "PRON": "pps ppss ppo ppl ppls pp$$ wps wpo",
    "DET": "at dt dt$ dti dts dtx abx pp$ wdt wp$",
    "ADP": "in cs",
    "CONJ": "cc",
    "NUM": "cd",
    "PRT": "to rp ex uh abl abn ap$ jj$ rb$",
    ".": ". , : -- ( ) `` '' '",
    "X": "nil",
}
_CLASS = {tag: name for name, tags in _CLASSES.items() for tag in tags.split()}
_MARKS = re.compile(r"(-(tl|hl|nc))+$")  # in a title, in a headline, cited
_WHOLE = {"fw-in+at-t": "fw-in+at-tl", "ppss+ber-n": "ppss+ber-nc", "wdt+ber+pp": "wdt+ber+ppss"}


class Sentence(NamedTuple):
    """One sentence of a text.

    Attributes:
        words: its tokens as they are in the file, punctuation included.
        tags: for each token, one of the twelve universal tags: see `universal_tag`.
        genre: one of `GENRES`.
        text: the name of the text's file, such as "ca01".
        brown_tags: for each token, the corpus's own tag, such as "np-tl".
    """

    words: tuple[str, ...]
    tags: tuple[str, ...]
    genre: str
    text: str
    brown_tags: tuple[str, ...]


class Brown:
    """The corpus, read anew with each iteration, one text at a time.

    Args:
        folder: a folder with texts in the same format, such as ca01; None: the installed corpus.

    Raises:
        CourseError: it is not installed, hidden (``LMCOURSE_REAL=off``) or damaged; the folder has
            no texts.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = releases.verified("brown") / "texts" if folder is None else folder
        if not any(self.folder.glob(_TEXTS)):
            raise CourseError(
                f"{self.folder} has no text of the Brown corpus, such as ca01.",
                "Leave the folder out: `lmcourse real install` installs the corpus.",
            )

    def sentences(self) -> Iterator[Sentence]:
        """The sentences in the order of the corpus, from ca01 to cr09.

        Raises:
            CourseError: a file cannot be read; a token has no tag or an unknown one; there is no
                such genre.
        """
        for path in sorted(self.folder.glob(_TEXTS)):
            if path.name[1] not in _OF_LETTER:
                cause = f"{path}: the Brown corpus has no genre {path.name[1].upper()}."
                raise CourseError(cause, f"Its genres are {', '.join(_OF_LETTER).upper()}.")
            for number, line in enumerate(streams.lines(streams.chunks(path), path), start=1):
                if line.strip():
                    yield _sentence(path, number, line)


@cache
def universal_tag(brown_tag: str) -> str:
    """The universal tag of one of the corpus's own.

    The marks of titles, headlines and cited words do not matter (``np-tl`` is a NOUN), nor does a
    negation (``bez*``, "isn't"). Foreign words (``fw-nn``) are X. A contraction has the tag of its
    first part (``vbg+to``, "gonna"), or is PRT if a verb follows something else (``pps+bez``,
    "he's"). This is Petrov et al.'s table but for four tags of one token each, which have no rule
    there: do+ppss, wdt+ber+pp and wdt+do+pps are X in it, wrb+in is PRT.

    Raises:
        KeyError: the corpus has no such tag.
    """
    tag = _MARKS.sub("", _WHOLE.get(brown_tag, brown_tag))
    parts = [_CLASS[part.removesuffix("*") or part] for part in tag.removeprefix("fw-").split("+")]
    if tag.startswith("fw-"):
        return "X"
    return "PRT" if parts[0] != "VERB" and "VERB" in parts else parts[0]


def _sentence(path: Path, number: int, line: bytes) -> Sentence:
    where = f"Line {number:,} of {path}"
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        cause = f"{where}: {streams.spoiled(error, line)}."
        raise CourseError(cause, "Save the file as UTF-8.") from None
    words, tags, brown_tags = [], [], []
    for token in text.split():
        word, _, brown_tag = token.rpartition("/")
        if not word or not brown_tag:
            raise CourseError(f"{where}: {token!r} is not a word with a tag.", _AGAIN)
        try:
            tags.append(universal_tag(brown_tag))
        except KeyError:
            cause = f"{where}: {token!r} has a tag that is not one of the Brown corpus."
            raise CourseError(cause, _AGAIN) from None
        words.append(word)
        brown_tags.append(brown_tag)
    genre = _OF_LETTER[path.name[1]]
    return Sentence(tuple(words), tuple(tags), genre, path.name, tuple(brown_tags))
