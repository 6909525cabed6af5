"""Pytest for the whole checkout: notebooks are collected from their sources, and work is shared.

`pytester` is pytest's own plugin for tests of plugins; ``tests/notebooks`` uses it.
"""

pytest_plugins = [
    "pytester",
    "tests.garbage",
    "tests.own_cache",
    "tests.without_chromium",
    "tests.notebook_items",
    "tests.axes",
    "tests.order",
]
