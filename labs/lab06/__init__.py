"""Lab 06, subword tokenization: its exercises, in the order of its text."""

from lmcourse.labs.check import Lab

lab = Lab(__name__)

check_merge = lab.exercise("merge", "A merge step", 15, 2, "words:MERGE")
check_encode = lab.exercise("encode", "Encode by ranks", 10, 2, "words:ENCODE")
check_wordpiece = lab.exercise("wordpiece", "WordPiece with spans", 20, 3, "texts:WORDPIECE")
check_viterbi = lab.exercise("viterbi", "Viterbi with unknown characters", 20, 3, "words:VITERBI")
check_stream = lab.exercise("stream", "Byte fallback, token by token", 20, 4, "texts:STREAM")
check_symbols = lab.exercise("symbols", "A vocabulary for emoji", 35, 5, "texts:SYMBOLS")
