"""Lab 03, LSTM and GRU: its exercises. Their tasks are in the two modules of this package."""

from lmcourse.labs.check import Exercise

_CELLS, _UNITS = f"{__name__}.cells", f"{__name__}.units"

check_parameters = Exercise("03.1", "Parameters", 10, 1, f"{_UNITS}:PARAMETERS")
check_lstm = Exercise("03.2", "One step of an LSTM", 15, 2, f"{_CELLS}:LSTM_STEP")
check_gru = Exercise("03.3", "The GRU, both ways", 20, 3, f"{_CELLS}:GRU_STEP")
check_bias = Exercise("03.4", "A bias for a half-life", 10, 3, f"{_UNITS}:BIAS")
check_peepholes = Exercise("03.5", "Peepholes", 15, 3, f"{_CELLS}:PEEPHOLES")
check_unit = Exercise("03.6", "Find a unit", 45, 5, f"{_UNITS}:UNIT")
