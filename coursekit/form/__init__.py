"""What a source owes its reader: the rules of form in CONTRIBUTING.md, checked on the text.

A breach names the file, the line, what is there and what to do. `make test ONLY=NN` and
`lmcourse new` show them.
"""

from collections.abc import Callable, Iterator, Sequence

from coursekit import course
from coursekit.form import checks, rules
from coursekit.form.page import Breach, Page
from coursekit.form.symbols import defined_once

__all__ = ["Breach", "breaches", "report"]


def breaches(source: course.Source) -> list[Breach]:
    """Return everything in a source that does not have the form, in the order of its lines."""
    page = Page(source)
    kept: list[Callable[[Page], Iterator[Breach]]] = [
        rules.front_matter,
        rules.code,
        rules.figures,
        rules.voice,
        checks.measured,
    ]
    if source.number:
        kept.append(rules.numbers)
    if source.kind == "chapter":
        kept += [rules.equations, rules.counts, rules.deeper]
        kept += [checks.recorded, defined_once]
    if source.kind == "widget":
        kept.append(rules.widget)
    return sorted((it for rule in kept for it in rule(page)), key=lambda it: it.line)


def report(sources: Sequence[course.Source]) -> str:
    """Return the breaches of some sources, a line each; "" if there are none."""
    return "\n".join(str(it) for source in sources for it in breaches(source))
