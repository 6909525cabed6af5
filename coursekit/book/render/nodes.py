"""From MyST's syntax tree to HTML.

https://mystmd.org/spec names the nodes. Each type has a function of its own, by subject:
``inline`` (text and its marks), ``references`` (links, citations, footnotes), ``blocks``
(paragraphs, lists, tables), ``boxes`` (admonitions, cards, exercises), ``figures`` and ``outputs``
(cells and their outputs). What cannot be shown is a named problem, and the build fails on it.
"""

from collections.abc import Mapping
from typing import ClassVar

from coursekit.book.render import blocks, boxes, figures, inline, outputs, references
from coursekit.book.render.renderer import Handler, NodeRenderer


class Renderer(NodeRenderer):
    """The renderer of pages and slides."""

    handlers: ClassVar[Mapping[str, Handler]] = {
        **inline.HANDLERS,
        **references.HANDLERS,
        **blocks.HANDLERS,
        **boxes.HANDLERS,
        **figures.HANDLERS,
        **outputs.HANDLERS,
    }
