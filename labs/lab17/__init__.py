"""Lab 17, DistilBERT: its exercises, in the order of its text."""

from lmcourse.labs.check import Lab

lab = Lab(__name__)

check_temperature = lab.exercise("temperature", "Another temperature", 5, 1, "losses:TEMPERATURE")
check_gradients = lab.exercise("gradients", "Two gradients, one scale", 15, 2, "losses:GRADIENTS")
check_losses = lab.exercise("losses", "Three losses of a padded batch", 20, 3, "losses:LOSSES")
check_layers = lab.exercise("layers", "Every other layer", 20, 3, "students:LAYERS")
check_excess = lab.exercise("excess", "A student that beats its teacher?", 20, 4, "students:EXCESS")
check_retained = lab.exercise("retained", "Distill one yourself", 40, 5, "students:RETAINED")
