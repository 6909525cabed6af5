"""Models from the hub: whole and verified, downloaded once, and told well where it fails."""

import errno
import json
import multiprocessing
import os
import shutil

import huggingface_hub
import pytest
import torch

from lmcourse import hub as course_hub
from lmcourse.corpus import streams
from lmcourse.errors import CourseError
from lmcourse.hub import cached, repository
from lmcourse.hub.cached import downloaded
from lmcourse.hub.kinds import class_named
from lmcourse.hub.repository import Address
from lmcourse.hub.verified import Entry, is_whole, named
from lmcourse.models.bert_heads import BertForPreTraining
from tests.hub import saved
from tests.hub.hub_server import git_sha1, serving, sha256

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
    assert found.tokenizer == saved.tokenizer()
    assert found.commit == model.commit and found.source == NAME
    assert found.commit[:7] in repr(found) and NAME in repr(found)
    assert not any("README" in line or "training" in line for line in model.asked)
    asked = len(model.asked)
    again = load()
    assert len(model.asked) == asked and same(again, original)  # without one request
    assert downloaded() == {NAME: cached._noted(Address.of(NAME))}
    assert {*downloaded()[NAME].files} == {"config.json", WEIGHTS, "tokenizer.json"}
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("name", ["Albert", "Deberta", "DistilBert", "Electra", "GPT", "Roberta"])
def test_every_family_comes_from_the_hub(hub, name, tmp_path):
    folder = saved.save(tmp_path / "saved", name)
    hub.add(f"org/{name}", folder)
    found = load(f"org/{name}")
    assert type(found.model) is class_named(name) and same(found, folder)


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


def test_a_cut_download_goes_on_where_it_broke(model, original, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.DOWNLOAD_CHUNK_SIZE", 500)
    model.cuts = [1000, 500]
    assert same(load(), original)
    assert model.ranges == ["bytes=1000-", "bytes=1500-"]


def test_a_download_that_broke_before_the_first_piece_begins_anew(model, original):
    model.cuts = [1000, 500]
    assert same(load(), original) and model.ranges == []


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
    with pytest.raises(CourseError, match=r"sent another model\.safetensors .* which was removed"):
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
def test_more_than_announced_stops_at_once(model, original, tmp_path, monkeypatch, chunked):
    monkeypatch.setattr("huggingface_hub.constants.DOWNLOAD_CHUNK_SIZE", 1 << 16)
    model.chunked = chunked
    model.sends[WEIGHTS] = bytes(1 << 24)
    with pytest.raises(CourseError, match="sends more than the"):
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
    with pytest.raises(CourseError, match="to no address of the web"):
        load()


def test_a_redirect_that_leads_to_itself_ends(model):
    model.moved |= {"a/b": "b/a", "b/a": "a/b"}
    with pytest.raises(CourseError, match="to no address of the web"):
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

    monkeypatch.setattr(cached.files, "replacing", full)
    for _ in range(2):
        assert load().commit is not None
        said = capsys.readouterr().err
        assert "The disk is full" in said and "asked again" in said


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
    with pytest.raises(CourseError, match="as a pickle only"):
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
    with pytest.raises(CourseError, match="is no revision of"):
        load(revision=revision)
    assert model.asked == []
    with pytest.raises(CourseError, match="names a revision"):
        load(f"{NAME}@main", revision=revision)


@pytest.mark.parametrize(
    "name", ["../evil.safetensors", "/etc/evil.safetensors", "a\\..\\b", "CON/x"]
)
def test_names_of_files_lead_nowhere_else(hub, original, tmp_path, name):
    folder = shutil.copytree(original, tmp_path / "evil")
    (folder / WEIGHTS).unlink()
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {"a": name}}))
    commit = hub.add(NAME, folder)
    hub.repositories[NAME].commits[commit][name] = b"evil"  # the hub would even give it
    with pytest.raises(CourseError, match="no file beside it"):
        load()
    assert not list(tmp_path.parent.rglob("evil.safetensors"))


def test_a_commit_that_is_a_path_is_refused(model, tmp_path):
    model.listed = lambda listing: listing.update(sha="../../../evil")
    with pytest.raises(CourseError, match="names no commit"):
        load()
    model.listed = lambda listing: [one.update(blobId="x", lfs=None) for one in listing["siblings"]]
    with pytest.raises(CourseError, match="or no digests"):
        load()


def test_a_huge_text_is_not_downloaded(model):
    def inflate(listing):
        for one in listing["siblings"]:
            one["size"] *= 10**9

    model.listed = inflate
    with pytest.raises(CourseError, match="as no such file has"):
        load()
    assert len(model.asked) == 1


# --- without a network ---


def test_without_a_network_what_was_loaded_is_there(model, original, monkeypatch, capfd):
    load()
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    assert same(load(), original) and same(load(offline=True), original)
    assert capfd.readouterr().err == ""
    assert same(load(update=True), original)  # it cannot, and says so
    told = capfd.readouterr().err
    assert "http://127.0.0.1:9 cannot be reached" in told and "downloaded before is used" in told
    with pytest.raises(CourseError, match=r"org/other was never downloaded here, and http:.*") as e:
        load("org/other")
    assert "Connect to a network" in e.value.remedy and "load that folder" in e.value.remedy


def test_offline_asks_nobody(model, original, monkeypatch):
    with pytest.raises(CourseError, match="was never downloaded here, and it was asked"):
        load(offline=True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(CourseError, match="was never downloaded here, and it was asked"):
        load()
    assert model.asked == []


def test_a_damaged_copy_is_downloaded_again(model, original, tmp_path, capfd):
    load()
    flip(blob(root=tmp_path))
    with pytest.raises(CourseError, match=r"in part only \(model.safetensors .* is damaged\)"):
        load(offline=True)
    assert same(load(), original)
    assert "is damaged; it is downloaded again" in capfd.readouterr().err
    blob("config.json", root=tmp_path).unlink()
    assert same(load(), original)
    assert "is not here any more" in capfd.readouterr().err
    (note,) = (tmp_path / "cache" / "models").iterdir()
    for bad in (b"{", b"", b'{"commit": 3}', b"[" * 100_000):
        note.write_bytes(bad)
        assert same(load(), original)


def test_what_another_program_downloaded_is_used(model, original, monkeypatch, tmp_path, capfd):
    for file in ("config.json", WEIGHTS, "tokenizer.json"):
        huggingface_hub.hf_hub_download(
            NAME, file, cache_dir=tmp_path / "shared", endpoint=model.url, revision="main"
        )
    count = len(model.asked)
    assert same(load(), original)
    assert model.asked[count:] == [f"GET /api/models/{NAME}/revision/main"]  # only what is right
    assert not (tmp_path / "cache" / "hub").exists()
    shutil.rmtree(tmp_path / "cache")
    assert same(load(offline=True), original)
    assert "downloaded before is used" in capfd.readouterr().err
    flip(blob(place="shared", root=tmp_path))
    with pytest.raises(CourseError, match="is damaged"):
        load(offline=True)
    assert same(load(), original)


def test_without_a_folder_of_our_own_the_shared_one_is_used(model, monkeypatch, tmp_path):
    monkeypatch.delenv("LMCOURSE_CACHE")
    monkeypatch.setattr(cached, "cache_folder", lambda: tmp_path / "notes")
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


def _load_in_a_process(url, cache, results):
    os.environ |= {"HF_ENDPOINT": url, "LMCOURSE_CACHE": cache, "NO_PROXY": "127.0.0.1"}
    results.put(course_hub.load(NAME, progress=False).commit)


def test_two_processes_download_a_file_once(model, tmp_path):
    context = multiprocessing.get_context("fork")
    results = context.Queue()
    arguments = (model.url, str(tmp_path / "cache"), results)
    both = [context.Process(target=_load_in_a_process, args=arguments) for _ in range(2)]
    for process in both:
        process.start()
    assert {results.get(timeout=60), results.get(timeout=60)} == {model.commit}
    for process in both:
        process.join(60)
    assert sum(line.startswith("cdn GET") for line in model.asked) == 1


# --- the parts ---


def test_progress_is_told_in_bytes(model, original, monkeypatch):
    seen = {}

    def bar(name, total, wanted):
        class Bar:
            def __enter__(self):
                return lambda done: seen.setdefault((name, total, wanted), []).append(done)

            def __exit__(self, *_):
                pass

        return Bar()

    monkeypatch.setattr(streams, "bar", bar)
    load(progress=True)
    size = (original / WEIGHTS).stat().st_size
    assert seen[WEIGHTS, size, True][-1] == size


def test_the_librarys_other_way_of_telling_is_heard():
    seen = []
    kind = repository._counter("a", 10, seen.append)
    with kind(desc="a", total=10, initial=4) as bar:
        bar.update(3)
        bar.update_transfer(100)
        bar.set_postfix_str("1 B/s", refresh=False)
        bar.set_transfer_postfix_str("1 B/s", refresh=False)
        bar.refresh()
        bar.close()
    assert seen == [7]
    with pytest.raises(CourseError, match="more than the 10 bytes"):
        bar.update(4)


def test_digests_are_gits_and_sha256(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"hello\n")
    git = "ce013625030ba8dba906f756967f9e9ca394464a"  # echo hello | git hash-object --stdin
    assert git_sha1(b"hello\n") == git and named(git) == f"git-sha1:{git}"
    assert is_whole(path, Entry(6, f"git-sha1:{git}"))
    large = "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03"  # sha256sum
    assert is_whole(path, Entry(6, f"sha256:{large}"))
    assert not is_whole(path, Entry(7, f"sha256:{large}"))
    assert not is_whole(path, Entry(6, f"sha256:{'0' * 64}"))
    assert not is_whole(tmp_path / "b", Entry(6, f"git-sha1:{git}"))
    assert named("") is named("xyz") is named("a" * 41) is named("../" * 20 + "abcd") is None


def test_addresses():
    assert Address.of("a") == Address("a", "main") and str(Address.of("o/a")) == "o/a"
    assert Address.of("a", "v1") == Address.of("a@v1") and str(Address.of("a@v1")) == "a@v1"
    with serving() as other:
        assert other.url.startswith("http://127.0.0.1:")
