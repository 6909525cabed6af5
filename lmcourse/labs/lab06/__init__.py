"""Lab 06, subword tokenization: its exercises. Their tasks are in the package's two modules."""

from lmcourse.labs.check import Exercise

_WORDS, _TEXTS = f"{__name__}.words", f"{__name__}.texts"

check_merge = Exercise("06.1", "A merge step", 15, 2, f"{_WORDS}:MERGE")
check_encode = Exercise("06.2", "Encode by ranks", 10, 2, f"{_WORDS}:ENCODE")
check_wordpiece = Exercise("06.3", "WordPiece with spans", 20, 3, f"{_TEXTS}:WORDPIECE")
check_viterbi = Exercise("06.4", "Viterbi with unknown characters", 20, 3, f"{_WORDS}:VITERBI")
check_stream = Exercise("06.5", "Byte fallback, token by token", 20, 4, f"{_TEXTS}:STREAM")
check_symbols = Exercise("06.6", "A vocabulary for emoji", 35, 5, f"{_TEXTS}:SYMBOLS")
