"""A browser driver that does not start is no browser; it ends neither tests nor doctor."""

from contextlib import contextmanager

from coursekit import testing


def test_a_driver_that_does_not_start_is_none(monkeypatch):
    import playwright.sync_api

    @contextmanager
    def broken():
        raise Exception("Connection closed while reading from the driver")
        yield

    monkeypatch.setattr(testing, "CHROMIUM_NAMES", ())
    monkeypatch.setattr(playwright.sync_api, "sync_playwright", broken)
    assert testing.find_chromium() is None
