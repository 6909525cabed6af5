"""lmcourse.files: a file is replaced whole, and stays what it was otherwise."""

import stat
import sys

import pytest

from lmcourse import files
from lmcourse.errors import CourseError


def write(path, data=b"new"):
    with files.replacing(path) as file:
        file.write(data)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no permission bits")
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o755])
def test_a_replaced_file_keeps_its_mode(tmp_path, mode):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    path.chmod(mode)
    write(path)
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_a_link_stays_a_link(tmp_path):
    path, link = tmp_path / "file", tmp_path / "link"
    path.write_bytes(b"old")
    link.symlink_to(path.name)
    write(link)
    assert link.is_symlink() and path.read_bytes() == b"new"


def test_what_cannot_be_written_is_known_before(tmp_path):
    files.require_writable(tmp_path / "a" / "b" / "file", "Elsewhere.")
    assert list(tmp_path.iterdir()) == [], "nothing is made for it"
    (tmp_path / "file").write_text("")
    for path in (tmp_path, tmp_path / "file" / "below"):
        with pytest.raises(CourseError):
            files.require_writable(path, "Elsewhere.")


def test_a_folder_that_may_not_be_written_is_known_before(tmp_path, unprivileged):
    tmp_path.chmod(0o555)
    try:
        with pytest.raises(CourseError, match="may not write") as caught:
            files.require_writable(tmp_path / "a" / "file", "Elsewhere.")
    finally:
        tmp_path.chmod(0o755)
    assert caught.value.remedy == "Elsewhere."


MARK = files.HTML_MARK


@pytest.mark.parametrize(
    "data", [MARK, b"", b"<head>" + MARK + b"x" * 99_999, b"x" * 99_999 + MARK]
)
def test_an_output_replaces_what_the_course_wrote(tmp_path, data):
    (tmp_path / "file").write_bytes(data)
    files.require_own(tmp_path / "file", MARK, "Elsewhere.")


@pytest.mark.parametrize("data", [b"# A chapter\n", b"x" * 50_000 + MARK + b"x" * 50_000])
def test_an_output_never_replaces_another_file(tmp_path, data):
    (tmp_path / "file").write_bytes(data)
    with pytest.raises(CourseError, match="did not write") as caught:
        files.require_own(tmp_path / "file", MARK, "Elsewhere.")
    assert caught.value.remedy == "Elsewhere."


def test_a_name_that_is_free_may_be_used(tmp_path):
    for path in (tmp_path / "new", tmp_path, tmp_path / "a\0b"):
        files.require_own(path, MARK, "Elsewhere.")


def test_the_users_folder_is_written_out(tmp_path, monkeypatch):
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path))
    assert files.expanded("~/x.html") == tmp_path / "x.html"
    assert str(files.expanded("a/~/b")) == str(files.Path("a/~/b"))
    with pytest.raises(CourseError, match="a user who is not known here"):
        files.expanded("~no-such-user/x")
