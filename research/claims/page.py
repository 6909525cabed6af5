"""The page of all findings, made from their files alone."""

from collections.abc import Sequence
from statistics import mean

from lmcourse import table_forms
from lmcourse.findings.finding import Finding, said
from research.claims.scale import SCALE

_HEAD = """# The papers' claims, tested again

`lmcourse claims NAME` tests one and rewrites this page from the JSON files in this folder. Recorded
runs are not repeated, except with `--anew`; `--seeds 5` runs those that are missing. In a notebook,
`lmcourse.findings.finding("NAME")` shows one."""

_RULE = """## How a claim is judged

For each seed both sides are trained, and their difference is one number per seed. The 95 %
confidence interval of its mean over seeds (Student's t) decides. *Supported*: it agrees with the
claim. *Contradicted*: it is on the opposite side. *No effect found*: it contains 0 and is so narrow
that an effect of interest would have been detected. *Inconclusive*: it contains 0 and is wide. Each
claim states the smallest difference of interest. A claim that one side is no worse, or that two are
equal, is supported if the whole interval says so up to that difference."""


def page(found: Sequence[Finding]) -> str:
    """The whole page, in Markdown."""
    parts = [_HEAD, SCALE]
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
    lines = [f"## {one.name}", f"Chapter {one.chapter}.", in_markdown(one)]
    lines += [f"{abouts}."] if abouts else []
    lines += [one.note] if one.note else []
    return "\n\n".join([*lines, cost])


def _machine(one: dict[str, object]) -> str:
    threads = f"{one['threads']} thread{'s' * (one['threads'] != 1)}"
    versions = f"Python {one['python']}, PyTorch {one['pytorch']}, lmcourse {one['lmcourse']}"
    return f"{one['device']}, {threads}, {versions}"


def in_markdown(one: Finding) -> str:
    """A finding's table, judgments and tuning, as Markdown."""
    lines = "\n".join(f"- {it}" for it in one.judgments())
    parts = [one.caption(), table_forms.markdown(*one.rows()), lines, *one.setup()]
    for sentence, header, rows in one.grids():
        parts += [sentence, table_forms.markdown(header, rows)]
    return "\n\n".join(parts)
