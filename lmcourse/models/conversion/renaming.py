"""Renaming of tensors between two libraries.

A `Renaming` is a list of rules such as

    Rule("layers.{layer}.attention.query.weight", "layer.{layer}.attention.self.query.weight")

where a name in braces is a placeholder for a number. A tensor without a rule is an error.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

import torch
from torch import Tensor

from lmcourse.errors import CourseError


@dataclass(frozen=True)
class Rule:
    """One tensor's two names.

    Args:
        ours: our name, or our names of tensors that the other side stacks along their rows.
        theirs: the other side's name.
        transposed: the other side transposes the matrix.
        groups: number of row groups that are interleaved when tensors are stacked, such as each
            head's query, key and value.
    """

    ours: str | tuple[str, ...]
    theirs: str
    transposed: bool = False
    groups: int = 1

    @property
    def parts(self) -> tuple[str, ...]:
        return (self.ours,) if isinstance(self.ours, str) else self.ours

    def split(self, theirs: Tensor) -> list[Tensor]:
        """Split their tensor into ours."""
        stacked = theirs.T if self.transposed else theirs
        if len(self.parts) == 1:
            return [stacked]
        groups = [group.chunk(len(self.parts)) for group in stacked.chunk(self.groups)]
        return [torch.cat(part) for part in zip(*groups, strict=True)]

    def stack(self, ours: Sequence[Tensor]) -> Tensor:
        """Stack our tensors into theirs."""
        if len(ours) > 1:
            parts = [part.chunk(self.groups) for part in ours]
            stacked = torch.cat([part for group in zip(*parts, strict=True) for part in group])
        else:
            stacked = ours[0]
        return stacked.T if self.transposed else stacked


@dataclass(frozen=True)
class Tied:
    """Their second name for a tensor, which we store once.

    Args:
        theirs: the second name.
        same_as: the first one.
    """

    theirs: str
    same_as: str


@dataclass(frozen=True)
class Renaming:
    """The rules between our names and another library's, in both directions."""

    rules: tuple[Rule, ...]
    tied: tuple[Tied, ...] = ()

    def to_ours(self, theirs: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Their tensors under our names."""
        ours: dict[str, Tensor] = {}
        for name, tensor in theirs.items():
            if self._is_tied(name, tensor, theirs):
                continue
            rule, numbers = self._rule_for(name)
            for part, value in zip(rule.parts, rule.split(tensor), strict=True):
                ours[part.format(**numbers)] = value.contiguous()
        return ours

    def to_theirs(self, ours: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Our tensors under their names."""
        theirs: dict[str, Tensor] = {}
        taken: set[str] = set()
        for name in ours:
            if name in taken:
                continue
            rule, numbers = self._rule_of_ours(name)
            parts = [part.format(**numbers) for part in rule.parts]
            taken.update(parts)
            value = rule.stack([ours[part] for part in parts])
            theirs[rule.theirs.format(**numbers)] = value.contiguous()
        for tie in self.tied:
            if tie.same_as in theirs:
                theirs[tie.theirs] = theirs[tie.same_as]
        return theirs

    def _is_tied(self, name: str, tensor: Tensor, theirs: Mapping[str, Tensor]) -> bool:
        for tie in self.tied:
            if name == tie.theirs:
                first = theirs.get(tie.same_as)
                if first is not None and not torch.equal(first, tensor):
                    raise CourseError(
                        f"{name} {tuple(tensor.shape)} and {tie.same_as} {tuple(first.shape)} "
                        "differ, and this architecture has one tensor for both.",
                        "Give a model whose embeddings are tied.",
                    )
                return True
        return False

    def _rule_for(self, name: str) -> tuple[Rule, dict[str, str]]:
        for rule in self.rules:
            match = _pattern(rule.theirs).fullmatch(name)
            if match:
                return rule, match.groupdict()
        raise CourseError(
            f"The tensor {name} is not part of this architecture.",
            "Give the weights of the same architecture, with the same head.",
        )

    def _rule_of_ours(self, name: str) -> tuple[Rule, dict[str, str]]:
        for rule in self.rules:
            for part in rule.parts:
                match = _pattern(part).fullmatch(name)
                if match:
                    return rule, match.groupdict()
        raise CourseError(
            f"The tensor {name} is not part of the other library's architecture.",
            "Convert a model of the course, without changes.",
        )

    def in_groups(self, number: int) -> "Renaming":
        """Return the same rules with stacked tensors interleaved in groups."""
        rules = (
            replace(rule, groups=number) if len(rule.parts) > 1 else rule for rule in self.rules
        )
        return Renaming(tuple(rules), self.tied)

    def under(self, ours: str = "", theirs: str = "") -> "Renaming":
        """Return the same rules for a module with these prefixes (such as ``"bert."``)."""
        return Renaming(
            tuple(
                replace(
                    rule,
                    ours=tuple(ours + part for part in rule.parts),
                    theirs=theirs + rule.theirs,
                )
                for rule in self.rules
            ),
            tuple(Tied(theirs + tie.theirs, theirs + tie.same_as) for tie in self.tied),
        )

    def __add__(self, other: "Renaming") -> "Renaming":
        return Renaming(self.rules + other.rules, self.tied + other.tied)


@cache
def _pattern(template: str) -> re.Pattern[str]:
    """A name with {placeholders} as a regular expression: each matches a number."""
    return re.compile(re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>\\d+)", re.escape(template)))


def linear(ours: str, theirs: str, transposed: bool = False, bias: bool = True) -> tuple[Rule, ...]:
    """The rules of a linear layer or a LayerNorm: its weight, and its bias."""
    weight = Rule(f"{ours}.weight", f"{theirs}.weight", transposed)
    return (weight, Rule(f"{ours}.bias", f"{theirs}.bias")) if bias else (weight,)
