"""Lab 07, ELMo: its exercises, in the order of its text."""

from lmcourse.labs.check import Lab

lab = Lab(__name__)

check_windows = lab.exercise("windows", "The windows of a word", 10, 1, "characters:WINDOWS")
check_highway = lab.exercise(
    "highway", "Paths through a highway layer", 15, 3, "characters:JACOBIAN"
)
check_mix = lab.exercise("mix", "A mix of normalized layers", 15, 2, "layers:MIX")
check_senses = lab.exercise("senses", "Senses, with a control", 20, 3, "layers:SENSES")
check_neighbor = lab.exercise("neighbor", "A word never seen", 20, 4, "characters:NEIGHBOR")
check_layers = lab.exercise("layers", "Which layer for which task?", 40, 5, "layers:SELECT")
