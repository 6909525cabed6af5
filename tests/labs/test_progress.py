"""The student's progress file: private, whole, never lost, and never in the way of a check."""

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from lmcourse.labs import exercises, lab02, progress
from lmcourse.labs.progress import Record

PERPLEXITY = lab02.check_perplexity
STEP = lab02.check_step


@pytest.fixture
def workbook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "my wörkbook"
    (folder / ".lmcourse").mkdir(parents=True)
    monkeypatch.setenv("LMCOURSE_WORKBOOK", str(folder))
    monkeypatch.delenv("LMCOURSE_STRICT", raising=False)
    monkeypatch.setattr(progress, "_reported", set())
    return folder


def file_of(workbook: Path) -> Path:
    return workbook / ".lmcourse" / "progress.json"


def test_solved_stays_solved(workbook: Path) -> None:
    assert progress.read(workbook) == {}
    assert progress.record("02-perplexity", "Perplexity", passed=False) == ""
    assert progress.read(workbook) == {
        "02-perplexity": Record("02-perplexity", "Perplexity", None, 1)
    }
    progress.record("02-perplexity", "Perplexity", passed=True)
    first = progress.read(workbook)["02-perplexity"]
    assert first.solved is not None and first.attempts == 2
    progress.record("02-perplexity", "Perplexity", passed=False)
    assert progress.read(workbook)["02-perplexity"] == Record(
        "02-perplexity", "Perplexity", first.solved, 3
    )
    progress.record("02-step", STEP.title, passed=False)
    assert list(progress.read(workbook)) == ["02-perplexity", "02-step"]


def test_the_file_is_as_agreed_with_the_start_page(workbook: Path) -> None:
    progress.record("02-perplexity", "Perplexity", passed=True)
    content = json.loads(file_of(workbook).read_text(encoding="utf-8"))
    assert content["version"] == 2
    assert set(content["exercises"]) == {"02-perplexity"}
    entry = content["exercises"]["02-perplexity"]
    assert set(entry) == {"title", "solved", "attempts"}
    assert entry["solved"].endswith("+00:00")


def test_what_version_1_says_by_number_is_kept(workbook: Path) -> None:
    """The numbers are those of its time: an exercise that is inserted does not change them."""
    solved = {"title": "T", "solved": "2026-11-01T09:00:00+00:00", "attempts": 3}
    old = {"02.1": solved, "05.6": solved, "11.5": solved, "02.7": solved, "99.1": solved}
    file_of(workbook).write_text(json.dumps({"version": 1, "exercises": old}))
    slugs = {"02-perplexity", "05-association", "11-fine_tuning", "02.7", "99.1"}
    assert set(progress.read(workbook)) == slugs
    assert progress.record("02-step", "A step", passed=False) == ""
    content = json.loads(file_of(workbook).read_text(encoding="utf-8"))
    assert content["version"] == 2 and set(content["exercises"]) == slugs | {"02-step"}
    assert content["exercises"]["05-association"] == solved


def test_every_number_of_version_1_was_an_exercise_that_is_there() -> None:
    """Whoever drops or renames one also drops what its students have solved."""
    numbers = [f"{lab}.{k}" for lab in progress._NUMBERED for k in range(1, 7)]
    there = {each.slug for lab in progress._NUMBERED for each in exercises(lab)}
    assert len(numbers) == 78 and {progress._slug(number) for number in numbers} <= there


@pytest.mark.skipif(os.name == "nt", reason="modes are Unix's")
def test_private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LMCOURSE_WORKBOOK", str(tmp_path / "new"))
    before = os.umask(0)
    try:
        progress.record("02-perplexity", "Perplexity", passed=True)
    finally:
        os.umask(before)
    folder = tmp_path / "new" / ".lmcourse"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(each.stat().st_mode) for each in folder.iterdir()} == {0o600}


def test_found_from_a_folder_below(workbook: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LMCOURSE_WORKBOOK")
    below = workbook / "labs" / "deep"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    assert progress.folder() == workbook
    progress.record("02-perplexity", "Perplexity", passed=True)
    assert file_of(workbook).exists()


def test_no_workbook_no_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LMCOURSE_WORKBOOK", raising=False)
    monkeypatch.chdir(tmp_path)
    assert progress.record("02-perplexity", "Perplexity", passed=True) == ""
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"\xff\xfe\x00",
        b"[]",
        b"null",
        b"{}",
        b'{"version": 0, "exercises": {}}',
        b'{"version": "3", "exercises": {}}',
        b'{"version": true, "exercises": {}}',
        b'{"version": 1}',
        b'{"version": 1, "exercises": []}',
        b'{"version": 1, "exercises": {"02-perplexity": {}}}',
        b'{"version": 1, "exercises": {"x": {"title": "", "solved": 1, "attempts": 1}}}',
        b'{"version": 1, "exercises": {"x": {"title": "", "solved": null, "attempts": "1"}}}',
        b'{"version": 1, "exercises": {"x": {"title": "", "solved": null, "attempts": %s}}}'
        % (b"9" * 4300),
        b'{"version": 1, "exercises": {"x": {"title": "", "solved": null, "attempts": -1}}}',
        b"[" * 100_000,
    ],
    ids=lambda content: content[:30].decode("latin-1"),
)
def test_a_corrupt_file_is_moved_aside(workbook: Path, content: bytes) -> None:
    file_of(workbook).write_bytes(content)
    aside = workbook / ".lmcourse" / "progress.corrupt-1.json"
    notice = progress.record("02-perplexity", "Perplexity", passed=True)
    assert "could not be read" in notice and str(aside) in notice
    assert aside.read_bytes() == content
    assert progress.read(workbook)["02-perplexity"].solved

    file_of(workbook).write_bytes(content)
    told: list[str] = []
    assert progress.read(workbook, told.append) == {}
    assert "progress.corrupt-2.json" in told[0]
    assert aside.read_bytes() == content and not file_of(workbook).exists()


@pytest.mark.parametrize("content", [b'{"version": 3}', b'{"version": 4, "exercises": {}}'])
def test_a_newer_courses_file_is_left_alone(
    workbook: Path, content: bytes, capsys: pytest.CaptureFixture
) -> None:
    file_of(workbook).write_bytes(content)
    told: list[str] = []
    assert progress.read(workbook, told.append) == {}
    assert len(told) == 1
    for words in (str(file_of(workbook)), "newer version of the course", "not recorded", "update"):
        assert words in told[0]

    PERPLEXITY(lambda p: (-p.mean()).exp())
    said = capsys.readouterr().out
    assert said.startswith(f"✔ Right: {PERPLEXITY.number}") and told[0] in said
    assert progress.record("02-step", STEP.title, passed=True) == ""  # told once
    assert file_of(workbook).read_bytes() == content
    left = {each.name for each in (workbook / ".lmcourse").iterdir()}
    assert left <= {"progress.json", "progress.lock"}


def test_half_a_surrogate_pair_does_not_end_a_check(workbook: Path) -> None:
    file_of(workbook).write_text(
        r'{"version": 1, "exercises": {"x": {"title": "\ud800", "solved": null, "attempts": 1}}}'
    )
    assert progress.record("02-perplexity", "Perplexity", passed=True) == ""
    assert set(progress.read(workbook)) == {"02-perplexity", "x"}


def test_to_parse_moves_nothing(workbook: Path) -> None:
    progress.record("02-perplexity", "Perplexity", passed=False)
    data = file_of(workbook).read_bytes()
    assert progress.parse(data) == {"02-perplexity": Record("02-perplexity", "Perplexity", None, 1)}
    with pytest.raises(progress.Damaged):
        progress.parse(b"{}")
    with pytest.raises(progress.Newer):
        progress.parse(b'{"version": 3}')


def failing(*_: object, **__: object) -> None:
    raise OSError(30, "Read-only file system")


@pytest.mark.parametrize("where", ["tempfile.mkstemp", "filelock.FileLock.acquire"])
def test_a_read_only_folder_is_told_once(
    workbook: Path, where: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    progress.record("02-perplexity", "Perplexity", passed=True)
    before = file_of(workbook).read_bytes()
    monkeypatch.setattr(f"lmcourse.labs.progress.{where}", failing)
    PERPLEXITY(lambda p: (-p.mean()).exp())
    said = capsys.readouterr().out
    assert said.startswith(f"✔ Right: {PERPLEXITY.number}") and "read-only file system" in said
    PERPLEXITY(lambda p: -p.mean())
    said = capsys.readouterr().out
    assert said.startswith(f"✎ Not yet: {PERPLEXITY.number}") and "read-only" not in said
    assert file_of(workbook).read_bytes() == before
    assert not list(workbook.rglob("*.tmp"))


def test_a_folder_without_permission(workbook: Path, unprivileged: None) -> None:
    folder = workbook / ".lmcourse"
    folder.chmod(0o500)
    try:
        assert "cannot be kept" in progress.record("02-perplexity", "Perplexity", passed=True)
        assert progress.record("02-perplexity", "Perplexity", passed=True) == ""
    finally:
        folder.chmod(0o700)


def test_a_file_where_the_folder_should_be(workbook: Path) -> None:
    (workbook / ".lmcourse").rmdir()
    (workbook / ".lmcourse").write_text("not a folder", encoding="utf-8")
    assert "cannot be kept" in progress.record("02-perplexity", "Perplexity", passed=True)
    assert progress.read(workbook) == {}


def test_a_write_that_fails_half_way_keeps_the_old_file(
    workbook: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    progress.record("02-perplexity", "Perplexity", passed=True)
    before = progress.read(workbook)

    def full(self: Path, _: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    assert "no space left" in progress.record("02-step", STEP.title, passed=True)
    monkeypatch.undo()
    assert progress.read(workbook) == before
    assert not list(workbook.rglob("*.tmp"))


def test_a_lock_that_is_held_is_told(workbook: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_PATIENCE", 0.05)
    with progress.filelock.FileLock(workbook / ".lmcourse" / "progress.lock"):
        assert "another program holds it" in progress.record(
            "02-perplexity", "Perplexity", passed=True
        )


WRITER = """
import sys
from lmcourse.labs import progress
slug = "99-" + sys.argv[1]
print("ready", flush=True)
sys.stdin.readline()
for _ in range(40):
    assert progress.record(slug, "A notebook", passed=True) == ""
"""


def test_notebooks_at_once_lose_nothing(workbook: Path) -> None:
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(number)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(4)
    ]
    for writer in writers:
        assert writer.stdout is not None and writer.stdout.readline() == "ready\n"
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("go\n")
        writer.stdin.flush()
    assert [writer.wait(60) for writer in writers] == [0] * 4
    for writer in writers:
        writer.stdin.close(), writer.stdout.close()  # type: ignore[union-attr]
    found = progress.read(workbook)
    assert {name: record.attempts for name, record in found.items()} == {
        f"99-{number}": 40 for number in range(4)
    }


def test_what_is_not_written_yet_is_no_attempt(workbook: Path) -> None:
    def stub(log_probabilities: object) -> None:
        raise NotImplementedError("write this function, then run the check below")

    PERPLEXITY(stub)
    assert progress.read(workbook) == {}


def test_reading_the_list_needs_no_torch() -> None:
    code = (
        "import sys; from lmcourse.labs import exercises, progress;"
        "print(len(exercises('2')), 'torch' in sys.modules, 'IPython' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["6", "False", "False"]


@pytest.mark.parametrize("number", ["2", "02"])
def test_exercises(number: str) -> None:
    found = exercises(number)
    assert [each.number for each in found] == [f"02.{k}" for k in range(1, len(found) + 1)]
    assert (found[0].slug, found[0].task) == (
        "02-perplexity",
        "lmcourse.labs.lab02.basics:PERPLEXITY",
    )


def test_an_unknown_lab_is_told() -> None:
    from lmcourse.errors import CourseError

    with pytest.raises(CourseError, match="There is no lab '77'") as caught:
        exercises("77")
    assert "02" in caught.value.remedy
