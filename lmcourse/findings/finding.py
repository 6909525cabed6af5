"""What was found of a claim: a table, and a verdict of each thing that is claimed.

    finding("dynamic-masking")          # from data/claims/dynamic-masking.json

In a notebook it shows itself; `Finding.show` draws it, with every seed and the spread.
"""

import html as escaping
from collections.abc import Iterable, Mapping
from statistics import mean, stdev
from typing import Any

import msgspec

from lmcourse import checks, references, table_forms
from lmcourse.errors import CourseError
from lmcourse.findings import setup
from lmcourse.findings import verdict as rule


class Part(msgspec.Struct, frozen=True, omit_defaults=True):
    """One variant: its scores by column, one a seed, and what its grid scored by setting."""

    name: str
    about: str
    scores: dict[str, list[float]]
    grid: dict[str, float] = {}


class Limit(msgspec.Struct, frozen=True):
    """A column: what it is, which side is better, and the best possible value."""

    about: str
    better: str
    digits: int
    limit: float | None = None


class Claimed(msgspec.Struct, frozen=True):
    """One thing that is claimed; see `research.claims.claim.Contrast`."""

    better: str
    than: str | float
    column: str
    margin: float
    factor: float
    claimed: rule.Claimed


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """What was found of a claim.

    Attributes:
        name, says, key, where, chapter, note: of the claim.
        seeds: those of which all runs were done.
        parts, columns, contrasts: see there.
        runs: the digests of all runs, with their configuration, seed, machine and seconds.
        world: BookWorld's digest.
    """

    name: str
    says: str
    key: str
    where: str
    chapter: str
    note: str
    seeds: list[int]
    parts: list[Part]
    columns: dict[str, Limit]
    contrasts: list[Claimed]
    world: str
    runs: dict[str, dict[str, Any]] = {}

    # ------------------------------------------------------------------------------ numbers

    def part(self, name: str) -> Part:
        """The variant of a name."""
        for part in self.parts:
            if part.name == name:
                return part
        names = ", ".join(part.name for part in self.parts)
        raise CourseError(f"{self.name} has no variant {name!r}.", f"Choose one of: {names}.")

    def mean(self, variant: str, column: str) -> float:
        """The mean over seeds."""
        return mean(self._scores(variant, column))

    def spread(self, variant: str, column: str) -> float:
        """The standard deviation over seeds; nan of one alone."""
        scores = self._scores(variant, column)
        return stdev(scores) if len(scores) > 1 else float("nan")

    def difference(self, claimed: Claimed) -> rule.Difference:
        """How much better the first is than the second, seed by seed."""
        first = self._scores(claimed.better, claimed.column)
        second = [float(claimed.than)] * len(first) if not isinstance(claimed.than, str) else []
        second = second or self._scores(str(claimed.than), claimed.column)
        sign = 1 if self.columns[claimed.column].better == "more" else -1
        both = zip(first, second, strict=True)
        return rule.difference([sign * (one - claimed.factor * other) for one, other in both])

    def verdict(self, claimed: Claimed) -> rule.Verdict:
        """By the rule of `lmcourse.findings.verdict`."""
        return rule.judged(self.difference(claimed), claimed.margin, claimed.claimed)

    @property
    def verdicts(self) -> list[rule.Verdict]:
        """Those of all that is claimed, in order."""
        return [self.verdict(claimed) for claimed in self.contrasts]

    def _scores(self, variant: str, column: str) -> list[float]:
        scores = self.part(variant).scores
        if column not in scores:
            raise CourseError(
                f"{variant!r} of {self.name} has no {column!r}.",
                f"Choose one of: {', '.join(scores)}.",
            )
        return scores[column]

    # -------------------------------------------------------------------------------- forms

    def rows(self) -> tuple[list[str], list[list[str]]]:
        """The table: its header, and its rows."""
        best = [
            "" if it.limit is None else f"{it.limit:.{it.digits}f}" for it in self.columns.values()
        ]
        rows = [
            [part.name, *(self._cell(part, column) for column in self.columns)]
            for part in self.parts
        ]
        if any(best):
            rows.append(["best possible", *best])
        return ["", *(it.about for it in self.columns.values())], rows

    def _cell(self, part: Part, column: str) -> str:
        if column not in part.scores:
            return ""
        digits, spread = self.columns[column].digits, self.spread(part.name, column)
        found = f"{self.mean(part.name, column):.{digits}f}"
        if spread == spread:
            found += f" ± {spread:.{digits}f}"
        return found.replace("-", "−")

    def judgments(self) -> list[str]:
        """Each thing that is claimed, with its difference and the verdict, as sentences."""
        return [" ".join(self._judged(claimed)) for claimed in self.contrasts]

    def _judged(self, claimed: Claimed) -> tuple[str, str]:
        """What was found of one thing that is claimed, and why the rule says so."""
        difference, verdict = self.difference(claimed), self.verdict(claimed)
        why = rule.explained(difference, verdict, claimed.margin, claimed.claimed)
        return f"{said(claimed, self.columns)}: {verdict}. Difference {difference}.", why

    def grids(self) -> list[tuple[str, list[str], list[list[str]]]]:
        """How each variant that has a grid was tuned: a sentence, header, and rows, best first."""
        found = []
        for part in self.parts:
            if part.grid:
                ranked = sorted(part.grid.items(), key=lambda one: -one[1])
                sentence = (
                    f"{part.name} was tuned on seed {self.seeds[0]}, on validation data. "
                    f"All seeds have {ranked[0][0]}."
                )
                rows = [[setting, f"{score:.3f}"] for setting, score in ranked]
                found.append((sentence, [part.name, "score on validation data"], rows))
        return found

    def caption(self) -> str:
        """What the table is of."""
        seeds = f"{len(self.seeds)} seed{'s' * (len(self.seeds) != 1)}"
        source = f"{references.named(self.key)}, {self.where}"
        return f"{self.says} ({source}). Mean ± standard deviation, {seeds}."

    def setup(self) -> list[str]:
        """How the scores came to be: what all runs share, then what each has of its own."""
        return setup.lines(self.runs, self.seeds)

    def __repr__(self) -> str:
        head = f"recorded · {self.caption()}"
        parts = [head, table_forms.text(*self.rows()), *self.judgments(), *self.setup()]
        for sentence, header, rows in self.grids():
            parts += [sentence, table_forms.text(header, rows)]
        return "\n".join(parts)

    def _repr_html_(self) -> str:
        shared, *own = map(escaping.escape, self.setup())
        setups = f"<p><small>{shared}</small></p>"
        if own:
            differs = ", ".join(fact for fact in setup.FACTS if f"{fact}:" not in shared.lower())
            summary = f"<summary>Setup of each run: {differs}</summary>"
            setups += f"<details>{summary}{_list(own)}</details>"
        judged = [map(escaping.escape, self._judged(it)) for it in self.contrasts]
        claims = _list(f'{found} <span class="why">{why}</span>' for found, why in judged)
        grids = "".join(table_forms.html(*one) for one in self.grids())
        below = claims + setups + (grids and f"<details><summary>Tuning</summary>{grids}</details>")
        return checks.framed_table("recorded", self.caption(), *self.rows(), below)


def _list(lines: Iterable[str]) -> str:
    return f"<ul>{''.join(f'<li>{line}</li>' for line in lines)}</ul>"


def said(claimed: Claimed, columns: Mapping[str, Limit]) -> str:
    """What is claimed, in a few words."""
    column = columns[claimed.column]
    what, margin = column.about.split(",")[0], f"{claimed.margin:g}"
    than = claimed.than if isinstance(claimed.than, str) else f"{claimed.than:.3g}"
    if claimed.factor != 1:
        than = f"{claimed.factor:g} × {than}"
    more = column.better == "more"
    word = {
        "better": f"{'>' if more else '<'} {than}",
        "no worse": f"≥ {than} − {margin}" if more else f"≤ {than} + {margin}",
        "equal": f"= {than} ± {margin}",
    }[claimed.claimed]
    return f"{what[0].upper()}{what[1:]}: {claimed.better} {word}"
