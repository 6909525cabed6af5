"""Lab 01, backpropagation: its exercises, in the order of its text."""

from lmcourse.labs.check import Lab

lab = Lab(__name__)

check_derivatives = lab.exercise("derivatives", "Eight derivatives", 10, 1, "formulas:DERIVATIVES")
check_operation = lab.exercise("operation", "An operation of your own", 15, 2, "graphs:OPERATION")
check_order = lab.exercise("order", "A topological order", 20, 3, "graphs:ORDER")
check_gradients = lab.exercise("gradients", "A broken backward pass", 20, 3, "graphs:GRADIENTS")
check_layer = lab.exercise("layer", "A layer with dropout", 20, 3, "formulas:LAYER")
check_error = lab.exercise("error", "Does a wrong gradient learn?", 35, 5, "formulas:ERROR")
