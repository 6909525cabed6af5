"""What a wheel has besides the package: the files of the checkout that notebooks read."""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FILES = (
    "data/benchmarks.csv",
    "data/brown/table.json",
    "data/checkpoints",
    "data/claims",
    "data/compression/points.json",
    "data/family.csv",
    "data/senses.csv",
    "references.bib",
)
LABS = "labs/lab[0-9][0-9]"  # their exercises; not their texts, which have the solutions


class Hook(BuildHookInterface):
    """Add the files; a checkout that is installed in place has them already."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Read by hatchling before it builds."""
        if version == "standard":
            labs = [path.relative_to(self.root).as_posix() for path in Path(self.root).glob(LABS)]
            names = [*FILES, *sorted(labs)]
            build_data["force_include"] |= {name: f"lmcourse/_files/{name}" for name in names}
