"""Lab 14, SpanBERT and ELECTRA: its exercises, in the order of its text."""

from lmcourse.labs.check import Lab

lab = Lab(__name__)

check_lengths = lab.exercise("lengths", "The lengths of spans", 10, 1, "spans:LENGTHS")
check_boundaries = lab.exercise("boundaries", "The boundaries of a span", 15, 2, "spans:BOUNDARIES")
check_objective = lab.exercise("objective", "The boundary objective", 20, 3, "spans:OBJECTIVE")
check_corrupted = lab.exercise("corrupted", "Replaced or not", 15, 3, "replaced:CORRUPTED")
check_joint = lab.exercise("joint", "The joint loss", 20, 4, "replaced:JOINT")
check_detector = lab.exercise("detector", "The best discriminator", 25, 4, "detector:DETECTOR")
