"""Lab 03, LSTM and GRU: its exercises, in the order of its text."""

from lmcourse.labs.check import Lab

lab = Lab(__name__)

check_parameters = lab.exercise("parameters", "Parameters", 10, 1, "units:PARAMETERS")
check_lstm = lab.exercise("lstm", "One step of an LSTM", 15, 2, "cells:LSTM_STEP")
check_gru = lab.exercise("gru", "The GRU, both ways", 20, 3, "cells:GRU_STEP")
check_bias = lab.exercise("bias", "A bias for a half-life", 10, 3, "units:BIAS")
check_peepholes = lab.exercise("peepholes", "Peepholes", 15, 3, "cells:PEEPHOLES")
check_unit = lab.exercise("unit", "Find a unit", 45, 5, "units:UNIT")
