"""A server on the loopback that speaks as the Hugging Face hub does, and fails as servers do.

What it knows of the hub: ``/api/models/NAME/revision/REVISION?blobs=true`` lists a repository;
``/NAME/resolve/REVISION/FILE`` gives a small file, whose ETag is git's digest, or sends on to
another host, with the SHA-256 and the size in headers; that host knows no token.
"""

import contextlib
import hashlib
import http.server
import json
import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit

LARGE = re.compile(r".*\.(safetensors|bin)")  # what the hub keeps apart from git


def git_sha1(data: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@dataclass
class Repository:
    """Its commits, and what each revision's name stands for."""

    commits: dict[str, dict[str, bytes]] = field(default_factory=dict)
    revisions: dict[str, str] = field(default_factory=dict)

    def commit(self, files: dict[str, bytes], revision: str = "main") -> str:
        together = b"".join(name.encode() + data for name, data in sorted(files.items()))
        sha = hashlib.sha1(revision.encode() + together).hexdigest()
        self.commits[sha] = dict(files)
        self.revisions |= {revision: sha, sha: sha}
        return sha


class Hub:
    """What the server has, how it fails, and what it was asked.

    Attributes:
        repositories: by name.
        moved: old names → new ones.
        gated: names that ask for the token ``good``.
        statuses: the statuses of the next answers of the hub itself.
        cuts: after how many bytes the next bodies of large files break; None: not at all.
        sends: what comes in place of a file's bytes, by its name.
        location: where large files are sent on to, in place of the other host.
        chunked: whether sizes are left out of large files' answers.
        page: what is answered to everything, if anything.
        headers: further headers of files' answers, or others.
        drip: seconds before each byte of large files' bodies.
        listed: what is changed in each listing before it goes out.
        asked: the requests, as "GET /path"; those to the other host begin with "cdn ".
        tokens: what the other host was told of who asks.
    """

    def __init__(self) -> None:
        self.repositories: dict[str, Repository] = {}
        self.moved: dict[str, str] = {}
        self.gated: set[str] = set()
        self.statuses: list[int] = []
        self.cuts: list[int | None] = []
        self.sends: dict[str, bytes] = {}
        self.location: str | None = None
        self.chunked = False
        self.page: bytes | None = None
        self.headers: dict[str, str] = {}
        self.drip = 0.0
        self.listed = lambda listing: None
        self.asked: list[str] = []
        self.ranges: list[str] = []
        self.tokens: list[str | None] = []
        self.url = self.other = ""

    def add(self, name: str, folder: Path) -> str:
        """Take in the files of a folder, and give the commit."""
        files = {
            path.relative_to(folder).as_posix(): path.read_bytes()
            for path in folder.rglob("*")
            if path.is_file()
        }
        return self.repositories.setdefault(name, Repository()).commit(files)

    def large(self, digest: str) -> tuple[str, bytes]:
        """The file with this digest."""
        return next(
            (name, data)
            for repository in self.repositories.values()
            for files in repository.commits.values()
            for name, data in files.items()
            if sha256(data) == digest
        )


class _Handler(http.server.BaseHTTPRequestHandler):
    hub: Hub

    def log_message(self, *_: object) -> None:
        pass

    def do_HEAD(self) -> None:
        self._answer()

    def do_GET(self) -> None:
        self._answer()

    def _send(self, status: int, body: bytes = b"", **headers: str) -> None:
        self.send_response(status)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        for name, value in ({"Content-Length": str(len(body))} | named).items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "GET":
            with contextlib.suppress(OSError):
                self.wfile.write(body)

    def _answer(self) -> None:
        hub, path = self.hub, unquote(urlsplit(self.path).path)
        on_hub = self.server.server_port == int(hub.url.rpartition(":")[2])
        hub.asked.append(f"{'' if on_hub else 'cdn '}{self.command} {path}")
        if not on_hub:
            self._large(path.rpartition("/")[2])
        elif hub.statuses and (status := hub.statuses.pop(0)) != 200:
            self._send(status, **hub.headers)
        elif hub.page is not None:
            self._send(200, hub.page, **hub.headers)
        elif listing := re.fullmatch(r"/api/models/(.+)/revision/(.+)", path):
            self._known(*listing.groups(), None)
        elif file := re.fullmatch(r"/(.+)/resolve/([^/]+)/(.+)", path):
            self._known(*file.groups())
        else:
            self._send(404)

    def _known(self, name: str, revision: str, file: str | None) -> None:
        hub, token = self.hub, self.headers.get("Authorization")
        if name in hub.moved:
            there = self.path.replace(f"/{name}/", f"/{hub.moved[name]}/", 1)
            self._send(307, Location=there)
        elif name not in hub.repositories:
            self._send(401, X_Error_Code="RepoNotFound", X_Error_Message="Repository not found")
        elif name in hub.gated and token != "Bearer good":
            self._send(401, X_Error_Code="GatedRepo", X_Error_Message="Access is restricted")
        elif revision not in (repository := hub.repositories[name]).revisions:
            self._send(404, X_Error_Code="RevisionNotFound", X_Error_Message="Invalid rev id")
        else:
            commit = repository.revisions[revision]
            files = repository.commits[commit]
            if file is None:
                self._send(200, json.dumps(self._listing(name, commit, files)).encode())
            elif file not in files:
                self._send(404, X_Error_Code="EntryNotFound", X_Repo_Commit=commit)
            else:
                self._file(file, files[file], commit)

    def _listing(self, name: str, commit: str, files: dict[str, bytes]) -> dict[str, object]:
        siblings = []
        for file, data in files.items():
            one = {"rfilename": file, "size": len(data), "blobId": git_sha1(data)}
            if LARGE.fullmatch(file):
                one["lfs"] = {"size": len(data), "sha256": sha256(data), "pointerSize": 134}
            siblings.append(one)
        listing = {"id": name, "sha": commit, "siblings": siblings}
        self.hub.listed(listing)
        return listing

    def _file(self, name: str, data: bytes, commit: str) -> None:
        if LARGE.fullmatch(name):
            digest = sha256(data)
            self._send(
                302,
                Location=self.hub.location or f"{self.hub.other}/large/{digest}",
                **{
                    "X_Linked_Etag": f'"{digest}"',
                    "X_Linked_Size": str(len(data)),
                    "X_Repo_Commit": commit,
                }
                | self.hub.headers,
            )
        else:
            data = self.hub.sends.get(name, data)
            headers = {"ETag": f'"{git_sha1(data)}"', "X_Repo_Commit": commit}
            self._send(200, data, **headers | self.hub.headers)

    def _large(self, digest: str) -> None:
        hub = self.hub
        hub.tokens.append(self.headers.get("Authorization"))
        name, data = hub.large(digest)
        data, start = hub.sends.get(name, data), 0
        if wanted := self.headers.get("Range"):
            start = int(wanted.removeprefix("bytes=").rstrip("-"))
            hub.ranges.append(wanted)
        cut = hub.cuts.pop(0) if hub.cuts else None
        self.send_response(206 if start else 200)
        if not hub.chunked:
            self.send_header("Content-Length", str(len(data) - start))
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}")
        self.end_headers()
        body = data[start:] if cut is None else data[start : start + cut]
        with contextlib.suppress(OSError):
            for at in range(len(body)) if hub.drip else ():
                self.wfile.write(body[at : at + 1])
                threading.Event().wait(hub.drip)
            if not hub.drip:
                self.wfile.write(body)
        self.close_connection = True


@contextlib.contextmanager
def serving() -> Iterator[Hub]:
    """A hub and the host of its large files, until the block ends."""
    hub = Hub()
    handler = type("Handler", (_Handler,), {"hub": hub})
    servers = [http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) for _ in range(2)]
    hub.url, hub.other = (f"http://127.0.0.1:{server.server_port}" for server in servers)
    threads = [
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        for server in servers
    ]
    for thread in threads:
        thread.start()
    try:
        yield hub
    finally:
        for server, thread in zip(servers, threads, strict=True):
            server.shutdown()
            server.server_close()
            thread.join(10)
