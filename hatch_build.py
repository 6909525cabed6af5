"""What a wheel has besides the package: the files of the checkout that notebooks read."""

from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FILES = ("data/checkpoints", "data/claims", "data/senses.csv", "references.bib")


class Hook(BuildHookInterface):
    """Add the files; a checkout that is installed in place has them already."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Read by hatchling before it builds."""
        if version == "standard":
            build_data["force_include"] |= {name: f"lmcourse/_files/{name}" for name in FILES}
