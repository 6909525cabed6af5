"""Models from the hub: whole and verified, downloaded once, and told well where it fails."""

import contextlib
import errno
import gzip
import os
import shutil
import socket
import threading
import time

import huggingface_hub
import pytest
import torch

from lmcourse import hub as course_hub
from lmcourse.errors import CourseError
from lmcourse.hub import client, downloaded, repository
from lmcourse.hub.repository import Address
from lmcourse.models.bert_heads import BertForPreTraining
from tests.hub import saved
from tests.hub.hub_server import git_sha1, sha256

NAME = "org/tiny-bert"
WEIGHTS = "model.safetensors"


@pytest.fixture
def model(hub, original):
    """The hub with one repository."""
    hub.commit = hub.add(NAME, original)
    return hub


def load(name=NAME, *arguments, **options):
    return course_hub.load(name, *arguments, **options)


def same(loaded, folder):
    ours, wanted = loaded.model.state_dict(), course_hub.load(folder).model.state_dict()
    return ours.keys() == wanted.keys() and all(torch.equal(ours[k], wanted[k]) for k in ours)


def blob(name=WEIGHTS, place="cache/hub", root=None):
    """Where a downloaded file's content lies."""
    (path,) = (root / place).glob(f"models--*/snapshots/*/{name}")
    return path.resolve()


def flip(path):
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.chmod(0o644)
    path.write_bytes(content)


# --- once, and whole ---


def test_a_model_comes_with_its_tokenizer_once(model, original, capfd):
    found = load()
    assert type(found.model).__name__ == "BertForMaskedLM" and same(found, original)
    assert found.tokenizer.to_str() == saved.tokenizer().to_str()
    assert found.commit == model.commit and found.source == NAME
    assert found.commit[:7] in repr(found) and NAME in repr(found)
    assert not any("README" in line or "training" in line for line in model.asked)
    asked = len(model.asked)
    again = load()
    assert len(model.asked) == asked and same(again, original)  # without one request
    assert list(downloaded()) == [NAME] and downloaded()[NAME].commit == model.commit
    assert {*downloaded()[NAME].files} == {"config.json", WEIGHTS, "tokenizer.json"}
    assert capfd.readouterr() == ("", "")


def test_only_what_is_needed_is_downloaded(hub, original, tmp_path):
    folder = shutil.copytree(original, tmp_path / "more")
    for extra in ("README.md", "pytorch_model.bin", "training_args.bin", "vocab.txt", "onnx/a.bin"):
        (folder / extra).parent.mkdir(exist_ok=True)
        (folder / extra).write_bytes(b"x")
    hub.add(NAME, folder)
    load()
    taken = {line.rpartition("/")[2] for line in hub.asked if "/resolve/" in line}
    assert taken == {"config.json", WEIGHTS, "tokenizer.json"}


def test_the_token_goes_to_the_hub_and_no_further(model, original, monkeypatch):
    model.gated.add(NAME)
    with pytest.raises(CourseError, match="open only to those who accepted its terms") as error:
        load()
    assert f"{model.url}/{NAME}" in error.value.remedy and "HF_TOKEN" in error.value.remedy
    monkeypatch.setenv("HF_TOKEN", "good")
    assert same(load(), original)
    assert model.tokens == [None]


def test_a_class_can_be_asked_for(hub, tmp_path):
    hub.add(NAME, saved.save(tmp_path, "BertForPreTraining"))
    assert type(load(NAME, BertForPreTraining).model) is BertForPreTraining


def test_an_old_name_leads_to_the_new_one(model, original):
    model.moved["tiny-bert"] = NAME
    assert same(load("tiny-bert"), original)
    count = len(model.asked)
    assert same(load("tiny-bert"), original) and len(model.asked) == count


def test_shards_come_from_the_hub(hub, tmp_path):
    name, conversion = saved.cases()[0]
    saved.reference(name, conversion).save_pretrained(tmp_path, max_shard_size="3KB")
    hub.add(NAME, tmp_path)
    found = load()
    assert same(found, tmp_path) and found.tokenizer is None
    assert sum(line.startswith("cdn GET") for line in hub.asked) == len(
        list(tmp_path.glob("model-*.safetensors"))
    )
    count = len(hub.asked)
    load()
    assert len(hub.asked) == count


# --- versions ---


def test_a_newer_version_comes_when_it_is_asked_for(model, original, tmp_path):
    load()
    newer = saved.save(tmp_path / "newer", seed=5)
    commit = model.add(NAME, newer)
    assert load().commit == model.commit
    found = load(update=True)
    assert found.commit == commit != model.commit and same(found, newer)
    assert load().commit == commit
    old = load(f"{NAME}@{model.commit}")
    assert same(old, original) and old.source == f"{NAME}@{model.commit}"
    assert set(downloaded()) == {NAME, f"{NAME}@{model.commit}"}


def test_pull_requests_and_branches_are_revisions(model, original):
    files = model.repositories[NAME].commits[model.commit]
    model.repositories[NAME].commit(files, "refs/pr/1")
    assert same(load(revision="refs/pr/1"), original)
    count = len(model.asked)
    assert same(load(f"{NAME}@refs/pr/1"), original) and len(model.asked) == count
    with pytest.raises(CourseError, match="no revision 'nightly'"):
        load(revision="nightly")


# --- bad connections ---


def test_a_download_that_never_ends_well_leaves_nothing_half(model, original, tmp_path):
    model.cuts = [1000, *[0] * 8]
    with pytest.raises(CourseError, match=rf"{NAME} was never downloaded here, and .*"):
        load()
    assert not list(tmp_path.glob("**/*.incomplete")) and downloaded() == {}
    assert not list(tmp_path.rglob(WEIGHTS))
    model.cuts = []
    assert same(load(), original)


def test_a_busy_hub_is_asked_again(model, original):
    model.statuses = [200, 503, 502]
    assert same(load(), original)


@pytest.mark.parametrize("chunked", [False, True])
def test_a_flipped_byte_is_noticed_and_not_kept(model, original, tmp_path, chunked):
    model.chunked = chunked
    data = bytearray((original / WEIGHTS).read_bytes())
    data[-1] ^= 1
    model.sends[WEIGHTS] = bytes(data)
    with pytest.raises(CourseError, match=r"sent another model\.safetensors .*; it was removed"):
        load()
    assert not list(tmp_path.rglob(f"cache/**/{WEIGHTS}")) and downloaded() == {}
    assert sha256((original / WEIGHTS).read_bytes()) not in {p.name for p in tmp_path.rglob("*")}
    model.sends = {}
    assert same(load(), original)


def test_another_config_than_announced_is_noticed(model):
    config = model.repositories[NAME].commits[model.commit]["config.json"]
    model.sends["config.json"] = config.replace(b"gelu", b"relu")
    with pytest.raises(CourseError, match=r"sent another config\.json"):
        load()


@pytest.mark.parametrize("chunked", [False, True])
def test_more_than_announced_stops_soon(model, original, tmp_path, monkeypatch, chunked):
    model.chunked = chunked
    model.sends[WEIGHTS] = bytes(1 << 25)
    with pytest.raises(CourseError, match="sends more than it announced"):
        load()
    left = [path.stat().st_size for path in tmp_path.rglob("cache/**/*") if path.is_file()]
    assert max(left, default=0) < 1 << 16


def test_less_than_announced_is_not_taken(model):
    model.sends[WEIGHTS] = b"short"
    with pytest.raises(CourseError, match="was never downloaded here, and"):
        load()


@pytest.mark.parametrize("location", ["file:///etc/passwd", "ftp://127.0.0.1/a", "gopher:x"])
def test_a_redirect_out_of_the_web_is_refused(model, location):
    model.location = location
    with pytest.raises(CourseError, match="to an address that cannot be opened"):
        load()


def test_a_redirect_that_leads_to_itself_ends(model):
    model.moved |= {"a/b": "b/a", "b/a": "a/b"}
    with pytest.raises(CourseError, match="to an address that cannot be opened"):
        load("a/b")


def test_a_page_that_asks_to_log_in_is_no_hub(model, original):
    model.page = b"<html>Welcome to the hotel's network</html>"
    with pytest.raises(CourseError, match="does not answer as the hub does"):
        load()
    model.page = b"[]"
    with pytest.raises(CourseError, match="does not answer as the hub does"):
        load()
    model.page = b'{"id": "a"}'
    with pytest.raises(CourseError, match="names no commit"):
        load()


def test_a_full_disk_is_said(model, monkeypatch, tmp_path):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(huggingface_hub, "hf_hub_download", full)
    with pytest.raises(CourseError, match="The disk is full"):
        load()


def test_a_note_that_cannot_be_written_stops_nothing(model, original, monkeypatch, capsys):
    """Every file is here and is what was announced; only the next call asks the hub again."""

    def full(*_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(repository.files, "replacing", full)
    for _ in range(2):
        assert load().commit is not None
        said = capsys.readouterr().err
        assert "The disk is full" in said and "queried again" in said


# --- what is not there, or not allowed ---


def test_what_the_hub_has_not_is_said(model):
    with pytest.raises(CourseError, match="has no model 'org/none', or does not show") as error:
        load("org/none")
    assert "hub.shipped()" in error.value.remedy
    model.statuses = [401]
    with pytest.raises(CourseError, match=r"has no model|answers 401"):
        load()
    model.statuses = [403]
    with pytest.raises(CourseError, match="answers 403"):
        load()
    model.statuses = [404]
    with pytest.raises(CourseError, match=r"has no model|answers 404"):
        load()
    model.statuses = [429] * 20
    with pytest.raises(CourseError, match=r"never downloaded here, and .* answers 429"):
        load()


def test_a_repository_of_pickles_is_refused_before_anything_else_comes(hub, original, tmp_path):
    folder = shutil.copytree(original, tmp_path / "old")
    (folder / WEIGHTS).rename(folder / "pytorch_model.bin")
    hub.add(NAME, folder)
    with pytest.raises(CourseError, match="a pickle only"):
        load()
    assert not any("cdn" in line for line in hub.asked) and downloaded() == {}


def test_what_is_no_model_is_refused(hub, tmp_path):
    (tmp_path / "README.md").write_text("nothing")
    hub.add(NAME, tmp_path)
    with pytest.raises(CourseError, match=r"has no config\.json"):
        load()


@pytest.mark.parametrize(
    "name",
    ["../evil", "a/../b", "a//b", "a/b/c", "a b", "..", "a..b", "", "a--b", "é/a", "a\0b", "a\nb"],
)
def test_a_name_that_is_none_asks_nobody(model, name, tmp_path, monkeypatch):
    (tmp_path / "empty" / "inner").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "empty" / "inner")  # what lies beside the checkout is no matter
    with pytest.raises(CourseError):
        load(name)
    assert model.asked == []


@pytest.mark.parametrize("revision", ["../../x", "/etc", "a/../b", "", "a b", "-x", "a\n", "é b"])
def test_a_revision_that_is_none_asks_nobody(model, revision):
    with pytest.raises(CourseError, match="is not a revision of"):
        load(revision=revision)
    assert model.asked == []
    with pytest.raises(CourseError, match="names a revision"):
        load(f"{NAME}@main", revision=revision)


# --- a hostile mirror ---


def everything(folder):
    """The files under a folder, and their content, but for the caches in it."""
    return {
        path: path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not {"cache", "shared"} & {*path.relative_to(folder).parts}
    }


@pytest.fixture
def victim(tmp_path):
    """A file that no mirror may change; afterwards, it and all around it are as before."""
    path = tmp_path / "victim"
    path.write_bytes(b"precious")
    before = everything(tmp_path)
    yield path
    assert everything(tmp_path) == before


PATHS = ["../../../../victim", "../../../victim", "{victim}", "..", ".", "", "a/b", "x" * 300]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("header", ["X_Linked_Etag", "ETag", "X_Repo_Commit"])
def test_a_header_that_is_a_path_is_of_no_use(model, victim, header, path):
    model.headers[header] = f'"{path.format(victim=victim)}"'
    if header == "X_Repo_Commit":
        model.headers[header] = path.format(victim=victim)
    elif header == "ETag":  # which counts where there is no other
        model.headers["X_Linked_Etag"] = ""
    with pytest.raises(CourseError, match=r"was never downloaded here, and .* no complete file"):
        load()
    assert downloaded() == {}


def test_the_header_of_another_commit_or_file_is_noticed(model, original, victim):
    for header, value in (("X_Repo_Commit", "a" * 40), ("ETag", f'"{"b" * 40}"')):
        model.headers = {header: value}
        with pytest.raises(CourseError, match=r"sent another (config|tokenizer)"):
            load()
    model.headers = {}
    assert same(load(update=True), original)


def test_a_poisoned_cache_deletes_nothing_outside(model, victim, tmp_path):
    """As an older version, or another program, could leave it: a blob that is a link outside."""
    load()
    path = blob("config.json", root=tmp_path)
    path.unlink()
    path.symlink_to(victim)
    model.sends["config.json"] = b"x" * len((victim).read_bytes())
    with pytest.raises(CourseError):
        load(update=True)


@pytest.mark.parametrize(
    "name", ["../victim", "/victim.json", "..\\victim", "sub/../../victim", "model/../config.json"]
)
def test_names_of_files_lead_nowhere_else(model, original, victim, name):
    model.listed = lambda listing: listing["siblings"].append(
        {"rfilename": name, "size": 3, "blobId": "a" * 40}
    )
    assert same(load(), original)
    assert not any("victim" in line for line in model.asked)


@pytest.mark.parametrize("sha", ["../../../evil", "/evil", "a" * 39, "A" * 40, "", None])
def test_a_commit_that_is_none_is_refused(model, victim, sha):
    model.listed = lambda listing: listing.update(sha=sha)
    with pytest.raises(CourseError, match=r"names no commit|not answer as the hub"):
        load()


@pytest.mark.parametrize("digest", ["../../../victim", "x", "a" * 41, None])
def test_a_digest_that_is_none_is_refused(model, victim, digest):
    model.listed = lambda listing: [
        one.update(blobId=digest, lfs=None) for one in listing["siblings"]
    ]
    with pytest.raises(CourseError, match=r"announces .* bytes and digest"):
        load()
    assert len(model.asked) == 1


def test_a_huge_text_is_not_downloaded(model):
    def inflate(listing):
        for one in listing["siblings"]:
            one["size"] *= 10**9

    model.listed = inflate
    with pytest.raises(CourseError, match="No such file is a model's"):
        load()
    assert len(model.asked) == 1


def test_compressed_data_is_not_decompressed(model):
    """None is requested, and a few bytes may be gigabytes."""
    model.page = gzip.compress(b'{"id": "a", "sha": "%s", "siblings": []}' % (b"a" * 40))
    model.headers["Content_Encoding"] = "gzip"
    with pytest.raises(CourseError, match="does not answer as the hub does"):
        load()


def test_a_server_that_names_a_time_to_wait_is_not_obeyed(model, monkeypatch):
    waited = []
    monkeypatch.setattr("time.sleep", waited.append)
    model.headers = {"Retry_After": "99999", "RateLimit": '"api";r=0;t=99999'}
    model.statuses = [200, *[429] * 20]
    with pytest.raises(CourseError, match="429 Too Many"):
        load()
    assert waited and max(waited) < 60


def test_a_server_that_sends_a_byte_at_a_time_is_given_up(model, monkeypatch):
    monkeypatch.setattr(client, "PATIENCE", 0.5)
    model.drip = 0.05
    with pytest.raises(CourseError, match=r"never downloaded here, and .* sent [\d,]+ bytes in"):
        load()


def listening(serve):
    """The address of a server that does this with each connection, in a thread of its own."""
    server = socket.create_server(("127.0.0.1", 0))

    def run():
        while True:
            connection, _ = server.accept()
            threading.Thread(target=serve, args=(connection,), daemon=True).start()

    threading.Thread(target=run, daemon=True).start()
    return f"http://127.0.0.1:{server.getsockname()[1]}"


def drip(connection):
    """Send the head of a response byte by byte, and never come to its end."""
    with contextlib.suppress(OSError):
        connection.sendall(b"HTTP/1.1 200 OK\r\nX-More: ")
        while True:
            connection.sendall(b"x")
            time.sleep(0.02)


@pytest.mark.parametrize(
    ("serve", "says"),
    [(drip, r"sent [\d,]+ bytes in"), (lambda connection: time.sleep(600), "does not answer")],
    ids=["a head without end", "silence"],
)
def test_a_server_that_never_answers_is_given_up(serve, says, monkeypatch):
    monkeypatch.setattr(client, "PATIENCE", 0.5)
    monkeypatch.setenv("HF_ENDPOINT", listening(serve))
    start = time.monotonic()
    with pytest.raises(CourseError, match=rf"never downloaded here, and .* {says}"):
        load()
    assert time.monotonic() - start < 20 * client.PATIENCE, "no retry begins the time anew"


def test_xet_storage_is_not_used(model, original, monkeypatch):
    """Its downloads would bypass the checks."""

    def xet(**_):
        raise AssertionError("a download of its own")

    monkeypatch.setattr("huggingface_hub.file_download.xet_get", xet)
    model.headers |= {"X_Xet_Hash": "a" * 64, "X_Xet_Refresh_Route": f"{model.url}/refresh"}
    assert same(load(), original)


# --- without a network ---


def test_without_a_network_what_was_loaded_is_there(model, original, monkeypatch, capfd):
    load()
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    assert same(load(), original) and same(load(offline=True), original)
    assert capfd.readouterr().err == ""
    assert same(load(update=True), original)  # it cannot, and says so
    told = capfd.readouterr().err
    assert "http://127.0.0.1:9 cannot be reached" in told and "the cached version is used" in told
    with pytest.raises(CourseError, match=r"org/other was never downloaded here, and http:.*") as e:
        load("org/other")
    assert "Connect to a network" in e.value.remedy and "load that folder" in e.value.remedy


def test_offline_asks_nobody(model, original, monkeypatch):
    with pytest.raises(CourseError, match="was never downloaded here, and no request"):
        load(offline=True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(CourseError, match="was never downloaded here, and no request"):
        load()
    assert model.asked == []


def test_a_damaged_copy_is_downloaded_again(model, original, tmp_path):
    load()
    flip(blob(root=tmp_path))
    with pytest.raises(CourseError, match="is damaged or incomplete in the cache, and no request"):
        load(offline=True)
    assert same(load(), original)
    blob("config.json", root=tmp_path).unlink()
    assert same(load(), original)
    (note,) = (tmp_path / "cache" / "models").iterdir()
    for bad in (b"{", b"", b'{"commit": 3}', b"[" * 100_000):
        note.write_bytes(bad)
        assert same(load(), original)


def test_what_another_program_downloaded_is_used(model, original, tmp_path, capfd):
    for file in ("config.json", WEIGHTS, "tokenizer.json"):
        huggingface_hub.hf_hub_download(
            NAME, file, cache_dir=tmp_path / "shared", endpoint=model.url, revision="main"
        )
    assert same(load(offline=True), original)
    assert "the cached version is used" in capfd.readouterr().err
    count = len(model.asked)
    assert same(load(), original)
    assert model.asked[count:] == [f"GET /api/models/{NAME}/revision/main"]
    assert not (tmp_path / "cache" / "hub").exists()
    flip(blob(place="shared", root=tmp_path))
    assert same(load(), original)  # downloaded again, into the course's own cache


def test_without_a_folder_of_our_own_the_shared_one_is_used(model, monkeypatch, tmp_path):
    monkeypatch.delenv("LMCOURSE_CACHE")
    monkeypatch.setattr(repository, "cache_folder", lambda: tmp_path / "notes")
    load()
    path = huggingface_hub.try_to_load_from_cache(NAME, WEIGHTS)
    assert path is None  # it is noted under the commit; who asks for main asks the hub
    path = huggingface_hub.try_to_load_from_cache(NAME, WEIGHTS, revision=model.commit)
    assert path.startswith(str(tmp_path / "shared"))


def test_a_disk_without_links_is_good_enough(model, original, monkeypatch):
    monkeypatch.setattr("huggingface_hub.file_download.are_symlinks_supported", lambda *_: False)
    assert same(load(), original)
    count = len(model.asked)
    assert same(load(), original) and len(model.asked) == count


def test_digests_are_gits_and_sha256(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"hello\n")
    git = "ce013625030ba8dba906f756967f9e9ca394464a"  # echo hello | git hash-object --stdin
    large = "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03"  # sha256sum
    assert git_sha1(b"hello\n") == git
    for digest in (git, large):
        assert repository._is_whole(path, 6, digest)
        assert not repository._is_whole(path, 7, digest)
        assert not repository._is_whole(path, 6, "0" * len(digest))
        assert not repository._is_whole(tmp_path / "b", 6, digest)


def test_addresses():
    assert Address.of("a") == Address("a", "main") and str(Address.of("o/a")) == "o/a"
    assert Address.of("a", "v1") == Address.of("a@v1") and str(Address.of("a@v1")) == "a@v1"
