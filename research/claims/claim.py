"""What a claim is, as plain data: what is trained, what is measured, and which side is to win.

A `Claim` has variants, and a variant has what is trained (a `Plan`) and which of its scores are
read. A plan and a seed are a `Run`. Two claims that need the same run share it: its name is the
digest of all that decides it.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from lmcourse.findings import verdict as rule
from research.pretrain.recipe import Recipe

TUNING = 0
"""The seed with which all of a grid is trained."""


@dataclass(frozen=True)
class Plan:
    """What is trained.

    Attributes:
        recipe: how.
        source: what is trained before: the network that it starts from, or its teacher.
        source_seed: of that one; None: the run's own.
    """

    recipe: Recipe
    source: "Plan | None" = None
    source_seed: int | None = None

    def shortened(self, steps: int) -> "Plan":
        """The same for so few steps, its source too."""
        source = None if self.source is None else self.source.shortened(steps)
        return replace(self, recipe=self.recipe.shortened(steps), source=source)


@dataclass(frozen=True)
class Run:
    """A plan and a seed: one training."""

    plan: Plan
    seed: int

    @property
    def source(self) -> "Run | None":
        """The run that must be there before."""
        if self.plan.source is None:
            return None
        seed = self.plan.source_seed
        return Run(self.plan.source, self.seed if seed is None else seed)

    @property
    def config(self) -> dict[str, Any]:
        """All that decides it but the world."""
        source = None if self.source is None else self.source.config
        return {"recipe": dict(self.plan.recipe.config), "seed": self.seed, "source": source}

    def digest(self, world: str) -> str:
        """Its name in a world of this digest."""
        content = json.dumps([self.config, world], sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(content.encode()).hexdigest()[:24]


@dataclass(frozen=True)
class Variant:
    """One of the things that a claim compares.

    Attributes:
        name: as in its table.
        about: what is changed.
        plans: what is trained. Several are a grid: the first seed trains all of them, and the
            others the one that was best there.
        reads: of each column of the table the score that is read: "measure/score".
        select: the score by whose highest value the best of a grid is chosen, never one of
            ``reads``.
        settings: what each of a grid is called.
    """

    name: str
    about: str
    plans: tuple[Plan, ...]
    reads: Mapping[str, str]
    select: str | None = None
    settings: tuple[str, ...] = ()

    def trained(self, seed: int, best: Plan) -> tuple[Plan, ...]:
        """What a seed trains, if this one of the plans is the best."""
        return self.plans if seed == TUNING else (best,)

    @property
    def measures(self) -> frozenset[str]:
        """What is measured on each trained model."""
        keys = [*self.reads.values(), *([self.select] if self.select else [])]
        return frozenset(key.split("/")[0] for key in keys)


@dataclass(frozen=True)
class Column:
    """What is compared.

    Attributes:
        about: what the number is.
        better: whether more of it is better, or less.
        limit: the best possible value: a number, or a score of the runs, where it is known.
        digits: after the decimal point.
    """

    about: str
    better: Literal["more", "less"]
    limit: float | str | None = None
    digits: int = 3


@dataclass(frozen=True)
class Contrast:
    """What is claimed: of two variants, in one column, the first is better than the second.

    Attributes:
        better, than: their names; ``than`` may be a number that is claimed to be reached.
        column: of the table.
        margin: the least difference that would matter.
        factor: better than so many times the other.
        claimed: that it is better; that it is no worse than by the margin; that the two are equal
            but for it.
    """

    better: str
    than: str | float
    column: str
    margin: float
    factor: float = 1.0
    claimed: rule.Claimed = "better"


@dataclass(frozen=True)
class Claim:
    """What a paper says, and how it is tested here.

    Attributes:
        name: dynamic-masking.
        says: the paper's sentence in our words.
        key, where: of the paper in references.bib, and the section.
        chapter: that presents it.
        variants, columns, contrasts: see there.
        note: what is to be known of how it is tested here.
        seeds: how many, from 0 on.
    """

    name: str
    says: str
    key: str
    where: str
    chapter: str
    variants: tuple[Variant, ...]
    columns: Mapping[str, Column]
    contrasts: tuple[Contrast, ...]
    note: str = ""
    seeds: int = 3

    def shortened(self, steps: int) -> "Claim":
        """The same with runs of so few steps."""
        variants = tuple(
            replace(each, plans=tuple(plan.shortened(steps) for plan in each.plans))
            for each in self.variants
        )
        return replace(self, variants=variants)

    @property
    def tuned(self) -> bool:
        """Whether a variant has a grid."""
        return any(len(each.plans) > 1 for each in self.variants)

    def variant(self, name: str) -> Variant:
        """The variant of a name."""
        return next(each for each in self.variants if each.name == name)
