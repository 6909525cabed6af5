"""A hub of the test's own, and caches of its own, so that none of the reader's is touched."""

import os

import huggingface_hub
import pytest
from huggingface_hub import constants, file_download
from huggingface_hub.utils import _http

from tests.hub import saved
from tests.hub.hub_server import serving


@pytest.fixture(autouse=True)
def _own_caches(monkeypatch, tmp_path):
    monkeypatch.setenv("LMCOURSE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "shared"))
    monkeypatch.setattr(constants, "HF_TOKEN_PATH", str(tmp_path / "token"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    for name in [name for name in os.environ if name.startswith("HF_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")  # where nobody listens


@pytest.fixture
def hub(monkeypatch):
    """A hub that is reached at once, also behind a proxy, and waited for briefly."""
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, "127.0.0.1")
    for module in (_http, file_download):
        monkeypatch.setattr(module.time, "sleep", lambda seconds: None)
    huggingface_hub.close_session()
    with serving() as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        yield hub
    huggingface_hub.close_session()


@pytest.fixture(scope="session")
def original(tmp_path_factory):
    """A folder with a saved model and its tokenizer."""
    return saved.save(tmp_path_factory.mktemp("original"))


@pytest.fixture
def checkpoints(tmp_path, monkeypatch):
    """A course of the test's own, with no model yet."""
    for name in ("chapters", "labs", "data/checkpoints"):
        (tmp_path / "course" / name).mkdir(parents=True)
    monkeypatch.setenv("LMCOURSE_ROOT", str(tmp_path / "course"))
    return tmp_path / "course" / "data" / "checkpoints"
