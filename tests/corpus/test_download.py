"""Downloads over bad connections: whole and right, or not there at all."""

import gzip
import hashlib
import io
import random
import socket
import subprocess
import sys
import time
import zipfile
from contextlib import contextmanager
from pathlib import Path

import pytest

from coursekit import datasets, download
from coursekit.datasets import DATASETS
from coursekit.download import fetch
from lmcourse import files
from lmcourse.corpus import streams
from lmcourse.errors import CourseError
from tests.corpus.broken_server import serving

SIZE = 300_000
NEW = '"second"'


def some_bytes(seed):
    return random.Random(seed).randbytes(SIZE)


def digest(data):
    return hashlib.sha256(data).hexdigest()


DATA, OTHER = some_bytes(1), some_bytes(2)


@pytest.fixture
def site(monkeypatch):
    monkeypatch.setattr(download, "PAUSE", 0)
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, "127.0.0.1")
    with serving() as site:
        site.files["/data.bin"] = DATA
        yield site


@pytest.fixture
def get(site, tmp_path):
    """Fetch the server's file into the test's folder."""

    def get(sha256=None, name="data.bin"):
        return fetch(f"{site.url}/{name}", sha256, folder=tmp_path / "cache")

    return get


def ranges(site):
    return [wanted for _, wanted in site.asked]


def left(path):
    """The names of what lies in the folder, but for the lock."""
    return sorted(each.name for each in path.iterdir() if not each.name.endswith(".lock"))


def test_a_file_comes_once(site, get, capfd):
    path = get(digest(DATA))
    assert path.read_bytes() == DATA and path.name.endswith("-data.bin")
    assert get(digest(DATA)) == path and len(site.asked) == 1
    assert left(path.parent) == [path.name]
    assert capfd.readouterr() == ("", "")  # neither pooch nor a bar, where nobody watches


def test_two_addresses_with_one_name_are_two_files(site, get):
    site.files["/more/data.bin"] = OTHER
    assert get().read_bytes() == DATA
    assert get(name="more/data.bin").read_bytes() == OTHER
    assert get().read_bytes() == DATA


@pytest.mark.parametrize("tag", ['"first"', None, 'W/"weak"'])
def test_a_broken_download_goes_on_where_it_broke(site, get, tag):
    site.etag, site.modified = tag, "Sat, 21 Nov 2026 20:00:00 GMT"
    site.cuts = [100_000, 0, 50_000]
    path = get()
    assert path.read_bytes() == DATA and site.sent == SIZE
    assert ranges(site) == [None, "bytes=100000-", "bytes=100000-", "bytes=150000-"]
    assert site.conditions == [tag if tag == '"first"' else site.modified] * 3
    assert left(path.parent) == [path.name, f"{path.name}.sha256"]


def test_a_server_that_cannot_go_on_sends_all_again(site, get):
    site.ranges = False
    site.cuts = [100_000, 200_000, 10]
    assert get(digest(DATA)).read_bytes() == DATA
    assert site.sent == SIZE + 300_010


def test_without_tag_and_digest_it_starts_over(site, get):
    # Nothing could tell whether the two halves are of the same file.
    site.etag, site.cuts = None, [100_000]
    assert get().read_bytes() == DATA
    assert ranges(site) == [None, None]


@pytest.mark.parametrize("heeds", [True, False], ids=["If-Range", "ignores If-Range"])
@pytest.mark.parametrize("verified", [True, False])
def test_two_files_are_never_put_together(site, get, heeds, verified):
    site.cuts = [100_000] * download.TRIES * 2
    site.ranges = False  # it breaks so long that the first call gives up
    with pytest.raises(CourseError, match="could not be downloaded"):
        get(digest(DATA) if verified else None)
    site.cuts, site.ranges, site.heeds_if_range = [], True, heeds
    site.files["/data.bin"], site.etag = OTHER, NEW
    assert get(digest(OTHER) if verified else None).read_bytes() == OTHER
    assert "bytes=100000-" in ranges(site)


def test_a_file_that_became_shorter_starts_over(site, get):
    site.cuts, site.statuses = [200_000], [200, 404]
    with pytest.raises(CourseError):
        get()
    site.files["/data.bin"], site.heeds_if_range = OTHER[:1000], False
    assert get().read_bytes() == OTHER[:1000]


def stop_after(count, error):
    """A progress bar that raises once so many bytes came."""

    @contextmanager
    def bar(name, total, wanted):
        def show(done):
            if done >= count:
                raise error

        yield show

    return bar


def test_an_interruption_leaves_the_file_to_the_next_call(site, get, tmp_path, monkeypatch):
    monkeypatch.setattr(streams, "CHUNK", 10_000)
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(streams, "bar", stop_after(100_000, KeyboardInterrupt()))
        get()
    assert [name.split("-")[1] for name in left(tmp_path / "cache")] == [
        "data.bin.part",
        "data.bin.tag",
    ]
    assert get().read_bytes() == DATA
    assert len(site.asked) == 2 and int(ranges(site)[1].strip("bytes=-")) >= 100_000


def test_a_full_disk_is_named_and_what_came_is_kept(site, get, tmp_path, monkeypatch):
    monkeypatch.setattr(streams, "CHUNK", 10_000)
    with monkeypatch.context() as patch:
        patch.setattr(streams, "bar", stop_after(50_000, OSError(28, "No space left on device")))
        with pytest.raises(CourseError, match=r"The disk is full: .*data.bin.*Free some space"):
            get()
    assert len(site.asked) == 1  # there is no use in trying again
    assert get().read_bytes() == DATA and int(ranges(site)[1].strip("bytes=-")) >= 50_000


def test_another_file_than_expected_is_removed(site, get, tmp_path):
    with pytest.raises(CourseError, match="sent another file than expected") as caught:
        get(digest(OTHER))
    assert digest(DATA) in caught.value.cause and digest(OTHER) in caught.value.cause
    assert "log in" in caught.value.remedy and left(tmp_path / "cache") == []
    assert len(site.asked) == 1


def test_a_wrong_digest_does_not_try_forever(site, get, tmp_path):
    site.cuts = [100_000] * 10
    with pytest.raises(CourseError, match="sent another file than expected"):
        get(digest(OTHER))
    assert left(tmp_path / "cache") == []


def test_the_first_digest_is_recorded_and_held_against_later_ones(site, get):
    path = get()
    record = path.with_name(f"{path.name}.sha256")
    assert record.read_text() == f"{digest(DATA)}  {path.name}\n"
    site.files["/data.bin"], site.etag = OTHER, NEW
    assert get().read_bytes() == DATA and len(site.asked) == 1
    path.unlink()
    with pytest.raises(CourseError, match="another file than expected") as caught:
        get()
    assert f"delete {record}" in caught.value.remedy and not path.exists()
    record.unlink()
    assert get().read_bytes() == OTHER
    record.write_text("no digest")
    with pytest.raises(CourseError, match="another file than expected"):
        get()


def test_a_file_that_was_damaged_on_the_disk_comes_again(site, get):
    path = get()
    path.write_bytes(DATA[:-1] + b"x")
    assert get().read_bytes() == DATA and len(site.asked) == 2


def test_a_file_put_there_by_hand_is_taken_if_it_is_right(site, get):
    path = get()
    site.asked.clear()
    for each in path.parent.iterdir():
        each.unlink()
    path.write_bytes(DATA)
    assert get(digest(DATA)) == path and site.asked == []
    path.write_bytes(OTHER)  # not the right one: it stands until the right one is there
    site.statuses = [404]
    with pytest.raises(CourseError, match="404"):
        get(digest(DATA))
    assert path.read_bytes() == OTHER
    assert get(digest(DATA)).read_bytes() == DATA


def test_a_file_that_is_not_there_is_asked_for_once(site, get, tmp_path):
    with pytest.raises(CourseError, match=r"answered 404 \(Not Found\).*the address in a browser"):
        get(name="nothing.bin")
    assert len(site.asked) == 1 and left(tmp_path / "cache") == []


def test_a_server_in_trouble_is_asked_again(site, get):
    site.statuses = [500, 503, 429]
    assert get().read_bytes() == DATA and len(site.asked) == 4


def test_a_server_that_stays_in_trouble_is_given_up(site, get):
    site.statuses = [503] * 99
    with pytest.raises(CourseError, match=r"the server answered 503 .*in a browser"):
        get()
    assert len(site.asked) == download.TRIES


def test_an_address_that_leads_to_itself_is_followed_once(site, get):
    with pytest.raises(CourseError, match="TooManyRedirects"):
        get(name="loop")
    assert len(site.asked) == 31  # requests follows thirty


def test_tries_are_counted_from_the_last_byte_that_came(site, get):
    site.cuts = [1000] * (3 * download.TRIES)
    assert get().read_bytes() == DATA and site.sent == SIZE


def test_a_server_that_sends_a_byte_at_a_time_is_given_up(site, get, monkeypatch):
    monkeypatch.setattr(download, "TIMEOUT", 0.3)
    site.drip = 0.01
    with pytest.raises(CourseError, match=r"only \d+ bytes came in"):
        get()
    assert len(site.asked) == 1


def test_the_body_of_a_redirect_is_not_waited_for(site, get):
    site.drip, site.files["/data.bin"] = 0.05, b"data"
    start = time.monotonic()
    assert get(name="moved").read_bytes() == b"data"
    assert time.monotonic() - start < 5  # the body of 320 bytes takes 16 s
    assert [path for path, _ in site.asked] == ["/moved", "/data.bin"]


def test_a_head_that_comes_byte_by_byte_is_given_up(site, get, monkeypatch):
    monkeypatch.setattr(download, "TIMEOUT", 0.2)
    monkeypatch.setattr(download, "TRIES", 2)
    site.drip = 0.02
    start = time.monotonic()
    with pytest.raises(CourseError, match="did not answer in time"):
        get(name="head")
    assert time.monotonic() - start < 10 and len(site.asked) == 2  # the head takes 20 s


def test_a_server_that_hangs_is_given_up(site, get, monkeypatch):
    monkeypatch.setattr(download, "TIMEOUT", 0.05)
    monkeypatch.setattr(download, "TRIES", 2)
    site.gate.clear()
    with pytest.raises(CourseError, match="did not answer in time"):
        get()


def test_without_a_network_it_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setattr(download, "PAUSE", 0)
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, "127.0.0.1")
    with socket.socket() as taken:  # bound but not listening: nobody answers there
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/data.bin"
        with pytest.raises(CourseError, match="the server cannot be reached") as caught:
            fetch(url, folder=tmp_path)
    remedy = caught.value.remedy
    assert "in a browser" in remedy and str(tmp_path) in remedy and "-data.bin" in remedy


def test_the_bytes_are_those_of_the_file(site, get):
    # Some servers say of a .gz file that it is another file, encoded.
    site.files["/data.bin"] = gzip.compress(DATA[:1000])
    site.headers["Content-Encoding"] = "gzip"
    assert get().read_bytes() == site.files["/data.bin"]


def test_a_file_of_unknown_length(site, get):
    site.headers["Content-Length"] = None
    assert get(digest(DATA)).read_bytes() == DATA
    site.files["/cut.bin"], site.cuts = OTHER, [1000]
    with pytest.raises(CourseError, match="another file than expected"):
        get(digest(OTHER), "cut.bin")


def test_two_processes_download_once(site, tmp_path):
    code = (
        "import sys; from coursekit.download import fetch;"
        f"print(fetch('{site.url}/data.bin', folder=sys.argv[1]))"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    site.gate.clear()
    with subprocess.Popen(command, **pipes) as first:
        assert site.came.wait(60)
        with subprocess.Popen(command, **pipes) as second:
            assert "waiting" in second.stderr.readline()
            site.gate.set()
            found = [each.communicate(timeout=60)[0].strip() for each in (first, second)]
    assert found[0] == found[1] and len(site.asked) == 1
    assert Path(found[0]).read_bytes() == DATA and Path(found[0]).parent == tmp_path


@pytest.fixture
def archive(site, monkeypatch):
    """A data set that is a file in an archive."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as opened:
        opened.writestr("vectors.txt", b"the 1 2\n" * 10_000)
    site.files["/toy.zip"] = packed.getvalue()
    known = datasets.DataSet(f"{site.url}/toy.zip", "toy.zip", member="vectors.txt")
    monkeypatch.setitem(DATASETS, "toy", known)
    return known


def test_a_file_is_taken_out_of_an_archive(site, archive, tmp_path):
    path = fetch("toy", folder=tmp_path)
    assert path == tmp_path / "vectors.txt" and path.read_bytes() == b"the 1 2\n" * 10_000
    assert fetch("toy", folder=tmp_path) == path and len(site.asked) == 1
    (tmp_path / "toy.zip").unlink()  # what was taken out needs its archive no more
    assert fetch("toy", folder=tmp_path) == path and len(site.asked) == 1


def test_half_a_file_of_another_address_is_of_no_use(site, tmp_path, monkeypatch):
    site.files["/more/data.bin"] = OTHER  # both have the same tag
    site.cuts, site.statuses = [100_000], [200, 404]
    for address, data in (("data.bin", None), ("more/data.bin", OTHER)):
        known = datasets.DataSet(f"{site.url}/{address}", "data.bin")
        monkeypatch.setitem(DATASETS, "moved", known)
        if data is None:
            with pytest.raises(CourseError, match="404"):
                fetch("moved", folder=tmp_path)
        else:
            assert fetch("moved", folder=tmp_path).read_bytes() == data


def test_an_interruption_leaves_no_half_file_of_an_archive(archive, tmp_path, monkeypatch):
    fetch("toy", folder=tmp_path).unlink()
    monkeypatch.setattr(streams, "CHUNK", 1000)
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(streams, "bar", stop_after(5000, KeyboardInterrupt()))
        fetch("toy", folder=tmp_path)
    assert left(tmp_path) == ["toy.zip", "toy.zip.sha256"]
    assert fetch("toy", folder=tmp_path).stat().st_size == 80_000


@pytest.mark.parametrize("how", ["no archive", "another member", "a wrong sum"])
def test_a_bad_archive_is_named(site, archive, tmp_path, how):
    data = bytearray(site.files["/toy.zip"])
    if how == "no archive":
        data = bytearray(b"<html>")
    elif how == "another member":
        data = data.replace(b"vectors.txt", b"vektors.txt")
    else:
        place = data.index(b"PK\x01\x02") + 16
        data[place] ^= 1
    site.files["/toy.zip"] = bytes(data)
    with pytest.raises(
        CourseError, match=r"vectors.txt cannot be extracted from .*toy.zip.*Delete"
    ):
        fetch("toy", folder=tmp_path)
    assert not (tmp_path / "vectors.txt").exists()


def test_where_downloads_are_kept(site, tmp_path, monkeypatch):
    monkeypatch.setenv("LMCOURSE_CACHE", str(tmp_path / "größer als groß"))
    assert fetch(f"{site.url}/data.bin").parent == tmp_path / "größer als groß"
    monkeypatch.setenv("LMCOURSE_CACHE", "~/cache")
    assert files.cache_folder() == type(tmp_path).home() / "cache"
    monkeypatch.delenv("LMCOURSE_CACHE")
    assert "lmcourse" in files.cache_folder().parts


def test_a_folder_that_cannot_be_is_named(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(CourseError, match=r"is a file, but a folder is needed.*LMCOURSE_CACHE"):
        fetch("goodreads-spoilers", folder=tmp_path / "file")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("goodreads", "neither a known data set.*goodreads-spoilers, glove-6b-50"),
        ("ftp://example.org/x", "neither a known data set"),
        ("http:///x", "neither a known data set"),
        ("http://[::1/x", "neither a known data set"),
        ("file:///etc/passwd", "neither a known data set"),
    ],
)
def test_what_cannot_be_asked_for(tmp_path, name, words):
    with pytest.raises(CourseError, match=words):
        fetch(name, folder=tmp_path)
    assert left(tmp_path) == []


@pytest.mark.parametrize("path", ["/", "/..", "/a%2Fb", "/a\\b", "/" + "x" * 500, "/ü?token=1"])
def test_a_name_made_of_an_address_stays_in_the_folder(path):
    name = datasets.find(f"https://example.org{path}", None).file
    assert len(name) < 120 and not set(name) & set("/\\?%") and name not in (".", "..")
