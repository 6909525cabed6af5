"""The page ``data/compression/README.md``, made from the results alone."""

from research.compression.records import Record


def page(record: Record) -> str:
    """Return the page's text."""
    return ""
