"""What a student has solved: workbook/.lmcourse/progress.json, a private file on their own machine.

A check never fails because of this file: what is wrong with it is reported beside the verdict.
"""

import json
import os
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import filelock

_VERSION = 2
# Version 1 named an exercise by its number then, "02.1"; now it is "02-perplexity".
_NUMBERED = {
    "01": "derivatives operation order gradients layer error",
    "02": "perplexity step bptt truncation clipping recall",
    "03": "parameters lstm gru bias peepholes unit",
    "04": "pack summaries tagger dropout leak future",
    "05": "noise ppmi subsampling gradients analogies association",
    "06": "merge encode wordpiece viterbi stream symbols",
    "07": "windows highway mix senses neighbor layers",
    "08": "entry join additive mask gradient knockout",
    "09": "steps distance heads layer passes lengths",
    "10": "pairs words exactly gradient fill windows",
    "11": "rates matthews answers span fine_tuning bits",
    "12": "batch masks spans accumulate packing compare",
    "17": "temperature gradients losses layers excess retained",
}
_FOLDER = ".lmcourse"
_FILE = "progress.json"
_PATIENCE = 5.0  # seconds to wait while another notebook writes

_reported: set[Path] = set()  # folders whose trouble was reported: once is enough


@dataclass(frozen=True)
class Record:
    """One exercise: when it was first solved (ISO 8601, UTC), and how many answers were checked."""

    slug: str
    title: str
    solved: str | None
    attempts: int


class Damaged(Exception):
    """The file is not one that any version of the course wrote."""


class Newer(Exception):
    """The file is a later course's."""


def folder() -> Path | None:
    """The student's workbook: $LMCOURSE_WORKBOOK, else the nearest folder up that has .lmcourse."""
    named = os.environ.get("LMCOURSE_WORKBOOK")
    if named:
        return Path(named)
    try:
        here = Path.cwd()
    except OSError:  # the current folder was deleted
        return None
    return next((each for each in (here, *here.parents) if (each / _FOLDER).is_dir()), None)


def read(workbook: Path, tell: Callable[[str], None] | None = None) -> dict[str, Record]:
    """What was tried and solved in this workbook, by slug; empty if nothing can be read.

    A damaged file is moved aside, a newer course's is left; ``tell`` gets a sentence about it.
    """
    file = workbook / _FOLDER / _FILE
    if not file.exists():
        return {}
    try:
        with _lock(file.parent):
            records, notice = _load(file)
    except (OSError, filelock.Timeout) as error:
        records, notice = {}, _unusable(file, error)
    if notice and tell is not None:
        tell(notice)
    return records


def record(slug: str, title: str, passed: bool) -> str:
    """Note one checked answer. An exercise that was solved once stays solved.

    Returns:
        A sentence if something was wrong with the file, else "".
    """
    workbook = folder()
    if workbook is None:
        return ""
    file = workbook / _FOLDER / _FILE
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _lock(file.parent):
            records, notice = _load(file)
            if not (notice and file.exists()):  # else it is a newer course's: leave it alone
                old = records.get(slug, Record(slug, title, None, 0))
                now = datetime.now(UTC).isoformat(timespec="seconds") if passed else None
                solved = old.solved or now
                attempts = old.attempts + 1
                records[slug] = replace(old, title=title, solved=solved, attempts=attempts)
                _store(file, records)
                return notice
    except (OSError, filelock.Timeout) as error:
        notice = _unusable(file, error)
    if file in _reported:
        return ""
    _reported.add(file)
    return notice


def _unusable(file: Path, error: Exception) -> str:
    reason = getattr(error, "strerror", None) or "another program holds it"
    return (
        f"Your progress cannot be kept in {file} ({reason.lower()}); the checks work all the same. "
        "Make that folder writable to have the start page show what you have solved."
    )


def _lock(folder: Path) -> filelock.BaseFileLock:
    """Between reading and writing, no other notebook may write."""
    return filelock.FileLock(folder / "progress.lock", timeout=_PATIENCE, mode=0o600)


def _load(file: Path) -> tuple[dict[str, Record], str]:
    """The records, and a sentence when the file is a newer course's, or was moved aside."""
    try:
        return parse(file.read_bytes()), ""
    except FileNotFoundError:
        return {}, ""
    except Newer:
        return {}, (
            f"{file} was written by a newer version of the course: it is left as it is, and what "
            "you solve is not recorded until you update the course."
        )
    except Damaged:
        return {}, _moved_aside(file)


def parse(data: bytes) -> dict[str, Record]:
    """Read the content of a progress file; no file is touched.

    Raises:
        Newer: a later course wrote it, in a form that this one does not know.
        Damaged: it is no progress file.
    """
    try:
        content = json.loads(data.decode("utf-8"))
        version = content["version"]
        if type(version) is not int or version < 1:  # `True` is an int, too
            raise ValueError("unknown version")
        if version > _VERSION:
            raise Newer(f"version {version}")
        records = {}
        for name, entry in content["exercises"].items():
            solved, attempts = entry["solved"], entry["attempts"]
            if not isinstance(solved, str | None) or not isinstance(attempts, int):
                raise TypeError("not a record")
            if not 0 <= attempts < 2**31:  # Python refuses to write the largest that it reads
                raise ValueError("not a count")
            slug = _slug(name) if version == 1 else name
            records[slug] = Record(slug, str(entry["title"]), solved, attempts)
        return records
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise Damaged("no progress file") from error


def _slug(number: str) -> str:
    """The exercise that had a number in version 1; the number itself if it is none of these."""
    lab, _, position = number.partition(".")
    names = _NUMBERED.get(lab, "").split()
    known = position.isdecimal() and 1 <= int(position) <= len(names)
    return f"{lab}-{names[int(position) - 1]}" if known else number


def _moved_aside(file: Path) -> str:
    number = 1
    while (aside := file.with_name(f"progress.corrupt-{number}.json")).exists():
        number += 1
    file.replace(aside)
    return (
        "Your progress file could not be read, so a new one was started; the old one is kept as "
        f"{aside}. Run the checks of what you had solved again to have them counted."
    )


def _store(file: Path, records: dict[str, Record]) -> None:
    """Write all at once: whoever reads meanwhile sees the old file or the new one, whole."""
    entries = {slug: asdict(records[slug]) for slug in sorted(records)}
    for entry in entries.values():
        del entry["slug"]
    # In ASCII: a title may hold what no encoding knows, such as half of a surrogate pair.
    text = json.dumps({"version": _VERSION, "exercises": entries}, indent=1)
    handle, name = tempfile.mkstemp(dir=file.parent, prefix="progress.", suffix=".tmp")  # mode 0600
    temporary = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as out:
            out.write(text + "\n")
        temporary.replace(file)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
