"""Lab 17, DistilBERT: its exercises. Their tasks are in this package."""

from lmcourse.labs.check import Exercise

_LOSSES, _STUDENTS = f"{__name__}.losses", f"{__name__}.students"

check_temperature = Exercise("17.1", "Another temperature", 5, 1, f"{_LOSSES}:TEMPERATURE")
check_gradients = Exercise("17.2", "Two gradients, one scale", 15, 2, f"{_LOSSES}:GRADIENTS")
check_losses = Exercise("17.3", "Three losses of a padded batch", 20, 3, f"{_LOSSES}:LOSSES")
check_layers = Exercise("17.4", "Every other layer", 20, 3, f"{_STUDENTS}:LAYERS")
check_excess = Exercise("17.5", "A student that beats its teacher?", 20, 4, f"{_STUDENTS}:EXCESS")
check_retained = Exercise("17.6", "Distil one yourself", 40, 5, f"{_STUDENTS}:RETAINED")
