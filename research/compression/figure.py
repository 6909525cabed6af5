"""What the widget `Pareto` shows of the record: rows that notebooks can read without `research`."""

from typing import Any

from research.compression.encoders import ENCODERS
from research.compression.grid import TUNED
from research.compression.methods import BY_NAME
from research.compression.page import label
from research.compression.records import Record
