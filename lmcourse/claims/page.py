"""The page of all findings, made from their files alone."""

from collections.abc import Sequence
from statistics import mean

from lmcourse import table_forms
from lmcourse.claims.finding import Finding, said
from lmcourse.claims.scale import TOLD

_HEAD = """# The papers' claims, tested again

`lmcourse claims NAME` tests one, and writes this page anew from the files beside it. Runs that
they record are not done again, but with `--anew`; `--seeds 5` does those that are missing. In a
notebook, `lmcourse.claims.finding("NAME")` shows one."""

_RULE = """## How a claim is judged

Of each seed both sides are trained, and their difference is a number of that seed. Student's 95 %
interval of the mean over seeds decides. *Seen*: it lies on the side that is claimed. *Opposite*: on
the other. *Not seen*: it covers 0 and is narrow, so that a difference that matters would have been
seen. *Cannot be told*: it covers 0 and is wide. Each claim says what difference matters. Where one
is claimed to be no worse, or two to be equal, it is seen if the whole interval says so, but for a
difference that does not matter."""


def page(found: Sequence[Finding]) -> str:
    """The whole page, in Markdown."""
    parts = [_HEAD, TOLD]
    if not found:
        return "\n\n".join([*parts, "No claim was tested yet."]) + "\n"
    return "\n\n".join([*parts, _overview(found), _RULE, *map(_section, found)]) + "\n"


def _overview(found: Sequence[Finding]) -> str:
    rows = [
        [
            f"[{one.name}](#{one.name})",
            one.chapter,
            said(claimed, one.columns),
            str(one.difference(claimed)),
            one.verdict(claimed),
        ]
        for one in found
        for claimed in one.contrasts
    ]
    header = ["claim", "chapter", "compared", "difference", "verdict"]
    return table_forms.markdown(header, rows, words=(0, 1, 2, 4))


def _section(one: Finding) -> str:
    abouts = "; ".join(f"{part.name}: {part.about}" for part in one.parts if part.about)
    minutes = [run["wall_seconds"] / 60 for run in one.runs.values() if run["steps"]]
    machines = sorted({_machine(run["machine"]) for run in one.runs.values()})
    runs = f"{len(minutes)} run{'s' * (len(minutes) != 1)}"
    cost = (
        f"{runs} of {mean(minutes):.1f} minutes of training on average, {sum(minutes):.0f} in all "
        f"({'; '.join(machines)}). BookWorld's digest: {one.world}."
    )
    told = [f"## {one.name}", f"Chapter {one.chapter}.", one.to_markdown()]
    told += [f"{abouts}."] if abouts else []
    told += [one.note] if one.note else []
    return "\n\n".join([*told, cost])


def _machine(one: dict[str, object]) -> str:
    threads = f"{one['threads']} thread{'s' * (one['threads'] != 1)}"
    versions = f"Python {one['python']}, PyTorch {one['pytorch']}, lmcourse {one['lmcourse']}"
    return f"{one['device']}, {threads}, {versions}"
