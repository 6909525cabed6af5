"""Lab 07, ELMo: its exercises. Their tasks are in the two modules of this package."""

from lmcourse.labs.check import Exercise

_CHARACTERS, _LAYERS = f"{__name__}.characters", f"{__name__}.layers"

check_windows = Exercise("07.1", "The windows of a word", 10, 1, f"{_CHARACTERS}:WINDOWS")
check_highway = Exercise("07.2", "Paths through a highway layer", 15, 3, f"{_CHARACTERS}:JACOBIAN")
check_mix = Exercise("07.3", "A mix of normalized layers", 15, 2, f"{_LAYERS}:MIX")
check_senses = Exercise("07.4", "Senses, with a control", 20, 3, f"{_LAYERS}:SENSES")
check_neighbor = Exercise("07.5", "A word never seen", 20, 4, f"{_CHARACTERS}:NEIGHBOR")
check_layers = Exercise("07.6", "Which layer for which task?", 40, 5, f"{_LAYERS}:SELECT")
