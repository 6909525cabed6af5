"""Lab 04, bidirectional LSTM and dropout: its exercises. Their tasks are in this package."""

from lmcourse.labs.check import Exercise

_BATCHES, _CONTEXT = f"{__name__}.batches", f"{__name__}.context"

check_pack = Exercise("04.1", "Pack and unpack", 15, 3, f"{_BATCHES}:PACK")
check_summaries = Exercise("04.2", "Two summaries", 10, 2, f"{_BATCHES}:SUMMARIES")
check_tagger = Exercise("04.3", "A tagger's loss", 20, 3, f"{_BATCHES}:TAGGER")
check_dropout = Exercise("04.4", "Locked dropout", 10, 2, f"{_BATCHES}:LOCKED")
check_leak = Exercise("04.5", "Find the leak", 25, 4, f"{_CONTEXT}:LEAK")
check_future = Exercise("04.6", "Which tags need the future?", 40, 5, f"{_CONTEXT}:FUTURE")
