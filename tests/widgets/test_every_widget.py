"""What holds for every widget: on a strict MyST page, in a Jupyter-like one, and from disk."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import traitlets
from playwright.sync_api import Browser, Locator, Page, expect

from lmcourse import widgets
from lmcourse.errors import CourseError
from lmcourse.evaluation.gradient_flow import random_network
from lmcourse.widgets import GradientFlow, Graph, Widget
from tests.browser import picture
from tests.widgets.examples import EXAMPLES, Example
from tests.widgets.hosts import COLORS, HOSTS, axe, host_page, open_file, overflow, show_values

every = pytest.mark.parametrize("name", EXAMPLES)
CONTROLS = ".lm :is(button, select, input, textarea, summary, [role=gridcell]):visible"


@pytest.fixture
def example(name: str) -> Example:
    return EXAMPLES[name]


def figure(within: Page | Locator) -> Locator:
    return within.locator(".lm-stage svg[role=img]")


def says(within: Page | Locator, words: str) -> None:
    """Wait until the figure's text alternative holds these words."""
    expect(figure(within)).to_have_attribute("aria-label", re.compile(re.escape(words)))


def test_each_has_an_example():
    known = {it for it in widgets.__all__ if it != "Widget"}
    assert {example.name for example in EXAMPLES.values()} == known


@every
@pytest.mark.parametrize("host", HOSTS)
def test_it_renders_reacts_and_asks_nobody(host, example, browser: Browser, tmp_path: Path):
    with open_file(browser, host_page(host, example.make(), tmp_path)) as it:
        says(it.page, example.first)
        assert host == "file" or it.page.evaluate("host.ready && host.isObject")
        example.by_keyboard(it.page)
        says(it.page, example.after_keyboard)
        example.by_pointer(it.page)
        says(it.page, example.after_pointer)
        if host != "file":
            it.page.wait_for_function("Object.keys(host.changed).length > 0")
        assert it.requests == [] and it.errors == []


@every
def test_a_finger_does_what_a_mouse_does(example, browser: Browser, tmp_path: Path):
    path = host_page("file", example.make(), tmp_path)
    with open_file(browser, path, touch=True, width=390) as it:
        says(it.page, example.first)
        example.by_keyboard(it.page)
        says(it.page, example.after_keyboard)
        example.by_pointer(it.page)
        says(it.page, example.after_pointer)
        assert it.errors == []


@every
def test_tab_alone_reaches_everything(example, browser: Browser, tmp_path: Path):
    with open_file(browser, host_page("file", example.make(), tmp_path)) as it:
        page = it.page
        says(page, example.first)
        page.evaluate("window.focused = new Set()")
        page.evaluate("addEventListener('focusin', (it) => focused.add(it.target))")
        wanted = page.locator(CONTROLS)
        left = False
        for _ in range(wanted.count() + 2):
            page.keyboard.press("Tab")
            left |= page.evaluate("document.activeElement === document.body")
        unreached = wanted.evaluate_all(
            "all => all.filter((it) => !focused.has(it)).map((it) => it.outerHTML)"
        )
        assert unreached == []
        assert left, "Tab does not leave the widget"


@every
def test_undo_reset_and_a_link_that_restores(example, browser: Browser, tmp_path: Path):
    path = host_page("file", example.make(), tmp_path)
    with open_file(browser, path) as it:
        page = it.page
        says(page, example.first)
        before = figure(page).get_attribute("aria-label")
        undo = page.get_by_role("button", name="Undo")
        expect(undo).to_have_attribute("aria-disabled", "true")
        example.by_keyboard(page)
        says(page, example.after_keyboard)
        after = figure(page).get_attribute("aria-label")
        page.get_by_role("button", name="Copy link").click()
        link = page.get_by_label("Copied text").input_value()
        for _ in range(20):
            if undo.get_attribute("aria-disabled") == "true":
                break
            undo.click()
            page.wait_for_timeout(50)
        expect(figure(page)).to_have_attribute("aria-label", before)
        example.by_keyboard(page)
        says(page, example.after_keyboard)
        page.get_by_role("button", name="Reset").click()
        expect(figure(page)).to_have_attribute("aria-label", before)
        undo.click()
        expect(figure(page)).to_have_attribute("aria-label", after)
    assert link.startswith(path.as_uri() + "#view=")
    with open_file(browser, path, fragment=link.removeprefix(path.as_uri())) as it:
        expect(figure(it.page)).to_have_attribute("aria-label", after)
        assert it.errors == []


@every
def test_a_bad_link_is_not_followed(example, browser: Browser, tmp_path: Path):
    path = host_page("file", example.make(), tmp_path)
    key = f"{example.name}-1"
    names = [it for it in example.make().state() if it not in ("arrays", "index")]
    with open_file(browser, path) as it:
        says(it.page, example.first)
        for value in ("{", "null", "-7.5", "%22toString%22", "[[1e9]]", "{}", "true", "1e308"):
            bad = "&".join(f"{name}={value}" for name in names)
            it.page.evaluate("(hash) => { location.hash = hash; }", f"#view={key}&{bad}")
            it.page.wait_for_timeout(60)
            expect(figure(it.page)).to_have_attribute("aria-label", re.compile(r"\w"))
            assert it.errors == [], value
            # what none of the settings takes leaves the picture as it was, and it still reacts
            it.page.get_by_role("button", name="Reset").click()
            says(it.page, example.first)


@every
def test_pictures_are_saved(example, browser: Browser, tmp_path: Path):
    with open_file(browser, host_page("file", example.make(), tmp_path), dark=True) as it:
        says(it.page, example.first)
        for kind, head in (("PNG", b"\x89PNG"), ("SVG", b"<svg")):
            with it.page.expect_download() as download:
                it.page.get_by_role("button", name=f"Save {kind}").click()
            data = Path(download.value.path()).read_bytes()
            assert data.startswith(head) and len(data) > 2000
            assert re.fullmatch(rf"[a-z-]+\.{kind.lower()}", download.value.suggested_filename)
        assert b"var(--" not in data and b"rgb(20, 23, 28)" in data  # its own background
        assert b'fill="rgb(232, 235, 239)"' in data and b"font-size" in data  # and its own text
        drawn = it.page.evaluate(
            """async (svg) => {
                const parsed = new DOMParser().parseFromString(svg, "image/svg+xml");
                return parsed.querySelectorAll("parsererror").length;
            }""",
            data.decode("utf-8"),
        )
        assert drawn == 0
        assert it.requests == [] and it.errors == []


@every
def test_a_kernel_is_heard_and_told(example, browser: Browser, tmp_path: Path):
    trait, value, said = example.trait
    with open_file(browser, host_page("jupyter", example.make(), tmp_path)) as it:
        page = it.page
        says(page, example.first)
        page.evaluate("([name, value]) => kernel(name, value)", [trait, value])
        says(page, said)
        page.evaluate("([name, value]) => kernel(name, value)", list(example.nonsense))
        page.wait_for_timeout(50)
        says(page, said)  # it stays as it was
        example.by_keyboard(page)
        says(page, example.after_keyboard)
        page.wait_for_function("Object.keys(host.saved ?? {}).length > 0")
        page.get_by_role("button", name="Copy as Python").click()
        copied = page.get_by_label("Copied text").input_value()
        settings = page.evaluate("host.saved")
        assert it.errors == []
    assert copied.startswith(f"{example.name}(")
    rebuilt = eval(copied, {example.name: type(example.make()), **example.call})
    told = rebuilt.state()
    assert {name: told[name] for name in settings} == settings
    assert rebuilt.arrays == example.make().arrays


@every
def test_python_refuses_what_a_page_refuses(example):
    widget = example.make()
    before = widget.alt
    setattr(widget, example.trait[0], example.trait[1])
    assert widget.alt != before
    with pytest.raises(CourseError) as caught:
        setattr(widget, *example.nonsense)
    assert caught.value.remedy


def settings(widget: Widget) -> dict[str, Any]:
    """The traits that a reader or a kernel sets."""
    found = widget.traits(sync=True)
    return {name: found[name] for name in widget.state() if not found[name].metadata.get("data")}


@every
def test_of_another_kind_is_refused_with_a_remedy(example):
    widget = example.make()
    before = widget.state()
    for name, trait in settings(widget).items():
        wrong = [object(), 3 if isinstance(trait, traitlets.Dict) else {"a": 1}]
        wrong += [] if trait.allow_none else [None]
        wrong += [2.5, "nonsense", 10**400, 10**5000] if isinstance(trait, traitlets.Int) else []
        wrong += ["0.15", 10**400, [0.5]] if isinstance(trait, traitlets.Float) else []
        wrong += [3, [3.5], [None]] if isinstance(trait, traitlets.List) else []
        for value in wrong:
            for assign in (setattr, type(widget).set_trait):
                with pytest.raises(CourseError, match=name) as caught:
                    assign(widget, name, value)
                assert caught.value.remedy
    assert widget.state() == before


@every
def test_numbers_of_numpy_are_pythons(example):
    widget = example.make()
    kinds = {traitlets.Int: np.int64, traitlets.Float: np.float32, traitlets.Bool: np.bool_}
    for name in settings(widget):
        value, kind = getattr(widget, name), kinds.get(type(widget.traits()[name]))
        if kind and value is not None:
            setattr(widget, name, kind(value))
            assert getattr(widget, name) == pytest.approx(value, rel=1e-6)
            assert type(getattr(widget, name)) is type(value)
    json.dumps(widget.state())


@every
def test_what_a_widget_shows_stays(example):
    widget = example.make()
    before, names = widget.state(), set(widget.state()) - set(settings(widget))
    assert {"arrays", "index"} <= names
    for name in names:
        value = getattr(widget, name)
        setattr(widget, name, value)  # as a page may say again
        for other in (type(value)(), None):
            if other != value:
                with pytest.raises(CourseError, match=f"{name} cannot change.*Make a new widget"):
                    setattr(widget, name, other)
    assert widget.state() == before
    for name in ("tokens", "words", "classes", "series", "orders", "tokenizers", "lexicon"):
        assert name in names or name not in before


@every
@pytest.mark.parametrize("host", ["myst", "jupyter"])
def test_nothing_is_left_when_it_ends(host, example, browser: Browser, tmp_path: Path):
    trait, value, _ = example.trait
    with open_file(browser, host_page(host, example.make(), tmp_path)) as it:
        page = it.page
        says(page, example.first)
        page.evaluate(
            """() => {  // from here on, whoever draws is noticed
                window.drawn = window.disconnected = 0;
                ResizeObserver.prototype.disconnect = () => { disconnected++; };
                const create = document.createElementNS;
                document.createElementNS = (...it) => {
                  drawn++;
                  return create.apply(document, it);
                };
            }"""
        )
        example.by_keyboard(page)
        page.wait_for_function("drawn > 0")
        play = page.get_by_role("button", name=re.compile("^Play"))
        if play.count():
            play.click()
        assert page.evaluate("end()") == {"left": 0, "listeners": 0}
        assert page.evaluate("disconnected") == 1
        page.evaluate("([name, value]) => window.kernel?.(name, value)", [trait, value])
        page.evaluate("drawn = 0; location.hash = '#view=x'")
        page.set_viewport_size({"width": 500, "height": 500})
        page.wait_for_timeout(1500 if play.count() else 200)
        assert page.evaluate("drawn") == 0 and it.errors == []


@every
def test_a_step_is_said_aloud_but_no_drag_and_no_letter(example, browser: Browser, tmp_path: Path):
    with open_file(browser, host_page("file", example.make(), tmp_path)) as it:
        page = it.page
        says(page, example.first)
        caption = page.locator(".lm p[aria-live]")
        expect(caption).to_have_attribute("aria-live", "polite")
        step = page.get_by_role("button", name=re.compile("^(◀ )?Step"))
        slider = page.locator(".lm input[type=range]:visible")
        if slider.count():
            slider.first.scroll_into_view_if_needed()
            box = slider.first.bounding_box()
            middle = box["y"] + box["height"] / 2
            page.mouse.move(box["x"] + 0.3 * box["width"], middle)
            page.mouse.down()
            page.mouse.move(box["x"] + 0.6 * box["width"], middle)
            expect(caption).to_have_attribute("aria-live", "off")
            page.mouse.up()
        enabled = step.and_(page.locator(":not([aria-disabled=true])"))
        if enabled.count():
            enabled.first.focus()
            page.keyboard.press("Enter")
            expect(caption).to_have_attribute("aria-live", "polite")
            expect(caption).to_have_text(re.compile(r"\w"))


@every
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_everybody_can_use_it(dark, name, example, browser: Browser, tmp_path: Path):
    theme = "dark" if dark else "light"
    with open_file(browser, host_page("file", example.make(), tmp_path), dark=dark) as it:
        page = it.page
        says(page, example.first)
        root = page.locator(".lm")
        expect(root).to_have_attribute("data-lm-theme", theme)
        expect(root).to_have_attribute("data-lm-suppress-shortcuts", "true")
        for width in (390, 1000):
            resize(page, width)
            picture(page, f"{name}-{theme}-{width}")
        show_values(page)
        page.get_by_role("button", name="Copy link").click()
        for width in (1000, 390, 360):
            resize(page, width)
            assert overflow(page) == 0
            assert beside(page) == []
            assert too_small(page) == []
            if width != 360:
                assert axe(page, rules=COLORS if dark else ()) == []


def resize(page: Page, width: int) -> None:
    """Give the page a width, and wait until it is drawn so."""
    page.set_viewport_size({"width": width, "height": 900})
    page.evaluate(
        "async () => { for (let i = 0; i < 3; i++) await new Promise(requestAnimationFrame); }"
    )


def beside(page: Page) -> list[Any]:
    """Return the words of the picture that end outside of it, and so of what is exported.

    A picture may be wider than its place and scroll; nobody reads what is outside the picture.
    """
    found: list[Any] = page.locator(".lm-stage svg[role=img]").evaluate(
        """(svg) => {
            const {left, right} = svg.getBoundingClientRect();
            return [...svg.querySelectorAll("text")]
                .map((it) => [it.textContent, it.getBoundingClientRect()])
                .filter(([_, box]) => box.width && (box.left < left - 1 || box.right > right + 1))
                .map(([words, box]) => [words, left - box.left, box.right - right]);
        }"""
    )
    return found


def too_small(page: Page) -> list[Any]:
    """Return what is hard to hit with a finger: a check box is hit through its label."""
    found: list[Any] = page.locator(CONTROLS).evaluate_all(
        """all => all.map((it) => it.type === "checkbox" ? it.closest("label") : it)
            .filter((it) => it.role !== "gridcell")
            .map((it) => [it.outerHTML.slice(0, 120), it.getBoundingClientRect()])
            .filter(([_, {width, height}]) => width < 43.9 || height < 43.9)"""
    )
    return found


@every
def test_two_on_a_page_leave_each_other_alone(example, browser: Browser, tmp_path: Path):
    body = example.make().to_html() * 2
    path = tmp_path / "two.html"
    path.write_text(f"<!doctype html><html lang=en><meta charset=utf-8><body>{body}")
    with open_file(browser, path) as it:
        roots = it.page.locator(".lm")
        expect(roots).to_have_count(2)
        example.by_keyboard(it.page.locator(".lm").nth(0).page)
        says(roots.nth(0), example.after_keyboard)
        says(roots.nth(1), example.first)
        ids = it.page.locator(".lm [id]").evaluate_all("all => all.map(it => it.id)")
        assert len(ids) == len(set(ids))
        assert it.errors == []


def test_a_link_outlasts_the_module_and_finds_its_place(browser: Browser, tmp_path: Path):
    made = [Graph("a*b"), GradientFlow(random_network(time=8, width=4)), Graph("a + b", b=3)]
    body = "".join(it.to_html() for it in made)
    path = tmp_path / "later.html"
    path.write_text(f"<!doctype html><html lang=en><meta charset=utf-8><body>{body}")
    link = "#view=Graph-2&expression=%22a%2Bb%2B4%22&step=-1&values=nonsense"
    with open_file(browser, path, fragment=link) as it:
        roots = it.page.locator(".lm")
        says(roots.nth(2), "of a+b+4, step 6 of 6. L = 7.5.")
        says(roots.nth(0), "of a*b")
        assert it.errors == []


@every
def test_the_words_stay_where_no_script_runs(example, browser: Browser, tmp_path: Path):
    widget = example.make()
    path = host_page("file", widget, tmp_path)
    words = widget.alt[:60]
    broken = tmp_path / "broken.html"
    text = path.read_text(encoding="utf-8")
    broken.write_text(re.sub(r'(arrays\\": \\")[^"\\]*', r"\1AA", text), encoding="utf-8")
    with open_file(browser, broken) as it:
        it.page.wait_for_timeout(300)
        expect(it.page.get_by_text(words)).to_be_visible()
        assert it.page.locator(".lm").count() == 0
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(path.as_uri())
    expect(page.get_by_text(words)).to_be_visible()
    context.close()
    with open_file(browser, path) as it:
        says(it.page, example.first)
        assert it.page.locator(".lmcourse-widget > p").count() == 0


@every
def test_the_alternative_follows_the_settings(example):
    widget: Widget = example.make()
    assert len(widget.alt) > 60 and repr(widget).startswith(f"<{example.name}: ")


@pytest.mark.parametrize("number", [-10000, -1e4, np.float32(-10000)])
def test_a_number_among_choices_is_taken(number):
    made = widgets.Visibility(["a", "b"], added=number)
    assert made.added == "-10000"
    made.added = float("-inf")
    assert made.added == "-inf"
    with pytest.raises(CourseError, match="Choose one of -inf, -10000, lowest"):
        made.added = -1e9
