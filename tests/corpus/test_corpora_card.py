"""The data card's figures of real corpora are those of the installed files."""

import json

import pytest

from data import corpora
from lmcourse import releases
from lmcourse.corpus.mails import Mails

FIGURES = json.loads(corpora.FIGURES.read_text(encoding="utf-8"))


def test_the_figures_of_the_brown_corpus():
    if not releases.installed("brown"):
        pytest.skip("the Brown corpus is not installed, or hidden")
    assert corpora.brown() == FIGURES["brown"]


def test_the_figures_of_the_mails():
    if not releases.installed("mails"):
        pytest.skip("the mails are not installed, or hidden")
    mails = list(Mails().mails())
    assert corpora.counted(mails) == FIGURES["mails"]
    for view in ("the headers' names", "the header Date"):  # the quick ones
        assert corpora.leaks(mails, view) == pytest.approx(FIGURES["leaks"][view], abs=0.01)


def test_without_them_the_figures_stay(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("LMCOURSE_CACHE", str(tmp_path))
    before = corpora.FIGURES.read_bytes()
    assert corpora.main() == 0 and corpora.FIGURES.read_bytes() == before
    assert "`lmcourse real install`" in capsys.readouterr().out
