"""What a check of the doctor finds."""

from dataclasses import dataclass
from typing import Literal

Status = Literal["ok", "warning", "problem"]


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at: how it is, and what to do if it is not well."""

    name: str
    status: Status
    found: str
    remedy: str = ""
