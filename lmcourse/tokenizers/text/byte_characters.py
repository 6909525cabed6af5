"""A visible character for each of the 256 bytes: the alphabet of byte-level BPE.

UTF-8 writes every text as bytes, so a tokenizer that starts from 256 bytes knows every text. To
keep its vocabulary readable, GPT-2 writes a byte as a character: those that Latin-1 prints stand
for themselves, the other 68 (controls, spaces, the soft hyphen) are moved to U+0100 and after. A
space becomes Ġ, a line end Ċ, and the two bytes of é become Ã and ©.

Source: Radford et al. 2019, "Language Models are Unsupervised Multitask Learners", section 2.2.
"""

from functools import cache

_PRINTED = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), 256)]
_MOVED = [byte for byte in range(256) if byte not in _PRINTED]

BYTE_TO_CHARACTER: dict[int, str] = {byte: chr(byte) for byte in _PRINTED} | {
    byte: chr(256 + place) for place, byte in enumerate(_MOVED)
}
CHARACTER_TO_BYTE: dict[str, int] = {char: byte for byte, char in BYTE_TO_CHARACTER.items()}


@cache
def byte_characters(character: str) -> str:
    """The characters that stand for the bytes of one character in UTF-8."""
    return "".join(BYTE_TO_CHARACTER[byte] for byte in character.encode())
