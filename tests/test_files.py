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
