"""SentencePiece's normalization table: which texts are replaced by which.

The file of a SentencePiece model holds its rules compiled into one block of bytes: a trie of the
texts to be replaced, then all replacements, each ended by a zero byte. The trie is a double array
(Aoe 1989, "An efficient digital search algorithm by using a double-array structure"), in the
layout of the Darts-clone library: a list of 32-bit units, and a node's child for byte ``b`` stands
at the node's offset, xor ``b``.

Source: Kudo and Richardson 2018, "SentencePiece" (customizable normalization).
"""

import base64
import binascii
import struct
from functools import cache
from itertools import takewhile

import regex  # type: ignore[import-untyped]

from lmcourse.errors import CourseError
from lmcourse.tokenizers.text.normalized_string import NormalizedString

LONGEST = 5  # bytes; a longer cluster is looked up character by character
CLUSTER = regex.compile(r"\X")  # what a reader sees as one character


class Charsmap:
    """The table.

    Args:
        encoded: its bytes in base64, as tokenizer.json holds them: four that say how long the
            trie is, the trie, the replacements.

    Raises:
        CourseError: it is no such table.
    """

    def __init__(self, encoded: str) -> None:
        try:
            block = base64.b64decode(encoded, validate=True)
            (size,) = struct.unpack_from("<I", block)
            self.units = struct.unpack_from(f"<{size // 4}I", block, 4)
            self.replacements = block[4 + size :]
            self.replacements.decode()
            self.root = _offset(self.units[0])
        except (binascii.Error, struct.error, UnicodeDecodeError, IndexError) as error:
            raise CourseError(
                f"The precompiled_charsmap of the normalizer is damaged: {error}.",
                "Take the tokenizer file anew from where it was published.",
            ) from None
        self.replacement = cache(self._replacement)

    def _replacement(self, text: str) -> str | None:
        """What replaces a text, or None.

        Not the longest beginning of it that the trie knows decides, but the shortest. That is
        odd, but the models were trained so.
        """
        node = self.root
        for byte in takewhile(bool, text.encode()):
            node ^= byte
            if node >= len(self.units) or self.units[node] & 0x800000FF != byte:
                return None
            unit = self.units[node]
            node ^= _offset(unit)
            if unit & 0x100:  # an entry ends here
                start = self.units[node] & 0x7FFFFFFF
                return self.replacements[start:].partition(b"\0")[0].decode()
        return None

    def normalize(self, text: NormalizedString) -> NormalizedString:
        """The text with all replacements made, cluster by cluster."""
        changes: list[tuple[str, int]] = []
        for cluster in CLUSTER.findall(text.normalized):
            short = len(cluster.encode()) <= LONGEST
            whole = self.replacement(cluster) if short else None
            if whole is not None:
                _replace(changes, cluster, whole)
                continue
            for character in cluster:
                new = self.replacement(character)
                _replace(changes, character, character if new is None else new)
        return text.transform(changes)


def _offset(unit: int) -> int:
    """How far a node's children are: 22 bits, which count units, or blocks of 256 of them."""
    return unit >> 10 << ((unit & 0x200) >> 6)


def _replace(changes: list[tuple[str, int]], old: str, new: str) -> None:
    """Tell that ``new`` takes the place of ``old`` (see ``NormalizedString.transform``)."""
    added = len(new) - len(old)
    changes += [(character, 0) for character in new]
    if added > 0:
        changes[-added:] = [(character, 1) for character, _ in changes[-added:]]
    elif added < 0 and changes:
        character, change = changes[-1]
        changes[-1] = (character, change + added)
