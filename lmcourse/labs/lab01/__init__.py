"""Lab 01, backpropagation: its exercises. Their tasks are in the two modules of this package."""

from lmcourse.labs.check import Exercise

_FORMULAS, _GRAPHS = f"{__name__}.formulas", f"{__name__}.graphs"

check_derivatives = Exercise("01.1", "Eight derivatives", 10, 1, f"{_FORMULAS}:DERIVATIVES")
check_operation = Exercise("01.2", "An operation of your own", 15, 2, f"{_GRAPHS}:OPERATION")
check_order = Exercise("01.3", "A topological order", 20, 3, f"{_GRAPHS}:ORDER")
check_gradients = Exercise("01.4", "A broken backward pass", 20, 3, f"{_GRAPHS}:GRADIENTS")
check_layer = Exercise("01.5", "A layer with dropout", 20, 3, f"{_FORMULAS}:LAYER")
check_error = Exercise("01.6", "Does a wrong gradient learn?", 35, 5, f"{_FORMULAS}:ERROR")
