"""coursekit.notebooks.workbook: what a student wrote is never overwritten."""

import errno
import json
import os
import random
import re
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from filelock import FileLock
from jupyter_server.services.contents.fileio import atomic_writing

from coursekit import doctor
from coursekit.notebooks import files, workbook
from coursekit.notebooks.serve import summary
from lmcourse.errors import CourseError

ROOT = Path(__file__).resolve().parents[2]


def answer(notebook):
    notebook["cells"][1]["source"] = "def double(number):\n    return number + number"


def write_text(notebook):
    notebook["cells"][0]["source"] = ["# Mine\n", "My note."]


def run_all(notebook):
    """What running and saving leaves: outputs, counts, metadata, an empty cell at the end."""
    cells = notebook["cells"]
    for count, cell in enumerate((c for c in cells if c["cell_type"] == "code"), start=1):
        cell["execution_count"] = count
        cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "42\n"}]
        cell["metadata"]["execution"] = {"iopub.execute_input": "2026-11-21T10:00:00Z"}
        cell["source"] = cell["source"] if isinstance(cell["source"], list) else [cell["source"]]
    cells.append(
        {
            "cell_type": "code",
            "id": "0",
            "source": [],
            "metadata": {},
            "outputs": [],
            "execution_count": None,
        }
    )
    notebook["metadata"]["language_info"] = {"name": "python"}


def test_layout_is_the_same_bytes_each_time(small, tmp_path):
    first = workbook.lay_out()
    assert first.written == ["chapters/02-recurrent.ipynb", "labs/02-recurrent.ipynb"]
    before = small.files()
    second = workbook.lay_out(tmp_path / "other")
    assert second.written == first.written
    assert {name: (tmp_path / "other" / name).read_bytes() for name in before} == before
    again = workbook.lay_out()
    assert (again.written, again.replaced, again.edited) == ([], [], [])
    assert small.files() == before


def test_no_solution_is_laid_out(small):
    workbook.lay_out()
    laid = small.lab.read_text(encoding="utf-8")
    assert "2 * number" not in laid and "secret" not in laid and "SOLUTION" not in laid
    assert "Your code here." in laid


def test_an_edit_survives_and_the_new_version_is_put_beside_it_once(small, edit):
    workbook.lay_out()
    edit(small.chapter, write_text)
    mine = small.chapter.read_bytes()
    assert workbook.lay_out().updates == {}, "the source has not changed"
    small.change_chapter()
    beside = small.chapter.with_name("02-recurrent.updated.ipynb")
    for _ in range(2):
        report = workbook.lay_out()
        assert report.edited == ["chapters/02-recurrent.ipynb"]
        assert report.updates == {
            "chapters/02-recurrent.ipynb": "chapters/02-recurrent.updated.ipynb"
        }
        assert small.chapter.read_bytes() == mine
        assert "New text." in beside.read_text(encoding="utf-8")
    beside.unlink()
    report = workbook.lay_out()
    assert report.updates == {} and not beside.exists(), "the student does not want it"


def test_a_newer_version_replaces_the_copy_unless_that_was_edited_too(small, edit):
    workbook.lay_out()
    edit(small.chapter, write_text)
    small.change_chapter("Second text.")
    workbook.lay_out()
    small.change_chapter("Third text.")
    report = workbook.lay_out()
    beside = small.workbook / report.updates["chapters/02-recurrent.ipynb"]
    assert beside.name == "02-recurrent.updated.ipynb"
    assert "Third text." in beside.read_text(encoding="utf-8")
    edit(beside, write_text)
    mine = beside.read_bytes()
    small.change_chapter("Fourth text.")
    report = workbook.lay_out()
    assert report.updates == {
        "chapters/02-recurrent.ipynb": "chapters/02-recurrent.updated-2.ipynb"
    }
    assert beside.read_bytes() == mine


def test_a_copy_that_cannot_be_read_is_left_alone_too(small, edit):
    workbook.lay_out()
    edit(small.chapter, write_text)
    damaged = small.chapter.with_name("02-recurrent.updated.ipynb")
    damaged.write_text("{mine")
    small.change_chapter()
    report = workbook.lay_out()
    assert damaged.read_text() == "{mine"
    assert report.updates == {
        "chapters/02-recurrent.ipynb": "chapters/02-recurrent.updated-2.ipynb"
    }


def test_running_is_no_edit(small, edit):
    workbook.lay_out()
    edit(small.chapter, run_all)
    ran = small.chapter.read_bytes()
    report = workbook.lay_out()
    assert (report.edited, report.replaced) == ([], [])
    assert small.chapter.read_bytes() == ran, "outputs stay while the source is the same"
    small.change_chapter()
    report = workbook.lay_out()
    assert report.replaced == ["chapters/02-recurrent.ipynb"]
    assert "New text." in small.chapter.read_text(encoding="utf-8")


def test_what_an_update_replaces_is_kept_with_its_outputs(small, edit):
    workbook.lay_out()
    for number, text in enumerate(["Second text.", "Third text."], start=1):
        edit(small.chapter, run_all)
        edit(small.chapter, lambda n: n["metadata"].update(rise={"theme": "white"}))
        ran = small.chapter.read_bytes()
        small.change_chapter(text)
        report = workbook.lay_out()
        assert report.replaced == ["chapters/02-recurrent.ipynb"]
        assert text in small.chapter.read_text(encoding="utf-8")
        kept = small.workbook / ".lmcourse/replaced/chapters" / f"02-recurrent-{number}.ipynb"
        assert kept.read_bytes() == ran
    workbook.lay_out()
    assert len(list(kept.parent.iterdir())) == 2, "nothing was replaced"
    assert any(str(small.workbook / workbook.REPLACED) in line for line in summary(report))


def test_a_copy_that_was_run_is_kept_too(small, edit):
    workbook.lay_out()
    edit(small.chapter, write_text)
    small.change_chapter("Second text.")
    workbook.lay_out()
    beside = small.chapter.with_name("02-recurrent.updated.ipynb")
    edit(beside, run_all)
    ran = beside.read_bytes()
    small.change_chapter("Third text.")
    workbook.lay_out()
    assert "Third text." in beside.read_text(encoding="utf-8")
    kept = small.workbook / ".lmcourse/replaced/chapters/02-recurrent.updated-1.ipynb"
    assert kept.read_bytes() == ran


@pytest.mark.parametrize("moment", ["rename", "link"])
@pytest.mark.parametrize("there", [True, False])
def test_what_is_saved_in_the_last_moment_stays(small, edit, monkeypatch, moment, there):
    """`there`: whether the notebook is there to be replaced, or was deleted to get a fresh one."""
    workbook.lay_out()
    edit(small.chapter, write_text)
    mine = small.chapter.read_bytes()
    small.chapter.unlink()
    workbook.lay_out()
    if not there:
        small.chapter.unlink()
    small.change_chapter()
    real, saved = getattr(os, moment), []

    def save_first(source, target, **options):
        if not saved and small.chapter in (Path(source), Path(target)):
            saved.append(small.chapter.write_bytes(mine))
        return real(source, target, **options)

    monkeypatch.setattr(os, moment, save_first)
    report = workbook.lay_out()
    if saved:  # a new file is not renamed
        assert report.edited == ["chapters/02-recurrent.ipynb"]
        assert small.chapter.read_bytes() == mine
        beside = small.workbook / report.updates["chapters/02-recurrent.ipynb"]
        assert "New text." in beside.read_text(encoding="utf-8")
    assert bool(saved) == (there or moment == "link")
    assert not list(small.chapter.parent.glob(".lmcourse-*"))


def test_of_300_saves_during_updates_none_is_lost(small, monkeypatch):
    """The saves are JupyterLab's: the file is emptied and written in place.

    JupyterLab reports a save that fails, keeps its content, and saves it again.
    """
    draw, lost, replaced, took = random.Random(17), [], 0, 0.0
    for number in range(300):
        small.chapter.unlink(missing_ok=True)
        monkeypatch.setattr(workbook, "products", lambda: [product("Text.")])
        workbook.lay_out()
        monkeypatch.setattr(workbook, "products", lambda: [product("New text.")])
        mine, delay = product(f"My note {number}.").data, draw.uniform(0, 1.5 * took)

        def save(mine=mine, delay=delay):
            time.sleep(delay)
            for _ in range(3):
                try:
                    with atomic_writing(str(small.chapter), text=False) as file:
                        file.write(mine)
                    return
                except FileNotFoundError:  # the file was renamed just before it was opened
                    continue

        saving = threading.Thread(target=save)
        saving.start()
        start = time.perf_counter()
        report = workbook.lay_out()
        took = time.perf_counter() - start
        saving.join()
        replaced += len(report.replaced)
        kept = (small.workbook / workbook.REPLACED).rglob("*.ipynb")
        if small.chapter.read_bytes() != mine and all(it.read_bytes() != mine for it in kept):
            lost.append(number)
    assert lost == []
    assert 0 < replaced < 300, "some saves came before the update, others after it"


def product(text):
    data = json.dumps(
        {
            "cells": [{"cell_type": "markdown", "id": "0", "metadata": {}, "source": text}],
            "metadata": {},
            "nbformat": 4,
            "nbformat_minor": 5,
        }
    ).encode()
    return workbook._product("chapters/02-recurrent.ipynb", data)


def test_a_file_system_without_links_will_do(small, edit, monkeypatch):
    monkeypatch.setattr(os, "link", fail_with(errno.EPERM))
    workbook.lay_out()
    edit(small.chapter, run_all)
    small.change_chapter()
    assert workbook.lay_out().replaced == ["chapters/02-recurrent.ipynb"]
    assert "New text." in small.chapter.read_text(encoding="utf-8")
    edit(small.chapter, write_text)
    assert workbook.lay_out().edited == ["chapters/02-recurrent.ipynb"]


def test_a_link_to_another_disk_is_kept_on_it(small, tmp_path, monkeypatch):
    workbook.lay_out()
    far = tmp_path / "far.ipynb"
    small.chapter.rename(far)
    small.chapter.symlink_to(far)
    far.chmod(0o600)
    small.change_chapter()
    real = os.rename

    def other_disk(source, target):
        if ".lmcourse" in Path(target).parts:
            raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
        real(source, target)

    old = far.read_bytes()
    monkeypatch.setattr(os, "rename", other_disk)
    assert workbook.lay_out().replaced == ["chapters/02-recurrent.ipynb"]
    assert small.chapter.is_symlink() and "New text." in far.read_text(encoding="utf-8")
    assert stat.S_IMODE(far.stat().st_mode) == 0o600
    assert (tmp_path / "far.replaced-1.ipynb").read_bytes() == old


def test_two_commands_do_not_lay_a_workbook_out_at_once(small, monkeypatch):
    workbook.lay_out()
    monkeypatch.setattr(workbook, "_PATIENCE", 0)
    with (
        FileLock(small.workbook / ".lmcourse" / "layout.lock"),
        pytest.raises(CourseError, match="Another command is laying out"),
    ):
        workbook.lay_out()


@pytest.mark.parametrize(
    "how",
    [
        answer,
        lambda n: n["cells"].pop(),
        lambda n: n["cells"][0].update(cell_type="raw"),
        lambda n: n["cells"][2]["metadata"].update(tags=["mine"]),
        lambda n: n["cells"][0].update(attachments={"a.png": {"image/png": "aGk="}}),
        lambda n: n["cells"].insert(1, {"cell_type": "code", "source": "x", "metadata": {}}),
        lambda n: n["cells"].reverse(),
    ],
)
def test_what_counts_as_an_edit(small, edit, how):
    workbook.lay_out()
    edit(small.lab, how)
    assert workbook.lay_out().edited == ["labs/02-recurrent.ipynb"]


def test_a_deleted_file_comes_back_fresh(small, edit):
    workbook.lay_out()
    edit(small.chapter, write_text)
    small.change_chapter()
    workbook.lay_out()
    small.chapter.unlink()
    report = workbook.lay_out()
    assert report.written == ["chapters/02-recurrent.ipynb"]
    assert (report.edited, report.updates) == ([], {})
    assert "New text." in small.chapter.read_text(encoding="utf-8")


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"cells": 3}', b'{"cells": [1]}', b"\xff"])
def test_a_damaged_notebook_is_left_alone(small, damage):
    workbook.lay_out()
    small.lab.write_bytes(damage)
    report = workbook.lay_out()
    assert report.broken == report.edited == ["labs/02-recurrent.ipynb"]
    assert small.lab.read_bytes() == damage


def test_a_folder_in_a_notebooks_place_is_left_alone(small):
    small.lab.mkdir(parents=True)
    report = workbook.lay_out()
    assert report.broken == ["labs/02-recurrent.ipynb"]
    assert report.updates == {"labs/02-recurrent.ipynb": "labs/02-recurrent.updated.ipynb"}


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{",
        b"\xff",
        b"[1]",
        b'{"version": 2, "files": {}}',
        b'{"version": 1, "files": {"a": {"x": 1}}}',
        b'{"version": 1, "files": {"a": {"laid": 1}}}',
        rb'{"version": 1, "files": {"\ud800": {}}}',
        rb'{"version": 1, "files": {"a": {"copy": "\ud800"}}}',
    ],
)
def test_a_corrupt_manifest_is_moved_aside_and_every_file_counts_as_edited(small, text):
    workbook.lay_out()
    manifest = small.workbook / ".lmcourse" / "manifest.json"
    manifest.write_bytes(text)
    old = small.chapter.read_bytes()
    small.change_chapter()
    report = workbook.lay_out()
    assert report.edited == ["chapters/02-recurrent.ipynb"], "the lab equals the product"
    assert small.chapter.read_bytes() == old
    assert manifest.with_name("manifest.corrupt-1.json").read_bytes() == text
    assert len(report.notices) == 1 and "manifest.corrupt-1.json" in report.notices[0]
    assert workbook.lay_out().notices == [], "said once"
    manifest.write_bytes(text)
    workbook.lay_out()
    assert manifest.with_name("manifest.corrupt-2.json").exists()


def test_figures_go_along_under_the_same_rules(small):
    figure = small.root / "chapters" / "figures" / "one.svg"
    figure.parent.mkdir()
    figure.write_text("<svg/>")
    for name in (
        "labs/solution.py",
        "labs/try.ipynb",
        "labs/.hidden/x.txt",
        "labs/NOTES.md",
    ):
        (small.root / name).parent.mkdir(exist_ok=True)
        (small.root / name).write_text("secret")
    workbook.lay_out()
    laid = small.workbook / "chapters" / "figures" / "one.svg"
    assert sorted(small.files()) == [
        "chapters/02-recurrent.ipynb",
        "chapters/figures/one.svg",
        "labs/02-recurrent.ipynb",
    ]
    laid.write_text("<svg>mine</svg>")
    figure.write_text("<svg>new</svg>")
    report = workbook.lay_out()
    assert laid.read_text() == "<svg>mine</svg>"
    assert report.updates == {"chapters/figures/one.svg": "chapters/figures/one.updated.svg"}


def fail_with(number):
    def refuse(*arguments, **options):
        raise OSError(number, os.strerror(number))

    return refuse


@pytest.mark.parametrize(
    ("number", "cause", "remedy"),
    [
        (errno.ENOSPC, "disk is full", "Free some space"),
        (errno.EACCES, "may not write", "LMCOURSE_WORKBOOK"),
        (errno.EROFS, "may not write", "LMCOURSE_WORKBOOK"),
        (errno.EIO, "could not be written", "LMCOURSE_WORKBOOK"),
    ],
)
@pytest.mark.parametrize("where", ["replace", "fsync"])
def test_a_write_that_fails_loses_nothing(small, monkeypatch, number, cause, remedy, where):
    workbook.lay_out()
    before = small.files()
    small.change_chapter()
    with monkeypatch.context() as patch:
        patch.setattr(files.os, where, fail_with(number))
        with pytest.raises(CourseError, match=cause) as error:
            workbook.lay_out()
    assert remedy in error.value.remedy
    assert small.files() == before, "the old file, whole, and no temporary one"
    assert workbook.lay_out().replaced == ["chapters/02-recurrent.ipynb"]


def test_an_interruption_in_the_middle_of_a_write_leaves_the_old_file(small, monkeypatch):
    workbook.lay_out()
    before = small.files()
    small.change_chapter()

    def interrupt(handle):
        assert list(small.chapter.parent.glob(".lmcourse-*")), "half written, beside the old file"
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(files.os, "fsync", interrupt)
        with pytest.raises(KeyboardInterrupt):
            workbook.lay_out()
    assert small.files() == before


def test_what_a_killed_command_left_is_swept(small):
    workbook.lay_out()
    old, young = (small.chapter.with_name(f".lmcourse-x-{n}.tmp") for n in (1, 2))
    for path in (old, young):
        path.write_text("half")
    os.utime(old, (0, 0))
    workbook.lay_out()
    assert not old.exists()
    assert young.exists(), "another command may be writing it"


def test_files_laid_out_before_a_failure_do_not_look_edited(small, monkeypatch):
    real = os.replace

    def refuse_labs(source, target):
        if "labs" in str(target):
            raise OSError(errno.ENOSPC, "full")
        real(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(files.os, "replace", refuse_labs)
        with pytest.raises(CourseError, match="disk is full"):
            workbook.lay_out()
    small.change_chapter()
    report = workbook.lay_out()
    assert report.replaced == ["chapters/02-recurrent.ipynb"] and report.edited == []


@pytest.mark.parametrize("name", ["", "chapters", ".lmcourse"])
def test_a_file_where_a_folder_is_needed(small, name):
    blocking = small.workbook / name
    blocking.parent.mkdir(exist_ok=True)
    blocking.write_text("mine")
    with pytest.raises(CourseError) as error:
        workbook.lay_out()
    assert str(blocking) in error.value.cause and "folder is needed" in error.value.cause
    assert blocking.read_text() == "mine"


def test_a_read_only_checkout(small, unprivileged):
    small.root.chmod(0o555)
    try:
        with pytest.raises(CourseError, match="may not write") as error:
            workbook.lay_out()
    finally:
        small.root.chmod(0o755)
    assert "LMCOURSE_WORKBOOK" in error.value.remedy


def test_the_workbook_may_not_lie_among_the_sources(small):
    for folder in (small.root, small.root / "labs", small.root / "chapters" / "mine"):
        with pytest.raises(CourseError, match="sources"):
            workbook.lay_out(folder)
    assert sorted(path.name for path in (small.root / "labs").iterdir()) == ["02-recurrent.md"]


@pytest.mark.parametrize(
    "name",
    ["_build", "_build/mine", "_BUILD/mine", "lmcourse", "lmcourse/mine", ".venv/mine", ".git",
     "web/node_modules", "tests/x", "x.egg-info", "mine/__pycache__/x", "workbook/__pycache__"],
)  # fmt: skip
def test_a_workbook_where_products_are_deleted_is_refused(small, monkeypatch, name):
    monkeypatch.setenv("LMCOURSE_WORKBOOK", str(small.root / name))
    with pytest.raises(CourseError, match="make clean") as error:
        workbook.lay_out()
    assert "LMCOURSE_WORKBOOK" in error.value.remedy
    (found,) = doctor._look("workbook", doctor.CHECKS["workbook"])
    assert (found.status, found.found) == ("problem", error.value.cause)
    assert not (small.root / name).exists()


def test_a_link_to_such_a_folder_is_refused(small, tmp_path):
    (small.root / "_build").mkdir()
    (tmp_path / "mine").symlink_to(small.root / "_build")
    with pytest.raises(CourseError, match="make clean"):
        workbook.lay_out(tmp_path / "mine")


def test_every_tracked_folder_and_all_that_make_clean_deletes_is_refused(small):
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    taken = {name.split("/")[0] for name in listed if "/" in name}
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    (deleted,) = re.findall(r"^clean:\n\trm -rf (.*)$", makefile, re.MULTILINE)
    taken |= {name.replace("*", "x").replace("$(VENV)", ".venv") for name in deleted.split()}
    assert len(taken) > 20
    for name in taken:
        with pytest.raises(CourseError, match="make clean"):
            workbook.lay_out(small.root / name)
    for name in ("workbook", "workbook-2", "mine/labs"):
        workbook.refuse_taken(small.root / name)


def test_nothing_is_written_when_a_source_is_bad(small):
    workbook.lay_out()
    before = small.files()
    small.change_chapter()
    small.write("labs/02-recurrent.md", "---\n\n```{code-cell}\n### BEGIN SOLUTION\n```\n")
    with pytest.raises(CourseError, match="no end"):
        workbook.lay_out()
    assert small.files() == before


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no permission bits")
def test_the_private_folder_is_private(small):
    private = small.workbook / ".lmcourse"
    private.mkdir(parents=True, mode=0o755)
    private.chmod(0o755)
    workbook.lay_out()
    assert stat.S_IMODE(private.stat().st_mode) == 0o700


def test_the_manifest_knows_relative_names_only(small):
    workbook.lay_out()
    known = json.loads((small.workbook / ".lmcourse" / "manifest.json").read_text("utf-8"))
    assert sorted(known["files"]) == [
        "chapters/02-recurrent.ipynb",
        "labs/02-recurrent.ipynb",
    ]
    assert not any(Path(name).is_absolute() for name in known["files"])


def test_citations_are_written_out(small):
    small.change_chapter("As {cite:t}`someone1990` found.")
    with pytest.raises(CourseError, match=r"Cell 1 of 02-recurrent\.md cites 'someone1990'"):
        workbook.lay_out()
    (small.root / "references.bib").write_text(
        "@article{someone1990,\n  author = {Someone, A.},\n  title = {T},\n  year = {1990},\n"
        "  url = {https://example.org/t}\n}\n"
    )
    workbook.lay_out()
    laid = small.chapter.read_text(encoding="utf-8")
    assert "As [Someone (1990)](https://example.org/t) found." in laid
