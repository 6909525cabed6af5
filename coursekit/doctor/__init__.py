"""`lmcourse doctor`: what is installed, which device there is, and what would not work and why.

Each check looks at one thing, changes nothing, and says what it found in words that a student can
act on. None needs the network.
"""

from collections.abc import Callable, Iterator

from coursekit.doctor import files, installed, machine
from coursekit.doctor.finding import Finding, Status
from lmcourse.errors import CourseError

__all__ = ["CHECKS", "Finding", "Status", "main", "report", "show"]

Check = Callable[[], Iterator[Finding]]

CHECKS: dict[str, Check] = {
    "Python": installed.python,
    "environment": installed.environment,
    "packages": installed.packages,
    "JupyterLab": installed.jupyterlab,
    "PyTorch": machine.pytorch,
    "memory": machine.memory,
    "disk": machine.disk,
    "course": files.sources,
    "text": files.text,
    "workbook": files.workbook,
    "records": files.records,
    "Node.js": installed.node,
    "Chromium": installed.chromium,
    "network": machine.network,
}


def report() -> list[Finding]:
    """Look at everything, and return what was found. It never raises."""
    return [finding for name, check in CHECKS.items() for finding in _look(name, check)]


def main() -> int:
    """Print the findings; return 1 if something essential would not work, else 0."""
    findings = report()
    show(findings)
    return int(any(finding.status == "problem" for finding in findings))


def show(findings: list[Finding]) -> None:
    """Print the findings as a table, and what they come to."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    colors = {"ok": "green", "warning": "yellow", "problem": "bold red"}
    table = Table(box=None, show_header=False, pad_edge=False)
    for finding in findings:
        remedy = f"\n{finding.remedy}" if finding.status != "ok" and finding.remedy else ""
        table.add_row(
            Text(finding.status, style=colors[finding.status]),
            Text(finding.name),
            Text(finding.found + remedy),
        )
    console = Console()
    console.print(table)
    statuses = [finding.status for finding in findings]
    problems, warnings = statuses.count("problem"), statuses.count("warning")
    if problems:
        said = "Fix what is marked as a problem first; the course does not work otherwise."
    elif warnings:
        said = "The course works here. Warnings explain limitations."
    else:
        said = "Everything is as it should be."
    console.print(f"\nProblems: {problems}. Warnings: {warnings}. {said}")


def _look(name: str, check: Check) -> list[Finding]:
    """Do one check. What it did not foresee becomes a finding too: a doctor does not faint."""
    try:
        return list(check())
    except CourseError as error:
        return [Finding(name, "problem", error.cause, error.remedy)]
    except Exception as error:
        cause = f"It could not be looked at ({type(error).__name__}: {error})."
        return [Finding(name, "problem", cause, "Fix the problems above, then run this again.")]
