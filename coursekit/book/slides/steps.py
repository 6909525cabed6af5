"""Diagrams that are built up on a slide: `lmcourse.diagram.Diagram.step` names their parts."""

import re

from coursekit.book.render.markup import escape

_STEP = re.compile(r'<g id="step-(?P<step>\d+)-\d+"')
_ID = re.compile(r'(?P<before>\bid="|href="#|url\(#)(?P<name>[^")]+)')


def count(svg: str) -> int:
    """Return how many steps follow the first picture of a diagram."""
    return max((int(found["step"]) for found in _STEP.finditer(svg)), default=0)


def inline(svg: str, alt: str, prefix: str, first: int) -> str:
    """Return a diagram as part of a page, each step a fragment.

    Args:
        alt: what it shows.
        prefix: makes its names differ from those of the page's other diagrams.
        first: the number of its first fragment on the slide.
    """
    svg = svg[svg.index("<svg ") :]
    size = re.search(r'width="([\d.]+)" height="([\d.]+)"', svg[:500])
    assert size is not None
    head = f'<svg class="plot steps" role="img" aria-label="{_attribute(alt)}" '
    svg = head + svg[len("<svg ") :]
    svg = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>", "", svg, flags=re.DOTALL)
    svg = _STEP.sub(
        lambda it: f'<g class="fragment" data-fragment-index="{first + int(it["step"]) - 1}"', svg
    )
    return _ID.sub(lambda it: f"{it['before']}{prefix}{it['name']}", svg)


def _attribute(text: str) -> str:
    return escape(text).replace('"', "&quot;")
