"""Files for the readers of `lmcourse.corpus`: reviews and word vectors, gzipped if named .gz."""

import gzip
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from lmcourse.corpus import WordVectors
from lmcourse.corpus.vector_formats import Format


def write_reviews(path: Path, records: Iterable[Mapping[str, Any]]) -> None:
    """Write reviews in the Goodreads layout."""
    _write(path, (msgspec.json.encode(record) + b"\n" for record in records))


def write_vectors(path: Path, vectors: WordVectors, format: Format = "word2vec") -> None:
    """Write word vectors; text formats keep nine digits, which is all that a float32 has."""
    header = [] if format == "glove" else [b"%d %d\n" % vectors.vectors.shape]
    rows = zip(vectors.words, vectors.vectors, strict=True)
    if format == "word2vec-binary":
        entries = (word.encode() + b" " + row.astype("<f4").tobytes() + b"\n" for word, row in rows)
    else:
        entries = (
            f"{word} {' '.join([f'{number:.9g}' for number in row.tolist()])}\n".encode()
            for word, row in rows
        )
    _write(path, [*header, *entries])


def _write(path: Path, lines: Iterable[bytes]) -> None:
    with gzip.open(path, "wb") if path.suffix == ".gz" else path.open("wb") as file:
        file.writelines(lines)
