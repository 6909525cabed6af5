"""Lab 04, bidirectional LSTM and dropout: its exercises, in the order of its text."""

from lmcourse.labs.check import Lab

lab = Lab(__name__)

check_pack = lab.exercise("pack", "Pack and unpack", 15, 3, "batches:PACK")
check_summaries = lab.exercise("summaries", "Two summaries", 10, 2, "batches:SUMMARIES")
check_tagger = lab.exercise("tagger", "A tagger's loss", 20, 3, "batches:TAGGER")
check_dropout = lab.exercise("dropout", "Locked dropout", 10, 2, "batches:LOCKED")
check_leak = lab.exercise("leak", "Find the leak", 25, 4, "context:LEAK")
check_future = lab.exercise("future", "Which tags need the future?", 40, 5, "context:FUTURE")
